package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// Sweep is the result of a sweep: the first L, y and A, whether the file is fit for use, advice, and all
// tables.
func Sweep(f *params.File, r Reach) *document.Document {
	return document.New("", f, f, func(w *document.Document) {
		sayFirst(w, f)
		fmt.Fprintf(w, "%s\n\n", r.fitness(f))
		sayMeasured(w, f)
	})
}

// Measured has all tables of a parameter file: transfers in each state of the machine, surveys, and the
// widths of intervals.
func Measured(f *params.File) *document.Document {
	return document.New("", f, f, func(w *document.Document) {
		if sayFirst(w, f); !w.Empty() {
			fmt.Fprintln(w)
		}
		sayMeasured(w, f)
	})
}

func sayMeasured(w *document.Document, f *params.File) {
	in := inEach(f)
	for _, m := range in {
		fmt.Fprintf(w, "%s of the time:\n\n", view.Capital(compare.InWords(*m.File.State())))
		writeMessages(w, m.File)
	}
	if len(in) == 0 {
		writeMessages(w, f)
	} else {
		writeCopies(w, in)
	}
	var more document.Document
	more.TablesAbove(firstCPUs(f)...)
	for _, s := range survey.All() {
		if found := s.Found(f); found != "" {
			fmt.Fprintf(&more, "%s\n\n", found)
		}
		s.Say(&more, f)
	}
	if len(in) > 0 && !more.Empty() {
		fmt.Fprint(w, "Of what follows times are means over the states by their shares.\n\n")
	}
	w.Append(&more)
	w.Lines(prepared(f.Provenance)...)
	sayReach(w, f)
}

// writeMessages writes transfers and overheads of messages.
func writeMessages(w *document.Document, f *params.File) {
	for _, segments := range f.Plan.AllSegments() {
		for _, bytes := range f.Plan.AllSegmentBytes() {
			writeTransfers(w, f, segments, bytes)
		}
	}
	w.TablesAbove(overheads(f)...)
}

// writeCopies writes y and c of each setup in each state.
func writeCopies(w *document.Document, in []compare.Machine) {
	plan := in[0].File.Plan
	for _, setup := range plan.Setups {
		for _, at := range places(plan) {
			w.TablesAbove(view.Filled(copies(in, setup, at.Placement, at.OffCache))...)
		}
	}
}

// places are the placements of a plan, each in all of its states of the cache.
func places(plan params.Plan) []params.Selection {
	return lists.Concat(plan.Policies, func(policy numa.Policy) []params.Selection {
		return lists.Map(plan.Caches, func(off bool) params.Selection { return params.Selection{Placement: policy, OffCache: off} })
	})
}

// writeTransfers writes a plan's transfers through buffers of a number of segments, of bytes each.
func writeTransfers(w *document.Document, f *params.File, segments, bytes int) {
	at := lists.ToMap(f.Cells, func(c params.Cell) (params.Key, params.Cell) { return c.Key, c })
	var blank []string
	through := params.Key{Segments: segments, SegmentBytes: bytes}
	first := segments == f.Plan.Segments && bytes == f.Plan.SegmentBytes
	for _, setup := range f.Plan.Setups {
		if setup == setups.Share.Name && !first { // it has no intermediate buffers
			continue
		}
		for _, in := range places(f.Plan) {
			through.Setup, through.Placement, through.OffCache = setup, in.Placement, in.OffCache
			t := transferTable(f, at, through)
			if len(t.Columns) == 0 {
				blank = append(blank, t.Title)
				continue
			}
			if len(f.Plan.MoreSegments) > 0 && setup != setups.Share.Name {
				t.Title += fmt.Sprintf("; buffers of %d segments", segments)
			}
			w.TablesAbove(t)
		}
	}
	w.Lines(printable.If(len(blank) > 0, "Not measured yet: "+strings.Join(blank, "; ")+".\n"))
}

// Survey is the result of one survey: a sentence, whether the file is fit for use, advice, tables, the
// machine, and the lines about. Its value is the file.
func Survey(f *params.File, about []string, s *survey.Survey, r Reach) *document.Document {
	return document.New("", f, f, func(w *document.Document) {
		w.Lines(s.Found(f))
		fmt.Fprintf(w, "%s\n\n", r.fitness(f))
		if states := f.States(); len(states) > 0 {
			sayStates(w, 2, states)
			fmt.Fprint(w, "Times are means over the states by their shares.\n\n")
		}
		s.Say(w, f)
		w.Lines(machine(f.Provenance))
		w.Lines(about...)
		sayReach(w, f)
	})
}

