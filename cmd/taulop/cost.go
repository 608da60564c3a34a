package main

import (
	"cmp"
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
)

// A costRequest is what the user asked predict, explain or tune to cost.
type costRequest struct {
	parameterFlags
	clusterFlags
	predict.Calls
	// messages is the library whose way messages take where the user names no way, and the
	// parameters are of memory, not of a library's own messages; nil for none.
	messages *mpi.Library
	saying
	byState  bool    // beside the mean over several states the cost in each
	warnings []error // for when there is a result
}

// add adds the flags that these commands share.
func (req *costRequest) add(flags *argument.Set, sizes string) {
	req.parameterFlags.add(flags)
	req.clusterFlags.add(flags)
	argument.Word(flags, &req.choice.Model, "model", model.Models[0], "`model`: "+strings.Join(model.Models, ", "), model.Models)
	argument.Var(flags, &req.P, "P", "", "ranks, a `list` like 2,4,8 with ranges: 2-16, or doubling 2:1024", argument.Ranks(1))
	argument.Var(flags, &req.M, "m", sizes, "message sizes in bytes, or with a unit, a `list` like 64,8K,1M with doubling ranges: 1K:1M", argument.Messages(0))
	argument.Var(flags, &req.choice.Stride, "stride", "", "`bytes` from element to element of strided messages: they are packed before the first transfer and unpacked after the last", argument.Some)
	flags.IntVar(&req.Root, "root", 0, "`rank` of the root of "+rootedNames())
	req.saying.addQuiet(flags, "no warnings")
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

// complete reads the files that flags name, when the algorithms are known.
func (req *costRequest) complete() (err error) {
	if len(req.P) == 0 {
		return usagef("-P is missing: say among how many ranks, like -P 2,4,8")
	}
	c := &req.choice
	if c.Cluster, err = req.cluster(req.flags, &c.Placement); err != nil {
		return err
	}
	f, err := req.read()
	if err != nil {
		return err
	}
	if !req.flags.Given("placement") && c.Placement == numa.Spread && slices.Contains(f.File.Plan.Policies, numa.AcrossPackages) {
		c.Placement = numa.AcrossPackages // a mapping that is cyclic within nodes deals ranks round sockets
	}
	if err := req.placeable(&f); err != nil {
		return err
	}
	ways := []string{"as", "transport", "segment", "segments"}
	if len(f.File.Launches) > 0 && !slices.ContainsFunc(ways, req.flags.Given) {
		c.As = cmp.Or(c.As, req.messages)
	}
	if req.Predictor, err = model.NewPredictor(f.File, *c); err != nil {
		return usagef("%s: %v", req.file, err)
	}
	req.beside(&f)
	if err := req.checkOperator(req.Predictor); err != nil {
		return err
	}
	if err := req.reducing(); err != nil {
		return err
	}
	req.Calls.Degree, req.Calls.Chunk = req.scheduleFlags.given(req.flags)
	_, network := req.net.of()
	req.warnings = append(req.warnings, req.doubts(req.Predictor, network)...)
	nodes, _ := req.Predictor.Nodes(slices.Max(req.P)) // of messages by levels, which tell other nodes
	if cpus := f.File.Provenance.Allowed.Len(); cpus > 0 && c.Cluster == nil && nodes < 2 && slices.Max(req.P) > cpus {
		req.warnings = append(req.warnings, fmt.Errorf("%s: P = %d are more ranks than the %d CPUs that were measured: they count as if each had a core of its own, and what more than %[3]d at once take is extrapolated", req.file, slices.Max(req.P), cpus))
	}
	return nil
}

// placeable refuses ranks where the parameters have no messages.
func (req *costRequest) placeable(f *compare.Machine) error {
	c := &req.choice
	networked := c.Cluster != nil && c.Cluster.Network != nil
	switch levels := f.File.OfLevels(); {
	case levels && c.Placement != "":
		return usagef("-map %s chooses among placements that taulop sweep measured, and %s has messages by levels alone: leave out what follows the colon", req.mapping, req.file)
	case f.Text && c.Placement != "":
		return usagef("-map %s chooses among what taulop sweep measured; %s is in the published text format and has one table: leave out what follows the colon", req.mapping, req.file)
	case levels && networked:
		return usagef("-net is of a machine that taulop sweep measured, and %s has messages by levels: import those between its nodes with them, and leave -net out", req.file)
	case c.Cluster != nil && c.Cluster.Nodes > 1 && !networked && len(f.File.Networks) == 0 && !levels:
		return needsNetwork(c.Cluster.Nodes, req.file)
	}
	return nil
}

// beside finds what is said beside the predictor's costs: the states by themselves, how
// uncertain parameters are, and τ-Lop beside a model of pairs.
func (req *costRequest) beside(f *compare.Machine) {
	c := &req.choice
	if of := f.Each(); req.byState && len(of) > 1 {
		for _, m := range of {
			if p, err := model.NewPredictor(m.File, *c); err == nil {
				req.States = append(req.States, predict.StatePredictor{State: *m.File.State(), Predictor: p})
			}
		}
	}
	req.Source = req.source(*f, req.Predictor)
	req.Source.Nodes = predict.OnNodes(req.Predictor, req.P)
	if req.Ensemble = model.NewEnsemble(f.File, *c); req.Ensemble.Known() {
		req.Uncertainty = report.Uncertainty(f.File, c.Cluster)
	}
	if model.OfPairs(c.Model) { // the file of pairs may have no transfers
		c.Model = "taulop"
		req.Beside, _ = model.NewPredictor(f.File, *c)
	}
}

// reducing refuses reductions that were asked for by name, or alone, where there is no γ.
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

// choose finds the algorithms.
func (req *costRequest) choose(names []string) error {
	if len(names) == 0 {
		return usagef("name a collective, or one of its algorithms like bcast:binomial: %s", strings.Join(collective.Names(collective.Collectives()), ", "))
	}
	req.Asked = make(map[mpi.Algorithm]bool)
	for _, name := range names {
		if name == verify.Message {
			return usagef("a message is no collective: take bcast:linear with -P 2, which is one message, or measure messages with taulop verify message")
		}
		found, err := mpi.Find(req.choice.As, name)
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

// rootedNames are the collectives with a root: "bcast, gather and scatter".
func rootedNames() string {
	names := collective.Names(lists.Filter(collective.Collectives(), func(c *collective.Collective) bool { return c.Rooted }))
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
