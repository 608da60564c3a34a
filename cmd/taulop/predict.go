package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/reduce"
)

var predictHelp = `Predict says what collectives cost on the machine of a parameter file.

  taulop predict -params FILE -P LIST [flags] COLLECTIVE[:ALGORITHM] ...
  taulop predict -params A,B -P LIST [flags] COLLECTIVE[:ALGORITHM] ...

Without an algorithm it predicts all of that collective. FILE is what taulop
sweep writes, or a table in the published text format. With several it says which of
these machines is the better one for each collective, by the cheapest of its algorithms
on each, or by those that are named.

Examples:
  taulop predict -params host.json -P 2,4,8 -m 1K:1M bcast
  taulop predict -params SHM.txt -gamma gamma.txt -P 2-16 -m 64K allreduce
  taulop predict -params host.json -P 8 -m 16K -stride 64 bcast:binomial
  taulop predict -params SHM.txt -net IB.txt -nodes 4 -map cyclic -P 64 -m 64K bcast
  taulop predict -params SHM.txt -P 8 -m 8K,1M -model lognp -tsv bcast:binomial allgather:ring
  taulop predict -params old.json,new.json -P 8 -m 64:1M bcast allreduce alltoall

Collectives:
` + collectiveList() + `
Models: taulop; libtaulop, τ-Lop as the authors' library computes it; lognp,
whose o(m) is half of what an isolated message costs under τ-Lop; mlognp, with an o(m)
for each level of the machine, if taulop pairs measured it, 2log23p, which has one for
all within a node, and log3p, which has one in all; loggp, if the file has its
parameters. Strided messages are known to all but libtaulop and loggp.

Flags:
`

func predict(ctx context.Context, out, errOut io.Writer, args []string) error {
	var (
		req   costRequest
		flags = req.flags("taulop predict", "1K:4M")
		tsv   = flags.Bool("tsv", false, "a line for each cost: machine, collective, algorithm, P, m_bytes, cost_us")
		test  = fit.Test{Drift: compare.DefaultDrift, Least: compare.DefaultLeast}
		to    destination
		list  = flags.Bool("list", false, "list all algorithms, and where they are described, and predict nothing")
	)
	flags.Lookup("params").Usage = "parameters of a machine, a `file`; a list of them puts machines side by side"
	flags.Lookup("gamma").Usage = "γ of reductions, a `file` in the published text format (default what -params has); of several machines a list, one for each"
	flags.Lookup("name").Usage = "`name` of the machine in the output (default from the file); of several machines a list"
	addTest(flags, &test)
	to.add(flags)
	if _, err := parseWords(flags, out, args, predictHelp); err != nil {
		return err
	}
	if *list {
		return put(out, nil, asPage(widthFor(out, ""), writeAlgorithms))
	}
	several := len(req.files) > 1
	switch {
	case *tsv && to.format() != nil:
		return usagef("-tsv and -%s cannot be used together: choose one", to.format().Name)
	case *tsv && several:
		return usagef("-tsv is of one machine, and -params names %d: take -csv, or one of them", len(req.files))
	}
	if err := cmp.Or(to.check(), checkTest(test)); err != nil {
		return err
	}
	if err := req.choose(flags.Args()); err != nil {
		return err
	}
	machines, err := req.machines(flags)
	if err != nil {
		return err
	}
	var docs []*report.Predictions
	for _, m := range machines {
		doc, err := m.Predict(ctx)
		if err != nil {
			return refused(err)
		}
		docs = append(docs, doc)
	}
	said := req.aside(errOut)
	for _, m := range machines {
		warn(said, m.warnings)
	}
	if several {
		return to.put(out, report.NewMachines(docs, req.named(), test))
	}
	doc := docs[0]
	if as := to.format(); *tsv || as != nil && as.Name == "csv" {
		if doc.States != "" {
			tell(said, "%s", doc.States)
		}
		for _, why := range doc.LeftOut {
			tell(said, "left out: %s", why)
		}
	}
	if !*tsv {
		return to.put(out, doc)
	}
	if n := doc.Extrapolated(); n > 0 {
		tell(said, "%d of %d costs are extrapolated, which -csv and -json mark", n, len(doc.Rows))
	}
	return to.write(out, asText(func(w io.Writer) error { doc.WriteTSV(w); return nil }))
}

