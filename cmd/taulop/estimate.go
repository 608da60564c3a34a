package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/estimate"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/params"
)

// An estimateRequest is what the user asked to estimate.
type estimateRequest struct {
	clusterFlags
	files  parameterFiles
	choice model.Choice
	state  stateChoice
	gamma  string
}

// add adds the flags that say which machine.
func (req *estimateRequest) add(flags *argument.Set) {
	flags.Var(&req.files, "params", "parameters of a machine, a `list` of files; of what several have, the first counts")
	flags.StringVar(&req.gamma, "gamma", "", "γ of reductions, a `file` in the published text format (default what -params has)")
	req.state.add(flags, mixture)
	argument.Word(flags, &req.choice.Model, "model", model.Models[0], "`model`: "+strings.Join(estimateModels(), ", "), estimateModels())
	flags.Check(func() error {
		if len(req.files) == 0 {
			return usagef("-params is missing: name files that taulop sweep, taulop access or taulop disk wrote, like -params host.json,disk.json")
		}
		return nil
	})
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

// estimateFlags is the subcommand.
func estimateFlags(flags *argument.Set) action {
	var (
		req estimateRequest
		to  destination
		say saying
	)
	req.add(flags)
	req.clusterFlags.add(flags)
	say.addQuiet(flags, "no warnings")
	to.add(flags)
	return func(_ context.Context, out, errOut io.Writer, words []string) error {
		p, err := estimate.ReadFile(words[0])
		if err != nil {
			return usageError(err.Error())
		}
		if req.choice.Cluster, err = req.cluster(flags, &req.choice.Placement); err != nil {
			return err
		}
		m, err := req.machine(say.aside(errOut))
		if err != nil {
			return err
		}
		e, err := m.Estimate(p)
		if err != nil {
			return req.lacking(err)
		}
		return to.put(out, e.Document())
	}
}

// machine reads the parameter files. It is called as they are, each name once.
func (req *estimateRequest) machine(errOut io.Writer) (m *estimate.Machine, err error) {
	if req.choice.Gamma, err = readGamma(req.gamma); err != nil {
		return nil, err
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
