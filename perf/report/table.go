package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is rows of cells, aligned for a terminal: the first column to the left, the others
// to the right.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer, indent string) {
	var widths []int
	measure := func(cells []string) {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	measure(t.head)
	for _, r := range t.rows {
		measure(r)
	}
	line := func(cells []string) {
		var b strings.Builder
		b.WriteString(indent)
		for i, c := range cells {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if i == 0 {
				b.WriteString(c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	if len(t.head) > 0 {
		line(t.head)
		total := 2 * (len(widths) - 1)
		for _, n := range widths {
			total += n
		}
		fmt.Fprintln(w, indent+strings.Repeat("─", total))
	}
	for _, r := range t.rows {
		line(r)
	}
}
