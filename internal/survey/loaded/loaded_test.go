package loaded

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A chain visits every line before it repeats one, and a wrong link is detected.
func TestChain(t *testing.T) {
	const lines = 1024
	c := newChain(lines * lineBytes)
	p := c.passes()
	mem := make([]byte, p.Bytes+4096) // whole pages are laid
	p.Lay(mem[:p.Bytes/2], 0)
	p.Lay(mem[p.Bytes/2:], p.Bytes/2)
	seen, line := make(map[int32]bool), c.line
	for range lines {
		seen[line] = true
		line = c.next[line]
	}
	check.Equal(t, len(seen), lines, "lines that were visited")
	check.Equal(t, line, c.line, "line at the end")
	for _, times := range []int{1, 3, 17} {
		p.Pass(mem, times)
		check.NoError(t, p.Check(mem, times), "%d passes", times)
	}
	for i, line := range c.order { // backwards, a quarter of the lines reaches another one
		c.next[c.order[(i+1)%lines]] = line
	}
	p.Lay(mem, 0)
	p.Pass(mem, 1)
	check.Error(t, p.Check(mem, 1), "a chain that leads elsewhere is accepted")
}

func machine(cores int) *numa.Machine {
	return numatest.Shape{Packages: 1, Nodes: 1, L3s: 1, Cores: cores, Threads: 1, L3: 1 << 20, L2: 1 << 19, Memory: 1 << 34}.Machine()
}

func request(t *testing.T, m *numa.Machine, cpus []int, levels ...int) Request {
	r, _, err := NewRequest(m, cpus, levels, setups.ArenaCaches)
	must.Do(err)
	return r
}

// Warnings name the latencies that few cores cannot measure.
func TestCells(t *testing.T) {
	try := func(cores, n int, left ...string) { // n: cells; left: parts of the warnings
		t.Helper()
		m := machine(cores)
		r := request(t, m, nil, 0, 50, 100)
		cells, warnings, err := r.Cells(m)
		check.Need(t, err == nil && len(cells) == n && len(warnings) == len(left), "%d cores: %d cells, %v, %v", cores, len(cells), warnings, err)
		for i, want := range left {
			contains.All(t, warnings[i].Error(), want)
		}
		for _, c := range cells {
			l := c.Variant.(params.Load)
			check.True(t, c.Named(l.String()) == c.Key && slices.Contains(r.Levels, l.Level), "%+v is read as %v", l, c.Named(l.String()))
		}
	}
	try(1, 0, "latency of a pair", "latency of a read")
	try(2, 5, "latency of a pair")
	try(3, 10)
	try(128, 10)
	// A node without workers, such as one of CXL memory, does not bound the arenas.
	m := machine(2)
	m.Nodes = append(m.Nodes, numa.Node{ID: 1, MemoryBytes: 1 << 30, FreeBytes: 1 << 10})
	r := request(t, m, nil, Levels...)
	check.True(t, r.ChainBytes >= 1<<20, "with a full node: %+v", r)
	check.Error(t, must.Err2(NewRequest(machine(2), []int{0, 2}, Levels, setups.ArenaCaches)), "a CPU that does not exist is accepted")
	for _, v := range []string{"", "read", "read-", "read-101", "read--1", "read-05", "write-5", "rate-rate-read-5"} {
		_, ok := (params.Key{Kind: params.LoadedCell}.Named(v)).Variant.(params.Load)
		check.True(t, !ok, "%q is a variant", v)
	}
}

// invented is a file of 4 cores whose read latency doubles.
func invented() *params.File {
	f := &params.File{}
	add := func(v string, ns float64) {
		f.Cells = append(f.Cells, params.Cell{Key: params.Key{Kind: params.LoadedCell, Placement: numa.List, OffCache: true, Tau: 4, Bytes: lineBytes}.Named(v),
			Time: fit.Estimate{Center: ns, Lo: 0.99 * ns, Hi: 1.01 * ns, N: 6}})
	}
	add("rate-read-100", 2) // 32 GB/s
	add("rate-read-50", 4)
	add("rate-read-20", 1e7) // the injectors had no CPU
	add("read-20", 100)
	add("read-100", 210)
	add("read-50", 120)
	add("read-0", 100)
	add("pair-0", 50)
	add("pair-100", 60)
	add("rate-pair-100", 2.5)
	add("pair-50", 55) // what was injected is not known
	add("of-a-newer-version", 1)
	return f
}

func TestWrite(t *testing.T) {
	check.Golden(t, must.Text(func(w io.Writer) { view.WriteTables(w, Tables(invented())) }), "tables.txt")
	check.Empty(t, Tables(&params.File{}), "tables of nothing")
}

