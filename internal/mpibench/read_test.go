package mpibench

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

// text writes times for comparison.
func text(times []Time) []string {
	return lists.Map(times, func(t Time) string {
		what := strings.TrimSpace(string(t.Kind) + " " + t.Operator)
		return fmt.Sprintf("%s %s %s P=%d m=%d %gus line %d", t.Suite, t.Benchmark, what, t.P, t.Bytes, t.Microseconds, t.Line)
	})
}

func omitted(all []Omission) []string {
	return lists.Map(all, func(o Omission) string { return fmt.Sprintf("%s line %d: %s", o.Benchmark, o.Line, o.Why) })
}

// Outputs on a machine with two cores: IMB 2021.11 over Open MPI, where one benchmark ran out of time,
// and over MPICH, and nine benchmarks of OSU 5.3, two of them with -f.
func TestReadRuns(t *testing.T) {
	for _, tt := range []struct {
		file         string
		times        map[Kind]int // rows, of some kinds
		has, leftOut []string     // some
	}{
		{"imb-2021.11.txt", map[Kind]int{Message: 4, Sendrecv: 6, Exchange: 4, "bcast": 3, "barrier": 1, "allreduce": 3, "reduce": 3, "allgather": 3, "alltoall": 3, "scatter": 3, "gather": 3}, []string{
			"IMB PingPong message P=2 m=0 0.22us line 47",
			"IMB PingPong message P=2 m=262144 24.86us line 50",
			"IMB PingPing sendrecv P=2 m=65536 16.13us line 58",
			"IMB Exchange exchange P=2 m=131072 49.26us line 78",
			"IMB Bcast bcast P=2 m=65536 10.17us line 87",
			"IMB Barrier barrier P=2 m=0 0.36us line 96",
		}, []string{
			"Sendrecv line 69: IMB did not measure 131072 bytes: time-out",
			"Bcast line 86: a collective of 0 bytes moves nothing",
		}},
		{"imb-2021.11-reduce-local.txt", map[Kind]int{Message: 11, Reduction: 20}, []string{
			"IMB Reduce_local reduction SUM_F P=1 m=512 0.22us line 55",
			"IMB Reduce_local reduction SUM_F P=2 m=65536 26.93us line 79",
		}, []string{"Reduce_local line 54: less than one element reduces nothing"}},
		{"osu-5.3.txt", map[Kind]int{"bcast": 12, "barrier": 2, "allreduce": 14, "reduce": 14, "allgather": 16, "alltoall": 16, "scatter": 16, "gather": 16}, []string{
			"OSU osu_bcast bcast P=0 m=1 0.88us line 4",      // Max Latency
			"OSU osu_barrier barrier P=0 m=0 1.05us line 19", // Max Latency
		}, nil},
	} {
		got := must.Get(ReadFile(filepath.Join("testdata", tt.file)))
		lines := slices.Concat(text(got.Times), omitted(got.LeftOut))
		for kind, want := range tt.times {
			of := lists.Filter(got.Times, func(row Time) bool { return row.Kind == kind })
			check.Equal(t, len(of), want, "%s: times of %s", tt.file, kind)
		}
		for _, want := range slices.Concat(tt.has, tt.leftOut) {
			check.True(t, slices.Contains(lines, want), "%s lacks %s; it has\n%s", tt.file, want, strings.Join(lines, "\n"))
		}
	}
}

