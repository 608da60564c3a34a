package params

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// Table is L(m,τ) of whole messages and o(m), for models that ask for messages of any size: beyond
// a segment L(m,τ) is the effective time of a message that travels in segments.
//
// The column τ = 1 is setup "isolated", two processes of which only one copies at a time, as Alone
// has it, where the file has it, else the setup's own.
//
// Of an unfinished sweep it has the complete sizes, see Lacking. It fails without such transfers,
// or with fewer than two such sizes.
func (f *File) Table(s Selection) (*Table, error) { return f.table(s, Cell.Whole) }

// SegmentTable is as Table, but a message that travels in segments counts as one
// of them: beyond a segment its rows are what L(S,τ) becomes in longer messages.
func (f *File) SegmentTable(s Selection) (*Table, error) { return f.table(s, Cell.Segment) }

func (f *File) table(s Selection, value func(Cell) fit.Estimate) (*Table, error) {
	s = f.fill(s)
	g := f.transfers(TransferCell, s, f.Sort)
	if len(g.taus) == 0 {
		return nil, fmt.Errorf("no transfers of %s, %s: %s", orNone(s.Setup), Where(s.Placement, s.OffCache), f.choices(s))
	}
	curve, err := g.curve(fmt.Sprintf("transfers of %s, %s", s.Setup, Where(s.Placement, s.OffCache)), value)
	if err != nil && len(curve.Sizes) < fewest {
		return nil, err
	}
	return &Table{Transfers: curve, Overheads: overheads(f.Overheads(s), curve.Sizes), Lacking: err}, nil
}

// OffCacheOnly tells a plan whose user buffers are never in cache.
func (p Plan) OffCacheOnly() bool { return len(p.Caches) > 0 && !slices.Contains(p.Caches, false) }

// Y is the synchronisation y(τ) of a setup, the same for every m, in cache and off; the column
// τ = 1 is as in Table.
func (f *File) Y(s Selection) (*Curve, error) {
	s.OffCache = false
	s = f.fill(s)
	g := f.transfers(NullCell, s, f.Sort)
	curve, err := g.curve(fmt.Sprintf("y of %s, placement %s", orNone(s.Setup), s.Placement), Cell.Whole)
	if err != nil {
		return nil, err
	}
	// Two equal rows, so that no m between them is extrapolated.
	return &Curve{Sizes: []int{1, maxSize}, Taus: curve.Taus, Times: [][]float64{curve.Times[0], curve.Times[0]}}, nil
}

// C is the copy c(m,τ) between buffers of each worker's own, measured without flags; no placement
// is the plan's first.
func (f *File) C(placement numa.Policy, offCache bool) (*Curve, error) {
	return f.copies(CopyCell, "copies", placement, offCache)
}

// Own is what ranks' own copies take, of m bytes each and τ ranks at once, from what they
// send to where they receive, else as C.
func (f *File) Own(placement numa.Policy, offCache bool) (*Curve, error) {
	return f.copies(OwnCell, "ranks' own copies", placement, offCache)
}

func (f *File) copies(kind Kind, what string, placement numa.Policy, offCache bool) (*Curve, error) {
	placement = f.fill(Selection{Placement: placement}).Placement
	g := f.grid(func(c *Cell) bool {
		return c.Kind == kind && c.Setup == "" && c.Placement == placement && c.OffCache == offCache
	})
	curve, err := g.curve(what+", "+Where(placement, offCache), Cell.Whole)
	if err != nil && len(curve.Sizes) < fewest {
		return nil, err
	}
	return &curve, nil
}

