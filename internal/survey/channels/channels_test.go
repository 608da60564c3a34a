package channels

import (
	"fmt"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// A message alone is a line of its level, concurrent messages have a panel of their own, and an
// unknown parameter keeps its name.
func TestProfiled(t *testing.T) {
	cell := func(variant string, tau, m int, ns float64) params.Cell {
		return params.Cell{Key: params.Key{Kind: params.ChannelCell, Tau: tau, Bytes: m}.Named(variant), Time: fit.Median([]float64{ns})}
	}
	profiles := Survey.Drawing.Profiles([]params.Cell{
		cell("node:T", 1, 64, 900), cell("same_l3:T", 1, 64, 100), cell("node:T", 1, 1, 800),
		cell("node:gap", 2, 1, 50), cell("node:gap", 4, 1, 70), cell("node:other", 1, 1, 5),
	})
	got := lists.Map(profiles, func(p view.Profile) string { return fmt.Sprintf("%s: %s: %d", p.Panel, p.Line, len(p.Points)) })
	check.Slices(t, got, []string{
		"a message alone: node: 2", "a message alone: same_l3: 1", "between two messages of a pair, τ pairs at once, node: τ = 2: 1",
		"between two messages of a pair, τ pairs at once, node: τ = 4: 1", "other, node: τ = 1: 1",
	}, "panels, lines and numbers of points")
	p := profiles[0]
	check.True(t, p.Points[0].X == 1 && p.Points[0].Y.Center == 800, "the first point is %+v", p.Points[0])
}
