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

// A Set is the flags of one command: those of package flag, which may stand between operands,
// each once, and what they may stand beside. Every error is one sentence that says what to do.
type Set struct {
	*flag.FlagSet
	// Failed, if not nil, takes an error in the place of standard error.
	Failed func(out io.Writer, err error) error
	// Elsewhere, if not nil, says where a flag belongs that is not in the set, "" for nowhere.
	Elsewhere func(name string) string
	given     map[string]bool
	checks    []func() error
}

// NewSet is a set without flags of a command that is called so in sentences.
func NewSet(name string) *Set {
	s := &Set{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), given: make(map[string]bool)}
	s.SetOutput(io.Discard)
	s.Usage = func() {}
	return s
}

// A Rule is what flags may stand beside; without Needs and Not they are refused.
type Rule struct {
	Flags string // names, with spaces between
	Needs string // names of which one has to be there, too
	Not   string // names of which none may be there; name=value is a flag with that value
	Why   string // goes on after a flag's name: "is of message patterns"
	Do    string // in the place of: add -patterns, or leave it out
}

// Rules adds rules.
func (s *Set) Rules(rules ...Rule) {
	for _, r := range rules {
		s.Check(func() error { return s.breaks(r) })
	}
}

func (s *Set) breaks(r Rule) error {
	others := strings.Fields(r.Needs + r.Not)
	beside := slices.DeleteFunc(slices.Clone(others), func(name string) bool { return !s.On(name) })
	for _, name := range strings.Fields(r.Flags) {
		switch {
		case !s.On(name):
		case len(others) == 0:
			return fmt.Errorf("-%s %s: %s", name, r.Why, cmp.Or(r.Do, "leave it out"))
		case r.Needs != "" && len(beside) == 0:
			return fmt.Errorf("-%s %s: %s", name, r.Why, cmp.Or(r.Do, "add -"+s.spelt(strings.Join(others, " or -"))+", or leave it out"))
		case r.Not != "" && len(beside) > 0:
			return fmt.Errorf("-%s %s: %s", name, r.Why, cmp.Or(r.Do, "leave out -"+name+" or -"+s.spelt(beside[0])))
		}
	}
	return nil
}

// spelt is name=value as people write it: the equals sign is for switches alone.
func (s *Set) spelt(text string) string {
	if name, _, valued := strings.Cut(text, "="); !valued || isSwitch(s.Lookup(name).Value) {
		return text
	}
	return strings.ReplaceAll(text, "=", " ")
}

// OneOf has at most one of some flags be there.
func (s *Set) OneOf(names ...string) {
	s.Check(func() error {
		there := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !s.On(name) })
		if len(there) > 1 {
			return fmt.Errorf("-%s cannot be used together: choose one", strings.Join(there, " and -"))
		}
		return nil
	})
}

// Within bounds a number; give says what to give: "give a percentage from 0 to 100".
func (s *Set) Within(name string, least, most float64, give string) {
	s.Check(func() error {
		f := s.Lookup(name)
		var v float64
		switch n := f.Value.(flag.Getter).Get().(type) {
		case int:
			v = float64(n)
		case float64:
			v = n
		}
		if s.given[name] && !(v >= least && v <= most) {
			return fmt.Errorf("-%s is %v: %s", name, f.Value, give)
		}
		return nil
	})
}

// Check has something looked at once all flags are known, after what was added before.
func (s *Set) Check(check func() error) { s.checks = append(s.checks, check) }

// Given tells whether a flag is on the command line.
func (s *Set) Given(name string) bool { return s.given[name] }

// On tells whether a flag is there, and is no switch that is turned off; or, name=value,
// whether it is there with that value.
func (s *Set) On(name string) bool {
	name, value, valued := strings.Cut(name, "=")
	if !s.given[name] {
		return false
	}
	has := s.Lookup(name).Value.String()
	return valued && has == value || !valued && (has != "false" || !isSwitch(s.Lookup(name).Value))
}

// Names are those of all flags.
func (s *Set) Names() (names []string) {
	s.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// Parse reads flags wherever they stand, up to a --, and returns the other words. The error is
// flag.ErrHelp where help is asked for.
func (s *Set) Parse(args []string) (words []string, err error) {
	counted := s.count()
	words, err = s.permute(args)
	switch wrong := counted(); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case wrong != nil:
		return nil, wrong
	case err != nil:
		return nil, s.sentence(err)
	}
	s.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	return words, s.FlagSet.Parse(append([]string{"--"}, words...))
}

