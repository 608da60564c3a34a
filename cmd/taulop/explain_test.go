package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/params"
)

func TestExplainText(t *testing.T) {
	machine, _ := smallMachine(t)
	for _, tt := range []struct {
		line string
		want string
	}{
		{"-P 4 -m 16K bcast:binomial", `
bcast:binomial, P = 4, m = 16K: ~58 µs
Source: τ-Lop, eqs. (13)–(15) and Fig. 1; Thakur, Rabenseifner and Gropp 2005.

  Θ = 2o(m) + 2L(S,1) + (k+1)L(S,2) + (k−1)L(S,4)
  P = 4, m = 16384 B, S = 8192 B, k = m/S = 2

    count     parameter   value        cost    share
                             µs          µs
        2  ×       o(m)  0.5000    =  1.000    1.7 %
        2  ×     L(S,1)   8.192    =  16.38   28.1 %
        3  ×     L(S,2)   8.192    =  24.58   42.1 %
        1  ×     L(S,4)  ~16.38    =  16.38   28.1 %
`},
		{"-P 4 -m 8K bcast:binomial", `
  stage  part      at once           µs each  cost of each
  1      binomial  1 message of 8K   16.88    o(m) + 2L(S,1)
  2      binomial  2 messages of 8K  16.88    o(m) + 2L(S,2)
  stage 1: 0→2
  stage 2: 0→1 2→3
`},
		{"-P 3 -m 100 allgather:ring", "\n  1–2    allgather  3 ranks exchange 100 B  "},
		{"-P 3 -m 100 allgather:ring", "\n  stage 1–2, in the first: 0→1 1→2 2→0\n"},
		{"-P 5 barrier:double-ring", "\n  stage 1–10, in the first: 0→1\n"},
		{"-P 8 -m 64K bcast:sm-tree", "\n  4, 6 … 12  pipeline  7 copies of 8K  "},
		{"-P 8 -m 64K bcast:mpich", "\nIt chooses bcast:scatter-recursive-doubling here.\n"},
		{"-P 2 -m 8K reduce:binomial", " × "},
		{"-P 2 -m 8K reduce:binomial", "γ(m,1)"},
		{"-P 1 bcast:binomial", "Nobody has anything to send."},
		{"-P 4 -model lognp -m 8K bcast:sm-tree", "\n  Θ = 6o(m)\n"},
		{"-P 4 -model libtaulop -m 8K allreduce:ring", "τ-Lop as the authors' library computes it, whole messages; textbook schedules\n"},
		{"-compare bcast:binomial bcast:linear -P 4 -transport whole", `
Who is the cheapest stays it until another one is cheaper by more than 5 %.

P = 4: bcast:binomial, bcast:linear
  from m  to m         others cost  cheapest
       1   64M  ~ up to 1.50 times  bcast:binomial
`},
		{"bcast:binomial -compare bcast:linear -P 2 -margin 0", `
  from m  to m  others cost  cheapest
       1   64M   ~ the same  bcast:binomial = bcast:linear
`},
	} {
		out, errOut, err := run(t, on(machine, "explain", tt.line)...)
		if err != nil || errOut != "" || !strings.Contains(out, tt.want) {
			t.Errorf("explain %s: %v %s\n%s\nwant%s", tt.line, err, errOut, out, tt.want)
		}
	}
}

// What a segment is looked up in is said where it makes a difference.
func TestExplainContext(t *testing.T) {
	table, err := params.ReadText(strings.NewReader(smallTable), "SHM.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := params.FromText(table, nil)
	f.Plan.Segments, f.Plan.SegmentBytes = 2, 8<<10
	path := filepath.Join(t.TempDir(), "host.json")
	saveParams(t, f, path)
	const context = "\n  L(S,τ) is that of a segment where a rank touches 40K in the call, not that of a message of 8K\n"
	for line, want := range map[string]bool{
		"-P 4 -m 8K allgather:ring": true, "-P 4 -m 40K bcast:binomial": true,
		"-P 4 -m 8K bcast:binomial": false, "-P 4 -m 8K -segment 4K allgather:ring": false, "-P 4 -m 8K -model lognp allgather:ring": false,
	} {
		out, _, err := run(t, append([]string{"explain", "-params", path}, strings.Fields(line)...)...)
		if err != nil || strings.Contains(out, context) != want || !want && strings.Contains(out, "touches") {
			t.Errorf("explain %s: %v\n%s\nthe context: %v", line, err, out, want)
		}
	}
}

// What is shown as parts is the whole.
func TestExplainJSONAddsUp(t *testing.T) {
	machine, _ := smallMachine(t)
	for _, m := range []string{"taulop", "lognp", "libtaulop"} {
		out, _ := ran(t, on(machine, "explain", "-json -P 1,4,7,64 -m 1,8K,100000 bcast allreduce alltoall scatter barrier -model "+m)...)
		var doc predict.Explanations
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Calls) == 0 || doc.Machine != "small" {
			t.Fatalf("%s: %d calls on %s", m, len(doc.Calls), doc.Machine)
		}
		for _, c := range doc.Calls {
			var terms, shares, stages float64
			for _, term := range c.Terms {
				terms += term.Microseconds
				shares += term.Share
			}
			for _, s := range c.Stages {
				stages += float64(s.Repeat) * s.Microseconds
			}
			close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
			if !close(terms, c.Microseconds) || !close(stages, c.Microseconds) || len(c.Terms) > 0 && !close(shares, 1) {
				t.Errorf("%s, %s:%s, P = %d, m = %d: %v µs, terms %v, stages %v, shares %v",
					m, c.Collective, c.Algorithm, c.P, c.Bytes, c.Microseconds, terms, stages, shares)
			}
		}
	}
}

func TestCompareBadInput(t *testing.T) {
	machine, _ := smallMachine(t)
	refuses(t, machine, "explain", []mistake{
		{"-compare -P 4 bcast:binomial", "nothing to compare for P = 4"},
		{"-compare -P 4 bcast:binomial allgather:ring", "compare algorithms of one collective"},
		{"-compare -P 4 -m 1K bcast", "leave -m out"},
		{"-compare -P 4 -margin -1 bcast", "percentage from 0"},
		{"-compare -P 4 -margin NaN bcast", "percentage from 0"},
		{"-compare -P 6 allgather:ring allgather:recursive-doubling", "power of two"},
	})
}
