package params

import (
	"slices"

	"github.com/taulop/taulop/numa"
)

// Parameters of published channels: cells of kind channel, whose Variant is a Parameter of a
// level's name and one of these. Levels are the provenance's; ranks on different nodes are at the
// level without Groups.
const (
	ChannelMessage = "T"      // a message alone, one way: half a round trip; τ = 1, a sample for each pair of cores
	ChannelFanout  = "fanout" // one rank sends to τ others, one after another, all at that level: when the slowest is done
	ChannelGap     = "gap"    // between two messages of a pair of ranks, while τ pairs stream
)

// LevelTimes is what was published of messages between ranks at one level, in seconds.
// Curves are nil of what was not.
type LevelTimes struct {
	Name    string
	Groups  []numa.CPUSet // of cores at this level or closer; none: ranks are on different nodes
	Message *Curve        // T(m) of a message alone
	Fanout  *Curve        // by τ, the receivers of one sender: when the slowest is done
	Gap     *Curve        // by τ, the pairs that stream at once: between two messages of one of them
}

// OfLevels tells a file of messages by levels that has no transfers.
func (f *File) OfLevels() bool {
	has := func(kind Kind) bool { return slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Kind == kind }) }
	return has(ChannelCell) && !has(TransferCell)
}

// LevelTimes are the times of levels that channel cells are of, in the order of the provenance;
// none without such cells. Incomplete sizes are left out.
func (f *File) LevelTimes() (all []LevelTimes) {
	for _, l := range f.Provenance.Levels {
		of := func(parameter string) *Curve {
			g := f.parameter(ChannelCell, Parameter{Of: l.Name, Name: parameter})
			if len(g.taus) == 0 {
				return nil
			}
			if curve, _ := g.curve(parameter+" of "+l.Name, Cell.Whole); len(curve.Sizes) > 0 {
				return &curve
			}
			return nil
		}
		t := LevelTimes{Name: l.Name, Groups: l.Groups, Message: of(ChannelMessage), Fanout: of(ChannelFanout), Gap: of(ChannelGap)}
		if t.Message != nil || t.Fanout != nil || t.Gap != nil {
			all = append(all, t)
		}
	}
	return all
}
