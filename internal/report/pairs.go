package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/pairs"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Pairs is transfers between every two CPUs. All times are in ns, of one transfer.
type Pairs struct {
	Provenance provenance.Provenance `json:"provenance"`
	Copy       string                `json:"copy"`
	Seconds    float64               `json:"seconds"`
	*params.Pairs
	Slow     []pairs.Slow `json:"slow"`
	Warnings []string     `json:"warnings"`
}

// NewPairs is of a file that has pairs.
func NewPairs(f *params.File) (*Pairs, error) {
	p, err := f.Pairs()
	if err != nil {
		return nil, err
	}
	d := &Pairs{Provenance: f.Provenance, Copy: f.Plan.Copy, Seconds: f.Seconds, Pairs: p, Slow: pairs.FindSlow(p), Warnings: f.Warnings}
	if d.Warnings == nil {
		d.Warnings = []string{}
	}
	return d, nil
}

// MatrixCPUs is how many CPUs a matrix has at most that is still read.
const MatrixCPUs = 16

// WriteText writes a matrix of each size where it can be read, then the levels and
// the pairs that are slow.
func (p *Pairs) WriteText(w io.Writer) {
	fmt.Fprintln(w, machine(p.Provenance))
	p.writeTables(w)
}

// writePairs writes the tables of a file that has pairs; nothing where it has none.
func writePairs(w io.Writer, f *params.File) {
	if p, err := NewPairs(f); err == nil {
		var b strings.Builder
		p.writeTables(&b)
		fmt.Fprintf(w, "%s\n\n", strings.TrimRight(b.String(), "\n"))
	}
}

func (p *Pairs) writeTables(w io.Writer) {
	fmt.Fprintf(w, "isolated transfers between two CPUs, one pair at a time; copy %s\n", p.Copy)
	if len(p.CPUs) <= MatrixCPUs {
		for row, m := range p.Sizes {
			p.writeMatrix(w, pairTitle(m)+", ns", func(pair params.Pair) string {
				t := pair.Times[row]
				return view.Center(t)
			})
			if m > 0 {
				p.writeMatrix(w, fmt.Sprintf("bandwidth of transfers of %s, GB/s", view.Bytes(m)), func(pair params.Pair) string {
					return view.Digits(float64(m)/pair.Times[row].Center, 0)
				})
			}
		}
	} else {
		fmt.Fprintf(w, "\n%d pairs of %d CPUs are too many for a matrix here: the file of -o holds them, and taulop plot pairs draws them\n", len(p.Pairs.Pairs), len(p.CPUs))
	}
	p.writeLevels(w)
	p.writeSlow(w)
}

func pairTitle(m int) string {
	if m == 0 {
		return "null transfer, one way"
	}
	return "transfer of " + view.Bytes(m)
}

// writeMatrix writes the lower CPU of a pair down and the higher across.
func (p *Pairs) writeMatrix(w io.Writer, title string, cell func(params.Pair) string) {
	fmt.Fprintf(w, "\n%s\n", title)
	cells := make(map[[2]int]string)
	for _, pair := range p.Pairs.Pairs {
		cells[[2]int{pair.From, pair.To}] = cell(pair)
	}
	rows := [][]string{{"CPU"}}
	for _, to := range p.CPUs[1:] {
		rows[0] = append(rows[0], strconv.Itoa(to))
	}
	for _, from := range p.CPUs[:len(p.CPUs)-1] {
		row := []string{strconv.Itoa(from)}
		for _, to := range p.CPUs[1:] {
			row = append(row, cells[[2]int{from, to}])
		}
		rows = append(rows, row)
	}
	width := 3
	for _, row := range rows {
		for _, c := range row {
			width = max(width, len(c))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			if i == 0 {
				fmt.Fprintf(&line, "%5s", c)
				continue
			}
			fmt.Fprintf(&line, "%*s", width+1, c)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// writeLevels writes what pairs of a level have in common: medians over pairs, and
// the least and most of them.
func (p *Pairs) writeLevels(w io.Writer) {
	fmt.Fprintln(w, "\nlevels: median over pairs, least – most")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "level\tpairs\t")
	for _, m := range p.Sizes {
		name := view.Bytes(m)
		if m == 0 {
			name = "null"
		}
		fmt.Fprintf(t, "%s, ns\t\t", name)
		if m > 0 {
			fmt.Fprint(t, "GB/s\t")
		}
	}
	fmt.Fprintln(t)
	for l, level := range p.Levels {
		fmt.Fprintf(t, "%s\t%d\t", level.Name, level.Pairs)
		for row, m := range p.Sizes {
			least, most := math.Inf(1), 0.0
			for _, pair := range p.Pairs.Pairs {
				if v := pair.Times[row].Center; pair.Level == l && !math.IsNaN(v) {
					least, most = min(least, v), max(most, v)
				}
			}
			median := level.Median[row]
			if median == 0 {
				fmt.Fprint(t, "?\t\t")
			} else {
				fmt.Fprintf(t, "%s\t%s – %s\t", view.Digits(median, 0), view.Digits(least, 0), view.Digits(most, 0))
			}
			if m > 0 && median > 0 {
				fmt.Fprintf(t, "%s\t", view.Digits(float64(m)/median, 0))
			} else if m > 0 {
				fmt.Fprint(t, "?\t")
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	for i, near := range p.Levels {
		for _, far := range p.Levels[i+1:] {
			if near.Median[0] > far.Median[0] && far.Median[0] > 0 {
				fmt.Fprintf(w, "Pairs of %q should be closer than those of %q, but %s takes them %s ns against %s ns.\n",
					near.Name, far.Name, transferText(p.Sizes[0]), view.Digits(near.Median[0], 0), view.Digits(far.Median[0], 0))
			}
		}
	}
}

// mostSlow pairs are told one by one.
const mostSlow = 10

func (p *Pairs) writeSlow(w io.Writer) {
	fmt.Fprintln(w)
	if len(p.Slow) == 0 {
		if slices.ContainsFunc(p.Levels, func(l params.PairLevel) bool { return l.Pairs >= 3 }) {
			fmt.Fprintf(w, "No pair is slower than its level says: robust z-scores are up to %g.\n", fit.OutlierScore)
		}
		return
	}
	for _, s := range p.Slow[:min(mostSlow, len(p.Slow))] {
		fmt.Fprintln(w, slowText(s))
	}
	if more := len(p.Slow) - mostSlow; more > 0 {
		fmt.Fprintf(w, "So are %d more pairs, which -json lists.\n", more)
	}
}

func transferText(m int) string {
	if m == 0 {
		return "a null transfer"
	}
	return "a transfer of " + view.Bytes(m)
}

func slowText(s pairs.Slow) string {
	text := fmt.Sprintf("CPUs %d and %d are slower than their level (%s) says: %s takes %s ns", s.From, s.To, s.Level, transferText(s.Bytes), view.Digits(s.Time, 0))
	if s.Score > 0 {
		text += fmt.Sprintf(" where the median is %s ns (z = %.1f)", view.Digits(s.Median, 0), s.Score)
	}
	if s.Above != "" {
		text += fmt.Sprintf(", more than pairs of %q with %s ns", s.Above, view.Digits(s.Beyond, 0))
	}
	return text + "."
}

// WriteJSON writes the document.
func (p *Pairs) WriteJSON(w io.Writer) error { return view.WriteJSON(w, p) }
