package tidy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

func read(t testing.TB, text string) *Table {
	return must.Get(Read(strings.NewReader(text), "t.tsv", ""))
}

// readFile reads a table of testdata.
func readFile(t testing.TB, name string) *Table {
	t.Helper()
	return read(t, string(must.Get(os.ReadFile("testdata/"+name+".tsv"))))
}

func TestRead(t *testing.T) {
	m := read(t, "\ufeff"+strings.ReplaceAll(string(must.Get(os.ReadFile("testdata/messages.tsv"))), "\n", "\r\n"))
	check.Need(t, len(m.Head) == 2 && m.Head[1] == "a comment" && len(m.Points) == 6, "%d lines of head, %d messages", len(m.Head), len(m.Points))
	check.Equal(t, m.Points[3], Point{7, "same_socket", params.ChannelMessage, 1, 0, 3, 1024, Times{1250, 1250}}, "a point")
	got := readFile(t, "fanouts").Points[1]
	check.True(t, got.Tau == 3 && got.Slowest == 700, "%+v", got)
	got = readFile(t, "streams").Points[0]
	check.True(t, got.Level == "other_node" && got.Tau == 4 && got.Bytes == 1 && got.Times == (Times{500, 500}), "%+v", got)
	c := readFile(t, "collectives").Collectives
	ns, recorded := c[0].Compared()
	check.True(t, ns == 4250 && recorded && c[0].ID == 6 && !c[0].Noise && c[0].Nodes == 1, "%+v", c[0])
	ns, recorded = c[1].Compared()
	check.True(t, ns == 3500 && !recorded && c[1].ID == -1 && c[1].Noise && c[1].Nodes == 2, "%+v", c[1])
	check.True(t, !c[3].Noise, "a flag of none is noise")
	for i, want := range []int{1024, 1024, 1024, 128, 0} {
		check.Equal(t, c[i].Bytes, want, "m of %s", c[i].Collective)
	}
}

func TestReadRefused(t *testing.T) {
	for _, tt := range []struct{ text, says string }{
		{"", "no line with names of columns"},
		{"# only a head\n", "no line with names of columns"},
		{"level\tm_bytes\tlatency_us\n", "has no rows"},
		{"level\tm_bytes\tlatency\n", "t.tsv:1: no column latency_us among level, m_bytes, latency"},
		{"level\tlevel\tm_bytes\tlatency_us\n", "is there twice"},
		{"level,m_bytes,latency_us\nx,1,0.5\n", "t.tsv:1: columns are separated by tabs, and this line has none"},
		{"l\x00e\x00v\x00e\x00l\x00\n", "t.tsv:1: a zero byte"},
		{"level  m_bytes  latency_us\nx  1  0.5\n", "t.tsv:1: columns are separated by tabs, and this line has none"},
		{"Level\tM_bytes\tLatency_us\nx\t1\t0.5\n", "t.tsv:1: no column level, m_bytes, latency_us among Level, M_bytes, Latency_us"},
		{"\"level\"\t\"m_bytes\"\t\"latency_us\"\n\"x\"\t1\t0.5\n", "t.tsv:1: the names of columns are in quotation marks"},
		{"level\tm_bytes\tlatency_us\nx\t1\n", "t.tsv:2: 2 fields, and the columns are 3"},
		{"level\tm_bytes\tlatency_us\nx\t1\t-0.5\n", "t.tsv:2: latency_us is \"-0.5\": give a time in µs"},
		{"level\tm_bytes\tlatency_us\nx\t1\t0\n", "t.tsv:2: latency_us is 0, which is no time of a message: leave the row out"},
		{"level\tm_bytes\tlatency_us\nx\t1\tNaN\n", "latency_us is \"NaN\""},
		{"level\tm_bytes\tlatency_us\nx\t1\t-\n", "latency_us is missing or unknown: give a time in µs, or leave the row out"},
		{"level\tm_bytes\tlatency_us\nx\t1.5\t1\n", "m_bytes is \"1.5\""},
		{"level\tm_bytes\tlatency_us\nx:y\t1\t1\n", "\"x:y\" is no level: give a name of letters, digits, spaces, _, - and ."},
		{"level\tm_bytes\tlatency_us\tsrc_core\tdst_core\nx\t1\t1\t0\t-\n", "give both, or neither"},
		{"level\tm_bytes\tlatency_us\nx\t1\t1.25\nx\t2\t1.2", "ends in the middle"},
		{"collective\talgorithm\tP\tm_bytes\tlatency_us\n-\tchain\t2\t1\t1\n", "collective is -: say which one it was"},
		{"collective\talgorithm\tP\tm_bytes\tlatency_us\nbcast\t-\t2\t1\t1\n", "which algorithm it was"},
		{"collective\talgorithm\tP\tm_bytes\tlatency_us\tmax_us\nbcast\tchain\t2\t1\t3.5\t2.5\n", "t.tsv:2: max_us is 2.5, less than latency_us"},
		{"collective\talgorithm\tP\tm_bytes\tlatency_us\nbcast\tchain\t0\t1\t1\n", "P is \"0\""},
		{"# m_bytes: bcast: the block of each rank\ncollective\talgorithm\tP\tm_bytes\tlatency_us\nbcast\tchain\t1048576\t1125899906842624\t1\n", "t.tsv:3: m_bytes is 1125899906842624, the block of each of 1048576 ranks"},
		{strings.Repeat("x", maxLine+1), "a line of more than"},
	} {
		contains.Error(t, must.Err(Read(strings.NewReader(tt.text), "t.tsv", "")), tt.says)
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"# head\nm_bytes\tlevel\n": true, "Level;M_bytes;Latency_us\n": true, "level  m_bytes  latency_us\n": true,
		"\"level\"\t\"m_bytes\"\n": true, "the level of messages\nm_bytes\tlevel\n": false,
		"# OSU MPI Latency Test v7.4\n# Size\n1 0.2\n": false, "#m\t2\n#tau\t1\n# m\to\tL\n1\t1e-6\t2e-7\n": false,
	} {
		check.Equal(t, Is([]byte(text)), want, "%q", text)
	}
}

