package main

import (
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/tidy"
)

// tidyTables writes tables of a machine of two sockets of four cores into a directory.
func tidyTables(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var pairs strings.Builder
	pairs.WriteString("# machine: 2 x 4-core\nlevel\tsrc_core\tdst_core\tm_bytes\tlatency_us\n")
	for _, row := range []string{"same_socket\t0\t1", "same_socket\t0\t3", "other_socket\t0\t4", "other_socket\t0\t7", "other_node\t0\t0"} {
		for m, us := range map[string]string{"1": "0.2", "1024": "0.5", "65536": "12.5"} {
			if strings.HasPrefix(row, "other") {
				us = "1" + us
			}
			pairs.WriteString(row + "\t" + m + "\t" + us + "\n")
		}
	}
	for name, text := range map[string]string{
		"p2p.tsv":   pairs.String(),
		"bare.tsv":  "level\tm_bytes\tlatency_us\nsame_socket\t1\t0.2\nsame_socket\t1024\t0.5\n",
		"bad.tsv":   "level\tm_bytes\tlatency_us\nsame_socket\t1\t-0.2\n",
		"lacks.tsv": "level\tm_bytes\nsame_socket\t1\n", "commas.csv": "level,m_bytes,latency_us\nsame_socket,1,0.2\n",
		"other.tsv": "a\tb\n1\t2\n",
		"xeon.tsv":  "# machine: Xeon\nlevel\tpairs\tm_bytes\tus_per_message\nother_node\t2\t1\t0.2\n",
		"node.tsv":  "# 4 cores per node\nlevel\tm_bytes\tlatency_us\nsame_node\t1\t0.2\nsame_node\t65536\t4\n",
		"two.tsv":   "# Open MPI 4.1.5\ncollective\talg_id\tmapping\tP\tnodes\tm_bytes\tlatency_us\nbcast\t1\tnode\t2\t2\t8\t1.5\nbcast\t1\tnode\t2\t2\t65536\t9.5\n",
	} {
		save(t, dir, name, text)
	}
	return dir
}

func TestImportTidy(t *testing.T) {
	t.Chdir(tidyTables(t))
	if _, errOut, err := run(t, "import", "-format", "tidy", "-o", "m.json", "p2p.tsv"); err != nil || !strings.Contains(errOut, "m.json has 9 cells") {
		t.Fatalf("%v\n%s", err, errOut)
	}
	f := loadParams(t, "m.json")
	if out, errOut, err := run(t, "predict", "-params", "m.json", "-P", "16", "-m", "1K", "bcast:binomial"); err != nil || !strings.Contains(out, "P = 16 on 2 nodes of 8 cores") || strings.Contains(errOut, "more ranks than") {
		t.Errorf("ranks on two nodes: %v\n%s\n%s", err, errOut, out)
	}
	if n := len(f.Provenance.Levels); n != 3 || f.Provenance.Online.String() != "0-7" || len(f.Provenance.Published) != 1 {
		t.Errorf("%d levels, cores %v, %q", n, f.Provenance.Online, f.Provenance.Published)
	}
	if f.Provenance.Hostname != "2 x 4-core" {
		t.Errorf("the machine is called %q", f.Provenance.Hostname)
	}
	for text, want := range map[string]string{"": "", "Frontera clx": "Frontera clx", "CSD3 (Cambridge), Xeon": "CSD3", " (x)": ""} {
		if got := published.Machine([]*tidy.Table{{Machine: text}}); got != want {
			t.Errorf("%q is called %q, want %q", text, got, want)
		}
	}
	if _, _, err := run(t, "import", "-o", "b.json", "-cores", "same_socket=4", "bare.tsv"); err != nil {
		t.Error(err)
	}
	if _, _, err := run(t, "import", "-o", "x.json", "-name", "xeon", "p2p.tsv", "xeon.tsv"); err != nil {
		t.Error(err)
	}
	if _, errOut, err := run(t, "import", "-o", "n.json", "node.tsv", "two.tsv"); err != nil || !strings.Contains(strings.Join(strings.Fields(errOut), " "), "messages between nodes are what collectives of two ranks on two nodes took") || !strings.Contains(errOut, "has 4 cells") {
		t.Errorf("%v\n%s", err, errOut)
	}
	refuses(t, nil, "import", []mistake{
		{"p2p.tsv xeon.tsv", "p2p.tsv is of machine \"2 x 4-core\", and xeon.tsv of \"Xeon\": give tables of one machine, or its name with -name"},
		{"-from bcast:1 node.tsv two.tsv", "no row of two.tsv is among what is asked for"},
		{"-o m.json p2p.tsv", "m.json is there already"},
		{"bare.tsv", "level same_socket: nothing says which cores share it: say how many cores in a row share each level (-cores same_socket=28"},
		{"-cores same_socket=x bare.tsv", "-cores: \"same_socket=x\""},
		{"-cores socket=4 bare.tsv", "no row is of level \"socket\""},
		{"lacks.tsv", "lacks.tsv:1: no column latency_us among level, m_bytes"},
		{"commas.csv", "commas.csv:1: columns are separated by tabs"},
		{".", ". is a directory: name the files in it"},
		{"bad.tsv", "bad.tsv:2: latency_us is \"-0.2\""},
		{"-format tidy other.tsv", "other.tsv:1: no column"},
		{"-format tidy none.tsv", "none.tsv is not there"},
		{"-format tidy", "it needs files"},
		{"-format csv p2p.tsv", "-format: there is no \"csv\""},
		{"-format text -cores a=2 p2p.tsv", "-cores is of tables with named columns"},
	})
}

