package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/randtest"
)

// ownTree is a selection tree of MPICH with each kind of condition.
var ownTree = string(must.Get(os.ReadFile("testdata/own.json")))

func tree(t testing.TB) *Tree {
	t.Helper()
	return must.Get(ReadTree(strings.NewReader(ownTree), "own.json"))
}

// known are all libraries with rules files, with ownTree if they need a tree.
func known(t testing.TB) (all []*Library) {
	for _, name := range TunableNames() {
		l := must.Get(Tunable(name))
		if l.NeedsBase() {
			l = l.OnBase(tree(t))
		}
		all = append(all, l)
	}
	return all
}

// The decisions of coll_tuned_decision_fixed.c of v3.1.6, 4.1.4 and 5.0.5, and of MPICH's tree; the numbers of
// algorithms of v3.1.6 and v4.0.7.
func TestOwnChoices(t *testing.T) {
	type choice struct {
		collective string
		p, m       int
		want       string
	}
	for _, of := range []struct {
		libraries []*Library
		choices   []choice
	}{
		{[]*Library{openMPI3, openMPI40}, []choice{
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
		}},
		{[]*Library{openMPI4, openMPI5}, []choice{
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
		}},
		{[]*Library{mpich4.OnBase(tree(t))}, []choice{
			{"bcast", 7, 1 << 20, "binomial"}, {"bcast", 8, 12288, "binomial"}, {"bcast", 8, 512 << 10, "scatter_recursive_doubling_allgather"}, {"bcast", 8, 512<<10 + 8, "scatter_ring_allgather"}, {"bcast", 16, 1 << 20, "scatter_recursive_doubling_allgather"},
			{"bcast", 9, 12289, "scatter_ring_allgather"}, {"bcast", 9, 8, "binomial"}, {"allgather", 8, 65535, "recursive_doubling"}, {"allgather", 8, 65536, "ring"},
			{"allreduce", 8, 56, "recursive_doubling"}, {"allreduce", 8, 64, "reduce_scatter_allgather"}, {"alltoall", 3, 257, "pairwise"},
		}},
	} {
		for _, l := range of.libraries {
			for _, c := range of.choices {
				if s, known := l.Own(collective.Named(c.collective), c.p, 1, c.m); !known || s.String() != c.want {
					t.Errorf("%s chooses %s for %s of %d B among %d, want %s", l.Version, s, c.collective, c.m, c.p, c.want)
				}
			}
		}
	}
	for text, of := range map[string][2]bool{"bcast:6": {true, true}, "bcast:7": {false, true}, "allreduce:6": {false, true}, "reduce:7": {false, true}, "scatter:3": {false, false}} {
		name, id, _ := strings.Cut(text, ":")
		for i, l := range []*Library{openMPI3, openMPI40} {
			check.Equal(t, must.Err(l.Forced(collective.Named(name), id)) == nil, of[i], "%s: %s is forced", l.Version, text)
		}
	}
}

func TestOfHead(t *testing.T) {
	for line, want := range map[string]string{
		"MPI: Open MPI 4.1.5 (src T, V), 4.1.6":  "Open MPI 4.1.5, openmpi4 true",
		"openmpi 5.0.1":                          "openmpi 5.0.1, openmpi5 true",
		"OpenMPI-4.1.5":                          "OpenMPI-4.1.5, openmpi4 true",
		"gcc/9.3 OpenMPI/4.1.5, OSU 7.3":         "OpenMPI/4.1.5, openmpi4 true",
		"Open MPI 1.6.5":                         "Open MPI 1.6.5, openmpi1 false",
		"Open MPI 1.10.7":                        "Open MPI 1.10.7, openmpi3 true",
		"Open MPI 3.1.6 (gcc 9.1.0)":             "Open MPI 3.1.6, openmpi3 true",
		"Open MPI 4.10":                          "Open MPI 4.10, openmpi4 true",
		"Open MPI v6.0.0rc1":                     "Open MPI v6.0.0rc1, openmpi6 true",
		"Open MPI 10.0":                          "Open MPI 10.0, openmpi6 true",
		"open-mpi 4.0.3":                         "open-mpi 4.0.3, openmpi4.0 true",
		"mpich-4.0.2":                            "mpich-4.0.2, mpich4 false",
		"MPICH 4.3.2":                            "MPICH 4.3.2, mpich4 false",
		"MPICH 5.0.1":                            "MPICH 5.0.1, mpich4 false",
		"MPICH 5.1.0a1":                          "MPICH 5.1.0a1, mpich5.1 false",
		"Intel MPI 2021.5":                       "Intel MPI 2021.5, mpich4 false",
		"Intel(R) MPI Library 2019":              "Intel(R) MPI, mpich4 false",
		"MVAPICH2-2.3.7":                         "MVAPICH2-2.3.7, mpich4 false",
		"cray-mpich/8.1.25":                      "cray-mpich/8.1.25, mpich4 false",
		"Cray MPICH 8.1":                         "Cray MPICH 8.1, mpich4 false",
		"HPE Cray MPI 8.1":                       "HPE Cray MPI 8.1, mpich4 false",
		"OSU 7.3, nodes exclusive":               ", openmpi4 false",
		"IBM Spectrum MPI 10.4 (Open MPI 4.0.5)": "IBM Spectrum MPI 10.4,  false",
		"Fujitsu MPI 4.0, from Open MPI 4.0":     "Fujitsu MPI 4.0,  false",
		"HPE MPI 2.25":                           "HPE MPI 2.25,  false",
	} {
		lib, version, rules := OfHead([]string{"a machine", line})
		check.Equal(t, fmt.Sprintf("%s, %s %v", version, lib.Name, rules), want, "%q", line)
	}
}

