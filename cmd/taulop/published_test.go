package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/report"
)

// publishedCollectives are of the machine of tidyTables; rows of P = 4 have the slowest rank,
// and the last algorithm of P = 8 the mean alone.
const publishedCollectives = `# MPI: Open MPI 4.1.5
collective	alg_id	algorithm	mapping	P	nodes	m_bytes	latency_us	min_us	max_us	flag
bcast	0	fixed_rules	core	4	1	1024	1.0	0.5	1.5	-
bcast	1	basic_linear	core	4	1	1024	1.5	0.5	2.0	-
bcast	1	basic_linear	core	4	1	1024	1.5	0.5	2.4	-
bcast	6	binomial	core	4	1	1024	0.9	0.5	1.2	-
bcast	6	binomial	core	4	1	65536	30	20	40	n
bcast	0	fixed_rules	core	8	1	1024	2.0	0.5	4.0	-
bcast	1	basic_linear	core	8	1	1024	5	0.5	8.0	-
bcast	6	binomial	core	8	1	1024	1.9	-	-	-
barrier	4	bruck	socket	8	1	0	2.0	-	-	-
allreduce	3	recursive_doubling	hwthread	8	1	1024	2.0	-	-	-
`

// comparable is a directory with a parameter file and a table of collectives.
func comparable(t *testing.T) {
	t.Helper()
	dir := tidyTables(t)
	t.Chdir(dir)
	save(t, dir, "coll.tsv", publishedCollectives)
	ran(t, "import", "-o", "m.json", "p2p.tsv")
}

