package verify

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/numatest"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// eight is a machine of eight cores.
func eight() *numa.Machine { return numatest.EPYC(1, 1, 1, 8, 1) }

// law is the machine's L(m,τ) in ns: a line in τ, and twice as much in messages of more than a segment.
func law(m, tau int) float64 {
	ns := (100 + float64(min(m, segmentBytes))/8) * (1 + 0.25*float64(tau-1))
	if m > segmentBytes {
		ns *= 2
	}
	return ns
}

// experiment is an experiment on the machine of eight cores. Its parameters are `slower` times the law,
// and its schedules take the times that τ-Lop predicts from the law at all τ.
func experiment(t *testing.T, r Request, slower float64) *Experiment {
	t.Helper()
	skip.If(t, !shm.Supported, "measuring needs Linux")
	r.Caches, r.Time = []bool{false}, time.Minute
	e := must.Get(New(r, eight(), provenance.Provenance{}))
	truth := planned(e)
	for _, k := range transfers.Keys(truth.Plan, 8) {
		measure(truth, engine.Cell{Cell: params.Cell{Key: k}}, 1)
	}
	cost := predicted(truth)
	e.File.Launches = make([]params.Launch, 12)
	for _, c := range e.engine.Cells {
		measure(e.File, c, slower)
	}
	for i, c := range e.File.Cells {
		if c.Kind == params.CollectiveCell {
			set(&e.File.Cells[i], cost(setups.Collective{Schedule: must.Get(e.schedules.caseOf(c.Key, 4)).Schedule}))
		}
	}
	return e
}

// planned is a sweep of the transfers in the cases, at all τ.
func planned(e *Experiment) *params.File {
	all := *e
	all.Tau, all.NoSweep, all.Request.Params = nil, false, nil
	return must.Get(all.plan())
}

// predicted are the times that τ-Lop predicts from a file, in ns.
func predicted(f *params.File) func(setups.Work) float64 {
	p := must.Get(model.NewPredictor(f, model.Choice{Operator: operator}))
	return func(w setups.Work) float64 { return 1e9 * must.Get(p.Cost(w.(setups.Collective).Schedule)).Seconds }
}

// measure adds a cell with times by the law; round trips are lines.
func measure(f *params.File, of engine.Cell, slower float64) {
	c := of.Cell
	c.Samples = lists.Map(lists.Indices(engine.LeastLaunches), func(i int) params.Sample { return params.Sample{Launch: int32(i + of.Set*engine.LeastLaunches)} })
	c.K, c.Transfers = 1, 1
	ns := 0.
	switch c.Kind {
	case params.TransferCell:
		ns = law(c.Bytes, c.Tau)
		if c.Bytes > segmentBytes {
			c.K = (c.Bytes-1)/segmentBytes + 1
			ns *= float64(c.K)
		}
	case params.ExchangeCell:
		ns = 2 * float64((c.Bytes-1)/segmentBytes+1) * law(c.Bytes, c.Tau)
	case params.CopyCell, params.OwnCell, params.GammaCell:
		ns = 50
	case params.PRTTCell:
		ns = float64(c.N)*(300+float64(c.Bytes)/8) + float64(c.Delay*(c.N-1))
	}
	set(&c, slower*ns)
	f.Cells = append(f.Cells, c)
}

func set(c *params.Cell, ns float64) {
	for i := range c.Samples {
		c.Samples[i].NS = ns
	}
	c.Time = fit.Median(c.Values())
}

