package collective

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestAllAreDistinctAndDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range All() {
		check.True(t, !seen[a.String()], "%s is there twice", a)
		seen[a.String()] = true
		check.True(t, a.Source != "", "%s names no source", a)
		check.Equal(t, must.Get(Lookup(a.String())), a, "Lookup")
	}
	want := []string{"allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "reduce", "reduce_scatter", "scatter"}
	check.Slices(t, Names(Collectives()), want, "collectives")
}

func TestUnknownNamesTheNearest(t *testing.T) {
	for _, tt := range []struct{ name, says string }{
		{"bcast:binomail", `did you mean "bcast:binomial"`},
		{"bcsat:binomial", `did you mean "bcast:binomial"`},
		{"allgather:recursive_doubling", `did you mean "allgather:recursive-doubling"`},
		{"bcast:", `unknown algorithm "bcast:"; bcast has `},
		{"bcast:brucks", `unknown algorithm "bcast:brucks"; bcast has `},
		{"bcast:scatter_allgather", "scatter-recursive-doubling, scatter-ring"},
		{"bcast:scatter_rnig", `did you mean "bcast:scatter-ring"`},
		{"reduce_scatter:recursive_halving", `did you mean "reduce_scatter:recursive-halving"`},
		{"allreduce:rabenseiffner", `did you mean "allreduce:rabenseifner"`},
		{"allgater", `did you mean "allgather"`},
		{"barrier", "take one of barrier:dissemination"},
		{"", "known are allgather, "},
		{strings.Repeat("x", 1<<20) + ":", "known are allgather, "},
	} {
		a, err := Lookup(tt.name)
		contains.Error(t, err, tt.says)
		check.True(t, a == nil, "Lookup(%.40q) = %v beside an error", tt.name, a)
	}
	contains.Error(t, must.Err(Of("brodcast")), `did you mean "bcast"`)
}