// outputs have the suites' format and invented numbers.
var outputs = []struct {
	name, text string
	times      []string
	leftOut    []string
}{
	{"IMB 2.3, lines ending in CRLF, its name in front", "#---------------------------------------------------\r\n" +
		"#    Intel (R) MPI Benchmark Suite V2.3, MPI-1 part    \r\n#\r\n" +
		"# Benchmarking Sendrecv \r\n# #processes = 4 \r\n#------\r\n" +
		"       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\r\n" +
		"            0         1000         4.06         4.08         4.07         0.00\r\n" +
		"            1         1000         4.22         4.25         4.22         0.45\r\n\r\n\r\n# All processes entering MPI_Finalize\r\n",
		[]string{"IMB Sendrecv sendrecv P=4 m=0 4.08us line 8", "IMB Sendrecv sendrecv P=4 m=1 4.25us line 9"}, nil},
	{"IMB with idle ranks, ranks in rows, defects and what cannot be compared", invented("imb-defects"),
		[]string{"IMB PingPong message P=2 m=64 0.5us line 7", "IMB Alltoall alltoall P=4 m=64 3.5us line 17"},
		[]string{
			"PingPong line 8: with 128 bytes wrong data arrived",
			"Alltoall line 18: IMB did not measure 4194304 bytes: out-of-mem",
			"Uniband line 22: taulop predicts nothing like it",
			"Bcast line 28: one rank alone moves nothing",
			"Multi-Bcast line 34: several groups of ranks run at once",
			"Ibcast line 39: taulop predicts nothing like it",
		}},
	{"cut within a heading, and stopped before a row", "# Benchmarking Bcast\n# #processes = 2\n#bytes #repetitions t_max[usec]\n# Benchmarking PingPong\n# #proc", nil,
		[]string{"Bcast line 1: its table has no row: the benchmark was stopped, or its output cut", "PingPong line 4: its table has no heading: the benchmark was stopped, or its output cut"}},
	{"cut within titles that nothing is predicted of", "# Benchmarking Unib", nil, []string{"Unib line 1: its table has no heading: the benchmark was stopped, or its output cut"}},
	{"cut within the word", "# Benchmarking Barrier\n# #processes = 2\n#repetitions t_max[usec]\n1000 1.05\n\n# Benchm",
		[]string{"IMB Barrier barrier P=2 m=0 1.05us line 4"}, []string{"# Benchm line 6: its table has no heading: the benchmark was stopped, or its output cut"}},
	{"OSU cut within the title", "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n8 0.31\n# OSU M",
		[]string{"OSU osu_latency message P=2 m=8 0.31us line 3"}, []string{"OSU M line 4: its table has no heading: the benchmark was stopped, or its output cut"}},
	{"no line end", "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n8 0.31\n16 10.42", []string{"OSU osu_latency message P=2 m=8 0.31us line 3", "OSU osu_latency message P=2 m=16 10.42us line 4"}, nil},
	{"Ctrl-Z", "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n8 0.31\n\x1a", []string{"OSU osu_latency message P=2 m=8 0.31us line 3"}, nil},
	{"OSU 3.1", "# OSU MPI Latency Test v3.1.1\n# Size            Latency (us)\n0                        19.23\n1024                     31.54\n",
		[]string{"OSU osu_latency message P=2 m=0 19.23us line 3", "OSU osu_latency message P=2 m=1024 31.54us line 4"}, nil},
	{"OSU 5.6, after a launcher's lines, indented", "    Rank 1 - About to run: osu_latency\n    2 ranks\n\n    # OSU MPI Latency Test v5.6.3\n    # Size          Latency (us)\n    8                       0.31\n",
		[]string{"OSU osu_latency message P=2 m=8 0.31us line 6"}, nil},
	{"OSU 7 with a datatype, full and validated", invented("osu-7-full"),
		[]string{"OSU osu_alltoall alltoall P=0 m=1 4.6us line 6", "OSU osu_allreduce MPI_INT allreduce P=0 m=4 11.69us line 12", "OSU osu_barrier barrier P=0 m=0 165.7us line 15"},
		[]string{"osu_alltoall line 8: with 2 bytes wrong data arrived"}},
	{"IMB stopped between tables", "#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part\n# Benchmarking Barrier\n# #processes = 2\n#repetitions t_max[usec]\n1000 1.05\n",
		[]string{"IMB Barrier barrier P=2 m=0 1.05us line 5"}, []string{"IMB-MPI1 line 1: its output does not go on to \"All processes entering MPI_Finalize\": the benchmark was stopped, or its output cut"}},
	{"cut within the title, before another output", "#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part\n# Benchmarking Barrier\n# #processes = 2\n#repetitions t_max[usec]\n1000 1.05\n\n# Benchm\n# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n8 0.31\n",
		[]string{"IMB Barrier barrier P=2 m=0 1.05us line 5", "OSU osu_latency message P=2 m=8 0.31us line 10"}, []string{"IMB-MPI1 line 1: its output does not go on to \"All processes entering MPI_Finalize\": the benchmark was stopped, or its output cut"}},
	{"cut within the title, and the line ended", "# Benchmarking Barrier\n# #processes = 2\n#repetitions t_max[usec]\n1000 1.05\n\n# Benchm\n",
		[]string{"IMB Barrier barrier P=2 m=0 1.05us line 4"}, []string{"# Benchm line 6: its table has no heading: the benchmark was stopped, or its output cut"}},
	{"cut above the title", "# Benchmarking Barrier\n# #processes = 2\n#repetitions t_max[usec]\n1000 1.05\n\n#-----------\n",
		[]string{"IMB Barrier barrier P=2 m=0 1.05us line 4"}, []string{"#----------- line 6: its table has no heading: the benchmark was stopped, or its output cut"}},
	{"IMB -multi 0 and -multi 1", invented("imb-multi"), []string{"IMB Multi-PingPong message P=6 m=0 0.25us line 5", "IMB Multi-PingPong message P=6 m=64 0.44us line 6",
		"IMB Multi-Sendrecv sendrecv P=6 m=64 1.02us line 14", "IMB Multi-Sendrecv sendrecv P=6 m=64 1.06us line 15"}, nil},
	{"OSU multiple pairs", invented("osu-pairs"), []string{"OSU osu_mbw_mr stream P=8 m=1 0.25us line 4", "OSU osu_mbw_mr stream P=8 m=1048576 341.3333333333333us line 5",
		"OSU osu_mbw_mr stream P=4 m=1024 0.5us line 9", "OSU osu_multi_lat message P=0 m=0 0.98us line 12"},
		[]string{"osu_mbw_mr line 14: its window varies: run it without -V"}},
	{"reductions by one rank and by several, of less than an element, and of what nobody says", invented("imb-reductions"), []string{"IMB Reduce_local reduction SUM_R P=1 m=64 0.03us line 12", "IMB Multi-Reduce_local reduction SUM_R P=4 m=64 0.05us line 16"},
		[]string{
			`Reduce_local line 4: it does not say what it reduced: the line "# MPI_Datatype for reductions : …" is missing above`,
			"Reduce_local line 10: less than one element reduces nothing",
			"Reduce_local line 20: it reduced elements of type MPI_CHAR, of which taulop has no operator",
			`Multi-Reduce_local line 25: it does not say what it reduced: the line "# MPI_Datatype for reductions : …" is missing above`,
		}},
	{"OSU that cannot be compared", invented("osu-others"), nil,
		[]string{
			"OSU MPI Bi-Directional Bandwidth Test line 2: it measures no latency of an MPI operation",
			"OSU MPI-CUDA Broadcast Latency Test line 5: its data is in the memory of an accelerator",
			"OSU MPI Multi-threaded Latency Test line 8: taulop predicts nothing like it",
			"OSU MPI Non-blocking Broadcast Latency Test line 13: taulop predicts nothing like it",
			"OSU MPI_Init Test line 15: taulop predicts nothing like it",
		}},
	{"OSU with several data types, in one run (-T all), and derived ones (-D)", "# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n8 0.9\n# Datatype: MPI_FLOAT.\n# Size       Avg Latency(us)\n8 0.3\n" +
		"# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)     Transmit Size\n8 0.36 16\n",
		[]string{"OSU osu_allreduce allreduce P=0 m=8 0.9us line 4", "OSU osu_allreduce MPI_FLOAT allreduce P=0 m=8 0.3us line 7"}, []string{"osu_latency line 10: its messages have derived data types: run it without -D"}},
	{"two hosts, one after the other", "n1: # OSU MPI Latency Test v7.5\nn1: # Size  Latency (us)\nn1: 8 0.31\nn2: # OSU MPI Latency Test v7.5\nn2: # Size  Latency (us)\nnote: 3 of 4\nn2: 8 0.32\nn1:\n",
		[]string{"OSU osu_latency message P=2 m=8 0.31us line 3", "OSU osu_latency message P=2 m=8 0.32us line 7"}, nil},
	{"a byte order mark", "\ufeff# OSU MPI Latency Test\n# Size  Latency (us)\n1  2\n", []string{"OSU osu_latency message P=2 m=1 2us line 3"}, nil},
	// Columns of percentiles (-z of OSU 7) do not change the time, the mean of all.
	{"percentiles, separated by blanks and by commas", invented("osu-percentiles"), []string{"OSU osu_latency message P=2 m=8192 1.75us line 4", "OSU osu_latency message P=2 m=8192 1.75us line 7", "OSU osu_bcast bcast P=0 m=8192 2.02us line 10",
		"OSU osu_bcast bcast P=0 m=8192 2.02us line 13", "OSU osu_bw stream P=2 m=8192 2us line 16", "OSU osu_barrier barrier P=0 m=0 0.25us line 19", "OSU osu_barrier barrier P=0 m=0 0.25us line 22"}, nil},
}