// firstCPUs compares launches that began at different L3 complexes or nodes of equal topology; no table
// if all launches began at one.
func firstCPUs(f *params.File) []view.Table {
	all := f.FirstCPUs()
	if len(all) == 0 {
		return nil
	}
	t := view.Table{
		Title:   "L3 complexes and NUMA nodes that are alike by topology: times of launches that began at one, × those of all",
		Columns: view.Numbers("first CPU", "launches"),
	}
	byPlacement := lists.Groups(all, func(c params.FirstCPU) numa.Policy { return c.Placement })
	for _, placed := range byPlacement {
		t.Columns = append(t.Columns, view.Numbers(string(placed[0].Placement))...)
		ratio := func(a, b params.FirstCPU) int { return cmp.Compare(a.Ratio.Center, b.Ratio.Center) }
		if least, most := slices.MinFunc(placed, ratio), slices.MaxFunc(placed, ratio); least.Ratio.Center > 0 {
			t.Note("%s: from CPU %d on transfers take %.1f %% longer than from CPU %d on", least.Placement, most.CPU, 100*(most.Ratio.Center/least.Ratio.Center-1), least.CPU)
		}
	}
	for _, cpu := range lists.Rising(lists.Map(all, func(c params.FirstCPU) int { return c.CPU })) {
		launches, ratios := 0, make([]string, len(byPlacement))
		for i, placed := range byPlacement {
			if c := lists.Find(placed, func(c params.FirstCPU) bool { return c.CPU == cpu }); c != nil {
				launches, ratios[i] = max(launches, c.Ratio.N), fmt.Sprintf("%.3f", c.Ratio.Center)
			}
		}
		t.Add(cpu, launches, ratios)
	}
	return []view.Table{t}
}

// overheads has a table of o(m) for each placement and state of the cache with measured messages. Notes name
// the other placements and states that share this o(m).
func overheads(f *params.File) (tables []view.Table) {
	var measured []params.Selection // of the tables
	for _, in := range places(f.Plan) {
		all := slices.DeleteFunc(f.Overheads(in), func(o params.Overhead) bool { return math.IsNaN(o.Message.Center) })
		if len(all) == 0 {
			continue
		}
		of := params.Selection{Placement: all[0].Placement, OffCache: all[0].OffCache}
		i := slices.Index(measured, of)
		if i < 0 {
			i, measured = len(tables), append(measured, of)
			tables = append(tables, overheadTable(of.Placement, of.OffCache, all, f.ExchangeOverheads(of)))
		}
		tables[i].NoteIf(of != in, "the same o(m) is taken for placement %s, %s, of which no message was measured",
			in.Placement, view.Cache(in.OffCache))
	}
	return tables
}

func overheadTable(policy numa.Policy, off bool, messages, exchanges []params.Overhead) view.Table {
	t := view.Table{
		Title:   fmt.Sprintf("o(m) in ns, placement %s, %s: what T(m), one message alone, takes beyond its transfers", policy, view.Cache(off)),
		Columns: slices.Concat(view.Numbers("m", "T(m)", "o(m)"), view.Words("95 % interval of o"), view.Numbers("T⇄(m)", "o⇄(m)"), view.Words("of o⇄")),
	}
	t.NoteIf(len(exchanges) > 0, "⇄ is of two ranks that exchange messages alone; o⇄(m) may be below zero, see docs/method.md")
	cells := func(all []params.Overhead, m int) []string {
		o := lists.Find(all, func(o params.Overhead) bool { return o.Bytes == m })
		if o == nil {
			return []string{"", "", ""}
		}
		center := printable.Either(o.Time.Known(), view.Center(o.Time), "?")                   // of a small difference of large times
		interval := printable.Either(o.Time.N == 0, "[L not measured]", view.Interval(o.Time)) // at this m
		return []string{view.Few(o.Message) + view.Center(o.Message), center, interval}
	}
	for _, m := range lists.Rising(lists.Map(slices.Concat(messages, exchanges), func(o params.Overhead) int { return o.Bytes })) {
		t.Add(view.Bytes(m), cells(messages, m), cells(exchanges, m))
	}
	t.DropEmpty()
	return t
}

