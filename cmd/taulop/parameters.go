package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
)

// parameterFlags choose parameters and the transport of messages.
type parameterFlags struct {
	degree, chunk        int
	choice               model.Choice
	state                stateChoice
	files                parameterFiles
	file, gamma, machine string          // file: the one that read has read
	loaded               compare.Machine // from file
	flags                *argument.Set
	noGamma              error // why reductions have no cost; nil if they have
}

// addSchedule adds -degree and -chunk; 0 if not given, collective.Call's default.
func addSchedule(flags *argument.Set, degree, chunk *int) {
	flags.IntVar(degree, "degree", 0, "`children` of a rank in trees such as bcast:kary and bcast:sm-tree, chains of bcast:chain, radix of allreduce:recexch (default 2)")
	flags.Within("degree", 2, math.MaxInt32, "a tree needs 2 or more")
	argument.Var(flags, chunk, "chunk", "", "`size` of the pieces in which algorithms such as bcast:chain forward a message; MPI libraries call them segments, too (default 64K)", argument.Some)
}

func (p *parameterFlags) add(flags *argument.Set) {
	p.flags = flags
	flags.Var(&p.files, "params", "parameters of a machine, a `file`")
	flags.Required("params", "name a file that taulop sweep wrote, or a table in the published text format", "list")
	flags.StringVar(&p.gamma, "gamma", "", "γ of reductions, a `file` in the published text format (default what -params has)")
	flags.StringVar(&p.choice.Operator, "op", "sum", "`operator` of reductions")
	flags.StringVar(&p.machine, "name", "", "`name` of the machine in the output (default from the file)")
	argument.Var(flags, &p.choice.Setup, "setup", "", "`setup` to take L of all messages from: ring, bcast, ping, sendrecv (default by pattern: ping for one way, sendrecv for exchanges with separate send and receive buffers, ring, or the file's first, for others)", verbatimWord, setupNames()...)
	argument.Var(flags, (*string)(&p.choice.Placement), "placement", "", "`placement` that L was measured with: "+policyNames()+" (default the file's first)", verbatimWord, policies()...)
	argument.Var(flags, &p.choice.OffCache, "cache", "", "user buffers `in|off` cache (default in, unless all was measured off)", argument.Cache, "in", "off")
	argument.Var(flags, &p.choice.Transport, "transport", "segmented", "`transport` of messages: segmented, steady, whole, single-copy; cma, the kernel's single copies, from their own measurements", model.ParseTransport, lists.Map(model.Transports, params.Transport.String)...)
	argument.Var(flags, &p.choice.Buffers, "buffers", "rewritten", "`state` of send buffers: rewritten before each message, as programs do, or unchanged, as most benchmarks leave them; see -transport cma", params.ParseBuffers, "rewritten", "unchanged")
	argument.Var(flags, &p.choice.As, "as", "", "MPI `library` whose transports, by message size, and algorithms are used: "+strings.Join(libraryNames(), ", ")+" (instead of -transport, -segment and -segments)", mpi.Named, libraryNames()...)
	argument.Var(flags, &p.choice.Segment, "segment", "", "`size` of a segment (default the file's, or 8K)", argument.Some)
	flags.IntVar(&p.choice.BufferSegments, "segments", 0, "`segments` of intermediate buffers: the nearest number in the file counts, as with -segment (default the file's first)")
	flags.Within("segments", 1, math.MaxInt32, "give a number of segments from 1")
	flags.Rules(argument.Rule{Flags: "transport segment segments", Not: "as", Why: "does not go with -as, for a library has transports and segments of its own", Do: "leave one of them out"})
	p.state.add(flags, mixture)
	addSchedule(flags, &p.degree, &p.chunk)
}

func libraryNames() (names []string) {
	return lists.Map(mpi.Libraries(), func(l *mpi.Library) string { return l.Name })
}

// verbatimWord accepts any name: a file may have others than taulop.
func verbatimWord(text string) (string, error) { return text, nil }

// readParameters reads the parameter file of a flag.
func readParameters(flag, path string) (*params.File, error) {
	f, err := params.ReadFile(path)
	if err != nil {
		return nil, usagef("-%s: %v", flag, unreadable(err, path))
	}
	return f, nil
}

