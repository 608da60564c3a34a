package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/mpi"
)

// A tree of MPICH's, as small as one can be.
const smallTree = `{"collective=bcast": {"comm_type=intra": {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}}}}`

func TestTune(t *testing.T) {
	machine, directory := smallMachine(t)
	base := save(t, directory, "generic.json", smallTree)
	for _, tt := range []struct{ line, want string }{
		{"-for mpich4 -base " + base + " -P 2 -m 8K:16K -margin 5 -explain bcast", `
bcast, P = 2; times in µs
  m from    to  own choice              time  cheapest  time  gain in %
      8K  9215  scatter_ring_allgather    17  binomial    17  3
      9K   16K  scatter_ring_allgather    19  binomial    18  8–26 rule

Times are predicted, of the first m of a line; no rule: the own choice stays
Such predictions were off by 5 to 20 % (docs/accuracy.md) on average.
1 rule for MPICH 4 where something is cheaper than its own choice by more than 5 %
`},
		{"-for mpich4 -base " + base + " -P 2 -m 16K -margin 5 -tsv bcast", "collective\tP\tfrom_bytes\tto_bytes\tid\talgorithm\tfan\tsegment_bytes\nbcast\t2\t16384\t16384\t0\tbinomial\t0\t0\n"},
		{"-for mpich4 -base " + base + " -P 2 -m 16K -margin 5 -csv bcast", "collective,P,from_bytes,to_bytes,id,algorithm,fan,segment_bytes\nbcast,2,16384,16384,0,binomial,0,0\n"},
		{"-for mpich4 -base " + base + " -P 2 -m 1K -margin 5 bcast", `      "comm_size<=2": {
        "avg_msg_size<=1023": {
          "algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}
        },
        "avg_msg_size<=1024": {
          "algorithm=MPIR_Bcast_intra_binomial": {}
        },
        "comm_size=any": {
          "algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}
        }
      },
      "comm_size=any": {`},
		{"-for openmpi4 -P 2-3 -m 1:64K -margin 99 -explain", "no rule: nothing is cheaper than the own choice of Open MPI 4.1 by more than 99 % for certain\n"},
	} {
		out, errOut, err := run(t, on(machine, "tune", tt.line)...)
		if err != nil || errOut != "" || !strings.Contains(out, tt.want) {
			t.Errorf("tune %s: %v %s\n%s\nwant%s", tt.line, err, errOut, out, tt.want)
		}
	}
}

// The file has what -json says, and what is printed beside it says how it is used.
func TestTuneWritesAFile(t *testing.T) {
	machine, directory := smallMachine(t)
	file := filepath.Join(directory, "rules.conf")
	line := "-for openmpi5 -P 2-3 -m 1:64K -margin 5 bcast allreduce"
	out, errOut, err := run(t, on(machine, "tune", line+" -o "+file)...)
	if err != nil || errOut != "" || !strings.Contains(out, "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n  --mca coll_tuned_dynamic_rules_filename "+file) {
		t.Fatalf("%v %s\n%s", err, errOut, out)
	}
	text, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	rules, err := mpi.ReadClassic(text, file)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	lib, _ := mpi.Tunable("openmpi5")
	n := 0
	for _, table := range doc.Tables {
		for _, s := range table.Spans {
			for _, m := range []int{s.From, s.To} {
				got, err := rules.Choice(lib, collective.Named(table.Collective), table.P, m)
				want := mpi.Setting{}
				if s.Rule != nil {
					want = *s.Rule
					n++
				}
				if err != nil || got != want {
					t.Errorf("%s of %d B among %d: the file has %v (%v), the document %v", table.Collective, m, table.P, got, err, want)
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

func TestTuneBadInput(t *testing.T) {
	machine, directory := smallMachine(t)
	table := filepath.Join(directory, "SHM.txt")
	files := map[string]string{"unknown.json": `{"collective=bcast": {"comm_sise<8": {}}}`, "none.json": `{"collective=gatherv": {"algorithm=MPIR_Gatherv_allcomm_linear": {}}}`}
	for name, text := range files {
		save(t, directory, name, text)
	}
	in := func(name string) string { return filepath.Join(directory, name) }
	refuses(t, machine, "tune", []mistake{
		{"-P 2", "-for is missing: name the library"},
		{"-for openmpi3 -P 2", `did you mean "openmpi4"? Known are openmpi4, openmpi5, openmpi6, mpich4, mpich5.1`},
		{"-for openmpi4", "-P is missing"},
		{"-for openmpi4 -as mpich4 -P 2", "-for openmpi4 writes rules for another library than -as mpich4, whose messages it would take: leave -as out"},
		{"-for openmpi4 -P 2-8", "-P goes to 8, and " + table + " has times of up to 3 transfers at once: ask for P up to 3, or measure more"},
		{"-for openmpi4 -P 2 -m 1:128K", "-m goes to 128K, and " + table + " has messages of up to 64K"},
		{"-for openmpi4 -P 2 bcast:binomial", "bcast:binomial is an algorithm, and tune chooses it: name the collective, bcast"},
		{"-for openmpi4 -P 2 bcst", `Open MPI 4.1 has no rules for "bcst"; those that it has are allgather`},
		{"-for mpich4 -P 2", "-base is missing: MPICH 4 replaces all that it chooses by"},
		{"-for openmpi4 -base x -P 2", "-base is for MPICH"},
		{"-for mpich4 -P 2 -base " + in("nowhere"), "nowhere is not there"},
		{"-for mpich4 -P 2 -base " + in("unknown.json"), `unknown.json:1: "comm_sise<8" is no condition that MPICH knows`},
		{"-for mpich4 -P 2 -base " + table, "SHM.txt:1: "},
		{"-for openmpi4 -P 2 -margin -1", "-margin is -1: give a percentage"},
		{"-for openmpi4 -P 2 -degree 4", "-degree is not for tune"},
		{"-for openmpi4 -P 2 -tsv -json", "-tsv and -json cannot be used together"},
		{"-for openmpi4 -P 2 -csv -tsv", "-csv and -tsv cannot be used together"},
		{"-for openmpi4 -P 2 -o " + directory, "cannot be written"},
	})
	if _, errOut, err := run(t, on(machine, "tune", "-for openmpi4 -P 2 -m 1:64K scatter")...); err != nil || !strings.Contains(errOut, "warning: rules for scatter: Open MPI looks rules up by the count") {
		t.Errorf("scatter: %v %s", err, errOut)
	}
}
