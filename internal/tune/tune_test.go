package tune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/randtest"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// ownTree is a selection tree as MPICH has one, with something of each kind.
const ownTree = `{
  "collective=bcast": {
    "comm_type=intra": {
      "comm_size<8": {"comm_hierarchy=parent": {"avg_msg_size<=0": {"algorithm=MPIR_Bcast_intra_smp": {}},
        "avg_msg_size=any": {"algorithm=MPIR_Bcast_intra_binomial": {}}}, "comm_hierarchy=any": {"algorithm=MPIR_Bcast_intra_binomial": {}}},
      "comm_size=pow2": {"avg_msg_size<=12288": {"algorithm=MPIR_Bcast_intra_binomial": {}},
        "avg_msg_size<=524288": {"algorithm=MPIR_Bcast_intra_scatter_recursive_doubling_allgather": {}},
        "avg_msg_size=any": {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}}},
      "comm_size=any": {"avg_msg_size<=12288": {"algorithm = MPIR_Bcast_intra_binomial": {}},
        "avg_msg_size=any": {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}}}
    },
    "comm_type=inter": {"algorithm=MPIR_Bcast_inter_remote_send_local_bcast": {}}
  },
  "collective=allreduce": {"comm_type=intra": {
    "avg_msg_size<=8": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}},
    "avg_msg_size=any": {"is_op_built_in=no": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}},
      "is_op_built_in=yes": {"count<pow2": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}},
        "count=any": {"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}}}}}},
  "collective=reduce": {"comm_type=intra": {
    "avg_msg_size<=2048": {"algorithm=MPIR_Reduce_intra_binomial": {}},
    "avg_msg_size=any": {"algorithm=MPIR_Reduce_intra_reduce_scatter_gather": {}}}},
  "collective=allgather": {"comm_type=intra": {
    "comm_size=pow2": {"total_msg_size<524288": {"algorithm=MPIR_Allgather_intra_recursive_doubling": {}},
      "total_msg_size=any": {"algorithm=MPIR_Allgather_intra_ring": {}}},
    "comm_size=any": {"total_msg_size<81920": {"algorithm=MPIR_Allgather_intra_brucks": {}},
      "total_msg_size=any": {"algorithm=MPIR_Allgather_intra_ring": {}}}}},
  "collective=alltoall": {"comm_type=intra": {
    "is_sendbuf_inplace=yes": {"algorithm=MPIR_Alltoall_intra_pairwise_sendrecv_replace": {}},
    "is_sendbuf_inplace=no": {"avg_msg_size<=256": {"algorithm=MPIR_Alltoall_intra_brucks": {}},
      "avg_msg_size=any": {"algorithm=MPIR_Alltoall_intra_pairwise": {}}}}},
  "collective=ibarrier": {"comm_type=intra": {"algorithm=MPIR_Ibarrier_intra_tsp_recexch": {"k=2": {}}}}
}
`