// Gamma is γ(m,τ) of every operator that the file has all τ of at two sizes or more. A placement without γ takes
// another's, because ranks reduce independently. Operators come in the plan's order, else in the
// published files'.
func (f *File) Gamma(placement numa.Policy) (*Gamma, error) {
	placement = f.fill(Selection{Placement: placement}).Placement
	kind := func(c *Cell) bool { return c.Kind == GammaCell }
	same := f.nearest(placement, false, kind)
	byName := make(map[string]grid)
	for i := range f.Cells {
		if c := &f.Cells[i]; kind(c) && same(c) {
			g := byName[c.Operator]
			g.add(c)
			byName[c.Operator] = g
		}
	}
	names := slices.Collect(maps.Keys(byName))
	switch {
	case len(names) == 0 && f.Plan.Whole:
		return nil, errors.New("no γ, which messages do not tell: import them again, together with Reduce_local of IMB-MPI1 or with a file of taulop sweep")
	case len(names) == 0 && f.Plan.Swept() && !f.Plan.NoGamma:
		return nil, fmt.Errorf("no γ yet: %w", ErrUnfinished)
	case len(names) == 0:
		return nil, errors.New("no γ: the file was measured or imported without reduction operators")
	}
	known := slices.Concat(f.Plan.Operators, customary)
	order := func(name string) int {
		if i := slices.Index(known, name); i >= 0 {
			return i
		}
		return len(known)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(order(a)-order(b), strings.Compare(a, b)) })
	gamma := &Gamma{Unfinished: make(map[string]error)}
	for _, name := range names {
		g := byName[name]
		curve, err := g.curve("γ of "+name, Cell.Whole)
		if err != nil && len(curve.Sizes) < fewest {
			gamma.Unfinished[name] = err
			continue
		}
		gamma.Operators = append(gamma.Operators, Operator{name, curve})
	}
	return gamma, nil
}

// customary is the order of operators in the published files, which their readers
// know by their columns.
var customary = []string{
	"MAX_I", "MIN_I", "SUM_I", "PROD_I", "LAND_I", "LOR_I", "LXOR_I", "BAND_I", "BOR_I", "BXOR_I", "MAXLOC_I", "MINLOC_I",
	"MAX_R", "MIN_R", "SUM_R", "PROD_R", "MAXLOC_R", "MINLOC_R",
}

// nearest matches the cells of a kind that serve for a placement and state of the cache: its own, else
// the placement's, else the first cell's. A rank's own work does not depend on where the others are.
func (f *File) nearest(placement numa.Policy, offCache bool, kind func(*Cell) bool) func(*Cell) bool {
	best, distance := -1, 4
	for i := range f.Cells {
		c := &f.Cells[i]
		d := lists.FalseFirst(c.OffCache != offCache)
		if c.Placement != placement {
			d += 2
		}
		if kind(c) && d < distance {
			best, distance = i, d
		}
	}
	return func(c *Cell) bool {
		return best >= 0 && c.Placement == f.Cells[best].Placement && c.OffCache == f.Cells[best].OffCache
	}
}

// transfers is the grid of a selection's cells of a kind, τ = 1 from Isolated, as Alone has
// it, where it is there.
func (f *File) transfers(kind Kind, s Selection, sort func() *Sorting) grid {
	over, lone := f.over(s), s.Transport != InSegments && slices.Contains(f.Setups(s), s.Setup)
	var isolated, ping, own []*Cell
	for i := range f.Cells {
		switch c := &f.Cells[i]; {
		case c.Kind != kind || c.Placement != s.Placement || c.OffCache != s.OffCache || !over(c):
		case c.Setup == Isolated && c.Tau == 1:
			isolated = append(isolated, c)
		case c.Setup == s.Setup:
			own = append(own, c)
		case lone && c.Setup == Ping && c.Tau == 1:
			ping = append(ping, c)
		}
	}
	var g grid
	for _, c := range slices.Concat(ping, own) {
		if c.Tau != 1 || len(isolated) == 0 {
			g.add(c)
		}
	}
	if len(g.taus) == 0 && s.Setup != Isolated {
		return g
	}
	var sorting *Sorting // once for all
	for _, c := range isolated {
		if c.Kind == TransferCell {
			if sorting == nil {
				sorting = sort()
			}
			c = sorting.alone(c)
		}
		g.add(c)
	}
	return g
}

