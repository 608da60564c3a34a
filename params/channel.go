package params

import (
	"slices"

	"github.com/taulop/taulop/numa"
)

// Parameters of published levels: the Variant of cells of kind channel is a Parameter with the name of a
// level in Provenance.Levels and one of these. Ranks on different nodes are at the level without Groups.
const (
	ChannelMessage = "T"      // a message alone, one way: half a round trip; τ = 1, a sample for each pair of cores
	ChannelFanout  = "fanout" // one rank sends to τ others at the level in turn: until the slowest is done
	ChannelGap     = "gap"    // gap between messages of a pair of ranks, while τ pairs stream
)

// LevelTimes are published times of messages between ranks at a level, in seconds. Curves that were not
// published are nil.
type LevelTimes struct {
	Name    string
	Groups  []numa.CPUSet // cores that share the level; none: ranks are on different nodes
	Message *Curve        // ChannelMessage, T(m)
	Fanout  *Curve        // ChannelFanout
	Gap     *Curve        // ChannelGap
}

// OfLevels reports whether the file has published levels and no transfers.
func (f *File) OfLevels() bool {
	has := func(kind Kind) bool { return slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Kind == kind }) }
	return has(ChannelCell) && !has(TransferCell)
}

// LevelTimes are the times of levels with cells of kind channel, in the order of the provenance. Incomplete
// sizes are left out, and curves of empty messages alone: they do not say what bytes take.
func (f *File) LevelTimes() (all []LevelTimes) {
	for _, l := range f.Provenance.Levels {
		curve := func(parameter string) *Curve {
			g := f.parameter(ChannelCell, Parameter{Of: l.Name, Name: parameter})
			if curve, _ := g.curve(parameter+" of "+l.Name, Cell.Whole); len(curve.Sizes) > 0 && slices.Max(curve.Sizes) > 0 {
				return &curve
			}
			return nil
		}
		t := LevelTimes{Name: l.Name, Groups: l.Groups, Message: curve(ChannelMessage), Fanout: curve(ChannelFanout), Gap: curve(ChannelGap)}
		if t.Message != nil || t.Fanout != nil || t.Gap != nil {
			all = append(all, t)
		}
	}
	return all
}
