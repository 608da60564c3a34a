package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/mpi"
)

func openMPI(t testing.TB) *mpi.Library {
	t.Helper()
	return must.Get(mpi.Tunable("openmpi4"))
}

// small is a plan of broadcasts among two ranks that times every setting.
func small() *Manifest {
	m := &Manifest{Format: format, Version: version, Library: "openmpi4", CPU: "A CPU", Nodes: 1, Passes: 6}
	for _, bytes := range []int{1024, 2048} {
		m.Cells = append(m.Cells, Work{Cell{Collective: "bcast", P: 2, Bytes: bytes, Options: []Option{
			{Seconds: 2e-6}, {mpi.Setting{ID: 1, Name: "basic_linear"}, 1e-6}, {mpi.Setting{ID: 3, Name: "pipeline", Segment: 512}, 1.1e-6}}}, []int{0, 1, 2}})
	}
	return m
}

const head = "head\t2\t1\thost\tA  CPU\tOpen MPI v4.1.4\n"

func TestWrite(t *testing.T) {
	m, folder := small(), filepath.Join(t.TempDir(), "plan")
	for range 2 { // the same again is no error
		must.Do(m.Write(folder, openMPI(t), time.Minute))
	}
	text, err := os.ReadFile(filepath.Join(folder, "work", "P2-rules"))
	want := "bcast own 1024\nbcast 1:0:0 1024 coll_tuned_bcast_algorithm=1\nbcast 3:0:512 1024 coll_tuned_bcast_algorithm=3 coll_tuned_bcast_algorithm_segmentsize=512\n"
	check.True(t, err == nil && strings.HasPrefix(string(text), want), "%v\n%s", err, text)
	for _, name := range []string{"run.sh", "run.slurm", "timing.c", "clock.h"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		check.True(t, err == nil && !bytes.Contains(text, []byte("@BUDGET@")) && !bytes.Contains(text, []byte("@RANKS@")), "%s: %v", name, err)
	}
	f := must.Get(os.Open(filepath.Join(folder, Name)))
	defer f.Close()
	check.Equal(t, len(must.Get(ReadManifest(f, Name)).Cells), 2, "ReadManifest")
	m.Passes++
	check.Error(t, m.Write(folder, openMPI(t), time.Minute), "another plan was written over")
}

// pass is the times of one pass: own of the own choice and of setting 3, half of it of setting 1.
func pass(own float64) string {
	text := head
	for _, m := range []int{1024, 2048} {
		for key, us := range map[string]float64{"own": own, "1:0:0": own / 2, "3:0:512": own} {
			text += fmt.Sprintf("try\tbcast\t%s\t%d\ntime\tbcast\t%s\t2\t%d\t%.3f\n", key, m, key, m, us)
		}
	}
	return text + "done\n"
}

