package plan

import (
	"math"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/mpi"
)

// cells are cells of one collective. Times of options are multiples of the least, the own choice first.
func cells(ps, ms []int, times ...float64) (all []Cell) {
	for _, p := range ps {
		for _, m := range ms {
			c := Cell{Collective: "bcast", P: p, Bytes: m}
			for i, of := range times {
				s := mpi.Setting{ID: i, Name: string(rune('a' + i))}
				if i == 0 {
					s = mpi.Setting{}
				}
				c.Options = append(c.Options, Option{s, of * 1e-6 * float64(m)})
			}
			all = append(all, c)
		}
	}
	return all
}

func cost(_ *Cell, o Option) float64 { return o.Seconds + 20e-6 }

func TestPick(t *testing.T) {
	ms := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	by := Picker{Most: 2, Cost: cost}
	far := by.Pick(cells([]int{8}, ms, 1, 9, 9))
	check.True(t, far.Seconds == 0 && far.Expected <= 0.01, "what is certain is timed: %+v", far)
	of := cells([]int{8}, ms, 1.1, 1, 1.05, 1.2, 1.3)
	near := by.Pick(of)
	timed := 0
	for cell, options := range near.Timed {
		if len(options) > 0 {
			timed++
		}
		if len(options) > 3 || len(options) > 0 && options[0] != 0 || len(options) == 1 {
			t.Errorf("cell %d: %v are timed", cell, options)
		}
	}
	if none := (Picker{Cost: cost}).Pick(of); timed == 0 || !(near.Expected < none.Expected) {
		t.Errorf("%d cells timed, %v expected after %v", timed, near.Expected, none.Expected)
	}
	check.Equal(t, (Picker{Most: 9, Cost: cost}).Pick(cells([]int{8}, ms, 1, 1.05)).Expected, 0, "expected where all is timed")
	by.Budget = near.Seconds / 3
	if less := by.Pick(of); less.Seconds > by.Budget || less.Seconds == 0 || !(less.Expected > near.Expected) {
		t.Errorf("of %v s %v are spent, %v expected", by.Budget, less.Seconds, less.Expected)
	}
}

// A neighbour's timing corrects predictions.
func TestDecide(t *testing.T) {
	of := cells([]int{8}, []int{1024, 2048, 4096}, 1, 1.2, 1.1)
	times := Times{{{Seconds: 1e-3}, {Seconds: 0.5e-3}, {Seconds: 2e-3}}, nil, nil}
	for cell := range of {
		if times[cell] == nil {
			times[cell] = make([]Time, 3)
		}
	}
	for cell, d := range Decide(of, times) {
		check.True(t, d.Option == 1 && (d.Error == 0) == (cell == 0) && d.Error <= 0.2, "cell %d: %+v", cell, d)
	}
	if d := Decide(of, times)[0]; math.Abs(d.Ratio-math.Log(2)) > 1e-12 || d.Error != 0 {
		t.Errorf("%+v", d)
	}
	times[0] = []Time{{Seconds: 1e-3}, {}, {}}
	for cell, d := range Decide(of, times) {
		check.Equal(t, d.Option, 0, "option of cell %d without a time", cell)
	}
}