// file imports tables, and writes and reads the file.
func file(t testing.TB, tables ...*Table) *params.File {
	t.Helper()
	var b bytes.Buffer
	must.Do(must.Get(File(tables, nil)).Write(&b))
	return must.Get(params.Read(&b, "f.json"))
}

func TestFile(t *testing.T) {
	f := file(t, readFile(t, "messages"), readFile(t, "fanouts"), readFile(t, "streams"))
	try := func(variant string, tau, m int, want float64, samples int) {
		t.Helper()
		c := lists.Find(f.Cells, func(c params.Cell) bool { return c.VariantName() == variant && c.Tau == tau && c.Bytes == m })
		check.True(t, c != nil && c.Time.Center == want && len(c.Samples) == samples, "%s: %+v", variant, c)
	}
	try("same_socket:T", 1, 1, 300, 3)
	try("other_node:T", 1, 1, 1900, 1)
	try("same_socket:fanout", 3, 1, 700, 1)
	try("other_socket:fanout", 4, 1, 500, 1)
	try("other_node:gap", 4, 1, 500, 1)
	check.Equal(t, len(f.Warnings), 1, "number of warnings")
	check.Equal(t, len(f.Provenance.Published), 2, "number of published sources")
	for _, tt := range []struct {
		a, b int
		want string
	}{{0, 3, "same_socket"}, {4, 6, "same_socket"}, {3, 4, "other_socket"}} {
		check.Equal(t, f.Provenance.Levels[f.Provenance.Levels.Of(tt.a, tt.b)].Name, tt.want, "level of cores %d and %d", tt.a, tt.b)
	}
	last := f.Provenance.Levels[2]
	check.True(t, last.Name == "other_node" && len(last.Groups) == 0, "the last level is %+v", last)
}

