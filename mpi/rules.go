package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/taulop/taulop/collective"
)

// A Rule is what a library shall take for messages of some sizes among a number of ranks.
type Rule struct {
	Collective *collective.Collective
	P          int
	Nodes      int // that its ranks are on
	From, To   int // m in bytes, both within
	Setting
}

// A format is the format of rules files.
type format struct {
	write func(w io.Writer, l *Library, rules []Rule) error
	// use says in lines how the library is made to use a file, and one beside it.
	use func(file string, beside bool) string
	// hazard says why rules for a collective can break programs; "" where they cannot.
	hazard func(c *collective.Collective) string
	// beside writes a second file that a file of rules needs; false where these need none.
	beside func(w io.Writer, rules []Rule) (bool, error)
	// spliced: rules stand in a file of the library's own choices, see OnBase.
	spliced bool
}

// Write writes the file that the library reads. Rules stand by collective, P rising and m rising;
// no two are of one call.
func (l *Library) Write(w io.Writer, rules []Rule) error { return l.rules.write(w, l, rules) }

// Beside is the name of a second file that a file of rules needs.
func Beside(file string) string { return file + ".posix" }

// WriteBeside writes the file of that name, and nothing where the rules need none. It puts rules in front of
// algorithms that Own does not know, and is for rules that were timed against these.
func (l *Library) WriteBeside(w io.Writer, rules []Rule) (needed bool, err error) {
	if l.rules.beside == nil {
		return false, nil
	}
	return l.rules.beside(w, rules)
}

// Use says in lines how the library is made to use a file of rules, with the one of WriteBeside if it is
// there.
func (l *Library) Use(file string, beside bool) string { return l.rules.use(file, beside) }

// Hazard says why a library's rules for a collective can break programs; "" where they cannot.
func (l *Library) Hazard(c *collective.Collective) string {
	if l.rules.hazard == nil {
		return ""
	}
	return l.rules.hazard(c)
}

// NeedsBase tells whether rules are spliced into a file of the library's own, see OnBase.
func (l *Library) NeedsBase() bool { return l.rules != nil && l.rules.spliced }

// OnBase is the library that chooses by itself as its file says.
func (l *Library) OnBase(base *Tree) *Library {
	with := *l
	with.base = base
	return &with
}

// collectivesOf are the collectives with rules, in their order.
func collectivesOf(rules []Rule) (all []*collective.Collective) {
	for _, r := range rules {
		if !slices.Contains(all, r.Collective) {
			all = append(all, r.Collective)
		}
	}
	return all
}

// A step is where a choice begins, up to the next step.
type step struct {
	from    int
	setting Setting
}

// stepsOf are the steps of rules of one collective and P, from 0 bytes on, equal neighbours merged;
// sizes are the library's, scale times m.
func stepsOf(rules []Rule, scale int) []step {
	all := []step{{}}
	add := func(from int, s Setting) {
		switch last := &all[len(all)-1]; {
		case last.setting == s:
		case last.from == from:
			last.setting = s
			if n := len(all); n > 1 && all[n-2].setting == s {
				all = all[:n-1]
			}
		default:
			all = append(all, step{from, s})
		}
	}
	for _, r := range rules {
		add(r.From*scale, r.Setting)
		if !r.Collective.Empty() {
			add((r.To+1)*scale, Setting{})
		}
	}
	return all
}

// ranksSteps holds from a number of ranks on.
type ranksSteps struct {
	p     int
	steps []step
}

// bySize are the rules of a collective from 0 ranks on: below the first, above each that the next does
// not follow at once, and above the last the choice is the library's. Sizes count factor times m.
func bySize(c *collective.Collective, rules []Rule, factor func(p int) int) (sizes []ranksSteps) {
	add := func(p int, steps []step) {
		if n := len(sizes); n == 0 || !slices.Equal(sizes[n-1].steps, steps) {
			sizes = append(sizes, ranksSteps{p, steps})
		}
	}
	add(0, []step{{}})
	rules = slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Collective != c })
	for len(rules) > 0 {
		p := rules[0].P
		n := slices.IndexFunc(rules, func(r Rule) bool { return r.P != p })
		if n < 0 {
			n = len(rules)
		}
		add(p, stepsOf(rules[:n], factor(p)))
		if rules = rules[n:]; len(rules) == 0 || rules[0].P > p+1 {
			add(p+1, []step{{}})
		}
	}
	return sizes
}

var errLarge = errors.New("a rules file has less than that")

// maxRules is far more than a file of rules needs, in bytes.
const maxRules = 16 << 20

// readAll reads a file of rules.
func readAll(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxRules+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxRules:
		return nil, fmt.Errorf("%s has more than %d MiB: %w", name, maxRules>>20, errLarge)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, fmt.Errorf("%s is empty", name)
	}
	return text, nil
}
