package published

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/internal/tune"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// mostRanks are the numbers of ranks that are enough of an algorithm to estimate from.
const mostRanks = 32

// Timings are those rows of a table that say for certain which messages went between which
// cores: algorithms that the library was told to take, on one node, mapped by core; of an
// algorithm with many numbers of ranks, some from the least to the most. It fails as Compare
// does, and where there are none.
func Timings(t *tidy.Table, f *params.File, ch Choice) (all []model.Timing, err error) {
	lib, _, _ := LibraryOf(t.Head)
	c := &Comparison{}
	ch.Mappings = []string{"core"}
	if err := c.gather(t, lib, f, ch); err != nil {
		return nil, err
	}
	cells := slices.DeleteFunc(c.Cells, func(cell Cell) bool {
		ns, _ := cell.Time.Compared()
		return cell.unknown || cell.Setting.Own() || cell.Nodes != 1 || cell.P < 2 || !(ns > 0)
	})
	type key struct {
		collective string
		setting    tune.Setting
	}
	ranks := make(map[key][]int)
	for _, cell := range cells {
		k := key{cell.Collective, cell.Setting}
		if i, found := slices.BinarySearch(ranks[k], cell.P); !found {
			ranks[k] = slices.Insert(ranks[k], i, cell.P)
		}
	}
	for k, of := range ranks {
		if len(of) > mostRanks {
			some := make([]int, mostRanks)
			for i := range some {
				some[i] = of[i*(len(of)-1)/(mostRanks-1)]
			}
			ranks[k] = some
		}
	}
	for _, cell := range cells {
		if _, taken := slices.BinarySearch(ranks[key{cell.Collective, cell.Setting}], cell.P); !taken {
			continue
		}
		s, err := lib.Schedule(collective.Named(cell.Collective), cell.Setting, cell.P, cell.Bytes)
		if err != nil {
			continue // of ranks that the algorithm does not exist for
		}
		ns, slowest := cell.Time.Compared()
		all = append(all, model.Timing{Schedule: s, Seconds: ns / 1e9, Mean: !slowest})
	}
	if left := c.LeftOut(); len(all) == 0 && len(left) > 0 {
		return nil, fmt.Errorf("nothing of %s can be estimated from: line %d, for one: %s", t.Name, left[0].Line, left[0].Why)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no row of %s is of a forced algorithm on one node, mapped by core, of which alone it is certain what went where", t.Name)
	}
	return all, nil
}