func TestConclude(t *testing.T) {
	m, folder := small(), fstest.MapFS{}
	for i, us := range []float64{1, 1.1, 1.2, 1, 1.1, 1.3} {
		folder[fmt.Sprintf("results/P2-rules-%d.tsv", i)] = &fstest.MapFile{Data: []byte(pass(us))}
	}
	r := must.Get(m.Read(folder, openMPI(t)))
	check.True(t, len(r.LeftOut) == 0 && len(r.Passes) == 6, "%+v, %d passes", r.LeftOut, len(r.Passes))
	concluded := m.Conclude(r, []Cell{{Collective: "bcast", P: 2, Bytes: 4096, Options: m.Cells[0].Options}})
	for i, c := range concluded {
		check.True(t, c.Setting.ID == 1 && c.Timed == (i < 2) && c.Gain.Lo > 0, "%+v", c)
	}
	rules := Rules(concluded, openMPI(t), func(int) int { return 1 })
	check.True(t, len(rules) != 0 && rules[0].From == 1024 && rules[len(rules)-1].To == 4096, "%+v", rules)
	// A component is compared with the own choice.
	m.Components = []mpi.Component{{Name: "sm"}}
	for i := range 6 {
		text := head
		for _, bytes := range []int{1024, 2048} {
			text += fmt.Sprintf("time\tbcast\town+sm\t2\t%d\t%g\n", bytes, 0.5)
		}
		folder[fmt.Sprintf("results/P2-sm-%d.tsv", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	r = must.Get(m.Read(folder, openMPI(t)))
	check.Equal(t, len(r.Passes), 6, "passes")
	of := m.Compared(r)
	check.True(t, len(of) == 1 && of[0].Cells == 2 && of[0].Quicker == 2 && of[0].Gain >= 0.5, "%+v", of)
	// Fewer passes have no interval.
	maps.DeleteFunc(folder, func(name string, _ *fstest.MapFile) bool {
		return strings.Contains(name, "sm") || name < "results/P2-rules-3"
	})
	for _, c := range m.Conclude(must.Get(m.Read(folder, openMPI(t))), nil) {
		check.True(t, c.Setting.Own(), "of three passes: %+v", c)
	}
}

// Of many settings that equal the own choice some seem quicker by chance, and none is taken; a quicker one is.
func TestConcludeOfMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m, r := small(), &Results{}
	for i := range 200 {
		w := m.Cells[0]
		w.Bytes = 8 << i % 20
		w.P = 2 + i
		m.Cells = append(m.Cells, w)
	}
	for range 20 {
		pass := make(map[[2]int]float64)
		for cell, w := range m.Cells {
			for o := range w.Options {
				pass[[2]int{cell, o}] = math.Exp(0.05 * random.NormFloat64())
			}
		}
		pass[[2]int{100, 2}] /= 1.2
		r.Passes = append(r.Passes, pass)
	}
	seem := 0
	for i, c := range m.Conclude(r, nil) {
		if ratio := fit.Median(r.pairs(i, 1)); ratio.Lo > 1 {
			seem++
		}
		check.Equal(t, c.Timed, (i == 100), "cell %d", i)
	}
	check.True(t, seem != 0, "no setting seems quicker by chance")
}

// Timings nearby on both sides distinguish an untimed setting from the own choice, and from a timed
// setting, unless the difference is small.
func TestConcludeFromNeighbours(t *testing.T) {
	for _, tt := range []struct{ ratio, other, want float64 }{{0.5, 0, 1}, {0.5, 0.9, 1}, {0.85, 0, 0}, {0.5, 0.55, 3}} {
		m, r := small(), &Results{}
		m.Cells = append(m.Cells, m.Cells[1])
		m.Cells[2].Bytes = 4096
		for pass := range 8 {
			took := map[[2]int]float64{}
			for cell := range m.Cells {
				own := 2 + 0.002*float64(pass)
				took[[2]int{cell, 0}] = own
				if cell != 1 {
					took[[2]int{cell, 1}] = own * tt.ratio
				} else if tt.other > 0 {
					took[[2]int{cell, 2}] = own * tt.other
				}
			}
			r.Passes = append(r.Passes, took)
		}
		c := m.Conclude(r, nil)[1]
		check.True(t, float64(c.Setting.ID) == tt.want && c.Timed == (tt.want == 3), "%+v: %+v", tt, c)
	}
}

// Brute force times every setting, in as many passes as the budget allows.
func TestMakeAll(t *testing.T) {
	m := Make(lists.Map(small().Cells, func(w Work) Cell { return w.Cell }), openMPI(t), 1, "", nil, time.Minute, true, "")
	timings, of, _ := m.Timings()
	check.True(t, timings == 6 && of == 2 && m.Passes >= 50 && m.Seconds <= 60, "%+v", m)
}

// A suite times a collective with one setting in a launch of its own, also at sizes between the plan's.
func TestSuites(t *testing.T) {
	m, library := small(), openMPI(t)
	m.With = "osu"
	m.Components = []mpi.Component{{Name: "UCX_RNDV_THRESH=8K", Environment: []string{"UCX_RNDV_THRESH=8K"}}}
	var names []string
	for _, l := range m.Launches(library) {
		names = append(names, l.Name)
		want := "osu_bcast --iterations 100 --warmup 130 --message-size 1024:2048"
		check.True(t, len(l.Lines) == 1 && l.Lines[0] == want, "%s: %q, want %s", l.Name, l.Lines, want)
		check.True(t, l.Name != "P2-bcast=3:0:512" || slices.Contains(l.Environment, "OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize=512"), "%v", l.Environment)
	}
	check.Slices(t, names, []string{"P2-bcast=own", "P2-bcast=1:0:0", "P2-bcast=3:0:512", "P2-bcast=own+UCX_RNDV_THRESH=8K"}, "names")
	m.With = "imb"
	check.Equal(t, m.Launches(library)[0].Lines[0], "IMB-MPI1 Bcast -npmin 2 -iter 100 -iter_policy off -msglog 10:11", "Launches")
	osu := "# OSU MPI Broadcast Latency Test v5.3\n# Size       Avg Latency(us)\n"
	imb := "#----\n# Benchmarking Bcast\n# #processes = 2\n#----\n#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
	// The suite also times a setting at a size, between others, at which the plan would not.
	m.Cells[0].Options = m.Cells[0].Options[:2]
	folder := fstest.MapFS{"results/stray": {Data: []byte("x")}, "results/P2-bcast=9:0:0-0.tsv": {Data: []byte(head + osu + "1024 1\n2048 1\n")}}
	for pass := range 6 {
		for i, name := range names[:3] {
			us := []float64{2, 1, 3}[i]
			folder[fmt.Sprintf("results/%s-%d.tsv", name, pass)] = &fstest.MapFile{Data: fmt.Appendf(nil, "%s%s512 %g\n1024 %g\n2048 %g\ndone\n", head, osu, us, us, us)}
		}
		folder[fmt.Sprintf("results/%s-%d.tsv", names[3], pass)] = &fstest.MapFile{Data: fmt.Appendf(nil, "%s%s1024 100 1 4 2\n2048 100 1 4 2\n", head, imb)}
	}
	r, err := m.Read(folder, library)
	check.Need(t, err == nil && len(r.Passes) == 6 && len(r.LeftOut) == 3, "%v, %+v", err, r)
	contains.All(t, fmt.Sprint(r.LeftOut), "the plan has no 9:0:0 of bcast of 2048 B")
	for _, c := range m.Conclude(r, nil) {
		check.True(t, c.Setting.ID == 1 && c.Timed && c.OwnUS == 2 && c.US == 1, "%+v", c)
	}
	of := m.Compared(r)
	check.True(t, len(of) == 1 && of[0].Slower == 2, "%+v", of)
}

// Lines that do not belong to the plan are left out and named. Versions of MPICH write their name in different ways.
func TestReadLeavesOut(t *testing.T) {
	good := "time\tbcast\town\t2\t1024\t1.5\n"
	for _, tt := range []struct{ text, why string }{
		{strings.Replace(head, "\t2\t", "\t4\t", 1) + good, "it says 2 ranks, and the head 4"},
		{strings.Replace(head, "A  CPU", "Another", 1) + good, "another machine"},
		{strings.Replace(head, "v4.1.4", "v5.0.5", 1) + good, "the plan is for Open MPI 4.1"},
		{strings.Replace(head, "Open MPI v4.1.4", "MPICH Version: 4.0.2", 1) + good, "the plan is for Open MPI 4.1"},
		{strings.Replace(head, "\t1\thost", "\t2\thost", 1) + good, "on 2 nodes"},
		{good, "no head says who timed it"},
		{head + "warm-up\tbcast\n" + good, "is no line that the job writes"},
		{head + good + good, "twice in one pass"},
		{head + "time\tbcast\town\t2\t1024\t0\n", "is no time of a collective"},
		{head + "time\tbcast\town\t2\t1024\tNaN\n", "is no time of a collective"},
		{head + "time\tbcast\t9:0:0\t2\t1024\t1\n", "the plan has no 9:0:0"},
		{head + "time\tbcast\town\t2\t4096\t1\n", "the plan has no own"},
		{head + "try\tbcast\town\t1024\ncrash\tbcast\town\t1024\n", "it crashed"},
		{head + "time\tbcast\town\t2\t10", "cut off"},
	} {
		r, err := small().Read(fstest.MapFS{"results/x.tsv": {Data: []byte(tt.text)}}, openMPI(t))
		check.True(t, err == nil && len(r.LeftOut) == 1 && strings.Contains(r.LeftOut[0].Why, tt.why), "%q: %v %+v\nwant %s", tt.text, err, r, tt.why)
	}
	m := small()
	m.Library, m.Cells = "mpich4", m.Cells[:1]
	m.Cells[0].Options = []Option{{Seconds: 1e-6}, {mpi.Setting{Name: "binomial"}, 1e-6}}
	for version, left := range map[string]int{"MPICH Version: 4.0.2": 0, "MPICH Version:      4.3.2": 0, "MPICH Version:      5.1.0a1": 1} {
		text := strings.Replace(head, "Open MPI v4.1.4", version, 1) + "time\tbcast\tbinomial\t2\t1024\t1.5\n"
		check.Equal(t, len(must.Get(m.Read(fstest.MapFS{"results/x.tsv": {Data: []byte(text)}}, must.Get(mpi.Tunable("mpich4")))).LeftOut), left, "%s", version)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(pass(1))
	f.Add(head + "time\tbcast\town\t2\t10")
	f.Add("head\t2\t1\n\ntime\t\t\t\t\t\n")
	library := openMPI(f)
	f.Fuzz(func(t *testing.T, text string) {
		m := small()
		r, err := m.Read(fstest.MapFS{"results/x.tsv": {Data: []byte(text)}}, library)
		if err != nil {
			return
		}
		for _, pass := range r.Passes {
			for at, us := range pass {
				check.Need(t, at[0] < len(m.Cells) && at[1] >= 0 && at[1] < len(m.Cells[at[0]].Options)+len(m.Components) && us > 0, "%v takes %v", at, us)
			}
		}
		Rules(m.Conclude(r, nil), library, func(int) int { return 1 })
	})
}

func FuzzReadManifest(f *testing.F) {
	f.Add(string(must.Get(json.Marshal(small()))))
	f.Add(`{"format":"taulop plan","version":1,"cells":[{"collective":"bcast","P":2,"m":1,"options":[{"setting":{"id":1}}],"timed":[4]}]}`)
	library := openMPI(f)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadManifest(strings.NewReader(text), Name)
		if err != nil || len(m.Cells) > 100 {
			return
		}
		m.Launches(library)
		r, err := m.Read(fstest.MapFS{"results/x.tsv": {Data: []byte(pass(1))}}, library)
		if err != nil {
			return
		}
		Rules(m.Conclude(r, nil), library, func(int) int { return 1 })
	})
}

// cells are cells of one collective. Times of options are multiples of the least, the own choice first.
func cells(ps, ms []int, times ...float64) (all []Cell) {
	for _, p := range ps {
		for _, m := range ms {
			c := Cell{Collective: "bcast", P: p, Bytes: m}
			for i, of := range times {
				s := mpi.Setting{ID: i, Name: string(rune('a' + i))}
				if i == 0 {
					s = mpi.Setting{}
				}
				c.Options = append(c.Options, Option{s, of * 1e-6 * float64(m)})
			}
			all = append(all, c)
		}
	}
	return all
}

func cost(_ *Cell, o Option) float64 { return o.Seconds + 20e-6 }

func TestPick(t *testing.T) {
	ms, by := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, Picker{Most: 2, Cost: cost}
	far := by.Pick(cells([]int{8}, ms, 1, 9, 9))
	check.True(t, far.Seconds == 0 && far.Expected <= 0.01, "what is certain is timed: %+v", far)
	of := cells([]int{8}, ms, 1.1, 1, 1.05, 1.2, 1.3)
	near, timed := by.Pick(of), 0
	for cell, options := range near.Timed {
		if len(options) > 0 {
			timed++
		}
		check.True(t, len(options) <= 3 && (len(options) == 0 || options[0] == 0) && len(options) != 1, "cell %d: %v are timed", cell, options)
	}
	none := (Picker{Cost: cost}).Pick(of)
	check.True(t, timed != 0 && near.Expected < none.Expected, "%d cells timed, %v expected after %v", timed, near.Expected, none.Expected)
	check.Equal(t, (Picker{Most: 9, Cost: cost}).Pick(cells([]int{8}, ms, 1, 1.05)).Expected, 0, "expected where all is timed")
	by.Budget = near.Seconds / 3
	less := by.Pick(of)
	check.True(t, less.Seconds <= by.Budget && less.Seconds > 0 && less.Expected > near.Expected,
		"of %v s %v are spent, %v expected", by.Budget, less.Seconds, less.Expected)
}

// A neighbour's timing corrects predictions.
func TestDecide(t *testing.T) {
	of := cells([]int{8}, []int{1024, 2048, 4096}, 1, 1.2, 1.1)
	times := Times{{{Seconds: 1e-3}, {Seconds: 0.5e-3}, {Seconds: 2e-3}}, make([]Time, 3), make([]Time, 3)}
	for cell, d := range Decide(of, times) {
		check.True(t, d.Option == 1 && (d.Error == 0) == (cell == 0) && d.Error <= 0.2, "cell %d: %+v", cell, d)
	}
	d := Decide(of, times)[0]
	check.True(t, math.Abs(d.Ratio-math.Log(2)) <= 1e-12 && d.Error == 0, "%+v", d)
	times[0] = []Time{{Seconds: 1e-3}, {}, {}}
	for cell, d := range Decide(of, times) {
		check.Equal(t, d.Option, 0, "option of cell %d without a time", cell)
	}
}