// A condition on the communicator after one on the call is evaluated in each call, with < as <=
// (MPIR_Csel_search of csel.c).
func TestMPICHTakesLessForAtMost(t *testing.T) {
	own := must.Get(ReadTree(bytes.NewReader(must.Get(os.ReadFile("testdata/less.json"))), "own.json"))
	l := mpich4.OnBase(own)
	rules := []Rule{{collective.Named("alltoall"), 8, 1, 8, 64, Setting{Name: "pairwise"}}}
	var text bytes.Buffer
	must.Do(l.Write(&text, rules))
	with := must.Get(ReadTree(bytes.NewReader(text.Bytes()), "with"))
	for _, tt := range []struct {
		of   string
		p, m int
		want [2]string // its own, and with the rule
	}{
		{"bcast", 7, 8, [2]string{"binomial", "binomial"}}, {"bcast", 8, 8, [2]string{"scatter_ring_allgather", "scatter_ring_allgather"}},
		{"alltoall", 8, 8, [2]string{"scattered", "pairwise"}}, {"alltoall", 8, 128, [2]string{"scattered", "scattered"}}, {"alltoall", 9, 8, [2]string{"brucks", "brucks"}},
	} {
		for i, l := range []*Library{mpich4.OnBase(own), mpich4.OnBase(with)} {
			if s, _ := l.Own(collective.Named(tt.of), tt.p, 1, tt.m); s.Name != tt.want[i] {
				t.Errorf("%s of %d B among %d is %s, want %s", tt.of, tt.m, tt.p, s, tt.want[i])
			}
		}
	}
}

func TestEverySettingHasASchedule(t *testing.T) {
	for _, l := range append(known(t), openMPI3, openMPI40) {
		for _, c := range l.Collectives() {
			for _, p := range []int{1, 2, 3, 4, 6, 8, 13, 32} {
				for _, m := range []int{1, 100, 8 << 10, 1 << 20} {
					if c.Empty() {
						m = 0
					}
					seen := make(map[Setting]bool)
					for _, s := range l.Settings(c, p, m) {
						check.True(t, !seen[s] && !s.Own(), "%s offers %s of %s twice, or it is none", l.Version, s, c)
						seen[s] = true
						check.NoError(t, must.Err(l.Schedule(c, s, collective.Call{P: p, M: m})), "%s, %s of %s among %d", l.Version, s, c, p)
					}
					if own, known := l.Own(c, p, 1, m); known {
						if _, err := l.Schedule(c, own, collective.Call{P: p, M: m}); err != nil && c != collective.Bcast {
							t.Errorf("%s's own choice %s of %s among %d: %v", l.Version, own, c, p, err)
						}
					}
				}
			}
		}
	}
}

