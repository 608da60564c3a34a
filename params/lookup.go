package params

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/numa"
)

// Table is L(m,τ) of whole messages and o(m), for models that use messages of any size: beyond a segment
// L(m,τ) is the effective time of a message that travels in segments.
//
// The column τ = 1 is the setup Isolated, corrected by Alone, if the file has it, else the setup's own.
//
// Sizes that an unfinished sweep has not completed are left out, see Table.Lacking. It fails with fewer
// than two sizes.
func (f *File) Table(s Selection) (*Table, error) { return f.table(s, Cell.Whole) }

// SegmentTable is Table with the time of one segment of each message: rows beyond a segment are L(S,τ)
// in longer messages.
func (f *File) SegmentTable(s Selection) (*Table, error) { return f.table(s, Cell.Segment) }

func (f *File) table(s Selection, value func(Cell) fit.Estimate) (*Table, error) {
	s = f.fill(s)
	g := f.transfers(TransferCell, s, sync.OnceValue(f.Sort))
	if len(g.taus) == 0 {
		return nil, fmt.Errorf("no transfers of %s, %s: %s", orNone(s.Setup), Where(s.Placement, s.OffCache), f.choices(s))
	}
	curve, err := g.curve(fmt.Sprintf("transfers of %s, %s", s.Setup, Where(s.Placement, s.OffCache)), value)
	if err != nil && len(curve.Sizes) < fewest {
		return nil, err
	}
	return &Table{Transfers: curve, Overheads: overheads(f.Overheads(s), curve.Sizes), Lacking: err}, nil
}

// OffCacheOnly reports whether all the plan's user buffers are off cache.
func (p Plan) OffCacheOnly() bool { return len(p.Caches) > 0 && !slices.Contains(p.Caches, false) }

// Y is the synchronisation y(τ) of a setup, which depends neither on m nor on the cache; the column τ = 1
// is as in Table.
func (f *File) Y(s Selection) (*Curve, error) {
	s.OffCache = false
	s = f.fill(s)
	g := f.transfers(NullCell, s, nil) // which has no transfers
	curve, err := g.curve(fmt.Sprintf("y of %s, placement %s", orNone(s.Setup), s.Placement), Cell.Whole)
	if err != nil {
		return nil, err
	}
	// Two equal rows: no m between them is extrapolated.
	return &Curve{Sizes: []int{1, maxSize}, Taus: curve.Taus, Times: [][]float64{curve.Times[0], curve.Times[0]}}, nil
}

// C is the copy c(m,τ) between each worker's own buffers, measured without flags. An empty placement is
// the plan's first.
func (f *File) C(placement numa.Policy, offCache bool) (*Curve, error) {
	return f.copies(CopyCell, "copies", placement, offCache)
}

// Own is the time of copies from a rank's send buffer to its receive buffer, m bytes each, τ ranks at
// once, else as C.
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

// Gamma is γ(m,τ) of the operators that have all τ at two sizes or more. A placement without γ takes that
// of another placement, because ranks reduce independently. Operators are in the plan's order, else in
// the order of the published files.
func (f *File) Gamma(placement numa.Policy) (*Gamma, error) {
	placement = f.fill(Selection{Placement: placement}).Placement
	match := func(c *Cell) bool { return c.Kind == GammaCell }
	chosen := f.nearest(placement, false, match)
	byName := make(map[string]*grid)
	for i := range f.Cells {
		if c := &f.Cells[i]; match(c) && chosen(c) {
			if byName[c.Operator] == nil {
				byName[c.Operator] = new(grid)
			}
			byName[c.Operator].add(c)
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
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rank(known, a)-rank(known, b), strings.Compare(a, b)) })
	gamma := &Gamma{Unfinished: make(map[string]error)}
	for _, name := range names {
		curve, err := byName[name].curve("γ of "+name, Cell.Whole)
		if err != nil && len(curve.Sizes) < fewest {
			gamma.Unfinished[name] = err
			continue
		}
		gamma.Operators = append(gamma.Operators, Operator{name, curve})
	}
	return gamma, nil
}

