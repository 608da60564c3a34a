// Taulop measures how a machine's memory carries concurrent transfers, the
// parameters of the τ-Lop model, and says what they mean.
//
//	taulop [flags] SEGMENTS SIZE TAU
//	taulop COMMAND [flags] ...
//
// taulop help lists the commands, and says what each is for.
package main

import (
	"cmp"
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

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/survey"
	_ "github.com/taulop/taulop/internal/survey/all"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// A command is one subcommand, with a Go file and a help text of its own. Argument checks, help,
// manual and completion derive from it.
type command struct {
	name     string
	about    string // one line for users
	group    string // of commands, in the list that help prints
	flags    func(*argument.Set) action
	operands operands
	measures bool      // measures, and saves its result when it is stopped
	plugin   bool      // for monitoring: errors exit with status 3, unknown
	modes    []command // selected by a flag of the mode's name; each has its own flags
	value    string    // placeholder for the value of a mode's flag; "": none
	words    string    // help text of surveys; others have a file in help/
}

// An action runs a command after its flags are parsed.
type action func(ctx context.Context, out io.Writer, errOut *messages, words []string) error

// Operands are the words that a command takes besides flags.
type operands struct {
	least, most int             // most -1: unlimited
	want        string          // advice if there are too few or too many
	words       func() []string // for completion
	files       bool            // files too
}

// The groups of commands, in their order.
const (
	mainGroup    = "The most used"
	surveyGroup  = "Measuring more"
	machineGroup = "Deciding"
	fileGroup    = "Files and figures"
	selfGroup    = "About taulop"
)

// commands are all commands, in the order of help, man page and completion. The first is the plain
// command, without a name.
var commands []command

func init() {
	var own []command
	for _, s := range survey.All() {
		if s.Command != nil {
			own = append(own, command{name: s.Name, about: s.Doc, group: surveyGroup, flags: surveyFlags(s), measures: true, words: s.Command.Help,
				operands: operands{most: map[bool]int{true: -1}[s.Command.Takes], files: s.Command.Takes}})
		}
	}
	commands = slices.Concat([]command{
		{name: "", about: "L(S,τ) of a setup, as the paper's program", group: mainGroup, flags: measureFlags, measures: true, operands: operands{most: -1, words: commandNames}},
		{name: "sweep", about: "every parameter of this machine into one file", group: mainGroup, flags: sweepFlags, measures: true,
			operands: operands{want: "name the file with -o or -resume"}},
		{name: "predict", about: "what collectives cost, from such a file", group: mainGroup, flags: predictFlags, operands: operands{most: -1, words: algorithmNames}},
		{name: "compare", about: "two machines side by side, or the nodes of a cluster", group: mainGroup, flags: compareFlags,
			operands: operands{most: -1, files: true}},
		{name: "tune", about: "a tuning file for an MPI library: which algorithm for which size", group: mainGroup, flags: tuneFlags, operands: operands{most: -1, words: collectiveNames},
			modes: []command{
				{name: "plan", value: "DIR", about: "a job that times what predictions cannot tell", flags: planFlags, operands: operands{most: -1, words: collectiveNames}},
				{name: "timed", value: "DIR", about: "the tuning file, by what such a job took", flags: timedFlags, operands: operands{most: 0, want: "the plan says which collectives"}},
				{name: "eval", value: "TABLE", about: "what such choices would have cost, by what others measured", flags: evaluateFlags, operands: operands{most: -1, words: collectiveNames}}}},
		{name: "topo", about: "what this machine is, and what would spoil a measurement", group: surveyGroup, flags: topoFlags,
			operands: operands{want: "flags begin with a dash"}},
	}, own, []command{
		{name: "net", about: "a network between hosts: messages over TCP, and the parts of their way", group: surveyGroup, flags: netFlags, measures: true,
			operands: operands{most: 1, want: "there is one argument, the ADDRESS of -listen"}},
		{name: "verify", about: "predicted beside measured, on this machine's memory", group: surveyGroup, flags: verifyFlags, measures: true,
			operands: operands{most: -1, words: verifiable}, modes: []command{
				{name: "against", value: "OUTPUT", about: "predicted beside what an MPI benchmark printed", flags: againstFlags, operands: operands{most: -1, words: verifiable}}}},
		{name: "check", about: "whether this node is as it was, for monitoring", group: surveyGroup, flags: checkFlags, measures: true, plugin: true,
			operands: operands{want: "name the file with -baseline"}},
		{name: "explain", about: "the formula behind a prediction, and where one algorithm overtakes another", group: machineGroup, flags: explainFlags, operands: operands{most: -1, words: algorithmNames}},
		{name: "estimate", about: "what a whole program costs, phase by phase", group: machineGroup, flags: estimateFlags,
			operands: operands{least: 1, most: 1, files: true, want: "name a file of phases, like docs/programs/cannon.toml"},
			modes:    []command{{name: "run", value: estimate.Plain, about: "a program carried out on this machine, beside its estimate", flags: estimateRunFlags, measures: true}}},
		{name: "map", about: "on which cores the processes of a program should be", group: machineGroup, flags: mapFlags,
			operands: operands{least: 1, most: -1, words: comm.Names, files: true, want: "say what to map: a communication matrix, or with -P a pattern: " + strings.Join(comm.Names(), ", ")}},
		{name: "report", about: "one page of such files, HTML or Markdown", group: fileGroup, flags: reportFlags,
			operands: operands{least: 1, most: -1, files: true, want: "name the parameter files: taulop report -o report.html host.json"}},
		{name: "plot", about: "charts of such files, and of what verify found", group: fileGroup, flags: plotFlags,
			operands: operands{least: 1, most: -1, words: kindNames, files: true, want: "say which chart: " + plotKinds[0].example}},
		{name: "export", about: "a file in the format of other tools", group: fileGroup, flags: exportFlags, operands: operands{most: -1, files: true}},
		{name: "import", about: "published parameters, and what benchmarks printed, into such a file", group: fileGroup, flags: importFlags,
			operands: operands{least: 1, most: -1, files: true, want: "it needs files: SHM.txt, what IMB-MPI1 or OSU micro-benchmarks printed, or tables of messages between cores"},
			modes:    []command{{name: "overheads", value: "OUTPUT", about: "o(m) of an MPI library into a file of taulop sweep", flags: overheadsFlags, operands: operands{want: "one file is of ping-pongs and one, that of -params, of parameters"}}}},
		{name: "help", about: "this, or what a command is for", group: selfGroup, flags: helpFlags, operands: operands{most: 1, words: commandNames, want: "help takes one command"}},
		{name: "version", about: "which taulop this is", group: selfGroup, flags: versionFlags},
		{name: "man", about: "the manual page, for man -l", group: selfGroup, flags: manFlags, operands: operands{most: 1, words: commandNames, want: "man takes one command"}},
		{name: "completion", about: "completion for bash, zsh or fish", group: selfGroup, flags: completionFlags, operands: operands{most: -1, words: func() []string { return shells }}},
	})
}

// run runs a command, or the mode that a flag selects.
func (c command) run(ctx context.Context, out, errOut io.Writer, args []string) error {
	plain := c
	c = c.mode(args)
	flags, act := c.set()
	flags.Elsewhere = func(name string) string { return plain.elsewhere(c, name) }
	words, err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		c.writeHelp(out, flags)
		return err
	}
	if err == nil {
		err = c.operands.check(c.called(), words)
	}
	if err == nil && flags.Lookup("params") != nil {
		err = c.operands.misplaced(words)
	}
	if err == nil {
		err = flags.Checked()
	}
	switch {
	case err == nil:
		said := newMessages(flags, errOut, c.measures && !c.plugin)
		defer said.end()
		return act(ctx, out, said, words)
	case flags.Failed != nil:
		return flags.Failed(out, err)
	}
	return usagef("%v", err)
}