// Ranks send as many messages, and all ranks together as many bytes, as in Open MPI 4.1.4 and MPICH 4.0.2.
// bench/mpi/sent.c counted them by the work of taulop tune -plan -all. Left out are what it does not see: the
// bytes of datatypes (alltoall 3), the answers to synchronous messages (barrier 3) and empty messages besides
// others (gather 3).
func TestSchedulesSendWhatLibrariesSend(t *testing.T) {
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/sent.tsv")))) {
		var library, name, key, sent string
		var m int
		must.Get(fmt.Sscanf(line, "%s %s %s %d %s", &library, &name, &key, &m, &sent))
		_, sent, _ = strings.Cut(strings.TrimSpace(line), fmt.Sprintf("\t%d\t", m))
		l, c, ranks := must.Get(Tunable(library)), collective.Named(name), strings.Fields(sent)
		var setting Setting
		for _, s := range l.Settings(c, len(ranks), m) {
			if s.Key() == key {
				setting = s
			}
		}
		s, err := l.Schedule(c, setting, collective.Call{P: len(ranks), M: m})
		if err != nil || setting.Key() != key {
			t.Errorf("%s: %v (%v)", line, setting, err)
			continue
		}
		messages, bytes := make([]int, len(ranks)), 0
		for _, step := range s.Steps() {
			for message := range step.Messages() {
				if step.Pattern != collective.Local || s.ToSelf {
					messages[message.From]++
					bytes += message.Bytes()
				}
			}
		}
		for rank, text := range ranks {
			var n, size int
			must.Get(fmt.Sscanf(text, "%d:%d", &n, &size))
			if bytes -= size; n != messages[rank] {
				t.Errorf("%s: rank %d sends %d messages in %s", line, rank, messages[rank], s.Algorithm)
			}
		}
		check.Equal(t, bytes, 0, "%s: more bytes sent by ranks", line)
	}
}

// A rules file's segment size and fan-out mean what Open MPI's source does with them.
func TestSettingsMeanWhatTheSourceDoes(t *testing.T) {
	floats := openMPI4.WithElements(4)
	for _, tt := range []struct {
		library       *Library
		setting       Setting
		of            string
		p, m          int
		want          string
		degree, chunk int
	}{
		{openMPI4, Setting{2, "chain", 0, 0}, "bcast", 8, 1000, "pipeline", 2, 1000}, // 0 chains count as one
		{openMPI4, Setting{3, "recursive_doubling", 0, 0}, "allgather", 6, 1000, "bruck", 2, 1000},
		{openMPI4, Setting{5, "neighbor", 0, 0}, "allgather", 5, 1000, "ring", 2, 1000},
		{openMPI4, Setting{4, "ring", 0, 0}, "allreduce", 8, 56, "recursive-doubling", 2, 56},
		{openMPI4, Setting{4, "ring", 0, 0}, "allreduce", 8, 64, "ring", 2, 64},
		{openMPI4, Setting{6, "rabenseifner", 0, 0}, "allreduce", 7, 24, "linear", 2, 24},
		{openMPI4, Setting{6, "rabenseifner", 0, 0}, "allreduce", 7, 32, "rabenseifner-halves", 2, 32},
		{floats, Setting{6, "rabenseifner", 0, 0}, "allreduce", 7, 24, "rabenseifner-halves", 2, 24}, // six elements
		{openMPI4, Setting{4, "split_binary_tree", 0, 0}, "bcast", 7, 1, "pipeline", 2, 1},
		{openMPI4, Setting{4, "split_binary_tree", 0, 0}, "bcast", 7, 2, "split-binary", 2, 2},
		{openMPI4, Setting{4, "split_binary_tree", 0, 600}, "bcast", 7, 1000, "pipeline", 2, 600}, // more than a half
		{openMPI4, Setting{9, "scatter_allgather_ring", 0, 0}, "bcast", 7, 6, "linear", 2, 6},
		{openMPI4, Setting{5, "segmented_ring", 0, 100_000}, "allreduce", 4, 1_000_000, "segmented-ring", 2, 125_000}, // 2.5 segments are 2
		{openMPI4, Setting{5, "segmented_ring", 0, 100_000}, "allreduce", 4, 1_100_000, "segmented-ring", 2, 91_667},  // 2.75 are 3
	} {
		s := must.Get(tt.library.Schedule(collective.Named(tt.of), tt.setting, collective.Call{P: tt.p, M: tt.m}))
		if s.Algorithm.Name != tt.want || s.Call.Degree != tt.degree || s.Call.Chunk != tt.chunk {
			t.Errorf("%s of %s is %s of degree %d and chunks of %d, want %s, %d, %d", tt.setting, tt.of, s.Algorithm, s.Call.Degree, s.Call.Chunk, tt.want, tt.degree, tt.chunk)
		}
	}
}

