package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/view"
)

// ProcessMap draws the bytes between processes, in their own order and in the order of their cores under
// the cheapest mapping.
func ProcessMap(r *processmap.Result, _ Choice) (*Chart, error) {
	if r.Processes > MaxHeat {
		return nil, fmt.Errorf("%d processes are too many for a picture of their matrix, which has up to %d", r.Processes, MaxHeat)
	}
	m := r.Mapping(r.Best)
	c := &Chart{Title: fmt.Sprintf("%s on %s, mapped by %s", r.Matrix, r.Machine, m.Method)}
	c.Caption = []string{fmt.Sprintf("%d processes; bytes between two, both ways together; darker is more", r.Processes)}
	if m.OverBlock != nil && m.OverCyclic != nil {
		what := printable.Either(m.Seconds != nil, "predicted time", "hop-bytes")
		c.Caption = append(c.Caption, fmt.Sprintf("%.1f %% less %s than block, %.1f %% less than cyclic", 100**m.OverBlock, what, 100**m.OverCyclic))
	}
	before := lists.Indices(r.Processes)
	var position map[int]int // of cores within a node
	if n := len(r.Groups); n > 0 {
		position = lists.Index(slices.Concat(r.Groups[n-1]...), func(core int) int { return core })
	}
	after := slices.Clone(before)
	at := func(process int) int {
		place := m.Places[process]
		return place/len(r.Cores)*len(r.Cores) + position[place%len(r.Cores)]
	}
	slices.SortFunc(after, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	for i, order := range [][]int{before, after} {
		axis, heat := Axis{Label: "process"}, volumes(r, order)
		c.Panels = append(c.Panels, Panel{Name: [...]string{"before: processes in their order", "after: in the order of their cores"}[i], X: axis, Y: axis, Heat: &heat})
	}
	return c, nil
}

// volumes is the bytes between processes, in some order.
func volumes(r *processmap.Result, order []int) view.Matrix {
	names := make([]string, len(order))
	index := make([]int, len(order))
	for i, process := range order {
		names[i], index[process] = strconv.Itoa(process), i
	}
	m := view.NewMatrix("process", names)
	m.Volume, m.Name = true, "volume"
	for from, row := range r.Sent {
		for _, e := range row {
			if e.To == from {
				continue
			}
			cell := m.At(index[from], index[e.To])
			if cell.Group < 0 {
				cell.Group, cell.Time.Center = 0, 0
			}
			cell.Time.Center += float64(max(e.Bytes, 1))
		}
	}
	return m
}
