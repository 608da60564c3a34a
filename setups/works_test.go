package setups

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/reduce"
)

// Every pass is counted and checked, warm-up passes included, in fresh memory, in kept memory and in an arena.
func TestPassesAreCounted(t *testing.T) {
	team := team(t, 1)
	check.Equal(t, team.HugeShareOfReads(), 1, "share of huge pages in no memory")
	kept := keptArray
	defer func() { keptArray = kept }()
	try := func(name string, kept, arena, least int) { // least: of an array, at least
		t.Helper()
		keptArray = kept
		var fewest int
		p := Passes{Bytes: 1 << 10, ArenaBytes: arena, Laid: name,
			Lay: func(mem []byte, _ int) { clear(mem) },
			Pass: func(array []byte, times int) float64 {
				for range times {
					for i := range array {
						array[i]++
					}
				}
				return 0
			},
			Check: func(array []byte, passes int) error {
				for i, got := range array {
					if int(got) != passes {
						return fmt.Errorf("byte %d was passed over %d times, and %d were counted", i, got, passes)
					}
				}
				clear(array)
				fewest = min(fewest, passes)
				return nil
			}}
		for range 3 {
			fewest = 1 << 30
			times, err := p.repeat(context.Background(), team, 4, 2)
			check.Need(t, err == nil && len(times) >= 1, "%s: %v, %v", name, times, err)
			check.AtLeast(t, fewest, least, "%s: passes over an array", name)
		}
		check.Equal(t, team.memory.kept[key{of: arrayOfPasses}] != nil, (name != "fresh"), "%s: an arena stays", name)
	}
	try("fresh", 1<<20, 0, warmPasses)
	try("kept", 1<<10, 0, 3*4)
	try("arena", 1<<20, 4<<10, 3)
	check.Equal(t, team.HugeShareOfReads(), 0, "share of huge pages among small ones")
}

// Round trips wait for the delay between messages, and messages of every size arrive.
func TestRoundTrips(t *testing.T) {
	team := team(t, 3)
	for _, m := range []int{0, 1, 1000, 5000} {
		rt := RoundTrip{N: 5, Bytes: m, Segments: 2, SegmentBytes: 1024, Runs: 3}
		for _, rt.ArenaBytes = range []int{0, 1 << 16} {
			times := must.Get(team.roundTrips(context.Background(), rt))
			check.True(t, len(times) == 3 && times[0] > 0, "m = %d, an arena of %d: %v", m, rt.ArenaBytes, times)
		}
		rt.Delay = time.Millisecond
		times := must.Get(team.roundTrips(context.Background(), rt)) // what delays took longer than 4 ms is taken off, and no more
		check.AtLeast(t, slices.Min(times), 4e6, "m = %d: ns of 5 messages with 1 ms between them", m)
		rt.Receiver = true
		times = must.Get(team.roundTrips(context.Background(), rt))
		check.Need(t, len(times) == 3, "receiver, m = %d: %v", m, times)
		check.True(t, m > rt.SegmentBytes || slices.Min(times) <= float64(rt.Delay)/2, "m = %d: messages that are there took their receiver %v ns", m, times) // no wait
	}
	check.Error(t, must.Err((&Team{workers: team.workers[:1]}).roundTrips(context.Background(), RoundTrip{N: 1, Runs: 1})), "one worker made a round trip")
}

