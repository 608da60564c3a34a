// States finds the states of a machine whose host moves its CPUs in what empty messages, or flags,
// took, a number a line on standard input, in µs:
//
//	states [FILE]
//
// It prints a line for each, the most frequent first: what a message takes, the share in % of the
// messages, the least that is of the state and the least that is of the next one. With
// the FILE of a sweep a fifth word is what a flag takes in the sweep's state that is as quick
// among its own, for -state: "" where the sweep has not met as many.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/params"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "states: %v\n", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	var looks []float64
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		us, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil || !(us > 0) {
			return fmt.Errorf("%q is no time of a message", lines.Text())
		}
		looks = append(looks, us)
	}
	if err := lines.Err(); err != nil || len(looks) == 0 {
		return cmp.Or(err, fmt.Errorf("no times of empty messages"))
	}
	var of []params.State
	for _, name := range files {
		f, err := params.ReadFile(name)
		if err != nil {
			return err
		}
		of = lists.Filter(f.States(), func(s params.State) bool { return s.Slow == 0 }) // as messages are taken
	}
	type state struct {
		fit.Mode
		below float64
		flag  string
	}
	var states []state
	modes := fit.Modes(looks)
	for i, m := range modes {
		s := state{Mode: m, below: math.Inf(1)}
		if i+1 < len(modes) {
			s.below = modes[i+1].Above
		}
		if len(of) == len(modes) {
			s.flag = fmt.Sprintf("%.4gns", of[i].NS)
		}
		states = append(states, s)
	}
	slices.SortStableFunc(states, func(a, b state) int { return cmp.Compare(b.Share, a.Share) })
	for _, s := range states {
		fmt.Printf("%.3g %.0f %.4g %.4g %s\n", s.Center, 100*s.Share, s.Above, min(s.below, 1e9), s.flag)
	}
	return nil
}
