package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/mapping/comm"
	"github.com/taulop/taulop/mapping/heuristic"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/numa"
)

// mapHelp is made of patterns, methods and launchers.
func mapHelp() string {
	var b strings.Builder
	b.WriteString(`Map says on which cores the processes of a program should be, from who sends how
much to whom.

  taulop map [flags] MATRIX ...
  taulop map -P RANKS [flags] PATTERN

MATRIX is a communication matrix: a CSV file with a line for each process, or with lines
from,to,bytes,messages under that heading; a Matrix Market file; or the files of all
processes that Open MPI's monitoring component writes (mpirun --mca pml_monitoring_enable 2
--mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename trace). PATTERN is one of
those below. The machine is this one, that of -root, or that of -params, from whose
parameters the time of each mapping is predicted, too.

Examples:
  taulop map trace.*.prof                    on this machine, by its topology
  taulop map -params host.json -P 16 bt      predicted by τ-Lop
  taulop map -params host.json -net net.json -nodes 4 m.csv
  taulop map -format openmpi -o ranks.txt m.mtx
                                             for mpirun --rankfile ranks.txt
  taulop map -json -o map.json -P 64 cg      for taulop plot map -o map.svg

Patterns:
`)
	for _, p := range comm.Patterns {
		fmt.Fprintf(&b, "  %-9s  %s\n", p.Name, p.About)
	}
	b.WriteString("\nMethods:\n")
	for _, m := range processmap.Methods {
		fmt.Fprintf(&b, "  %-9s  %s\n", m, processmap.About[m])
	}
	b.WriteString("\nFormats:\n")
	for _, l := range processmap.Launchers {
		fmt.Fprintf(&b, "  %-9s  %s\n", l.Name, l.About)
	}
	b.WriteString("\nFlags:\n")
	return b.String()
}

// A mapRequest is what the user asked to map.
type mapRequest struct {
	processmap.Request
	params, root, net, cache string
	offCache                 bool
	state                    stateChoice
	nodes                    int
	hosts                    []string
	format                   string
	destination
	given map[string]bool
}

func mapCommand(_ context.Context, out, errOut io.Writer, args []string) error {
	req := &mapRequest{}
	if err := req.parse(out, args); err != nil {
		return err
	}
	result, err := processmap.Run(req.Request)
	if err != nil {
		return usagef("%v", err)
	}
	for _, w := range result.Warnings {
		tell(errOut, "warning: %s", w)
	}
	doc := (*report.ProcessMap)(result)
	if req.format == "" {
		return req.destination.put(out, doc)
	}
	m := result.Mapping(result.Best)
	return req.write(out, func(w io.Writer) error {
		err := result.WriteFor(req.format, m, w)
		if err != nil {
			return usagef("-format %s: %v", req.format, err)
		}
		return nil
	})
}

