package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// drawSweep draws A(τ) of a file's segments.
func drawSweep(w io.Writer, f *params.File) {
	for _, m := range (compare.Machine{File: f}).Each() {
		curves, err := compare.Curves("", m.File)
		if err != nil {
			continue
		}
		for _, c := range curves {
			if c.Segment {
				fmt.Fprintln(w)
				writeConcurrencyChart(w, m.Called(channelTitle(c.Channel, true)), []compare.Curve{c})
			}
		}
	}
}

// mostBars is how many bars a figure of letters has, unless there are more machines.
const mostBars = 24

// writeConcurrencyChart draws A(τ) of curves of one channel for a terminal of up to 80 columns: a
// bar for each τ and machine, dotted up to τ, of many τ some. It draws nothing where there is no τ
// above 1, and says so by false.
func writeConcurrencyChart(w io.Writer, title string, curves []compare.Curve) bool {
	line := chartWidth(w)
	var taus []int
	longest, name := 0., 0
	for _, c := range curves {
		for _, p := range c.Points {
			if A := p.A.Center; p.Tau > 1 && finite(A) {
				taus, longest, name = append(taus, p.Tau), max(longest, A, float64(p.Tau)), max(name, utf8.RuneCountInString(shortened(c.Machine, line*28/80)))
			}
		}
	}
	if len(taus) == 0 {
		return false
	}
	taus = lists.Spread(lists.Rising(taus), max(2, mostBars/len(curves)))
	digits := len(strconv.Itoa(taus[len(taus)-1]))
	width := line - digits - name - 15
	t := view.Table{Columns: append(view.Words("", "", ""), view.Numbers("")...), Title: "A(τ), " + title + "; dots: up to τ, all at once"}
	for _, tau := range taus {
		for i := range curves {
			if p, measured := curves[i].At(tau); measured && finite(p.A.Center) {
				t.Add(fmt.Sprintf("τ = %*d", digits, tau), shortened(curves[i].Machine, name),
					bar(p.A.Center/longest, float64(tau)/longest, width), fmt.Sprintf("%5.2f", p.A.Center))
			}
		}
	}
	t.WriteText(w)
	return true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// chartWidth is how many letters a line of a chart has.
func chartWidth(w io.Writer) int { return min(view.DefaultWidth, max(40, view.WidthOf(w))) }

// bar is so much of a width in eighths of a column, then dots as far as it could
// have gone.
func bar(share, ideal float64, width int) string {
	eighths := int(math.Round(share * float64(8*width)))
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	used := (eighths + 7) / 8
	end := max(used, int(math.Round(ideal*float64(width))))
	return text + strings.Repeat("·", end-used) + strings.Repeat(" ", max(0, width-end))
}

func shortened(name string, width int) string {
	if utf8.RuneCountInString(name) <= width {
		return name
	}
	return string([]rune(name)[:width-1]) + "…"
}
