package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/mapping"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A costRequest holds the flags that predict, explain and tune share.
type costRequest struct {
	parameterFlags
	clusterFlags
	predict.Calls
	// messages is the library whose transports are the default for parameters with launches, which
	// are of memory, not of a library's messages; nil: none.
	messages *mpi.Library
	byState  bool    // costs in each state of the machine, too
	warnings []error // to print with a result
}

// add adds the flags that these commands share.
func (req *costRequest) add(flags *argument.Set, sizes string) {
	req.parameterFlags.add(flags)
	req.clusterFlags.add(flags)
	argument.Word(flags, &req.choice.Model, "model", model.Models[0], "`model`: "+strings.Join(model.Models, ", "), model.Models)
	argument.Var(flags, &req.P, "P", "", "ranks, a `list` like 2,4,8 with ranges: 2-16, or doubling 2:1024", argument.Ranks(1))
	flags.Required("P", "say among how many ranks, like -P 2,4,8", "list", "timed")
	argument.Var(flags, &req.M, "m", sizes, "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M", argument.Messages(0))
	argument.Var(flags, &req.choice.Stride, "stride", "", "`bytes` from element to element of strided messages, which are packed before the first transfer and unpacked after the last", argument.Some)
	rooted := lists.Filter(collective.Collectives(), func(c *collective.Collective) bool { return c.Rooted })
	flags.IntVar(&req.Root, "root", 0, "`rank` of the root of "+printable.And(collective.Names(rooted)))
	flags.Rules(argument.Rule{Flags: "stride", Not: "model=libtaulop model=loggp", Why: "is of messages that are not contiguous", Do: "take -model taulop or lognp, or leave it out"})
	flags.Check(func() error {
		c := &req.choice
		if flags.Given("stride") && c.Stride == 0 {
			return usagef("-stride is empty: give the bytes from element to element, like 64")
		}
		if c.Model == "libtaulop" && flags.Given("transport") && c.Transport != model.Whole {
			return usagef("-model libtaulop knows whole messages only: leave -transport out, or take -model taulop")
		}
		return nil
	})
}

// complete reads the files of flags. The algorithms have to be known.
func (req *costRequest) complete() (err error) {
	c := &req.choice
	if c.Cluster, err = req.cluster(req.flags, &c.Placement); err != nil {
		return err
	}
	f, err := req.read()
	if err != nil {
		return err
	}
	if !req.flags.Given("placement") && c.Placement == numa.Spread && slices.Contains(f.File.Plan.Policies, numa.AcrossPackages) {
		c.Placement = numa.AcrossPackages // a mapping that is cyclic within nodes alternates between sockets
	}
	if c.Cluster != nil && c.Cluster.Nodes > 1 && c.Cluster.Network == nil && len(f.File.Networks) == 0 && !f.File.OfLevels() {
		return needsNetwork(c.Cluster.Nodes, req.file)
	}
	transports := []string{"as", "transport", "segment", "segments"}
	if len(f.File.Launches) > 0 && !slices.ContainsFunc(transports, req.flags.Given) {
		c.As = cmp.Or(c.As, req.messages)
	}
	var states []*params.File
	if each := f.Each(); req.byState && len(each) > 1 {
		states = lists.Map(each, func(m compare.Machine) *params.File { return m.File })
	}
	if err := req.From(f.File, *c, states); err != nil {
		return usagef("%s: %v", req.file, err)
	}
	req.Source = req.source(f, req.Predictor)
	if req.messages != nil && req.Predictor.NoGamma == nil && req.Predictor.Gamma == nil {
		// Predictions from messages by levels guess γ, which is no basis for a rule.
		req.noGamma = fmt.Errorf("needs γ, the time of a reduction, and %s has none: name a file that has γ with -gamma", req.file)
	}
	req.Source.Nodes = predict.OnNodes(req.Predictor, req.P)
	if req.Ensemble.Known() {
		req.Uncertainty = report.Uncertainty(f.File, c.Cluster)
	}
	if err := cmp.Or(req.checkOperator(req.Predictor), req.reducing()); err != nil {
		return err
	}
	req.Calls.Degree, req.Calls.Chunk = req.degree, req.chunk
	_, network := req.net.of()
	req.warnings = append(req.warnings, req.doubts(req.Predictor, network)...)
	nodes, _ := req.Predictor.Nodes(slices.Max(req.P)) // parameters by levels know of nodes by themselves
	if cpus := f.File.Provenance.Allowed.Len(); cpus > 0 && c.Cluster == nil && nodes < 2 && slices.Max(req.P) > cpus {
		req.warnings = append(req.warnings, fmt.Errorf("%s: P = %d are more ranks than the %d CPUs that were measured: each counts as on a core of its own, and times of more than %[3]d at once are extrapolated", req.file, slices.Max(req.P), cpus))
	}
	return nil
}

