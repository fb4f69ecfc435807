package report

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

const (
	chartWidth  = 760
	chartHeight = 280
	marginLeft  = 64
	marginRight = 30
	marginTop   = 12
	marginFoot  = 44
)

// xy is a place on a curve; hint is what is shown where somebody points at it.
type xy struct {
	x, y float64
	hint string
}

// series is a curve with a name.
type series struct {
	name   string
	points []xy
	dashed bool
}

// curves is a chart of lines.
type curves struct {
	label        string // for those who do not see it
	xName        string
	xShow, yShow func(float64) string
	xTicks       []float64 // places on the x axis with names; nil: round figures
	xNames       []string
	xLog, yLog   bool
	series       []series
}

// svg draws the chart.
func (c *curves) svg() template.HTML {
	var xs, ys []float64
	for _, s := range c.series {
		for _, p := range s.points {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	x := newScale(xs, marginLeft, chartWidth-marginRight, c.xLog)
	if c.xTicks != nil { // the axis ends where its names do
		x.low, x.high = c.xTicks[0], c.xTicks[len(c.xTicks)-1]
	}
	y := newScale(ys, chartHeight-marginFoot, marginTop, c.yLog)
	var b strings.Builder
	open(&b, chartHeight, c.label)
	for _, v := range y.ticks() {
		line(&b, "grid", marginLeft, y.at(v), chartWidth-marginRight, y.at(v))
		text(&b, "tick end", marginLeft-8, y.at(v)+4, c.yShow(v))
	}
	ticks := c.xTicks
	if ticks == nil {
		ticks = x.ticks()
	}
	for i, v := range ticks {
		name := ""
		if c.xNames != nil {
			name = c.xNames[i]
		} else {
			name = c.xShow(v)
		}
		line(&b, "grid", x.at(v), chartHeight-marginFoot, x.at(v), chartHeight-marginFoot+5)
		text(&b, "tick mid", x.at(v), chartHeight-marginFoot+19, name)
	}
	text(&b, "axis mid", (marginLeft+chartWidth-marginRight)/2, chartHeight-6, c.xName)
	for i, s := range c.series {
		var path strings.Builder
		for j, p := range s.points {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(j, 1)], x.at(p.x), y.at(p.y))
		}
		class := fmt.Sprintf("line c%d", i%6)
		if s.dashed {
			class += " dashed"
		}
		fmt.Fprintf(&b, `<path class="%s" d="%s"/>`, class, path.String())
		for _, p := range s.points {
			if p.hint == "" {
				continue
			}
			fmt.Fprintf(&b, `<circle class="dot c%d" cx="%.1f" cy="%.1f" r="3.5"><title>%s`+
				`</title></circle>`, i%6, x.at(p.x), y.at(p.y), html.EscapeString(p.hint))
		}
	}
	b.WriteString("</svg>")
	return template.HTML(legend(names(c.series)) + b.String())
}

// named answers the curve of that name: a new one where there is none yet.
func (c *curves) named(name string) *series {
	for i := range c.series {
		if c.series[i].name == name {
			return &c.series[i]
		}
	}
	c.series = append(c.series, series{name: name})
	return &c.series[len(c.series)-1]
}

func names(list []series) []string {
	var n []string
	for _, s := range list {
		n = append(n, s.name)
	}
	return n
}

// bar is one bar of a group.
type bar struct {
	name  string
	group string // bars of one name are shown together, told apart by their groups
	value float64
	show  string
}

// bars draws horizontal bars, in groups where there are any.
func bars(label string, list []bar, log bool) template.HTML {
	const height, gap, left, right = 20, 10, 150, 110
	var values []float64
	var groups []string
	colour := map[string]int{}
	rows := 0
	for i, r := range list {
		values = append(values, r.value)
		if _, seen := colour[r.group]; !seen {
			colour[r.group] = len(groups)
			groups = append(groups, r.group)
		}
		if i > 0 && r.name != list[i-1].name {
			rows++
		}
	}
	x := newScale(values, left, chartWidth-right, log)
	var b strings.Builder
	total := len(list)*height + (rows+1)*gap + 8
	open(&b, total, label)
	top := gap / 2
	for i, r := range list {
		if i > 0 && r.name != list[i-1].name {
			top += gap
		}
		if i == 0 || r.name != list[i-1].name {
			text(&b, "tick end", left-10, float64(top)+height/2+4, r.name)
		}
		width := 0.0
		if r.value > 0 {
			width = max(1, x.at(r.value)-left)
		}
		fmt.Fprintf(&b, `<rect class="bar c%d" x="%d" y="%d" width="%.1f" height="%d" rx="2">`+
			`<title>%s</title></rect>`, colour[r.group]%6, left, top, width, height-3,
			html.EscapeString(strings.TrimSpace(r.name+" "+r.group)+": "+r.show))
		text(&b, "tick", left+width+7, float64(top)+height/2+3, r.show)
		top += height
	}
	b.WriteString("</svg>")
	if len(groups) < 2 {
		groups = nil
	}
	return template.HTML(legend(groups) + b.String())
}

func open(b *strings.Builder, height int, label string) {
	fmt.Fprintf(b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, height,
		html.EscapeString(label))
}

func line(b *strings.Builder, class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1,
		x2, y2)
}

func text(b *strings.Builder, class string, x, y float64, s string) {
	fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f">%s</text>`, class, x, y,
		html.EscapeString(s))
}

// legend names the colours; one curve needs none.
func legend(names []string) string {
	if len(names) < 2 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<p class="legend">`)
	for i, n := range names {
		fmt.Fprintf(&b, `<span><i class="c%d"></i>%s</span>`, i%6, html.EscapeString(n))
	}
	b.WriteString("</p>")
	return b.String()
}
