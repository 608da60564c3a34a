package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/mapping/heuristic"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/numa"
)

// A mapRequest holds the flags of map.
type mapRequest struct {
	processmap.Request
	p, pattern   int // ranks and bytes of a pattern
	messages     string
	params, root string
	net          netFlag
	offCache     bool
	as           *mpi.Library // whose transports messages use; nil: segmented
	state        stateChoice
	nodes        int
	hosts        []string
	format       string
	destination
}

// mapFlags is the subcommand.
func mapFlags(flags *argument.Set) action {
	req := &mapRequest{}
	req.add(flags)
	return func(_ context.Context, out io.Writer, errOut *messages, words []string) error {
		if err := req.read(flags, words); err != nil {
			return err
		}
		if req.Methods == nil {
			req.Methods = processmap.MethodNames()
			if req.Matrix.Ranks() > heuristic.MaxSearched {
				req.Methods = slices.DeleteFunc(req.Methods, func(m string) bool { return m == processmap.ES })
			}
		}
		if err := req.machine(); err != nil {
			return err
		}
		result, err := processmap.Run(req.Request)
		if err != nil {
			return usagef("%v", err)
		}
		warn(errOut, result.Warnings)
		if req.format == "" {
			return req.destination.put(out, report.ProcessMap(result))
		}
		return req.write(out, func(w io.Writer) error {
			return refusedBy("-format "+req.format, result.WriteFor(req.format, result.Mapping(result.Best), w))
		})
	}
}

func (req *mapRequest) add(flags *argument.Set) {
	flags.IntVar(&req.p, "P", 0, "number of `processes`, of a pattern; a file must have as many")
	flags.Within("P", 1, comm.MaxRanks, fmt.Sprintf("give 1 to %d processes", comm.MaxRanks))
	argument.Var(flags, &req.pattern, "m", "64K", "of a pattern, the `size` of its largest messages", argument.Some)
	flags.StringVar(&req.messages, "messages", "", "a `file` like MATRIX, with numbers of messages instead of bytes")
	flags.StringVar(&req.params, "params", "", "parameters of a machine, a `file` of taulop sweep or pairs, or in the published text format")
	flags.StringVar(&req.root, "root", "", "map to the machine whose sys and proc are below `DIR`, or in an archive of hwloc-gather-topology (default this one, or that of -params)")
	flags.StringVar((*string)(&req.net), "net", "", "network between nodes, a `file` of taulop net or in the published text format (default what -params has)")
	flags.IntVar(&req.nodes, "nodes", 0, "number of `nodes` like the machine (default 1, or those of -hosts)")
	flags.Within("nodes", 1, heuristic.MaxPlaces, fmt.Sprintf("give 1 to %d", heuristic.MaxPlaces))
	argument.Var(flags, &req.hosts, "hosts", "", "`names` of the nodes, comma-separated (default localhost, or +n0, +n1 …, mpirun's numbers for its nodes)", argument.Names)
	argument.Var(flags, &req.offCache, "cache", "in", "for predicted times: user buffers `in|off` cache", argument.Cache, "in", "off")
	argument.Var(flags, &req.as, "as", "", "for predicted times: MPI `library` whose transports, by message size, are used: "+strings.Join(libraryNames(), ", "), mpi.Named, libraryNames()...)
	req.state.add(flags, mixture)
	methods := processmap.MethodNames()
	argument.Var(flags, &req.Methods, "method", "", "`list` of mapping methods: "+strings.Join(methods, ", ")+" (default all that -time allows)", argument.Among(methods), methods...)
	flags.DurationVar(&req.Time, "time", 3*time.Second, "time limit of exchanging processes")
	argument.Word(flags, &req.format, "format", "", "write the cheapest mapping for a `launcher`: "+strings.Join(processmap.LauncherNames(), ", "), processmap.LauncherNames())
	flags.Rules(
		argument.Rule{Flags: "state as", Needs: "params", Why: "is of parameters", Do: "name their file with -params, or leave it out"},
		argument.Rule{Flags: "net", Needs: "params", Why: "says what messages between nodes take, and those within them come from -params", Do: "name a file of taulop sweep, or leave -net out"},
	)
	flags.Check(req.checkHosts)
	flags.Check(func() error { return checkRoot(cmp.Or(req.root, "/")) })
	req.destination.add(flags, "format")
}

// checkHosts checks the names of nodes, and takes the number of nodes from them.
func (req *mapRequest) checkHosts() error {
	n := len(req.hosts)
	if req.nodes = cmp.Or(req.nodes, n); n > 0 && req.nodes != n {
		return usagef("-hosts names %d nodes, and -nodes is %d: give as many names", n, req.nodes)
	}
	for _, host := range req.hosts {
		if len(host) > 253 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '=' || r == '#' || r == 0x7f }) {
			return usagef("-hosts: %.60q is no name of a node", host)
		}
	}
	return nil
}