// Open MPI's nonoverlapping allreduce is a reduce and a broadcast, and its linear allgather a gather and a
// broadcast, each by its own decision.
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
		setting := must.Get(openMPI4.Forced(c, fmt.Sprint(tt.id)))
		s := must.Get(openMPI4.Schedule(c, setting, collective.Call{P: tt.p, M: tt.m}))
		stages := 0
		for i, name := range tt.parts {
			m := [2]int{tt.m, tt.rest}[i]
			part := must.Get(openMPI4.Schedule(collective.Named(name), Setting{}, collective.Call{P: tt.p, M: m}))
			stages += part.Len()
		}
		check.Equal(t, s.Algorithm.Collective, c, "%s %s: collective", tt.of, setting)
		check.Equal(t, s.Len(), stages, "%s %s: stages", tt.of, setting)
	}
}

func TestForced(t *testing.T) {
	check.Equal(t, must.Get(openMPI4.Forced(collective.Barrier, "tree")).Name, "tree", "barrier tree")
	for text, want := range map[string]string{"chain": "2 chain, fan 4", "6": "6 binomial", "binary_tree": "5 binary_tree", "0": "its own choice",
		"linear": "1 basic_linear", "Binary": "5 binary_tree", "split-binary": "4 split_binary_tree", "scatter allgather ring": "9 scatter_allgather_ring"} {
		check.Equal(t, must.Get(openMPI4.Forced(collective.Bcast, text)).String(), want, "forced %q", text)
	}
	for name, c := range map[string]*collective.Collective{"2 bruck-k-fanout, fan 4": collective.Allgather, "8 knomial, fan 4": collective.Reduce} {
		check.Equal(t, must.Get(openMPI6.Forced(c, name[:1])).String(), name, "forced %s of %s", name[:1], c)
	}
	own, known := openMPI6.Own(collective.Allgather, 256, 1, 64)
	check.True(t, known && own.String() == "2 bruck-k-fanout", "allgather of 64 B among 256 is %v", own)
	contains.Error(t, must.Err(openMPI4.Forced(collective.Bcast, "binomal")), `did you mean "binomial"`)
	check.Error(t, must.Err(mpich4.Forced(collective.Bcast, "")), "no name is accepted")
}

// randomRules are random rules for all collectives of a library.
func randomRules(r *rand.Rand, l *Library) (rules []Rule) {
	for _, c := range l.Collectives() {
		if r.IntN(4) == 0 {
			continue
		}
		for p := 1 + r.IntN(3); p < 40; p += 1 + r.IntN(3)*r.IntN(5) {
			for m, n := r.IntN(3), 0; m < 1<<22 && n < 6; n++ {
				to := m + r.IntN(1<<r.IntN(20))
				if c.Empty() {
					m, to = 0, 0
				}
				if all := l.Settings(c, p, max(m, 1)); r.IntN(3) > 0 && len(all) > 0 {
					rules = append(rules, Rule{c, p, 1 + p/20, m, to, all[r.IntN(len(all))]})
				}
				if m = to + 1; c.Empty() {
					break
				}
			}
		}
	}
	return rules
}

// meant is the setting of a call by the rules; the library's own choice without a rule.
func meant(rules []Rule, c *collective.Collective, p, m int) Setting {
	if c.Empty() {
		m = 0
	}
	for _, r := range rules {
		if r.Collective == c && r.P == p && r.From <= m && m <= r.To {
			return r.Setting
		}
	}
	return Setting{}
}

