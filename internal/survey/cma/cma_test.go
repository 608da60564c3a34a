package cma

import (
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// The test binary starts itself as workers.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == setups.WorkerCommand {
		os.Exit(setups.ServeWorker())
	}
	os.Exit(m.Run())
}

// All cells of a plan are measured: both setups of two ranks, and all states of buffers in cache and
// off cache. They give tables for predictions.
func TestSweep(t *testing.T) {
	m := numatest.EPYC(1, 1, 1, 4, 1)
	p := params.Plan{Policies: []numa.Policy{numa.Local}, Sizes: []int{1, 1024, 1536, 8192}, Taus: []int{1, 2}, Caches: []bool{false, true}}
	r := NewRequest(m, p)
	check.Slices(t, r.Sizes, []int{1024, 8192}, "sizes")
	r.Refused, r.ArenaBytes = "", 1<<20
	f := &params.File{Format: params.Format, Version: params.Version}
	surveytest.Simulate(surveytest.Simulated{Machine: m, Cost: func(w setups.Work) float64 { return 100 + float64(w.(setups.Collective).Schedule.Call.M) }}, 1).Measure(t, f, Survey, r)
	for _, b := range []params.Buffers{params.Rewritten, params.Unchanged, params.Copied} {
		for _, setup := range []string{params.Ping, params.Sendrecv} {
			for _, off := range p.Caches {
				of := params.Selection{Setup: setup, Placement: numa.Local, OffCache: off, Transport: params.CMA, Buffers: b}
				table, err := f.Table(of)
				check.True(t, err == nil && slices.Equal(table.Transfers.Sizes, r.Sizes) && table.Transfers.Taus[0] == 1,
					"%v, %s, off cache %v: %+v, %v", b, setup, off, table, err)
				check.NoError(t, must.Err(f.Y(of)), "Y")
			}
		}
	}
}

// Processes measure a message in cache and off cache.
func TestMeasures(t *testing.T) {
	m := surveytest.Machine(t, 2)
	r := NewRequest(m, params.Plan{Policies: []numa.Policy{numa.Local}, Sizes: []int{1024}, Taus: []int{1}, Caches: []bool{false, true}})
	skip.If(t, r.Refused != "", "%s", r.Refused)
	r.ArenaBytes = 1 << 20
	cells := surveytest.Run(t, m, Survey, r).Cells
	check.True(t, len(cells) != 0, "no cells")
	for _, c := range cells {
		check.True(t, c.Time.Center >= 0, "%v: %v", c.Key, c.Time)
	}
}

// Cells need a CPU for each rank. If the kernel forbids single copies, there is a warning instead.
func TestCells(t *testing.T) {
	m := surveytest.Machine(t, 1)
	r := Request{Policies: []numa.Policy{numa.Local}, Sizes: []int{1024}, Taus: []int{1, m.Allowed.Len(), m.Allowed.Len() + 1}, Caches: []bool{false}}
	cells, warnings, err := r.Cells(m)
	for _, c := range cells {
		check.AtMost(t, kinds[index(c.Setup)].ranks(c.Tau), m.Allowed.Len(), "CPUs of %v", c.Key)
	}
	check.True(t, err == nil && len(warnings) == 0, "%v, %v", warnings, err)
	r.Refused = "the kernel forbids it"
	cells, warnings, err = r.Cells(m)
	check.Need(t, err == nil && len(cells) == 0 && len(warnings) == 1, "%d cells, %v, %v", len(cells), warnings, err)
	contains.All(t, warnings[0].Error(), "(cma) are not measured: the kernel forbids it")
}

// The command refuses what the CPUs or the memory cannot hold before it starts a process.
func TestRefuses(t *testing.T) {
	m := surveytest.Machine(t, 1)
	for _, tt := range []struct{ flag, value, want string }{
		{"tau", "1,9999", "-tau 9999 is more than"},
		{"m", "1K,9223372036854775807", "messages of 9223372036854775807 bytes among "},
	} {
		f := flag.NewFlagSet("cma", flag.ContinueOnError)
		task := flags(f)
		must.Do(f.Set(tt.flag, tt.value))
		contains.Error(t, must.Err(task(m)), tt.want)
	}
}

// Tables have a row for each size, a column for each state and τ, and the ratio of readers of one process to pairs.
func TestTables(t *testing.T) {
	f := &params.File{Plan: params.Plan{Policies: []numa.Policy{numa.Local}}}
	add := func(setup string, tau, m int, off bool, b params.Buffers, ns float64) {
		k := params.Key{Kind: params.TransferCell, Setup: setup, Placement: numa.Local, OffCache: off, Tau: tau, Bytes: m, Transport: params.CMA, Buffers: b}
		if m == 0 {
			k.Kind = params.NullCell
		}
		f.Cells = append(f.Cells, params.Cell{Key: k, Time: fit.Estimate{Center: ns, Lo: ns - 1, Hi: ns + 1, N: 6}})
	}
	for tau := 1; tau <= 4; tau++ {
		add(params.Ping, tau, 1024, false, params.Rewritten, 1000+float64(tau))
	}
	add(params.Ping, 1, 65536, false, params.Unchanged, 5000)
	add(params.Ping, 1, 65536, true, params.Rewritten, 9000)
	add(params.Ping, 1, 65536, true, params.Copied, 16000)
	add(params.Ping, 1, 0, false, params.Rewritten, 110)
	add(params.Bcast, 2, 1024, false, params.Rewritten, 2004)
	check.Golden(t, strings.TrimSpace(must.Text(func(w io.Writer) { view.WriteTables(w, Tables(f)) }))+"\n", "tables.txt")
}