// Parameters of τ ≤ 4 predict the times of eight ranks at sizes that no sweep has, because L is a line
// in τ. Strict τ-Lop misses that segments cost more in longer messages.
func TestExperimentHoldsOut(t *testing.T) {
	e := experiment(t, Request{Names: []string{Message, "allgather:ring", "allreduce:recursive-doubling", "barrier:dissemination"}, P: []int{4, 8}, M: Sizes}, 1)
	doc, lacking := e.Collectives()
	check.Need(t, lacking == nil && e.Short() == nil, "%v, %v", lacking, e.Short())
	check.True(t, slices.Equal(doc.Tau, []int{1, 2, 3, 4}) && slices.Equal(doc.HeldOut, []int{5, 6, 7, 8}) && doc.Launches == (Launches{Parameters: 6, Schedules: 6}),
		"τ = %v, held out %v, %+v", doc.Tau, doc.HeldOut, doc.Launches)
	for _, m := range e.File.Plan.Sizes {
		check.True(t, slices.Contains(transfers.Sizes, m) && !slices.Contains(Sizes, m), "the sweep has m = %d", m)
	}
	check.Equal(t, len(doc.Rows), len(Sizes)*(1+2*2)+2, "rows: messages, two algorithms among two P, barriers")
	for _, r := range doc.Rows {
		if r.Bytes == 0 {
			continue
		}
		full, made := found(r.Predicted, Full)
		beyond := r.P == 8 && r.Name != Message
		check.True(t, made && full.Extrapolated == beyond && math.Abs(full.Error) <= 0.02 && !r.OnGrid,
			"%s, P = %d, m = %d: %+v, on the grid: %v", r.Name, r.P, r.Bytes, full, r.OnGrid)
		strict, made := found(r.Predicted, Strict)
		want := r.Bytes > 2*segmentBytes && r.Name == "allgather:ring"
		check.True(t, made && (!want || math.Abs(strict.Error+0.5) <= 0.1), "%s, P = %d, m = %d: %+v", r.Name, r.P, r.Bytes, strict)
		check.Equal(t, len(r.Predicted), 4, "%s, P = %d, m = %d: predictions", r.Name, r.P, r.Bytes)
		lognp, _ := found(r.Predicted, "log_nP") // between measured messages
		check.True(t, r.Name != Message || math.Abs(lognp.Error) <= 0.2, "message, m = %d: %+v", r.Bytes, lognp)
	}
}

// Another session's file predicts beside the sweep, or alone; τ are held out of both.
func TestExperimentSessions(t *testing.T) {
	r := Request{Names: []string{"allgather:ring"}, P: []int{8}, M: []int{60000, 65536}}
	slow := experiment(t, r, 1.1).File
	r.Params, r.Source = slow, "monday.json"
	doc, lacking := experiment(t, r, 1).Collectives()
	check.Need(t, lacking == nil && doc.Session == "monday.json" && len(doc.Models) == 5 && strings.HasPrefix(doc.Models[2].Given, "monday.json: "),
		"%v, %+v", lacking, doc.Models)
	for i, row := range doc.Rows {
		session, _ := found(row.Predicted, Session)
		full, _ := found(row.Predicted, Full)
		check.True(t, math.Abs(full.Error) <= 0.01 && math.Abs(session.Error-0.1) <= 0.02 && session.Extrapolated,
			"full %+v, session %+v", full, session)
		check.Equal(t, row.OnGrid, (i == 1), "m = %d: on the grid", row.Bytes)
	}
	r.NoSweep, r.Tau = true, []int{1, 2}
	alone := experiment(t, r, 1)
	doc, lacking = alone.Collectives()
	check.Need(t, lacking == nil && doc.Session == "" && doc.Parameters == "monday.json" && len(doc.Models) == 4 && slices.Equal(doc.Tau, r.Tau) && doc.Launches.Parameters == 0,
		"%v, %+v", lacking, doc)
	for _, row := range doc.Rows {
		full, _ := found(row.Predicted, Full)
		check.True(t, math.Abs(full.Error-0.1) <= 0.02 && full.Extrapolated, "%+v", full)
	}
}

// Algorithms of a whole collective that do not exist for a P are left out with a warning; by name they are refused.
func TestExperimentLeavesOut(t *testing.T) {
	r := Request{P: []int{3, 4}, M: []int{4096}}
	must.Do(r.Name([]string{"allgather"}))
	e := experiment(t, r, 1)
	contains.All(t, "\n"+strings.Join(e.Warnings, "\n")+"\n",
		"\namong P = 3, allgather:recursive-doubling is left out: it needs a power of two of ranks\n",
		"\namong P = 3, allgather:neighbor-exchange is left out: it needs an even number of ranks\n",
		"\namong P = 4, allgather:two-proc is left out: it needs two ranks\n")
	must.Do(r.Name([]string{"allgather:two-proc"}))
	r.Caches = []bool{false}
	contains.Error(t, must.Err(New(r, eight(), provenance.Provenance{})), "allgather:two-proc needs two ranks, got P = 3")
}