// check counts operands.
func (o operands) check(name string, words []string) error {
	n, most := len(words), o.most
	switch {
	case most < 0 && n >= o.least, n >= o.least && n <= most:
		return nil
	case most == 0:
		return usagef("%s takes no arguments, got %q: %s", strings.TrimPrefix(name, "taulop "), words[0], cmp.Or(o.want, "all is said by flags"))
	case n == 0:
		return usagef("%s", o.want)
	}
	return usagef("got %s: %s", printable.Count(n, "argument"), o.want)
}

// misplaced rejects a file among operands that are collectives.
func (o operands) misplaced(words []string) error {
	if o.files || o.words == nil {
		return nil
	}
	word := lists.Find(words, func(word string) bool { return !slices.Contains(o.words(), word) && isFile(word) })
	if word == nil {
		return nil
	}
	return usagef("%s is a file: name it with -params, and beside it a collective, like bcast", *word)
}

// mode is the command, or the mode that a flag selects.
func (c command) mode(args []string) command {
	for _, m := range c.modes {
		if slices.ContainsFunc(args, func(arg string) bool { return flagName(arg) == m.name }) {
			return c.as(m)
		}
	}
	return c
}

// flagName is the name of the flag in an argument like -name, --name or -name=value; "" if it is none.
func flagName(arg string) string {
	name, dashed := strings.CutPrefix(arg, "-")
	if !dashed {
		return ""
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), "=")
	return name
}