// transferTable is L(m,τ) with a row for each m and a column for each τ, first the isolated transfer between
// two workers. Copies out of one buffer have c(m,τ). Without times the table has a title alone.
func transferTable(f *params.File, at map[params.Key]params.Cell, through params.Key) view.Table {
	setup, policy, off := through.Setup, through.Placement, through.OffCache
	t := view.Table{
		Title:   fmt.Sprintf("L(m,τ) in ns, %s, placement %s, %s", setup, policy, view.Cache(off)),
		Columns: view.Numbers("m"),
	}
	if through.SegmentBytes > 0 { // else a published table
		t.Title += fmt.Sprintf("; segments of %s, longer messages as a whole", view.Bytes(through.SegmentBytes))
	}
	through.Kind = params.TransferCell
	isolate := through
	isolate.Setup, isolate.Tau = setups.Isolated.Name, 1
	keys := []params.Key{isolate}
	if setup == setups.Share.Name {
		through, keys = params.Key{Kind: params.CopyCell, Setup: setup, Placement: policy, OffCache: off}, nil
		t.Title = fmt.Sprintf("c(m,τ) in ns, %s: out of one buffer, placement %s, %s", setup, policy, view.Cache(off))
	}
	for _, through.Tau = range f.Plan.Taus {
		keys = append(keys, through)
	}
	keys = slices.DeleteFunc(keys, func(k params.Key) bool {
		return !slices.ContainsFunc(f.Plan.Sizes, func(m int) bool { _, ok := at[ofSize(f, k, m)]; return ok })
	})
	if len(keys) == 0 {
		return view.Table{Title: fmt.Sprintf("%s, placement %s, %s", setup, policy, view.Cache(off))}
	}
	isolated := keys[0].Setup == setups.Isolated.Name
	for _, k := range keys {
		name := "τ=" + strconv.Itoa(k.Tau)
		switch {
		case k.Setup == setups.Isolated.Name:
			name = "L(m,1)"
		case k.Tau == 1 && isolated:
			name = "1 worker"
		}
		t.Columns = append(t.Columns, view.Numbers(name)...)
	}
	several := keys[0].Tau < keys[len(keys)-1].Tau
	if several {
		t.Columns = append(t.Columns, view.Numbers("A(τ)  ")...)
	}
	if isolated {
		note := "L(m,1) is one transfer between two workers"
		if y, ok := at[params.Key{Kind: params.NullCell, Setup: setups.Isolated.Name, Placement: policy, Tau: 1}]; ok {
			note += fmt.Sprintf(", less half of y(1) = %s ns for each transfer", view.Center(y.Time))
		}
		t.Notes = append(t.Notes, note+printable.If(several, "; A(τ) = τ·L(m,1)/L(m,τ), of the last τ of the row"))
	}
	transferRows(f, at, keys, &t)
	return t
}

// ofSize is the key for messages of m bytes, as the file has it.
func ofSize(f *params.File, k params.Key, m int) params.Key {
	k.Bytes = m
	f.Plan.Abridge(&k)
	return k
}

// Bounds are marks of A(τ) beyond its bounds 1 and τ.
type Bounds struct{ above, chance bool }

// Mark is ↑ above τ for certain, ? where the interval does not tell it from chance, and "" within the bounds.
func (b *Bounds) Mark(A fit.Estimate, tau int) string {
	switch most := float64(tau); {
	case A.Lo > most:
		b.above = true
		return "↑"
	case A.Center > most, A.Center < 1 && !(A.Hi < 1):
		b.chance = true
		return "?"
	}
	return ""
}

// Note explains the marks in a table.
func (b *Bounds) Note(t *view.Table) {
	t.NoteIf(b.above,
		"↑ more than τ: a transfer alone costs more than one of several; off cache that is so of ring, which receives where it has just sent, see docs/method.md")
	t.NoteIf(b.chance, "? outside 1 … τ by chance, as far as its samples can tell")
}

// transferRows adds a row for each size, with A(τ) of its last τ.
func transferRows(f *params.File, at map[params.Key]params.Cell, keys []params.Key, t *view.Table) {
	var bounds Bounds
	blank := 0
	for _, m := range f.Plan.Sizes {
		var times []string
		one, last := (*params.Cell)(nil), (*params.Cell)(nil) // L(m,1), and L of the largest τ
		for _, k := range keys {
			c, ok := at[ofSize(f, k, m)]
			if !ok {
				times = append(times, "")
				continue
			}
			if k.Tau == 1 && last == nil && k.Setup == keys[0].Setup { // a ring of one worker is no transfer between two
				one = f.Alone(&c)
			}
			if last = &c; k.Setup == setups.Isolated.Name && one != nil {
				last = one
			}
			times = append(times, view.Few(last.Time)+view.Center(last.Whole()))
		}
		if last == nil {
			blank++
			continue
		}
		var concurrency []string
		if len(t.Columns) > 1+len(keys) {
			concurrency = []string{""}
		}
		if one != nil && last.Tau > 1 && one.Time.Center > 0 {
			A, _ := compare.Concurrency(f, one, last)
			concurrency[0] = fmt.Sprintf("%s%.2f %s", view.Few(A), A.Center, cmp.Or(bounds.Mark(A, last.Tau), " "))
		}
		t.Add(view.Bytes(m), times, concurrency)
	}
	t.NoteIf(blank > 0, "%d of %s have no times yet and are left out", blank, printable.Count(len(f.Plan.Sizes), "size"))
	bounds.Note(t)
}
