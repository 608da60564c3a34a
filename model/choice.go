package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Choice is what to predict from, and how. Its zero value is τ-Lop for segmented
// contiguous messages, from what the file has first, in cache.
type Choice struct {
	Model     string           // one of Models
	Setup     string           // that measured L; "": ring for all but what ping and sendrecv measured better, or the file's first
	Placement numa.Policy      // of the ranks; "": the plan's first
	OffCache  bool             // of user buffers
	Transport params.Transport // Libtaulop knows Whole alone
	Buffers   params.Buffers   // what becomes of send buffers between messages
	Segment   int              // S in bytes; 0: the file's, 8 KiB where it does not say
	Operator  string           // of reductions; "": sum
	Gamma     *params.Gamma
	Stride    int // bytes from element to element; 0: contiguous messages, all that libtaulop and loggp know

	// Strict has one L(S,τ) of one setup for every segment, as the paper does: neither the
	// message that it is a part of nor the pattern of the stage tells segments apart.
	Strict bool
	// As, if not nil, is an MPI library that carries messages in its own way: Transport,
	// Segment and BufferSegments are then its own. Of a file of whole messages it is nil.
	As *mpi.Library
	// BufferSegments is how many intermediate buffers have; 0: the file's first. Times are
	// of the buffers that the file has which are nearest to them and to Segment.
	BufferSegments int

	// Cluster is where ranks are, nil: on one node. One of several nodes without a network
	// takes the file's first.
	Cluster *Cluster
}

// Models are the names of models; "" is the first.
var Models = []string{"taulop", "libtaulop", "lognp", "mlognp", "2log23p", "log3p", "loggp"}

var titles = []string{"τ-Lop", "τ-Lop as the authors' library computes it", "log_nP", "mlog_nP", "2log_{2,3}P", "log_3P", "LogGP"}

// ofPairs are the models of pairs of CPUs, whose file need not have any transfers.
var ofPairs = map[string]func(MLogNP) MLogNP{
	"mlognp": func(m MLogNP) MLogNP { return m }, "2log23p": MLogNP.Reduced, "log3p": MLogNP.One,
}

// OfPairs tells models of pairs of CPUs.
func OfPairs(model string) bool { return ofPairs[model] != nil }

// check refuses what a model cannot do with the file.
func (c *Choice) check(f *params.File) error {
	copies := c.Model == "taulop" || c.Model == "lognp"
	switch {
	case !slices.Contains(Models, c.Model):
		return fmt.Errorf("unknown model %q: take one of %s", c.Model, strings.Join(Models, ", "))
	case c.Stride > 0 && !copies && !OfPairs(c.Model):
		return fmt.Errorf("model %s knows contiguous messages only", c.Model)
	case f.OfLevels() && !OfPairs(c.Model) && (c.Model != Models[0] || c.Stride > 0):
		return errors.New("it has messages by levels and no transfers: only model taulop, for contiguous messages, predicts from them")
	case f.OfLevels() && !OfPairs(c.Model) && c.Transport == CMA:
		return errors.New("its messages are those of the library that was measured, not over cma: leave the transport out")
	case f.OfLevels() && !OfPairs(c.Model):
		return nil
	case f.Plan.Whole && c.Transport != Segmented && c.Transport != Whole:
		return errors.New("it has whole messages of an MPI library, and their transport is whole")
	case f.Plan.Whole:
		return nil
	case c.As != nil:
		return c.own()
	case c.Transport == CMA && !copies:
		return fmt.Errorf("model %s knows no single copies: take taulop or lognp", c.Model)
	}
	return nil
}

// own rejects settings that contradict As: a library has its own transport and segments.
func (c *Choice) own() error {
	switch {
	case !slices.Contains([]string{"taulop", "lognp"}, c.Model):
		return fmt.Errorf("model %s knows one way of messages: take taulop or lognp", c.Model)
	case c.Transport != Segmented || c.Segment != 0 || c.BufferSegments != 0:
		return fmt.Errorf("%s has its own transport and segments", c.As.Name)
	}
	return nil
}

// connect finds the network of several nodes.
func (c *Choice) connect(f *params.File) error {
	if !c.Cluster.several() {
		return nil
	}
	if !slices.Contains([]string{"taulop", "libtaulop"}, c.Model) && !OfPairs(c.Model) {
		return fmt.Errorf("model %s knows one node alone: take taulop, libtaulop, mlognp, 2log23p or log3p for several", c.Model)
	}
	if c.Cluster.Network != nil {
		return nil
	}
	n, table, err := f.Network("")
	if err != nil {
		return fmt.Errorf("%d nodes need a network between them: %w", c.Cluster.Nodes, err)
	}
	with := *c.Cluster
	with.Network = &Network{Network: n, Table: table}
	c.Cluster = &with
	return nil
}
