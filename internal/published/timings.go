package published

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// mostRanks are the numbers of ranks that are enough of an algorithm to estimate from.
const mostRanks = 32

// Timings are those rows of a table that say for certain which messages went between which
// cores: algorithms that the library was told to take, on one node, mapped by core; of an
// algorithm with many numbers of ranks, some from the least to the most. It fails as Compare
// does, and where there are none.
func Timings(t *tidy.Table, f *params.File, ch Choice) (all []model.Timing, err error) {
	lib, _, _ := mpi.OfHead(t.Head)
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
		setting    mpi.Setting
	}
	ranks := make(map[key][]int)
	for _, cell := range cells {
		k := key{cell.Collective, cell.Setting}
		ranks[k] = lists.Insert(ranks[k], cell.P)
	}
	for k, of := range ranks {
		ranks[k] = lists.Spread(of, mostRanks)
	}
	for _, cell := range cells {
		if _, taken := slices.BinarySearch(ranks[key{cell.Collective, cell.Setting}], cell.P); !taken {
			continue
		}
		s, err := timed(lib, collective.Named(cell.Collective), cell.Setting, collective.Call{P: cell.P, M: cell.Bytes})
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

// OtherNode is the level of messages between nodes that BetweenNodes finds.
const OtherNode = "other_node"

// BetweenNodes are messages between nodes, from collectives of two ranks on two nodes that the
// library was told to do as one message: each takes the mean over both ranks, of which the one
// that receives may have begun to wait before the other one was there.
func BetweenNodes(t *tidy.Table, f *params.File, ch Choice) (all []tidy.Message) {
	lib, _, _ := mpi.OfHead(t.Head)
	c := &Comparison{}
	ch.P = []int{2}
	if err := c.gather(t, lib, f, ch); err != nil {
		return nil // no such row
	}
	for _, cell := range c.Cells {
		if cell.unknown || cell.Setting.Own() || cell.Nodes != 2 || !(cell.Time.Mean > 0) {
			continue
		}
		s, err := lib.Schedule(collective.Named(cell.Collective), cell.Setting, collective.Call{P: cell.P, M: cell.Bytes})
		if err != nil || s.Len() != 1 || len(s.Blocks[0].Stages[0].Shape) != 1 {
			continue
		}
		if stage := s.Blocks[0].Stages[0]; !stage.Reduce && stage.Shape[0] == (collective.Batch{Count: 1, Bytes: cell.Bytes}) {
			all = append(all, tidy.Message{Line: cell.Line, Level: OtherNode, From: -1, To: -1, Bytes: cell.Bytes, NS: cell.Time.Mean})
		}
	}
	return all
}