func (req *mapRequest) parse(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("taulop map", flag.ContinueOnError)
	var p int
	var size, messages string
	flags.IntVar(&p, "P", 0, "`processes`: of a pattern how many; a file of other ones is refused")
	flags.StringVar(&size, "m", "64K", "of a pattern, the `size` of its largest messages")
	flags.StringVar(&messages, "messages", "", "a `file` like MATRIX with numbers of messages in the place of bytes")
	flags.StringVar(&req.params, "params", "", "parameters of a machine, a `file` of taulop sweep or pairs, or in the published text format")
	flags.StringVar(&req.root, "root", "", "map to the machine whose sys and proc are below `DIR` (default this one, or that of -params)")
	flags.StringVar(&req.net, "net", "", "network between nodes, a `file` of taulop net or in the published text format (default what -params has)")
	flags.IntVar(&req.nodes, "nodes", 0, "`nodes` like the machine (default 1, or those of -hosts)")
	argument.Var(flags, &req.hosts, "hosts", "", "`names` of the nodes, with commas between (default localhost, or +n0, +n1 … as mpirun numbers those that it is given)", argument.Names)
	flags.StringVar(&req.cache, "cache", "in", "where user data are when times are predicted: in, off")
	req.state.add(flags, mixture)
	argument.Var(flags, &req.Methods, "method", "", "`list` of ways to map: "+strings.Join(processmap.Methods, ", ")+" (default all that there is time for)", argument.Among(processmap.Methods))
	flags.DurationVar(&req.Time, "time", 3*time.Second, "time that exchanging processes may take at the most")
	flags.StringVar(&req.format, "format", "", "write the cheapest mapping for a `launcher`: "+strings.Join(processmap.LauncherNames(), ", "))
	req.destination.add(flags)
	words, err := parseWords(flags, out, args, mapHelp())
	if err != nil {
		return err
	}
	req.given = givenFlags(flags)
	switch {
	case len(words) == 0:
		return usagef("say what to map: a communication matrix, or with -P a pattern: %s", strings.Join(comm.Names(), ", "))
	case req.given["P"] && (p < 1 || p > comm.MaxRanks):
		return usagef("-P is %d: give 1 to %d processes", p, comm.MaxRanks)
	case req.given["nodes"] && (req.nodes < 1 || req.nodes > heuristic.MaxPlaces):
		return usagef("-nodes is %d: give 1 to %d", req.nodes, heuristic.MaxPlaces)
	case req.Time <= 0:
		return usagef("-time is %v: give a time above zero, like 5s", req.Time)
	case req.format != "" && req.destination.format() != nil:
		return usagef("-format, and -json or -csv, cannot be used together: choose one")
	case req.format != "" && !slices.Contains(processmap.LauncherNames(), req.format):
		return usagef("-format is %q: take one of %s", req.format, strings.Join(processmap.LauncherNames(), ", "))
	case req.given["state"] && req.params == "":
		return usagef("-state is of parameters: name their file with -params, or leave -state out")
	case req.net != "" && req.params == "":
		return usagef("-net says what messages between nodes take, and those within them come from -params: name a file of taulop sweep, or leave -net out")
	}
	if err := req.destination.check(); err != nil {
		return err
	}
	if req.offCache, err = argument.Cache(req.cache); err != nil {
		return usagef("-cache: %v", err)
	}
	if len(req.hosts) > 0 {
		if req.nodes == 0 {
			req.nodes = len(req.hosts)
		}
		if req.nodes != len(req.hosts) {
			return usagef("-hosts names %d nodes, and -nodes is %d: give as many names", len(req.hosts), req.nodes)
		}
		for _, host := range req.hosts {
			if len(host) > 253 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '=' || r == '#' || r == 0x7f }) {
				return usagef("-hosts: %.60q is no name of a node", host)
			}
		}
	}
	if err := req.matrix(words, p, size, messages); err != nil {
		return err
	}
	if req.Methods == nil {
		req.Methods = slices.Clone(processmap.Methods)
		if req.Matrix.Ranks() > heuristic.MaxSearched {
			req.Methods = slices.DeleteFunc(req.Methods, func(m string) bool { return m == processmap.ES })
		}
	}
	return req.machine()
}

