package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/sweeptest"
)

const (
	ringOutput = `# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.40         0.00
         1024         1000         1.40       731.43
        65536         1000        20.40      3212.55

# Benchmarking Sendrecv
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            0         1000         0.55         0.60         0.57         0.00
         1024         1000         2.30         2.40         2.35       853.33
        65536         1000        40.30        40.40        40.35      3244.36
`
	pairsOutput = `# OSU MPI Multi Latency Test v7.4
# Size       Avg Latency(us)
0                       1.00
1024                    1.50
1048576               101.00
# OSU MPI Multi Latency Test v7.4
# Size       Avg Latency(us)
0                       1.00
1024                    1.60
1048576               201.00
`
)

// What benchmarks of an MPI library printed predicts what they measured, and collectives.
func TestImportBenchmarks(t *testing.T) {
	dir := t.TempDir()
	ring, pairs := save(t, dir, "ring.txt", ringOutput), save(t, dir, "pairs.txt", pairsOutput)
	node, network := filepath.Join(dir, "node.json"), filepath.Join(dir, "ib.json")
	out, errOut, err := run(t, "import", "-o", node, "-name", "node7", ring)
	if err != nil || out != "" || errOut != "taulop: "+node+" has 7 cells\n" {
		t.Fatal(out, errOut, err)
	}
	out, errOut, err = run(t, "verify", "-against", ring, "-params", node)
	for _, row := range []string{"\n    0    0.4000  0.4000  ", "\n  64K     20.40   20.40   ", "\n    0    0.6000  0.6000  ", "\n  64K     40.40   40.40   ", "whole messages"} {
		if err != nil || errOut != "" || !strings.Contains(out, row) {
			t.Fatalf("%v %s\n%s\nwant %q", err, errOut, out, row)
		}
	}
	if _, _, err := run(t, "predict", "-params", node, "-P", "2", "allreduce"); exitStatus(err) != 2 || !strings.Contains(err.Error(), "no γ, which messages do not tell") {
		t.Error(err)
	}
	// MPI_Reduce_local tells γ, of vectors in cache.
	sums := save(t, dir, "sums.txt", "# MPI_Datatype for reductions : MPI_INT\n# Benchmarking Reduce_local\n# #processes = 4\n #bytes #repetitions t_max[usec]\n 1024 1000 0.50\n 65536 1000 10.00\n")
	if _, errOut, err = run(t, "import", "-o", filepath.Join(dir, "off.json"), "-cache", "off", ring, sums); err != nil || !strings.Contains(errOut, "left out: Reduce_local: γ is of vectors in cache") {
		t.Error(errOut, err)
	}
	reducing := filepath.Join(dir, "reducing.json")
	if _, errOut, err = run(t, "import", "-o", reducing, ring, sums); err != nil || !strings.Contains(errOut, "γ of SUM_I is what MPI_Reduce_local took") {
		t.Fatal(errOut, err)
	}
	if out, _, err = run(t, "explain", "-params", reducing, "-P", "4", "-m", "64K", "allreduce:recursive-doubling"); err != nil || !strings.Contains(out, "10.00") {
		t.Errorf("%s, %v", out, err)
	}
	if out, errOut, err = run(t, "import", "-o", network, "-net", "ib0", "-pairs", "1,4", pairs); err != nil || out != "" {
		t.Fatal(out, errOut, err)
	}
	// o of 1 µs and L of 100.
	out, errOut, err = run(t, "predict", "-params", node, "-net", network, "-nodes", "2", "-P", "2", "-m", "1M", "-tsv", "bcast:binomial")
	if err != nil || !strings.HasSuffix(out, "\t101.000000\n") {
		t.Fatal(out, errOut, err)
	}
}

// The state of imported benchmarks is unknown: where the file beside them has several, a warning
// says that its numbers are means, unless one is chosen.
func TestImportStates(t *testing.T) {
	dir, moved := t.TempDir(), sweeptest.Moved(t)
	ring := save(t, dir, "ring.txt", ringOutput)
	const several = "moved.json was measured in several states of the machine, in which a flag takes 60"
	importing := func(flags string) (string, error) {
		_, errOut, err := run(t, strings.Fields("import -o "+filepath.Join(t.TempDir(), "node.json")+" -params "+moved+" "+flags+ring)...)
		return strings.Join(strings.Fields(errOut), " "), err
	}
	if said, err := importing(""); err != nil || !strings.Contains(said, several) {
		t.Error(said, err)
	}
	for _, state := range []string{"most", "240ns"} {
		if said, err := importing("-state " + state + " "); err != nil || strings.Contains(said, "several states") {
			t.Errorf("-state %s: %s, %v", state, said, err)
		}
	}
	for line, want := range map[string]string{
		"import -state 1000ns -params " + moved + " " + ring: "-state: ",
		"import -state most " + ring:                         "-state is one of those that the file of -params has",
	} {
		if _, _, err := run(t, strings.Fields(line)...); !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestImportBenchmarksRefuses(t *testing.T) {
	dir := t.TempDir()
	ring, pairs := save(t, dir, "ring.txt", ringOutput), save(t, dir, "pairs.txt", pairsOutput)
	cut := save(t, dir, "cut.txt", ringOutput[:strings.Index(ringOutput, "#bytes")])
	node := filepath.Join(dir, "node.json")
	if _, errOut, err := run(t, "import", "-o", node, ring); err != nil {
		t.Fatal(errOut, err)
	}
	for _, tt := range []struct{ line, want string }{
		{"import " + pairs, "pairs.txt:1: osu_multi_lat does not print how many pairs ran: say it with -pairs"},
		{"import -pairs 1 " + pairs, "pairs.txt:6: osu_multi_lat does not print"},
		{"import -pairs 1,2,3 " + pairs, "-pairs has 1 number more"},
		{"import -pairs 2,4 " + pairs, "no message was alone"},
		{"import -pairs 1,1 " + pairs, "one number of pairs of ranks"},
		{"import -pairs 1,x " + pairs, `-pairs: "x" is no number of pairs`},
		{"import -net IB:0 -pairs 1,4 " + pairs, "-net: "},
		{"import -overheads " + ring + " -params " + node + " -net ib0", "-net does not go with -overheads"},
		{"import " + cut, "no message was alone"},
		{"import " + ring + " " + filepath.Join(dir, "none.txt"), "is not there"},
		{"import -o " + node + " " + ring, "is there already"},
		{"predict -params " + node + " -transport segmented -P 2 bcast", "leave it out"},
		{"predict -params " + node + " -transport cma -P 2 bcast", "leave it out"},
	} {
		out, _, err := run(t, strings.Fields(tt.line)...)
		if !errors.As(err, new(usageError)) || out != "" || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\n%s\nwant %q", tt.line, err, out, tt.want)
		}
	}
	if _, errOut, _ := run(t, "import", cut); !strings.Contains(errOut, "left out: "+cut+":1: PingPong: its table has no heading") {
		t.Error(errOut)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 4 {
		t.Error(entries, err)
	}
}
