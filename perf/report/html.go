package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"slices"
	"strings"
)

//go:embed report.html.tmpl
var page string

var pageTemplate = template.Must(template.New("report").Parse(page))

// view is what the page shows.
type view struct {
	Title, Sub string
	Version    string
	When       string
	Command    string
	Host       string
	Tiles      []tile
	Notes      []string
	Plots      []plot
	Text       string
	Guards     [][2]string
}

// tile is a figure that is shown large.
type tile struct{ Name, Figure, Remark string }

// SaveHTML writes the report as one page that needs nothing else: no network, no script.
func (r *Report) SaveHTML(path string) error {
	b, err := r.HTML()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// HTML is the page that SaveHTML writes.
func (r *Report) HTML() ([]byte, error) {
	var text strings.Builder
	WriteText(&text, r)
	v := view{Title: r.Workload, Version: r.Version, Host: HostLine(&r.Host),
		Command: strings.Join(r.Command, " "), Notes: notes(r), Plots: plots(r),
		When: r.Started.UTC().Format("2 January 2006, 15:04 UTC"),
		Text: strings.Trim(text.String(), "\n")}
	if len(r.Parts) == 0 {
		_, v.Sub, _ = strings.Cut(title(&r.Result), " · ")
		v.Tiles = tiles(&r.Result)
	}
	for name, words := range r.Host.Mitigations {
		v.Guards = append(v.Guards, [2]string{name, words})
	}
	slices.SortFunc(v.Guards, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

func tiles(r *Result) []tile {
	list := []tile{{"delivered", Rate(r.DeliveredPerS) + "/s",
		Rate(r.PublishedPerS) + "/s published"}}
	if r.CeilingShare > 0 {
		list = append(list, tile{"of the ceiling", Percent(r.CeilingShare),
			"which is " + Rate(r.CeilingPerS) + "/s"})
	}
	if r.Latency != nil && r.OfferedPerS > 0 {
		list = append(list, tile{"latency p50", Span(r.Latency.P50),
			"p99 " + Span(r.Latency.P99)})
	}
	list = append(list, tile{"lost", Count(r.Lost), fmt.Sprintf("%s gaps", Count(r.Gaps))})
	if r.CPU != nil {
		list = append(list, tile{"CPU a delivery", Span(int64(1000 * r.CPU.Server)),
			"server; subscriber " + Span(int64(1000*r.CPU.Subscribers))})
	}
	if r.AllocsPerPublish != nil {
		remark := "objects"
		if r.GC != nil {
			remark = fmt.Sprintf("%d collections", r.GC.Server.Collections)
		}
		list = append(list, tile{"allocations a publish", digits(*r.AllocsPerPublish), remark})
	}
	if r.SyscallsPerDelivery != nil {
		list = append(list, tile{"system calls a delivery", digits(*r.SyscallsPerDelivery),
			"batches of " + Bytes(r.BatchMean)})
	}
	return list
}