// The requested degree and chunk reach the cases and the launches.
func TestExperimentChunks(t *testing.T) {
	e := experiment(t, Request{Names: []string{"bcast:chain", "allreduce:kary"}, P: []int{8}, M: []int{64 << 10}, Degree: 3, Chunk: 4 << 10}, 1)
	text := must.Get(json.Marshal(e.engine.Requests[Survey.Name]))
	var launched schedules
	must.Do(json.Unmarshal(text, &launched))
	check.Need(t, len(e.Cases) == 2, "%d cases", len(e.Cases))
	for _, c := range e.Cases {
		got := must.Get(launched.caseOf(c.Key(), 4))
		for _, call := range []collective.Call{c.Schedule.Call, got.Schedule.Call} {
			check.Equal(t, call.Degree, 3, "%s: degree", c.Name)
			check.Equal(t, call.Chunk, 4<<10, "%s: chunk", c.Name)
		}
	}
}

func TestExperimentLacks(t *testing.T) {
	r := Request{Names: []string{Message, "allgather:ring"}, P: []int{2}, M: []int{1200, 60000}}
	e := experiment(t, r, 1)
	e.File.Launches[0].Seconds = 30
	without := func(drop func(c params.Cell) bool) (*Result, error) {
		t.Helper()
		x := *e
		x.File = &params.File{}
		*x.File = *e.File
		x.File.Cells = slices.DeleteFunc(slices.Clone(e.File.Cells), drop)
		x.Runs.File = x.File
		engine := *e.engine
		engine.File = x.File
		x.engine, x.Warnings = &engine, nil
		doc, lacking := x.Collectives()
		contains.Error(t, x.Short(), "transfers", "would do")
		return doc, lacking
	}
	doc, lacking := without(func(c params.Cell) bool {
		return c.Kind == params.TransferCell && c.Setup == "sendrecv" && c.Bytes == 98304 && c.Tau == 2
	})
	check.Need(t, lacking == nil, "%v", lacking)
	for _, r := range doc.Rows {
		_, made := found(r.Predicted, Full)
		_, strict := found(r.Predicted, Strict)
		check.True(t, made == (r.Name == Message || r.Bytes == 1200) && strict, "%s of %d: %+v", r.Name, r.Bytes, r.Predicted)
	}
	doc, lacking = without(func(c params.Cell) bool { return c.Kind != params.CollectiveCell || c.VariantName() == messageAlone })
	check.True(t, lacking != nil && len(doc.Rows) == 4, "%d rows, %v", len(doc.Rows), lacking)
}

// If a file alone predicts patterns and lacks parameters, or has times of 0, more time would not help,
// and the error does not ask for it. One size gives no line.
func TestPatternsLackParameters(t *testing.T) {
	file := experiment(t, Request{Names: []string{"allgather:ring"}, P: []int{2}, M: []int{60000}}, 1).File
	zeros := *file
	zeros.Cells = lists.Map(file.Cells, func(c params.Cell) params.Cell { c.Time = fit.Estimate{}; return c })
	try := func(file *params.File, off bool, want string) {
		t.Helper()
		e := must.Get(New(Request{Patterns: true, Names: []string{Permutation}, P: []int{2}, M: []int{1024, 2048, 4096, 8192, 16384},
			Caches: []bool{off}, Time: time.Second, Params: file, Source: "host.json"}, eight(), provenance.Provenance{}))
		c := e.engine.Cells[0].Cell
		c.Samples = make([]params.Sample, engine.LeastLaunches)
		set(&c, 1000)
		e.File.Cells = []params.Cell{c}
		doc, lacking, _ := e.PatternResult()
		check.True(t, lacking != nil && strings.Contains(lacking.Error(), want) && e.Short() != nil && !e.OutOfTime() && len(doc.Rows) == 1,
			"%v, out of time: %v; want %q of 1 row, got %d", lacking, e.OutOfTime(), want, len(doc.Rows))
	}
	try(file, true, "τ-Lop has nothing off cache: host.json: ")
	try(&zeros, false, "are 0 or were not measured")
}

// The default sizes suit every collective, and no part of a call is at a measured size.
func TestSizes(t *testing.T) {
	r := Request{P: []int{2, 3, 4, 5, 6, 7, 8}, M: Sizes, Caches: []bool{false}}
	must.Do(r.Name(nil))
	e := &Experiment{Request: r, schedules: schedules{SegmentBytes: segmentBytes}}
	must.Do(e.collectiveCases())
	for _, m := range Sizes {
		for _, part := range []int{m, m / 2, m % segmentBytes, m / 2 % segmentBytes} {
			check.True(t, !slices.Contains(transfers.Sizes, part), "%d of %d is on the grid", part, m)
		}
	}
	grid := e.grid()
	check.True(t, slices.Contains(grid, segmentBytes) && grid[len(grid)-1] >= 2400000 && slices.IsSorted(grid), "%v", grid)
}