// machines are requests of one machine each, in the order of -params.
func (req *costRequest) machines(flags *flag.FlagSet) (machines []*costRequest, err error) {
	if len(req.files) < 2 {
		return []*costRequest{req}, req.complete(flags)
	}
	given := givenFlags(flags)
	gammas, names := strings.Split(req.gamma, ","), strings.Split(req.machine, ",")
	for name, list := range map[string][]string{"gamma": gammas, "name": names} {
		if given[name] && len(list) != len(req.files) {
			return nil, usagef("-%s names %d, and -params %d: give one for each machine, in their order", name, len(list), len(req.files))
		}
	}
	var hosts []string
	for i, file := range req.files {
		one := *req
		one.files, one.state.among = parameterFiles{file}, true
		if req.gamma != "" {
			one.gamma = gammas[i]
		}
		if one.machine = ""; req.machine != "" {
			one.machine = strings.TrimSpace(names[i])
		}
		if err := one.complete(flags); err != nil {
			return nil, err
		}
		machines, hosts = append(machines, &one), append(hosts, one.Source.Machine)
	}
	if req.state.ns > 0 && !slices.ContainsFunc(machines, func(m *costRequest) bool { return m.of.File.State() != nil }) {
		return nil, req.state.one(&machines[0].of)
	}
	if names, err = compare.Names(req.files, hosts); err != nil {
		return nil, usagef("-params: %v", err)
	}
	for i, m := range machines {
		m.Source.Machine = names[i]
	}
	return machines, nil
}

// named are the algorithms that were asked for by their names.
func (req *costRequest) named() (names []string) {
	for _, a := range req.Algorithms {
		if req.Asked[a] {
			names = append(names, a.String())
		}
	}
	return names
}

// refused makes of an error one about what was asked for, but where a signal came.
func refused(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return usagef("%v", err)
}

// A costRequest is what the user asked predict or explain to cost.
type costRequest struct {
	parameterFlags
	clusterFlags
	report.Calls
	strideText string
	// messages is the library whose way messages take where the user names no way, and the
	// parameters are of memory, not of a library's own messages; nil for none.
	messages *mpi.Library
	saying
	byState  bool    // beside the mean over several states the cost in each
	warnings []error // for when there is a result
}

// flags are those that predict and explain share.
func (req *costRequest) flags(command, sizes string) *flag.FlagSet {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	req.parameterFlags.add(flags)
	req.clusterFlags.add(flags)
	flags.StringVar(&req.choice.Model, "model", model.Models[0], "`model`: "+strings.Join(model.Models, ", "))
	argument.Var(flags, &req.P, "P", "", "ranks, a `list` like 2,4,8 with ranges: 2-16, or doubling 2:1024", argument.Ranks(1))
	argument.Var(flags, &req.M, "m", sizes, "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M", argument.Messages(0))
	flags.StringVar(&req.strideText, "stride", "", "`bytes` from element to element of strided messages: they are packed before the first transfer and unpacked after the last")
	flags.IntVar(&req.Root, "root", 0, "`rank` of the root of "+rootedNames())
	flags.BoolVar(&req.quiet, "quiet", false, "no warnings")
	return flags
}

// check checks flags and collectives, and reads the files they name.
func (req *costRequest) check(flags *flag.FlagSet) (err error) {
	if err := req.choose(flags.Args()); err != nil {
		return err
	}
	return req.complete(flags)
}

