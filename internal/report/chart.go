package report

import (
	"fmt"
	"io"
	"math"
	"slices"
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

// writeConcurrencyChart draws A(τ) of curves of one channel for a terminal of up to 80
// columns: bars for a few points, marks on a plane for more. It draws nothing
// where there is no τ above 1, and says so by false.
func writeConcurrencyChart(w io.Writer, title string, curves []compare.Curve) bool {
	curves = slices.Clone(curves)
	var taus []int
	concurrent := 0 // points
	for i := range curves {
		c := &curves[i]
		c.Points = slices.DeleteFunc(slices.Clone(c.Points), func(p compare.Point) bool { return math.IsNaN(p.A.Center) || math.IsInf(p.A.Center, 0) })
		for _, p := range c.Points {
			taus = append(taus, p.Tau)
			if p.Tau > 1 {
				concurrent++
			}
		}
	}
	taus = lists.Rising(taus)
	const mostBars = 8
	switch {
	case concurrent == 0:
		return false
	case concurrent <= mostBars:
		fmt.Fprintf(w, "A(τ), %s; dots: up to τ, all at once\n", title)
		writeBars(w, curves, taus)
	default:
		fmt.Fprintf(w, "A(τ), %s\n", title)
		writePlane(w, curves, taus)
	}
	return true
}

// writeBars draws a bar for each τ and machine, dotted up to τ.
func writeBars(w io.Writer, curves []compare.Curve, taus []int) {
	last, line := taus[len(taus)-1], chartWidth(w)
	longest, name := float64(last), 0
	for _, c := range curves {
		name = max(name, utf8.RuneCountInString(shortened(c.Machine, line*28/80)))
		for _, p := range c.Points {
			longest = max(longest, p.A.Center)
		}
	}
	digits := len(strconv.Itoa(last))
	width := line - digits - name - 15
	t := view.Table{Columns: append(view.Words("", "", ""), view.Numbers("")...)}
	for _, tau := range taus {
		for i := range curves {
			if p, measured := curves[i].At(tau); measured && tau > 1 {
				t.Add(fmt.Sprintf("τ = %*d", digits, tau), shortened(curves[i].Machine, name),
					bar(p.A.Center/longest, float64(tau)/longest, width), fmt.Sprintf("%5.2f", p.A.Center))
			}
		}
	}
	t.WriteText(w)
}

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

// An axis has places from 0 to last for values. Where it is doubling, a value twice as
// large is as many places on.
type axis struct {
	from, to float64
	doubling bool
	last     int
}

func (a axis) place(v float64) int {
	from, to := a.from, a.to
	if a.doubling {
		v, from, to = math.Log2(max(v, 1e-3)), math.Log2(from), math.Log2(to)
	}
	return int(math.Round((v - from) / (to - from) * float64(a.last)))
}

// value is the inverse of place.
func (a axis) value(place int) float64 {
	share := float64(place) / float64(a.last)
	if a.doubling {
		return a.from * math.Pow(a.to/a.from, share)
	}
	return a.from + share*(a.to-a.from)
}

// marks of machines, told apart by shape.
var marks = []string{"●", "△", "■", "◇", "+", "×", "○", "▲", "□", "◆"}

func mark(i int) string { return marks[i%len(marks)] }

// writePlane draws marks over τ, which doubles from column to column where it
// goes beyond 20, and then A does so too: all τ at once is a straight line.
func writePlane(w io.Writer, curves []compare.Curve, taus []int) {
	const height, most = 12, 20
	width := chartWidth(w) - 16
	low, top := 1.0, 1.0
	for _, c := range curves {
		for _, p := range c.Points {
			top = max(top, p.A.Center)
			if p.A.Center > 0 {
				low = min(low, p.A.Center)
			}
		}
	}
	doubling := taus[len(taus)-1] > most
	if doubling {
		low, top = math.Exp2(math.Floor(math.Log2(max(low, 0.125)))), math.Exp2(math.Ceil(math.Log2(top)))
	} else {
		low, top = 0, math.Ceil(top)
	}
	x := axis{float64(taus[0]), float64(taus[len(taus)-1]), doubling, width - 1}
	y := axis{top, low, doubling, height - 1} // lines are written from above

	var plane [height][]string
	for line := range plane {
		plane[line] = slices.Repeat([]string{" "}, width)
	}
	for column := range width { // all τ at once: A = τ
		tau := x.value(column)
		if line := y.place(tau); tau <= top && line >= 0 && line < height {
			plane[line][column] = "·"
		}
	}
	var legend []string
	several := false
	for i, c := range curves {
		for _, p := range c.Points {
			cell := &plane[min(max(y.place(p.A.Center), 0), height-1)][x.place(float64(p.Tau))]
			if *cell == " " || *cell == "·" || *cell == mark(i) {
				*cell = mark(i)
			} else {
				*cell, several = "*", true
			}
		}
		legend = append(legend, mark(i)+" "+shortened(c.Machine, 32))
	}
	legend = append(legend, "· A = τ, all at once")
	if several {
		legend = append(legend, "* several")
	}
	labels := make(map[int]string)
	for _, v := range ticks(low, top, doubling) {
		labels[y.place(v)] = strconv.FormatFloat(v, 'g', 3, 64)
	}
	for line, cells := range plane {
		edge := "│"
		if labels[line] != "" {
			edge = "┤"
		}
		fmt.Fprintf(w, "%6s %s%s\n", labels[line], edge, strings.TrimRight(strings.Join(cells, ""), " "))
	}
	writeTaus(w, x, taus)
	writeWrapped(w, legend, 8, chartWidth(w))
}

// writeTaus writes the axis of τ, with as many numbers as it has room for.
func writeTaus(w io.Writer, x axis, taus []int) {
	line, numbers := []rune(strings.Repeat("─", x.last+1)), []rune(strings.Repeat(" ", x.last+5))
	free := 0
	for _, tau := range taus {
		text := []rune(strconv.Itoa(tau))
		place := x.place(float64(tau))
		line[place] = '┬'
		if at := place - (len(text)-1)/2; at >= free {
			copy(numbers[at:], text)
			free = at + len(text) + 1
		}
	}
	fmt.Fprintf(w, "%6s └%s\n%6s  %s τ\n", "", string(line), "", strings.TrimRight(string(numbers), " "))
}

// ticks are round numbers of an axis.
func ticks(low, top float64, doubling bool) (values []float64) {
	if doubling {
		for v := low; v <= top; v *= 2 {
			values = append(values, v)
		}
		return values
	}
	step := 1.0
	for factors := []float64{2, 2.5, 2}; top/step > 6; factors = append(factors[1:], factors[0]) { // 1, 2, 5, 10 …
		step *= factors[0]
	}
	for v := low; v <= top; v += step {
		values = append(values, v)
	}
	return values
}

// writeWrapped writes words after each other, as many as fit into a line.
func writeWrapped(w io.Writer, words []string, indent, width int) {
	const gap = "   "
	line := words[0]
	for _, word := range words[1:] {
		if indent+utf8.RuneCountInString(line+gap+word) > width {
			fmt.Fprintf(w, "%*s%s\n", indent, "", line)
			line = word
			continue
		}
		line += gap + word
	}
	fmt.Fprintf(w, "%*s%s\n", indent, "", line)
}