// elsewhere ends an error about a flag that the command has in another mode; "" if in none.
func (c command) elsewhere(in command, name string) string {
	for i, m := range c.all() {
		switch flags, _ := m.set(); {
		case m.name == in.name || flags.Lookup(name) == nil:
		case i == 0:
			return "does not go with " + strings.Fields(in.name)[1] + ": leave one of them out"
		default:
			return "is of " + m.called() + " alone (" + m.about + "): leave it out, or give -" + c.modes[i-1].name + " too"
		}
	}
	return ""
}

// as is a command in a mode, verify -against OUTPUT.
func (c command) as(m command) command {
	m.name, m.group = strings.TrimSpace(c.name+" -"+m.name+" "+m.value), c.group
	return m
}

// called is the command as users type it: taulop verify.
func (c command) called() string { return strings.TrimSpace("taulop " + c.name) }

// status is the exit status for an error.
func (c command) status(err error) int {
	status := exitStatus(err)
	if c.plugin && status != 0 && !errors.As(err, new(verdict)) {
		return int(compare.Unknown)
	}
	return status
}

// lookup finds a command by its name; nil if there is none.
func lookup(name string) *command {
	return lists.Find(commands[1:], func(c command) bool { return c.name == name })
}

// find returns the command of args, and its arguments.
func find(args []string) (command, []string) {
	if len(args) > 0 {
		if c := lookup(args[0]); c != nil {
			return *c, args[1:]
		}
		if first, _ := utf8.DecodeRuneInString(args[0]); unicode.IsLetter(first) {
			return command{flags: func(*argument.Set) action {
				return func(context.Context, io.Writer, *messages, []string) error { return unknown(args[0]) }
			}}, nil
		}
	}
	return commands[0], args
}

// versionFlags is the subcommand.
func versionFlags(*argument.Set) action {
	return func(_ context.Context, out io.Writer, _ *messages, _ []string) error {
		version := provenance.Version()
		if commit := provenance.Commit(); !strings.Contains(version, commit) { // a tag has none
			version += ", commit " + commit
		}
		fmt.Fprintf(out, "taulop %s, %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return nil
	}
}

// unknown is the error for a word that is no command.
func unknown(word string) error {
	if slices.ContainsFunc(measured, func(s setups.Setup) bool { return s.Name == word }) {
		return usagef("there is no command %q: setups are flags, like taulop -%s 2 8 4; taulop -h says more", word, word)
	}
	return usagef("there is no command %q; %s; taulop -h says more", word, spelling.Suggest(word, commandNames()))
}

func commandNames() []string {
	return lists.Map(commands[1:], func(c command) string { return c.name })
}

func main() {
	process.AbortOnCrash()
	cmd, args := find(os.Args[1:])
	cmd.measures = cmd.mode(args).measures
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

// A usageError is a mistake in the command line or its files; nothing was done.
type usageError = engine.RefusedError

func usagef(format string, args ...any) error {
	return usageError(fmt.Sprintf(format, advised(called(args))...))
}

// interrupted is the error of a command that a signal ended.
type interrupted string

func (e interrupted) Error() string { return string(e) }
func (e interrupted) Unwrap() error { return context.Canceled }

// noAnswer is the error of a command whose valid input has too little data.
type noAnswer string

func (e noAnswer) Error() string { return string(e) }

// exitStatus is 0 for success and help, 1 for failures of the system, 2 for bad input, 3 for no
// answer, and 130 for a signal, which supervise refines. A check's is its verdict.
func exitStatus(err error) int {
	if checked, is := errors.AsType[verdict](err); is {
		return int(checked)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, new(usageError)), errors.As(err, new(params.LimitError)):
		return 2
	case errors.As(err, new(noAnswer)):
		return 3
	case errors.Is(err, context.Canceled):
		return 130
	}
	return 1
}
