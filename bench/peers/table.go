package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A row is one measure of one set. Figures are by peer; less is better.
type row struct {
	set, measure string
	unit         string // of the figures: "ns/pair"
	figures      map[string]float64
	allocs       float64 // of Sheaf, for one of what the unit counts; -1 where it was not measured
}

// sheafName is the peer that the others are compared with.
const sheafName = "sheaf"

// best returns the best of the other peers; no name when there is none.
func (r *row) best() (name string, figure float64) {
	for peer, f := range r.figures {
		if peer != sheafName && (name == "" || f < figure || f == figure && peer < name) {
			name, figure = peer, f
		}
	}
	return name, figure
}

// times returns how many times less Sheaf takes than a peer; 0 when one of them
// was not measured.
func (r *row) times(peer string) float64 {
	own, ok := r.figures[sheafName]
	other, has := r.figures[peer]
	if !ok || !has || own == 0 {
		return 0
	}
	return other / own
}

// writeTable writes all rows, with a column for each peer and one for how many
// times less Sheaf takes than the best of the others.
func writeTable(w io.Writer, rows []row, peers []string, markdown bool) error {
	head := append([]string{"set", "measure", "unit"}, peers...)
	head = append(head, "best/sheaf", "allocs")
	lines := [][]string{head}
	for i := range rows {
		r := &rows[i]
		line := []string{r.set, r.measure, r.unit}
		for _, p := range peers {
			if f, ok := r.figures[p]; ok {
				line = append(line, short(f))
			} else {
				line = append(line, "-")
			}
		}
		ratio, allocs := "-", "-"
		if name, _ := r.best(); r.times(name) > 0 {
			ratio = short(r.times(name)) + " " + name
		}
		if r.allocs >= 0 {
			allocs = short(r.allocs)
		}
		lines = append(lines, append(line, ratio, allocs))
	}
	if markdown {
		return writeMarkdown(w, lines)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintln(tw, strings.Join(l, "\t"))
	}
	return tw.Flush()
}

func writeMarkdown(w io.Writer, lines [][]string) error {
	for i, l := range lines {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(l, " | ")); err != nil {
			return err
		}
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(l)))
		}
	}
	return nil
}

// short writes a figure with three digits that matter.
func short(f float64) string {
	switch {
	case f == 0:
		return "0"
	case math.Abs(f) >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(f))))
	return strconv.FormatFloat(f, 'f', min(digits, 4), 64)
}