// unreadable is the error of a file that is no parameter file. If taulop import reads it, the error
// says so. Errors begin with the file's path, which is one of paths.
func unreadable(err error, paths ...string) error {
	found := lists.Find(paths, func(path string) bool {
		return strings.HasPrefix(err.Error(), path+":") && outfile.Replaces(path) // else a pipe, which can be read only once
	})
	if found == nil {
		return err
	}
	path := *found
	if isGamma(path) {
		return fmt.Errorf("%s has γ of reductions alone: make a parameter file of the messages beside it and of it, taulop import -o machine.json SHM.txt %[1]s", path)
	}
	for _, kind := range importers() {
		if kind.format != "text" && kind.looks(path) {
			return fmt.Errorf("%s has %s: make a parameter file of it, taulop import -o machine.json %[1]s", path, kind.of)
		}
	}
	return err
}

// foreign are kinds of files that flags of sweeps do not apply to.
var foreign = []struct {
	is    func(*compare.Machine) bool
	flags string
	why   string // format of the error, with the flag and the file
}{
	{func(f *compare.Machine) bool { return f.Text }, "setup placement cache buffers",
		"-%s chooses among what taulop sweep measured; %s is in the published text format and has one table: leave it out"},
	{func(f *compare.Machine) bool { return f.File.OfLevels() }, "setup placement cache buffers transport segment segments",
		"-%s is of transfers that taulop sweep measured, and %s has messages by levels alone, as they were measured: leave it out"},
	{func(f *compare.Machine) bool { return f.File.OfLevels() }, "net",
		"-%s is of a machine that taulop sweep measured, and %s has messages by levels: import those between its nodes with them, and leave it out"},
	{func(f *compare.Machine) bool { return f.File.Plan.Whole }, "transport",
		"-%s is of transfers, and %s has whole messages of an MPI library: leave it out"},
	{func(f *compare.Machine) bool { return f.Text }, "stride",
		"-%s needs p(m,d), which %s, a published table, does not have: name a file of taulop sweep -with pack"},
}

// read reads the file of -params, and rejects flags that do not apply to its kind.
func (p *parameterFlags) read() (f compare.Machine, err error) {
	if p.file = p.files[0]; len(p.files) > 1 {
		return f, usagef("-params names %d files, and this is of one machine: give one, or put them side by side with taulop predict", len(p.files))
	}
	if f, err = p.state.read("-params: ", p.file); err != nil {
		return f, err
	}
	p.loaded = f
	for _, kind := range foreign {
		for _, name := range strings.Fields(kind.flags) {
			mapped := name == "placement" && p.choice.Placement != "" && !p.flags.Given(name)
			if mapped {
				name = "map " + p.flags.Lookup("map").Value.String()
			}
			if kind.is(&f) && (mapped || p.flags.Given(name)) && (name != "transport" || p.choice.Transport != model.Whole) {
				return f, usagef(kind.why, name, p.file)
			}
		}
	}
	if !p.flags.Given("cache") {
		p.choice.OffCache = f.File.Plan.OffCacheOnly()
	}
	p.choice.Gamma, err = readGamma(p.gamma)
	return f, err
}

// readGamma reads the file of -gamma; nil for "".
func readGamma(path string) (*params.Gamma, error) {
	if path == "" {
		return nil, nil
	}
	gamma, err := readText(path, params.ReadGammaText)
	return gamma, refusedBy("-gamma", err)
}

// source describes a predictor's parameters, and sets noGamma.
func (p *parameterFlags) source(f compare.Machine, m *model.Predictor) predict.Source {
	source := predict.NewSource(m, printable.Either(p.machine != "", f.Called(printable.Name(p.machine)), f.Name), p.file)
	if f.File.State() == nil { // else the name has it
		source.States = f.States()
	}
	source.Degree, source.Chunk = p.degree, p.chunk
	if f.Text {
		source.Channel = ""
	}
	const needs, ask = "needs γ, the time of a reduction: ", "name a file that has γ with -gamma"
	switch {
	case m.NoGamma == nil:
	case m.Gamma != nil && len(m.Gamma.Operators) > 0: // other operators have γ
		p.noGamma = fmt.Errorf(needs+"%w; choose one of them with -op, or name a file that has γ of it with -gamma", m.NoGamma)
	case f.Text:
		p.noGamma = fmt.Errorf(needs+"%s has L and o alone; "+ask, p.file)
	default:
		p.noGamma = fmt.Errorf(needs+"%s: %w; "+ask, p.file, m.NoGamma)
	}
	return source
}

