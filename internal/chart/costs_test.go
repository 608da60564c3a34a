package chart

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/view"
)

// costs are of two collectives, m from 1K to 4K, in µs as many as KB, of the second machine
// twice as many.
func costs(machines ...string) *predict.Machines {
	d := &predict.Machines{}
	for i, name := range machines {
		d.Machines = append(d.Machines, predict.Source{Machine: name, Model: "τ-Lop"})
		for _, of := range []string{"barrier:tree", "bcast:linear", "bcast:binomial"} {
			for bytes := 1 << 10; bytes <= 4<<10; bytes *= 2 {
				collective, algorithm, _ := strings.Cut(of, ":")
				r := predict.MachineCost{Machine: name, Of: of, Prediction: predict.Prediction{Collective: collective, Algorithm: algorithm, P: 4, Bytes: bytes, Microseconds: float64(bytes>>10) * float64(i+1)}}
				if lo, hi := r.Microseconds/2, r.Microseconds*2; algorithm == "linear" {
					r.Lo, r.Hi = &lo, &hi
				}
				if collective == "barrier" {
					r.Bytes = 0
				}
				d.Rows = append(d.Rows, r)
			}
		}
	}
	return d
}

func TestCosts(t *testing.T) {
	c := must.Get(Costs(costs("a"), Choice{}))
	both := costs("a")
	for _, r := range both.Rows {
		if r.Algorithm == "linear" {
			r.Collective, r.Of = "scatter", "scatter:linear"
			both.Rows = append(both.Rows, r)
		}
	}
	check.Slices(t, must.Get(Costs(both, Choice{})).Omitted, []string{"scatter"}, "omitted of both")
	check.Empty(t, c.Omitted, "omitted of bcast alone")
	first := c.Panels[0].Series[0].Points
	if shown(c) != "linear, binomial" || c.Title != "Predicted cost: bcast" || len(first) != 3 || first[2].Y.Center != 4000 || first[2].Y.Lo != 2000 || first[2].Y.Hi != 8000 {
		t.Errorf("%s: %v %+v", c.Title, shown(c), first)
	}
	c = must.Get(Costs(costs("a", "b"), Choice{Algorithms: []string{"bcast:linear"}, Bandwidth: true}))
	slow := c.Panels[0].Series[1]
	// 4 KiB in 8 µs, which may be 4 or 16.
	y := slow.Points[2].Y
	check.True(t, slow.Name == "b" && y.Center == 0.512 && y.Lo == 0.256 && y.Hi == 1.024 && c.Panels[0].Y.Quantity == Bandwidths, "%+v", slow)
}

// grouped are times of n CPUs, four of which share a cache.
func grouped(n int) (all []view.Matrix) {
	names := lists.Map(lists.Indices(n), strconv.Itoa)
	for _, m := range []view.Matrix{
		{Name: "null transfer, one way", Groups: []view.Group{{Name: "shared L3", Median: 60}, {Name: "nodes 21 apart", Median: 240}}},
		{Name: "transfer of 8K", Bytes: 8192, Groups: []view.Group{{Name: "shared L3", Median: 600}, {Name: "nodes 21 apart", Median: 1300}}},
	} {
		empty := view.NewMatrix("CPU", names)
		m.Axis, m.Names, m.Cells = empty.Axis, empty.Names, empty.Cells
		for a := range n {
			for b := a + 1; b < n; b++ {
				g := min(1, b/4-a/4)
				m.Groups[g].Pairs++
				t := m.Groups[g].Median
				*m.At(a, b) = view.Cell{Group: g, Time: fit.Estimate{Center: t * (1 + 0.02*float64((a*7+b)%5)), Lo: t, Hi: t, N: 6}}
			}
		}
		all = append(all, m)
	}
	return all
}

// Slower is darker, all the way.
func TestSlowerIsDarker(t *testing.T) {
	h := heat{least: 50, most: 400}
	last := math.Inf(1)
	for v := 50.0; v <= 400; v += 10 {
		r, g, b, _ := h.shade(v).RGBA()
		light := 0.2126*float64(r) + 0.7152*float64(g) + 0.0722*float64(b)
		check.True(t, light < last, "%g ns is no darker than %g ns", v, v-10)
		last = light
	}
}

// Few CPUs have their numbers in the cells, many have fewer labels than CPUs.
func TestHeatMaps(t *testing.T) {
	last := vg.Length(0)
	for _, tt := range []struct {
		cpus    int
		numbers bool
	}{{2, true}, {8, true}, {16, false}, {128, false}} {
		c := must.Get(HeatMaps("host", grouped(tt.cpus), Choice{}))
		var svg bytes.Buffer
		must.Do(c.Write(&svg, "svg", ColumnWidth))
		text := svg.String()
		contains.All(t, text, "shared L3", "null transfer, one way", "transfer of 8K", ">CPU<")
		check.Equal(t, strings.Count(text, ">CPU<"), 4, "%d CPUs: axes of two maps say that they are CPUs", tt.cpus)
		check.Equal(t, strings.Count(text, ">61.2<") > 0 || strings.Count(text, ">60.0<") > 0, tt.numbers, "%d CPUs: numbers in cells", tt.cpus)
		labels := 0
		for cpu := range tt.cpus {
			labels += strings.Count(text, fmt.Sprintf(">%d<", cpu))
		}
		l := c.layout(17 * vg.Centimeter) // few CPUs have a small map
		if l.height < last || tt.cpus == 2 && l.panels[0].height > 5*vg.Centimeter {
			t.Errorf("%d CPUs: %g cm high", tt.cpus, l.panels[0].height/vg.Centimeter)
		}
		last = l.height
		check.True(t, labels >= 4 && labels <= 4*30+4, "%d CPUs: %d labels", tt.cpus, labels)
	}
}