// A work that a team cannot do is an error, whichever field is wrong or was left out.
func TestRefusedWorks(t *testing.T) {
	team := team(t, 2)
	good := Trial{Setup: Ring, Segments: 2, SegmentBytes: 64, K: 3, Bytes: 150}
	for name, spoil := range map[string]func(*Trial){
		"no setup":             func(tr *Trial) { tr.Setup = Setup{} },
		"three workers of two": func(tr *Trial) { tr.Tau = 3 },
		"less than no worker":  func(tr *Trial) { tr.Tau = -1 },
		"half a couple":        func(tr *Trial) { tr.Setup, tr.Tau = Ping, 1 },
		"no buffer":            func(tr *Trial) { tr.Segments = 0 },
		"no segments":          func(tr *Trial) { tr.K = 0 },
		"bytes left out":       func(tr *Trial) { tr.Bytes = 0 },
		"S left out":           func(tr *Trial) { tr.SegmentBytes = 0 },
		"too many bytes":       func(tr *Trial) { tr.Bytes = 200 },
		"an empty segment":     func(tr *Trial) { tr.Bytes = 128 },
		"negative":             func(tr *Trial) { tr.Bytes, tr.K = -1, 1 },
	} {
		tr := good
		spoil(&tr)
		_, err := team.Sample(context.Background(), tr, 0)
		check.True(t, err != nil && !strings.Contains(err.Error(), "\n"), "%s: %v", name, err)
	}
	for _, rt := range []RoundTrip{{}, {N: 1, Bytes: 8, Segments: 2, SegmentBytes: 64}, {N: 1, Runs: 1, Bytes: 8}, {N: 1, Runs: 1, Segments: 2, SegmentBytes: 64, Bytes: -1}} {
		check.Error(t, must.Err(team.roundTrips(context.Background(), rt)), "%+v ran", rt)
	}
	check.NoError(t, must.Err(team.Sample(context.Background(), good, 0)), "after refused trials")
	check.Error(t, must.Err(NewTeam(numa.Placement{})), "no workers made a team")
}

// Every operator runs as a trial on any size of vector, its operand untouched.
func TestReducing(t *testing.T) {
	team := team(t, 2)
	for _, o := range reduce.Operators {
		for _, m := range []int{4, 64, 5000} {
			m = max(m, o.Element)
			tr := Trial{Setup: Reducing(o), Segments: 1, SegmentBytes: m, K: 1, Bytes: m}
			check.NoError(t, must.Err(tr.repeat(context.Background(), team, 3, 1)), "%s on %d bytes", o.Name, m)
		}
	}
}

func TestIsolatedNeverOverlaps(t *testing.T) {
	team := team(t, 2)
	run := must.Get(team.prepare(Trial{Setup: Isolated, Segments: 8, SegmentBytes: 1024, K: 3, Bytes: 3000}, 5, 1))
	defer run.unmap()
	check.Equal(t, run.Segments, 1, "segments of isolated, whose sender could be ahead of its receiver")
	check.NoError(t, team.run(context.Background(), run), "run")
	check.Equal(t, Isolated.Workers(1), 2, "workers of isolated")
	check.Equal(t, Ring.Workers(3), 3, "workers of ring")
}

// A chain of n steps has the result of n dependent steps.
func TestChain(t *testing.T) {
	for _, n := range []int{16, 2000, stepsOfChain} {
		want := 1
		for i := range n {
			if i%2 == 0 {
				want += 3
			} else {
				want ^= n
			}
		}
		check.Equal(t, chain(n, 1, 3), want, "%d steps", n)
	}
}

// One more iteration changes the result: the compiler has removed none.
func TestSums(t *testing.T) {
	for n := range 20 {
		check.True(t, sums(n+1) != sums(n), "%d and %d iterations come to the same", n, n+1)
	}
}

// Runs that are timed one by one count by means, of which an interruption changes one.
func TestThirds(t *testing.T) {
	failed := errors.New("failed")
	for _, tt := range []struct{ runs, want []float64 }{
		{[]float64{1, 2, 3, 4, 5, 9, 7, 8, 900}, []float64{2, 6, 305}}, {[]float64{1, 2, 3, 4}, []float64{1, 2, 3.5}}, {[]float64{5, 7}, []float64{5, 7}}, {nil, nil},
	} {
		got, err := thirds(tt.runs, failed)
		check.True(t, slices.Equal(got, tt.want) && err == failed, "%v: %v, %v; want %v", tt.runs, got, err, tt.want)
	}
}