func TestTopology(t *testing.T) {
	const columns = "level\tsrc_core\tdst_core\tm_bytes\tlatency_us\n"
	pairs := func(rows ...string) string {
		return columns + strings.Join(lists.Map(rows, func(row string) string {
			f := strings.Fields(row)
			return f[0] + "\t" + f[1] + "\t" + f[2] + "\t1\t" + f[3] + "\n"
		}), "")
	}
	many := lists.Map(lists.Indices(maxLevels+1), func(i int) string { return fmt.Sprintf("near%d - - 0.1", i) })
	try := func(name, text string, given map[string]int, want string) { // want: levels, and the level of 0-1, 0-2, 5-7; an error begins with !
		t.Helper()
		levels, err := levelsOf([]*Table{read(t, text)}, given)
		if says, fails := strings.CutPrefix(want, "!"); fails {
			contains.Error(t, err, says)
			return
		}
		got := strings.Join(lists.Map(levels, func(l numa.Level) string { return l.Name }), " ") + ":"
		for _, p := range [][2]int{{0, 1}, {0, 2}, {5, 7}} {
			got += fmt.Sprint(" ", levels.Of(p[0], p[1]))
		}
		check.True(t, err == nil && got == want, "%s: %s, %v; want %s", name, got, err, want)
	}
	try("consecutive cores, from one core's pairs", pairs("near 0 1 0.1", "far 0 2 0.5", "far 0 3 0.5", "far 0 6 0.5"), nil, "near far: 0 1 1")
	try("odd and even", pairs("same_socket 0 2 0.1", "same_socket 0 4 0.1", "same_socket 0 6 0.1", "other_socket 0 1 0.3", "other_socket 0 7 0.3"), nil, "same_socket other_socket: 1 0 0")
	try("all pairs", pairs("near 0 1 0.1", "far 0 2 0.5", "far 0 3 0.5", "far 1 2 0.5", "far 1 3 0.5", "near 2 3 0.1"), nil, "near far: 0 1 -1")
	try("without cores", "# 4 cores share an L3 (2 MB) = one NUMA node, 8 cores a node\n"+pairs("other_numa - - 0.2", "same_l3 - - 0.1"), map[string]int{"other_numa": 8}, "same_l3 other_numa: 0 0 0")
	try("of the head", "# 2 x 28-core\n"+pairs("same_socket - - 0.1", "other_socket - - 0.2"), nil, "same_socket other_socket: 0 0 0")
	try("given", pairs("a - - 0.1", "b - - 0.2"), map[string]int{"a": 2, "b": 8}, "a b: 0 1 1")
	try("within a node", pairs("inter-node - - 0.9", "intra-node - - 0.1"), map[string]int{"intra-node": 8}, "intra-node inter-node: 0 0 0")
	try("a node, other words", "# 8 cores per node, 2 cores per socket\n"+pairs("remote_node - - 0.9", "within_node - - 0.3", "intra_socket - - 0.1"), nil, "intra_socket within_node remote_node: 0 1 1")
	try("numbers are no caches", ""+pairs("level1 - - 0.9", "level3 - - 0.1"), map[string]int{"level1": 8, "level3": 2}, "level3 level1: 0 1 1")
	try("apart in the head's units", "# 2 cores per L3, 4 cores per NUMA node, 8 cores/node\n"+pairs("inter-numa - - 0.3", "sameNuma - - 0.1"), nil, "sameNuma inter-numa: 0 0 0")
	try("apart up to the next level", "# 2 cores per L3, 4 cores per NUMA node, 8 cores per node\n"+pairs("cross_l3 - - 0.2", "same_l3 - - 0.1", "other_numa - - 0.3"), nil, "same_l3 cross_l3 other_numa: 0 1 1")
	try("nodes alone", pairs("other_node - - 0.2"), nil, "other_node: -1 -1 -1")
	try("an unknown word", pairs("close - - 0.1"), nil, "!level close: nothing says which cores share it, neither columns src_core and dst_core, nor its name, which has none of the words core, l2, l3, ccd, numa, socket, node and network: say how many")
	try("nothing", pairs("same_socket - - 0.1"), nil, "!level same_socket: nothing says which cores share it: say how many")
	try("against pairs", pairs("near 0 1 0.1", "far 0 2 0.5"), map[string]int{"near": 3, "far": 6}, "!cores 0 and 2 are at level far in line 3")
	try("against each other", pairs("near 0 1 0.1", "far 1 2 0.5", "near 1 2 0.1"), nil, "!level far: no row says which cores share it")
	try("against closer pairs", pairs("near 0 1 0.1", "far 0 2 0.5", "near 2 3 0.1", "far 3 2 0.1"), nil, "!cores 3 and 2 are at level far in line 5")
	try("one pair of each", pairs("same_socket 0 1 0.1", "other_socket 0 32 0.5", "other_node 0 0 1.5"), nil, "!level same_socket: cores 0 and 32 do not share it, and no row says which of those between do, such as core 2: say how many")
	try("no such", pairs("near 0 1 0.1"), map[string]int{"socket": 4}, "!no row is of level \"socket\"")
	try("many", pairs(many...), nil, "!rows are of 65 levels, such as near0 and near1: a machine has at most 64")
	try("cores without number", "# 99 x 9999-core\n"+pairs("near 0 1 0.1"), nil, "!the head says that ")
}

