package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/params"
)

// smallNetwork writes a network that takes 5 µs and m/100 µs, twice that for two messages
// at once, into the directory of smallMachine.
func smallNetwork(t testing.TB, directory string) (path string) {
	t.Helper()
	path = filepath.Join(directory, "IB.txt")
	text := "#m\t2\n#tau\t2\n#m\to(m)\tL1(m, 1)\tL1(m, 2)\n" +
		"1\t0.000005\t0.00000001\t0.00000002\n" +
		"65536\t0.000005\t0.00065536\t0.00131072\n"
	save(t, "", path, text)
	return path
}

func TestClusterText(t *testing.T) {
	machine, directory := smallMachine(t)
	network := smallNetwork(t, directory)
	ranks := save(t, directory, "ranks", "rank 0=a slot=0\nrank 1=b slot=0\nrank 2=a slot=1\nrank 3=b slot=1\n")
	tcp := filepath.Join(directory, "TCP.txt")
	if err := os.Link(network, tcp); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ command, line, want string }{
		// Two messages between nodes: 5 + 81.92; then two within, one on each: 0.5 + 2·8.192.
		{"predict", "-net " + network + " -nodes 2 -P 4 -m 8K bcast:binomial", `; 2 nodes, block, network IB; τ-Lop, segmented messages, segments of 8K; textbook schedules

bcast, P = 4; times in µs
   m  binomial
  8K       100
`},
		{"explain", "-net " + network + " -nodes 2 -P 4 -m 8K bcast:binomial", `
  Θ = o₁(m) + L₁(m,1) + o(m) + 2L(S,1)
  P = 4, m = 8192 B, S = 8192 B
  L₁, o₁: between nodes, through the network
`},
		{"explain", "-net " + network + " -nodes 2 -P 4 -m 8K bcast:binomial", `
  stage  part      at once           within nodes      between nodes  µs each  cost of each
  1      binomial  1 message of 8K   –                 1              86.92    o₁(m) + L₁(m,1)
  2      binomial  2 messages of 8K  2, 1 at one node  –              16.88    o(m) + 2L(S,1)
`},
		// Cyclic, by words, in a file, or all but: two go from node 0 to node 1.
		{"explain", "-net " + network + " -nodes 2 -map cyclic -P 4 -m 8K bcast:binomial", "\n  Θ = o(m) + 2L(S,1) + o₁(m) + L₁(m,2)\n"},
		{"explain", "-net " + network + " -map " + ranks + " -P 4 -m 8K bcast:binomial", "\n  Θ = o(m) + 2L(S,1) + o₁(m) + L₁(m,2)\n"},
		{"explain", "-net " + network + " -map plane=2 -nodes 2 -P 4 -m 8K bcast:binomial", "\n  Θ = o₁(m) + L₁(m,1) + o(m) + 2L(S,1)\n"},
		{"explain", "-net " + tcp + " -nodes 2 -P 2 -m 8K bcast:binomial", "\n  Θ = o₁(m) + 2L(m,1) + L₁(m,1)\n"},
		{"explain", "-net tcp=" + network + " -nodes 2 -P 2 -m 8K bcast:binomial", "\n  Θ = o₁(m) + 2L(m,1) + L₁(m,1)\n"},
		{"explain", "-net roce=" + tcp + " -nodes 2 -P 2 -m 8K bcast:binomial", "\n  Θ = o₁(m) + L₁(m,1)\n"},
		{"explain", "-nodes 1 -P 4 -m 8K bcast:binomial", "; 1 node; τ-Lop"},
		{"predict", "-net " + network + " -nodes 2 -P 4 -m 8K bcast", "Left out: bcast:sm-tree for P = 4: it copies from buffers of ranks on the same node.\n"},
		{"predict", "-model libtaulop -net " + network + " -nodes 2 -P 4 -m 8K bcast:binomial", "\n  8K     103.8\n"},
		{"predict", "-net " + network + " -nodes 2 -P 4 -m 128K bcast:binomial", ", and of network IB m from 1 to 64K and τ from 1 to 2.\n"},
	} {
		out, _, err := run(t, on(machine, tt.command, tt.line)...)
		if err != nil {
			t.Errorf("%s %s: %v", tt.command, tt.line, err)
		} else if !strings.Contains(out, tt.want) {
			t.Errorf("%s %s:\n%s\nwant\n%s", tt.command, tt.line, out, tt.want)
		}
	}
	out, _ := ran(t, on(machine, "explain", "-json -net "+network+" -nodes 2 -P 4 -m 8K bcast:binomial")...)
	var doc predict.Explanations
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	stage := doc.Calls[0].Stages[1]
	if doc.Cluster != "2 nodes, block, network IB" || stage.Within.Messages != 2 || stage.Within.Busiest != 1 || stage.Between.Messages != 0 {
		t.Errorf("%q, %+v, %+v", doc.Cluster, stage.Within, stage.Between)
	}
}

