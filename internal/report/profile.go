package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/internal/survey/disk"
	"github.com/taulop/taulop/internal/survey/levels"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/strided"
)

// Profiles, the lines of charts, and what their axes show.
type (
	Profile      = view.Profile
	ProfilePoint = view.ProfilePoint
	Quantity     = view.Quantity
)

// The quantities of profiles; times are in ns.
const (
	MessageSize   = view.MessageSize
	ElementStride = view.ElementStride
	ByteStride    = view.ByteStride
	Time          = view.Time
	TimeOfElement = view.TimeOfElement
)

// Profiles are those of a file, kind by kind and panel by panel, in cache before off
// cache. Pairs of CPUs have none: they are drawn as a map. Cells of newer versions,
// whose variants this one cannot read, are left out.
func Profiles(f *params.File) (profiles []*Profile) {
	type name struct {
		kind        params.Kind
		panel, line string
		placement   numa.Policy
		off         bool
		tau         int
	}
	found := make(map[name]*Profile)
	drawn := make(map[params.Kind][]params.Cell) // as their surveys say
	for _, s := range survey.All() {
		if s.Drawing != nil {
			drawn[s.Drawing.Kind] = nil
		}
	}
	for _, c := range f.Cells {
		if c.Variant == "" {
			continue // of a thousand files these are most
		}
		if cells, by := drawn[c.Kind]; by {
			drawn[c.Kind] = append(cells, c)
			continue
		}
		at, x, y, ok := profiled(c)
		if !ok || !(y.Center > 0) {
			continue
		}
		n := name{at.Kind, at.Panel, at.Line, at.Placement, at.OffCache, at.Tau}
		if found[n] == nil {
			found[n] = &at
			profiles = append(profiles, &at)
		}
		found[n].Points = append(found[n].Points, ProfilePoint{X: x, Y: y})
	}
	for _, s := range survey.All() {
		if s.Drawing != nil && len(drawn[s.Drawing.Kind]) > 0 {
			profiles = append(profiles, s.Drawing.Profiles(drawn[s.Drawing.Kind])...)
		}
	}
	for _, p := range profiles {
		slices.SortFunc(p.Points, func(a, b ProfilePoint) int { return a.X - b.X })
	}
	slices.SortStableFunc(profiles, func(a, b *Profile) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b2i(a.OffCache), b2i(b.OffCache)), a.Tau-b.Tau)
	})
	return profiles
}

// profiled is where a cell belongs.
func profiled(c params.Cell) (at Profile, x int, y fit.Estimate, ok bool) {
	at = Profile{Kind: c.Kind, Placement: c.Placement, OffCache: c.OffCache, Tau: c.Tau, Over: MessageSize, Time: Time}
	x, y = c.Bytes, c.Time
	switch c.Kind {
	case params.LevelCell:
		from, to := levels.Ends(c)
		at.Panel, at.Line = fmt.Sprintf("τ = %d", c.Tau), from+" → "+to
		return at, x, y, to != ""
	case params.AccessCell:
		p, ok := access.PassOf(c.Key)
		if !ok {
			return at, 0, y, false
		}
		at.Panel, at.Line = fmt.Sprintf("%s, N = %s", p.Type, view.Bytes(p.N)), p.Operation
		at.Size, at.Over, at.Time = p.N, ElementStride, TimeOfElement
		return at, p.Stride, y.Scale(1 / float64(p.N)), true
	case params.PackCell:
		text, level, way := strings.Cut(c.Variant, "-")
		m, err := strided.Parse(text)
		at.Panel, at.Line, at.Size, at.Over = "packing", view.Bytes(m.Bytes), m.Bytes, ByteStride
		if way {
			at.Panel = "one way, " + level
		}
		if m.Element != strided.Element {
			at.Panel += fmt.Sprintf(", elements of %d bytes", m.Element)
		}
		return at, m.Stride, y, err == nil
	case params.PatternCell:
		at.Panel, at.Line = fmt.Sprintf("%s, P = %d", verify.PatternOf(c.Variant), c.Tau), c.Variant
		return at, x, y, true
	case params.DiskCell:
		operation, mode, ok := disk.VariantOf(c.Key)
		at.Panel, at.Line = "page cache "+pageCache(mode == disk.Cached), operation
		return at, x, y, ok
	}
	return at, 0, y, false
}
