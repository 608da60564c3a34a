package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
)

// parameterFlags choose parameters and the way of a message.
type parameterFlags struct {
	scheduleFlags
	choice               model.Choice
	state                stateChoice
	files                parameterFiles
	file, gamma, machine string          // file is the one that was read
	of                   compare.Machine // which it is of
	flags                *argument.Set
	noGamma              error // why nothing can be reduced, nil where it can
}

// scheduleFlags lay algorithms out: -degree and -chunk, 0 where they are not given, which
// is collective.Call's own choice.
type scheduleFlags struct {
	degree, chunk int
}

func (s *scheduleFlags) add(flags *argument.Set) {
	flags.IntVar(&s.degree, "degree", 2, "`children` of a rank in a tree such as bcast:kary or bcast:sm-tree, chains of bcast:chain, radix of allreduce:recexch")
	flags.Within("degree", 2, math.MaxInt32, "a tree needs 2 or more")
	argument.Var(flags, &s.chunk, "chunk", "64K", "`size` of the pieces in which algorithms such as bcast:chain pass a message on, which MPI libraries call segments, too", argument.Some)
}

// given are -degree and -chunk where they are on the command line.
func (s *scheduleFlags) given(flags *argument.Set) (degree, chunk int) {
	if flags.Given("degree") {
		degree = s.degree
	}
	if flags.Given("chunk") {
		chunk = s.chunk
	}
	return degree, chunk
}

func (p *parameterFlags) add(flags *argument.Set) {
	p.flags = flags
	flags.Var(&p.files, "params", "parameters of a machine, a `file`")
	flags.StringVar(&p.gamma, "gamma", "", "γ of reductions, a `file` in the published text format (default what -params has)")
	flags.StringVar(&p.choice.Operator, "op", "sum", "`operator` of reductions")
	flags.StringVar(&p.machine, "name", "", "`name` of the machine in the output (default from the file)")
	argument.Var(flags, &p.choice.Setup, "setup", "", "`setup` that L of all messages is taken from: ring, bcast, ping, sendrecv (default by their pattern: ping one way, sendrecv for exchanges that receive beside what they send, and ring, or the file's first, for others)", verbatimWord, setupNames()...)
	argument.Var(flags, (*string)(&p.choice.Placement), "placement", "", "`placement` that L was measured with: "+policyNames()+" (default the file's first)", verbatimWord, policies()...)
	argument.Var(flags, &p.choice.OffCache, "cache", "", "`where` user data are, in cache or off: in, off (default in, unless all was measured off)", argument.Cache, "in", "off")
	argument.Var(flags, &p.choice.Transport, "transport", "segmented", "`way` of a message: segmented, steady, whole, single-copy; cma, single copies by the kernel that were measured as such", model.ParseTransport, transportNames()...)
	argument.Var(flags, &p.choice.Buffers, "buffers", "rewritten", "`state` of send buffers: rewritten before each message, as programs do, or unchanged, as most benchmarks leave them; see -transport cma", params.ParseBuffers, "rewritten", "unchanged")
	argument.Var(flags, &p.choice.As, "as", "", "`library` whose way messages take, by their size, and whose algorithms collectives: "+strings.Join(libraryNames(), ", ")+" (instead of -transport, -segment and -segments)", mpi.Named, libraryNames()...)
	argument.Var(flags, &p.choice.Segment, "segment", "", "`size` of a segment (default the file's, or 8K)", argument.Some)
	flags.IntVar(&p.choice.BufferSegments, "segments", 0, "`segments` of intermediate buffers: times are of the nearest that the file has, as of -segment (default the file's first)")
	flags.Within("segments", 1, math.MaxInt32, "give a number of segments from 1")
	flags.Rules(argument.Rule{Flags: "transport segment segments", Not: "as", Why: "does not go with -as, for a library has transports and segments of its own", Do: "leave one of them out"})
	p.state.add(flags, mixture)
	p.scheduleFlags.add(flags)
}

