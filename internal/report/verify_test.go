package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// golden is a text in a file, in which … is what does not matter.
func golden(name string) string { return string(must.Get(os.ReadFile("testdata/" + name))) }

func jsonOf(d *document.Document) string { return must.Text(d.WriteJSON) }

// Each result has its text, and its JSON can be read again without loss.
func TestDocuments(t *testing.T) {
	try := func(d *document.Document, want string, rows int) { // rows: of values
		t.Helper()
		value, values := jsonOf(d), must.Text(d.WriteCSV)
		check.Equal(t, strings.Count(values, "\n"), 1+rows, "lines of %s", values)
		contains.All(t, textOf(d), strings.Split(want, "…\n")...)
		back := reflect.New(reflect.TypeOf(d.Value).Elem()).Interface()
		must.Do(json.Unmarshal([]byte(value), back))
		again := must.Text(func(w io.Writer) error { return view.WriteJSON(w, d.Kind, 1, d.Answer(), back) })
		check.Equal(t, again, value, "what is written again")
	}
	try(Verification(measuredCalls()), golden("verification.txt"), 4)
	try(againstDocument().Document(), againstText, 3)
	try(Patterns(measuredPatterns()), golden("patterns.txt"), 4)
}

func measuredCalls() *verify.Result {
	row := func(name string, off, forced, grid bool, ns float64, predicted ...float64) verify.Row {
		r := verify.Row{Name: name, P: 2, Bytes: 8192, OffCache: off, Forced: forced, OnGrid: grid, Measured: fit.Estimate{Center: ns, Lo: 0.98 * ns, Hi: 1.03 * ns, N: 9}}
		for i, p := range predicted {
			if p > 0 {
				r.Predicted = append(r.Predicted, verify.Prediction{Model: verify.Models[i], Ns: p, Error: (p - ns) / ns, Extrapolated: p == 4000})
			}
		}
		return r
	}
	v := &verify.Result{
		Setting: verify.Setting{Provenance: provenance.Provenance{Taulop: "v1", Hostname: "host"}, Parameters: "swept here", Session: "host.json",
			Tau: []int{1, 2}, HeldOut: []int{3, 4}, Launches: verify.Launches{Parameters: 9, Schedules: 8}, Segments: 2, SegmentBytes: 8192, Rounds: 9},
		LogGP: []verify.LogGP{{Latency: -9e-8, Overhead: 1.5e-7, Gap: 2e-7, GapPerByte: 1e-10}},
		Rows: []verify.Row{
			row("message", false, false, false, 1600, 1520, 1680, 1710, 1680, 1200),
			row("message", false, false, true, 3200, 3040, 3360, 3360, 0, 4000),
			row("allgather:ring", false, false, false, 2000, 1800, 1900, 1900, 1600, 4000),
			row("message", true, true, false, 10000, 9000, 9900, 0, 11000, 8000),
		},
	}
	v.Models = lists.Map(verify.Models, func(name string) verify.Model { return verify.Model{Name: name, Given: "what " + name + " takes"} })
	v.Rows[1].Bytes = 16384
	v.Means = verify.Means(v.Rows)
	return v
}

// Each state of the machine has its tables, and errors over all states are weighted by shares.
func TestVerificationOfStates(t *testing.T) {
	near, far := params.State{NS: 60, Share: 0.55, Lasts: 0.3}, params.State{NS: 240, Above: 120, Share: 0.4}
	v := measuredCalls()
	v.States = []verify.RankStates{{P: 2, States: []params.State{near, far, {NS: 900, Above: 500, Share: 0.05}}}, {P: 4, States: []params.State{}}}
	v.Rows, v.LogGP[0].State = v.Rows[:2], far
	v.Rows[0].State, v.Rows[1].State, v.Rows[1].Bytes = near, far, v.Rows[0].Bytes
	v.Means = verify.Means(v.Rows)
	check.Golden(t, textOf(Verification(v)), "verification-states.txt")
	check.Equal(t, strings.Count(jsonOf(Verification(v)), `"share": 0.55`), 4, "shares") // states, row, means
	check.Equal(t, must.Get(ReadVerification(strings.NewReader(jsonOf(Verification(v))), "v.json")).Rows[1].State, far, "ReadVerification")
	contains.All(t, must.Text(Verification(v).WriteCSV), ",state_ns,state_share,state_slowed\n", ",60,0.55,false\n")
}