// complete reads what flags say, and the files they name, when the algorithms are known.
func (req *costRequest) complete(flags *flag.FlagSet) (err error) {
	if len(req.P) == 0 {
		return usagef("-P is missing: say among how many ranks, like -P 2,4,8")
	}
	if err := req.parameterFlags.check(flags); err != nil {
		return err
	}
	c := &req.choice
	if req.given["stride"] {
		if c.Stride, err = argument.Bytes(req.strideText); err != nil || c.Stride < 1 {
			return usagef("-stride is %q: give the bytes from element to element, like 64", req.strideText)
		}
	}
	switch {
	case !slices.Contains(model.Models, c.Model):
		return usagef("unknown model %q: take one of %s", c.Model, strings.Join(model.Models, ", "))
	case c.Stride > 0 && c.Model != "taulop" && c.Model != "lognp" && !model.OfPairs(c.Model):
		return usagef("-model %s knows contiguous messages only: leave -stride out, or take -model taulop or lognp", c.Model)
	case c.Model == "libtaulop" && req.given["transport"] && c.Transport != model.Whole:
		return usagef("-model libtaulop knows whole messages only: leave -transport out, or take -model taulop")
	}
	if c.Cluster, err = req.cluster(req.given, &c.Placement); err != nil {
		return err
	}
	f, err := req.read()
	if err != nil {
		return err
	}
	if !req.given["placement"] && c.Placement == numa.Spread && slices.Contains(f.File.Plan.Policies, numa.AcrossPackages) {
		c.Placement = numa.AcrossPackages // a mapping that is cyclic within nodes deals ranks round sockets
	}
	if f.File.OfLevels() && c.Placement != "" {
		return usagef("-map %s chooses among placements that taulop sweep measured, and %s has messages by levels alone: leave out what follows the colon", req.mapping, req.file)
	}
	if f.Text && c.Placement != "" {
		return usagef("-map %s chooses among what taulop sweep measured; %s is in the published text format and has one table", req.mapping, req.file)
	}
	if cluster := c.Cluster; cluster != nil && cluster.Network != nil && f.File.OfLevels() {
		return usagef("-net is of a machine that taulop sweep measured, and %s has messages by levels: import those between its nodes with them, and leave -net out", req.file)
	}
	if cluster := c.Cluster; cluster != nil && cluster.Nodes > 1 && cluster.Network == nil && len(f.File.Networks) == 0 && !f.File.OfLevels() {
		return usagef("%d nodes need a network between them, and %s has none: name one with -net, a file of taulop net or a table such as IB.txt", cluster.Nodes, req.file)
	}
	ways := []string{"as", "transport", "segment", "segments"}
	if len(f.File.Launches) > 0 && !slices.ContainsFunc(ways, func(name string) bool { return req.given[name] }) {
		c.As = cmp.Or(c.As, req.messages)
	}
	if req.Predictor, err = model.NewPredictor(f.File, *c); err != nil {
		return usagef("%s: %v", req.file, err)
	}
	if of := f.Each(); req.byState && len(of) > 1 {
		for _, m := range of {
			if p, err := model.NewPredictor(m.File, *c); err == nil {
				req.States = append(req.States, report.StatePredictor{State: *m.File.State(), Predictor: p})
			}
		}
	}
	req.Source = req.source(f, req.Predictor)
	req.Source.Nodes = report.OnNodes(req.Predictor, req.P)
	if req.Ensemble = model.NewEnsemble(f.File, *c); req.Ensemble.Known() {
		req.Uncertainty = report.Uncertainty(f.File, c.Cluster)
	}
	if model.OfPairs(c.Model) { // the file of pairs may have no transfers
		c.Model = "taulop"
		req.Beside, _ = model.NewPredictor(f.File, *c)
	}
	if err := req.checkOperator(req.Predictor); err != nil {
		return err
	}
	only := !slices.ContainsFunc(req.Algorithms, func(a *collective.Algorithm) bool { return !a.Reduces() })
	for _, a := range req.Algorithms {
		if a.Reduces() && req.noGamma != nil && (only || req.Asked[a]) {
			return usagef("%s %v", a, req.noGamma)
		}
	}
	if req.NoGamma = req.noGamma; req.NoGamma != nil && slices.ContainsFunc(req.Algorithms, (*collective.Algorithm).Reduces) {
		req.warnings = append(req.warnings, fmt.Errorf("what reduces %w", req.NoGamma))
	}
	req.Calls.Degree, req.Calls.Chunk = req.degree, req.chunk
	_, network := req.network()
	req.warnings = append(req.warnings, req.doubts(req.Predictor, network)...)
	nodes, _ := req.Predictor.Nodes(slices.Max(req.P)) // of messages by levels, which tell other nodes
	if cpus := f.File.Provenance.Allowed.Len(); cpus > 0 && c.Cluster == nil && nodes < 2 && slices.Max(req.P) > cpus {
		req.warnings = append(req.warnings, fmt.Errorf("%s: P = %d are more ranks than the %d CPUs that were measured: they count as if each had a core of its own, and what more than %[3]d at once take is extrapolated", req.file, slices.Max(req.P), cpus))
	}
	return nil
}

