// Package hwloc writes a parameter file's latencies and bandwidths as hwloc's memory attributes, by
// initiator, the CPUs of a node, and target, the node of the memory. The format is XML of hwloc 2, which
// hwloc 3 reads, too: lstopo --memattrs -i FILE shows it.
package hwloc

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// hwloc's names of attributes and its flags: 4 needs an initiator, 1 higher is better, 2 lower is
// better.
const (
	bandwidth, readBandwidth, latency = "Bandwidth", "ReadBandwidth", "Latency"
	higher, lower                     = 5, 6
)

// A path is from the CPUs of a node to the memory of a node.
type path struct{ initiator, target int }

type object struct {
	XMLName  xml.Name `xml:"object"`
	Type     string   `xml:"type,attr"`
	Index    *int     `xml:"os_index,attr"`
	CPUs     string   `xml:"cpuset,attr"`
	Complete string   `xml:"complete_cpuset,attr"`
	Allowed  string   `xml:"allowed_cpuset,attr,omitempty"`
	Nodes    string   `xml:"nodeset,attr"`
	AllNodes string   `xml:"complete_nodeset,attr"`
	MayNodes string   `xml:"allowed_nodeset,attr,omitempty"`
	ID       int      `xml:"gp_index,attr"`
	Memory   string   `xml:"local_memory,attr,omitempty"`
	Infos    []info   `xml:"info"`
	Objects  []*object
}

type info struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type attribute struct {
	XMLName xml.Name `xml:"memattr"`
	Name    string   `xml:"name,attr"`
	Flags   int      `xml:"flags,attr"`
	Values  []value  `xml:"memattr_value"`
}

type value struct {
	Type      string `xml:"target_obj_type,attr"`
	Target    int    `xml:"target_obj_gp_index,attr"`
	Value     int64  `xml:"value,attr"`
	Initiator string `xml:"initiator_cpuset,attr"`
}

type topology struct {
	XMLName    xml.Name `xml:"topology"`
	Version    string   `xml:"version,attr"`
	Machine    *object
	Attributes []attribute
}