// Algorithms at one size are rows of one table.
func TestVerificationOfOneSize(t *testing.T) {
	v := measuredCalls()
	v.Rows = append(v.Rows[:1], v.Rows[2:]...)
	got := textOf(Verification(v))
	contains.All(t, got, "\nP = 2, user data in cache; errors in %", "message            8K      1.60   [1.57, 1.65]      1.680", "allgather:ring     8K      2.00   [1.96, 2.06]      1.900", "\nmessage, P = 2, user data off cache")
	contains.None(t, got, "message, P = 2, user data in cache", "allgather:ring, P")
}

// Where another algorithm than the predicted one is the fastest for certain, a line says so; not where intervals meet.
func TestMisses(t *testing.T) {
	v := &verify.Result{}
	add := func(name string, bytes int, measured, predicted float64) {
		v.Rows = append(v.Rows, verify.Row{Name: name, P: 4, Bytes: bytes, Measured: fit.Estimate{Center: measured, Lo: 0.95 * measured, Hi: 1.05 * measured, N: 9},
			Predicted: []verify.Prediction{{Model: verify.Full, Ns: predicted}}})
	}
	for _, name := range []string{"bcast:linear", "bcast:chain", "bcast:kary"} { // the second is predicted, the first is faster
		at := strings.Index("lck", name[6:7])
		add(name, 64, []float64{1000, 1300, 1400}[at], []float64{1100, 1000, 1200}[at])
		add(name, 1024, []float64{2000, 2500, 2000}[at], []float64{2100, 2000, 2000}[at])  // kary is as cheap, and fast
		add(name, 4096, []float64{4000, 6000, 7000}[at], []float64{4100, 4000, 6000}[at])  // 50 %
		add(name, 16384, []float64{8000, 8500, 9000}[at], []float64{8100, 8000, 9000}[at]) // intervals meet
	}
	add("message", 64, 100, 100)
	d := textOf(Verification(v))
	contains.All(t, d, "bcast:chain, predicted as the cheapest, takes up to 50 % longer than bcast:linear: P = 4, in cache, m = 64, 4K\n")
	check.Equal(t, strings.Count(d, "predicted as the cheapest"), 1, "lines in %s", d)
}

// A stopped run has times without predictions, which readers leave out.
func TestUnpredicted(t *testing.T) {
	v := measuredCalls()
	v.Rows[2].Predicted = []verify.Prediction{}
	v.Rows[0].Measured = fit.Median([]float64{300}) // too few samples for an interval
	v.Means = verify.Means(v.Rows)
	contains.All(t, textOf(Verification(v)), "8K      2.00   [1.96, 2.06]          –       –      –        –       –      –\n")
	check.Equal(t, len(v.Means), 4, "means")
	back, err := ReadVerification(strings.NewReader(jsonOf(Verification(v))), "v.json")
	check.Need(t, err == nil && len(back.Rows) == 3 && !back.Rows[0].Measured.Known() && back.Rows[0].Measured.Center == 300, "%v, %+v", err, back)
	for i := range v.Rows {
		v.Rows[i].Predicted = nil
	}
	v.Means = nil
	got := textOf(Verification(v))
	contains.Error(t, must.Err(ReadVerification(strings.NewReader(jsonOf(Verification(v))), "v.json")), "4 rows and no predictions")
	contains.None(t, got, "Errors")
}

// The first line counts the measured calls and the predicted ones.
func TestOffByCounts(t *testing.T) {
	means := []verify.Mean{{Of: "all", P: 2, Errors: []verify.Errors{{Model: verify.Full, Rows: 26, Mean: 0.05}, {Model: "LogGP", Rows: 40, Mean: 0.3}}}}
	check.Equal(t, offBy("It", means, verify.Full), "It is off by 5.0 % in cache (26 of 40 calls) on average.", "first line")
	check.Equal(t, offBy("It", means, "LogGP"), "It is off by 30 % in cache (40 calls) on average.", "first line")
	means[0].Errors[0].Rows = 19
	check.Equal(t, offBy("It", means, verify.Full), "It is off by 5.0 % in cache (19 of 40 calls) on average. It has no parameters for 21 of 40 calls: let it run longer.", "first line")
	check.Equal(t, offBy("It", means, "strict"), "It has no parameters for any of these calls: let it run longer, or name the machine's parameters.", "first line")
}