// customary is the order of operators in the published files, whose readers identify them by column.
var customary = []string{
	"MAX_I", "MIN_I", "SUM_I", "PROD_I", "LAND_I", "LOR_I", "LXOR_I", "BAND_I", "BOR_I", "BXOR_I", "MAXLOC_I", "MINLOC_I",
	"MAX_R", "MIN_R", "SUM_R", "PROD_R", "MAXLOC_R", "MINLOC_R",
}

// nearest chooses the placement and cache of cells that serve for those given: the same, else of the
// same placement, else of the same cache, else of the first cell. A rank's own work does not depend on
// the other ranks' placement.
func (f *File) nearest(placement numa.Policy, offCache bool, match func(*Cell) bool) func(*Cell) bool {
	best, distance := -1, 4
	for i := range f.Cells {
		c := &f.Cells[i]
		d := lists.FalseFirst(c.OffCache != offCache)
		if c.Placement != placement {
			d += 2
		}
		if match(c) && d < distance {
			best, distance = i, d
		}
	}
	return func(c *Cell) bool {
		return best >= 0 && c.Placement == f.Cells[best].Placement && c.OffCache == f.Cells[best].OffCache
	}
}

// transfers is the grid of a selection's cells of a kind, with τ = 1 as in Table. sort is costly, and is called
// for isolated transfers only.
func (f *File) transfers(kind Kind, s Selection, sort func() *Sorting) grid {
	over, pingAlone := f.over(s), s.Transport != InSegments && slices.Contains(f.Setups(s), s.Setup)
	var isolated, ping, own []*Cell
	for i := range f.Cells {
		switch c := &f.Cells[i]; {
		case c.Kind != kind || c.Placement != s.Placement || c.OffCache != s.OffCache || !over(c):
		case c.Setup == Isolated && c.Tau == 1:
			isolated = append(isolated, c)
		case c.Setup == s.Setup:
			own = append(own, c)
		case pingAlone && c.Setup == Ping && c.Tau == 1:
			ping = append(ping, c)
		}
	}
	var g grid
	own = append(ping, own...)
	if len(own) == 0 && s.Setup != Isolated {
		return g
	}
	for _, c := range own {
		if c.Tau != 1 || len(isolated) == 0 {
			g.add(c)
		}
	}
	for _, c := range isolated {
		if c.Kind == TransferCell {
			c = sort().alone(c)
		}
		g.add(c)
	}
	return g
}

// Transfers are a file's transfers of one setup, placement, state of the cache and size m.
type Transfers struct {
	Key           // with Tau 0
	Cells []*Cell // by τ, rising; τ = 1 is as in File.Table
}

// Transfers are all transfers through the plan's first buffers by setup, placement, cache and m. The file
// may be incomplete.
func (f *File) Transfers() []Transfers {
	var all []Transfers
	s, sort := f.fill(Selection{}), sync.OnceValue(f.Sort)
	for _, key := range f.tables(s) {
		s.Setup, s.Placement, s.OffCache = key.Setup, key.Placement, key.OffCache
		g := f.transfers(TransferCell, s, sort)
		for _, key.Bytes = range g.sizes {
			t := Transfers{Key: key}
			for _, tau := range g.taus {
				if c := g.cells[[2]int{key.Bytes, tau}]; c != nil {
					t.Cells = append(t.Cells, c)
				}
			}
			all = append(all, t)
		}
	}
	return all
}

// Alone is L(m,1) with as much waiting as other τ have. Every isolated transfer waits for a flag that
// another core has just set, but in a ring, as in a message alone, only one of a segment's two transfers
// does. So half of y(1) is subtracted from each isolated transfer, paired by launch and state, but at most
// half of its time. Other cells, and cells of a file without y(1) of isolated transfers, are unchanged.
func (f *File) Alone(c *Cell) *Cell {
	if c.Kind != TransferCell || c.Setup != Isolated {
		return c
	}
	return f.Sort().alone(c)
}

