// Package channels draws what others measured of messages between ranks at each level of a
// machine. Nothing measures it here: taulop import takes it from tables.
package channels

import (
	"cmp"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Survey is messages by levels, of tables.
var Survey = survey.Register(&survey.Survey{
	Name: "levels", Doc: "messages between ranks at each level of a machine, of tables",
	Drawing: &view.Drawing{
		Kind: params.ChannelCell, Profiles: view.ByCell(profiled), Order: []string{alone},
		Name: "levels", About: "messages against m, a line for each level of the machine, from tables of others", Example: "taulop plot levels -o l.svg epyc.json",
		Title: "T(m), messages by what two ranks share", What: "messages by levels", Measure: "taulop import",
		Own:   func(p *view.Profile) bool { return p.Panel == alone },
		Label: "Messages by level",
	},
})

// alone is the panel of messages that have the machine to themselves.
const alone = "a message alone"

// profiled is what a message takes over its size: alone a line for each level, and while others
// are under way a panel.
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
