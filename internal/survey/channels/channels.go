// Package channels draws published times of messages between ranks at each level of a machine, which
// taulop import reads from tables.
package channels

import (
	"cmp"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Survey is messages by levels, from tables.
var Survey = survey.Register(&survey.Survey{
	Name: "levels", Doc: "messages between ranks at each level of a machine, of tables",
	Drawing: &view.Drawing{
		Kind: params.ChannelCell, Profiles: view.ByCell(profiled), Order: []string{alone},
		Name: "levels", About: "messages against m, a line for each level of the machine, from tables of others", Example: "taulop plot levels -o l.svg epyc.json",
		Title: "T(m), messages by what two ranks share", What: "messages by levels", Measure: "IMB or OSU, and taulop import",
		Own:   func(p view.Profile) bool { return p.Panel == alone },
		Label: "Messages by level",
	},
})

// alone is the panel of messages without others at the same time.
const alone = "a message alone"

// profiled gives the time of a message over its size: alone in a line for each level, with concurrent
// ones in a panel of their own.
func profiled(c params.Cell, at *view.Profile) (x int, y fit.Estimate, ok bool) {
	level, parameter := c.Parameter().Of, c.Parameter().Name
	at.Where, at.Time = view.Where{}, "T(m)"
	if parameter == params.ChannelMessage {
		at.Panel, at.Line = alone, level
		return c.Bytes, c.Time, true
	}
	what := map[string]string{
		params.ChannelFanout: "one rank sends to τ others, until the last has it",
		params.ChannelGap:    "between two messages of a pair, τ pairs at once",
	}[parameter]
	at.Panel, at.Line = cmp.Or(what, parameter)+", "+level, view.TauName(c.Tau)
	return c.Bytes, c.Time, true
}
