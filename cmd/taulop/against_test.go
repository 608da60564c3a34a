package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/params"
)

// On the machine of smallTable: o = 0.5 µs, and 1 ns a byte for up to two
// transfers at once.
const (
	imbOutput = `# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
         8192         1000        16.00       512.00
        16384          640        25.08       653.27

# Benchmarking Sendrecv
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         8192         1000        20.00        20.00        20.00       819.20

# Benchmarking Allreduce
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         8192         1000        20.00        20.00        20.00

# Benchmarking Sendrecv
# #processes = 3
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         8192         1000        20.00        20.00        20.00       819.20
`
	osuOutput = "# OSU MPI Broadcast Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n8192  33.77\n"
)

func outputs(t *testing.T) (imb, osu string) {
	t.Helper()
	directory := t.TempDir()
	imb, osu = filepath.Join(directory, "imb.txt"), filepath.Join(directory, "osu.txt")
	for path, text := range map[string]string{imb: imbOutput, osu: osuOutput} {
		save(t, "", path, text)
	}
	return imb, osu
}

func TestAgainstText(t *testing.T) {
	machine, directory := smallMachine(t)
	imb, osu := outputs(t)
	for _, tt := range []struct{ line, want string }{
		// 0.5 + 2·8.192, and 0.5 + 2·8.192 + 8.192.
		{"-against " + imb + " message", `
PingPong, P = 2; times in µs, errors in % of what was measured
    m  measured  τ-Lop  error  log_nP  error
   8K     16.00  16.88   +5.5   16.88   +5.5
  16K     25.08  25.08   +0.0   25.08   +0.0

Mean relative errors, %
  benchmark  P  rows  τ-Lop  log_nP
   PingPong  2     2    2.8     2.8
`},
		// Three at once take 12.288 each way.
		{"-against=" + imb + " -P 3 sendrecv", `
Sendrecv, P = 3; times in µs, errors in % of what was measured
   m  measured  τ-Lop  error  log_nP  error
  8K     20.00  25.08  +25.4   16.88  -15.6
`},
		{"-m 16K -against " + imb, `
  benchmark  P  rows  τ-Lop  log_nP
   PingPong  2     1    0.0     0.0
`},
		{"-transport single-copy -against " + imb + " message", "\n   8K     16.00  8.692  -45.7   8.692  -45.7\n"},
		{"-against " + osu + " -P 4", `
osu_bcast as bcast:binomial, P = 4; times in µs, errors in % of what was measured
   m  measured  τ-Lop  error  log_nP  error  nearest algorithm  τ-Lop  error
  8K     33.77  33.77   +0.0   33.77   +0.0           binomial  33.77   +0.0
`},
		{"-against " + osu + " -P 4 bcast:linear", `
osu_bcast as bcast:linear, P = 4; times in µs, errors in % of what was measured
   m  measured  τ-Lop  error  log_nP  error
  8K     33.77  50.65  +50.0   50.65  +50.0
`},
	} {
		out, errOut, err := run(t, on(machine, "verify", tt.line)...)
		if err != nil || errOut != "" || !strings.Contains(out, tt.want) {
			t.Errorf("verify %s: %v %s\n%s\nwant%s", tt.line, err, errOut, out, tt.want)
		}
	}
	out, _, err := run(t, "verify", "-against", imb, "-params", filepath.Join(directory, "SHM.txt"))
	if err != nil || !strings.Contains(out, "Left out: Allreduce (line 15): it needs γ") || strings.Contains(out, "allreduce:") {
		t.Errorf("without γ: %v\n%s", err, out)
	}
}

// A time of 0 predicts nothing.
func TestAgainstZeros(t *testing.T) {
	path := filepath.Join(t.TempDir(), "SHM.txt")
	table := strings.ReplaceAll(smallTable, "0.000065536", "0")
	save(t, "", path, table)
	imb, _ := outputs(t)
	out, errOut, err := run(t, "verify", "-against", imb, "-params", path, "message")
	if want := "\n   8K     16.00      –      –       –      –\n"; err != nil || !strings.Contains(out, want) || strings.Contains(out, "Mean") || !strings.Contains(errOut, "is no time") {
		t.Errorf("%v\n%s%s\nwant%s", err, errOut, out, want)
	}
}

func TestAgainstJSON(t *testing.T) {
	machine, _ := smallMachine(t)
	imb, _ := outputs(t)
	file := filepath.Join(t.TempDir(), "against.json")
	if out, _, err := run(t, on(machine, "verify", "-against "+imb+" -json -o "+file)...); err != nil || out != "" {
		t.Fatal(out, err)
	}
	data := load(t, file)
	var doc report.Against
	if err := json.Unmarshal([]byte(data), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Rows) != 5 || len(doc.Means) != 4 || doc.Model != "τ-Lop" || doc.Output != imb || doc.LeftOut == nil {
		t.Errorf("%+v", doc)
	}
	if r := doc.Rows[3]; r.Benchmark != "Allreduce" || r.Nearest == nil || r.Predicted.Algorithm != "allreduce:recursive-doubling" {
		t.Errorf("%+v", r)
	}
}

