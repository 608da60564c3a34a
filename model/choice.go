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

// A Choice is a model, the measurements that it uses, and its options. The zero value is τ-Lop for
// segmented contiguous messages, from the file's first measurements, in cache.
type Choice struct {
	Model     string           // one of Models
	Setup     string           // of L; "": ping for one-way messages, sendrecv for exchanges, else ring or the file's first
	Placement numa.Policy      // of the ranks; "": the plan's first
	OffCache  bool             // user buffers
	Transport params.Transport // Libtaulop has Whole only
	Buffers   params.Buffers   // send buffers between messages
	Segment   int              // S in bytes; 0: the file's, or 8 KiB
	Operator  string           // of reductions; "": sum
	Gamma     *params.Gamma
	Stride    int // bytes from element to element; 0: contiguous messages, the only ones of libtaulop and loggp

	// Strict has one L(S,τ) of one setup for all segments, as in the paper, whatever the footprint and
	// the pattern of the stage.
	Strict bool
	// As, if not nil, is an MPI library whose protocols carry messages, instead of Transport, Segment and
	// BufferSegments. Files of whole messages ignore it.
	As *mpi.Library
	// BufferSegments is the segments of intermediate buffers; 0: the file's first. Times are of the
	// measured buffers nearest to these and to Segment.
	BufferSegments int

	Cluster *Cluster // nil: one node; several nodes without a network take the file's first
}

// Models are the names of models; "" is the first.
var Models = []string{"taulop", "libtaulop", "lognp", "mlognp", "2log23p", "log3p", "loggp"}

var titles = []string{"τ-Lop", "τ-Lop as the authors' library computes it", "log_nP", "mlog_nP", "2log_{2,3}P", "log_3P", "LogGP"}

// ofPairs are the models of pairs of CPUs, whose file may lack transfers.
var ofPairs = map[string]func(MLogNP) MLogNP{
	"mlognp": func(m MLogNP) MLogNP { return m }, "2log23p": MLogNP.Reduced, "log3p": MLogNP.One,
}

// OfPairs tells whether a model is of pairs of CPUs.
func OfPairs(model string) bool { return ofPairs[model] != nil }

// check rejects choices that a model cannot combine with the file.
func (c *Choice) check(f *params.File) error {
	copies, byLevels := c.Model == "taulop" || c.Model == "lognp", f.OfLevels() && !OfPairs(c.Model)
	switch {
	case !slices.Contains(Models, c.Model):
		return fmt.Errorf("unknown model %q: take one of %s", c.Model, strings.Join(Models, ", "))
	case c.Stride > 0 && !copies && !OfPairs(c.Model):
		return fmt.Errorf("model %s has contiguous messages only", c.Model)
	case byLevels && (c.Model != Models[0] || c.Stride > 0):
		return errors.New("it has messages by levels and no transfers: only model taulop, for contiguous messages, predicts from them")
	case byLevels && c.Transport == CMA:
		return errors.New("its messages are those of the library that was measured, not over cma: leave the transport out")
	case byLevels:
	case f.Plan.Whole && c.Transport != Segmented && c.Transport != Whole:
		return errors.New("it has whole messages of an MPI library, and their transport is whole")
	case f.Plan.Whole:
	case c.As != nil && !copies:
		return fmt.Errorf("model %s has one protocol for all messages: take taulop or lognp", c.Model)
	case c.As != nil && (c.Transport != Segmented || c.Segment != 0 || c.BufferSegments != 0):
		return fmt.Errorf("%s has its own transport and segments", c.As.Name)
	case c.Transport == CMA && !copies:
		return fmt.Errorf("model %s has no single copies: take taulop or lognp", c.Model)
	}
	return nil
}

// connect finds the network of several nodes.
func (c *Choice) connect(f *params.File) error {
	if !c.Cluster.several() {
		return nil
	}
	if !slices.Contains([]string{"taulop", "libtaulop"}, c.Model) && !OfPairs(c.Model) {
		return fmt.Errorf("model %s has one node only: take taulop, libtaulop, mlognp, 2log23p or log3p for several", c.Model)
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
