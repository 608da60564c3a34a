package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/processmap"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/mapping/heuristic"
)

// mostListed is how many processes of a mapping are listed.
const mostListed = 256

// ProcessMap is a program's processes on a machine's cores.
func ProcessMap(r *processmap.Result) *document.Document {
	return document.New("taulop map", r, document.Rows((*processMap)(r).values), (*processMap)(r).say)
}

type processMap processmap.Result

// say writes what each mapping costs, over all and at each level, and where processes
// are under the cheapest.
func (r *processMap) say(w *document.Document) {
	if best := (*processmap.Result)(r).Mapping(r.Best); r.Pairs > 0 && best != nil {
		what := map[bool]string{true: "time", false: "hop-bytes"}[r.Predicted != ""]
		if r.Best == "block" {
			fmt.Fprintln(w, "No mapping found is cheaper than block.")
		} else {
			fmt.Fprintf(w, "The cheapest mapping is %s: it saves %s %% of block's %s, %s %% of cyclic's.\n", r.Best, gain(best.OverBlock), what, gain(best.OverCyclic))
		}
	}
	fmt.Fprintf(w, "%s: %s, ", printable.Name(r.Matrix), printable.Count(r.Processes, "rank"))
	if r.Pairs == 0 {
		fmt.Fprint(w, "none of which sends another anything: all mappings cost nothing\n")
	} else {
		fmt.Fprintf(w, "%s of them %s, %s in %s\n", printable.Count(r.Pairs, "pair"), map[bool]string{true: "communicates", false: "communicate"}[r.Pairs == 1],
			rounded(r.Bytes), printable.Count(int(r.Messages), "message"))
	}
	fmt.Fprintf(w, "machine: %s, %s of %s\n", printable.Name(r.Machine), printable.Count(r.Nodes, "node"), printable.Count(len(r.Cores), "core"))
	if r.Predicted != "" {
		fmt.Fprintf(w, "predicted by %s\n", r.Predicted)
	}
	w.Tables(r.costs())
	if r.Pairs > 0 {
		w.Tables(r.perLevel("bytes at each level, %", func(l processmap.LevelCost) string { return share(float64(l.Bytes) / max(1, float64(r.Bytes))) }))
		if r.Predicted != "" {
			w.Tables(r.perLevel("predicted time in which the program waits for each level, µs", func(l processmap.LevelCost) string { return view.Digits(l.Seconds*1e6, 0) }))
		}
	}
	fmt.Fprintln(w)
	r.writeMapping(w)
}

func (r *processMap) costs() view.Table {
	least, unit := int64(math.MaxInt64), 0
	for _, m := range r.Mappings {
		least = min(least, m.HopBytes)
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	scale := 1.
	for float64(least) >= 1000*scale && unit+1 < len(units) {
		scale, unit = 1024*scale, unit+1
	}
	t := view.Table{Columns: append(view.Words("mapping"), view.Column{Name: "hop-bytes", Unit: units[unit]})}
	if r.Predicted != "" {
		t.Columns = append(t.Columns, view.Column{Name: "predicted", Unit: "µs"})
	}
	t.Columns = append(t.Columns, view.Column{Name: "over block", Unit: "%"}, view.Column{Name: "over cyclic", Unit: "%"})
	extrapolated := false
	for i := range r.Mappings {
		m := &r.Mappings[i]
		name := m.Method
		if name == r.Best {
			name += "*"
		}
		cells := []any{name, view.Digits(float64(m.HopBytes)/scale, 0)}
		if m.Seconds != nil {
			cells = append(cells, microseconds(*m.Seconds*1e6, m.Extrapolated))
			extrapolated = extrapolated || m.Extrapolated
		} else if r.Predicted != "" {
			cells = append(cells, "–")
		}
		t.Add(append(cells, gain(m.OverBlock), gain(m.OverCyclic))...)
	}
	t.Note("* the cheapest; the last two columns are what a mapping saves of the %s of block and of cyclic", map[bool]string{true: "time", false: "hop-bytes"}[r.Predicted != ""])
	if extrapolated {
		t.Note(beyond)
	}
	if m := (*processmap.Result)(r).Mapping(processmap.Swaps); m != nil && !m.LocalBest {
		t.Note("swaps was stopped by its time; a longer one may find a cheaper mapping")
	}
	for _, why := range r.LeftOut {
		t.Note("left out: %s", printable.Sentence(why))
	}
	return t
}

func gain(share *float64) string {
	if share == nil {
		return "–"
	}
	text := fmt.Sprintf("%.1f", 100**share)
	if text == "-0.0" {
		text = "0.0"
	}
	return strings.Replace(text, "-", "−", 1)
}

// levels are the levels that two cores can be at, with the hops of each.
func (r *processMap) levels() (columns []view.Column, shown []int) {
	for level, name := range r.Levels {
		if slices.ContainsFunc(r.Mappings, func(m processmap.Mapping) bool { return m.Levels[level].Messages > 0 }) {
			columns = append(columns, view.Column{Name: printable.Name(name), Unit: printable.Count(heuristic.Hops(level), "hop")})
			shown = append(shown, level)
		}
	}
	return columns, shown
}

// perLevel has a cell for each mapping and level.
func (r *processMap) perLevel(title string, cell func(processmap.LevelCost) string) view.Table {
	columns, shown := r.levels()
	t := view.Table{Title: title, Columns: append(view.Words("mapping"), columns...)}
	for _, m := range r.Mappings {
		t.Add(m.Method, lists.Map(shown, func(level int) string { return cell(m.Levels[level]) }))
	}
	return t
}

// writeMapping lists the processes of each package under the cheapest mapping.
func (r *processMap) writeMapping(w *document.Document) {
	all := (*processmap.Result)(r)
	m := all.Mapping(r.Best)
	if r.Processes > mostListed {
		fmt.Fprintf(w, "%d processes are too many to list here: files for MPI libraries and JSON have where each is\n", r.Processes)
		return
	}
	type part struct{ node, pack int }
	on := make(map[int]int)
	for process, place := range m.Places {
		on[place] = process
	}
	t := view.Table{Title: fmt.Sprintf("%s: processes on the cores of each package, in the order of its cores", r.Best),
		Columns: append(view.Words("node"), view.Column{Name: "package"}, view.Column{Name: "processes", Left: true})}
	lines := make(map[part][]string)
	var order []part
	for node := range r.Nodes {
		cores := make([]int, len(r.Cores))
		for i := range cores {
			cores[i] = i
		}
		slices.SortFunc(cores, func(a, b int) int {
			if x, y := r.Cores[a], r.Cores[b]; x.Package != y.Package {
				return x.Package - y.Package
			} else {
				return x.Core - y.Core
			}
		})
		for _, core := range cores {
			key := part{node, r.Cores[core].Package}
			if lines[key] == nil {
				order = append(order, key)
			}
			text := "–"
			if process, there := on[node*len(r.Cores)+core]; there {
				text = fmt.Sprint(process)
			}
			lines[key] = append(lines[key], text)
		}
	}
	const perLine = 16
	for _, key := range order {
		host, pack := printable.Name(all.Host(key.node)), fmt.Sprint(key.pack)
		for chunk := range slices.Chunk(lines[key], perLine) {
			t.Add(host, pack, strings.Join(chunk, " "))
			host, pack = "", ""
		}
	}
	w.Table(t)
}
