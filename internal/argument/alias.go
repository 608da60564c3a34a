package argument

import (
	"flag"
	"strconv"
)

// Alias adds an older spelling of a flag.
func Alias(flags *flag.FlagSet, old, name string) {
	flags.Var(&alias{flags: flags, name: name}, old, "")
}

// Switch adds a switch that is an older spelling of a flag: it sets the flag to the value on,
// or off where it is given as false.
func Switch(flags *flag.FlagSet, old, name, on, off string) {
	flags.Var(&alias{flags, name, on, off}, old, "")
}

// AliasOf tells whether a flag is an older spelling, and of what: -cache off.
func AliasOf(f *flag.Flag) (now string, is bool) {
	a, is := f.Value.(*alias)
	if !is {
		return "", false
	}
	if now = "-" + a.name; a.on != "" {
		now += " " + a.on
	}
	return now, true
}

type alias struct {
	flags         *flag.FlagSet
	name, on, off string
}

func (a *alias) String() string { return "" }

// Set sets the flag itself, which is then the one that was given.
func (a *alias) Set(text string) error {
	if a.on == "" {
		return a.flags.Set(a.name, text)
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return err
	}
	if text = a.off; on {
		text = a.on
	}
	return a.flags.Set(a.name, text)
}

// IsBoolFlag is for package flag: a switch takes no value.
func (a *alias) IsBoolFlag() bool { return a.on != "" }