// choose finds the algorithms.
func (req *costRequest) choose(names []string) error {
	if len(names) == 0 {
		return usagef("name a collective, or one of its algorithms like bcast:binomial: %s", strings.Join(collective.Names(collective.Collectives()), ", "))
	}
	req.Asked = make(map[*collective.Algorithm]bool)
	for _, name := range names {
		if name == verify.Message {
			return usagef("a message is no collective: take bcast:linear with -P 2, which is one message, or measure messages with taulop verify message")
		}
		found, err := collective.Find(name)
		switch {
		case err != nil && isFile(name):
			return usagef("%s is a file: name it with -params, and beside it a collective, like bcast", name)
		case err != nil:
			return usageError(err.Error())
		}
		for _, a := range found {
			req.Asked[a] = req.Asked[a] || strings.Contains(name, ":")
			if !slices.Contains(req.Algorithms, a) {
				req.Algorithms = append(req.Algorithms, a)
			}
		}
	}
	return nil
}

// parameterFlags choose parameters and the way of a message.
type parameterFlags struct {
	scheduleFlags
	choice               model.Choice
	state                stateChoice
	files                parameterFiles
	file, gamma, machine string          // file is the one that was read
	of                   compare.Machine // which it is of
	given                map[string]bool // flags
	noGamma              error           // why nothing can be reduced, nil where it can
}

// scheduleFlags lay algorithms out: -degree and -chunk, 0 where they are not given, which
// is collective.Call's own choice.
type scheduleFlags struct {
	degree, chunk int
}

func (s *scheduleFlags) add(flags *flag.FlagSet) {
	flags.IntVar(&s.degree, "degree", 2, "`children` of a rank in a tree such as bcast:kary or bcast:sm-tree, chains of bcast:chain, radix of allreduce:recexch")
	argument.Var(flags, &s.chunk, "chunk", "64K", "`size` of the pieces in which algorithms such as bcast:chain pass a message on, which MPI libraries call segments, too", argument.Some)
}

// check checks the flags when they are parsed.
func (s *scheduleFlags) check(given map[string]bool) error {
	if s.degree < 2 {
		return usagef("-degree is %d: a tree needs 2 or more", s.degree)
	}
	if !given["degree"] {
		s.degree = 0
	}
	if !given["chunk"] {
		s.chunk = 0
	}
	return nil
}

func (p *parameterFlags) add(flags *flag.FlagSet) {
	flags.Var(&p.files, "params", "parameters of a machine, a `file`")
	flags.StringVar(&p.gamma, "gamma", "", "γ of reductions, a `file` in the published text format (default what -params has)")
	flags.StringVar(&p.choice.Operator, "op", "sum", "`operator` of reductions")
	flags.StringVar(&p.machine, "name", "", "`name` of the machine in the output (default from the file)")
	flags.StringVar(&p.choice.Setup, "setup", "", "`setup` that L of all messages is taken from: ring, bcast, ping, sendrecv (default by their pattern: ping one way, sendrecv for exchanges that receive beside what they send, and ring, or the file's first, for others)")
	flags.StringVar((*string)(&p.choice.Placement), "placement", "", "`placement` that L was measured with: "+policyNames()+" (default the file's first)")
	argument.Var(flags, &p.choice.OffCache, "cache", "", "`where` user data are, in cache or off: in, off (default in, unless all was measured off)", argument.Cache)
	argument.Var(flags, &p.choice.Transport, "transport", "segmented", "`way` of a message: segmented, steady, whole, single-copy; cma, single copies by the kernel that were measured as such", model.ParseTransport)
	argument.Var(flags, &p.choice.Buffers, "buffers", "rewritten", "`state` of send buffers: rewritten before each message, as programs do, or unchanged, as most benchmarks leave them; see -transport cma", params.ParseBuffers)
	argument.Var(flags, &p.choice.As, "as", "", "`library` whose way messages take, by their size: "+strings.Join(libraryNames(), ", ")+" (instead of -transport, -segment and -segments)", mpi.Named)
	argument.Var(flags, &p.choice.Segment, "segment", "", "`size` of a segment (default the file's, or 8K)", argument.Some)
	flags.IntVar(&p.choice.BufferSegments, "segments", 0, "`segments` of intermediate buffers: times are of the nearest that the file has, as of -segment (default the file's first)")
	p.state.add(flags, mixture)
	p.scheduleFlags.add(flags)
}

