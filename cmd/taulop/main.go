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
//	taulop tune -params host.json -for LIBRARY -P LIST [flags] [COLLECTIVE ...]
//	taulop estimate -params FILE[,FILE] [flags] PROGRAM.toml
//	taulop verify [flags] [COLLECTIVE[:ALGORITHM] ...]
//	taulop verify -patterns [flags] [PATTERN ...]
//	taulop plot KIND [flags] -o FILE.svg|png|pdf FILES…
//	taulop report -o report.html FILE ...
//	taulop compare [flags] A.json B.json ...
//	taulop check -baseline host.json [flags]
//	taulop verify -against OUTPUT -params host.json [flags] [COLLECTIVE[:ALGORITHM] ...]
//	taulop export -format taulop|csv|benchfmt [flags] [DIR] host.json
//	taulop import [flags] SHM.txt [gamma.txt]
//	taulop help [COMMAND]
//	taulop version
//	taulop man [COMMAND]
//	taulop completion bash|zsh|fish
//
// Run taulop -h for the flags and examples.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/survey"
	_ "github.com/taulop/taulop/internal/survey/all"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A command is one subcommand; each has a file of its own.
type command struct {
	name     string
	about    string // one line for users
	run      func(ctx context.Context, out, errOut io.Writer, args []string) error
	measures bool     // has something to save when it is stopped
	plugin   bool     // of monitoring: it ends with 3 where others do that found nothing out
	also     []string // words with which it is another one, with flags of its own
}

// status is how the program ends.
func (c command) status(err error) int {
	status := exitStatus(err)
	if c.plugin && status != 0 && !errors.As(err, new(verdict)) {
		return int(compare.Unknown)
	}
	return status
}

// commands are all that there are, the paper's, which has no name, first; help, man page
// and completion list them in this order.
var commands []command

func init() {
	commands = []command{
		{name: "", about: "L(S,τ) of a setup, as the paper's program", run: measure, measures: true},
		{name: "topo", about: "what this machine is, and what would spoil a measurement", run: topo},
		{name: "sweep", about: "every parameter of this machine into one file", run: sweepCommand, measures: true},
	}
	for _, s := range survey.All() { // those that say what users are told
		if s.Command != nil {
			commands = append(commands, command{name: s.Name, about: s.Doc, run: surveyCommand(s), measures: true})
		}
	}
	commands = append(commands, []command{
		{name: "net", about: "a network between hosts: messages over TCP, and the parts of their way", run: netCommand, measures: true},
		{name: "predict", about: "what collectives cost, from such a file", run: predict},
		{name: "explain", about: "the formula behind a prediction, and where one algorithm overtakes another", run: explain},
		{name: "tune", about: "a tuning file for an MPI library: which algorithm for which size", run: tuneCommand, also: []string{"-eval", "TABLE"}},
		{name: "estimate", about: "what a whole program costs, phase by phase", run: estimateCommand, measures: true, also: []string{"-run", "cannon"}},
		{name: "map", about: "on which cores the processes of a program should be", run: mapCommand},
		{name: "verify", about: "predicted beside measured, on this machine's memory", run: verifyCommand, measures: true, also: []string{"-against", "OUTPUT"}},
		{name: "compare", about: "two machines side by side, or the nodes of a cluster", run: compareCommand},
		{name: "check", about: "whether this node is as it was, for monitoring", run: checkCommand, measures: true, plugin: true},
		{name: "report", about: "one HTML page of such files", run: reportCommand},
		{name: "plot", about: "charts of such files, and of what verify found", run: plotCommand},
		{name: "export", about: "a file in the format of other tools", run: export},
		{name: "import", about: "published parameters into such a file", run: importCommand},
		{name: "help", about: "this, or what a command is for", run: helpCommand},
		{name: "version", about: "which taulop this is", run: version},
		{name: "man", about: "the manual page, for man -l", run: manCommand},
		{name: "completion", about: "completion for bash, zsh or fish", run: completionCommand},
	}...)
}

// lookup finds a command.
func lookup(name string) (command, bool) {
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return commands[i], true
}

// find returns the command that args ask for, and its own arguments.
func find(args []string) (command, []string) {
	if len(args) > 0 && args[0] != "" {
		if c, known := lookup(args[0]); known {
			return c, args[1:]
		}
		if first, _ := utf8.DecodeRuneInString(args[0]); unicode.IsLetter(first) {
			return command{run: unknown(args[0])}, nil
		}
	}
	return commands[0], args
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
	version := provenance.Version()
	if commit := provenance.Commit(); !strings.Contains(version, commit) { // that of a tag
		version += ", commit " + commit
	}
	fmt.Fprintf(out, "taulop %s, %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// unknown is for a word that is no command.
func unknown(word string) func(context.Context, io.Writer, io.Writer, []string) error {
	return func(context.Context, io.Writer, io.Writer, []string) error {
		if slices.ContainsFunc(measured, func(s setups.Setup) bool { return s.Name == word }) {
			return usagef("there is no command %q: setups are flags, like taulop -%s 2 8 4; taulop -h says more", word, word)
		}
		known := lists.Map(commands[1:], func(c command) string { return c.name })
		return usagef("there is no command %q; %s; taulop -h says more", word, spelling.Suggest(word, known))
	}
}

func main() {
	abortOnCrash()
	cmd, args := find(os.Args[1:])
	if err := checkLimits(cmd.measures); err != nil {
		fmt.Fprintf(os.Stderr, "taulop: %v\n", err)
		os.Exit(cmd.status(err))
	}
	if len(os.Args) == 2 && os.Args[1] == engine.Command {
		os.Exit(survey.Serve())
	}
	if len(os.Args) == 2 && os.Args[1] == setups.WorkerCommand {
		os.Exit(setups.ServeWorker())
	}
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
// knows. A check's is its verdict.
func exitStatus(err error) int {
	var usage usageError
	var none noAnswer
	var checked verdict
	switch {
	case errors.As(err, &checked):
		return int(checked)
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage), errors.As(err, new(params.LimitError)):
		return 2
	case errors.As(err, &none):
		return 3
	case errors.Is(err, context.Canceled):
		return 130
	}
	return 1
}
