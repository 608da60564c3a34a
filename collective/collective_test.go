package collective

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// contents is the promise of each rank's Recv: "1.0" is byte 0 of rank 1's contribution, "012.0" the reduced
// byte 0 of ranks 0, 1 and 2.
func contents(t *testing.T, c *Collective, call Call) (ranks []string) {
	t.Helper()
	s := must.Get(c.DefaultAlgorithm().Schedule(call))
	for rank := range call.P {
		bytes := lists.Map(promise(s, rank), func(c cell) string {
			who := lists.Filter(lists.Indices(call.P), func(r int) bool { return c.who>>r&1 == 1 })
			return strings.Join(lists.Map(who, strconv.Itoa), "") + fmt.Sprint(".", c.id)
		})
		ranks = append(ranks, strings.Join(bytes, " "))
	}
	return ranks
}

// MPI-3.1, chapter 5, among three ranks with root 1 and m = 2.
func TestPromises(t *testing.T) {
	try := func(c *Collective, ranks [3]string) {
		t.Helper()
		check.Equal(t, [3]string(contents(t, c, Call{P: 3, Root: 1, M: 2})), ranks, "%s promises", c)
	}
	try(Bcast, [3]string{"1.0 1.1", "1.0 1.1", "1.0 1.1"})
	try(Scatter, [3]string{"1.0 1.1", "1.2 1.3", "1.4 1.5"})
	try(Gather, [3]string{"", "0.0 0.1 1.0 1.1 2.0 2.1", ""})
	try(Allgather, [3]string{"0.0 0.1 1.0 1.1 2.0 2.1", "0.0 0.1 1.0 1.1 2.0 2.1", "0.0 0.1 1.0 1.1 2.0 2.1"})
	try(Alltoall, [3]string{"0.0 0.1 1.0 1.1 2.0 2.1", "0.2 0.3 1.2 1.3 2.2 2.3", "0.4 0.5 1.4 1.5 2.4 2.5"})
	try(Reduce, [3]string{"", "012.0 012.1", ""})
	try(Allreduce, [3]string{"012.0 012.1", "012.0 012.1", "012.0 012.1"})
	try(ReduceScatter, [3]string{"012.0 012.1", "012.2 012.3", "012.4 012.5"})
	try(Barrier, [3]string{})
}

// Every collective is complete and consistent.
func TestCollectivesAreComplete(t *testing.T) {
	titles := make(map[string]string)
	for _, c := range Collectives() {
		check.True(t, Named(c.Name) == c && c.About != "" && (c.M == "") == c.Empty(),
			"%s: found %v, about %q, m is %q", c, Named(c.Name), c.About, c.M)
		a := c.DefaultAlgorithm()
		check.Need(t, a != nil && a.Collective == c && a.Among == AnyRanks, "%s: its default algorithm is %v; it has %v", c, a, c.Algorithms())
		for i := range c.Benchmarks {
			b := &c.Benchmarks[i]
			for _, title := range slices.Concat(b.Titles, []string{b.Name}) {
				key := fmt.Sprint(b.Suite, " ", strings.ToLower(title), " ", b.Since)
				other := titles[key]
				check.True(t, other == "" || other == c.Name, "%s is one of %s and one of %s", key, other, c)
				titles[key] = c.Name
			}
		}
		for p := 1; p <= 5; p++ {
			for _, root := range roots(c, p) {
				s := must.Get(a.Schedule(Call{P: p, Root: root, M: 6}))
				for rank := range p {
					given, want := s.Brings(rank), promise(s, rank)
					check.True(t, given.Offset == 0 && given.Buffer != Temp,
						"%s: rank %d brings %+v, which does not begin Send or Recv", c, rank, given)
					for i := range given.Bytes {
						check.True(t, given.Buffer != Recv || want[i] == cell{int32(i), 1 << rank}, "%s: rank %d brings byte %d of Recv, which is promised", c, rank, i)
					}
					for _, part := range s.Promise(rank) {
						check.True(t, (!part.Reduced || c.Reduces) && part.Ranks >= 1 && part.From >= 0 && part.From+part.Ranks <= p,
							"%s: rank %d is promised %+v", c, rank, part)
						for from := part.From; from < part.From+part.Ranks; from++ {
							check.True(t, part.At >= 0 && part.At+part.Bytes <= s.Brings(from).Bytes,
								"%s: rank %d is promised %+v, and rank %d brings %+v", c, rank, part, from, s.Brings(from))
						}
					}
				}
			}
		}
	}
}

func TestBenchmarkOf(t *testing.T) {
	all := append(measured("Alltoall", "All-to-All Personalized Exchange"),
		Benchmark{Suite: "IMB", Name: "Bisection", Since: 2019}, Benchmark{Suite: "IMB", Name: "Bisection"})
	try := func(suite, title string, version int, want *Benchmark) {
		t.Helper()
		check.Equal(t, BenchmarkOf(all, suite, title, version), want, "%s of %s %d", title, suite, version)
	}
	try("IMB", "Alltoall", 2, &all[0])
	try("IMB", "alltoall", 2021, &all[0])
	try("OSU", "all-to-all personalized exchange", 0, &all[1])
	try("OSU", "Alltoall", 0, &all[1])
	try("IMB", "All-to-All Personalized Exchange", 2021, nil)
	try("OSU", "osu_alltoall", 0, nil)
	try("IMB", "Bisection", 2019, &all[2])
	try("IMB", "Bisection", 2018, &all[3])
	try("IMB", "", 2021, nil)
}

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
