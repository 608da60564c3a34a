package main

import (
	"cmp"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/mpi"
)

// predict, of one machine and of several, explain, tune, verify and map cost a library's broadcast alike.
// Between two ranks it is one message, by Open MPI's own choice, although other algorithms are cheaper.
func TestOneAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string { return save(t, dir, name, text) }
	host, other := filepath.Join(docs, "tasks", "data", "host.json"), filepath.Join(docs, "tasks", "data", "other.json")
	printed := file("osu.txt", "# OSU MPI Broadcast Latency Test v7.3\n# Size       Avg Latency(us)\n4096                   3.00\n")
	matrix := file("m.csv", "0,4096\n0,0\n")
	type prediction struct {
		Algorithm, Chosen string
		Cost              float64 `json:"cost_us"`
	}
	type row struct {
		prediction
		Predicted struct {
			Algorithm string
			Models    []struct{ Ns float64 }
		}
	}
	var doc struct {
		Rows   []row
		Calls  []prediction
		Tables []struct {
			Spans []struct {
				Instead   mpi.Setting
				InsteadUS float64 `json:"instead_us"`
			}
		}
		Mappings []struct {
			Seconds float64 `json:"predicted_seconds"`
		}
	}
	const choice = "1 basic_linear"
	var want, least float64
	for _, tt := range []struct {
		line string
		says func() (us float64, algorithm string)
	}{
		{"predict -as openmpi4 -P 2 -m 4K -json bcast -params " + host, func() (float64, string) {
			least = slices.MinFunc(doc.Rows, func(a, b row) int { return cmp.Compare(a.Cost, b.Cost) }).Cost
			return doc.Rows[0].Cost, doc.Rows[0].Chosen
		}},
		{"predict -as openmpi4 -P 2 -m 4K -json bcast -params " + host + "," + other, func() (float64, string) { return doc.Rows[0].Cost, doc.Rows[0].Chosen }},
		{"predict -as openmpi4 -P 2 -m 4K -json bcast:1", func() (float64, string) { return doc.Rows[0].Cost, doc.Rows[0].Algorithm }},
		{"predict -as openmpi4 -P 2 -m 4K -json bcast:linear", func() (float64, string) { return doc.Rows[0].Cost, doc.Rows[0].Algorithm }},
		{"explain -as openmpi4 -P 2 -m 4K -json bcast:own", func() (float64, string) { return doc.Calls[0].Cost, doc.Calls[0].Chosen }},
		{"tune -for openmpi4 -P 2 -m 4K -json bcast", func() (float64, string) {
			s := doc.Tables[0].Spans[0]
			return s.InsteadUS, s.Instead.String()
		}},
		{"verify -against " + printed + " -as openmpi4 -P 2 -buffers rewritten -json bcast", func() (float64, string) {
			p := doc.Rows[0].Predicted
			return p.Models[0].Ns / 1e3, strings.TrimPrefix(p.Algorithm, "bcast:")
		}},
		{"map -as openmpi4 -json " + matrix, func() (float64, string) { return doc.Mappings[0].Seconds * 1e6, choice }},
	} {
		doc.Rows, doc.Calls, doc.Tables, doc.Mappings = nil, nil, nil, nil
		command, flags, _ := strings.Cut(tt.line, " ")
		out, _, err := run(t, on([]string{"-params", host}, command, flags)...)
		if err != nil {
			t.Fatalf("%s: %v", tt.line, err)
		}
		must.Do(json.Unmarshal([]byte(out), &doc))
		us, algorithm := tt.says()
		if want == 0 {
			want = us
		}
		if !(us > 0) || math.Abs(us/want-1) > 1e-9 || algorithm != choice {
			t.Errorf("%s says %s, %v µs; predict says %s, %v µs", tt.line, algorithm, us, choice, want)
		}
	}
	if !(least < want) {
		t.Errorf("no algorithm is cheaper than the library's choice, %v µs", want)
	}
}