// Tables must be of one machine, which a column or the head names.
func TestOneMachine(t *testing.T) {
	const rows = "level\tm_bytes\tlatency_us\nother_node\t1\t1\n"
	epyc, again := read(t, "# machine: EPYC, of two sockets\n"+rows), read(t, "# OSU 7\n#  Machine:  epyc, of  two sockets\n"+rows)
	xeon, unnamed := read(t, "level\tmachine\tm_bytes\tlatency_us\nother_node\tXeon\t1\t1\nother_node\t-\t2\t1\n"), read(t, rows)
	check.NoError(t, OneMachine([]*Table{unnamed, epyc, again, unnamed}), "OneMachine")
	contains.Error(t, OneMachine([]*Table{unnamed, epyc, xeon}), `t.tsv is of machine "EPYC, of two sockets", and t.tsv of "Xeon"`)
	contains.Error(t, must.Err(Read(strings.NewReader("level\tmachine\tm_bytes\tlatency_us\nother_node\tXeon\t1\t1\nother_node\tEPYC\t2\t1\n"), "t.tsv", "")), `t.tsv:3: machine is "EPYC", and above it is "Xeon": give`)
}

// Read reads the rows of the given machine, and all rows of a table of one machine.
func TestReadOfMachine(t *testing.T) {
	const several = "level\tmachine\tm_bytes\tlatency_us\nsocket\tA\t1\t1\nsocket\tB\t1\t2\nsocket\tC\t1\t3\nsocket\tB\t2\t4\n"
	for machine, want := range map[string][]float64{"a": {1000}, "B": {2000, 4000}, "C": {3000}} {
		table := must.Get(Read(strings.NewReader(several), "t.tsv", machine))
		got := lists.Map(table.Points, func(m Point) float64 { return m.Mean })
		check.True(t, slices.Equal(got, want) && strings.EqualFold(table.Machine, machine),
			"%s: %v of %s, want %v", machine, got, table.Machine, want)
	}
	contains.Error(t, must.Err(Read(strings.NewReader(several), "t.tsv", "D")), `none of "D"`)
	table := must.Get(Read(strings.NewReader("level\tmachine\tm_bytes\tlatency_us\nsocket\tA\t1\t1\n"), "t.tsv", "mine"))
	check.Equal(t, len(table.Points), 1, "points")
}

// Names of levels may have several words, and numbers of cores may spell them differently. Empty messages alone are
// no level.
func TestLevels(t *testing.T) {
	table := read(t, "level\tm_bytes\tlatency_us\nWithin Socket\t1\t1\nAcross-Sockets\t1\t2\n")
	f := must.Get(File([]*Table{table}, map[string]int{"within-socket": 4, "across_sockets": 8}))
	levels := f.Provenance.Levels
	check.True(t, levels[0].Name == "Within_Socket" && levels[1].Name == "Across-Sockets" && len(levels[0].Groups) == 2 && len(levels[1].Groups) == 1,
		"%v", levels)
	contains.Error(t, must.Err(File([]*Table{table}, map[string]int{"within-socket": 4, "Within_Socket": 8})), "has two numbers of cores")
	table = read(t, "level\tm_bytes\tlatency_us\nother_node\t0\t1.5\n")
	contains.Error(t, must.Err(File([]*Table{table}, nil)), "level other_node has messages of 0 bytes alone")
}