// read reads the communication matrix, or makes a pattern's.
func (req *mapRequest) read(flags *argument.Set, words []string) (err error) {
	pattern := comm.Lookup(words[0])
	switch {
	case pattern != nil && len(words) > 1:
		return usagef("%s is a pattern, and %s is one word too many", words[0], printable.Name(words[1]))
	case pattern != nil && req.p == 0:
		return usagef("-P is missing: say of how many processes %s is, like -P 16", pattern.Name)
	case pattern != nil && req.messages != "":
		return usagef("-messages is of a file: leave it out of a pattern")
	case pattern != nil:
		if req.Matrix, err = pattern.Matrix(req.p, int64(req.pattern)); err != nil {
			return usagef("-P: %v", err)
		}
		return nil
	case flags.Given("m"):
		return usagef("-m is of a pattern, and a file has its own sizes: leave it out")
	case len(words) == 1 && words[0] != "-" && !isFile(words[0]) && !strings.ContainsAny(words[0], "./\\"):
		return usagef("%s is neither a file nor a pattern; %s", printable.Name(words[0]), spelling.Suggest(words[0], comm.Names()))
	}
	if req.Matrix, err = processmap.ReadMatrix(words); err != nil {
		return usagef("%v", err)
	}
	if req.messages != "" {
		counts, err := processmap.ReadMatrix([]string{req.messages})
		if err == nil {
			err = req.Matrix.WithMessages(counts)
		}
		if err != nil {
			return usagef("-messages: %v", err)
		}
	}
	if ranks := req.Matrix.Ranks(); req.p > 0 && req.p != ranks {
		return usagef("%s is of %d processes, and -P is %d: leave -P out, or give another file", printable.Name(words[0]), ranks, req.p)
	}
	return nil
}

// machine finds the cores, and a model of messages between them.
func (req *mapRequest) machine() error {
	if req.params == "" {
		return req.topology()
	}
	f, err := req.state.read("-params: ", req.params)
	if err != nil {
		return err
	}
	if f.File.OfLevels() {
		return usagef("-params %s: it has messages by levels and no transfers, and rounds of messages are predicted from transfers alone: name a file of taulop sweep or pairs, or leave -params out, and hop-bytes are minimised", req.params)
	}
	network, err := req.net.network()
	if err != nil {
		return err
	}
	choice := model.Choice{OffCache: req.offCache, As: req.as}
	predictor, lacking := model.NewPredictor(f.File, choice)
	placement := numa.Local
	if lacking == nil {
		placement = predictor.Placement
	}
	machine, places, err := processmap.OfFile(f.File, placement, f.Name, max(1, req.nodes))
	switch {
	case err == nil && req.root != "":
		return usagef("-root names a machine, and so does -params: leave one of them out")
	case err != nil && req.root == "":
		return usagef("-params %s: %v with -root", req.params, err)
	case err != nil:
		if err := req.topology(); err != nil {
			return err
		}
		req.Machine.Name += ", times of " + f.Name
	default:
		req.Machine = machine
	}
	req.Machine.Hosts = req.hosts
	if nodes := req.Machine.Nodes; nodes > 1 {
		if network == nil && len(f.File.Networks) == 0 {
			return needsNetwork(nodes, req.params)
		}
		choice.Cluster = &model.Cluster{Nodes: nodes, Network: network}
		predictor, lacking = model.NewPredictor(f.File, choice)
	}
	if lacking == nil {
		req.Model = processmap.NewModel(f.File, predictor, places)
	} else if req.as != nil {
		return usagef("-params %s: %v", req.params, lacking)
	} else if req.Model, err = processmap.NewPairsModel(f.File, req.Machine, network); err != nil {
		return usagef("-params %s: %v", req.params, lacking)
	}
	if states := f.States(); states != "" {
		req.Model.Says += "; " + states
	}
	return nil
}

// topology is the machine of -root, or this one.
func (req *mapRequest) topology() error {
	name := printable.Either(req.root != "", printable.Name(filepath.Base(req.root)), "this machine")
	m, _, _, err := machineAt(cmp.Or(req.root, "/"))
	if err != nil {
		return err
	}
	if req.Machine, err = processmap.OfTopology(m, name, max(1, req.nodes)); err != nil {
		return usagef("%v", err)
	}
	req.Machine.Hosts = req.hosts
	return nil
}