// reducing rejects reductions without γ if they were named or are all that was asked for, and warns
// of others.
func (req *costRequest) reducing() error {
	reduces := func(a mpi.Algorithm) bool { return a.Collective.Reduces }
	only := !slices.ContainsFunc(req.Algorithms, func(a mpi.Algorithm) bool { return !reduces(a) })
	for _, a := range req.Algorithms {
		if reduces(a) && req.noGamma != nil && (only || req.Asked[a]) {
			return usagef("%s %v", a, req.noGamma)
		}
	}
	if req.noGamma != nil && slices.ContainsFunc(req.Algorithms, reduces) {
		req.NoGamma = advised([]error{req.noGamma})[0]
		req.warnings = append(req.warnings, fmt.Errorf("what reduces %w", req.noGamma))
	}
	return nil
}

// choose finds the algorithms by names of operands.
func (req *costRequest) choose(names []string) error {
	if len(names) == 0 {
		return usagef("name a collective, or one of its algorithms like bcast:binomial: %s", strings.Join(collective.Names(collective.Collectives()), ", "))
	}
	if slices.Contains(names, verify.Message) {
		return usagef("a message is no collective: take bcast:linear with -P 2, which is one message, or measure messages with taulop verify message")
	}
	return refused(req.Name(req.choice.As, names))
}

// refused makes a usage error of any error except a signal's.
func refused(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return usagef("%v", err)
}

// refusedBy makes a usage error of an error about a flag, which it names; nil of nil.
func refusedBy(flag string, err error) error {
	if err == nil {
		return nil
	}
	return usagef("%s: %v", flag, err)
}

// clusterFlags describe the nodes of ranks and the network between them.
type clusterFlags struct {
	nodes   int
	mapping string
	net     netFlag
}

func (c *clusterFlags) add(flags *argument.Set) {
	flags.IntVar(&c.nodes, "nodes", 0, "number of `nodes` (default one, or those of a -map file)")
	flags.Within("nodes", 1, math.MaxInt32, "give a number of nodes from 1")
	argument.Var(flags, &c.mapping, "map", "block", "`mapping` of ranks to nodes: block, cyclic or plane=SIZE, with :block or :cyclic for the parts of a node, as Slurm's -m; or a file: an Open MPI rankfile, a hostfile, or one node per line", verbatimWord, "block", "cyclic", "block:block", "block:cyclic", "cyclic:block", "cyclic:cyclic")
	flags.StringVar((*string)(&c.net), "net", "", "network between nodes, a `file` of taulop net or in the published text format (default what -params has); NAME=FILE chooses one of several, or says that a published table is of tcp")
}

// cluster is the cluster of the flags; nil without them. It sets placement if the mapping orders
// ranks within a node.
func (c *clusterFlags) cluster(flags *argument.Set, placement *numa.Policy) (*model.Cluster, error) {
	order, within, known, err := mapping.ParseOrder(c.mapping)
	switch {
	case err != nil:
		return nil, usagef("-map: %v", err)
	case !known && !isFile(c.mapping):
		return nil, usagef("-map %s is neither a mapping nor a file: take block, cyclic or plane=SIZE, like Slurm's -m block:cyclic, or name a rankfile", c.mapping)
	case !known:
		if order, err = infile.Read(c.mapping, mapping.Read); err != nil {
			return nil, usagef("-map: %v", err)
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

// A netFlag is the value of -net: FILE or NAME=FILE; "": none.
type netFlag string

func (n netFlag) of() (name, path string) {
	name, path, named := strings.Cut(string(n), "=")
	if !named || isFile(string(n)) {
		return "", string(n)
	}
	return name, path
}

// network reads the file.
func (n netFlag) network() (*model.Network, error) {
	if n == "" {
		return nil, nil
	}
	network, err := readNetwork(n.of())
	return network, refusedBy("-net", err)
}

// readNetwork reads a network. Published tables of TCP exclude two copies.
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

// needsNetwork is the error for nodes without a network.
func needsNetwork(nodes int, file string) error {
	return usagef("%d nodes need a network between them, and %s has none: name one with -net, a file of taulop net or a table such as IB.txt", nodes, file)
}
