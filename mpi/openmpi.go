package mpi

import (
	_ "embed"
	"math/bits"
	"sync"

	"github.com/taulop/taulop/collective"
)

// tunedAlgorithms are the algorithms of coll/tuned 4.1, coll_tuned_*_decision.c; docs/algorithms.md
// describes them. A fan-out or segment size of 0 is as in coll_base_*.c and coll_base_topo.c, and
// the default fan-out is coll_tuned_init_tree_fanout and _chain_fanout.
var tunedAlgorithms = []offer{
	{collective: "allgather", id: 1, name: "linear", algorithm: "linear", parts: [2]string{"gather", "bcast"}},
	{collective: "allgather", id: 2, name: "bruck", algorithm: "bruck"},
	{collective: "allgather", id: 3, name: "recursive_doubling", algorithm: "recursive-doubling", fallback: "bruck"},
	{collective: "allgather", id: 4, name: "ring", algorithm: "ring"},
	{collective: "allgather", id: 5, name: "neighbor", algorithm: "neighbor-exchange", fallback: "ring"},
	{collective: "allgather", id: 6, name: "two_proc", algorithm: "two-proc"},

	{collective: "allreduce", id: 1, name: "basic_linear", algorithm: "linear"},
	{collective: "allreduce", id: 2, name: "nonoverlapping", algorithm: "reduce-bcast", parts: [2]string{"reduce", "bcast"}},
	{collective: "allreduce", id: 3, name: "recursive_doubling", algorithm: "recursive-doubling"},
	{collective: "allreduce", id: 4, name: "ring", algorithm: "ring", fallbackFew: "recursive-doubling", least: ranks},
	{collective: "allreduce", id: 5, name: "segmented_ring", algorithm: "segmented-ring", segmented: true, rounded: true, unsegmented: "ring", fallbackFew: "recursive-doubling", least: ranks},
	{collective: "allreduce", id: 6, name: "rabenseifner", algorithm: "rabenseifner-halves", fallbackFew: "linear", least: powerOfTwo},

	{collective: "alltoall", id: 1, name: "linear", algorithm: "linear"},
	{collective: "alltoall", id: 2, name: "pairwise", algorithm: "linear", blocking: true},
	{collective: "alltoall", id: 3, name: "modified_bruck", algorithm: "bruck"},
	{collective: "alltoall", id: 4, name: "linear_sync", algorithm: "linear"},
	{collective: "alltoall", id: 5, name: "two_proc", algorithm: "two-proc"},

	{collective: "barrier", id: 1, name: "linear", algorithm: "linear"},
	{collective: "barrier", id: 2, name: "double_ring", algorithm: "double-ring"},
	{collective: "barrier", id: 3, name: "recursive_doubling", algorithm: "recursive-doubling"},
	{collective: "barrier", id: 4, name: "bruck", algorithm: "dissemination"},
	{collective: "barrier", id: 5, name: "two_proc", algorithm: "two-proc"},
	{collective: "barrier", id: 6, name: "tree", algorithm: "tree"},

	{collective: "bcast", id: 1, name: "basic_linear", algorithm: "linear"},
	{collective: "bcast", id: 2, name: "chain", algorithm: "chain", segmented: true, fans: fans, defaultFan: 4, unbranched: "pipeline"},
	{collective: "bcast", id: 3, name: "pipeline", algorithm: "pipeline", segmented: true},
	{collective: "bcast", id: 4, name: "split_binary_tree", algorithm: "split-binary", segmented: true, halved: true, fallbackFew: "pipeline", least: two, blocking: true},
	{collective: "bcast", id: 5, name: "binary_tree", algorithm: "binary", segmented: true},
	{collective: "bcast", id: 6, name: "binomial", algorithm: "binomial-doubling", segmented: true},
	{collective: "bcast", id: 7, name: "knomial", algorithm: "knomial", segmented: true, degree: 4},
	{collective: "bcast", id: 8, name: "scatter_allgather", algorithm: "scatter-recursive-doubling", fallbackFew: "linear", least: ranks, blocking: true},
	{collective: "bcast", id: 9, name: "scatter_allgather_ring", algorithm: "scatter-ring", fallbackFew: "linear", least: ranks, blocking: true},

	{collective: "gather", id: 1, name: "basic_linear", algorithm: "linear", blocking: true},
	{collective: "gather", id: 2, name: "binomial", algorithm: "binomial", blocking: true},
	{collective: "gather", id: 3, name: "linear_sync", algorithm: "linear-sync", segmented: true, blocking: true},

	{collective: "reduce", id: 1, name: "linear", algorithm: "linear"},
	{collective: "reduce", id: 2, name: "chain", algorithm: "chain", segmented: true, fans: fans, defaultFan: 4, unbranched: "pipeline"},
	{collective: "reduce", id: 3, name: "pipeline", algorithm: "pipeline", segmented: true},
	{collective: "reduce", id: 4, name: "binary", algorithm: "binary", segmented: true},
	{collective: "reduce", id: 5, name: "binomial", algorithm: "knomial", segmented: true, degree: 2, unsegmented: "binomial"},
	{collective: "reduce", id: 6, name: "in-order_binary", algorithm: "in-order-binary", segmented: true},
	{collective: "reduce", id: 7, name: "rabenseifner", algorithm: "rabenseifner-halves", fallbackFew: "linear", least: powerOfTwo},

	{collective: "scatter", id: 1, name: "basic_linear", algorithm: "linear", blocking: true},
	{collective: "scatter", id: 2, name: "binomial", algorithm: "binomial", blocking: true},
	{collective: "scatter", id: 3, name: "linear_nb", algorithm: "linear"},
}

// two, ranks and powerOfTwo are the fewest elements that algorithms need.
func two(int) int          { return 2 }
func ranks(p int) int      { return p }
func powerOfTwo(p int) int { return 1 << (bits.Len(uint(p)) - 1) }

var fans = []int{2, 4, 8}

// scale is the factor from m to the message size of a rule, which of these collectives is the total of
// all ranks (coll_tuned_decision_dynamic.c).
func scale(c *collective.Collective, p int) int {
	switch c.Name {
	case "allgather", "alltoall", "gather", "scatter":
		return p
	}
	return 1
}

//go:embed openmpi.rules
var openMPIRules string

// fixed is Open MPI's built-in decision function as rules.
var fixed = sync.OnceValue(func() classic {
	f, err := readClassic(openMPIRules)
	if err != nil {
		panic(err)
	}
	return f
})

// openMPIOwn is the decision of Open MPI without a rules file.
func openMPIOwn(l *Library, c *collective.Collective, p, m int) (Setting, bool) {
	r := fixed().lookup(c.Name, p, m)
	s, known := l.numbered(c.Name, r.Algorithm, r.Fan, r.Segment)
	return s, known && !s.Own()
}

// openMPIUse is the command line for a rules file.
func openMPIUse(file string, _ bool) string {
	return "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n  --mca coll_tuned_dynamic_rules_filename " + file + " ...\n"
}

// byCount is the hazard of collectives whose rules are looked up by a count that may differ between
// ranks.
func byCount(c *collective.Collective) string {
	if c.Name == "gather" || c.Name == "scatter" {
		return "Open MPI looks rules up by the count that each rank sends, which MPI lets differ between the root and the others: a program in which it does waits for ever"
	}
	return ""
}