// read is the decision function of a rules file, as its library reads it.
func read(l *Library, text []byte) (func(c *collective.Collective, p, m int) (Setting, error), error) {
	switch l.Name {
	case "openmpi4", "openmpi5":
		f, err := ReadClassic(string(text))
		for id, all := range f.rules {
			for _, of := range all {
				if of.rules[0].Bytes != 0 {
					return nil, fmt.Errorf("the first rule of collective %d among %d begins at %d bytes: Open MPI wants 0", id, of.p, of.rules[0].Bytes)
				}
			}
		}
		return func(c *collective.Collective, p, m int) (Setting, error) {
			r := f.Lookup(c.Name, p, m*scale(c, p))
			s, there := l.numbered(c.Name, r.Algorithm, r.Fan, r.Segment)
			if !there {
				return s, fmt.Errorf("%s has no algorithm %d of %s", l.Version, r.Algorithm, c)
			}
			return s, nil
		}, err
	case "openmpi6":
		f, err := readSelection(text)
		return func(c *collective.Collective, p, m int) (Setting, error) { return f.choice(l, c, p, m) }, err
	}
	f, err := ReadTree(bytes.NewReader(text), "rules")
	if err == nil {
		if why := invalid(f.branches); why != "" {
			err = errors.New(why)
		}
	}
	return func(c *collective.Collective, p, m int) (Setting, error) {
		s, known := l.OnBase(f).Own(c, p, 1, m)
		if !known {
			return s, fmt.Errorf("the tree has no choice")
		}
		return s, nil
	}, err
}

// A library with the written file decides as the rules say, for all communicator sizes, with and without rules, and
// all message sizes.
func TestLibrariesChooseWhatRulesMean(t *testing.T) {
	r := randtest.New(t)
	for _, l := range known(t) {
		for range 12 {
			rules := randomRules(r, l)
			var text bytes.Buffer
			must.Do(l.Write(&text, rules))
			choose, err := read(l, text.Bytes())
			if err != nil {
				t.Fatalf("%v in\n%s", err, text.String())
			}
			for _, c := range l.Collectives() {
				for p := 1; p < 45; p++ {
					for _, m := range sizesAround(rules, c, p, r) {
						want := meant(rules, c, p, m)
						if l.NeedsBase() && (want.Own() || strings.HasPrefix(want.Name, "reduce_scatter") && m/8 < powerOfTwo(p)) {
							want, _ = l.Own(c, p, 1, m)
						}
						got, err := choose(c, p, m)
						if err != nil || got != want {
							t.Fatalf("%s: %s of %d B among %d: %v (%v), want %v, by\n%s", l.Version, c, m, p, got, err, want, text.String())
						}
					}
				}
			}
		}
	}
}

// sizesAround are message sizes at and near the bounds of rules, and others.
func sizesAround(rules []Rule, c *collective.Collective, p int, r *rand.Rand) []int {
	if c.Empty() {
		return []int{0}
	}
	sizes := []int{1, 8, 1 << 24}
	for _, s := range rules {
		if s.Collective == c && s.P >= p-1 && s.P <= p+1 {
			sizes = append(sizes, max(1, s.From-1), max(1, s.From), max(1, s.To), s.To+1, max(1, s.From+r.IntN(s.To-s.From+1)))
		}
	}
	return sizes
}

