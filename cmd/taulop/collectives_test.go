package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/test/must"
)

// Commands know every collective from its declaration alone: predictions, explanations, the algorithm to
// verify and the benchmarks' output.
func TestCommandsKnowEveryCollective(t *testing.T) {
	machine, directory := smallMachine(t)
	help, _, _ := run(t, "predict", "-h")
	for _, c := range collective.Collectives() {
		for _, line := range []string{"-P 2-8 -m 40,8K " + c.Name, "-json -P 3 -m 8K " + c.Name} {
			if out, _, err := run(t, on(machine, "predict", line)...); err != nil || !strings.Contains(out, c.Name) {
				t.Errorf("predict %s: %v\n%s", line, err, out)
			}
			if out, _, err := run(t, on(machine, "explain", line)...); err != nil || !strings.Contains(out, c.Default) {
				t.Errorf("explain %s: %v\n%s", line, err, out)
			}
		}
		if !strings.Contains(help, c.About) {
			t.Errorf("predict -h does not say what %s is", c)
		}
		for i := range c.Benchmarks {
			out := benchmarked(t, machine, directory, c, &c.Benchmarks[i])
			if len(out.Rows) != 1 || out.Rows[0].Predicted.Algorithm != c.DefaultAlgorithm().String() {
				t.Errorf("%s of %s: %+v", c.Benchmarks[i].Name, c, out)
			}
		}
	}
}

// benchmarked is the result of verify -against for one row of a benchmark.
func benchmarked(t *testing.T, machine []string, directory string, c *collective.Collective, b *collective.Benchmark) (doc report.Against) {
	t.Helper()
	title, sizes, size := b.Name, "#bytes ", "8192 "
	if len(b.Titles) > 0 {
		title = b.Titles[0]
	}
	if c.Empty() {
		sizes, size = "", ""
	}
	text := fmt.Sprintf("#    Intel(R) MPI Benchmarks %d.1, MPI-1 part\n# Benchmarking %s\n# #processes = 3\n%s#repetitions t_max[usec]\n%s1000 20.00\n", b.Since, title, sizes, size)
	if b.Suite == "OSU" {
		if !c.Empty() {
			sizes = "Size       "
		}
		text = fmt.Sprintf("# OSU MPI %s Latency Test v7.5\n# %sAvg Latency(us)\n%s20.00\n", title, sizes, size)
	}
	output := save(t, directory, "output.txt", text)
	out, _, err := run(t, on(machine, "verify", "-json -P 3 -against "+output)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	must.Do(json.Unmarshal([]byte(out), &doc))
	return doc
}