func tree(t testing.TB) *Tree {
	t.Helper()
	own, err := ReadTree(strings.NewReader(ownTree), "own.json")
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// known are all libraries, on a tree those that need one.
func known(t testing.TB) (all []*Library) {
	for _, l := range libraries {
		if l.NeedsBase() {
			l = l.OnBase(tree(t))
		}
		all = append(all, l)
	}
	return all
}

// Each number beside coll_tuned_decision_fixed.c of v3.1.6, and the ids of v3.1.6 and v4.0.7.
func TestOpenMPI3sOwnChoice(t *testing.T) {
	for _, tt := range []struct {
		collective string
		p, m       int
		want       string
	}{
		{"allgather", 2, 1 << 20, "6 two_proc"}, {"allgather", 64, 781, "3 recursive_doubling"}, {"allgather", 64, 782, "5 neighbor"},
		{"allgather", 63, 793, "2 bruck"}, {"allgather", 63, 794, "4 ring"},
		{"allreduce", 64, 9999, "3 recursive_doubling"}, {"allreduce", 64, 10000, "4 ring"}, {"allreduce", 2000, 16000, "2 nonoverlapping"},
		{"allreduce", 4, 4 << 20, "4 ring"}, {"allreduce", 4, 4<<20 + 8, "5 segmented_ring, segment 1M"},
		{"alltoall", 2, 8, "5 two_proc"}, {"alltoall", 12, 199, "1 linear"}, {"alltoall", 13, 199, "3 modified_bruck"}, {"alltoall", 13, 200, "1 linear"}, {"alltoall", 13, 3000, "2 pairwise"},
		{"barrier", 2, 0, "5 two_proc"}, {"barrier", 64, 0, "3 recursive_doubling"}, {"barrier", 63, 0, "4 bruck"},
		{"bcast", 64, 2047, "6 binomial"}, {"bcast", 64, 2048, "4 split_binary_tree, segment 1K"}, {"bcast", 64, 370727, "4 split_binary_tree, segment 1K"},
		{"bcast", 2, 370728, "3 pipeline, segment 128K"}, {"bcast", 12, 370728, "4 split_binary_tree, segment 8K"},
		{"bcast", 64, 64 << 20, "3 pipeline, segment 128K"}, {"bcast", 14, 6 << 20, "3 pipeline, segment 64K"}, {"bcast", 13, 2 << 20, "3 pipeline, segment 16K"}, {"bcast", 64, 1 << 20, "3 pipeline, segment 8K"},
		{"gather", 8, 6000, "1 basic_linear"}, {"gather", 11, 1023, "2 binomial"}, {"gather", 61, 6000, "2 binomial"}, {"gather", 8, 6001, "3 linear_sync, segment 1K"}, {"gather", 8, 92161, "3 linear_sync, segment 32K"},
		{"reduce", 7, 511, "1 linear"}, {"reduce", 7, 512, "5 binomial"}, {"reduce", 7, 20480, "4 binary, segment 32K"}, {"reduce", 8, 2048, "5 binomial, segment 1K"},
		{"reduce", 10, 20480, "4 binary, segment 32K"}, {"reduce", 12, 20480, "3 pipeline, segment 1K"}, {"reduce", 2, 1 << 20, "3 pipeline, segment 64K"},
		{"scatter", 11, 299, "2 binomial"}, {"scatter", 11, 300, "1 basic_linear"}, {"scatter", 10, 8, "1 basic_linear"},
	} {
		for _, l := range []*Library{openMPI3, openMPI40} {
			if s, known := l.Own(collective.Named(tt.collective), tt.p, tt.m); !known || s.String() != tt.want {
				t.Errorf("%s chooses %s for %s of %d B among %d, want %s", l.Title, s, tt.collective, tt.m, tt.p, tt.want)
			}
		}
	}
	for text, of := range map[string][2]bool{"bcast:6": {true, true}, "bcast:7": {false, true}, "allreduce:6": {false, true}, "reduce:7": {false, true}, "scatter:3": {false, false}} {
		name, id, _ := strings.Cut(text, ":")
		for i, l := range []*Library{openMPI3, openMPI40} {
			if _, err := l.Forced(collective.Named(name), id); (err == nil) != of[i] {
				t.Errorf("%s: %s is forced with %v", l.Title, text, err)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	for _, tt := range []struct {
		major, minor int
		want         *Library
		known        bool
	}{{1, 6, openMPI3, false}, {1, 10, openMPI3, true}, {3, 1, openMPI3, true}, {4, 0, openMPI40, true}, {4, 1, openMPI4, true}, {5, 0, openMPI5, true}, {6, 0, openMPI6, true}} {
		if l, known := Version(false, tt.major, tt.minor); l != tt.want || known != tt.known {
			t.Errorf("%d.%d is %s, %v", tt.major, tt.minor, l.Title, known)
		}
	}
	if l, known := Version(true, 4, 0); l != mpich4 || known {
		t.Errorf("MPICH is %s, %v", l.Title, known)
	}
}

// Each number beside coll_tuned_decision_fixed.c of 4.1.4 and 5.0.5.
func TestOpenMPIsOwnChoice(t *testing.T) {
	for _, tt := range []struct {
		collective string
		p, m       int
		want       string
	}{
		{"bcast", 2, 31, "3 pipeline"}, {"bcast", 3, 32, "5 binary_tree"}, {"bcast", 3, 1 << 30, "5 binary_tree"},
		{"bcast", 4, 1 << 20, "2 chain"}, {"bcast", 7, 8191, "6 binomial"}, {"bcast", 16, 4095, "7 knomial"},
		{"bcast", 31, 1 << 20, "8 scatter_allgather"}, {"bcast", 127, 1, "7 knomial"}, {"bcast", 5000, 9000, "5 binary_tree"},
		{"allgather", 2, 1, "6 two_proc"}, {"allgather", 3, 1 << 20, "3 recursive_doubling"}, {"allgather", 32, 1024, "5 neighbor"},
		{"allreduce", 3, 7, "4 ring"}, {"allreduce", 3, 8, "3 recursive_doubling"}, {"allreduce", 130, 1, "2 nonoverlapping"},
		{"alltoall", 2, 2, "5 two_proc"}, {"alltoall", 3, 8192, "1 linear"}, {"alltoall", 600, 511, "3 modified_bruck"},
		{"barrier", 2, 0, "3 recursive_doubling"}, {"barrier", 4, 0, "1 linear"}, {"barrier", 256, 0, "6 tree"}, {"barrier", 5000, 0, "4 bruck"},
		{"gather", 3, 1, "3 linear_sync"}, {"gather", 9, 1, "2 binomial"},
		{"reduce", 2, 7, "7 rabenseifner"}, {"reduce", 5, 4096, "2 chain"}, {"reduce", 300, 8192, "6 in-order_binary"},
		{"scatter", 6, 2048, "1 basic_linear"}, {"scatter", 100, 512, "3 linear_nb"},
	} {
		for _, l := range []*Library{openMPI4, openMPI5} {
			if s, known := l.Own(collective.Named(tt.collective), tt.p, tt.m); !known || s.String() != tt.want {
				t.Errorf("%s chooses %s for %s of %d B among %d, want %s", l.Title, s, tt.collective, tt.m, tt.p, tt.want)
			}
		}
	}
}

func TestMPICHsOwnChoice(t *testing.T) {
	l := mpich4.OnBase(tree(t))
	for _, tt := range []struct {
		collective string
		p, m       int
		want       string
	}{
		{"bcast", 7, 1 << 20, "binomial"}, {"bcast", 8, 12288, "binomial"}, {"bcast", 8, 12289, "scatter_recursive_doubling_allgather"},
		{"bcast", 9, 12289, "scatter_ring_allgather"}, {"bcast", 9, 8, "binomial"}, {"allgather", 8, 65535, "recursive_doubling"}, {"allgather", 8, 65536, "ring"},
		{"allreduce", 8, 56, "recursive_doubling"}, {"allreduce", 8, 64, "reduce_scatter_allgather"}, {"alltoall", 3, 257, "pairwise"},
	} {
		if s, known := l.Own(collective.Named(tt.collective), tt.p, tt.m); !known || s.Name != tt.want {
			t.Errorf("MPICH chooses %s for %s of %d B among %d, want %s", s, tt.collective, tt.m, tt.p, tt.want)
		}
	}
}

// A condition of the communicator behind one of the call is asked with each call, where MPICH takes < for <=
// (MPIR_Csel_search of csel.c).
func TestMPICHTakesLessForAtMost(t *testing.T) {
	own, err := ReadTree(strings.NewReader(`{
  "collective=bcast": {"comm_type=intra": {"comm_size<8": {"algorithm=MPIR_Bcast_intra_binomial": {}}, "comm_size=any": {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}}}},
  "collective=alltoall": {"comm_type=intra": {
    "is_sendbuf_inplace=yes": {"algorithm=MPIR_Alltoall_intra_pairwise_sendrecv_replace": {}},
    "is_sendbuf_inplace=no": {"comm_size<8": {"algorithm=MPIR_Alltoall_intra_scattered": {}}, "comm_size=any": {"algorithm=MPIR_Alltoall_intra_brucks": {}}}}}}`), "own.json")
	if err != nil {
		t.Fatal(err)
	}
	rules := &Rules{Library: mpich4.OnBase(own), Tables: []Table{{collective.Named("alltoall"), 8, []Span{{8, 64, Verdict{Setting: Setting{Name: "pairwise"}}}}, true}}}
	var text bytes.Buffer
	if err := rules.Write(&text); err != nil {
		t.Fatal(err)
	}
	with, err := ReadTree(bytes.NewReader(text.Bytes()), "with")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		of   string
		p, m int
		want [2]string // its own, and with the rule
	}{
		{"bcast", 7, 8, [2]string{"binomial", "binomial"}}, {"bcast", 8, 8, [2]string{"scatter_ring_allgather", "scatter_ring_allgather"}},
		{"alltoall", 8, 8, [2]string{"scattered", "pairwise"}}, {"alltoall", 8, 128, [2]string{"scattered", "scattered"}}, {"alltoall", 9, 8, [2]string{"brucks", "brucks"}},
	} {
		for i, l := range []*Library{mpich4.OnBase(own), mpich4.OnBase(with)} {
			if s, _ := l.Own(collective.Named(tt.of), tt.p, tt.m); s.Name != tt.want[i] {
				t.Errorf("%s of %d B among %d is %s, want %s", tt.of, tt.m, tt.p, s, tt.want[i])
			}
		}
	}
}

func TestEverySettingHasASchedule(t *testing.T) {
	for _, l := range append(known(t), openMPI3, openMPI40) {
		for _, c := range l.Collectives() {
			for _, p := range []int{2, 3, 4, 6, 8, 13, 32} {
				for _, m := range []int{1, 100, 8 << 10, 1 << 20} {
					if c.Empty() {
						m = 0
					}
					seen := make(map[Setting]bool)
					for _, s := range l.Settings(c, p, m) {
						if seen[s] || s.Own() {
							t.Errorf("%s offers %s of %s twice, or it is none", l.Title, s, c)
						}
						seen[s] = true
						if _, err := l.Schedule(c, s, p, m); err != nil {
							t.Errorf("%s, %s of %s among %d: %v", l.Title, s, c, p, err)
						}
					}
					if own, known := l.Own(c, p, m); known {
						if _, err := l.Schedule(c, own, p, m); err != nil && c != collective.Bcast {
							t.Errorf("%s's own choice %s of %s among %d: %v", l.Title, own, c, p, err)
						}
					}
				}
			}
		}
	}
}

// A rules file's segment size and fan-out mean what Open MPI's source does with them.
func TestSchedulesAreThoseOfTheSource(t *testing.T) {
	for _, tt := range []struct {
		setting       Setting
		of            string
		p, m          int
		want          string
		degree, chunk int
	}{
		{Setting{2, "chain", 0, 0}, "bcast", 8, 1000, "pipeline", 2, 1000}, // 0 chains count as one
		{Setting{2, "chain", 4, 64}, "bcast", 8, 1000, "chain", 4, 64},
		{Setting{7, "knomial", 0, 0}, "bcast", 8, 1000, "knomial", 4, 1000},
		{Setting{5, "segmented_ring", 0, 0}, "allreduce", 8, 1000, "ring", 2, 1000},
		{Setting{3, "recursive_doubling", 0, 0}, "allgather", 6, 1000, "bruck", 2, 1000},
		{Setting{5, "neighbor", 0, 0}, "allgather", 5, 1000, "ring", 2, 1000},
		{Setting{4, "ring", 0, 0}, "allreduce", 8, 56, "recursive-doubling", 2, 56},
		{Setting{4, "ring", 0, 0}, "allreduce", 8, 64, "ring", 2, 64},
		{Setting{6, "rabenseifner", 0, 0}, "allreduce", 7, 24, "linear", 2, 24},
		{Setting{6, "rabenseifner", 0, 0}, "allreduce", 7, 32, "rabenseifner-halves", 2, 32},
		{Setting{7, "rabenseifner", 0, 0}, "reduce", 7, 32, "rabenseifner-halves", 2, 32},
		{Setting{4, "split_binary_tree", 0, 0}, "bcast", 7, 1, "pipeline", 2, 1},
		{Setting{4, "split_binary_tree", 0, 0}, "bcast", 7, 2, "split-binary", 2, 2},
		{Setting{4, "split_binary_tree", 0, 600}, "bcast", 7, 1000, "pipeline", 2, 600}, // more than a half
		{Setting{9, "scatter_allgather_ring", 0, 0}, "bcast", 7, 6, "linear", 2, 6},
		{Setting{4, "bruck", 0, 0}, "barrier", 8, 0, "dissemination", 2, 1},
	} {
		s, err := openMPI4.Schedule(collective.Named(tt.of), tt.setting, tt.p, tt.m)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Algorithm.Name != tt.want || s.Call.Degree != tt.degree || s.Call.Chunk != tt.chunk {
			t.Errorf("%s of %s is %s of degree %d and chunks of %d, want %s, %d, %d", tt.setting, tt.of, s.Algorithm, s.Call.Degree, s.Call.Chunk, tt.want, tt.degree, tt.chunk)
		}
	}
}

// Open MPI's nonoverlapping allreduce is a reduce and a broadcast, and its linear allgather a
// gather and a broadcast, each as it would choose by itself.
func TestPartsAreTheLibrarysOwn(t *testing.T) {
	for _, tt := range []struct {
		of       string
		id, p, m int
		parts    [2]string
		rest     int // bytes of the broadcast
	}{
		{"allreduce", 2, 13, 1 << 20, [2]string{"reduce", "bcast"}, 1 << 20},
		{"allgather", 1, 13, 1 << 10, [2]string{"gather", "bcast"}, 13 << 10},
	} {
		c := collective.Named(tt.of)
		setting, err := openMPI4.Forced(c, fmt.Sprint(tt.id))
		if err != nil {
			t.Fatal(err)
		}
		s, err := openMPI4.Schedule(c, setting, tt.p, tt.m)
		if err != nil {
			t.Fatal(err)
		}
		stages := 0
		for i, name := range tt.parts {
			m := [2]int{tt.m, tt.rest}[i]
			part, _ := openMPI4.OwnSchedule(collective.Named(name), tt.p, m)
			stages += part.Len()
		}
		if s.Algorithm.Collective != c || s.Len() != stages {
			t.Errorf("%s %s has %d stages, its parts %d", tt.of, setting, s.Len(), stages)
		}
	}
}

// Whether there are enough elements depends on their size.
func TestElements(t *testing.T) {
	for bytes, want := range map[int]string{8: "linear", 4: "rabenseifner-halves"} {
		s, err := openMPI4.WithElements(bytes).Schedule(collective.Allreduce, Setting{ID: 6, Name: "rabenseifner"}, 7, 24)
		if err != nil || s.Algorithm.Name != want {
			t.Errorf("elements of %d bytes: %v, %v", bytes, s, err)
		}
	}
}

func TestForced(t *testing.T) {
	if s, err := openMPI4.Forced(collective.Barrier, "tree"); err != nil || s.Name != "tree" {
		t.Errorf("barrier tree is %v (%v)", s, err)
	}
	for text, want := range map[string]string{"chain": "2 chain, fan 4", "6": "6 binomial", "binary_tree": "5 binary_tree", "0": "its own choice",
		"linear": "1 basic_linear", "Binary": "5 binary_tree", "split-binary": "4 split_binary_tree", "scatter allgather ring": "9 scatter_allgather_ring"} {
		if s, err := openMPI4.Forced(collective.Bcast, text); err != nil || s.String() != want {
			t.Errorf("forced %q is %v (%v), want %s", text, s, err, want)
		}
	}
	if _, err := openMPI4.Forced(collective.Bcast, "binomal"); err == nil || !strings.Contains(err.Error(), `did you mean "binomial"`) {
		t.Errorf("an unknown algorithm: %v", err)
	}
	if _, err := mpich4.Forced(collective.Bcast, ""); err == nil {
		t.Error("no name is accepted")
	}
}

// randomRules say anything.
func randomRules(r *rand.Rand, l *Library) *Rules {
	rules := &Rules{Library: l}
	for _, c := range l.Collectives() {
		if r.IntN(4) == 0 {
			continue
		}
		for p := 1 + r.IntN(3); p < 40; p += 1 + r.IntN(3)*r.IntN(5) {
			t := Table{Collective: c, P: p, OneNode: p < 20}
			for m := r.IntN(3); m < 1<<22 && len(t.Spans) < 6; {
				to := m + r.IntN(1<<r.IntN(20))
				if c.Empty() {
					m, to = 0, 0
				}
				v := Verdict{}
				if all := l.Settings(c, p, max(m, 1)); r.IntN(3) > 0 && len(all) > 0 {
					v.Setting = all[r.IntN(len(all))]
				}
				t.Spans = append(t.Spans, Span{m, to, v})
				if m = to + 1; c.Empty() {
					break
				}
			}
			rules.Tables = append(rules.Tables, t)
		}
	}
	return rules
}

// read is a file as its library reads it: what it chooses.
func read(l *Library, text []byte) (func(c *collective.Collective, p, m int) (Setting, error), error) {
	switch l.Name {
	case "openmpi4", "openmpi5":
		f, err := ReadClassic(bytes.NewReader(text), "rules")
		return func(c *collective.Collective, p, m int) (Setting, error) { return f.Choice(l, c, p, m) }, err
	case "openmpi6":
		f, err := readSelection(text)
		return func(c *collective.Collective, p, m int) (Setting, error) { return f.choice(l, c, p, m) }, err
	}
	f, err := ReadTree(bytes.NewReader(text), "rules")
	return func(c *collective.Collective, p, m int) (Setting, error) {
		s, known := l.OnBase(f).Own(c, p, m)
		if !known {
			return s, fmt.Errorf("the tree has no choice")
		}
		return s, nil
	}, err
}

// The choice that a library makes with a file is the one that the rules mean, for all
// numbers of ranks, listed or not, and all sizes.
func TestLibrariesChooseWhatRulesMean(t *testing.T) {
	r := randtest.New(t)
	for _, l := range known(t) {
		for range 12 {
			rules := randomRules(r, l)
			var text bytes.Buffer
			if err := rules.Write(&text); err != nil {
				t.Fatal(err)
			}
			choose, err := read(l, text.Bytes())
			if err != nil {
				t.Fatalf("%v in\n%s", err, text.String())
			}
			for _, c := range l.Collectives() {
				for p := 1; p < 45; p++ {
					for _, m := range sizesAround(rules, c, p, r) {
						want := rules.Choice(c, p, m)
						if l.NeedsBase() && (want.Own() || strings.HasPrefix(want.Name, "reduce_scatter") && m/8 < powerOfTwo(p)) {
							want, _ = l.Own(c, p, m)
						}
						got, err := choose(c, p, m)
						if err != nil || got != want {
							t.Fatalf("%s: %s of %d B among %d: %v (%v), want %v, by\n%s", l.Title, c, m, p, got, err, want, text.String())
						}
					}
				}
			}
		}
	}
}

// sizesAround are those where something changes, and others.
func sizesAround(rules *Rules, c *collective.Collective, p int, r *rand.Rand) []int {
	if c.Empty() {
		return []int{0}
	}
	sizes := []int{1, 8, 1 << 24}
	for _, t := range rules.Tables {
		if t.Collective == c && t.P >= p-1 && t.P <= p+1 {
			for _, s := range t.Spans {
				sizes = append(sizes, max(1, s.From-1), max(1, s.From), max(1, s.To), s.To+1, max(1, s.From+r.IntN(s.To-s.From+1)))
			}
		}
	}
	return sizes
}

// table is that of a machine on which τ transfers at once take τ times as long, or as long
// as one.
func table(serial bool) *params.File {
	c := params.Curve{Sizes: []int{1, 1 << 10, 1 << 22}}
	for tau := 1; tau <= 16; tau++ {
		c.Taus = append(c.Taus, tau)
	}
	for _, m := range c.Sizes {
		var row []float64
		for tau := 1; tau <= 16; tau++ {
			l := 1e-7 + float64(m)*1e-10
			if serial {
				l *= float64(tau)
			}
			row = append(row, l)
		}
		c.Times = append(c.Times, row)
	}
	t := &params.Table{Transfers: c, Overheads: []float64{1e-6, 1e-6, 1e-6}}
	return params.FromText(t, nil)
}

func chooser(t testing.TB, f *params.File, l *Library, margin float64) *Chooser {
	t.Helper()
	p, err := model.NewPredictor(f, model.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	return &Chooser{Library: l, Predictor: p, Ensemble: model.NewEnsemble(f, model.Choice{}), Margin: margin}
}

// A rule is there only where the model says that it gains more than the margin, and no other
// setting gains more.
func TestRulesGain(t *testing.T) {
	told := 0
	for _, serial := range []bool{false, true} {
		for _, l := range known(t) {
			c := chooser(t, table(serial), l, 0.05)
			of := []*collective.Collective{collective.Bcast, collective.Allgather, collective.Alltoall}
			rules, err := c.Rules(context.Background(), of, []int{2, 3, 8, 12}, []int{1, 1 << 10, 1 << 16, 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			told += rules.Told()
			for _, table := range rules.Tables {
				if first, last := table.Spans[0], table.Spans[len(table.Spans)-1]; first.From != 1 || last.To != 1<<20 {
					t.Errorf("%s, %s among %d: spans from %d to %d", l.Title, table.Collective, table.P, first.From, last.To)
				}
				for i, s := range table.Spans {
					if i > 0 && s.From != table.Spans[i-1].To+1 {
						t.Errorf("%s, %s among %d: a gap before %d", l.Title, table.Collective, table.P, s.From)
					}
					if s.Setting.Own() {
						continue
					}
					cost := func(x Setting) float64 {
						one, err := costs{c, make(map[schedule]candidate), math.Inf(1)}.of(table.Collective, x, table.P, s.From)
						if err != nil {
							t.Fatal(err)
						}
						return one.seconds
					}
					mine := cost(s.Setting)
					if own, known := l.Own(table.Collective, table.P, s.From); known && s.OwnKnown && !(mine < 0.95*cost(own)) {
						t.Errorf("%s, %s of %d B among %d: %s costs %g, its own choice %s %g", l.Title, table.Collective, s.From, table.P, s.Setting, mine, own, cost(own))
					}
					for _, other := range l.Settings(table.Collective, table.P, s.From) {
						if cost(other)*(1+alike)*1.000001 < mine {
							t.Errorf("%s, %s of %d B among %d: %s costs %g, %s %g", l.Title, table.Collective, s.From, table.P, s.Setting, mine, other, cost(other))
						}
					}
				}
			}
		}
	}
	if told == 0 {
		t.Error("no rule anywhere")
	}
}

// What is chosen by rough costs first is what all costs would have chosen.
func TestRoughCostsChooseTheSame(t *testing.T) {
	f := &params.File{}
	var node numa.CPUSet
	for core := range 24 {
		node = append(node, core)
	}
	f.Provenance.Levels = numa.Levels{{Name: "same_socket", Groups: []numa.CPUSet{node[:12], node[12:]}}, {Name: "other_socket", Groups: []numa.CPUSet{node}}}
	for i, l := range f.Provenance.Levels {
		for m := 1; m <= 4<<20; m *= 2 {
			ns := []float64{200, 450}[i] + []float64{0.07, 0.12}[i]*float64(m)
			f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.ChannelCell, Placement: params.Published, Tau: 1, Bytes: m,
				Variant: params.ChannelVariant(l.Name, params.ChannelMessage)}, Time: fit.Estimate{Center: ns, Lo: ns, Hi: ns}})
		}
	}
	p, err := model.NewPredictor(f, model.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	roughs := 0
	for _, l := range []*Library{openMPI4, mpich4.OnBase(tree(t))} {
		c := &Chooser{Library: l, Predictor: p, Margin: 0.02}
		for _, of := range []*collective.Collective{collective.Bcast, collective.Named("reduce"), collective.Named("alltoall")} {
			for _, ranks := range []int{2, 5, 16, 23} {
				before := Setting{}
				for m := 64; m <= 4<<20; m *= 4 {
					settings := l.Settings(of, ranks, m)
					v, err := c.Choose(of, settings, ranks, m, before)
					if err != nil {
						t.Fatal(err)
					}
					exact := costs{c, make(map[schedule]candidate), math.Inf(1)}
					var all []candidate
					for _, s := range settings {
						one, err := exact.of(of, s, ranks, m)
						if err != nil {
							t.Fatal(err)
						}
						all = append(all, one)
						if about, ok := p.Roughly(one.schedule, math.Inf(1)); ok {
							roughs++
							if math.Abs(about/one.seconds-1) > slack/2 {
								t.Errorf("%s, %s of %d B among %d: about %g, and it costs %g", s, of, m, ranks, about, one.seconds)
							}
						}
					}
					want, _ := cheapest(all, before)
					if own, known := l.Own(of, ranks, m); known {
						if one, err := exact.of(of, own, ranks, m); err == nil && want.seconds >= one.seconds {
							want = one
						}
					}
					if v.Best != want.setting {
						t.Errorf("%s, %s of %d B among %d: %s is the best, want %s", l.Title, of, m, ranks, v.Best, want.setting)
					}
					before = v.Setting
				}
			}
		}
	}
	if roughs == 0 {
		t.Error("no cost was rough")
	}
}

func TestNoRuleWithinTheMargin(t *testing.T) {
	rules, err := chooser(t, table(true), openMPI4, 0.999).Rules(context.Background(), openMPI4.Collectives()[:1], []int{2, 3, 8, 12}, []int{1, 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if n := rules.Told(); n > 0 {
		t.Errorf("%d rules gain more than 99.9 %%", n)
	}
}

// launched gives the cells of a file samples of ten launches, each off by noise.
func launched(f *params.File, noise float64) *params.File {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 10 {
		f.Launches = append(f.Launches, params.Launch{Began: fmt.Sprintf("2026-11-22T00:%02d:00Z", i)})
	}
	for i := range f.Cells {
		c := &f.Cells[i]
		ns := c.Time.Center
		for l := range f.Launches {
			c.Samples = append(c.Samples, params.Sample{NS: ns * math.Exp(noise*r.NormFloat64()), Launch: int32(l)})
		}
		c.Time = c.Replicates(f).Estimate()
	}
	return f
}

func TestNoRuleWhereIntervalsOverlap(t *testing.T) {
	quiet, noisy := 0, 0
	for _, noise := range []float64{0.001, 2} {
		c := chooser(t, launched(table(false), noise), openMPI4, 0.05)
		rules, err := c.Rules(context.Background(), []*collective.Collective{collective.Bcast}, []int{5, 8, 12}, []int{1 << 10, 1 << 16, 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range rules.Tables {
			for _, s := range table.Spans {
				switch {
				case s.Why == Overlap && noise > 1:
					noisy++
				case s.Why == Overlap:
					t.Errorf("among %d of %d B intervals overlap without noise", table.P, s.From)
				case s.Why == Cheaper:
					quiet++
					if !(s.Gain.Known() && s.Gain.Lo > 0) {
						t.Errorf("a rule gains %v", s.Gain)
					}
				}
			}
		}
	}
	if quiet == 0 || noisy == 0 {
		t.Errorf("%d rules, %d overlaps: want some of each", quiet, noisy)
	}
}

func TestSecondBestWhereOwnIsUnknown(t *testing.T) {
	c := chooser(t, table(false), mpich4, 0.05)
	v, err := c.Choose(collective.Bcast, mpich4.Settings(collective.Bcast, 20, 1<<20), 20, 1<<20, Setting{}) // without the file that it chooses by
	if err != nil {
		t.Fatal(err)
	}
	if v.OwnKnown || v.Beaten.Own() || v.Beaten == v.Best {
		t.Errorf("the best %s is compared with %s, known %v", v.Best, v.Beaten, v.OwnKnown)
	}
}

func TestBadClassic(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "it ends where the number of collectives is expected",
		"x":                              `"x" is where the number of collectives`,
		"1 99":                           "from 0 to 21",
		"1 7 1 4 1 5 1 0 0":              "begins at 5 bytes",
		"1 7 1 4 1 0 1 0":                "it ends where a segment size",
		"1 7 1 4 1 0 1 0 0 7":            "7 stands after the last rule",
		"1\n7 1\n4 1 # \n0 -1 0 0":       "rules:4: \"-1\"",
		"1 7 1 4 99999999999 0 0 0 0":    "is where the number of message sizes",
		"1 7 1 4 1 0 1_0 0 0":            `"1_0"`,
		"rule-file-version-2\n1 7 1 4 1": "it ends",
	} {
		_, err := ReadClassic(strings.NewReader(text), "rules")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestVersion2HasRequests(t *testing.T) {
	f, err := ReadClassic(strings.NewReader("rule-file-version-2\n1 # one\n3\n1\n0x10 2\n0 4 0 0 32\n010 2 0 0\n"), "rules")
	if err != nil {
		t.Fatal(err)
	}
	if r := f.Lookup("alltoall", 16, 8); r.Algorithm != 2 {
		t.Errorf("of 8 bytes among 16 it takes %+v", r)
	}
	if r := f.Lookup("alltoall", 2, 7); r.Algorithm != 4 {
		t.Errorf("below the first number of ranks it takes %+v, not the first's", r)
	}
	if r := f.Lookup("bcast", 2, 7); r != (ClassicRule{}) {
		t.Errorf("without rules it takes %+v", r)
	}
}

func TestBadTree(t *testing.T) {
	for text, want := range map[string]string{
		"":   "is empty",
		"{}": "no collectives",
		"[]": "stands no {",
		`{"collective=bcast":{"comm_sise<8":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}`: "is no condition that MPICH knows",
		`{"collective=bcast":{"comm_size<x":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}`: "is no condition that MPICH knows",
		`{"collective=bcast":{"composition=MPIDI_Bcast_intra_composition_alpha":{}}}`:     "MPIR_CVAR_CH4",
		`{"collective=bcast":{"algorithm=MPIDI_POSIX_mpi_bcast_release_gather":{}}}`:      "another layer",
		`{"comm_type=intra":{}}`: "where a collective belongs",
		`{"collective=bcast":{"comm_type=intra":{"algorithm=MPIR_Bcast_intra_binomial":{"k":{}}}}}`: "is no parameter",
		`{"collective=bcast":{"comm_type=intra":3}}`:                                                "stands no {",
		`{"collective=bcast":{"comm_type=intra":{}},"collective=bcast":{}}`:                         "duplicate",
		`{"collective=bcast":{}} x`:                                                                 "after the tree",
		`{"collective=bcast":{`:                                                                     "1:",
		strings.Repeat(`{"collective=bcast":`, 100):                                                 "is no",
		`{"collective=bcast":` + strings.Repeat(`{"comm_size=any":`, 100):                           "deep",
	} {
		_, err := ReadTree(strings.NewReader(text), "base.json")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "base.json") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	lacking, err := ReadTree(strings.NewReader(`{"collective=gatherv":{"algorithm=MPIR_Gatherv_allcomm_linear":{}}}`), "base.json")
	if err != nil {
		t.Fatal(err)
	}
	rules := &Rules{Library: mpich4.OnBase(lacking), Tables: []Table{{collective.Bcast, 4, []Span{{1, 8, Verdict{Setting: Setting{Name: "binomial"}}}}, true}}}
	if err := rules.Write(io.Discard); err == nil {
		t.Error("rules are spliced into a tree without the collective")
	}
	// What stands there is copied below every number of ranks.
	var large strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&large, `"count<=%d":{"algorithm=MPIR_Bcast_intra_%s":{}},`, i, []string{"binomial", "scatter_ring_allgather"}[i%2])
	}
	own, err := ReadTree(strings.NewReader(`{"collective=bcast":{"comm_type=intra":{`+large.String()+`"count=any":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}}`), "base.json")
	if err != nil {
		t.Fatal(err)
	}
	rules = &Rules{Library: mpich4.OnBase(own)}
	for p := range 1000 {
		rules.Tables = append(rules.Tables, Table{collective.Bcast, 2 + 2*p, []Span{{1, 8, Verdict{Setting: Setting{Name: "binomial"}}}}, true})
	}
	if err := rules.Write(io.Discard); !errors.Is(err, errGrown) {
		t.Errorf("a file that is too large: %v", err)
	}
}

// Rules that are spliced again into what they were spliced into change nothing.
func TestSplicedAgain(t *testing.T) {
	r := randtest.New(t)
	for range 10 {
		rules := randomRules(r, mpich4.OnBase(tree(t)))
		var once, twice bytes.Buffer
		if err := rules.Write(&once); err != nil {
			t.Fatal(err)
		}
		with, err := ReadTree(bytes.NewReader(once.Bytes()), "once")
		if err != nil {
			t.Fatal(err)
		}
		rules.Library = mpich4.OnBase(with)
		if err := rules.Write(&twice); err != nil {
			t.Fatal(err)
		}
		if once.String() != twice.String() {
			t.Fatalf("%s\n\nbecomes\n%s", once.String(), twice.String())
		}
	}
}

// A call with a rule passes few conditions: those of the communicator stand before all others, and none
// stands there that another one has decided. A rule goes on where it is the library's own choice, which for doubles among
// four ranks recursive doubling is up to 31 bytes.
func TestSplicedIsQuickToSearch(t *testing.T) {
	base, err := ReadTree(strings.NewReader(`{
  "collective=reduce": {"comm_type=intra": {
    "comm_hierarchy=parent": {"avg_msg_size<=0": {"algorithm=MPIR_Reduce_intra_smp": {}}, "avg_msg_size<=2048": {"algorithm=MPIR_Reduce_intra_binomial": {}},
      "avg_msg_size=any": {"algorithm=MPIR_Reduce_intra_reduce_scatter_gather": {}}},
    "comm_hierarchy=any": {"avg_msg_size<=2048": {"algorithm=MPIR_Reduce_intra_binomial": {}}, "avg_msg_size=any": {"algorithm=MPIR_Reduce_intra_reduce_scatter_gather": {}}}}},
  "collective=allreduce": {"comm_type=intra": {
    "avg_msg_size<=8": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}}, "count<pow2": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}},
    "count=any": {"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}}}},
  "collective=alltoall": {"comm_type=intra": {
    "is_sendbuf_inplace=yes": {"algorithm=MPIR_Alltoall_intra_pairwise_sendrecv_replace": {}},
    "is_sendbuf_inplace=no": {
      "comm_size<8": {"avg_msg_size<=32768": {"algorithm=MPIR_Alltoall_intra_scattered": {}}, "avg_msg_size=any": {"algorithm=MPIR_Alltoall_intra_pairwise": {}}},
      "comm_size=any": {"algorithm=MPIR_Alltoall_intra_brucks": {}}}}}}`), "base.json")
	if err != nil {
		t.Fatal(err)
	}
	rules := &Rules{Library: mpich4.OnBase(base), Tables: []Table{
		{collective.Named("alltoall"), 4, []Span{{1, 4095, Verdict{}}, {4096, 8192, Verdict{Setting: Setting{Name: "pairwise"}}}}, true},
		{collective.Named("reduce"), 4, []Span{{8, 1024, Verdict{}}, {1025, 4096, Verdict{Setting: Setting{Name: "binomial"}}}}, true},
		{collective.Named("allreduce"), 4, []Span{{1, 31, Verdict{}}, {32, 1024, Verdict{Setting: Setting{Name: "recursive_doubling"}}}}, true},
	}}
	var text bytes.Buffer
	if err := rules.Write(&text); err != nil {
		t.Fatal(err)
	}
	got := strings.NewReplacer(" ", "", "\n", "", "algorithm=MPIR_", "", "_intra_", " ").Replace(text.String())
	for _, want := range []string{
		`"comm_size<=4":{"is_sendbuf_inplace=yes":{"Alltoall pairwise_sendrecv_replace":{}},"avg_msg_size<=4095":{"Alltoall scattered":{}},` +
			`"avg_msg_size<=8192":{"Alltoall pairwise":{}},"avg_msg_size<=32768":{"Alltoall scattered":{}},"comm_size=any":{"Alltoall pairwise":{}}}`,
		`"comm_size<=4":{"avg_msg_size<=4096":{"Reduce binomial":{}},"comm_size=any":{"Reduce reduce_scatter_gather":{}}}`,
		`"comm_size<=4":{"avg_msg_size<=1024":{"Allreduce recursive_doubling":{}},"count<pow2":{"Allreduce recursive_doubling":{}},"comm_size=any":{"Allreduce reduce_scatter_allgather":{}}}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}

func TestLookup(t *testing.T) {
	if _, err := Lookup("openmpi3"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("openmpi3: %v", err)
	}
	for _, name := range Names() {
		if l, err := Lookup(name); err != nil || l.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// seeds are files as they are written.
func seeds(f *testing.F, names ...string) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, l := range known(f) {
		if !slices.Contains(names, l.Name) {
			continue
		}
		var text bytes.Buffer
		if err := randomRules(r, l).Write(&text); err != nil {
			f.Fatal(err)
		}
		f.Add(text.Bytes())
	}
}

func FuzzReadClassic(f *testing.F) {
	f.Add([]byte(openMPIRules))
	f.Add([]byte("rule-file-version-2\n1\n3\n1\n64\n2\n0 4 0 0 32\n1024 2 0 0\n"))
	seeds(f, "openmpi4")
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := ReadClassic(bytes.NewReader(text), "rules")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is no sentence", err)
			}
			return
		}
		for _, c := range openMPI4.Collectives() {
			file.Choice(openMPI4, c, 8, 1000)
		}
	})
}

// What is read can be spliced, and read again.
func FuzzReadTree(f *testing.F) {
	f.Add([]byte(ownTree))
	f.Add([]byte(`{"collective=bcast":{"comm_type=intra":{"comm_size<=3":{"avg_msg_size<=8":{"algorithm=MPIR_Bcast_intra_binomial":{}},"any":{"composition=x":{}}}}}}`))
	rules := &Rules{Tables: []Table{{collective.Bcast, 4, []Span{{1, 8, Verdict{Setting: Setting{Name: "scatter_ring_allgather"}}}}, true}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		own, err := ReadTree(bytes.NewReader(text), "base.json")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is no sentence", err)
			}
			return
		}
		own.Choice(collective.Bcast, 8, 1000)
		with := *rules
		with.Library = mpich4.OnBase(own)
		var out bytes.Buffer
		if with.Write(&out) != nil {
			return
		}
		again, err := ReadTree(bytes.NewReader(out.Bytes()), "written")
		if err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
		if got := again.Choice(collective.Bcast, 4, 8); got != "MPIR_Bcast_intra_scatter_ring_allgather" && own.branches[0].condition() == "collective=bcast" {
			t.Errorf("a rule for 4 ranks and 8 B gives %q in %s", got, out.String())
		}
	})
}
