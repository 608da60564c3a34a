package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
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
	flags.IntVar(&req.Root, "root", 0, "`rank` of the root of "+rootedNames())
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
	req.Source.Nodes = predict.OnNodes(req.Predictor, req.P)
	if req.Ensemble.Known() {
		req.Uncertainty = report.Uncertainty(f.File, c.Cluster)
	}
	if err := req.checkOperator(req.Predictor); err != nil {
		return err
	}
	if err := req.reducing(); err != nil {
		return err
	}
	req.Calls.Degree, req.Calls.Chunk = req.scheduleFlags.given(req.flags)
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
	if req.NoGamma = req.noGamma; req.NoGamma != nil && slices.ContainsFunc(req.Algorithms, reduces) {
		req.warnings = append(req.warnings, fmt.Errorf("what reduces %w", req.NoGamma))
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

// rootedNames are the collectives with a root: "bcast, gather and scatter".
func rootedNames() string {
	names := collective.Names(lists.Filter(collective.Collectives(), func(c *collective.Collective) bool { return c.Rooted }))
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// refused makes a usage error of any error except a signal's.
func refused(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return usagef("%v", err)
}