// found is a model's prediction, and whether there is one.
func found(ps []Prediction, name string) (p Prediction, made bool) {
	its := of(ps, name)
	return *cmp.Or(its, &p), its != nil
}

// moving is an experiment on a machine of four cores whose host moves its CPUs. Messages and broadcasts
// take the times that τ-Lop predicts from the law, times the state's factor.
func moving(t *testing.T, r Request, states []surveytest.State, launches int) *Experiment {
	t.Helper()
	skip.If(t, !shm.Supported, "measuring needs Linux")
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

// If the host moves the CPUs, predictions of each state agree with its times, and errors over all states are weighted
// by their shares. Another session's file predicts in the states that it has; a warning names the others.
func TestExperimentMoves(t *testing.T) {
	states := []surveytest.State{{Flag: 60, Times: 1, Lasts: 300 * time.Millisecond}, {Flag: 240, Times: 3, Lasts: 200 * time.Millisecond}}
	e := moving(t, Request{P: []int{2, 4}}, states, 60)
	doc, lacking := e.Collectives()
	check.Need(t, lacking == nil && len(doc.Rows) == 2*(2+2*2) && len(doc.States) == 2,
		"%d rows, %v, %v, %q", len(doc.Rows), lacking, doc.States, e.Warnings)
	var times []float64 // of messages of 24000 bytes
	for _, r := range doc.Rows {
		full, made := found(r.Predicted, Full)
		check.True(t, made && math.Abs(full.Error) <= 0.05 && r.State.NS > 0 && r.Measured.Known(),
			"%s, P = %d, m = %d in %+v: measured %v, %+v", r.Name, r.P, r.Bytes, r.State, r.Measured, full)
		if r.Name == Message && r.Bytes == 24000 {
			times = append(times, r.Measured.Center)
		}
	}
	check.True(t, len(times) == 2 && math.Abs(times[1]/times[0]-3) <= 0.1, "messages took %v, put in 1 and 3", times)
	over := 0
	for _, m := range doc.Means {
		for _, of := range m.Errors {
			check.True(t, of.Model != Full || of.Mean <= 0.05, "%+v", m)
		}
		if m.States == 2 {
			over++
		}
	}
	check.Equal(t, over, 2+3, "means over states") // message, bcast and all; bcast and all
	quiet := moving(t, Request{P: []int{2}}, nil, engine.LeastLaunches*2)
	doc, lacking = quiet.Collectives()
	check.True(t, lacking == nil && len(doc.Rows) == 4 && len(doc.States) == 0 && doc.Rows[0].State.NS == 0,
		"a machine that stays as it is: %+v, %v", doc.Rows, lacking)
	try := func(file *params.File, near, far bool, says string) { // near, far: whether it predicts in the state
		t.Helper()
		again := *e
		again.Request.Params, again.Source, again.Warnings = file, "monday.json", nil
		if file == quiet.File { // its flag takes 50 ns
			i := slices.IndexFunc(quiet.File.Watches, func(w params.Watch) bool { return len(w.CPUs) == 2 })
			w := quiet.File.Watches[i]
			check.Need(t, len(w.States) == 1 && math.Abs(w.States[0].NS/50-1) <= 0.05, "%+v", w)
		}
		doc, lacking := again.Collectives()
		check.Need(t, lacking == nil, "%v", lacking)
		for _, r := range doc.Rows {
			if r.P > 2 {
				continue
			}
			want := near
			if r.State.NS > 120 {
				want = far
			}
			p, made := found(r.Predicted, Session)
			check.True(t, made == want && (!made || math.Abs(p.Error) <= 0.05), "%s in %+v: %+v", r.Name, r.State, r.Predicted)
		}
		all := strings.Join(again.Warnings, "\n")
		check.True(t, strings.Contains("\n"+all, "\nnothing is predicted") == (says != "") && strings.Contains(all, says), "%q, want %q", all, says)
	}
	try(e.File, true, true, "")
	try(quiet.File, true, false, "nothing is predicted from monday.json for 2 ranks whose flag takes 2")
	try(&params.File{Plan: e.File.Plan}, false, false, "it does not say what a flag took")
}
