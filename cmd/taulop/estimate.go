package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

const estimateHelp = `Estimate says what a whole program costs on the machine of parameter files: passes
over arrays, messages between ranks and transfers of a disk, the share of each, and
which is worth improving.

  taulop estimate -params FILE[,FILE ...] [flags] PROGRAM.toml
  taulop estimate -run cannon -params FILE[,FILE ...] [flags]

With -run a program is carried out on this machine, beside its estimate; taulop
estimate -run cannon -h says more. PROGRAM.toml lists phases:

  name = "smoothing"
  ranks = 4
  [[phase]]
  pass = "read"              # read, write, multiply, divide, dot
  type = "float64"           # int32, float32, float64
  n = "256K"                 # elements
  stride = 2                 # elements from one to the next
  times = 100
  [[phase]]
  message = "permutation"    # ping-pong, bcast, bcast:binomial ...
  bytes = "64K"
  times = 100
  [[phase]]
  disk = "write"             # read
  bytes = "16M"

A phase may have a name, and cache = "off" for data in memory ("in" for a disk whose
page cache takes part). docs/estimate.md says more, and docs/programs has examples.

Examples:
  taulop estimate -params host.json cannon.toml
  taulop estimate -params host.json,disk.json -csv cannon.toml
  taulop estimate -params host.json -model imh cannon.toml
  taulop estimate -params host.json -nodes 4 -net ib.json program.toml

Models: those of taulop predict, for messages, beside passes and transfers of a disk as
they were measured; imh, the Integrated Memory Hierarchy model, has three lines instead:
T_n·N + T_c·N_c + T_e·S for passes, T_s + m·τ_d for messages, T_s + m·τ for disks.

Flags:
`

// An estimateRequest is what the user asked to estimate.
type estimateRequest struct {
	clusterFlags
	files  parameterFiles
	choice model.Choice
	state  stateChoice
	gamma  string
}

// add adds the flags that say which machine.
func (req *estimateRequest) add(flags *flag.FlagSet) {
	flags.Var(&req.files, "params", "parameters of a machine, a `list` of files; of what several have, the first counts")
	flags.StringVar(&req.gamma, "gamma", "", "γ of reductions, a `file` in the published text format (default what -params has)")
	req.state.add(flags, mixture)
	flags.StringVar(&req.choice.Model, "model", model.Models[0], "`model`: "+strings.Join(estimateModels(), ", "))
}

func estimateModels() []string { return append(slices.Clone(model.Models), estimate.IMH) }

// parameterFiles is a flag that names files, in a list or one after another.
type parameterFiles []string

func (n *parameterFiles) String() string { return strings.Join(*n, ",") }

// Repeats: files add up.
func (n *parameterFiles) Repeats() {}

func (n *parameterFiles) Set(list string) error {
	if list == "" {
		return errors.New("it is there with an empty name: name a file, or leave it out")
	}
	names := strings.Split(list, ",")
	if isFile(list) { // with a comma in its name
		names = []string{list}
	}
	for _, name := range names {
		switch {
		case name == "":
			return errors.New("a comma with no file beside it: name one there, or leave the comma out")
		case slices.Contains(*n, name):
			return fmt.Errorf("%s is there twice: name each file once", name)
		}
		*n = append(*n, name)
	}
	return nil
}

func estimateCommand(ctx context.Context, out, errOut io.Writer, args []string) error {
	if asks(args, "run") {
		return estimateRun(ctx, out, errOut, args)
	}
	var (
		req   estimateRequest
		flags = flag.NewFlagSet("taulop estimate", flag.ContinueOnError)
		to    destination
		say   saying
	)
	to.add(flags)
	req.add(flags)
	req.clusterFlags.add(flags)
	flags.BoolVar(&say.quiet, "quiet", false, "no warnings")
	words, err := parseWords(flags, out, args, estimateHelp)
	if err != nil {
		return err
	}
	given := givenFlags(flags)
	if len(words) != 1 {
		return usagef("estimate takes one program, got %d: name a file of phases, like docs/programs/cannon.toml", len(words))
	}
	if err := to.check(); err != nil {
		return err
	}
	p, err := estimate.ReadFile(words[0])
	if err != nil {
		return usageError(err.Error())
	}
	m, err := req.machine(say.aside(errOut), given)
	if err != nil {
		return err
	}
	e, err := m.Estimate(p)
	if err != nil {
		return req.lacking(err)
	}
	return to.put(out, e)
}

// machine reads the parameter files. It is called as they are, each name once.
func (req *estimateRequest) machine(errOut io.Writer, given map[string]bool) (m *estimate.Machine, err error) {
	if models := estimateModels(); !slices.Contains(models, req.choice.Model) {
		return nil, usagef("unknown model %q: take one of %s", req.choice.Model, strings.Join(models, ", "))
	}
	if len(req.files) == 0 {
		return nil, usagef("-params is missing: name files that taulop sweep, taulop access or taulop disk wrote, like -params host.json,disk.json")
	}
	if req.mapping != "" { // a run is on one node
		if req.choice.Cluster, err = req.cluster(given, &req.choice.Placement); err != nil {
			return nil, err
		}
	}
	if req.gamma != "" {
		if req.choice.Gamma, err = readText(req.gamma, params.ReadGammaText); err != nil {
			return nil, usagef("-gamma: %v", err)
		}
	}
	var machines []compare.Machine
	for _, path := range req.files {
		f, err := compare.Read(path)
		if err != nil {
			return nil, usagef("-params: %v", err)
		}
		machines = append(machines, f)
	}
	hosts := lists.Unique(lists.Map(machines, func(m compare.Machine) string { return m.Name }))
	if err := req.state.of(machines); err != nil {
		return nil, err
	}
	if len(hosts) > 1 {
		tell(errOut, "warning: the parameters are of %d machines, %s: what is taken from each is as if it were one", len(hosts), printable.List(hosts))
	}
	files := lists.Map(machines, func(m compare.Machine) *params.File { return m.File })
	m = estimate.NewMachine(strings.Join(hosts, ", "), files, req.choice)
	states := lists.Map(machines, compare.Machine.States)
	m.States = strings.Join(lists.Unique(lists.Filter(states, func(s string) bool { return s != "" })), "; ")
	return m, nil
}

// lacking says which command measures what the files do not have.
func (req *estimateRequest) lacking(err error) error {
	var lacks *estimate.LackingError
	if !errors.As(err, &lacks) || lacks.Why != nil {
		return refused(err)
	}
	command := "taulop sweep -o host.json"
	switch lacks.Kind {
	case params.AccessCell:
		p := lacks.Pass
		n, strides := []int{p.N}, []int{1, p.Stride}
		if req.choice.Model == estimate.IMH { // whose terms are three
			n, strides = []int{max(1, p.N/4), p.N}, []int{1, 4, p.Stride}
		}
		command = fmt.Sprintf("taulop access -ops %s -types %s -n %s -stride %s -cache %s -o access.json", p.Operation, p.Type, list(n), list(strides), map[bool]string{false: "in", true: "off"}[lacks.OffCache])
	case params.DiskCell:
		command = "taulop disk -o disk.json DIR"
	case params.GammaCell:
		return usagef("%v; name a file that has γ with -gamma", err)
	case params.PatternCell:
		command = fmt.Sprintf("taulop verify -patterns -P %d -save patterns.json", lacks.P)
	}
	return usagef("%v; %s measures it, and -params takes that file, too", err, command)
}

// list is numbers as flags take them, each once.
func list(numbers []int) string {
	text := fmt.Sprint(lists.Rising(numbers))
	return strings.ReplaceAll(strings.Trim(text, "[]"), " ", ",")
}
