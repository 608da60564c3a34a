package published

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/tidy"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// WithNetwork makes a file of tables without messages between nodes, and takes these messages from timed
// collectives of two ranks. The note says so.
func WithNetwork(f *params.File, tables, timed []*tidy.Table, cores map[string]int) (with *params.File, note string, err error) {
	if slices.ContainsFunc(f.LevelTimes(), func(l params.LevelTimes) bool { return len(l.Groups) == 0 && l.Message != nil }) {
		return nil, "", fmt.Errorf("import takes from collectives only messages between nodes, and the other tables have them: leave %s out", printable.Name(timed[0].Name))
	}
	for _, t := range timed {
		if between := BetweenNodes(t, f); len(between) > 0 {
			with, err := tidy.File(append(slices.Clone(tables), &tidy.Table{Name: t.Name, Points: between}), cores)
			if err != nil {
				return nil, "", err
			}
			const what = "messages between nodes are what collectives of two ranks on two nodes took, the mean over both, in %s"
			with.Warn(fmt.Errorf(what, printable.Name(t.Name)))
			return with, fmt.Sprintf(what, t.Name), nil
		}
	}
	return nil, "", fmt.Errorf("import takes from collectives only messages between nodes, and no row of %s has two ranks on two nodes and a forced algorithm of one message: leave it out", printable.Name(timed[0].Name))
}

// OtherNode is the level of the messages of BetweenNodes.
const OtherNode = "other_node"

// BetweenNodes are messages between nodes, from collectives of two ranks on two nodes with a forced algorithm
// of one message. A message's time is the mean over both ranks, which includes start skew: the receiver may
// have waited for the sender.
func BetweenNodes(t *tidy.Table, f *params.File) (all []tidy.Point) {
	lib, _, _ := mpi.OfHead(t.Head)
	c := &Comparison{}
	if err := c.gather(t, lib, f, Choice{P: []int{2}}); err != nil {
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
			times := tidy.Times{Slowest: cell.Time.Mean, Mean: cell.Time.Mean}
			all = append(all, tidy.Point{Line: cell.Line, Level: OtherNode, Parameter: params.ChannelMessage, Tau: 1, From: -1, To: -1, Bytes: cell.Bytes, Times: times})
		}
	}
	return all
}

// Machine is the first name of a machine in tables, up to a comma or bracket; "" if there is none.
func Machine(tables []*tidy.Table) string {
	for _, t := range tables {
		name, _, _ := strings.Cut(strings.NewReplacer("(", ",", "[", ",", "{", ",", ";", ",").Replace(t.Machine), ",")
		if name = strings.TrimSpace(name); name != "" {
			return printable.Name(name)
		}
	}
	return ""
}