// tables are the setups, placements and states of the cache that there are transfers of.
func (f *File) tables(s Selection) []Key {
	over := f.over(s)
	seen := make(map[Key]bool)
	for i := range f.Cells {
		c := &f.Cells[i]
		if c.Kind != TransferCell || c.Setup == Isolated || !over(c) {
			continue
		}
		of := []string{c.Setup}
		if s.Transport != InSegments && c.Setup == Ping && c.Tau == 1 {
			of = f.Setups(s)
		}
		for _, setup := range of {
			seen[Key{Kind: TransferCell, Setup: setup, Placement: c.Placement, OffCache: c.OffCache}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b Key) int { return a.order(&b) })
}

// choices says which tables there are.
func (f *File) choices(s Selection) string {
	const most = 16
	all := lists.Map(f.tables(s), func(k Key) string { return fmt.Sprintf("%s (%s)", k.Setup, Where(k.Placement, k.OffCache)) })
	if len(all) == 0 {
		return "the file has none at all, taulop sweep measures them"
	}
	return "the file has " + printable.List(all[:min(len(all), most)])
}

func orNone(setup string) string { return cmp.Or(setup, "any setup") }

// fewest is how many sizes that there is every τ of are a curve, where others lack some.
const fewest = 2

// A grid is cells over m and τ.
type grid struct {
	sizes, taus []int
	cells       map[[2]int]*Cell // by m and τ
	again       error            // how to get cells that lack; nil: ErrUnfinished
}

func (f *File) grid(match func(*Cell) bool) grid {
	var g grid
	for i := range f.Cells {
		if c := &f.Cells[i]; match(c) {
			g.add(c)
		}
	}
	return g
}

func (g *grid) add(c *Cell) {
	if g.cells == nil {
		g.cells = make(map[[2]int]*Cell)
	}
	g.sizes, g.taus = lists.Insert(g.sizes, c.Bytes), lists.Insert(g.taus, c.Tau)
	g.cells[[2]int{c.Bytes, c.Tau}] = c
}

// lone tells whether of a size the first τ alone was measured, and not of all.
func (g *grid) lone(m int) bool {
	for i, tau := range g.taus {
		if (g.cells[[2]int{m, tau}] != nil) != (i == 0) {
			return false
		}
	}
	return len(g.taus) > 1
}

// listed is numbers in a sentence.
func listed(list []int) string {
	return abridged(strings.Fields(strings.Trim(fmt.Sprint(list), "[]")))
}

// curve is the grid's values in seconds. Where the grid has holes it fails, and returns
// what is complete: the sizes that there is every τ of.
func (g *grid) curve(what string, value func(Cell) fit.Estimate) (Curve, error) {
	if len(g.cells) == 0 {
		return Curve{}, fmt.Errorf("the file has no %s", what)
	}
	// τ = 0 holds for any; where it was measured for some, those say more.
	if len(g.taus) > 1 && g.taus[0] == 0 {
		g.taus = g.taus[1:]
	}
	c := Curve{Taus: g.taus}
	var lacking grid
	missing := 0
	for _, m := range g.sizes {
		row := make([]float64, len(g.taus))
		complete := true
		for i, tau := range g.taus {
			cell := g.cells[[2]int{m, tau}]
			if cell == nil {
				complete = false
				missing++
				lacking.sizes, lacking.taus = lists.Insert(lacking.sizes, m), lists.Insert(lacking.taus, tau)
				continue
			}
			row[i] = seconds(value(*cell).Center)
		}
		if complete {
			c.Sizes, c.Times = append(c.Sizes, m), append(c.Times, row)
		}
	}
	if missing > 0 {
		return c, fmt.Errorf("the file lacks %d of %d %s, of m = %s at τ = %s: %w",
			missing, len(g.sizes)*len(g.taus), what, listed(lacking.sizes), listed(lacking.taus), cmp.Or(g.again, ErrUnfinished))
	}
	if g.taus[0] == 0 {
		c.Taus = nil
	}
	return c, nil
}

// seconds of ns. Division is exact to the last digit, a factor 1e-9 is not.
func seconds(ns float64) float64 { return ns / 1e9 }
