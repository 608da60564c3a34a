package report

import (
	"cmp"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Profiles are a file's profiles, kind by kind, in cache before off cache. Cells of newer versions
// with unknown variants are left out.
func Profiles(f *params.File) []*view.Profile {
	profiles := lists.Concat(survey.Drawn(), func(s *survey.Survey) []*view.Profile {
		return s.Drawing.Profiles(lists.Filter(f.Cells, func(c params.Cell) bool { return c.Variant != nil && c.Kind == s.Drawing.Kind }))
	})
	slices.SortStableFunc(profiles, func(a, b *view.Profile) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Cache, b.Cache), a.Tau-b.Tau)
	})
	return profiles
}