// matrix reads or makes what is to be mapped.
func (req *mapRequest) matrix(words []string, p int, size, messages string) error {
	pattern := comm.Lookup(words[0])
	switch {
	case pattern != nil && len(words) > 1:
		return usagef("%s is a pattern, and %s is one word too many", words[0], printable.Name(words[1]))
	case pattern != nil && p == 0:
		return usagef("-P is missing: say of how many processes %s is, like -P 16", pattern.Name)
	case pattern != nil && messages != "":
		return usagef("-messages is of a file: leave it out of a pattern")
	case pattern != nil:
		bytes, err := argument.Some(size)
		if err != nil {
			return usagef("-m: %v", err)
		}
		if req.Matrix, err = pattern.Matrix(p, int64(bytes)); err != nil {
			return usagef("-P: %v", err)
		}
		return nil
	case req.given["m"]:
		return usagef("-m is of a pattern, and a file has its own sizes: leave it out")
	}
	if len(words) == 1 && !isFile(words[0]) && !strings.ContainsAny(words[0], "./\\") {
		return usagef("%s is neither a file nor a pattern; %s", printable.Name(words[0]), spelling.Suggest(words[0], comm.Names()))
	}
	var err error
	if req.Matrix, err = readMatrix(words); err != nil {
		return usagef("%v", err)
	}
	if messages != "" {
		counts, err := readMatrix([]string{messages})
		if err != nil {
			return usagef("-messages: %v", err)
		}
		if err := req.Matrix.WithMessages(counts); err != nil {
			return usagef("-messages: %v", err)
		}
	}
	if ranks := req.Matrix.Ranks(); p > 0 && p != ranks {
		return usagef("%s is of %d processes, and -P is %d: leave -P out, or give another file", printable.Name(words[0]), ranks, p)
	}
	return nil
}

// readMatrix reads a file, or those of Open MPI's monitoring component together.
func readMatrix(paths []string) (*comm.Matrix, error) {
	var files []io.Reader
	for _, path := range paths {
		f, err := infile.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if files = append(files, f); len(paths) == 1 {
			break
		}
		first := make([]byte, 256)
		n, err := io.ReadFull(f, first)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s cannot be read: %w", path, err)
		}
		if !comm.IsMonitoring(first[:n]) {
			return nil, fmt.Errorf("%s is no file of Open MPI's monitoring component, which has one for each process: of other matrices give one", path)
		}
		files[len(files)-1] = io.MultiReader(strings.NewReader(string(first[:n])), f, strings.NewReader("\n"))
	}
	name := paths[0]
	if len(paths) > 1 {
		name = fmt.Sprintf("%s … %s", filepath.Base(paths[0]), filepath.Base(paths[len(paths)-1]))
	}
	return comm.Read(io.MultiReader(files...), name)
}

// machine finds the cores, and what messages between them take.
func (req *mapRequest) machine() error {
	if req.root != "" {
		if info, err := os.Stat(req.root); err != nil || !info.IsDir() {
			return usagef("-root %s is not a directory: name the one that holds the machine's sys and proc", req.root)
		}
	}
	if req.params == "" {
		return req.topology()
	}
	f, err := compare.Read(req.params)
	if err != nil {
		return usagef("-params: %v", err)
	}
	if err := req.state.one(&f); err != nil {
		return err
	}
	if f.File.OfLevels() {
		return usagef("-params %s: it has messages by levels and no transfers, and rounds of messages are predicted from transfers alone: name a file of taulop sweep or pairs, or leave -params out, and hop-bytes are minimised", req.params)
	}
	network, err := req.network()
	if err != nil {
		return err
	}
	choice := model.Choice{OffCache: req.offCache}
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
			return usagef("%d nodes need a network between them, and %s has none: name one with -net, a file of taulop net or a table such as IB.txt", nodes, req.params)
		}
		choice.Cluster = &model.Cluster{Nodes: nodes, Network: network}
		predictor, lacking = model.NewPredictor(f.File, choice)
	}
	if lacking == nil {
		req.Model = processmap.NewModel(f.File, predictor, places)
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
	root, name := req.root, printable.Name(req.root)
	if root == "" {
		root, name = "/", "this machine"
	}
	m, err := numa.Discover(root)
	switch {
	case err != nil && req.root != "":
		return usagef("-root %v", err)
	case err != nil:
		return err
	}
	if req.Machine, err = processmap.OfTopology(m, name, max(1, req.nodes)); err != nil {
		return usagef("%v", err)
	}
	req.Machine.Hosts = req.hosts
	return nil
}

func (req *mapRequest) network() (*model.Network, error) {
	if req.net == "" {
		return nil, nil
	}
	c := clusterFlags{net: req.net}
	network, err := readNetwork(c.network())
	if err != nil {
		return nil, usagef("-net: %v", err)
	}
	return network, nil
}