func libraryNames() (names []string) {
	return lists.Map(mpi.Libraries(), func(l *mpi.Library) string { return l.Name })
}

// check checks the flags when they are parsed.
func (p *parameterFlags) check(flags *flag.FlagSet) error {
	p.given = givenFlags(flags)
	if p.given["segments"] && p.choice.BufferSegments < 1 {
		return usagef("-segments is %d: give a number of segments from 1", p.choice.BufferSegments)
	}
	for _, name := range []string{"transport", "segment", "segments"} {
		if p.choice.As != nil && p.given[name] {
			return usagef("-as %s has transports and segments of its own: leave -%s out", p.choice.As.Name, name)
		}
	}
	return p.scheduleFlags.check(p.given)
}

// read reads the files.
func (p *parameterFlags) read() (f compare.Machine, err error) {
	switch len(p.files) {
	case 0:
		return f, usagef("-params is missing: name a file that taulop sweep wrote, or a table in the published text format")
	case 1:
		p.file = p.files[0]
	default:
		return f, usagef("-params names %d files, and this is of one machine: give one, or put them side by side with taulop predict", len(p.files))
	}
	f, err = compare.Read(p.file)
	if err != nil && isTidy(p.file) {
		return f, usagef("-params: %s is a table with names of columns: make a parameter file of it, taulop import -o machine.json %[1]s", p.file)
	}
	if err != nil {
		return f, usagef("-params: %v", err)
	}
	if err := p.state.one(&f); err != nil {
		return f, err
	}
	p.of = f
	if f.Text {
		for _, name := range []string{"setup", "placement", "cache", "buffers"} {
			if p.given[name] {
				return f, usagef("-%s chooses among what taulop sweep measured; %s is in the published text format and has one table", name, p.file)
			}
		}
		if p.choice.Stride > 0 {
			return f, usagef("-stride needs p(m,d), which published tables do not have: name a file of taulop sweep -with pack")
		}
	}
	if f.File.OfLevels() {
		for _, name := range []string{"setup", "placement", "cache", "buffers", "transport", "segment", "segments"} {
			if p.given[name] && (name != "transport" || p.choice.Transport != model.Whole) {
				return f, usagef("-%s is of transfers that taulop sweep measured, and %s has messages by levels alone, as they were measured: leave it out", name, p.file)
			}
		}
	}
	if f.File.Plan.Whole && p.given["transport"] && p.choice.Transport != model.Whole {
		return f, usagef("-transport %s: %s has whole messages of an MPI library, so leave it out", p.choice.Transport, p.file)
	}
	if !p.given["cache"] {
		p.choice.OffCache = f.File.Plan.OffCacheOnly()
	}
	if p.gamma != "" {
		if p.choice.Gamma, err = readText(p.gamma, params.ReadGammaText); err != nil {
			return f, usagef("-gamma: %v", err)
		}
	}
	return f, nil
}

// source says what a predictor takes from the file, and settles what it lacks.
func (p *parameterFlags) source(f compare.Machine, m *model.Predictor) report.Source {
	name := f.Name
	if p.machine != "" {
		name = f.Called(printable.Name(p.machine))
	}
	source := report.NewSource(m, name, p.file)
	if f.File.State() == nil { // else the name says it
		source.States = f.States()
	}
	source.Degree, source.Chunk = p.degree, p.chunk
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

// doubts are what speaks against a predictor's costs. The network is in a file of its own,
// "" where it is in that of the machine.
func (p *parameterFlags) doubts(m *model.Predictor, network string) (all []error) {
	for _, w := range m.Warnings {
		file := p.file
		if of := (model.NetworkWarning{}); network != "" && errors.As(w, &of) {
			file = network
		}
		all = append(all, fmt.Errorf("%s: %w", file, w))
	}
	return all
}
