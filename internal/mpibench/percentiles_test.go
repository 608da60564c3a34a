package mpibench

import (
	"strings"
	"testing"
)

// OSU 7 prints percentiles behind its columns (-z), in tables of all kinds, and tables with commas
// hold the same. The time is the mean of all, as without them.
func TestReadPercentiles(t *testing.T) {
	const (
		latency = "\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n" +
			"# Size            Latency (us)    P50 Tail Lat(us)    P90 Tail Lat(us)    P99 Tail Lat(us)\n" +
			"1                       0.25                0.24                0.26                0.41\n" +
			"8192                    1.75                1.70                1.90                3.02\n"
		bcast = "\n# OSU MPI Broadcast Latency Test v7.4\n# Datatype: MPI_CHAR.\n" +
			"# Size       Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations          Validation    P50 Tail Lat(us)    P5 Tail Lat(us)\n" +
			"1                       0.25                0.20                0.31        1000                Pass                0.24                0.21\n" +
			"8192                    1.75                1.50                2.02        1000                Pass                1.74                1.55\n"
		bw = "\n# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n" +
			"# Size      Bandwidth (MB/s)   P50 Tail BW(MB/s)\n" +
			"1                       4.00                4.02\n" +
			"8192                 4096.00             4100.00\n"
		barrier = "\n# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)    P50 Tail Lat(us)\n             0.25                0.24\n"
	)
	commas := func(text string) string {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if strings.Contains(line, "(us)") || line != "" && line[0] != '#' {
				lines[i] = strings.ReplaceAll(gaps.ReplaceAllString(strings.TrimSpace(line), ","), "# Size,", "# Size, ")
			}
		}
		return strings.Join(lines, "\n")
	}
	for _, tt := range []struct {
		name, text string
		want       []float64
	}{
		{"latency", latency, []float64{0.25, 1.75}},
		{"latency with commas", commas(latency), []float64{0.25, 1.75}},
		{"broadcast, the slowest rank", bcast, []float64{0.31, 2.02}},
		{"broadcast with commas", commas(bcast), []float64{0.31, 2.02}},
		{"bandwidth", bw, []float64{0.25, 2}},
		{"barrier", barrier, []float64{0.25}},
		{"barrier with commas", commas(barrier), []float64{0.25}},
	} {
		got, err := Read(strings.NewReader(tt.text), "osu.txt")
		if err != nil || len(got.Times) != len(tt.want) {
			t.Errorf("%s: %+v, %v\n%s", tt.name, got, err, tt.text)
			continue
		}
		for i, want := range tt.want {
			if got.Times[i].Microseconds != want {
				t.Errorf("%s: %g µs, want %g", tt.name, got.Times[i].Microseconds, want)
			}
		}
	}
}
