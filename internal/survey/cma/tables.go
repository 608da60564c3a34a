package cma

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A state of send buffers.
type state struct {
	off     bool
	buffers params.Buffers
}

var states = []state{{false, params.Rewritten}, {false, params.Unchanged}, {false, params.Copied}, {true, params.Rewritten}, {true, params.Copied}}

func (s state) String() string {
	switch {
	case s.off && s.buffers == params.Copied:
		return "off, copied"
	case s.off:
		return "off cache"
	}
	return s.buffers.String()
}

// shownTaus is the largest number of τ in a table.
const shownTaus = 3

// Answer is the time of the longest message at the smallest τ and the throughput at the largest, of the
// first measured setup and state.
func Answer(f *params.File) string {
	cells := lists.Filter(f.Cells, func(c params.Cell) bool {
		return c.Transport == params.CMA && c.Kind == params.TransferCell && c.Time.Center > 0
	})
	if len(cells) == 0 {
		return ""
	}
	stateOf := func(c params.Cell) state { return state{c.OffCache, c.Buffers} }
	slices.SortStableFunc(cells, func(a, b params.Cell) int {
		return cmp.Or(slices.Index(f.Plan.Policies, a.Placement)-slices.Index(f.Plan.Policies, b.Placement), index(a.Setup)-index(b.Setup),
			slices.Index(states, stateOf(a))-slices.Index(states, stateOf(b)), b.Bytes-a.Bytes, a.Tau-b.Tau)
	})
	first, last := cells[0], cells[0]
	for _, c := range cells {
		if c.Placement == first.Placement && c.Setup == first.Setup && stateOf(c) == stateOf(first) && c.Bytes == first.Bytes {
			last = c
		}
	}
	return fmt.Sprintf("%s by the kernel (%s, %v) takes %s at τ = %d; %s together at τ = %d.", view.Size(first.Bytes), first.Setup, stateOf(first),
		view.Timed(first.Time), first.Tau, view.Known(last.Time.Rate(float64(last.Tau*last.Bytes)), " GB/s"), last.Tau)
}

// Tables are L(m,τ) by setup and placement, with the smallest, a middle and the largest τ.
func Tables(f *params.File) (tables []view.Table) {
	at := make(map[params.Key]params.Cell)
	var sizes []int
	for _, c := range f.Cells {
		if c.Transport == params.CMA {
			at[c.Key] = c
			if c.Kind == params.TransferCell {
				sizes = append(sizes, c.Bytes)
			}
		}
	}
	sizes = lists.Rising(sizes)
	for _, policy := range f.Plan.Policies {
		for _, s := range kinds {
			tables = append(tables, view.Filled(table(at, s, policy, sizes))...)
		}
	}
	return tables
}

func table(at map[params.Key]params.Cell, of setup, policy numa.Policy, sizes []int) view.Table {
	t := view.Table{Title: fmt.Sprintf("L(m,τ) over cma in ns, %s, placement %s", of.about, policy), Columns: view.Numbers("m")}
	var taus []int
	for k := range at {
		if k.Setup == of.name && k.Placement == policy {
			taus = append(taus, k.Tau)
		}
	}
	if taus = lists.Rising(taus); len(taus) > shownTaus {
		taus = []int{taus[0], taus[len(taus)/2], taus[len(taus)-1]}
	}
	key := func(setup string, s state, m, tau int) params.Key {
		return params.Key{Kind: params.TransferCell, Setup: setup, Placement: policy, OffCache: s.off, Tau: tau, Bytes: m, Transport: params.CMA, Buffers: s.buffers}
	}
	var columns []params.Key
	for _, s := range states {
		for _, tau := range taus {
			k := key(of.name, s, 0, tau)
			if slices.ContainsFunc(sizes, func(m int) bool { k.Bytes = m; _, there := at[k]; return there }) {
				columns = append(columns, k)
				t.Columns = append(t.Columns, view.Column{Name: fmt.Sprintf("τ=%d", tau), Unit: s.String()})
			}
		}
	}
	last := 0
	if of.name == params.Bcast && len(taus) > 0 {
		last = taus[len(taus)-1]
		t.Columns = append(t.Columns, view.Column{Name: fmt.Sprintf("×, τ=%d", last), Unit: "rewritten"})
	}
	for _, m := range sizes {
		row := lists.Map(columns, func(k params.Key) string {
			k.Bytes = m
			if c, there := at[k]; there {
				return view.Few(c.Time) + view.Center(c.Time)
			}
			return ""
		})
		if strings.Join(row, "") == "" {
			continue
		}
		if last > 0 {
			row = append(row, times(at[key(of.name, states[0], m, last)], at[key(params.Ping, states[0], m, last)]))
		}
		t.Add(view.Bytes(m), row)
	}
	for _, tau := range taus {
		y, there := at[params.Key{Kind: params.NullCell, Setup: of.name, Placement: policy, Tau: tau, Transport: params.CMA}]
		t.NoteIf(there, "y(%d), all but the copy: %s ns", tau, view.Center(y.Time))
	}
	t.NoteIf(last > 0, "×: what readers of one process take over as many who each read another (ping)")
	return t
}

// times is the ratio of two times.
func times(c, other params.Cell) string {
	if c.Time.N == 0 || other.Time.N == 0 {
		return ""
	}
	q := c.Time.Div(other.Time)
	return view.Digits(q.Center, max(0.01, (q.Hi-q.Lo)/2))
}
