package compare

import (
	"context"
	"slices"
	"unique"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A Reduced is the part of a machine's file that a fleet's comparison needs: some 20 KB of some 300.
type Reduced struct {
	Described
	Taken    bool // a published file whose setup was assigned, see Machine.Take
	guest    bool
	states   []params.State
	contents []content // of the file, and if it has several states of each
}

// A content is the data to compare of a file, or of one of its states.
type content struct {
	curves  []Curve // bare
	none    error   // why there are no curves
	surveys []reducedCell
	doubts  *doubts
}

// A reducedCell is a cell of a survey without samples.
type reducedCell struct {
	key  unique.Handle[params.Key]
	time fit.Estimate
}

// Reduce keeps the data that a comparison needs.
func Reduce(m Machine) *Reduced {
	r := &Reduced{Described: describe(m), guest: guest(m), states: statesOf(m.File), contents: []content{contentOf(m.Name, m.File)}}
	if len(r.states) > 1 {
		for _, state := range r.states {
			r.contents = append(r.contents, contentOf(m.Name, FileIn(m.File, state)))
		}
	}
	return r
}

func contentOf(name string, f *params.File) content {
	transfers := f.Transfers()
	v := content{doubts: doubtsOf(f, transfers)}
	v.curves, v.none = curvesOf(name, f, transfers)
	Bare(v.curves)
	for _, c := range f.Cells {
		if ofSurvey(c) && (c.Time.N == 0 || c.Time.Known()) { // too few samples say nothing
			v.surveys = append(v.surveys, reducedCell{unique.Make(c.Key), c.Time})
		}
	}
	v.surveys = slices.Clone(v.surveys) // many files are kept
	return v
}

// in is the content in one of the machine's states, nil for the whole file.
func (r *Reduced) in(state *InState) *content {
	if state != nil && len(r.contents) > 1 {
		of, _ := state.Of(r.Name)
		return &r.contents[1+slices.IndexFunc(r.states, func(s params.State) bool { return s == of })]
	}
	return &r.contents[0]
}

// ReadReduced is ReadAll for a fleet, whose machines are reduced. Unless as is "", published tables are
// taken for transfers of that setup, placement local. progress is called after each file. It ends with ctx.
func ReadReduced(ctx context.Context, paths []string, as string, progress func(done, of int)) (machines []*Reduced, skipped []error, err error) {
	read := func(path string) (*Reduced, error) {
		m, err := readComparable(path)
		if err != nil {
			return nil, err
		}
		taken := as != "" && m.Published()
		if taken {
			m.Take(as, numa.Local)
		}
		r := Reduce(m)
		r.Taken = taken
		return r, nil
	}
	return readAll(ctx, paths, read, func(r **Reduced) *string { return &(*r).Name }, progress)
}
