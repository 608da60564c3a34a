package verify

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// moving is an experiment on a machine of four cores whose host moves its CPUs. Messages and broadcasts
// take the times that τ-Lop predicts from the law, times the state's factor.
func moving(t *testing.T, r Request, states []surveytest.State, launches int) *Experiment {
	t.Helper()
	if !shm.Supported {
		t.Skip("measuring needs Linux")
	}
	r.Names, r.M, r.Caches, r.Time = []string{Message, "bcast:binomial"}, []int{1200, 24000}, []bool{false}, time.Hour
	law := surveytest.Simulated{Machine: numatest.EPYC(1, 1, 1, 4, 1), Latency: 100, PerByte: 0.125, Far: 1, Sigma: 0.2, Noise: 0.01}
	law.Cost = func(w setups.Work) float64 { return 100 } // messages alone
	e := must.Get(New(r, numatest.EPYC(1, 1, 1, 4, 1), provenance.Provenance{}))
	truth := planned(e)
	surveytest.Simulate(law, 7).Measure(t, truth, transfers.Survey, transfers.Request{Plan: truth.Plan})
	law.Cost, law.States, law.Between = predicted(truth), states, 100*time.Millisecond
	e.engine.Start, e.engine.Launches, e.engine.Seed = surveytest.Simulate(law, 8).Start(), launches, 1
	must.Do(e.Run(t.Context()))
	return e
}

// If the host moves the CPUs, predictions of each state agree with its times, and errors over all
// states are weighted by their shares. Another session's file predicts in the states that it has; a
// warning names the others.
func TestExperimentMoves(t *testing.T) {
	states := []surveytest.State{{Flag: 60, Times: 1, Lasts: 300 * time.Millisecond}, {Flag: 240, Times: 3, Lasts: 200 * time.Millisecond}}
	e := moving(t, Request{P: []int{2, 4}}, states, 60)
	doc, lacking := e.Collectives()
	if lacking != nil || len(doc.Rows) != 2*(2+2*2) || len(doc.States) != 2 {
		t.Fatalf("%d rows, %v, %v, %q", len(doc.Rows), lacking, doc.States, e.Warnings)
	}
	var times []float64 // of messages of 24000 bytes
	for _, r := range doc.Rows {
		full, made := found(r.Predicted, Full)
		if !made || math.Abs(full.Error) > 0.05 || !(r.State.NS > 0) || !r.Measured.Known() {
			t.Errorf("%s, P = %d, m = %d in %+v: measured %v, %+v", r.Name, r.P, r.Bytes, r.State, r.Measured, full)
		}
		if r.Name == Message && r.Bytes == 24000 {
			times = append(times, r.Measured.Center)
		}
	}
	check.True(t, len(times) == 2 && math.Abs(times[1]/times[0]-3) <= 0.1, "messages took %v, put in 1 and 3", times)
	over := 0
	for _, m := range doc.Means {
		for _, of := range m.Errors {
			if of.Model == Full && of.Mean > 0.05 {
				t.Errorf("%+v", m)
			}
		}
		if m.States == 2 {
			over++
		}
	}
	check.Equal(t, over, 2+3, "means over states") // message, bcast and all; bcast and all
	quiet := moving(t, Request{P: []int{2}}, nil, engine.LeastLaunches*2)
	if doc, lacking := quiet.Collectives(); lacking != nil || len(doc.Rows) != 4 || len(doc.States) > 0 || doc.Rows[0].State.NS > 0 {
		t.Errorf("a machine that stays as it is: %+v, %v", doc.Rows, lacking)
	}
	for _, tt := range []struct {
		file *params.File
		made []bool // by state
		says string
	}{
		{e.File, []bool{true, true}, ""},
		{quiet.File, []bool{true, false}, "nothing is predicted from monday.json for 2 ranks whose flag takes 2"},
		{&params.File{Plan: e.File.Plan}, []bool{false, false}, "it does not say what a flag took"},
	} {
		again := *e
		again.Request.Params, again.Source, again.Warnings = tt.file, "monday.json", nil
		if tt.file == quiet.File { // its flag takes 50 ns
			i := slices.IndexFunc(quiet.File.Watches, func(w params.Watch) bool { return len(w.CPUs) == 2 })
			if w := quiet.File.Watches[i]; len(w.States) != 1 || math.Abs(w.States[0].NS/50-1) > 0.05 {
				t.Fatalf("%+v", w)
			}
		}
		doc, lacking := again.Collectives()
		if lacking != nil {
			t.Fatal(lacking)
		}
		for _, r := range doc.Rows {
			if r.P > 2 {
				continue
			}
			far := 0
			if r.State.NS > 120 {
				far = 1
			}
			if p, made := found(r.Predicted, Session); made != tt.made[far] || made && math.Abs(p.Error) > 0.05 {
				t.Errorf("%s in %+v: %+v", r.Name, r.State, r.Predicted)
			}
		}
		if told := slices.ContainsFunc(again.Warnings, func(w string) bool { return strings.HasPrefix(w, "nothing is predicted") }); told != (tt.says != "") || !strings.Contains(strings.Join(again.Warnings, "\n"), tt.says) {
			t.Errorf("%q, want %q", again.Warnings, tt.says)
		}
	}
}
