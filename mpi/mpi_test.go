package mpi

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestLibraries(t *testing.T) {
	seen := make(map[string]bool)
	for _, l := range Libraries() {
		check.True(t, !seen[l.Name] && l.Title != "" && len(l.Ways) != 0 && l.Version != "" && l.own != nil, "%+v", l)
		seen[l.Name] = true
		least := 0
		for i, w := range l.Ways {
			last := i == len(l.Ways)-1
			check.True(t, w.Source != "" && last == (w.Most == 0) && (last || w.Most > least), "%s: way %d, after messages up to %d: %+v", l.Name, i, least, w)
			check.True(t, w.Single == (w.Segment == 0 && w.Segments == 0) && (!w.Single || w.Request+w.Control == 0) && (w.Single || w.Request < max(1, w.Segment)),
				"%s: way %d copies once and twice: %+v", l.Name, i, w)
			least = w.Most
		}
		check.Equal(t, must.Get(Named(strings.ToUpper(l.Name))), l, "%s", l.Name)
	}
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		library string
		bytes   int
		single  bool
	}{
		{"openmpi4", 0, false}, {"openmpi4", 4032, false}, {"openmpi4", 4033, true}, {"openmpi4", 1 << 30, true},
		{"openmpi4-none", 1 << 30, false}, {"mpich4", 8248, false}, {"mpich4", 8249, true},
	} {
		check.Equal(t, must.Get(Named(tt.library)).Of(tt.bytes).Single, tt.single, "%s, %d bytes", tt.library, tt.bytes)
	}
}

func TestNamedRefuses(t *testing.T) {
	contains.Error(t, must.Err(Tunable("openmpi3")), "did you mean")
	for name, nearest := range map[string]string{"openmpi3": "openmpi4", "openmpi7": "openmpi6", "mpich5": "mpich5.1", "mpich": "mpich4", "OpenMPI5.0": "openmpi5", "mpich4ofi": "mpich4-ofi"} {
		contains.Error(t, must.Err(Named(name)), `did you mean "`+nearest+`"?`)
	}
}

const ompiInfo = `                MCA coll: sm (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: tuned (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: han (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA coll: sm (MCA v2.1.0, API v2.0.0, Component v4.1.4)
                MCA fbtl: posix (MCA v2.1.0, API v2.0.0, Component v4.1.4)
`

func TestReadComponents(t *testing.T) {
	all := must.Get(ReadComponents(strings.NewReader(ompiInfo), "info"))
	check.Equal(t, fmt.Sprint(all), "[{sm [OMPI_MCA_coll_sm_priority=100]} {han [OMPI_MCA_coll_han_priority=100]}]", "components")
	check.Error(t, must.Err(ReadComponents(strings.NewReader("nothing"), "info")), "a text without components is read")
}

func TestComponents(t *testing.T) {
	names := func(words ...string) (text string, err error) {
		all, err := Components(words, func(file string) ([]Component, error) { return nil, errors.New("reads " + file) })
		for _, c := range all {
			text += c.Name + " "
			again, there := ComponentNamed(c.Name)
			check.True(t, there && fmt.Sprint(again) == fmt.Sprint(c), "%s is %v", c.Name, again)
		}
		return text, err
	}
	for words, want := range map[string]string{
		"4.0 UCX_RNDV_THRESH=8192": "hcoll sm UCX_RNDV_THRESH=8192 ", "4.1": "adapt han hcoll sm ucc ",
		"6.0 6.0": "acoll adapt han ucc xhc ",
	} {
		check.Equal(t, must.Get(names(strings.Fields(words)...)), want, "%s", words)
	}
	for _, word := range []string{"3.1", "info.txt", "A=`b`", "A=$B", "A=/x"} {
		check.Error(t, must.Err(names(word)), "%s", word)
	}
}

func FuzzReadComponents(f *testing.F) {
	f.Add(ompiInfo)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadComponents(strings.NewReader(text), "info")
		check.Need(t, err != nil || len(all) <= len(components), "%d components", len(all))
	})
}

// ownTree is a selection tree of MPICH with each kind of condition.
var ownTree = string(must.Get(os.ReadFile("testdata/own.json")))

func tree(t testing.TB) *Tree { return must.Get(ReadTree(strings.NewReader(ownTree), "own.json")) }