func TestClassicLookup(t *testing.T) {
	f := must.Get(ReadClassic("1 # one\n3\n1\n16 2\n0 4 0 0\n8 2 0 0\n"))
	check.Equal(t, f.Lookup("alltoall", 16, 8).Algorithm, 2, "algorithm of 8 bytes among 16")
	check.Equal(t, f.Lookup("alltoall", 2, 7).Algorithm, 4, "algorithm below the first number of ranks")
	check.Equal(t, f.Lookup("bcast", 2, 7), (ClassicRule{}), "rule where there are none")
	for _, text := range []string{"x", "1 7 1 4 1 0 1 0", "1 7 1 4 1 0 1 0 0 7"} {
		check.Error(t, must.Err(ReadClassic(text)), "%q is read", text)
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
	lacking := must.Get(ReadTree(strings.NewReader(`{"collective=gatherv":{"algorithm=MPIR_Gatherv_allcomm_linear":{}}}`), "base.json"))
	l := mpich4.OnBase(lacking)
	rules := []Rule{{collective.Bcast, 4, 1, 1, 8, Setting{Name: "binomial"}}}
	check.Error(t, l.Write(io.Discard, rules), "rules are spliced into a tree without the collective")
	// The own choice is copied below every communicator size.
	var large strings.Builder
	for i := range 500 {
		fmt.Fprintf(&large, `"count<=%d":{"algorithm=MPIR_Bcast_intra_%s":{}},`, i, []string{"binomial", "scatter_ring_allgather"}[i%2])
	}
	own := must.Get(ReadTree(strings.NewReader(`{"collective=bcast":{"comm_type=intra":{`+large.String()+`"count=any":{"algorithm=MPIR_Bcast_intra_binomial":{}}}}}`), "base.json"))
	l, rules = mpich4.OnBase(own), nil
	for p := range 500 {
		rules = append(rules, Rule{collective.Bcast, 2 + 2*p, 1, 1, 8, Setting{Name: "binomial"}})
	}
	check.ErrorIs(t, l.Write(io.Discard, rules), errGrown, "a file that is too large")
}

// Splicing the same rules twice changes nothing.
func TestSplicedAgain(t *testing.T) {
	r := randtest.New(t)
	for range 10 {
		l := mpich4.OnBase(tree(t))
		rules := randomRules(r, l)
		var once, twice bytes.Buffer
		must.Do(l.Write(&once, rules))
		with := must.Get(ReadTree(bytes.NewReader(once.Bytes()), "once"))
		l = mpich4.OnBase(with)
		must.Do(l.Write(&twice, rules))
		if once.String() != twice.String() {
			t.Fatalf("%s\n\nbecomes\n%s", once.String(), twice.String())
		}
	}
}

// A call with a rule evaluates few conditions: those on the communicator come first, and no condition is implied by
// another one. A rule is extended over the library's own choice of the same algorithm: for doubles among four
// ranks that is recursive doubling up to 31 bytes.
func TestSplicedIsQuickToSearch(t *testing.T) {
	base := must.Get(ReadTree(bytes.NewReader(must.Get(os.ReadFile("testdata/searched.json"))), "base.json"))
	l := mpich4.OnBase(base)
	rules := []Rule{
		{collective.Named("alltoall"), 4, 1, 4096, 8192, Setting{Name: "pairwise"}},
		{collective.Named("reduce"), 4, 1, 1025, 4096, Setting{Name: "binomial"}},
		{collective.Named("allreduce"), 4, 1, 32, 1024, Setting{Name: "recursive_doubling"}},
	}
	var text bytes.Buffer
	must.Do(l.Write(&text, rules))
	got := strings.NewReplacer(" ", "", "\n", "", "algorithm=MPIR_", "", "_intra_", " ").Replace(text.String())
	contains.All(t, got,
		`"comm_size<=4":{"is_sendbuf_inplace=yes":{"Alltoall pairwise_sendrecv_replace":{}},"avg_msg_size<=4095":{"Alltoall scattered":{}},`+
			`"avg_msg_size<=8192":{"Alltoall pairwise":{}},"avg_msg_size<=32768":{"Alltoall scattered":{}},"comm_size=any":{"Alltoall pairwise":{}}}`,
		`"comm_size<=4":{"avg_msg_size<=4096":{"Reduce binomial":{}},"comm_size=any":{"Reduce reduce_scatter_gather":{}}}`,
		`"comm_size<=4":{"avg_msg_size<=1024":{"Allreduce recursive_doubling":{}},"count<pow2":{"Allreduce recursive_doubling":{}},"comm_size=any":{"Allreduce reduce_scatter_allgather":{}}}`,
	)
}

// A tree that is read can be spliced, and the result can be read.
func FuzzReadTree(f *testing.F) {
	f.Add([]byte(ownTree))
	f.Add([]byte(`{"collective=bcast":{"comm_type=intra":{"comm_size<=3":{"avg_msg_size<=8":{"algorithm=MPIR_Bcast_intra_binomial":{}},"any":{"composition=x":{}}}}}}`))
	rules := []Rule{{collective.Bcast, 4, 1, 1, 8, Setting{Name: "scatter_ring_allgather"}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		own, err := ReadTree(bytes.NewReader(text), "base.json")
		if err != nil {
			check.True(t, !strings.Contains(err.Error(), "\n"), "%q is no sentence", err)
			return
		}
		own.Choice(collective.Bcast, 8, 1000, 8)
		var out bytes.Buffer
		if mpich4.OnBase(own).Write(&out, rules) != nil {
			return
		}
		again, err := ReadTree(bytes.NewReader(out.Bytes()), "written")
		if err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
		if got := again.Choice(collective.Bcast, 4, 8, 8); got != "MPIR_Bcast_intra_scatter_ring_allgather" && own.branches[0].condition() == "collective=bcast" {
			t.Errorf("a rule for 4 ranks and 8 B gives %q in %s", got, out.String())
		}
	})
}
