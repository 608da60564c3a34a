package report

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// The summary of a file has the late batches and the clock.
func TestReach(t *testing.T) {
	f := &params.File{Launches: []params.Launch{
		{MHz: map[int]float64{0: 1, 1: 3400, 8: 2900}, Begun: params.Begun{Batches: 100, Late: 2}},
		{MHz: map[int]float64{1: 3600, 8: 3100}, Begun: params.Begun{Batches: 100}},
	}}
	for _, tt := range []struct {
		change func()
		want   []string
	}{
		{func() {}, []string{"2 of 200 batches were measured again, because a worker began late\n",
			"the clock of a worker's CPU was 3500 MHz at τ = 1, 3000 MHz at τ = 8: A(τ) has that in it, unless idle cores are kept busy\n"}},
		{func() { f.Provenance.Fill(true) }, []string{"3000 MHz at τ = 8\n"}},
		{func() { f.Launches[0].Begun.Forced = 2 }, []string{"in 2 of 200 batches a worker began late: 2 count nonetheless"}},
	} {
		tt.change()
		b := reach(f)
		contains.All(t, b, tt.want...)
	}
	b := reach(&params.File{})
	if strings.Contains(b, "clock") || strings.Contains(b, "late") {
		t.Errorf("of a file that says nothing of it:\n%s", b)
	}
}

// reach is the summary of a file.
func reach(f *params.File) string {
	var d document.Document
	sayReach(&d, f)
	var b strings.Builder
	d.WriteText(&b)
	return b.String()
}

// The plain command compares workers' times, and says that all CPUs have a worker.
func TestSeriesWorkers(t *testing.T) {
	s := fig18()
	s.Workers.Messages, s.Workers.Copies = &params.Balance{Fastest: 0.991, Typical: 0.995}, &params.Balance{Fastest: 0.9, Typical: 0.97}
	s.Begun = params.Begun{Batches: 300, Late: 3}
	s.Provenance.Allowed = numa.SetOf(0, 1, 2, 3)
	s.Results.Remarks = s.remarks()
	var b strings.Builder
	s.Document().WriteText(&b)
	contains.All(t, b.String(),
		"Of the slowest worker's time the fastest one took 99.1 % with messages, 90.0 % with copies, the median of the others 99.5 % with messages, 97.0 % with copies. 3 of 300 batches were measured again, because a worker began late.\n",
		"All 4 allowed CPUs have a worker, so other processes delay one of them: compare with τ = 3.",
	)
}