// checkOperator rejects an operator that neither the parameters nor MPI has.
func (p *parameterFlags) checkOperator(m *model.Predictor) error {
	name := strings.ToUpper(p.choice.Operator)
	for _, full := range []string{name, name + "_I"} {
		if _, err := reduce.Lookup(full); err == nil {
			return nil
		}
	}
	_, err := reduce.Lookup(name)
	if m.Gamma != nil && len(m.Gamma.Operators) > 0 {
		_, err = m.Gamma.Operator(p.choice.Operator)
	}
	return refusedBy("-op", err)
}

// doubts are warnings about a predictor's costs. network is the network's file; "" if the machine's
// file has the network.
func (p *parameterFlags) doubts(m *model.Predictor, network string) (all []error) {
	if p.loaded.Text {
		all = lists.Map(p.loaded.File.Warnings, errors.New)
	}
	if gamma := p.choice.Gamma; gamma != nil && gamma.Doubt != nil {
		all = append(all, gamma.Doubt)
	}
	for _, w := range m.Warnings {
		file := printable.Either(network != "" && errors.As(w, new(model.NetworkWarning)), network, p.file)
		all = append(all, fmt.Errorf("%s: %w", file, w))
	}
	return all
}

// A stateChoice is -state: the state of the machine whose parameters to use; nil: means over all states by
// their shares.
type stateChoice struct {
	like  *params.State // the zero State: the most frequent
	among bool          // the file is one of several, and may lack the state
}

func (s *stateChoice) add(flags *argument.Set, otherwise string) {
	argument.Var(flags, s, "state", "", "`state` of a virtual machine whose host moves its CPUs, named by the time of a flag between two workers: 64ns, 64ns-slowed while something slows a core, or most, the most frequent (default "+otherwise+")", parseState, "most")
}

// mixture describes the default of most commands.
const mixture = "means over all by their shares"

func parseState(text string) (s stateChoice, err error) {
	if s.like = new(params.State); text == "most" {
		return s, nil
	}
	flag, slowed := strings.CutSuffix(text, "slowed")
	s.like.NS, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(flag, "- "), "ns")), 64)
	if err != nil || !(s.like.NS > 0) || math.IsInf(s.like.NS, 0) {
		return s, usagef("%q is no state: give what a flag takes in it, like 64ns, or most", text)
	}
	if slowed {
		s.like.Slow = 1 // any
	}
	return s, nil
}

// of replaces machines by themselves in the state. Machines with one state stay as they are.
func (s stateChoice) of(machines []compare.Machine) error {
	if s.like == nil {
		return nil
	}
	var refused error
	chosen := false
	for i := range machines {
		switch in, err := machines[i].In(*s.like); {
		case err == nil:
			machines[i], chosen = in, true
		case len(machines[i].File.States()) > 0:
			return usagef("-state: %v", err)
		default:
			refused = cmp.Or(refused, err)
		}
	}
	if !chosen && !s.among && refused != nil {
		return usagef("-state: %v", refused)
	}
	return nil
}

// each is machines in the chosen state, or without a choice every machine in each of its states.
func (s stateChoice) each(machines []compare.Machine) (all []compare.Machine, err error) {
	if s.like != nil {
		return machines, s.of(machines)
	}
	return lists.Concat(machines, compare.Machine.Each), nil
}

// read reads a parameter file in the state; what begins an error.
func (s stateChoice) read(what, path string) (m compare.Machine, err error) {
	if m, err = compare.Read(path); err != nil {
		return m, usagef("%s%v", what, unreadable(err, path))
	}
	return m, s.one(&m)
}

// one is of for a single machine.
func (s stateChoice) one(m *compare.Machine) error {
	all := []compare.Machine{*m}
	err := s.of(all)
	*m = all[0]
	return err
}
