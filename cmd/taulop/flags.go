package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/spelling"
)

// parse parses flags the way all commands do, before, after and between operands, which
// flags.Args then are: help goes to out, a mistake is one sentence. Help, man page and
// completion of a command are made of what it gives here, see describe.
func parse(flags *flag.FlagSet, out io.Writer, args []string, help string) error {
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	given := countFlags(flags)
	words, err := permute(flags, args)
	if wrong := given(); err == nil && wrong != nil {
		return wrong
	}
	if errors.Is(err, flag.ErrHelp) {
		if d, asks := out.(*description); asks {
			d.help, d.flags = help, flags
			return err
		}
		io.WriteString(out, printable.Reflow(help, columns(out)))
		printFlags(out, flags, columns(out))
		return err
	}
	if name, missing := strings.CutPrefix(fmt.Sprint(err), "flag needs an argument: "); missing {
		of := "a value"
		if f := flags.Lookup(strings.TrimLeft(name, "-")); f != nil {
			if quoted, _ := flag.UnquoteUsage(f); quoted != "" {
				of = "its " + quoted
			}
		}
		return usagef("%s is the last word and needs %s after it: %s -h shows what there is", name, of, flags.Name())
	}
	if err != nil {
		hint := ""
		name, undefined := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
		switch {
		case undefined:
			if nearest := spelling.Nearest(name, flagNames(flags)); nearest != "" {
				return usagef("there is no flag -%s; did you mean -%s? %s -h shows what there is", name, nearest, flags.Name())
			}
			return usagef("there is no flag -%s: %s -h shows what there is", name, flags.Name())
		default:
			f, why := refusedFlag(flags, err)
			if f == nil {
				break
			}
			value, standard := f.Value.(flag.Getter)
			if why != "" && !standard { // it reads its value by itself, and says what to give
				return usagef("-%s: %s", f.Name, why)
			}
			hint = valueHint(value)
		}
		return usagef("%v%s: %s -h shows what there is", err, hint, flags.Name())
	}
	return flags.Parse(append([]string{"--"}, words...))
}

// valueHint says what a flag takes whose value package flag could not read.
func valueHint(value flag.Getter) string {
	if value == nil {
		return ""
	}
	switch value.Get().(type) {
	case time.Duration:
		return "; a time has a unit, like 60s or 5m"
	case int:
		return "; give one whole number"
	case float64:
		return "; give one number, like 0.05"
	case bool:
		return "; it is true or false, or stands alone"
	}
	return ""
}

// refusedFlag is the flag that an error of package flag is of, and why; that is not said of a
// boolean.
func refusedFlag(flags *flag.FlagSet, err error) (f *flag.Flag, why string) {
	_, after, found := strings.Cut(err.Error(), " for flag -")
	if !found {
		_, after, _ = strings.Cut(err.Error(), " for -")
	}
	name, why, _ := strings.Cut(after, ": ")
	if f = flags.Lookup(name); f == nil || !found {
		return f, ""
	}
	return f, why
}

// countFlags has flags count how often they are set; what it returns ends that, and refuses
// one that was set twice, or that names a file and has no name. Those that say so may be
// there twice.
func countFlags(flags *flag.FlagSet) (given func() error) {
	var all []*counted
	flags.VisitAll(func(f *flag.Flag) {
		c := &counted{Value: f.Value, flag: f}
		f.Value, all = c, append(all, c)
	})
	return func() (err error) {
		for _, c := range all {
			c.flag.Value = c.Value
			_, repeats := c.Value.(interface{ Repeats() })
			what, _ := flag.UnquoteUsage(c.flag)
			switch {
			case err != nil:
			case c.times > 1 && !repeats:
				err = usagef("-%s is there twice, and one of them would not count: give it once (a list has commas)", c.flag.Name)
			case c.empty && slices.Contains([]string{"file", "table", "DIR"}, what):
				err = usagef("-%s is there with an empty name: name a %s, or leave -%[1]s out", c.flag.Name, strings.Replace(what, "DIR", "directory", 1))
			}
		}
		return err
	}
}

type counted struct {
	flag.Value
	flag  *flag.Flag
	times int
	empty bool // it was set to nothing
}

func (c *counted) Set(text string) error {
	c.times++
	c.empty = c.empty || text == ""
	return c.Value.Set(text)
}

// IsBoolFlag is for package flag.
func (c *counted) IsBoolFlag() bool {
	b, is := c.Value.(interface{ IsBoolFlag() bool })
	return is && b.IsBoolFlag()
}

// permute parses flags wherever they stand, up to a --, and returns the other words.
func permute(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if read := len(args) - len(rest); len(rest) == 0 || read > 0 && args[read-1] == "--" {
			return append(words, rest...), nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

// parseWords is parse, and returns the operands.
func parseWords(flags *flag.FlagSet, out io.Writer, args []string, help string) (words []string, err error) {
	err = parse(flags, out, args, help)
	return flags.Args(), err
}

// addName adds -name of what measures.
func addName(flags *flag.FlagSet, name *string) {
	flags.StringVar(name, "name", "", "`name` of this machine in the file and in what is made of it (default the host's)")
}

func flagNames(flags *flag.FlagSet) (names []string) {
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// A description is what a command says of itself when it is asked for help.
type description struct {
	io.Writer
	help  string
	flags *flag.FlagSet
}

// printFlags prints what flags there are.
func printFlags(w io.Writer, flags *flag.FlagSet, width int) {
	var b bytes.Buffer
	flags.SetOutput(&b)
	flags.PrintDefaults()
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, "\n")
		usage, below := strings.CutPrefix(line, "    \t")
		if name, beside, found := strings.Cut(line, "\t"); !below && found { // of one letter
			fmt.Fprintln(w, name)
			usage, below = beside, true
		}
		if below {
			line = "        " + usage
		}
		fmt.Fprintln(w, printable.Wrap(line, width, "        "))
	}
}

// givenFlags are the names of the flags that the user gave.
func givenFlags(flags *flag.FlagSet) map[string]bool {
	names := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { names[f.Name] = true })
	return names
}

// A setting is a flag as man page and completion show it.
type setting struct {
	name, value, usage string // value is what it takes, "" for nothing
}

// settings are the flags of a set.
func settings(flags *flag.FlagSet) (all []setting) {
	if flags == nil {
		return nil
	}
	flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		all = append(all, setting{f.Name, value, usage})
	})
	return all
}