// known are all libraries with rules files, with ownTree if they need a tree.
func known(t testing.TB) []*Library {
	return lists.Map(TunableNames(), func(name string) *Library {
		l := must.Get(Tunable(name))
		if l.NeedsBase() {
			l = l.OnBase(tree(t))
		}
		return l
	})
}

// The decisions of coll_tuned_decision_fixed.c of v3.1.6, 4.1.4 and 5.0.5, and of MPICH's tree; the numbers of
// algorithms of v3.1.6 and v4.0.7.
func TestOwnChoices(t *testing.T) {
	type choice struct {
		collective string
		p, m       int
		want       string
	}
	try := func(libraries []*Library, choices []choice) {
		t.Helper()
		for _, l := range libraries {
			for _, c := range choices {
				s, known := l.Own(collective.Named(c.collective), c.p, 1, c.m)
				check.True(t, known && s.String() == c.want,
					"%s chooses %s for %s of %d B among %d, want %s", l.Version, s, c.collective, c.m, c.p, c.want)
			}
		}
	}
	try([]*Library{openMPI3, openMPI40}, []choice{
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
	})
	try([]*Library{openMPI4, openMPI5}, []choice{
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
	})
	try([]*Library{mpich4.OnBase(tree(t))}, []choice{
		{"bcast", 7, 1 << 20, "binomial"}, {"bcast", 8, 12288, "binomial"}, {"bcast", 8, 512 << 10, "scatter_recursive_doubling_allgather"}, {"bcast", 8, 512<<10 + 8, "scatter_ring_allgather"}, {"bcast", 16, 1 << 20, "scatter_recursive_doubling_allgather"},
		{"bcast", 9, 12289, "scatter_ring_allgather"}, {"bcast", 9, 8, "binomial"}, {"allgather", 8, 65535, "recursive_doubling"}, {"allgather", 8, 65536, "ring"},
		{"allreduce", 8, 56, "recursive_doubling"}, {"allreduce", 8, 64, "reduce_scatter_allgather"}, {"alltoall", 3, 257, "pairwise"},
	})
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
	try := func(of string, p, m int, want [2]string) { // want: its own, and with the rule
		t.Helper()
		for i, l := range []*Library{mpich4.OnBase(own), mpich4.OnBase(with)} {
			s, _ := l.Own(collective.Named(of), p, 1, m)
			check.Equal(t, s.Name, want[i], "%s of %d B among %d", of, m, p)
		}
	}
	try("bcast", 7, 8, [2]string{"binomial", "binomial"})
	try("bcast", 8, 8, [2]string{"scatter_ring_allgather", "scatter_ring_allgather"})
	try("alltoall", 8, 8, [2]string{"scattered", "pairwise"})
	try("alltoall", 8, 128, [2]string{"scattered", "scattered"})
	try("alltoall", 9, 8, [2]string{"brucks", "brucks"})
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
						_, err := l.Schedule(c, own, collective.Call{P: p, M: m})
						check.True(t, err == nil || c == collective.Bcast, "%s's own choice %s of %s among %d: %v", l.Version, own, c, p, err)
					}
				}
			}
		}
	}
}

// Ranks send as many messages, and all ranks together as many bytes, as in Open MPI 4.1.4 and MPICH 4.0.2.
// bench/mpi/sent.c counted them by the work of taulop tune -plan -all. Left out are what it does not see: the bytes of
// datatypes (alltoall 3), the answers to synchronous messages (barrier 3) and empty messages besides others (gather 3).
func TestSchedulesSendWhatLibrariesSend(t *testing.T) {
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/sent.tsv")))) {
		var library, name, key, sent string
		var m int
		must.Get(fmt.Sscanf(line, "%s %s %s %d %s", &library, &name, &key, &m, &sent))
		_, sent, _ = strings.Cut(strings.TrimSpace(line), fmt.Sprintf("\t%d\t", m))
		l, c, ranks := must.Get(Tunable(library)), collective.Named(name), strings.Fields(sent)
		setting := cmp.Or(lists.Find(l.Settings(c, len(ranks), m), func(s Setting) bool { return s.Key() == key }), &Setting{})
		check.Need(t, setting.Key() == key, "%s: no such setting", line)
		s := must.Get(l.Schedule(c, *setting, collective.Call{P: len(ranks), M: m}))
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
			bytes -= size
			check.Equal(t, messages[rank], n, "%s: messages of rank %d in %s", line, rank, s.Algorithm)
		}
		check.Equal(t, bytes, 0, "%s: more bytes sent by ranks", line)
	}
}

