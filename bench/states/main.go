// States finds the states of a machine whose host moves its CPUs, from times of empty messages or of flags in µs,
// one a line on standard input:
//
//	states [FILE]
//
// It prints a line for each state, the most frequent first: the time of a message, the share of the messages in %,
// and the least times of the state and of the next one. With the FILE of a sweep a fifth word is the time of a
// flag in the paired state of the sweep, for -state, "" without one. Pairs are in the order of their times, with
// the best agreement of shares: a sweep in the same minutes need not have met all states.
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
	var flags []flag
	for _, name := range files {
		f, err := params.ReadFile(name)
		if err != nil {
			return err
		}
		for _, s := range f.States() { // slowed or not: a flag takes as long
			if n := len(flags); n > 0 && flags[n-1].ns == s.NS {
				flags[n-1].share += s.Share
			} else {
				flags = append(flags, flag{s.NS, s.Share})
			}
		}
	}
	type state struct {
		fit.Mode
		below float64
		flag  string
	}
	var states []state
	modes := fit.Modes(looks)
	_, of := paired(lists.Map(modes, func(m fit.Mode) float64 { return m.Share }), flags)
	for i, m := range modes {
		s := state{Mode: m, below: math.Inf(1)}
		if i+1 < len(modes) {
			s.below = modes[i+1].Above
		}
		if of[i] >= 0 {
			s.flag = fmt.Sprintf("%.4gns", flags[of[i]].ns)
		}
		states = append(states, s)
	}
	slices.SortStableFunc(states, func(a, b state) int { return cmp.Compare(b.Share, a.Share) })
	for _, s := range states {
		fmt.Printf("%.3g %.0f %.4g %.4g %s\n", s.Center, 100*s.Share, s.Above, min(s.below, 1e9), s.flag)
	}
	return nil
}

// A flag is a state of a sweep: the time of a flag, and the state's share of the time.
type flag struct{ ns, share float64 }

// paired are the flags whose shares of the time agree best with the shares of modes, both in rising order; -1 for
// a mode without a flag. agree is the share of the time that pairs have in common.
func paired(modes []float64, flags []flag) (agree float64, of []int) {
	if len(modes) == 0 {
		return 0, nil
	}
	rest, none := paired(modes[1:], flags)
	agree, of = rest, append([]int{-1}, none...)
	for i, f := range flags {
		rest, others := paired(modes[1:], flags[i+1:])
		if with := rest + min(modes[0], f.share); with > agree {
			agree, of = with, []int{i}
			for _, o := range others {
				if o >= 0 {
					o += i + 1
				}
				of = append(of, o)
			}
		}
	}
	return agree, of
}
