package params

import (
	"fmt"
	"strings"
)

// Parameters of channels that were published: the file's cells of kind channel, whose
// Variant ChannelVariant makes of a level's name and one of these. Levels are those of the
// provenance; ranks on different nodes are at the one without Groups.
const (
	ChannelMessage   = "T"            // a message alone, one way: half a round trip; τ = 1, a sample for each pair of cores
	ChannelFanout    = "fanout"       // one rank sends to τ others, one after another, all at that level: when the slowest is done
	ChannelFanMean   = "fanout-mean"  // the same, mean over ranks, the sender among them
	ChannelFanFirst  = "fanout-first" // the same, the rank that is done first
	ChannelGap       = "gap"          // between two messages of a pair of ranks, while τ pairs stream
	ChannelTransfer  = "L"            // L(m,τ) of a message that is one transfer
	ChannelOverheads = "o"            // o(m), τ = 1
)

// ChannelVariant is the variant of cells of a level's parameter: "same_l3:T".
func ChannelVariant(level, parameter string) string { return level + ":" + parameter }

// checkChannelVariant refuses what ChannelVariant does not make.
func checkChannelVariant(variant string) error {
	level, parameter, _ := strings.Cut(variant, ":")
	if checkVariant(variant) != nil || level == "" || parameter == "" {
		return fmt.Errorf("%.40q is no parameter of a channel; want a level's name and the parameter, such as same_l3:%s", variant, ChannelMessage)
	}
	return nil
}