func TestReadBadVerifications(t *testing.T) {
	v := measuredCalls()
	v.Models = nil // which have names of models, too
	good, twice := jsonOf(Verification(v)), measuredCalls()
	twice.Rows = append(twice.Rows, twice.Rows[0])
	for _, tt := range []struct{ text, want string }{
		{"", "v.json is empty"},
		{" \n", "v.json is empty"},
		{"#m\t30\n#tau\t8\n", "v.json:1: "},
		{good[:len(good)/2], "v.json:"},
		{"[]", "v.json:1: "},
		{"{}", "no rows"},
		{`{"format": "taulop parameters", "version": 1}`, "what taulop verify writes"},
		{`{"format": "taulop parameters", "warnings": [1], "rows": [2]}`, "v.json holds the parameters of a machine"},
		{strings.Replace(good, `"P": 2`, `"P": "two"`, 1), "v.json:"},
		{strings.Replace(good, `"P": 2`, `"P": 0`, 1), "row 1: message has P = 0"},
		{strings.Replace(good, `"m": 8192`, `"m": -8192`, 1), "m = -8192"},
		{strings.Replace(good, `"message"`, `""`, 1), "is no name"},
		{strings.Replace(good, `"center": 1600`, `"center": null`, 1), "no time"},
		{strings.Replace(good, `"center": 1600`, `"center": -1`, 1), "no time"},
		{strings.Replace(good, `"center": 1600`, `"center": 1e999`, 1), "v.json:"},
		{strings.Replace(good, `"lo": 1568`, `"lo": 1700`, 1), "no time"},
		{strings.Replace(good, `"log_nP"`, `"lognP"`, 1), `"lognP" where one of the next of`},
		{strings.Replace(good, `"ns": `, `"ns": -`, 1), "no time is negative"},
		{strings.Replace(good, `"P": 2`, `"P": 2, "P": 4`, 1), "there twice"},
		{strings.Replace(good, `"P": 2`, `"P": 2, "p": 4`, 1), "there twice"},
		{strings.Replace(good, `"cpus_online": "`, `"cpus_online": "0-99999999,`, 1), "CPUs in lists"},
		{jsonOf(Verification(twice)), "is there twice, first in row 1"},
	} {
		check.Need(t, tt.text != good, "nothing is bad about the case %q", tt.want)
		v, err := ReadVerification(strings.NewReader(tt.text), "v.json")
		contains.Error(t, err, tt.want, "v.json")
		check.True(t, v == nil, "%.40q: a result beside an error", tt.text)
	}
	parameters := `{"format": "taulop parameters", "cells": [1]}`
	contains.Error(t, must.Err(ReadPublished(strings.NewReader(parameters), "v.json")), "v.json holds the parameters of a machine")
}

