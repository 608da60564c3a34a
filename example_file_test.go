package taulop_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
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

// The example that measures ends, and L(S,1) is no empty loop's: its broadcast passes 64 KiB twice, which takes
// a microsecond at 128 GB/s.
func TestExample(t *testing.T) {
	machine, err := numa.Discover("/")
	if err != nil || len(machine.Allowed) < 2 {
		t.Skip("measuring needs Linux and two CPUs: ", err)
	}
	printed := filepath.Join(t.TempDir(), "out")
	out := must(os.Create(printed))
	defer func(stdout *os.File) { os.Stdout = stdout }(os.Stdout)
	os.Stdout = out
	Example()
	text := string(must(os.ReadFile(printed)))
	var us float64
	n, _ := fmt.Sscanf(text, "o(m) + 2L(S,1) + (k−1)L(S,2) = %f µs", &us)
	check.True(t, n == 1 && us >= 1, "the example prints %q", text)
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
	check.AtLeast(t, len(blocks), 3, "blocks of Go")
	for _, b := range blocks {
		check.True(t, strings.Contains(examples.String(), b[1]), "no example has\n%s", b[1])
	}
}
