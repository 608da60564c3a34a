package argument

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/spelling"
)

// A Set is a flag.FlagSet whose flags may stand between operands, each at most once, with rules
// for their combinations. Every error is one sentence that says what to do.
type Set struct {
	*flag.FlagSet
	// Failed, if not nil, prints an error instead of the caller.
	Failed func(out io.Writer, err error) error
	// Elsewhere, if not nil, ends a sentence about an unknown flag of another command; "" for none.
	Elsewhere func(name string) string
	given     map[string]bool
	invalid   error // why a flag does not take its value
	required  []requirement
	checks    []func() error
}

// NewSet returns an empty set. Errors call the command by name.
func NewSet(name string) *Set {
	s := &Set{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), given: make(map[string]bool)}
	s.SetOutput(io.Discard)
	s.Usage = func() {}
	return s
}

// A Rule limits what flags can be combined with; without Needs and Not they are errors.
type Rule struct {
	Flags string // names, space-separated
	Needs string // names, of which one must be given, too
	Not   string // names, of which none may be given; name=value is a flag with that value
	Why   string // the sentence after the flag's name: "is of message patterns"
	Do    string // replaces the default advice: add -patterns, or leave it out
}

// Rules adds rules.
func (s *Set) Rules(rules ...Rule) {
	for _, r := range rules {
		s.Check(func() error { return s.breaks(r) })
	}
}

// breaks is the error of flags that break a rule.
func (s *Set) breaks(r Rule) error {
	others := strings.Fields(r.Needs + r.Not)
	present := slices.DeleteFunc(slices.Clone(others), func(name string) bool { return !s.On(name) })
	for _, name := range strings.Fields(r.Flags) {
		switch {
		case !s.On(name):
		case len(others) == 0:
			return fmt.Errorf("-%s %s: %s", name, r.Why, cmp.Or(r.Do, "leave it out"))
		case r.Needs != "" && len(present) == 0:
			return fmt.Errorf("-%s %s: %s", name, r.Why, cmp.Or(r.Do, "add -"+s.spelt(strings.Join(others, " or -"))+", or leave it out"))
		case r.Not != "" && len(present) > 0:
			return fmt.Errorf("-%s %s: %s", name, r.Why, cmp.Or(r.Do, "leave out -"+name+" or -"+s.spelt(present[0])))
		}
	}
	return nil
}

// spelt is name=value as on a command line: "name value", except for booleans.
func (s *Set) spelt(text string) string {
	if name, _, valued := strings.Cut(text, "="); !valued || isSwitch(s.Lookup(name).Value) {
		return text
	}
	return strings.ReplaceAll(text, "=", " ")
}

// Required makes a flag necessary, unless another one is given. `do` is the advice in the error.
func (s *Set) Required(name, do string, unless ...string) {
	s.required = append(s.required, requirement{name, do, unless})
}

type requirement struct {
	name, do string
	unless   []string
}

// missing is the error of all required flags that lack a value.
func (s *Set) missing() error {
	var names, advice []string
	for _, r := range s.required {
		if (!s.given[r.name] || s.Lookup(r.name).Value.String() == "") && !slices.ContainsFunc(r.unless, s.On) {
			names, advice = append(names, "-"+r.name), append(advice, r.do)
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s is missing: %s", names[0], advice[0])
	}
	return fmt.Errorf("%s are missing: %s", strings.Join(names, ", "), strings.Join(advice, "; "))
}

// OneOf allows at most one of some flags.
func (s *Set) OneOf(names ...string) {
	s.Check(func() error {
		given := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !s.On(name) })
		if len(given) > 1 {
			return fmt.Errorf("-%s cannot be used together: choose one", strings.Join(given, " and -"))
		}
		return nil
	})
}

// Within bounds a number, or a time in nanoseconds. `give` is the advice in the error: "give a
// percentage from 0 to 100".
func (s *Set) Within(name string, least, most float64, give string) {
	s.Check(func() error {
		f := s.Lookup(name)
		var v float64
		switch n := f.Value.(flag.Getter).Get().(type) {
		case int:
			v = float64(n)
		case float64:
			v = n
		case time.Duration:
			v = float64(n)
		}
		if s.given[name] && !(v >= least && v <= most) {
			return fmt.Errorf("-%s is %v: %s", name, f.Value, give)
		}
		return nil
	})
}

// Check adds a check of all flags, after those added before.
func (s *Set) Check(check func() error) { s.checks = append(s.checks, check) }

// Given reports whether a flag is on the command line.
func (s *Set) Given(name string) bool { return s.given[name] }

// On reports whether a flag is given, other than as name=false; for name=value, whether it is
// given with that value.
func (s *Set) On(name string) bool {
	name, value, valued := strings.Cut(name, "=")
	if !s.given[name] {
		return false
	}
	current := s.Lookup(name).Value.String()
	return valued && current == value || !valued && (current != "false" || !isSwitch(s.Lookup(name).Value))
}

// Names are the names of all flags.
func (s *Set) Names() (names []string) {
	s.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// Parse reads flags anywhere before a --, and returns the operands. The error is flag.ErrHelp
// for -h.
func (s *Set) Parse(args []string) (operands []string, err error) {
	counted := s.count()
	operands, err = s.permute(args)
	switch wrong := counted(); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case wrong != nil:
		return nil, wrong
	case err != nil:
		return nil, cmp.Or(s.invalid, s.sentence(err))
	}
	s.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	return operands, s.FlagSet.Parse(append([]string{"--"}, operands...))
}

