package mpi

import (
	"io"
	"slices"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
)

// A Rule is a setting for a range of message sizes and one communicator size.
type Rule struct {
	Collective *collective.Collective
	P, Nodes   int // ranks, and their nodes
	From, To   int // range of m in bytes, inclusive
	Setting
}

// A format is the format of rules files.
type format struct {
	write func(w io.Writer, l *Library, rules []Rule) error
	// use is the command line that makes the library read a file, and the one beside it.
	use func(file string, beside bool) string
	// hazard is Hazard; nil: no collective has one.
	hazard func(c *collective.Collective) string
	// beside writes the second file, if the rules need one.
	beside func(w io.Writer, rules []Rule) (bool, error)
	// spliced: the file is the library's own decision tree with rules in it, see OnBase.
	spliced bool
}

// Write writes the rules file. The rules are sorted by collective, P and m, and do not overlap.
func (l *Library) Write(w io.Writer, rules []Rule) error { return l.rules.write(w, l, rules) }

// Beside is the name of the second file beside a rules file, see WriteBeside.
func Beside(file string) string { return file + ".posix" }

// WriteBeside writes the second file, if the rules need one: it gives them precedence over shared-memory
// algorithms that Own does not know. The rules must have been timed against these.
func (l *Library) WriteBeside(w io.Writer, rules []Rule) (needed bool, err error) {
	if l.rules.beside == nil {
		return false, nil
	}
	return l.rules.beside(w, rules)
}

// Use is the command line that makes the library read a rules file, and the file beside it if there is one.
func (l *Library) Use(file string, beside bool) string { return l.rules.use(file, beside) }

// Hazard says how rules for a collective can break correct programs; "" if they cannot.
func (l *Library) Hazard(c *collective.Collective) string {
	if l.rules.hazard == nil {
		return ""
	}
	return l.rules.hazard(c)
}

// NeedsBase reports whether the rules file contains the library's own decision tree, see OnBase.
func (l *Library) NeedsBase() bool { return l.rules != nil && l.rules.spliced }

// OnBase is the library with this decision tree as its own.
func (l *Library) OnBase(base *Tree) *Library {
	with := *l
	with.base = base
	return &with
}

// collectivesOf are the collectives with rules, in their order.
func collectivesOf(rules []Rule) []*collective.Collective {
	return lists.Unique(lists.Map(rules, func(r Rule) *collective.Collective { return r.Collective }))
}

// A step has what holds from a size up to the next step.
type step[T any] struct {
	from int
	is   T
}

// settings are the steps by message size, from 0 bytes on.
type settings []step[Setting]

// own is the library's own choice for all sizes.
func (s settings) own() bool { return len(s) == 1 && s[0].is.Own() }

// settingsOf are the settings of the rules of one collective and P. Their sizes are scale times m.
func settingsOf(rules []Rule, scale int) settings {
	all := settings{{}}
	for _, r := range rules {
		all = append(all, step[Setting]{r.From * scale, r.Setting})
		if !r.Collective.Empty() {
			all = append(all, step[Setting]{from: (r.To + 1) * scale})
		}
	}
	return merged(all, func(a, b Setting) bool { return a == b })
}

// merged are steps of which the last at each size holds, and one of equal neighbours.
func merged[T any](steps []step[T], equal func(a, b T) bool) []step[T] {
	at := lists.Groups(steps, func(s step[T]) int { return s.from })
	last := lists.Map(at, func(at []step[T]) step[T] { return at[len(at)-1] })
	return slices.CompactFunc(last, func(a, b step[T]) bool { return equal(a.is, b.is) })
}

// bySize are the settings of a collective by communicator size, from 0 ranks on. Sizes without rules have
// the library's own choice, and so has the last entry. Message sizes are factor times m.
func bySize(c *collective.Collective, rules []Rule, factor func(p int) int) []step[settings] {
	own := settings{{}}
	sizes := []step[settings]{{is: own}}
	of := lists.Filter(rules, func(r Rule) bool { return r.Collective == c })
	for _, rules := range lists.Groups(of, func(r Rule) int { return r.P }) {
		p := rules[0].P
		sizes = append(sizes, step[settings]{p, settingsOf(rules, factor(p))}, step[settings]{p + 1, own})
	}
	return merged(sizes, slices.Equal)
}

// maxRules is the limit of a rules file in bytes, far beyond any real one.
const maxRules = 16 << 20
