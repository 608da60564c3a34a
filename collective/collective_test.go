package collective

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// contents is the promise of each rank's Recv: "1.0" is byte 0 of rank 1's contribution, "012.0" the reduced
// byte 0 of ranks 0, 1 and 2.
func contents(t *testing.T, c *Collective, call Call) (ranks []string) {
	t.Helper()
	s := must.Get(c.DefaultAlgorithm().Schedule(call))
	for rank := range call.P {
		var bytes []string
		for _, cell := range promise(s, rank) {
			who := ""
			for r := range call.P {
				if cell.who>>r&1 == 1 {
					who += fmt.Sprint(r)
				}
			}
			bytes = append(bytes, fmt.Sprint(who, ".", cell.id))
		}
		ranks = append(ranks, strings.Join(bytes, " "))
	}
	return ranks
}

// MPI-3.1, chapter 5, among three ranks with root 1 and m = 2.
func TestPromises(t *testing.T) {
	for _, tt := range []struct {
		c     *Collective
		ranks [3]string
	}{
		{Bcast, [3]string{"1.0 1.1", "1.0 1.1", "1.0 1.1"}},
		{Scatter, [3]string{"1.0 1.1", "1.2 1.3", "1.4 1.5"}},
		{Gather, [3]string{"", "0.0 0.1 1.0 1.1 2.0 2.1", ""}},
		{Allgather, [3]string{"0.0 0.1 1.0 1.1 2.0 2.1", "0.0 0.1 1.0 1.1 2.0 2.1", "0.0 0.1 1.0 1.1 2.0 2.1"}},
		{Alltoall, [3]string{"0.0 0.1 1.0 1.1 2.0 2.1", "0.2 0.3 1.2 1.3 2.2 2.3", "0.4 0.5 1.4 1.5 2.4 2.5"}},
		{Reduce, [3]string{"", "012.0 012.1", ""}},
		{Allreduce, [3]string{"012.0 012.1", "012.0 012.1", "012.0 012.1"}},
		{ReduceScatter, [3]string{"012.0 012.1", "012.2 012.3", "012.4 012.5"}},
		{Barrier, [3]string{}},
	} {
		check.Equal(t, [3]string(contents(t, tt.c, Call{P: 3, Root: 1, M: 2})), tt.ranks, "%s promises", tt.c)
	}
}

// Every collective is complete and consistent.
func TestCollectivesAreComplete(t *testing.T) {
	titles := make(map[string]string)
	for _, c := range Collectives() {
		if Named(c.Name) != c || c.About == "" || (c.M == "") != c.Empty() {
			t.Errorf("%s: found %v, about %q, m is %q", c, Named(c.Name), c.About, c.M)
		}
		a := c.DefaultAlgorithm()
		if a == nil || a.Collective != c || a.Among != AnyRanks {
			t.Fatalf("%s: its default algorithm is %v; it has %v", c, a, c.Algorithms())
		}
		for i := range c.Benchmarks {
			b := &c.Benchmarks[i]
			for _, title := range slices.Concat(b.Titles, []string{b.Name}) {
				key := fmt.Sprint(b.Suite, " ", strings.ToLower(title), " ", b.Since)
				if other := titles[key]; other != "" && other != c.Name {
					t.Errorf("%s is one of %s and one of %s", key, other, c)
				}
				titles[key] = c.Name
			}
		}
		for p := 1; p <= 5; p++ {
			for _, root := range roots(c, p) {
				s := must.Get(a.Schedule(Call{P: p, Root: root, M: 6}))
				for rank := range p {
					given, want := s.Brings(rank), promise(s, rank)
					if given.Offset != 0 || given.Buffer == Temp {
						t.Errorf("%s: rank %d brings %+v, which does not begin Send or Recv", c, rank, given)
					}
					if given.Buffer == Recv && given.Bytes > 0 {
						for i := range given.Bytes {
							check.Equal(t, want[i], (cell{int32(i), 1 << rank}), "%s: rank %d brings byte %d of Recv, which is promised", c, rank, i)
						}
					}
					for _, part := range s.Promise(rank) {
						if part.Reduced && !c.Reduces || part.Ranks < 1 || part.From < 0 || part.From+part.Ranks > p {
							t.Errorf("%s: rank %d is promised %+v", c, rank, part)
						}
						for from := part.From; from < part.From+part.Ranks; from++ {
							if part.At < 0 || part.At+part.Bytes > s.Brings(from).Bytes {
								t.Errorf("%s: rank %d is promised %+v, and rank %d brings %+v", c, rank, part, from, s.Brings(from))
							}
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
	for _, tt := range []struct {
		suite, title string
		version      int
		want         int // which of all, -1: none
	}{
		{"IMB", "Alltoall", 2, 0},
		{"IMB", "alltoall", 2021, 0},
		{"OSU", "all-to-all personalized exchange", 0, 1},
		{"OSU", "Alltoall", 0, 1},
		{"IMB", "All-to-All Personalized Exchange", 2021, -1},
		{"OSU", "osu_alltoall", 0, -1},
		{"IMB", "Bisection", 2019, 2},
		{"IMB", "Bisection", 2018, 3},
		{"IMB", "", 2021, -1},
	} {
		var want *Benchmark
		if tt.want >= 0 {
			want = &all[tt.want]
		}
		check.Equal(t, BenchmarkOf(all, tt.suite, tt.title, tt.version), want, "%+v", tt)
	}
}