// invented is an output in a file.
func invented(name string) string {
	return string(must.Get(os.ReadFile(filepath.Join("testdata/invented", name+".txt"))))
}

func TestRead(t *testing.T) {
	for _, tt := range outputs {
		got, err := Read(strings.NewReader(tt.text), "out.txt")
		check.Need(t, err == nil, "%s: %v", tt.name, err)
		check.Slices(t, text(got.Times), tt.times, "%s: rows", tt.name)
		check.Slices(t, omitted(got.LeftOut), tt.leftOut, "%s: left out", tt.name)
	}
}

func TestReadRefuses(t *testing.T) {
	const head = "# Benchmarking Bcast\n# #processes = 2\n#bytes #repetitions t_max[usec]\n"
	const osuHead = "# OSU MPI Latency Test v7.5\n# Size       Avg Latency(us)\n"
	many := lists.Map(lists.Indices(maxTimes+1), func(m int) string { return fmt.Sprintf("%d 1.00\n", m) })
	for _, tt := range []struct{ text, want string }{
		{"", "out.txt holds no table of IMB-MPI1"},
		{"1 2 3\nhello\n", "out.txt holds no table"},
		{head + "64 1000\n", "out.txt:4: Bcast: 2 values, and the heading has 3 columns"},
		{head + "64 1000 fast\n", `out.txt:4: Bcast: "fast" is no time in µs`},
		{head + "64 1000 -3\n", `"-3" is no time`}, {head + "64 1000 NaN\n", `"NaN" is no time`},
		{head + "64 1000 1e300\n", `"1e300" is no time`},
		{head + "6.4 1000 3\n", `out.txt:4: Bcast: "6.4" is no size`},
		{head + "-64 1000 3\n", `"-64" is no size`},
		{head + "99999999999999999999 1000 3\n", "is no size"},
		{"# Benchmarking Bcast\n#bytes #repetitions t_max[usec]\n", `out.txt:2: Bcast does not say among how many ranks it ran: the line "# #processes`},
		{"# Benchmarking Bcast\n# #processes = 0\n", `out.txt:2: "0" is no number of processes`},
		{"# Benchmarking Bcast\n# #processes = 99999999999\n", "is no number of processes"},
		{"# Benchmarking Bcast\n# #processes = 2\n#repetitions t_max[usec]\n", "out.txt:3: the heading of Bcast has no column of sizes"},
		{osuHead + "1 2 3\n", "out.txt:3: osu_latency: 3 values, and the heading has 2 columns"},
		{osuHead + "1\t" + strings.Repeat("1", maxLine) + "\n", "out.txt:3: a line of more than"},
		{osuHead + strings.Join(many, ""), fmt.Sprintf("out.txt:%d: more than %d rows", maxTimes+3, maxTimes)},
		{osuHead + "8 0.31\n8 0.32\n", "out.txt:4: osu_latency: 8 bytes are there twice in a table, first in line 3"},
		{osuHead + "8 0,31\n", `out.txt:3: osu_latency: "0,31" is no time in µs`},
		{"# OSU MPI Barrier Latency Test v7.5\n# Avg Latency(us)\n 0,31\n", `out.txt:3: osu_barrier: "0,31" is no time in µs`},
		{osuHead + "1_000 0.31\n", `out.txt:3: osu_latency: "1_000" is no size`},
		{osuHead + "0x10 0.31\n", `out.txt:3: osu_latency: "0x10" is no size`},
		{osuHead + "8 1_000\n", `out.txt:3: osu_latency: "1_000" is no time`},
		{osuHead + "8 0x1p4\n", `out.txt:3: osu_latency: "0x1p4" is no time`},
		{osuHead + "512 31.54\n1024 35", `out.txt:4: osu_latency: the file ends in the middle of this line, after "35"`},
		{osuHead + "512 31.54\n1024 35.1", `out.txt:4: osu_latency: the file ends in the middle`},
		{osuHead + "1024 35", `out.txt:3: osu_latency: the file ends in the middle`},
		{osuHead + "512 31.54\n1024", `out.txt:4: osu_latency: the file ends in the middle`},
		{"# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n1  fast\n", `out.txt:3: osu_bw: "fast" is no bandwidth in MB/s`},
		{"# OSU MPI Multiple Bandwidth / Message Rate Test v7.5\n# Size  MB/s  Messages/s\n1 2 3\n", "out.txt:3: osu_mbw_mr does not say how many pairs ran"},
		{"# OSU MPI Multiple Bandwidth / Message Rate Test v7.5\n# [ pairs: 0 ] [ window size: 64 ]\n", `out.txt:2: "0" is no number of pairs`},
		{"# Benchmarking Multi-PingPong\n# ( 0 groups of 2 processes each running simultaneous )\n", "groups of"},
		{"n1: " + osuHead + "n2: " + osuHead + "n1: 8 0.31\n", `out.txt:5: lines of "n1:" and "n2:" alternate`},
		{"\xff\xfe#\x00", "out.txt:1: the file is UTF-16"},
	} {
		contains.Error(t, must.Err(Read(strings.NewReader(tt.text), "out.txt")), tt.want)
	}
	check.ErrorIs(t, must.Err(ReadFile(filepath.Join(t.TempDir(), "none"))), fs.ErrNotExist, "no file")
}

// IMB says that buffers were off cache where it repeats its command, and nowhere else.
func TestOffCache(t *testing.T) {
	text := string(must.Get(os.ReadFile("testdata/imb-2021.11.txt")))
	for off, command := range map[bool]string{false: " -npmin 2 ", true: " -off_cache -1 -npmin 2 "} {
		text := strings.Replace(text, " -npmin 2 ", command, 1)
		check.Equal(t, must.Get(Read(strings.NewReader(text), "imb.txt")).OffCache, off, "off cache")
	}
}
