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
	"github.com/taulop/taulop/params"
)

// WriteConcurrencyChart draws A(τ) of curves of one channel for a terminal of 80
// columns: bars for a few points, marks on a plane for more. It draws nothing
// where there is no τ above 1, and says so by false.
func WriteConcurrencyChart(w io.Writer, title string, curves []compare.Curve) bool {
	taus, rows := []int{}, 0
	for _, c := range curves {
		for _, p := range c.Points {
			if math.IsNaN(p.A.Center) || math.IsInf(p.A.Center, 0) {
				continue
			}
			if at, found := slices.BinarySearch(taus, p.Tau); !found {
				taus = slices.Insert(taus, at, p.Tau)
			}
			if p.Tau > 1 {
				rows++
			}
		}
	}
	const mostBars = 8
	switch {
	case rows == 0:
		return false
	case rows <= mostBars:
		fmt.Fprintf(w, "A(τ), %s; dots: up to τ, all at once\n", title)
		writeBars(w, curves, taus)
	default:
		fmt.Fprintf(w, "A(τ), %s\n", title)
		writePlane(w, curves, taus)
	}
	return true
}

// marks of machines, told apart by shape.
var marks = []string{"●", "△", "■", "◇", "+", "×", "○", "▲", "□", "◆"}

func mark(i int) string { return marks[i%len(marks)] }

// writeBars draws a bar for each τ and machine, dotted up to τ.
func writeBars(w io.Writer, curves []compare.Curve, taus []int) {
	last := taus[len(taus)-1]
	longest := float64(last)
	name := 0
	for _, c := range curves {
		name = max(name, utf8.RuneCountInString(c.Machine))
		for _, p := range c.Points {
			if p.Tau > 1 && !math.IsNaN(p.A.Center) {
				longest = max(longest, p.A.Center)
			}
		}
	}
	name = min(name, 28)
	width := 80 - len(strconv.Itoa(last)) - name - 15
	for _, tau := range taus {
		for i := range curves {
			p, measured := curves[i].At(tau)
			if !measured || tau == 1 || math.IsNaN(p.A.Center) || math.IsInf(p.A.Center, 0) {
				continue
			}
			fmt.Fprintf(w, "τ = %*d  %-*s  %s %6.2f\n", len(strconv.Itoa(last)), tau, name, shortened(curves[i].Machine, name),
				bar(p.A.Center/longest, float64(tau)/longest, width), p.A.Center)
		}
	}
}

// bar is so much of a width in eighths of a column, then dots as far as it could
// have gone.
func bar(share, ideal float64, width int) string {
	eighths := int(math.Round(share * float64(8*width)))
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	used := (eighths + 7) / 8
	end := int(math.Round(ideal * float64(width)))
	if end > used {
		text += strings.Repeat("·", end-used)
		used = end
	}
	return text + strings.Repeat(" ", max(0, width-used))
}

func shortened(name string, width int) string {
	if utf8.RuneCountInString(name) <= width {
		return name
	}
	return string([]rune(name)[:width-1]) + "…"
}

// writePlane draws marks over τ, which doubles from column to column where it
// goes beyond 20, and then A does so too: all τ at once is a straight line.
func writePlane(w io.Writer, curves []compare.Curve, taus []int) {
	const width, height, most = 64, 12, 20
	last := taus[len(taus)-1]
	top := 1.0
	for _, c := range curves {
		for _, p := range c.Points {
			if !math.IsNaN(p.A.Center) && !math.IsInf(p.A.Center, 0) {
				top = max(top, p.A.Center)
			}
		}
	}
	doubling := last > most
	scale := func(v float64) float64 { return v }
	low := 0.0
	if doubling {
		scale = func(v float64) float64 { return math.Log2(max(v, 1e-3)) }
		low = 1
		for _, c := range curves {
			for _, p := range c.Points {
				if p.A.Center > 0 {
					low = min(low, p.A.Center)
				}
			}
		}
		low = math.Exp2(math.Floor(math.Log2(max(low, 0.125))))
		top = math.Exp2(math.Ceil(math.Log2(top)))
	} else {
		top = math.Ceil(top)
	}
	first := float64(taus[0])
	column := func(tau float64) int {
		return int(math.Round((scale(tau) - scale(first)) / (scale(float64(last)) - scale(first)) * (width - 1)))
	}
	line := func(a float64) int {
		return int(math.Round((scale(top) - scale(a)) / (scale(top) - scale(low)) * (height - 1)))
	}
	var plane [height][width]string
	for x := range width { // all τ at once: A = τ
		share := float64(x) / (width - 1)
		tau := first + share*(float64(last)-first)
		if doubling {
			tau = first * math.Pow(float64(last)/first, share)
		}
		if y := line(tau); tau <= top && y >= 0 && y < height {
			plane[y][x] = "·"
		}
	}
	several := false
	for i, c := range curves {
		for _, p := range c.Points {
			if math.IsNaN(p.A.Center) || math.IsInf(p.A.Center, 0) {
				continue
			}
			cell := &plane[min(max(line(p.A.Center), 0), height-1)][column(float64(p.Tau))]
			if *cell != "" && *cell != "·" && *cell != mark(i) {
				*cell, several = "*", true
				continue
			}
			*cell = mark(i)
		}
	}
	labels := make([]string, height)
	for _, v := range ticks(low, top, doubling) {
		labels[line(v)] = strconv.FormatFloat(v, 'g', 3, 64)
	}
	for y := range height {
		var b strings.Builder
		for x := range width {
			if plane[y][x] == "" {
				b.WriteByte(' ')
			} else {
				b.WriteString(plane[y][x])
			}
		}
		axis := "│"
		if labels[y] != "" {
			axis = "┤"
		}
		fmt.Fprintf(w, "%6s %s%s\n", labels[y], axis, strings.TrimRight(b.String(), " "))
	}
	axis, numbers := []rune(strings.Repeat("─", width)), []rune(strings.Repeat(" ", width+4))
	free := 0
	for _, tau := range taus {
		text := []rune(strconv.Itoa(tau))
		x := column(float64(tau))
		axis[x] = '┬'
		if at := x - (len(text)-1)/2; at >= free {
			copy(numbers[at:], text)
			free = at + len(text) + 1
		}
	}
	fmt.Fprintf(w, "%6s └%s\n%6s  %s τ\n", "", string(axis), "", strings.TrimRight(string(numbers), " "))
	legend := make([]string, len(curves))
	for i, c := range curves {
		legend[i] = mark(i) + " " + shortened(c.Machine, 32)
	}
	legend = append(legend, "· A = τ, all at once")
	if several {
		legend = append(legend, "* several")
	}
	writeWrapped(w, legend, 8, 80)
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
	used := 0
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
			fmt.Fprint(w, strings.Repeat(" ", indent))
			used = indent
		case used+3+n > width:
			fmt.Fprint(w, "\n"+strings.Repeat(" ", indent))
			used = indent
		default:
			fmt.Fprint(w, "   ")
			used += 3
		}
		fmt.Fprint(w, word)
		used += n
	}
	fmt.Fprintln(w)
}

// WriteSweepCharts draws A(τ) of a file's segments.
func WriteSweepCharts(w io.Writer, f *params.File) {
	curves, err := compare.Curves("", f)
	if err != nil {
		return
	}
	for _, c := range curves {
		if c.Segment {
			fmt.Fprintln(w)
			WriteConcurrencyChart(w, channelTitle(c.Channel, true), []compare.Curve{c})
		}
	}
}