func libraryNames() (names []string) {
	return lists.Map(mpi.Libraries(), func(l *mpi.Library) string { return l.Name })
}

// verbatimWord reads a name that a file may have and taulop does not.
func verbatimWord(text string) (string, error) { return text, nil }

// transportNames are the values of -transport.
func transportNames() []string {
	return lists.Map(model.Transports, params.Transport.String)
}

// readParameters reads the parameter file of a flag.
func readParameters(flag, path string) (*params.File, error) {
	f, err := params.ReadFile(path)
	if err != nil {
		return nil, usagef("-%s: %v", flag, err)
	}
	return f, nil
}

// A foreign file has no choice among what a sweep measures.
var foreign = []struct {
	is    func(*compare.Machine) bool
	flags string
	why   string // of a flag and a file
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

// read reads the file of -params, and refuses flags that choose what it does not have.
func (p *parameterFlags) read() (f compare.Machine, err error) {
	switch len(p.files) {
	case 0:
		return f, usagef("-params is missing: name a file that taulop sweep wrote, or a table in the published text format")
	case 1:
		p.file = p.files[0]
	default:
		return f, usagef("-params names %d files, and this is of one machine: give one, or put them side by side with taulop predict", len(p.files))
	}
	if f, err = p.state.read("-params: ", p.file); err != nil {
		if isTidy(p.file) {
			err = usagef("-params: %s is a table with names of columns: make a parameter file of it, taulop import -o machine.json %[1]s", p.file)
		}
		return f, err
	}
	p.of = f
	for _, of := range foreign {
		for _, name := range strings.Fields(of.flags) {
			mapped := name == "placement" && p.choice.Placement != "" && !p.flags.Given(name)
			if mapped {
				name = "map " + p.flags.Lookup("map").Value.String()
			}
			if of.is(&f) && (mapped || p.flags.Given(name)) && (name != "transport" || p.choice.Transport != model.Whole) {
				return f, usagef(of.why, name, p.file)
			}
		}
	}
	if !p.flags.Given("cache") {
		p.choice.OffCache = f.File.Plan.OffCacheOnly()
	}
	p.choice.Gamma, err = readGamma(p.gamma)
	return f, err
}

// readGamma reads the file of -gamma, nil without one.
func readGamma(path string) (*params.Gamma, error) {
	if path == "" {
		return nil, nil
	}
	gamma, err := readText(path, params.ReadGammaText)
	if err != nil {
		return nil, usagef("-gamma: %v", err)
	}
	return gamma, nil
}

// source says what a predictor takes from the file, and settles what it lacks.
func (p *parameterFlags) source(f compare.Machine, m *model.Predictor) predict.Source {
	name := f.Name
	if p.machine != "" {
		name = f.Called(printable.Name(p.machine))
	}
	source := predict.NewSource(m, name, p.file)
	if f.File.State() == nil { // else the name says it
		source.States = f.States()
	}
	source.Degree, source.Chunk = p.scheduleFlags.given(p.flags)
	if f.Text {
		source.Channel = ""
	}
	const needs, ask = "needs γ, the time of a reduction: ", "name a file that has γ with -gamma"
	switch {
	case m.NoGamma == nil:
	case m.Gamma != nil && len(m.Gamma.Operators) > 0: // of other operators
		p.noGamma = fmt.Errorf(needs+"%w; choose one of them with -op, or name a file that has γ of it with -gamma", m.NoGamma)
	case f.Text:
		p.noGamma = fmt.Errorf(needs+"%s has L and o alone; "+ask, p.file)
	default:
		p.noGamma = fmt.Errorf(needs+"%s: %w; "+ask, p.file, m.NoGamma)
	}
	return source
}

// checkOperator refuses an operator that neither the parameters nor MPI has.
func (p *parameterFlags) checkOperator(m *model.Predictor) error {
	name := strings.ToUpper(p.choice.Operator)
	for _, full := range []string{name, name + "_I"} {
		if _, err := reduce.Lookup(full); err == nil {
			return nil
		}
	}
	if m.Gamma != nil && len(m.Gamma.Operators) > 0 {
		if _, err := m.Gamma.Operator(p.choice.Operator); err != nil {
			return usagef("-op: %v", err)
		}
		return nil
	}
	_, err := reduce.Lookup(name)
	return usagef("-op: %v", err)
}

// doubts are what speaks against a predictor's costs. network is the network's file, "" where it is
// the machine's.
func (p *parameterFlags) doubts(m *model.Predictor, network string) (all []error) {
	if p.of.Text {
		for _, w := range p.of.File.Warnings {
			all = append(all, errors.New(w))
		}
	}
	if gamma := p.choice.Gamma; gamma != nil && gamma.Doubt != nil {
		all = append(all, gamma.Doubt)
	}
	for _, w := range m.Warnings {
		file := p.file
		if of := (model.NetworkWarning{}); network != "" && errors.As(w, &of) {
			file = network
		}
		all = append(all, fmt.Errorf("%s: %w", file, w))
	}
	return all
}

// A stateChoice is -state: which of the states that the machine was in parameters are of.
// None: means over all of them by their shares.
type stateChoice struct {
	most  bool
	like  params.State
	among bool // the file is one of several
}

func (s *stateChoice) add(flags *argument.Set, otherwise string) {
	argument.Var(flags, s, "state", "", "`state` of a machine whose host moves its CPUs: what a flag between two workers takes in it, like 64ns, or 64ns-slowed while something slows a core, or most, the most frequent (default "+otherwise+")", parseState, "most")
}

// mixture is what parameters are of where no state is chosen.
const mixture = "means over all by their shares"

func parseState(text string) (s stateChoice, err error) {
	if text == "most" {
		return stateChoice{most: true}, nil
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

// of takes machines in the state. Of several, those that stayed in one are as they are.
func (s stateChoice) of(machines []compare.Machine) error {
	if !s.most && s.like.NS == 0 {
		return nil
	}
	var refused error
	chosen := false
	for i := range machines {
		in, err := machines[i].In(s.like)
		if err != nil && len(machines[i].File.States()) == 0 {
			if refused == nil {
				refused = err
			}
			continue
		}
		if err != nil {
			return usagef("-state: %v", err)
		}
		machines[i], chosen = in, true
	}
	if !chosen && !s.among && refused != nil {
		return usagef("-state: %v", refused)
	}
	return nil
}

// each takes machines in the state, or without one in each state.
func (s stateChoice) each(machines []compare.Machine) (all []compare.Machine, err error) {
	if s.most || s.like.NS > 0 {
		return machines, s.of(machines)
	}
	for _, m := range machines {
		all = append(all, m.Each()...)
	}
	return all, nil
}

// read reads a parameter file in the state; what is a flag's name, before an error.
func (s stateChoice) read(what, path string) (m compare.Machine, err error) {
	if m, err = compare.Read(path); err != nil {
		return m, usagef("%s%v", what, err)
	}
	return m, s.one(&m)
}

// one takes a machine in the state.
func (s stateChoice) one(m *compare.Machine) error {
	all := []compare.Machine{*m}
	err := s.of(all)
	*m = all[0]
	return err
}

// clusterFlags say on which nodes ranks are, and what is between these.
type clusterFlags struct {
	nodes   int
	mapping string
	net     netFlag
}

func (c *clusterFlags) add(flags *argument.Set) {
	flags.IntVar(&c.nodes, "nodes", 0, "`nodes` that ranks are on (default one, or those of a -map file)")
	flags.Within("nodes", 1, math.MaxInt32, "give a number of nodes from 1")
	argument.Var(flags, &c.mapping, "map", "block", "`mapping` of ranks to nodes: block, cyclic or plane=SIZE, with :block or :cyclic for the parts of a node, as Slurm's -m; or a file, an Open MPI rankfile, a hostfile or a node a line", verbatimWord, "block", "cyclic", "block:block", "block:cyclic", "cyclic:block", "cyclic:cyclic")
	flags.StringVar((*string)(&c.net), "net", "", "network between nodes, a `file` of taulop net or in the published text format (default what -params has); NAME=FILE chooses one of several, or says tcp of a published table that is not called so")
}

// cluster is what the flags say, nil where that is nothing. A mapping that says where ranks
// are in a node chooses the placement.
func (c *clusterFlags) cluster(flags *argument.Set, placement *numa.Policy) (*model.Cluster, error) {
	order, within, known, err := mapping.ParseOrder(c.mapping)
	switch {
	case err != nil:
		return nil, usagef("-map: %v", err)
	case !known && !isFile(c.mapping):
		return nil, usagef("-map %s is neither a mapping nor a file: take block, cyclic or plane=SIZE, like Slurm's -m block:cyclic, or name a rankfile", c.mapping)
	case !known:
		if order, err = readMapping(c.mapping); err != nil {
			return nil, err
		}
		if flags.Given("nodes") && c.nodes != order.Nodes() {
			return nil, usagef("-nodes is %d, and %s names %d: leave -nodes out, or give another file", c.nodes, c.mapping, order.Nodes())
		}
		c.nodes = order.Nodes()
	}
	if within != mapping.AnyWithin {
		if flags.Given("placement") {
			return nil, usagef("-map %s chooses a placement, and so does -placement: leave one of them out", c.mapping)
		}
		if *placement = numa.Local; within == mapping.CyclicWithin {
			*placement = numa.Spread
		}
	}
	if c.nodes == 0 {
		for _, name := range []string{"map", "net"} {
			if flags.Given(name) && !(name == "map" && within != mapping.AnyWithin) {
				return nil, usagef("-%s is of several nodes: say of how many with -nodes", name)
			}
		}
		return nil, nil
	}
	cluster := &model.Cluster{Nodes: c.nodes, Order: order}
	cluster.Network, err = c.net.network()
	return cluster, err
}

func readMapping(path string) (mapping.Order, error) {
	order, err := infile.Read(path, mapping.Read)
	if err != nil {
		return mapping.Order{}, usagef("-map: %v", err)
	}
	return order, nil
}

// A netFlag is what -net says: FILE or NAME=FILE, "" for none.
type netFlag string

func (n netFlag) of() (name, path string) {
	name, path, named := strings.Cut(string(n), "=")
	if !named || isFile(string(n)) {
		return "", string(n)
	}
	return name, path
}

// network reads it.
func (n netFlag) network() (*model.Network, error) {
	if n == "" {
		return nil, nil
	}
	network, err := readNetwork(n.of())
	if err != nil {
		return nil, usagef("-net: %v", err)
	}
	return network, nil
}

// readNetwork reads a network. The published tables of TCP leave out two copies.
func readNetwork(name, path string) (*model.Network, error) {
	f, err := compare.Read(path)
	if errors.Is(err, compare.ErrMissing) {
		return nil, fmt.Errorf("%s is not there: check its name, or measure the network (taulop net -o)", path)
	}
	if err != nil {
		return nil, err
	}
	if !f.Text {
		n, table, err := f.File.Network(name)
		if err != nil {
			return nil, usagef("%s: %v", path, err)
		}
		return &model.Network{Network: n, Table: table, File: f.File}, nil
	}
	table, err := f.File.Table(params.Selection{})
	if err != nil {
		return nil, usagef("%s: %v", path, err)
	}
	n := params.Network{Name: cmp.Or(name, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))}
	if n.Kind = strings.ToLower(n.Name); strings.HasPrefix(n.Kind, "tcp") {
		n.Kind, n.Copies = "tcp", 2
	}
	if err := n.Check(); err != nil {
		return nil, usagef("%s: %v; give it one like ib=%s", path, err, path)
	}
	return &model.Network{Network: n, Table: table}, nil
}

// needsNetwork is the error where messages between nodes are of no network.
func needsNetwork(nodes int, file string) error {
	return usagef("%d nodes need a network between them, and %s has none: name one with -net, a file of taulop net or a table such as IB.txt", nodes, file)
}
