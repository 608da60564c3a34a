// Taulop measures how a machine's memory carries concurrent transfers, the
// parameters of the τ-Lop model, and says what they mean.
//
// Usage:
//
//	taulop [flags] SEGMENTS SIZE TAU
//	taulop topo [flags]
//	taulop sweep [flags] -o host.json
//	taulop pairs [flags]
//	taulop copy [flags]
//	taulop pack [flags] [MESSAGE ...]
//	taulop access [flags]
//	taulop disk [flags] DIR
//	taulop loaded [flags]
//	taulop net [flags] [-to HOST,HOST | -listen [ADDRESS]]
//	taulop predict -params host.json -P LIST [flags] COLLECTIVE[:ALGORITHM] ...
//	taulop explain -params host.json -P LIST [flags] COLLECTIVE[:ALGORITHM] ...
//	taulop estimate -params FILE[,FILE] [flags] PROGRAM.toml
//	taulop verify [flags] [COLLECTIVE[:ALGORITHM] ...]
//	taulop verify -patterns [flags] [PATTERN ...]
//	taulop plot KIND [flags] -o FILE.svg|png|pdf FILES…
//	taulop report -o report.html FILE ...
//	taulop compare [flags] A.json B.json ...
//	taulop verify -against OUTPUT -params host.json [flags] [COLLECTIVE[:ALGORITHM] ...]
//	taulop export -format taulop|csv|benchfmt [flags] [DIR] host.json
//	taulop import [flags] SHM.txt [gamma.txt]
//	taulop version
//
// Run taulop -h for the flags and examples.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey"
	_ "github.com/taulop/taulop/internal/survey/all"
)

// A command is one subcommand; each has a file of its own.
type command struct {
	run      func(ctx context.Context, out, errOut io.Writer, args []string) error
	measures bool // has something to save when it is stopped
}

var commands = map[string]command{
	"":         {measure, true}, // the paper's: no subcommand
	"topo":     {topo, false},
	"sweep":    {sweepCommand, true},
	"net":      {netCommand, true},
	"predict":  {predict, false},
	"explain":  {explain, false},
	"estimate": {estimateCommand, false},
	"verify":   {verifyCommand, true},
	"plot":     {plotCommand, false},
	"report":   {reportCommand, false},
	"compare":  {compareCommand, false},
	"export":   {export, false},
	"import":   {importCommand, false},
}

// Surveys that say what users are told have a command each.
func init() {
	for _, s := range survey.All() {
		if s.Command != nil {
			commands[s.Name] = command{surveyCommand(s), true}
		}
	}
}

// find returns the command that args ask for, and its own arguments.
func find(args []string) (command, []string) {
	if len(args) > 0 && args[0] != "" {
		if c, ok := commands[args[0]]; ok {
			return c, args[1:]
		}
		if args[0] == "version" {
			return command{run: version}, args[1:]
		}
		if args[0] == "help" {
			return commands[""], []string{"-h"}
		}
		if first, _ := utf8.DecodeRuneInString(args[0]); unicode.IsLetter(first) {
			return command{run: unknown(args[0])}, nil
		}
	}
	return commands[""], args
}

// version says which program this is.
func version(_ context.Context, out, _ io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop version", flag.ContinueOnError)
	if err := parse(flags, out, args, "Version says which taulop this is, and with which Go it was built.\n"); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return usagef("version takes no arguments, got %q", flags.Arg(0))
	}
	fmt.Fprintf(out, "taulop %s, %s %s/%s\n", provenance.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// unknown is for a word that is no command.
func unknown(word string) func(context.Context, io.Writer, io.Writer, []string) error {
	return func(context.Context, io.Writer, io.Writer, []string) error {
		known := slices.Sorted(maps.Keys(commands))[1:] // without the paper's, which has no word
		return usagef("there is no command %q; did you mean %q? There are %s; taulop -h says more", word, collective.Nearest(word, known), strings.Join(known, ", "))
	}
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == engine.Command {
		abortOnCrash()
		os.Exit(survey.Serve())
	}
	cmd, args := find(os.Args[1:])
	abortOnCrash()
	os.Exit(supervise(cmd, args))
}

// A usageError is a mistake in what the user typed, or asked for: nothing was done.
type usageError = engine.RefusedError

func usagef(format string, args ...any) error {
	return usageError(fmt.Sprintf(format, advised(args)...))
}

// interrupted is what a command says that a signal ended.
type interrupted string

func (e interrupted) Error() string { return string(e) }
func (e interrupted) Unwrap() error { return context.Canceled }

// noAnswer is what a command says that found too little in good files to answer.
type noAnswer string

func (e noAnswer) Error() string { return string(e) }

// exitStatus is 0 for success and help, 2 for bad input, 3 for no answer, 130 for an interrupt
// as shells have it, 1 for what the machine refused. Which signal it was supervise
// knows.
func exitStatus(err error) int {
	var usage usageError
	var none noAnswer
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		return 2
	case errors.As(err, &none):
		return 3
	case errors.Is(err, context.Canceled):
		return 130
	}
	return 1
}

// parse parses flags the way all commands do: help goes to out, a mistake is
// one sentence.
func parse(flags *flag.FlagSet, out io.Writer, args []string, help string) error {
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, help)
		flags.SetOutput(out)
		flags.PrintDefaults()
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
		if strings.Contains(err.Error(), "parse error") {
			hint = "; a time has a unit, like 60s or 5m"
		}
		if strings.HasSuffix(err.Error(), "not defined: -ci") {
			hint = "; a width no longer decides when a measurement stops, which made intervals too narrow: -launches says how many processes measure"
		}
		return usagef("%v%s: %s -h shows what there is", err, hint, flags.Name())
	}
	return nil
}

// parseWords parses flags and words in any order, and returns the words.
func parseWords(flags *flag.FlagSet, out io.Writer, args []string, help string) (words []string, err error) {
	for {
		if err := parse(flags, out, args, help); err != nil {
			return nil, err
		}
		if args = flags.Args(); len(args) == 0 {
			return words, nil
		}
		words, args = append(words, args[0]), args[1:]
	}
}