// A table of collectives beside a table of messages is estimated from, and the output says what it
// tells.
func TestImportTimed(t *testing.T) {
	t.Chdir(tidyTables(t))
	var rows strings.Builder
	rows.WriteString("# Open MPI 4.1.5\ncollective\talg_id\talgorithm\tmapping\tP\tnodes\tm_bytes\tlatency_us\tmin_us\tmax_us\titers\trep\tsrc\tflag\n")
	for p, us := range map[string]string{"3": "1.4", "4": "1.9", "5": "3.8", "6": "5.6", "7": "7.5", "8": "9.4"} {
		for _, alg := range []string{"1\tbasic_linear", "2\tchain"} {
			rows.WriteString("bcast\t" + alg + "\tcore\t" + p + "\t1\t1024\t" + us + "\t-\t" + us + "\t100\t1\tX\t-\n")
		}
	}
	save(t, "", "timed.tsv", rows.String())
	_, errOut, err := run(t, "import", "-o", "m.json", "p2p.tsv", "timed.tsv")
	if err != nil || !strings.Contains(errOut, "Estimated from 12 timings") {
		t.Fatalf("%v\n%s", err, errOut)
	}
	f := loadParams(t, "m.json")
	if got := f.Provenance.Published; !strings.Contains(got[len(got)-1], "timed.tsv") {
		t.Errorf("the file does not say that timed.tsv was estimated from: %q", got)
	}
	save(t, ".", "fan.tsv", "# 2 x 4-core\nlevel\tP\tm_bytes\tlatency_us\nsame_socket\t3\t1024\t1\n")
	for _, tt := range []struct{ args, says string }{
		{"timed.tsv", "give one of messages too"},
		{"fan.tsv", "do not say what a message alone takes: give a table of messages too"},
		{"-pairs 1,2 p2p.tsv", "-pairs is of what MPI benchmarks printed"},
		{"-net ib0 p2p.tsv", "-net is of what MPI benchmarks printed"},
		{"-from chain p2p.tsv", "give a table of collectives too"},
		{"-from bcast:binomial p2p.tsv timed.tsv", "it has P from 3 to 8, m from 1024 to 1024 bytes, mapping core, and bcast:"},
	} {
		_, _, err := run(t, append([]string{"import"}, strings.Fields(tt.args)...)...)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.says)
		}
	}
}