// alone is Alone of an isolated transfer.
func (s *Sorting) alone(c *Cell) *Cell {
	if known := s.lone[c]; known != nil {
		return known // several setups share it
	}
	f := s.f
	y := lists.Find(f.Cells, func(y Cell) bool {
		return y.Kind == NullCell && y.Setup == Isolated && y.Placement == c.Placement && y.Tau == c.Tau && y.Transport == c.Transport
	})
	if y == nil {
		return c
	}
	waits := float64(max(1, c.Transfers)*max(1, c.K)) / float64(max(1, y.Transfers)) / 2
	less := func(l, y float64) float64 { return max(l/2, l-waits*y) }
	alone := *c
	alone.Time.Center = less(c.Time.Center, y.Time.Center)
	alone.Time.Lo, alone.Time.Hi = less(c.Time.Lo, y.Time.Hi), less(c.Time.Hi, y.Time.Lo)
	paired := make(map[[2]int]float64) // y by launch and state
	for _, sample := range y.Samples {
		paired[[2]int{int(sample.Launch), s.Of(sample)}] = sample.NS
	}
	typical := make(map[int]float64) // y by state
	for state := range s.States(s.Workers(y)) {
		if part := (Cell{Samples: s.In(y, state)}); len(part.Samples) > 0 {
			typical[state] = part.Replicates(f).Center()
		}
	}
	launched := false
	alone.Samples = slices.Clone(c.Samples)
	for i := range alone.Samples {
		sample := &alone.Samples[i]
		state := s.Of(*sample)
		ns, known := paired[[2]int{int(sample.Launch), state}]
		if !known || sample.Launch == Unlaunched {
			if ns, known = typical[state]; !known {
				ns = y.Time.Center
			}
		}
		sample.NS = less(sample.NS, ns)
		launched = launched || sample.Launch != Unlaunched
	}
	if launched {
		alone.Time = s.Estimate(&alone)
	}
	if s.lone == nil {
		s.lone = make(map[*Cell]*Cell)
	}
	s.lone[c] = &alone
	return &alone
}

// tables are the setups, placements and states of the cache with transfers.
func (f *File) tables(s Selection) []Key {
	over := f.over(s)
	seen := make(map[Key]bool)
	for i := range f.Cells {
		c := &f.Cells[i]
		if c.Kind != TransferCell || c.Setup == Isolated || !over(c) {
			continue
		}
		setups := []string{c.Setup}
		if s.Transport != InSegments && c.Setup == Ping && c.Tau == 1 {
			setups = f.Setups(s)
		}
		for _, setup := range setups {
			seen[Key{Kind: TransferCell, Setup: setup, Placement: c.Placement, OffCache: c.OffCache}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b Key) int { return a.order(&b) })
}

// choices lists the tables in an error.
func (f *File) choices(s Selection) string {
	const most = 16
	all := lists.Map(f.tables(s), func(k Key) string { return fmt.Sprintf("%s (%s)", k.Setup, Where(k.Placement, k.OffCache)) })
	if len(all) == 0 {
		return "the file has none at all, taulop sweep measures them"
	}
	return "the file has " + printable.List(all[:min(len(all), most)])
}

func orNone(setup string) string { return cmp.Or(setup, "any setup") }

// fewest is the least number of complete sizes, with every τ, of an incomplete curve.
const fewest = 2

// A grid is cells over m and τ.
type grid struct {
	sizes, taus []int
	cells       map[[2]int]*Cell // by m and τ
	again       error            // how to measure missing cells; nil: ErrUnfinished
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

// lone reports whether a size was measured at the first of several τ only.
func (g *grid) lone(m int) bool {
	for i, tau := range g.taus {
		if (g.cells[[2]int{m, tau}] != nil) != (i == 0) {
			return false
		}
	}
	return len(g.taus) > 1
}

// listed lists numbers in a sentence.
func listed(list []int) string { return abridged(lists.Map(list, strconv.Itoa)) }

// curve is the grid's values in seconds. If cells are missing it returns the sizes with every τ, and an
// error.
func (g *grid) curve(what string, value func(Cell) fit.Estimate) (Curve, error) {
	if len(g.cells) == 0 {
		return Curve{}, fmt.Errorf("the file has no %s", what)
	}
	// τ = 0 stands for any τ; measured τ say more.
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

// seconds converts ns. Division is correctly rounded; a factor of 1e-9, which is not exact, would not be.
func seconds(ns float64) float64 { return ns / 1e9 }