// What speaks against a network names its file.
func TestClusterWarnings(t *testing.T) {
	machine, directory := smallMachine(t)
	path := filepath.Join(directory, "IB.txt")
	text := "#m\t2\n#tau\t2\n#m\to(m)\tL1(m, 1)\tL1(m, 2)\n1\t0.000005\t0\t0.00000002\n65536\t0.000005\t0.00065536\t0.00131072\n"
	save(t, "", path, text)
	for _, net := range []string{path, "roce=" + path} {
		_, said, err := run(t, on(machine, "predict", "-net "+net+" -nodes 2 -P 4 -m 8K bcast:binomial")...)
		if err != nil || !strings.Contains(said, path+": network ") || !strings.Contains(said, "L(1,1) is 0, which is no time") {
			t.Errorf("%v, %s", err, said)
		}
	}
}

// Two -net are refused; a network that is not there is measured by taulop net.
func TestClusterNetFlag(t *testing.T) {
	machine, directory := smallMachine(t)
	path := smallNetwork(t, directory)
	_, _, err := run(t, on(machine, "predict", "-net A -net "+path+" -nodes 2 -P 4 -m 8K bcast:binomial")...)
	if exitStatus(err) != 2 || !strings.Contains(err.Error(), "-net is there twice") {
		t.Error(err)
	}
	_, _, err = run(t, on(machine, "predict", "-net ib -nodes 2 -P 4 -m 8K bcast:binomial")...)
	if err == nil || exitStatus(err) != 2 || !strings.Contains(err.Error(), "taulop net -o") || strings.Contains(err.Error(), "sweep") {
		t.Errorf("no such network: %v", err)
	}
}

// A file of several networks, each by its name.
func TestClusterFileOfNetworks(t *testing.T) {
	machine, directory := smallMachine(t)
	in, err := os.Open(smallNetwork(t, directory))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	table, err := params.ReadText(in, "IB.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := params.FromNetworkText(table, params.Network{Name: "ib0", Kind: "ib"})
	other := params.FromNetworkText(table, params.Network{Name: "eth0", Kind: "tcp", Copies: 2})
	f.Networks, f.Cells = append(f.Networks, other.Networks...), append(f.Cells, other.Cells...)
	path := filepath.Join(directory, "net.json")
	saveParams(t, f, path)
	for net, want := range map[string]string{
		path: "\n  Θ = o₁(m) + L₁(m,1)\n", "ib0=" + path: "network ib0; ", "eth0=" + path: "\n  Θ = o₁(m) + 2L(m,1) + L₁(m,1)\n",
	} {
		out, _, err := run(t, on(machine, "explain", "-net "+net+" -nodes 2 -P 2 -m 8K bcast:binomial")...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s\nwant %s", net, err, out, want)
		}
	}
	if _, _, err := run(t, on(machine, "predict", "-net eth1="+path+" -nodes 2 -P 2 bcast")...); exitStatus(err) != 2 || !strings.Contains(err.Error(), "no network eth1: the file has ib0, eth0") {
		t.Errorf("%v", err)
	}
}

func TestClusterMistakes(t *testing.T) {
	machine, directory := smallMachine(t)
	network := smallNetwork(t, directory)
	file := func(name, text string) string { return save(t, directory, name, text) }
	holes := file("holes", "rank 0=a slot=0\nrank 2=b slot=0\n")
	twice := file("twice", "rank 0=a slot=0\nrank 0=b slot=0\n")
	two := file("two", "a\nb\n")
	net := " -net " + network + " "
	refuses(t, machine, "predict bcast:binomial", []mistake{
		{"-P 4 -nodes 8" + net, "4 ranks cannot be on 8 nodes"},
		{"-P 4 -nodes 2", "2 nodes need a network between them"},
		{"-P 4 -nodes 0" + net, "-nodes is 0"},
		{"-P 4" + net, "-net is of several nodes: say of how many with -nodes"},
		{"-P 4 -map cyclic", "-map is of several nodes"},
		{"-P 4 -nodes 2 -map diagonal" + net, "-map diagonal is neither a mapping nor a file"},
		{"-P 4 -nodes 2 -map block:diagonal" + net, `"diagonal" is no order of a node's sockets`},
		{"-P 4 -nodes 2 -map block:cyclic" + net, "chooses among what taulop sweep measured"},
		{"-P 4 -nodes 2 -placement local -map block:cyclic" + net, "chooses a placement, and so does -placement"},
		{"-P 2 -map " + holes + net, "holes:2: rank 1 is missing"},
		{"-P 2 -map " + twice + net, "twice:2: rank 0 is there twice, first in line 1"},
		{"-P 2 -nodes 3 -map " + two + net, "two names 2: leave -nodes out"},
		{"-P 4 -map " + two + net, "places ranks 0 … 1, and P = 4"},
		{"-P 4 -nodes 2 -net " + two, "-net: "},
		{"-P 4 -nodes 2 -net " + directory + "/none", "none is not there"},
		{"-P 4 -nodes 2 -net " + directory + "/SHM.txt -model lognp", "model lognp knows one node alone"},
		{"-P 4 -nodes 2 -net a:b=" + network, "is no name of a network"},
	})
	_, _, err := run(t, on(machine, "predict", "-P 4 -nodes 2"+net+"bcast:sm-tree")...)
	if exitStatus(err) != 2 || !strings.Contains(err.Error(), "copies from the buffers of other ranks") {
		t.Errorf("%v", err)
	}
}
