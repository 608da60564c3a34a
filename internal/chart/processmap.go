package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/view"
)

// mostNests is how many nodes are drawn.
const mostNests = 64

// ProcessMap draws what processes send each other, in their own order and in the order of the cores
// that the cheapest mapping gives them, and the processes over the machine.
func ProcessMap(r *processmap.Result, _ Choice) (*Chart, error) {
	if r.Processes > MaxHeat {
		return nil, fmt.Errorf("%d processes are too many for a picture of their matrix, which has up to %d", r.Processes, MaxHeat)
	}
	m := r.Mapping(r.Best)
	c := &Chart{Title: fmt.Sprintf("%s on %s, mapped by %s", r.Matrix, r.Machine, m.Method)}
	c.Caption = []string{fmt.Sprintf("%d processes, %d pairs communicate, both ways together; darker is more", r.Processes, r.Pairs)}
	if m.OverBlock != nil && m.OverCyclic != nil {
		what := "hop-bytes"
		if m.Seconds != nil {
			what = "predicted time"
		}
		c.Caption = append(c.Caption, fmt.Sprintf("%.1f %% less %s than block, %.1f %% less than cyclic", 100**m.OverBlock, what, 100**m.OverCyclic))
	}
	before := make([]int, r.Processes)
	for process := range before {
		before[process] = process
	}
	position := make(map[int]int) // of a node's cores
	if n := len(r.Groups); n > 0 {
		for i, core := range slices.Concat(r.Groups[n-1]...) {
			position[core] = i
		}
	}
	after := slices.Clone(before)
	at := func(process int) int {
		place := m.Places[process]
		return place/len(r.Cores)*len(r.Cores) + position[place%len(r.Cores)]
	}
	slices.SortFunc(after, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	for _, panel := range []struct {
		name, axis string
		order      []int
	}{{"before: processes in their order", "process", before}, {"after: in the order of their cores", "process", after}} {
		heat := volumes(r, panel.axis, panel.order)
		heat.Name = "volume"
		c.Panels = append(c.Panels, Panel{Name: panel.name, X: Axis{Label: panel.axis}, Y: Axis{Label: panel.axis}, Heat: &heat})
	}
	on := make(map[int]string)
	for process, place := range m.Places {
		on[place] = strconv.Itoa(process)
	}
	over := Panel{Name: "processes on the cores of each node, and what these share"}
	for node := range min(r.Nodes, mostNests) {
		over.Nests = append(over.Nests, nestOf(r, on, node))
	}
	if r.Nodes > mostNests {
		over.Name += fmt.Sprintf("; %d more nodes are not drawn", r.Nodes-mostNests)
	}
	c.Panels = append(c.Panels, over)
	return c, nil
}

// volumes is what processes send each other, in some order.
func volumes(r *processmap.Result, axis string, order []int) view.Matrix {
	names := make([]string, len(order))
	index := make([]int, len(order))
	for i, process := range order {
		names[i], index[process] = strconv.Itoa(process), i
	}
	m := view.NewMatrix(axis, names)
	m.Volume = true
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

// nestOf is a node's cores in their groups.
func nestOf(r *processmap.Result, on map[int]string, node int) Nest {
	inner := make(map[int]*Nest) // by the first core
	for core := range r.Cores {
		inner[core] = &Nest{Text: on[node*len(r.Cores)+core]}
	}
	for _, groups := range r.Groups {
		next := make(map[int]*Nest)
		for _, group := range groups {
			whole := &Nest{}
			for _, core := range group {
				if part := inner[core]; part != nil {
					whole.Parts = append(whole.Parts, *part)
				}
			}
			if len(whole.Parts) == 1 {
				whole = &whole.Parts[0]
			}
			if len(group) > 0 {
				next[group[0]] = whole
			}
		}
		inner = next
	}
	outer := Nest{}
	for core := range r.Cores {
		if part := inner[core]; part != nil {
			outer.Parts = append(outer.Parts, *part)
		}
	}
	if len(outer.Parts) == 1 && len(outer.Parts[0].Parts) > 0 {
		outer = outer.Parts[0]
	}
	outer.Name = r.Host(node)
	return outer
}
