package mpibench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// launched are formats of launchers and job systems for a rank's line, %s.
var launched = []struct{ name, format string }{
	{"Open MPI --tag-output", "[1,0]<stdout>:%s"},
	{"Open MPI --timestamp-output", "Sat Nov 21 21:35:37 2026<stdout>:%s"},
	{"both", "Sat Nov  7 21:35:37 2026[1,0]<stdout>:%s"},
	{"PRRTE --output tag", "[prterun-node01-4711@1,0]<stdout>: %s"},
	{"PRRTE --output tag-detailed", "[prterun-node01-4711@1,0][node01:4711]<stdout>: %s"},
	{"srun -l", "0: %s"},
	{"srun -l of many ranks", "  0: %s"},
	{"srun -l, in order of width", "000: %s"},
	{"MPICH -l", "[0] %s"},
	{"ts", "Nov 21 21:35:37 %s"},
	{"date", "Sat 21 Nov 21:35:37 UTC 2026 %s"},
	{"ISO 8601", "2026-11-21T21:35:37.1234567Z %s"},
	{"a time in brackets", "[2026-11-21 21:35:37,123] %s"},
	{"a time of day", "21:35:37 %s"},
	{"seconds", "[   12.345678] %s"},
	{"times of a job system round srun -l", "2026-11-21T21:35:37+01:00 0: %s"},
	{"pdsh", "node01: %s"},
	{"pdsh of addresses, round srun -l", "10.0.0.1: 0: %s"},
	{"Compose", "worker-0  | %s"},
	{"colours", "\x1b[32m%s\x1b[0m"},
	{"colours round a tag", "\x1b[1;34m[1,0]<stdout>:\x1b[0m%s"},
	{"a title of the terminal", "\x1b]0;node01\x07%s"},
}

// prefixed is a text with all lines in a format.
func prefixed(text, format string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		whole := strings.TrimRight(line, "\r\n")
		b.WriteString(strings.Replace(format, "%s", whole, 1) + line[len(whole):])
	}
	return b.String()
}

func TestBare(t *testing.T) {
	for line, want := range map[string]string{
		"1024                     31.54":             "1024                     31.54",
		"8       1.00":                               "8       1.00",
		"[1,0]<stderr>:1 2 3":                        "",
		"[1,3]<stddiag>:1 2 3":                       "",
		"[host:263038] SET UCX_NET_DEVICES=mlx5_2:1": "[host:263038] SET UCX_NET_DEVICES=mlx5_2:1",
		"[1,0]<stdout>:":                             "",
		"0:":                                         "",
		"0: 1024 31.54\r":                            "1024 31.54",
		"# OSU MPI Latency Test v7.5":                "# OSU MPI Latency Test v7.5",
		"\x1b[":                                      "\x1b[",
	} {
		check.Equal(t, bare(line), want, "%q", line)
	}
}

// Tags of launchers change no results.
func TestPrefixes(t *testing.T) {
	for _, path := range must.Get(filepath.Glob("testdata/*.txt")) {
		text := string(must.Get(os.ReadFile(path)))
		want := must.Get(Read(strings.NewReader(text), "out.txt"))
		for _, l := range launched {
			got, err := Read(strings.NewReader(prefixed(text, l.format)), "out.txt")
			check.True(t, err == nil && slices.Equal(got.Times, want.Times) && slices.Equal(got.LeftOut, want.LeftOut),
				"%s, %s: %v, %v, and without prefixes %v", path, l.name, got, err, want)
		}
	}
}
