package mpi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/infile"
)

// A Classic is a dynamic rules file of Open MPI 4.1 and 5.0, as coll_tuned_dynamic_file.c
// reads it.
type Classic struct {
	rules map[string][]classicRanks // by collective, as they stand in the file
}

type classicRanks struct {
	p     int
	rules []ClassicRule
}

// A ClassicRule holds from its bytes on.
type ClassicRule struct{ Bytes, Algorithm, Fan, Segment int }

// classicIDs are Open MPI's numbers of collectives, coll_base_functions.h.
var classicIDs = map[string]int{
	"allgather": 0, "allreduce": 2, "alltoall": 3, "barrier": 6, "bcast": 7, "gather": 9, "reduce": 11, "scatter": 15,
}

// classicCollectives is the number of Open MPI's collectives.
const classicCollectives = 22

// classicName is the collective of a number, "" of one that no rules are written for.
func classicName(id int) string {
	for name, known := range classicIDs {
		if known == id {
			return name
		}
	}
	return ""
}

// Lookup is the rule that Open MPI takes: of the largest number of ranks that is at most p,
// or else of the first, the last before one of more bytes.
func (f *Classic) Lookup(collective string, p, bytes int) (found ClassicRule) {
	all := f.rules[collective]
	if len(all) == 0 {
		return found
	}
	of := all[0]
	for _, r := range all {
		if r.p > p {
			break
		}
		of = r
	}
	for _, r := range of.rules {
		if r.Bytes > bytes {
			break
		}
		found = r
	}
	return found
}

// Choice is what a library chooses with the file.
func (f *Classic) Choice(l *Library, c *collective.Collective, p, m int) (Setting, error) {
	r := f.Lookup(c.Name, p, m*scale(c, p))
	s, there := l.numbered(c.Name, r.Algorithm, r.Fan, r.Segment)
	if !there {
		return s, fmt.Errorf("%s has no algorithm %d of %s", l.Version, r.Algorithm, c)
	}
	return s, nil
}

// maxNumber is of bytes and ranks in a file, which may come from anywhere.
const maxNumber = 1 << 62

var errNoRules = errors.New("this is no rules file of Open MPI 4 or 5")

// ReadClassic reads a dynamic rules file. Unlike Open MPI, which passes over words between
// numbers, it refuses them. Errors say in which line of name they are.
func ReadClassic(r io.Reader, name string) (*Classic, error) {
	in := &numbers{Lines: infile.NewLines(io.LimitReader(r, maxRules+1), name, 1<<16)}
	f := &Classic{rules: make(map[string][]classicRanks)}
	collectives := in.next("the number of collectives", classicCollectives)
	for range collectives {
		id := in.next("a collective", classicCollectives-1)
		var ranks []classicRanks
		for n := in.next("the number of communicator sizes", 1<<20); n > 0 && in.err == nil; n-- {
			one := classicRanks{p: in.next("a communicator size", maxNumber)}
			for n := in.next("the number of message sizes", 1<<20); n > 0 && in.err == nil; n-- {
				rule := ClassicRule{
					in.next("a message size", maxNumber), in.next("an algorithm", 1<<16),
					in.next("a fan-out", 1<<31-1), in.next("a segment size", 1<<31-1),
				}
				if in.version > 1 {
					in.maybe()
				}
				if len(one.rules) == 0 && rule.Bytes != 0 && in.err == nil {
					in.fail("the first rule of %d ranks begins at %d bytes: Open MPI wants 0", one.p, rule.Bytes)
				}
				one.rules = append(one.rules, rule)
			}
			ranks = append(ranks, one)
		}
		if in.err != nil {
			break
		}
		if name := classicName(id); name != "" {
			f.rules[name] = ranks
		}
	}
	if in.err == nil && in.more() {
		in.fail("%s stands after the last rule", in.words[0])
	}
	if in.err == nil && in.Size > maxRules {
		in.fail("it has more than %d MiB", maxRules>>20)
	}
	if in.err != nil {
		return nil, in.err
	}
	return f, nil
}

// numbers are a file's numbers, one after another. What is behind # is a comment.
type numbers struct {
	*infile.Lines
	version int
	words   []string // of the line that are left
	err     error
}

// more tells whether there is another word.
func (n *numbers) more() bool {
	for len(n.words) == 0 && n.err == nil {
		if !n.Scan() {
			if err := n.Err(); err != nil {
				n.fail("%v", err)
			}
			return false
		}
		text, _, _ := strings.Cut(n.Text(), "#")
		n.words = strings.Fields(text)
		if version, is := strings.CutPrefix(strings.TrimSpace(text), "rule-file-version-"); is && n.version == 0 && n.Number == 1 {
			n.version, _ = strconv.Atoi(version)
			n.words = nil
		}
	}
	return len(n.words) > 0
}

// next is the next number, from 0 to most; 0 after an error.
func (n *numbers) next(what string, most int) int {
	if !n.more() {
		if n.err == nil {
			n.fail("it ends where %s is expected", what)
		}
		return 0
	}
	word := n.words[0]
	v, err := strconv.ParseInt(word, 0, 64) // as %li: 0x10 and 010 are 16 and 8
	if err != nil || v < 0 || v > int64(most) || strings.Contains(word, "_") {
		n.fail("%.40q is where %s is expected, a number from 0 to %d", word, what, most)
		return 0
	}
	n.words = n.words[1:]
	return int(v)
}

// maybe passes over a fifth number of a rule, on its line: the requests of an alltoall.
func (n *numbers) maybe() {
	if n.err == nil && len(n.words) > 0 {
		n.next("the number of requests", 1<<31-1)
	}
}

func (n *numbers) fail(format string, args ...any) {
	if n.err == nil {
		n.err = n.Errorf("%s: %w", fmt.Sprintf(format, args...), errNoRules)
	}
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
			fmt.Fprint(out, ", bytes are those of all ranks")
		}
		fmt.Fprintf(out, "\n%d # communicator sizes\n", len(sizes))
		for _, of := range sizes {
			fmt.Fprintf(out, "%d %d # ranks from here on, and rules\n", of.p, len(of.steps))
			for _, s := range of.steps {
				line := fmt.Sprintf("  %d %d %d %d", s.from, s.setting.ID, s.setting.Fan, s.setting.Segment)
				fmt.Fprintf(out, "%-32s# %s\n", line, s.setting)
			}
		}
	}
	return out.Flush()
}