// A rules file's segment size and fan-out mean what Open MPI's source does with them.
func TestSettingsMeanWhatTheSourceDoes(t *testing.T) {
	floats := openMPI4.WithElements(4)
	try := func(library *Library, setting Setting, of string, p, m int, want string, degree, chunk int) {
		t.Helper()
		s := must.Get(library.Schedule(collective.Named(of), setting, collective.Call{P: p, M: m}))
		check.True(t, s.Algorithm.Name == want && s.Call.Degree == degree && s.Call.Chunk == chunk,
			"%s of %s is %s of degree %d and chunks of %d, want %s, %d, %d", setting, of, s.Algorithm, s.Call.Degree, s.Call.Chunk, want, degree, chunk)
	}
	try(openMPI4, Setting{2, "chain", 0, 0}, "bcast", 8, 1000, "pipeline", 2, 1000) // 0 chains count as one
	try(openMPI4, Setting{3, "recursive_doubling", 0, 0}, "allgather", 6, 1000, "bruck", 2, 1000)
	try(openMPI4, Setting{5, "neighbor", 0, 0}, "allgather", 5, 1000, "ring", 2, 1000)
	try(openMPI4, Setting{4, "ring", 0, 0}, "allreduce", 8, 56, "recursive-doubling", 2, 56)
	try(openMPI4, Setting{4, "ring", 0, 0}, "allreduce", 8, 64, "ring", 2, 64)
	try(openMPI4, Setting{6, "rabenseifner", 0, 0}, "allreduce", 7, 24, "linear", 2, 24)
	try(openMPI4, Setting{6, "rabenseifner", 0, 0}, "allreduce", 7, 32, "rabenseifner-halves", 2, 32)
	try(floats, Setting{6, "rabenseifner", 0, 0}, "allreduce", 7, 24, "rabenseifner-halves", 2, 24) // six elements
	try(openMPI4, Setting{4, "split_binary_tree", 0, 0}, "bcast", 7, 1, "pipeline", 2, 1)
	try(openMPI4, Setting{4, "split_binary_tree", 0, 0}, "bcast", 7, 2, "split-binary", 2, 2)
	try(openMPI4, Setting{4, "split_binary_tree", 0, 600}, "bcast", 7, 1000, "pipeline", 2, 600) // more than a half
	try(openMPI4, Setting{9, "scatter_allgather_ring", 0, 0}, "bcast", 7, 6, "linear", 2, 6)
	try(openMPI4, Setting{5, "segmented_ring", 0, 100_000}, "allreduce", 4, 1_000_000, "segmented-ring", 2, 125_000) // 2.5 segments are 2
	try(openMPI4, Setting{5, "segmented_ring", 0, 100_000}, "allreduce", 4, 1_100_000, "segmented-ring", 2, 91_667)  // 2.75 are 3
}

// Open MPI's nonoverlapping allreduce is a reduce and a broadcast, and its linear allgather a gather and a
// broadcast, each by its own decision.
func TestPartsAreTheLibrarysOwn(t *testing.T) {
	try := func(of, id string, m int, first string, rest int) { // first: its first part; rest: bytes of the broadcast
		t.Helper()
		c, stages := collective.Named(of), 0
		setting := must.Get(openMPI4.Forced(c, id))
		s := must.Get(openMPI4.Schedule(c, setting, collective.Call{P: 13, M: m}))
		for part, bytes := range map[string]int{first: m, "bcast": rest} {
			stages += must.Get(openMPI4.Schedule(collective.Named(part), Setting{}, collective.Call{P: 13, M: bytes})).Len()
		}
		check.Equal(t, s.Algorithm.Collective, c, "%s %s: collective", of, setting)
		check.Equal(t, s.Len(), stages, "%s %s: stages", of, setting)
	}
	try("allreduce", "2", 1<<20, "reduce", 1<<20)
	try("allgather", "1", 1<<10, "gather", 13<<10)
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
