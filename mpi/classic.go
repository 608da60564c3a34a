package mpi

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
)

// A classic is a dynamic rules file of Open MPI 4.1 and 5.0, as coll_tuned_dynamic_file.c reads it: by the
// collective's number, in the file's order.
type classic map[int][]classicRanks

// classicRanks are the rules from a communicator size on.
type classicRanks struct {
	p     int
	rules []classicRule
}

// A classicRule holds from a message size on.
type classicRule struct{ Bytes, Algorithm, Fan, Segment int }

// classicIDs are Open MPI's numbers of collectives, coll_base_functions.h.
var classicIDs = map[string]int{
	"allgather": 0, "allreduce": 2, "alltoall": 3, "barrier": 6, "bcast": 7, "gather": 9, "reduce": 11, "scatter": 15,
}

// lookup is the rule that Open MPI takes: of the largest communicator size ≤ p, or else the first one,
// the last rule in front of one for more bytes.
func (f classic) lookup(collective string, p, bytes int) (found classicRule) {
	id, known := classicIDs[collective]
	all := f[id]
	if !known || len(all) == 0 {
		return found
	}
	ranks := all[0]
	for _, r := range all {
		if r.p > p {
			break
		}
		ranks = r
	}
	for _, r := range ranks.rules {
		if r.Bytes > bytes {
			break
		}
		found = r
	}
	return found
}

// readClassic reads a dynamic rules file of version 1. It fails for words that are no numbers, and for a
// file that ends too early or goes on after the last rule.
func readClassic(text string) (classic, error) {
	var words []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words = append(words, strings.Fields(line)...)
	}
	var err error
	next := func() (n int) {
		if len(words) == 0 {
			err = cmp.Or(err, io.ErrUnexpectedEOF)
		}
		if err == nil {
			n, err = strconv.Atoi(words[0])
			words = words[1:]
		}
		return n
	}
	f := make(classic)
	for range next() {
		id, ranks := next(), []classicRanks(nil)
		for range next() {
			entry := classicRanks{p: next()}
			for range next() {
				entry.rules = append(entry.rules, classicRule{next(), next(), next(), next()})
			}
			ranks = append(ranks, entry)
		}
		f[id] = ranks
	}
	if err == nil && len(words) > 0 {
		err = fmt.Errorf("%d words are left after the rules for Open MPI", len(words))
	}
	return f, err
}

// writeClassic writes a dynamic rules file.
func writeClassic(w io.Writer, l *Library, rules []Rule) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# Dynamic rules for %s, by taulop tune. To use them:\n", l.Version)
	fmt.Fprintln(out, "#   mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE")
	fmt.Fprintln(out, "# A rule: bytes from which on it holds, algorithm, fan-in/out, segment size.")
	fmt.Fprintln(out, "# 0 0 0 0 leaves the choice to Open MPI.")
	collectives := collectivesOf(rules)
	slices.SortFunc(collectives, func(a, b *collective.Collective) int { return classicIDs[a.Name] - classicIDs[b.Name] })
	fmt.Fprintf(out, "%d # collectives\n", len(collectives))
	for _, c := range collectives {
		sizes := bySize(c, rules, func(p int) int { return scale(c, p) })
		fmt.Fprintf(out, "\n%d # %s", classicIDs[c.Name], c)
		if scale(c, 2) > 1 {
			fmt.Fprint(out, ", bytes of all ranks")
		}
		fmt.Fprintf(out, "\n%d # communicator sizes\n", len(sizes))
		for _, size := range sizes {
			fmt.Fprintf(out, "%d %d # ranks from here on, and rules\n", size.from, len(size.is))
			for _, s := range size.is {
				line := fmt.Sprintf("  %d %d %d %d", s.from, s.is.ID, s.is.Fan, s.is.Segment)
				fmt.Fprintf(out, "%-32s# %s\n", line, s.is)
			}
		}
	}
	return out.Flush()
}
