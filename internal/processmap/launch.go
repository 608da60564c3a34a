package processmap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/lists"
)

// A Launcher starts programs with an option or a file that puts processes on cores.
type Launcher struct {
	Name, About string
	write       func(r *Result, m *Mapping, w io.Writer) error
}

// Launchers are all launchers.
var Launchers = []Launcher{
	{"openmpi", "a rankfile, for mpirun --rankfile FILE of Open MPI 4.1, or --map-by rankfile:file=FILE of 5", rankfile},
	{"mpich", "arguments for mpiexec of MPICH", func(r *Result, m *Mapping, w io.Writer) error {
		return oneList(r, m, w, "-bind-to user:%s\n")
	}},
	{"slurm", "arguments for srun, with a hosts file in SLURM_HOSTFILE where there are several nodes", func(r *Result, m *Mapping, w io.Writer) error {
		format := "--cpu-bind=map_cpu:%s\n"
		if r.Nodes > 1 {
			format = "--distribution=arbitrary " + format
		}
		return oneList(r, m, w, format)
	}},
	{"hosts", "the node of each process, a line each, for SLURM_HOSTFILE or mpiexec -f of MPICH", hosts},
}

// LauncherNames are the names of all launchers.
func LauncherNames() (names []string) {
	return lists.Map(Launchers, func(l Launcher) string { return l.Name })
}

// WriteFor writes a mapping in a launcher's format. It fails if the format cannot express it.
func (r *Result) WriteFor(launcher string, m *Mapping, w io.Writer) error {
	i := slices.IndexFunc(Launchers, func(l Launcher) bool { return l.Name == launcher })
	if i < 0 {
		return fmt.Errorf("unknown launcher %q: take one of %s", launcher, strings.Join(LauncherNames(), ", "))
	}
	b := bufio.NewWriter(w)
	if err := Launchers[i].write(r, m, b); err != nil {
		return err
	}
	return b.Flush()
}

// rankfile writes a line for each process, with its package and core by logical numbers.
func rankfile(r *Result, m *Mapping, w io.Writer) error {
	if r.part {
		return errPart
	}
	for process := range m.Places {
		node, core := r.Place(m, process)
		fmt.Fprintf(w, "rank %d=%s slot=%d:%d\n", process, r.Host(node), core.Package, core.Core)
	}
	return nil
}

// errPart: cores have no logical numbers.
var errPart = errors.New("a rankfile counts all cores, and the file has workers on some of them: sweep the machine with a worker on each core, or map by its topology alone")

// errLists: the launcher has one list for all nodes.
var errLists = errors.New("the processes of each node are on other CPUs, in their order, and the launcher has one list for all nodes: take a rankfile of Open MPI, or another mapping")

// oneList writes the CPUs of a node's processes, in the order of processes.
func oneList(r *Result, m *Mapping, w io.Writer, format string) error {
	nodes := make([][]string, r.Nodes)
	for process := range m.Places {
		node, core := r.Place(m, process)
		nodes[node] = append(nodes[node], strconv.Itoa(core.CPU))
	}
	var longest []string
	for _, list := range nodes {
		shorter := min(len(list), len(longest))
		if !slices.Equal(list[:shorter], longest[:shorter]) {
			return errLists
		}
		if len(list) > len(longest) {
			longest = list
		}
	}
	fmt.Fprintf(w, format, strings.Join(longest, ","))
	return nil
}

// ErrHosts: the nodes have no names.
var ErrHosts = errors.New("the nodes have no names: give them")

func hosts(r *Result, m *Mapping, w io.Writer) error {
	if len(r.Hosts) < r.Nodes {
		return ErrHosts
	}
	for process := range m.Places {
		node, _ := r.Place(m, process)
		fmt.Fprintln(w, r.Host(node))
	}
	return nil
}