// Published tables are in $TAULOP_SHARED.
func TestPublished(t *testing.T) {
	for _, tt := range []struct {
		machine, levels string
		cores           int
		tables          []string
	}{
		{"orfeo-epyc7h12", "same_l3 32 same_numa 8 same_socket 2 other_socket 1 other_node 0 ", 128, []string{"p2p.tsv", "fanout.tsv"}},
		{"orfeo-thin6126", "same_socket 2 other_socket 1 ", 24, []string{"p2p.tsv"}},
		{"csd3-cascadelake", "other_node 0 ", 0, []string{"p2p.tsv", "multipair.tsv"}},
	} {
		var tables []*Table
		for _, name := range tt.tables {
			path := filepath.Join(os.Getenv("TAULOP_SHARED"), "measured", tt.machine, name)
			skip.Error(t, must.Err(os.Stat(path)))
			tables = append(tables, must.Get(ReadFile(path, "")))
		}
		f := file(t, tables...)
		got := lists.Map(f.Provenance.Levels, func(l numa.Level) string { return fmt.Sprintf("%s %d ", l.Name, len(l.Groups)) })
		check.Equal(t, strings.Join(got, ""), tt.levels, "%s: levels", tt.machine)
		check.Equal(t, f.Provenance.Online.Len(), tt.cores, "%s: cores", tt.machine)
	}
}

// Names of levels as people write them.
func TestRelationOf(t *testing.T) {
	for name, want := range map[string]relation{
		"same_l3": {l3, false}, "same-numa": {numaNode, false}, "sameNuma": {numaNode, false}, "intra-numa": {numaNode, false}, "numa": {numaNode, false},
		"same_numa_node": {numaNode, false}, "sameNUMANode": {numaNode, false}, "numa_local": {numaNode, false}, "within_ccx": {l3, false}, "shared_L2": {l2, false},
		"cross_numa": {numaNode, true}, "other-numa": {numaNode, true}, "remote_numa": {numaNode, true}, "numa_remote": {numaNode, true}, "l3_not_shared": {l3, true},
		"inter-socket": {socket, true}, "intersocket": {socket, true}, "cross_sockets": {socket, true}, "different_package": {socket, true}, "socket": {socket, true},
		"intra_socket": {socket, false}, "same_socket_other_numa": {socket, false}, "other_numa_same_socket": {socket, false}, "on_chip": {socket, false},
		"other_numa_other_socket": {socket, true}, "same_ccd": {ccd, false}, "siblings": {smt, false}, "same_core": {smt, false},
		"same_node": {node, false}, "intranode": {node, false}, "other_node": {node, true}, "inter-node": {node, true}, "node": {node, true}, "between_hosts": {node, true},
		"network": {network, false}, "other_rack": {network, true}, "near": {-1, false}, "level1": {-1, false}, "distance": {-1, false},
	} {
		check.Equal(t, relationOf(name), want, "%s", name)
	}
}

func TestHeads(t *testing.T) {
	for head, want := range map[string]map[int]int{
		"4 cores per L3 (CCX), 16 cores per NUMA node (4 NUMA nodes a socket), 64 cores per socket": {l3: 4, numaNode: 16, socket: 64},
		"12 cores share an L3 (19 MB) = one NUMA node = one socket":                                 {l3: 12, numaNode: 12, socket: 12},
		"nodes with 2 x AMD EPYC 7H12, 64 cores each (128 cores a node)":                            {socket: 64, node: 128},
		"nodes with 2 x 28-core Intel Cascade Lake (56 cores a node)":                               {socket: 28, node: 56},
		"64 cores/socket, 2 sockets":                                                                {socket: 64, node: 128},
		"dual-socket, 48 cores / socket, 12 cores per NUMA domain":                                  {numaNode: 12, socket: 48, node: 96},
		"Core(s) per socket: 32":                                                                    {socket: 32},
		"cores_per_socket=20, 40 cores per node":                                                    {socket: 20, node: 40},
		"2 sockets of 18 cores":                                                                     {socket: 18, node: 36},
		"2 sockets x 24 cores":                                                                      {socket: 24, node: 48},
		"each NUMA node has 8 cores, each socket has 32 cores":                                      {numaNode: 8, socket: 32},
		"8 cores per CCD, P=64, 32 ranks a node":                                                    {ccd: 8},
	} {
		topology := topology{head: make(map[int]int)}
		topology.read([]string{head})
		for unit := range node + 1 {
			check.Equal(t, topology.head[unit], want[unit], "%s: cores of unit %d", head, unit)
		}
	}
}