// Checked is the first error of rules and checks, in their order.
func (s *Set) Checked() (err error) {
	s.Visit(func(f *flag.Flag) {
		if g, is := f.Value.(flag.Getter); is && err == nil {
			if d, is := g.Get().(time.Duration); is && d <= 0 {
				err = fmt.Errorf("-%s is %v: give a time above zero, like 60s", f.Name, d)
			}
		}
	})
	for _, check := range s.checks {
		if err == nil {
			err = check()
		}
	}
	return err
}

// permute parses flags wherever they stand.
func (s *Set) permute(args []string) (words []string, err error) {
	for {
		if err := s.FlagSet.Parse(args); err != nil {
			return nil, err
		}
		rest := s.Args()
		if read := len(args) - len(rest); len(rest) == 0 || read > 0 && args[read-1] == "--" {
			return append(words, rest...), nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

// A counted value knows how often it was set. One that says so may be set twice.
type counted struct {
	flag.Value
	times int
	empty bool   // it was set to nothing
	flag  string // it was set to what is another flag
	set   *Set
}

func (c *counted) Set(text string) error {
	c.times++
	c.empty = c.empty || text == ""
	if name, _, _ := strings.Cut(strings.TrimLeft(text, "-"), "="); strings.HasPrefix(text, "-") && c.set.Lookup(name) != nil {
		c.flag = text
	}
	return c.Value.Set(text)
}

// IsBoolFlag is for package flag.
func (c *counted) IsBoolFlag() bool { return isSwitch(c.Value) }

func isSwitch(v flag.Value) bool {
	b, is := v.(interface{ IsBoolFlag() bool })
	return is && b.IsBoolFlag()
}

// count counts how often flags are set; what it returns ends that, and refuses one that was
// set twice, or that names a file and has no name.
func (s *Set) count() (end func() error) {
	all := make(map[*flag.Flag]*counted)
	s.VisitAll(func(f *flag.Flag) {
		all[f] = &counted{Value: f.Value, set: s}
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
				err = fmt.Errorf("-%s has no value, for %s behind it is a flag: say what -%[1]s is, or leave it out", f.Name, c.flag)
			case c.times > 1 && !repeats:
				err = fmt.Errorf("-%s is there twice, and one of them would not count: give it once (a list has commas)", f.Name)
			case c.empty && slices.Contains([]string{"file", "table", "DIR"}, what):
				err = fmt.Errorf("-%s is there with an empty name: name a %s, or leave -%[1]s out", f.Name, strings.Replace(what, "DIR", "directory", 1))
			}
		})
		return err
	}
}

// sentence makes one that says what to do of an error of package flag.
func (s *Set) sentence(err error) error {
	text := err.Error()
	if name, missing := strings.CutPrefix(text, "flag needs an argument: "); missing {
		of := "a value"
		if f := s.Lookup(strings.TrimLeft(name, "-")); f != nil {
			if quoted, _ := flag.UnquoteUsage(f); quoted != "" {
				of = "its " + quoted
			}
		}
		return fmt.Errorf("%s is the last word and needs %s after it: %s -h shows what there is", name, of, s.Name())
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
	_, after, found := strings.Cut(text, " for flag -")
	if !found {
		_, after, _ = strings.Cut(text, " for -")
	}
	name, why, _ := strings.Cut(after, ": ")
	f := s.Lookup(name)
	if f == nil {
		return fmt.Errorf("%s: %s -h shows what there is", text, s.Name())
	}
	standard, is := f.Value.(flag.Getter)
	if why != "" && found && !is { // it reads its value by itself, and says what to give
		return fmt.Errorf("-%s: %s", name, why)
	}
	value, _ := strings.CutPrefix(text, "invalid value ")
	value, _ = strings.CutPrefix(value, "invalid boolean value ")
	value, _, _ = strings.Cut(value, " for ")
	return fmt.Errorf("-%s is %s: %s", name, value, hint(standard))
}

// hint says what a flag takes whose value package flag could not read.
func hint(value flag.Getter) string {
	switch value.Get().(type) {
	case time.Duration:
		return "give a time with its unit, like 60s or 5m"
	case int:
		return "give one whole number"
	case float64:
		return "give one number, like 0.05"
	case bool:
		return "it is true or false, or stands alone"
	}
	return ""
}
