package predict

import (
	"cmp"
	"fmt"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// Strided is the costs of an algorithm for strided messages under mlog_nP and its reductions: Figs. 3
// and 4 of mlognp-2009.
type Strided struct {
	Algorithm string
	Where     []string // placement of ranks and user data, in words
	Rows      []StridedCost
}

// A StridedCost is of messages of Bytes with elements Stride bytes apart.
type StridedCost struct {
	Model         string
	Stride, Bytes int
	Seconds       float64
	Extrapolated  bool
}

// StridedOf are the costs of an algorithm among ranks, 0 for one on each CPU, for the file's packed
// strides, and for the given sizes, by default those of packing. c without a cluster is one node.
func StridedOf(f *params.File, c model.Choice, name string, ranks int, sizes []int) (*Strided, error) {
	a, err := collective.Lookup(name)
	if err != nil {
		return nil, err
	}
	m, err := model.MLogNPOf(f, c.Placement)
	if err != nil {
		return nil, err
	}
	all := m.Ranks
	if c.Cluster != nil {
		all *= c.Cluster.Nodes
	}
	if ranks = cmp.Or(ranks, all); ranks > all {
		return nil, fmt.Errorf("%d ranks are too many: there are %d CPUs", ranks, all)
	}
	d := &Strided{Algorithm: name}
	for _, c.Stride = range f.Strides(c.OffCache) {
		for _, c.Model = range []string{"log3p", "2log23p", "mlognp"} {
			p, err := model.NewPredictor(f, c)
			if err != nil {
				return nil, err
			}
			if d.Where == nil {
				where := fmt.Sprintf("P = %d", ranks)
				if c.Cluster != nil {
					where += fmt.Sprintf(" on %v", p.Cluster)
				}
				d.Where = []string{view.Cache(c.OffCache), "placement " + string(p.Placement), where}
			}
			each := sizes
			if len(each) == 0 {
				each = p.Packing.Sizes
			}
			for _, bytes := range each {
				s, err := a.Schedule(collective.Call{P: ranks, M: bytes})
				if err != nil {
					return nil, err
				}
				cost, err := p.Cost(s)
				if err != nil {
					return nil, err
				}
				d.Rows = append(d.Rows, StridedCost{p.Title(), c.Stride, bytes, cost.Seconds, cost.Extrapolated})
			}
		}
	}
	if len(d.Rows) == 0 {
		return nil, fmt.Errorf("it has no strided messages, %s: %w", view.Cache(c.OffCache), params.ErrUnpacked)
	}
	return d, nil
}
