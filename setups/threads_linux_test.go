package setups

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
)

// A core without a worker is busy from a team's first sample until another team's first.
func TestFill(t *testing.T) {
	place := place(t, 2)
	skip.If(t, place.Oversubscribed, "needs 2 CPUs")
	cores := lists.Map(place.Workers, func(w numa.Worker) numa.CPUSet { return numa.SetOf(w.ID) })
	check.Error(t, must.Err(NewFill([]numa.CPUSet{{1 << 15}})), "a core that is not there is filled")
	fill := must.Get(NewFill(cores))
	on := func() int {
		return len(lists.Filter(lists.Indices(len(fill.spinners)), func(i int) bool { return fill.spinners[i].on.Load() }))
	}
	one := place
	one.Workers = place.Workers[:1]
	for _, tt := range []struct {
		place numa.Placement
		want  int
	}{{place, 0}, {one, 1}, {one, 1}, {place, 0}} {
		team := must.Get(NewTeam(tt.place))
		team.Fill = fill
		check.NoError(t, must.Err(team.Sample(context.Background(), Trial{Setup: Bare, Segments: 1, SegmentBytes: 64, K: 1, Bytes: 64}, 0)), "Sample")
		check.True(t, on() == tt.want && (tt.want != 1 || fill.spinners[1].on.Load()),
			"%d cores are busy beside %d workers, want %d", on(), len(tt.place.Workers), tt.want)
		team.Close()
	}
	fill.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		before := spent(t)
		time.Sleep(50 * time.Millisecond)
		if spent(t)-before <= 1 {
			break
		}
		check.Need(t, !time.Now().After(deadline), "it goes on after its end")
	}
}

// spent is the CPU time of this process, in ticks of 10 ms.
func spent(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/stat")
	skip.Error(t, err)
	_, rest, _ := strings.Cut(string(text), ") ")
	return lists.Sum(strings.Fields(rest)[11:13], func(field string) int { return must.Get(strconv.Atoi(field)) })
}

// A worker that is moved to another CPU in the middle of a run ends the run with an error.
func TestMovedWorkerEndsTheRun(t *testing.T) {
	team := team(t, 2)
	skip.If(t, team.Placement().Oversubscribed, "needs 2 CPUs")
	tr := Trial{Setup: Ring, Segments: 2, SegmentBytes: 64, K: 1, Bytes: 64}
	must.Get(tr.repeat(context.Background(), team, 10, 1))
	var both unix.CPUSet
	for _, w := range team.workers {
		both.Set(w.cpu)
	}
	must.Do(unix.SchedSetaffinity(team.workers[1].thread, &both))
	contains.Error(t, must.Err(tr.repeat(context.Background(), team, 10, 1)), "moved away from CPU")
}