// The text claims no more than intervals allow.
func TestMeaning(t *testing.T) {
	at := func(level int, ns, lo, hi float64) point {
		p := point{curve: curve{what: params.LoadedPair}, level: level, latency: fit.Estimate{Center: ns, Lo: lo, Hi: hi, N: 9}}
		if level > 0 {
			p.GBs = fit.Estimate{Center: float64(level), Lo: float64(level), Hi: float64(level), N: 9}
		}
		return p
	}
	none, all := math.Inf(-1), math.Inf(1)
	try := func(points []point, want string) {
		t.Helper()
		got := meaning(points)
		check.True(t, strings.HasSuffix(got, want), "%q, want %q", got, want)
	}
	try([]point{at(0, 50, 49, 51), at(50, 55, 54, 56), at(99, 60, 58, 62)}, "1.20 times that at 99.0 GB/s, and below twice at every level.")
	try([]point{at(0, 50, 49, 51), at(50, 55, 54, 56), at(99, 160, 158, 162)}, "; twice that from 99.0 GB/s on.")
	try([]point{at(0, 50, 49, 51), at(50, 95, 54, 156), at(99, 160, 158, 162)}, "; twice that from 99.0 GB/s on, perhaps from 50.0.")
	try([]point{at(0, 430, 151, 709), at(50, 420, 151, 709), at(99, 430, 151, 709)}, "; whether it comes to twice that could not be told: intervals are too wide (±66 %).")
	try([]point{at(0, 50, 49, 51), at(99, 120, 90, 150)}, "could not be told: intervals are too wide (±25 %).")
	try([]point{at(0, 50, none, all), at(99, 51, none, all)}, "could not be told: there are too few launches for intervals.")
	try([]point{at(0, 50, 49, 51)}, "Idle latency 50 ns [49, 51].")
	try([]point{at(50, 55, 54, 56)}, "Latency 55 ns [54, 56] while the others inject 50.0 GB/s [50.0, 50.0].")
}

// A pair that the host moves has a table for each state, and a read has one table.
func TestMoving(t *testing.T) {
	m := numatest.EPYC(1, 1, 1, 4, 1)
	s := surveytest.Simulate(surveytest.Simulated{Machine: m, Latency: 60, Far: 1, PerByte: 0.05, Noise: 0.02, Between: 300 * time.Millisecond,
		States: []surveytest.State{{Flag: 60, Times: 1, Lasts: 300 * time.Millisecond}, {Flag: 240, Times: 4, Lasts: 200 * time.Millisecond}},
		Cost:   func(setups.Work) float64 { return 100 }}, 3)
	f, r := &params.File{Format: params.Format, Version: params.Version}, request(t, m, nil, 0)
	r.ChainBytes = 1 << 16 // which is laid out in each launch
	x := &engine.Experiment{File: f, Time: time.Hour, Launches: 100, Start: s.Start(), Seed: 1}
	must.Get(survey.Add(x, Survey, r, m))
	must.Do(x.Run(t.Context()))
	contains.All(t, must.Text(func(w io.Writer) { view.WriteTables(w, Tables(f)) }), "4 cores read memory\n", "4 cores read memory; flag ", "4 cores read memory; flag 2", "% of the time\n")
	check.Equal(t, len(Tables(f)), 3, "tables")
}

// Curves begin at a bandwidth of 0.
func TestProfiles(t *testing.T) {
	var got []string
	for _, p := range survey.Profiles(invented()) {
		s := p.Line + " " + p.Panel
		for _, q := range p.Points {
			s += fmt.Sprintf(" %d:%.0f", q.X, q.Y.Center)
		}
		got = append(got, s)
		check.Equal(t, p.Over, view.Bandwidth, "%s is over", p.Line)
	}
	check.Slices(t, got, []string{"read 4 cores 0:100 16000:120 32000:210", "pair 4 cores 0:50 25600:60"}, "got")
}

// Measured latencies have intervals and a table.
func TestSurvey(t *testing.T) {
	m := surveytest.Machine(t, 2)
	cpus := m.CoreCPUs()
	if len(cpus) < 2 {
		cpus = m.Allowed
	}
	r := request(t, m, cpus[:min(3, len(cpus))], 0, 50, 100)
	r.ChainBytes, r.ArenaBytes = 4<<20, 4<<20 // not to take long
	f := surveytest.Run(t, m, Survey, r)
	check.Equal(t, len(f.Cells), 5*(len(r.CPUs)-1), "cells")
	view.WriteTables(io.Discard, Tables(f))
}