// From a native file come one-way messages as ping has them, exchanges as ring.
func TestAgainstNative(t *testing.T) {
	imb, _ := outputs(t)
	table, err := params.ReadText(strings.NewReader(smallTable), "SHM.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := params.FromText(table, nil)
	var cells []params.Cell
	for _, setup := range []string{"ring", "ping"} {
		for _, c := range f.Cells {
			if c.Kind == params.TransferCell {
				c.Setup = setup
				if setup == "ping" {
					c.Time = c.Time.Scale(2)
				}
			} else if setup == "ping" {
				continue
			}
			cells = append(cells, c)
		}
	}
	f.Cells, f.Plan.Setups = cells, []string{"ring", "ping"}
	path := filepath.Join(t.TempDir(), "host.json")
	saveParams(t, f, path)
	out, _, err := run(t, "verify", "-against", imb, "-params", path, "-m", "8K", "-P", "2", "message", "sendrecv")
	for _, want := range []string{
		"ring, one way ping",
		"\n  8K     16.00  33.27 +107.9", // 0.5 + 2·2·8.192
		"\n  8K     20.00  16.88  -15.6", // 0.5 + 2·8.192
	} {
		if err != nil || !strings.Contains(strings.ReplaceAll(out, "33.27  ", "33.27 "), want) {
			t.Errorf("%v\n%s\nwant %s", err, out, want)
		}
	}
	out, _, err = run(t, "verify", "-against", imb, "-params", path, "-setup", "ring", "message")
	if err != nil || !strings.Contains(out, "16.88   +5.5") {
		t.Errorf("-setup ring: %v\n%s", err, out)
	}
}

func TestAgainstBadInput(t *testing.T) {
	machine, directory := smallMachine(t)
	imb, osu := outputs(t)
	write := func(name, text string) string { return save(t, directory, name, text) }
	broken := write("broken.txt", "# OSU MPI Latency Test v7.5\n# Size       Avg Latency(us)\n1  quick\n")
	bandwidth := write("bw.txt", "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n1   2.32\n")
	refuses(t, machine, "verify", []mistake{
		{"-against", "-against"},
		{"-against=", "-against is there with an empty name"},
		{"-against " + directory + "/none", "none"},
		{"-against " + directory, "is a directory"},
		{"-against " + filepath.Join(directory, "SHM.txt"), "no table of IMB-MPI1"},
		{"-against " + broken, `broken.txt:3: osu_latency: "quick" is no time`},
		{"-against " + bandwidth, "nothing to compare; osu_bw in line 3"},
		{"-against " + osu, "osu.txt:4: osu_bcast does not print how many ranks took part: say it with -P"},
		{"-against " + osu + " -P 2,4", "one number, like -P 4"},
		{"-against " + osu + " -P 1", "2 up"},
		{"-against " + osu + " -P 4 -m 1M", "nothing in"},
		{"-against " + osu + " -P 4 bcast:linear bcast:binomial", "choose one"},
		{"-against " + imb + " -m 8Q", "-m"},
		{"-against " + imb + " mesage", "unknown"},
		{"-against " + imb + " bcast:binomal", `did you mean "bcast:binomial"`},
		{"-against " + imb + " -transport pigeon", `unknown transport "pigeon"`},
		{"-against " + imb + " -segment 0", "at least one byte"},
		{"-against " + imb + " -setup ring", "published text format"},
		{"-against " + imb + " -op xor allreduce", `no γ of operator "xor"`},
		{"-against " + imb + " -o " + directory, "directory"},
		{"-against " + imb + " -time 5s", "-time"},
		{"-against " + imb + " -params /nonexistent", "/nonexistent is not there"},
		{"-against /nonexistent -params x.json", "-against: /nonexistent is not there: check its name"},
	})
	if _, _, err := run(t, "verify", "-against", imb); exitStatus(err) != 2 || !strings.Contains(err.Error(), "-params is missing") {
		t.Errorf("without -params: %v", err)
	}
}

func TestModes(t *testing.T) {
	for line, want := range map[string]bool{
		"-against x": true, "--against=x": true, "-P 2 -against": true,
		"": false, "against": false, "-m 8K message": false, "-against-all": false,
	} {
		c, _ := lookup("verify")
		if got := c.mode(strings.Fields(line)); (got.name == "verify -against OUTPUT") != want {
			t.Errorf("%q: %v", line, got.name)
		}
	}
}