func measuredPatterns() *verify.PatternResult {
	d := &verify.PatternResult{Setting: verify.Setting{Provenance: provenance.Provenance{Taulop: "v1", Hostname: "host"}, Parameters: "host.json",
		Segments: 2, SegmentBytes: 8192, Rounds: 9}, FittedSizes: []int{1024, 16384, 1 << 20}}
	line := func(name, pattern string, startup, perKB float64, held bool) {
		d.Fits = append(d.Fits, verify.PatternFit{Name: name, Pattern: pattern, P: 3, Line: fit.Line{
			Startup: fit.Coefficient{Value: startup, Error: startup / 8, Held: held}, PerByte: fit.Coefficient{Value: perKB / 1024, Error: perKB / 20480}, Residual: 0.021, N: 3}})
	}
	row := func(name, pattern string, fitted bool, ns float64, predicted ...float64) {
		r := verify.PatternRow{Pattern: pattern, Fitted: fitted, Row: verify.Row{Name: name, P: 3, Bytes: 4096, Forced: true,
			Measured: fit.Estimate{Center: ns, Lo: 0.98 * ns, Hi: 1.03 * ns, N: 9}}}
		for i, p := range predicted {
			r.Predicted = append(r.Predicted, verify.Prediction{Model: verify.PatternModels[i], Ns: p, Error: (p - ns) / ns, Extrapolated: i == 0})
		}
		d.Rows = append(d.Rows, r)
	}
	for _, name := range []string{verify.Permutation, "scatter"} {
		d.Patterns = append(d.Patterns, must.Get(verify.LookupPattern(name)))
	}
	line("permutation-1", verify.Permutation, 320, 256, false)
	line(verify.Permutation, verify.Permutation, 400, 300, false)
	line("permutation-2", verify.Permutation, 0, 344, true)
	for i := range 9 { // of more than mostLines two are shown
		line(fmt.Sprint("scatter-", i), "scatter", 160, float64(200-10*i), false)
	}
	row("permutation-1", verify.Permutation, false, 1000, 1100, 1050, 1040)
	row("permutation-1", verify.Permutation, true, 9000, 1, 1, 1)
	d.Rows[1].Bytes = 16384 // a size that lines are fitted to
	row("permutation-2", verify.Permutation, false, 2000, 2100, 2050, 1040)
	row("scatter-0", "scatter", false, 1600, 1680, 1600, 1200)
	d.Means = verify.PatternMeans(d.Rows)
	return d
}

// ReadVerification reads the JSON of patterns.
func TestPatternsAreAVerification(t *testing.T) {
	text := jsonOf(Patterns(measuredPatterns()))
	v := must.Get(ReadVerification(strings.NewReader(text), "p.json"))
	check.True(t, len(v.Rows) == 4 && v.Rows[0].Name == "permutation-1" && v.Rows[0].Predicted[1].Model == "own line", "%+v", v.Rows)
	mixed := strings.Replace(text, `"permutation's"`, `"LogGP"`, 1)
	contains.Error(t, must.Err(ReadVerification(strings.NewReader(mixed), "p.json")), "LogGP")
}

func againstDocument() *Against {
	candidate := func(algorithm string, measured float64, ns ...float64) verify.Candidate {
		c := verify.Candidate{Algorithm: algorithm}
		for i, p := range ns {
			c.Models = append(c.Models, verify.Prediction{Model: verify.AgainstModels[i], Ns: p, Error: (p - measured) / measured, Extrapolated: p == 4000})
		}
		return c
	}
	alone := func(ns float64) fit.Estimate { return fit.Median([]float64{ns}) }
	a := &Against{
		Source: predict.Source{Machine: "host", File: "host.json", Model: "τ-Lop", Transport: "segmented", Segment: 32768,
			Measured: "m from 1 to 4M and τ from 1 to 2", Rule: "lines go on"},
		Output: "imb.txt",
		Rows: []verify.Compared{
			{Suite: "IMB", Benchmark: "PingPong", P: 2, Bytes: 8192, Measured: fit.Estimate{Center: 1600, Lo: 1570, Hi: 1650, N: 9}, Predicted: candidate("", 1600, 1680, 1680)},
			{Suite: "IMB", Benchmark: "PingPong", P: 2, Bytes: 16384, Measured: alone(200), Predicted: candidate("", 200, 4000, 190)},
			{Suite: "IMB", Benchmark: "Bcast", P: 4, Bytes: 8192, Measured: alone(3000), Predicted: candidate("bcast:binomial", 3000, 1500, 1800), Nearest: new(candidate("bcast:linear", 3000, 3300, 3600))},
		},
		LeftOut: []mpibench.Omission{
			{Benchmark: "Uniband", Line: 30, Why: "taulop predicts nothing like it"},
			{Benchmark: "Bcast", Line: 40, Why: "a collective of 0 bytes moves nothing"},
			{Benchmark: "Gather", Line: 50, Why: "a collective of 0 bytes moves nothing"},
		},
	}
	a.Means = verify.AgainstMeans(a.Rows)
	return a
}

// Of the rest of the text cmd/taulop has transcripts.
const againstText = `
Left out: Uniband (line 30): taulop predicts nothing like it.
Left out: Bcast (line 40), Gather (line 50): a collective of 0 bytes moves nothing.
`
