package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping/heuristic"
)

// mostListed is the number of processes up to which text lists a mapping.
const mostListed = 256

// ProcessMap has mappings of a program's processes to a machine's cores.
func ProcessMap(r *processmap.Result) *document.Document {
	return made("taulop map", r, mapValues, sayMap)
}

func sayMap(r *processmap.Result, w *document.Document) {
	if best := r.Mapping(r.Best); r.Pairs > 0 && best != nil {
		switch block, cyclic := gain(best.OverBlock), gain(best.OverCyclic); {
		case block == "0.0" && cyclic == "0.0":
			fmt.Fprintf(w, "The order makes no difference: block and cyclic have the %s of the best mapping found, within 0.1 %%.\n", ranking(r))
		case r.Best == "block":
			fmt.Fprintln(w, "No mapping found is cheaper than block.")
		case block == "0.0":
			fmt.Fprintln(w, "No mapping found is cheaper than block by 0.1 %.")
		default:
			fmt.Fprintf(w, "The cheapest mapping is %s: it saves %s %% of block's %s, %s %% of cyclic's.\n", r.Best, block, ranking(r), cyclic)
		}
	}
	fmt.Fprintf(w, "%s: %s, ", printable.Name(r.Matrix), printable.Count(r.Processes, "rank"))
	if r.Pairs == 0 {
		fmt.Fprint(w, "none of which sends another anything: all mappings cost nothing\n")
	} else {
		fmt.Fprintf(w, "%s of them %s, %s in %s\n", printable.Count(r.Pairs, "pair"), map[bool]string{true: "communicates", false: "communicate"}[r.Pairs == 1],
			cmp.Or(strings.Trim(rounded(r.Bytes), "-"), "0 B"), printable.Count(int(r.Messages), "message"))
	}
	fmt.Fprintf(w, "machine: %s, %s of %s\n", printable.Name(r.Machine), printable.Count(r.Nodes, "node"), printable.Count(len(r.Cores), "core"))
	w.Lines(printable.If(r.Predicted != "", "predicted by "+r.Predicted))
	w.Tables(mapCosts(r))
	if r.Pairs > 0 {
		w.Tables(perLevel(r, "bytes at each level, %", func(l processmap.LevelCost) string { return share(float64(l.Bytes) / max(1, float64(r.Bytes))) }))
		if r.Predicted != "" {
			w.Tables(perLevel(r, "predicted time in which the program waits for each level, µs", func(l processmap.LevelCost) string { return view.Digits(l.Seconds*1e6, 0) }))
		}
	}
	fmt.Fprintln(w)
	sayMapping(r, w)
}

// ranking is the quantity that mappings are ranked by.
func ranking(r *processmap.Result) string {
	return printable.Either(r.Predicted != "", "time", "hop-bytes")
}

func mapCosts(r *processmap.Result) view.Table {
	least := slices.Min(lists.Map(r.Mappings, func(m processmap.Mapping) int64 { return m.HopBytes }))
	unit, scale := view.ByteUnit(float64(least), 1000, 1024, binaryUnits...)
	t := view.Table{Columns: append(view.Words("mapping"), view.Column{Name: "hop-bytes", Unit: unit})}
	if r.Predicted != "" {
		t.Columns = append(t.Columns, view.Column{Name: "predicted", Unit: "µs"})
	}
	t.Columns = append(t.Columns, view.Column{Name: "over block", Unit: "%"}, view.Column{Name: "over cyclic", Unit: "%"})
	extrapolated := false
	for i := range r.Mappings {
		m := &r.Mappings[i]
		cells := []any{m.Method + printable.If(m.Method == r.Best, "*"), view.Digits(float64(m.HopBytes)/scale, 0)}
		if m.Seconds != nil {
			cells = append(cells, microseconds(*m.Seconds*1e6, m.Extrapolated))
			extrapolated = extrapolated || m.Extrapolated
		} else if r.Predicted != "" {
			cells = append(cells, "–")
		}
		t.Add(append(cells, gain(m.OverBlock), gain(m.OverCyclic))...)
	}
	t.Note("* the cheapest; the last two columns are what a mapping saves of the %s of block and of cyclic", ranking(r))
	t.NoteIf(extrapolated, beyond)
	m := r.Mapping(processmap.Swaps)
	t.NoteIf(m != nil && !m.LocalBest, "swaps was stopped by its time; a longer one may find a cheaper mapping")
	for _, why := range r.LeftOut {
		t.Note("left out: %s", printable.Sentence(why))
	}
	return t
}

