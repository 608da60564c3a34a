package taulop_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// What the allgathers among two ranks cost on the machine of a parameter file.
func Example_predict() {
	machine := must(params.ReadFile("docs/tasks/data/host.json"))
	predictor := must(model.NewPredictor(machine, model.Choice{}))
	for _, name := range []string{"allgather:ring", "allgather:linear"} {
		algorithm := must(collective.Lookup(name))
		schedule := must(algorithm.Schedule(collective.Call{P: 2, M: 64 << 10}))
		cost := must(predictor.Cost(schedule))
		fmt.Printf("%s: %.1f µs = %s\n", name, 1e6*cost.Seconds, cost.Formula())
	}
	// Output:
	// allgather:ring: 6.7 µs = c(m,2) + o(m) + 2kL⇄(S,2)
	// allgather:linear: 10.6 µs = c(m,1) + o(m) + 4L→(S,1) + (3k−2)L→(S,2) + o(2m)
}

// The samples of one cell, y(2) of the ring, and what they say.
func Example_samples() {
	machine := must(params.ReadFile("docs/tasks/data/host.json"))
	for _, cell := range machine.Cells {
		if cell.Kind == params.NullCell && cell.Setup == params.Ring && cell.Tau == 2 {
			var ns []float64
			for _, sample := range cell.Samples {
				ns = append(ns, sample.NS)
			}
			y := fit.Median(ns)
			fmt.Printf("y(2) = %.0f ns [%.0f, %.0f]\n", y.Center, y.Lo, y.Hi)
		}
	}
	// Output:
	// y(2) = 37 ns [36, 41]
}

// What docs/tasks/go.md shows of Go is in the examples, which are compiled, and run where they
// have an output.
func TestGoPage(t *testing.T) {
	var examples strings.Builder
	for _, name := range []string{"example_test.go", "example_file_test.go"} {
		examples.Write(must(os.ReadFile(name)))
	}
	page := must(os.ReadFile("docs/tasks/go.md"))
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 3 {
		t.Errorf("%d blocks of Go", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(examples.String(), b[1]) {
			t.Errorf("no example has\n%s", b[1])
		}
	}
}