// Checked is the first error of all rules and checks, in the order of their addition.
func (s *Set) Checked() (err error) {
	s.Visit(func(f *flag.Flag) {
		if g, is := f.Value.(flag.Getter); is && err == nil {
			if d, is := g.Get().(time.Duration); is && (d <= 0 || d > longest) {
				err = fmt.Errorf("-%s is %v: %s", f.Name, d, hint(g))
			}
		}
	})
	for _, check := range append([]func() error{s.missing}, s.checks...) {
		if err == nil {
			err = check()
		}
	}
	return err
}

// permute parses flags between operands. Negative numbers are operands: no flag begins with a digit.
func (s *Set) permute(args []string) (operands []string, err error) {
	for {
		err := s.FlagSet.Parse(args)
		rest := s.Args()
		read := len(args) - len(rest)
		switch {
		case err != nil && s.invalid == nil && read > 0 && strings.IndexAny(args[read-1], "0123456789") == len("-"):
			rest = args[read-1:]
		case err != nil:
			return nil, err
		case len(rest) == 0 || read > 0 && args[read-1] == "--":
			return append(operands, rest...), nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
}

// A counted value counts calls of Set.
type counted struct {
	flag.Value
	name  string
	times int
	empty bool   // it was set to ""
	flag  string // the value that is the name of another flag
	set   *Set
}

func (c *counted) Set(text string) error {
	c.times++
	c.empty = c.empty || text == ""
	if name, _, _ := strings.Cut(strings.TrimLeft(text, "-"), "="); strings.HasPrefix(text, "-") && c.set.Lookup(name) != nil {
		c.flag = text
	}
	err := c.Value.Set(text)
	if standard, is := c.Value.(flag.Getter); err != nil && is {
		c.set.invalid = fmt.Errorf("-%s is %q: %s", c.name, text, hint(standard))
	} else if err != nil { // its own parser says what to give
		c.set.invalid = fmt.Errorf("-%s: %v", c.name, err)
	}
	return err
}

// IsBoolFlag is for package flag.
func (c *counted) IsBoolFlag() bool { return isSwitch(c.Value) }

func isSwitch(v flag.Value) bool {
	b, is := v.(interface{ IsBoolFlag() bool })
	return is && b.IsBoolFlag()
}

// count counts how often flags are set. `end` stops counting, and is an error for a flag that was
// set twice (unless its value has a method Repeats), to another flag's name, or to an empty file name.
func (s *Set) count() (end func() error) {
	all := make(map[*flag.Flag]*counted)
	s.VisitAll(func(f *flag.Flag) {
		all[f] = &counted{Value: f.Value, name: f.Name, set: s}
		f.Value = all[f]
	})
	return func() (err error) {
		s.VisitAll(func(f *flag.Flag) {
			c := all[f]
			f.Value = c.Value
			_, repeats := c.Value.(interface{ Repeats() })
			what, _ := flag.UnquoteUsage(f)
			switch {
			case err != nil:
			case c.flag != "":
				err = fmt.Errorf("-%s has no value: the next word, %s, is a flag; give -%[1]s a value, or leave it out", f.Name, c.flag)
			case c.times > 1 && !repeats:
				err = fmt.Errorf("-%s is given twice: give it once (a list has commas)", f.Name)
			case c.empty && slices.Contains([]string{"file", "table", "DIR"}, what):
				err = fmt.Errorf("-%s has an empty name: name a %s, or leave -%[1]s out", f.Name, strings.Replace(what, "DIR", "directory", 1))
			}
		})
		return err
	}
}

// sentence turns an error of package flag about a flag's name into a sentence that says what to do.
func (s *Set) sentence(err error) error {
	text := err.Error()
	if name, lacks := strings.CutPrefix(text, "flag needs an argument: "); lacks {
		missing := "a value"
		if f := s.Lookup(strings.TrimLeft(name, "-")); f != nil {
			if quoted, _ := flag.UnquoteUsage(f); quoted != "" {
				missing = "its " + quoted
			}
		}
		return fmt.Errorf("%s is the last word and needs %s after it: %s -h shows what there is", name, missing, s.Name())
	}
	if name, undefined := strings.CutPrefix(text, "flag provided but not defined: -"); undefined {
		if s.Elsewhere != nil && s.Elsewhere(name) != "" {
			return fmt.Errorf("-%s %s", name, s.Elsewhere(name))
		}
		if nearest := spelling.Nearest(name, s.Names()); nearest != "" {
			return fmt.Errorf("there is no flag -%s; did you mean -%s? %s -h shows what there is", name, nearest, s.Name())
		}
		return fmt.Errorf("there is no flag -%s: %s -h shows what there is", name, s.Name())
	}
	return fmt.Errorf("%s: %s -h shows what there is", text, s.Name())
}

// longest is the largest time, a year: sums of such times are times, too.
const longest = 365 * 24 * time.Hour

// hint says what value a flag of package flag takes.
func hint(value flag.Getter) string {
	switch value.Get().(type) {
	case time.Duration:
		return fmt.Sprintf("give a time with its unit, above zero and %.0fh at the most, like 60s or 5m", longest.Hours())
	case int:
		return "give one whole number"
	case float64:
		return "give one number, like 0.05"
	case bool:
		return "it is true or false, or stands alone"
	}
	return ""
}
