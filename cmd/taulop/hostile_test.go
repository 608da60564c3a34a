package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// frugal runs a command, and fails if that allocates too much memory.
func frugal(t *testing.T, line ...string) (out string, err error) {
	t.Helper()
	const most = 256 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, _, err = run(t, line...)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > most {
		t.Errorf("%s allocated %d MB", strings.Join(line, " "), used>>20)
	}
	return out, err
}

// A plan that no sweep can carry out is an error, before memory is allocated, and the file stays
// unchanged.
func TestHostilePlans(t *testing.T) {
	needLinux(t)
	for _, tt := range []struct {
		change func(*params.Plan)
		want   string
	}{
		{func(p *params.Plan) { p.SegmentBytes = 0 }, "segments of 0 bytes"},
		{func(p *params.Plan) { p.Segments = 0 }, "0 segments"},
		{func(p *params.Plan) { p.SegmentBytes = 1 << 50 }, "memory"},
		{func(p *params.Plan) { p.Segments = 1 << 50 }, "memory"},
		{func(p *params.Plan) { p.Taus = []int{100_000_000} }, "τ = 100000000"},
		{func(p *params.Plan) { p.Taus = []int{1 << 30} }, "τ = 1073741824"},
		{func(p *params.Plan) { p.Taus, p.Sizes = upTo(1<<13), upTo(1<<16) }, "more than 1048576 cells"},
		{func(p *params.Plan) { p.Sizes = []int{1 << 50} }, "memory"},
		{func(p *params.Plan) { p.ArenaCaches, p.Caches = 512, []bool{true} }, "512 times what caches hold"},
		{func(p *params.Plan) { p.Caches = nil }, "states of the cache"},
		{func(p *params.Plan) { p.Policies = []numa.Policy{numa.List} }, "no CPU"},
		{func(p *params.Plan) { p.Policies, p.CPUs = []numa.Policy{numa.List}, []int{1 << 30} }, "does not exist"},
		{func(p *params.Plan) { p.Policies = []numa.Policy{params.Published} }, "there is no placement"},
	} {
		file := resumable(t, tt.change)
		before := load(t, file)
		_, err := frugal(t, "sweep", "-quiet", "-resume", file)
		if exitStatus(err) != 2 || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v; want a sentence with %q", err, tt.want)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != before {
			t.Errorf("%q: the file has changed, %v", tt.want, err)
		}
	}
}

// resumable is a file of a sweep on this machine with a changed plan and no cells.
func resumable(t testing.TB, change func(*params.Plan)) string {
	t.Helper()
	m, err := numa.Discover("/")
	if err != nil {
		t.Skip(err)
	}
	place, err := m.Place(numa.Local, 1)
	if err != nil {
		t.Skip(err)
	}
	f := &params.File{Provenance: provenance.Read("/", m), Placements: []numa.Placement{place},
		Plan: params.Plan{Setups: []string{"ring"}, Policies: []numa.Policy{numa.Local}, Taus: []int{1}, Sizes: []int{64}, Segments: 2,
			SegmentBytes: 64, Caches: []bool{false}, NoGamma: true, Budget: 0.01, Width: 0.5}}
	change(&f.Plan)
	file := filepath.Join(t.TempDir(), "host.json")
	saveParams(t, f, file)
	return file
}

func upTo(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i+1)
	}
	return numbers
}