func TestAgainstTable(t *testing.T) {
	comparable(t)
	out, errOut, err := run(t, "verify", "-against", "coll.tsv", "-params", "m.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"measured: coll.tsv, Open MPI 4.1.5; 10 rows, 1 flagged as noise and left out\n",
		"compared: the slowest rank, where the table has it (5 cells); else the mean over ranks (3)\n",
		"bcast       1 basic_linear            2  ", "bcast       library's own choice      2  ",
		"\nall: 5 cells, mean |error| ", "m from 1K: 4 cells",
		"Left out: 1 cell, such as line 12 (allreduce 3 recursive_doubling, mapping hwthread, P = 8): unknown mapping",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "bcast") && len([]rune(line)) > 81 {
			t.Errorf("%d letters: %s", len([]rune(line)), line)
		}
	}
	if !strings.Contains(errOut, "warning: m.json: ") {
		t.Errorf("no warning of the parameters: %s", errOut)
	}
	out, _, err = run(t, "verify", "-against", "coll.tsv", "-params", "m.json", "-quiet", "-csv", "-P", "4", "bcast:1")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); err != nil || len(lines) != 2 || !strings.HasPrefix(lines[1], "bcast,1,basic_linear,0,core,4,1,1024,2,2.2,slowest,") {
		t.Errorf("%v\n%s", err, out)
	}
	ran(t, "verify", "-against", "coll.tsv", "-params", "m.json", "-json", "-o", "a.json")
	f, err := os.Open("a.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := report.ReadPublished(f, "a.json")
	if err != nil || len(doc.Cells) != 8 || doc.Machine == "" {
		t.Fatalf("%v, %+v", err, doc)
	}
	if _, _, err := run(t, "plot", "published", "-algorithm", "bcast", "-o", "b.svg", "a.json"); err != nil {
		t.Error(err)
	}
	if _, _, err := run(t, "plot", "published", "-o", "c.svg", "a.json"); exitStatus(err) != 2 || !strings.Contains(err.Error(), "a line over P needs two of them, and barrier") {
		t.Error(err)
	}
	save(t, ".", "several.tsv", "machine\tcollective\talg_id\tP\tm_bytes\tlatency_us\nA\tbcast\t6\t4\t1024\t1.0\nB\tbcast\t6\t4\t1024\t2.0\n")
	for name, want := range map[string]string{"a": ",1,mean,", "B": ",2,mean,"} {
		out, _, err := run(t, "verify", "-against", "several.tsv", "-params", "m.json", "-quiet", "-csv", "-name", name)
		if err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	save(t, ".", "own.tsv", "# Open MPI 1.6.5\ncollective\talg_id\tP\tm_bytes\tlatency_us\nbcast\t0\t4\t1024\t1.0\n")
	refuses(t, nil, "verify", []mistake{
		{"-against coll.tsv -params m.json -csv -json", "cannot be used together"},
		{"-against coll.tsv -params m.json -P 16", "no row of coll.tsv is among what is asked for"},
		{"-against coll.tsv -params m.json allreduce", "nothing of coll.tsv can be predicted: line 12, for one: unknown mapping \"hwthread\""},
		{"-against coll.tsv -params m.json bcats", "unknown collective \"bcats\"; did you mean \"bcast\"?"},
		{"-against p2p.tsv -params m.json", "p2p.tsv has no collectives"},
		{"-against coll.tsv -params m.json -cache off", "-cache is of transfers that taulop sweep measured"},
		{"-against own.tsv -params m.json", "nothing of own.tsv can be predicted: line 3, for one: nobody knows which algorithm the library chose by itself: give"},
		{"-against several.tsv -params m.json", "none of \"2 x 4-core\": choose one that it has (-name)"},
		{"-against no.tsv -params m.json", "-against: no.tsv is not there: check its name"},
		{"-against coll.tsv", "-params is missing"},
	})
	for text, says := range map[string]string{
		"bcast\t5\tbinomial":   "line 2, for one: alg_id 5 of bcast is binary_tree, and algorithm says binomial: correct either",
		"bcast\t12\t-":         "line 2, for one: Open MPI 4.1 has no algorithm \"12\" of bcast; known are",
		"bcast\t-\tbinomal":    "line 2, for one: Open MPI 4.1 has no algorithm \"binomal\" of bcast; did you mean \"binomial\"?",
		"reduce_scatter\t2\t-": "line 2, for one: taulop knows no numbers and names of Open MPI 4.1 for algorithms of reduce_scatter",
		"bcats\t2\t-":          "line 2, for one: unknown collective \"bcats\"; did you mean \"bcast\"?",
	} {
		save(t, ".", "x.tsv", "collective\talg_id\talgorithm\tP\tm_bytes\tlatency_us\n"+text+"\t4\t8\t1\n")
		if _, _, err := run(t, "verify", "-against", "x.tsv", "-params", "m.json"); exitStatus(err) != 2 || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
}

func TestEvaluate(t *testing.T) {
	comparable(t)
	out, _, err := run(t, "tune", "-eval", "coll.tsv", "-params", "m.json", "bcast")
	if err != nil {
		t.Fatal(err)
	}
	// 1.5 against 1.2, and 4.0 against a mean of 1.9; without that, 4.0 is the best.
	for _, want := range []string{
		"bcast       core         2          2           67.8  110.5", "bcast       core*        2          2           12.5   25.0",
		"\n*: without algorithms that have the mean alone", "bcast       core     1 basic_linear      2  202.2  321.1      0.0\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, _, err = run(t, "tune", "-eval", "coll.tsv", "-params", "m.json", "-json", "-P", "4", "-m", "1K", "-map", "core")
	if err != nil {
		t.Fatal(err)
	}
	var doc report.Evaluation
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Cases) != 1 || doc.Cases[0].BestNs != 1200 || doc.Filters != "P = 4, m = 1K, mapping core" {
		t.Errorf("%v, %+v", err, doc)
	}
	save(t, ".", "SHM.txt", "#m\t2\n#tau\t1\n#m\to(m)\tL(m, 1)\n1024\t0.0000001\t0.000001\n2048\t0.0000001\t0.000002\n")
	out, _, err = run(t, "tune", "-eval", "coll.tsv", "-params", "m.json", "-csv", "-P", "4", "-m", "1K", "-map", "core")
	if lines := strings.Split(out, "\n"); err != nil || len(lines) != 3 || !strings.HasPrefix(lines[0], "collective,mapping,P,m_bytes,") ||
		!strings.HasPrefix(lines[1], "bcast,core,4,1024,") || !strings.Contains(lines[1], ",1200,") {
		t.Errorf("%v\n%s", err, out)
	}
	refuses(t, nil, "tune", []mistake{
		{"-eval coll.tsv -params m.json -csv -json", "choose one"},
		{"-eval coll.tsv -params SHM.txt bcast", "SHM.txt: nothing of coll.tsv can be predicted: line "},
		{"-eval coll.tsv -params m.json barrier", "no collective of so many ranks and bytes has two algorithms measured"},
		{"-eval coll.tsv -params m.json -margin 100", "-margin is 100"},
		{"-eval coll.tsv", "-params is missing"},
		{"-eval none.tsv -params m.json", "none.tsv is not there"},
		{"-eval other.tsv -params m.json", "other.tsv:1: no column"},
		{"-eval", "-eval is the last word"},
	})
}

// What a file of messages by levels does not have is refused and not passed over in silence:
// a prediction would look as if it had heeded the flag.
func TestLevelsRefuse(t *testing.T) {
	comparable(t)
	save(t, ".", "IB.txt", "#m\t2\n#tau\t1\n#m\to(m)\tL(m, 1)\n1024\t0.0000001\t0.000001\n2048\t0.0000001\t0.000002\n")
	save(t, ".", "imb.txt", ringOutput)
	save(t, ".", "gamma.txt", "#m\t2\n#max_ops\t1\n#m\tSUM_I\n1024\t0.000001\n65536\t0.000064\n")
	for _, flag := range []string{"-setup ping", "-placement l3", "-cache off", "-buffers unchanged", "-transport single-copy", "-transport cma", "-segment 32K", "-segments 4"} {
		name, _, _ := strings.Cut(flag, " ")
		_, _, err := run(t, append([]string{"predict", "-params", "m.json", "-P", "4", "-m", "1K", "bcast"}, strings.Fields(flag)...)...)
		if exitStatus(err) != 2 || !strings.Contains(err.Error(), name+" is of transfers that taulop sweep measured") {
			t.Errorf("%s: %v", flag, err)
		}
	}
	refuses(t, nil, "", []mistake{
		{"predict -params m.json -P 16 -nodes 2 -net IB.txt -m 1K bcast", "-net is of a machine that taulop sweep measured"},
		{"predict -params m.json -P 4 -m 1K -stride 64 bcast", "m.json: it has messages by levels and no transfers: only model taulop"},
		{"predict -params m.json -P 4 -m 1K -model lognp bcast", "only model taulop, for contiguous messages"},
		{"verify -against imb.txt -params m.json", "m.json has messages by levels, and stands beside tables of collectives"},
		{"predict -params m.json -P 16 -nodes 2 -map block:cyclic -m 1K bcast", "-map block:cyclic chooses among placements"},
		{"map -params m.json -P 4 ring", "-params m.json: it has messages by levels and no transfers"},
		{"map -params m.json -root . -P 4 ring", "-params m.json: it has messages by levels and no transfers"},
		{"tune -params m.json -for openmpi4 -P 4 allreduce", "needs γ, the time of a reduction, and m.json has none: name a file"},
	})
	out, errOut, err := run(t, "tune", "-params", "m.json", "-for", "openmpi4", "-P", "4", "-explain")
	if err != nil || strings.Contains(out, "reduce") || !strings.Contains(out, "bcast, P = 4") || !strings.Contains(errOut, "warning: what reduces needs γ") {
		t.Errorf("%v\n%s%s", err, errOut, out)
	}
	if out, _, err = run(t, "tune", "-params", "m.json", "-gamma", "gamma.txt", "-for", "openmpi4", "-P", "4", "-explain", "allreduce"); err != nil || !strings.Contains(out, "allreduce, P = 4") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, _, err := run(t, "predict", "-params", "p2p.tsv", "-P", "4", "bcast"); exitStatus(err) != 2 || !strings.Contains(err.Error(), "make a parameter file of it, taulop import -o machine.json p2p.tsv") {
		t.Error(err)
	}
	// What a message waited for is a part of its time, and reductions are a guess; both are said.
	out, _, err = run(t, "explain", "-params", "m.json", "-P", "4", "-m", "1K", "allreduce:ring")
	if err != nil || !strings.Contains(out, "what it waited for") || !strings.Contains(out, "a reduction without γ takes") || strings.Contains(out, "serial channel") {
		t.Errorf("%v\n%s", err, out)
	}
	out, _, err = run(t, "explain", "-params", "m.json", "-P", "4", "-m", "64K", "allgather:ring")
	if err != nil || !strings.Contains(out, "Θ = own(m) + 3T[same_socket](m,4)\n") || !strings.Contains(out, "own(m): a rank's copy") {
		t.Errorf("%v\n%s", err, out)
	}
	for name, want := range map[string]bool{"bcast": true, "bcast:sm-tree": false} {
		out, _, err = run(t, "predict", "-params", "m.json", "-P", "4", "-m", "1K", name)
		if left := strings.Contains(out, "Left out: bcast:sm-tree for P = 4: it copies from buffers"); err != nil || left != want {
			t.Errorf("%v, %s is left out: %v\n%s", err, name, left, out)
		}
	}
	save(t, ".", "program.toml", "ranks = 4\n[[phase]]\nmessage = \"bcast\"\nbytes = \"64K\"\n")
	save(t, ".", "tree.toml", "ranks = 4\n[[phase]]\nmessage = \"bcast:sm-tree\"\nbytes = \"64K\"\n")
	for file, want := range map[string]bool{"program.toml": false, "tree.toml": true} {
		if out, _, err = run(t, "estimate", "-params", "m.json", "-csv", file); err != nil || strings.Contains(out, "sm-tree") != want {
			t.Errorf("%v\n%s", err, out)
		}
	}
	// The number of nodes is not given, and ranks fill one after another.
	out, _, err = run(t, "predict", "-params", "m.json", "-P", "2,8,12", "-m", "1K", "bcast:linear")
	if want := "\nP = 2 to 8 on 1 node of 8 cores, P = 12 on 2 nodes\n"; err != nil || !strings.Contains(out, want) {
		t.Errorf("%v\n%s\nwant %s", err, out, want)
	}
	if out, _, err = run(t, "predict", "-params", "m.json", "-P", "4", "-nodes", "2", "-m", "1K", "bcast:linear"); err != nil || strings.Contains(out, "cores") {
		t.Errorf("%v\n%s", err, out)
	}
	out, errOut, err = run(t, "tune", "-params", "m.json", "-for", "openmpi6", "-P", "8,12", "-margin", "1", "bcast")
	if err != nil || !strings.Contains(errOut, "P = 8 on 1 node of 8 cores, P = 12 on 2 nodes") || strings.Count(out, "single-node") != strings.Count(out, `"comm_size_min": 8`) || !strings.Contains(out, "any") {
		t.Errorf("%v\n%s%s", err, errOut, out)
	}
	if _, _, err := run(t, "predict", "-params", "m.json", "-P", "4", "-m", "1K", "-transport", "whole", "bcast"); err != nil {
		t.Error(err)
	}
}