// Write writes a topology of nodes and CPUs with the latency of memory reads, and the bandwidth of
// copies off cache, read and written bytes together, and of passes that read memory, the maximum over
// all τ. It fails for a file without placements, and without a latency or bandwidth of one node's
// memory.
func Write(w io.Writer, f *params.File) error {
	nodes := nodesOf(f)
	if len(nodes) == 0 {
		return errors.New("the file does not say on which nodes its workers were: sweep the machine")
	}
	t := topology{Version: "2.0"}
	targets := t.build(f, nodes)
	for _, measured := range []struct {
		name   string
		flags  int
		values map[path]float64
	}{{bandwidth, higher, copies(f)}, {latency, lower, latencies(f)}, {readBandwidth, higher, reads(f)}} {
		a := attribute{Name: measured.name, Flags: measured.flags}
		for _, from := range slices.Sorted(maps.Keys(nodes)) {
			for _, to := range slices.Sorted(maps.Keys(targets)) {
				if v := measured.values[path{from, to}]; v > 0 {
					a.Values = append(a.Values, value{"NUMANode", targets[to], int64(math.Round(v)), bitmap(nodes[from])})
				}
			}
		}
		if len(a.Values) > 0 {
			t.Attributes = append(t.Attributes, a)
		}
	}
	if len(t.Attributes) == 0 {
		return errors.New("the file knows neither latency nor bandwidth of one node's memory: sweep the machine off cache, too")
	}
	if _, err := io.WriteString(w, xml.Header+"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(t); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// nodesOf are the CPUs of each node: workers' CPUs and their siblings.
func nodesOf(f *params.File) map[int]numa.CPUSet {
	nodes, placed := make(map[int]numa.CPUSet), make(map[int]bool)
	add := func(cpu, node int) {
		if !placed[cpu] {
			placed[cpu], nodes[node] = true, lists.Insert(nodes[node], cpu)
		}
	}
	for _, p := range f.Placements {
		for _, w := range p.Workers {
			add(w.ID, w.Node)
		}
	}
	for _, level := range f.Provenance.Levels {
		if level.Name != numa.Siblings {
			continue
		}
		for node, cpus := range nodes {
			for _, core := range level.Groups {
				if slices.ContainsFunc(core, func(cpu int) bool { return slices.Contains(cpus, cpu) }) {
					for _, cpu := range core {
						add(cpu, node)
					}
				}
			}
		}
	}
	return nodes
}

// build makes the tree, with a group of memory and CPUs for each of several nodes. It returns the
// objects' IDs of nodes with memory.
func (t *topology) build(f *params.File, nodes map[int]numa.CPUSet) (targets map[int]int) {
	targets = make(map[int]int)
	all := numa.SetOf(slices.Concat(slices.Collect(maps.Values(nodes))...)...)
	var memory []int
	for _, p := range f.Placements {
		for _, w := range p.Workers {
			memory = lists.Insert(lists.Insert(memory, w.UserNode), w.Node)
		}
	}
	id := 0
	make := func(kind string, index int, cpus numa.CPUSet, nodes ...int) *object {
		id++
		o := &object{Type: kind, CPUs: bitmap(cpus), Complete: bitmap(cpus), Nodes: bitmap(nodes), AllNodes: bitmap(nodes), ID: id}
		if index >= 0 {
			o.Index = &index
		}
		return o
	}
	t.Machine = make("Machine", 0, all, memory...)
	t.Machine.Allowed, t.Machine.MayNodes = t.Machine.CPUs, t.Machine.Nodes
	p := f.Provenance
	for _, i := range []info{{"HostName", p.Hostname}, {"CPUModel", p.CPUModel}, {"MeasuredBy", "taulop " + p.Taulop + ", " + p.Time}} {
		if i.Value != "" {
			t.Machine.Infos = append(t.Machine.Infos, i)
		}
	}
	for _, node := range memory {
		parent, cpus := t.Machine, nodes[node]
		if len(cpus) > 0 && len(memory) > 1 {
			parent = make("Group", -1, cpus, node)
			t.Machine.Objects = append(t.Machine.Objects, parent)
		}
		local := cpus
		if len(local) == 0 { // memory only
			local = all
		}
		o := make("NUMANode", node, local, node)
		o.Memory = "0"
		targets[node] = o.ID
		parent.Objects = append(parent.Objects, o)
		for _, cpu := range cpus {
			parent.Objects = append(parent.Objects, make("PU", cpu, numa.CPUSet{cpu}, node))
		}
	}
	return targets
}

// bitmap is a set in hwloc's format, the highest 32 bits first.
func bitmap[S ~[]int](set S) string {
	most := slices.Max(append([]int{0}, set...))
	words := make([]uint32, most/32+1)
	for _, i := range set {
		words[len(words)-1-i/32] |= 1 << (i % 32)
	}
	return strings.Join(lists.Map(words, func(w uint32) string { return fmt.Sprintf("0x%08x", w) }), ",")
}

// pathOf is the path of a placement's first τ workers to their user buffers, if they have the same.
func pathOf(f *params.File, policy numa.Policy, tau int) (p path, same bool) {
	i := slices.IndexFunc(f.Placements, func(p numa.Placement) bool { return p.Policy == policy })
	if i < 0 || tau < 1 || tau > len(f.Placements[i].Workers) {
		return p, false
	}
	workers := f.Placements[i].Workers[:tau]
	p = path{workers[0].Node, workers[0].UserNode}
	return p, !slices.ContainsFunc(workers, func(w numa.Worker) bool { return w.Node != p.initiator || w.UserNode != p.target })
}

// latencies are the times of reads of lines that no cache has, in ns, with the fewest workers.
func latencies(f *params.File) map[path]float64 {
	all, fewest := make(map[path]float64), make(map[path]int)
	for _, l := range f.Loads() {
		if p, same := pathOf(f, l.Placement, l.Tau); same && l.Known() && (fewest[p] == 0 || l.Tau < fewest[p]) {
			all[p], fewest[p] = l.Flushed, l.Tau
		}
	}
	return all
}

// copies are bandwidths in MiB/s of copies from memory to memory: each byte is read and written.
func copies(f *params.File) map[path]float64 {
	return most(f, func(c *params.Cell) float64 {
		if c.Kind != params.CopyCell {
			return 0
		}
		return 2 * float64(c.Bytes)
	})
}

// reads are bandwidths in MiB/s of passes that read each line of an array.
func reads(f *params.File) map[path]float64 {
	return most(f, func(c *params.Cell) float64 {
		p, is := access.PassOf(c.Key)
		if !is || p.Operation != "read" {
			return 0
		}
		const line = 64
		return float64(p.Lines(line) * line)
	})
}

// most is the highest bandwidth of each path, by off-cache cells that move this number of bytes.
func most(f *params.File, bytes func(*params.Cell) float64) map[path]float64 {
	all := make(map[path]float64)
	for i := range f.Cells {
		c := &f.Cells[i]
		moved := bytes(c)
		p, same := pathOf(f, c.Placement, c.Tau)
		if moved == 0 || !c.OffCache || !same || !(c.Time.Center > 0) {
			continue
		}
		all[p] = max(all[p], float64(c.Tau)*moved/(c.Time.Center/float64(max(1, c.Transfers)))*1e9/(1<<20))
	}
	return all
}
