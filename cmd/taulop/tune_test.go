package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/mpi"
)

// The file has the rules of -json, and the output explains its use.
func TestTuneWritesAFile(t *testing.T) {
	machine, directory := smallMachine(t)
	file := filepath.Join(directory, "rules.conf")
	line := "-for openmpi5 -P 2-3 -m 1:64K -margin 5 bcast allreduce"
	out, errOut, err := run(t, on(machine, "tune", line+" -o "+file)...)
	if err != nil || errOut != "" || !strings.Contains(out, "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n  --mca coll_tuned_dynamic_rules_filename "+file) {
		t.Fatalf("%v %s\n%s", err, errOut, out)
	}
	text := must.Get(os.ReadFile(file))
	rules := must.Get(mpi.ReadClassic(string(text)))
	out, _, err = run(t, on(machine, "tune", line+" -json")...)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tables []struct {
			Collective string
			P          int
			Spans      []struct {
				From int `json:"from_bytes"`
				To   int `json:"to_bytes"`
				Rule *mpi.Setting
				Gain float64
			}
		}
	}
	must.Do(json.Unmarshal([]byte(out), &doc))
	n := 0
	for _, table := range doc.Tables {
		for _, s := range table.Spans {
			for _, m := range []int{s.From, s.To} {
				got := rules.Lookup(table.Collective, table.P, m)
				want := mpi.Setting{}
				if s.Rule != nil {
					want = *s.Rule
					n++
				}
				if got.Algorithm != want.ID || got.Fan != want.Fan || got.Segment != want.Segment {
					t.Errorf("%s of %d B among %d: the file has %v, the document %v", table.Collective, m, table.P, got, want)
				}
			}
			if s.Rule != nil && !(s.Gain > 0.05) {
				t.Errorf("a rule gains %v", s.Gain)
			}
		}
	}
	if n == 0 {
		t.Error("there is no rule")
	}
}
