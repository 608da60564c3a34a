package chart

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// StridedCosts is what an algorithm costs for strided messages under mlog_nP and its
// reductions, against the stride, a panel for each size: Figs. 3 and 4 of mlognp-2009,
// whose broadcasts are linear, which it takes by itself, and binomial. Ranks fill nodes
// like the file's machine, with its first network between them.
func StridedCosts(machines []compare.Machine, ch Choice) (*Chart, error) {
	if len(machines) != 1 {
		return nil, fmt.Errorf("this chart is of one machine, %d are named: name one", len(machines))
	}
	if len(ch.Algorithms) > 1 || len(ch.Placements) > 1 || len(ch.Caches) > 1 {
		return nil, fmt.Errorf("this chart shows one algorithm, placement and state of the cache: name one of each")
	}
	f := machines[0].File
	name, off := "bcast:linear", false
	if len(ch.Algorithms) > 0 {
		name = ch.Algorithms[0]
	}
	if len(ch.Caches) > 0 {
		off = ch.Caches[0]
	}
	placement := f.Plan.Policies[:min(1, len(f.Plan.Policies))]
	if len(ch.Placements) > 0 {
		placement = ch.Placements
	}
	algorithm, err := collective.Lookup(name)
	if err != nil {
		return nil, err
	}
	caption := []string{machines[0].Name, view.Cache(off)}
	var m model.MLogNP
	for _, policy := range placement {
		if m, err = model.MLogNPOf(f, policy); err != nil {
			return nil, fmt.Errorf("%s: %w", machines[0].Name, err)
		}
		caption = append(caption, "placement "+string(policy))
	}
	all := m.Ranks * max(1, ch.Nodes)
	ranks := cmp.Or(ch.P, all)
	if ranks > all {
		return nil, fmt.Errorf("%d ranks are too many: there are %d CPUs", ranks, all)
	}
	where := fmt.Sprintf("P = %d", ranks)
	if ch.Nodes > 1 {
		network, table, err := f.Network("")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", machines[0].Name, err)
		}
		nodes, err := mapping.Order{}.Map(ranks, ch.Nodes)
		if err != nil {
			return nil, err
		}
		m = m.Across(m.NetworkLevel(network, table), nodes.Node, nodes.Slot)
		where += fmt.Sprintf(" on %d nodes, block by block, network %s", ch.Nodes, network.Name)
	}
	caption = append(caption, where)
	if len(f.Strides(off)) == 0 {
		return nil, fmt.Errorf("%s has no strided messages, %s: %w", machines[0].Name, view.Cache(off), params.ErrUnpacked)
	}
	panels, extrapolated, err := stridedPanels(f, m, algorithm, ranks, ch.Sizes, off)
	if err != nil {
		return nil, err
	}
	if extrapolated {
		caption = append(caption, "some of it beyond the sizes that were measured")
	}
	c := &Chart{Title: "Strided messages under mlog_nP: " + name, Caption: append(caption, "predictions of medians, without intervals", "lower is better")}
	if len(panels) > MaxPanels {
		return nil, fmt.Errorf("%d panels in a chart are too many, %d can be read: %w", len(panels), MaxPanels, ErrFewer)
	}
	for _, bytes := range slices.Sorted(maps.Keys(panels)) {
		c.Panels = append(c.Panels, *panels[bytes])
	}
	return c, nil
}

// stridedPanels are costs under the model and its reductions against the stride, by size: those that
// are asked for, or all that packing was measured of.
func stridedPanels(f *params.File, m model.MLogNP, algorithm *collective.Algorithm, ranks int, sizes []int, off bool) (panels map[int]*Panel, extrapolated bool, err error) {
	reductions := []struct {
		name string
		of   model.MLogNP
	}{{"log_3P", m.One()}, {"2log_{2,3}P", m.Reduced()}, {"mlog_nP", m}}
	panels = make(map[int]*Panel)
	for _, d := range f.Strides(off) {
		packed, err := f.P(d, off)
		if err != nil {
			return nil, false, err
		}
		of := sizes
		if len(of) == 0 {
			of = packed.Sizes
		}
		for _, bytes := range of {
			s, err := algorithm.Schedule(collective.Call{P: ranks, M: bytes})
			if err != nil {
				return nil, false, err
			}
			p := panels[bytes]
			if p == nil {
				p = &Panel{Name: "m = " + view.Bytes(bytes), X: Axis{"stride, bytes", Strides}, Y: Axis{"predicted time", Times}, Height: 0.7}
				for i, r := range reductions {
					p.Series = append(p.Series, Series{Name: r.name, Colour: i, Style: i})
				}
				panels[bytes] = p
			}
			for i, r := range reductions {
				of, err := r.of.Strided(f, d, off)
				if err != nil {
					return nil, false, err
				}
				cost, err := of.Cost(s)
				if err != nil {
					return nil, false, err
				}
				extrapolated = extrapolated || cost.Extrapolated
				p.Series[i].Points = append(p.Series[i].Points, Point{float64(d), exactly(cost.Seconds * 1e9)})
			}
		}
	}
	return panels, extrapolated, nil
}