func gain(share *float64) string {
	if share == nil {
		return "–"
	}
	return strings.Replace(fmt.Sprintf("%.1f", 100**share), "-0.0", "0.0", 1)
}

// perLevel has a cell for each mapping and each level where some mapping has messages.
func perLevel(r *processmap.Result, title string, cell func(processmap.LevelCost) string) view.Table {
	t := view.Table{Title: title, Columns: view.Words("mapping")}
	var shown []int
	for level, name := range r.Levels {
		if slices.ContainsFunc(r.Mappings, func(m processmap.Mapping) bool { return m.Levels[level].Messages > 0 }) {
			t.Columns = append(t.Columns, view.Column{Name: printable.Name(name), Unit: printable.Count(heuristic.Hops(level), "hop")})
			shown = append(shown, level)
		}
	}
	for _, m := range r.Mappings {
		t.Add(m.Method, lists.Map(shown, func(level int) string { return cell(m.Levels[level]) }))
	}
	return t
}

// sayMapping lists the processes on each package under the cheapest mapping.
func sayMapping(r *processmap.Result, w *document.Document) {
	m := r.Mapping(r.Best)
	if r.Processes > mostListed {
		fmt.Fprintf(w, "%d processes are too many to list here: files for MPI libraries and JSON have where each is\n", r.Processes)
		return
	}
	processes := slices.Repeat([]string{"–"}, r.Nodes*len(r.Cores)) // by place
	for process, place := range m.Places {
		processes[place] = strconv.Itoa(process)
	}
	cores := lists.Indices(len(r.Cores)) // by package
	slices.SortFunc(cores, func(a, b int) int {
		return cmp.Or(r.Cores[a].Package-r.Cores[b].Package, r.Cores[a].Core-r.Cores[b].Core)
	})
	t := view.Table{Title: fmt.Sprintf("%s: processes on the cores of each package, in the order of its cores", r.Best),
		Columns: append(view.Words("node"), view.Column{Name: "package"}, view.Column{Name: "processes", Left: true})}
	const perLine = 16
	for node := range r.Nodes {
		for _, inPackage := range lists.Groups(cores, func(core int) int { return r.Cores[core].Package }) {
			host, pack := printable.Name(r.Host(node)), strconv.Itoa(r.Cores[inPackage[0]].Package)
			for chunk := range slices.Chunk(inPackage, perLine) {
				t.Add(host, pack, strings.Join(lists.Map(chunk, func(core int) string { return processes[node*len(r.Cores)+core] }), " "))
				host, pack = "", ""
			}
		}
	}
	w.Table(t)
}

// mapValues have a row for each mapping and level; the mapping's total cost repeats.
func mapValues(r *processmap.Result) view.Table {
	t := view.Table{Columns: view.Words("matrix", "processes", "nodes", "mapping", "best", "hop_bytes", "predicted_ns", "gain_over_block", "gain_over_cyclic", "extrapolated",
		"level", "hops", "level_bytes", "level_messages", "level_predicted_ns")}
	for _, m := range r.Mappings {
		for i, level := range m.Levels {
			ns, levelNs := math.NaN(), math.NaN()
			if m.Seconds != nil {
				ns, levelNs = *m.Seconds*1e9, level.Seconds*1e9
			}
			t.Add(r.Matrix, r.Processes, r.Nodes, m.Method, m.Method == r.Best, m.HopBytes, ns, m.OverBlock, m.OverCyclic, m.Extrapolated,
				r.Levels[i], heuristic.Hops(i), level.Bytes, level.Messages, levelNs)
		}
	}
	return t
}
