package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// AgainstModels are the names of the models that predict a benchmark's time.
var AgainstModels = []string{Full, "log_nP"}

// An Against compares the times that an MPI benchmark printed with predictions.
type Against struct {
	Predictor *model.Predictor // τ-Lop
	// Algorithm predicts a collective instead of the library's choice, or of the default if that is
	// unknown; such collectives have no Nearest.
	Algorithm map[string]mpi.Algorithm
	// Segment, Degree and Chunk of calls; 0: the default.
	Segment, Degree, Chunk int

	models  []Model      // in the order of AgainstModels
	library *mpi.Library // nil: unknown
}

// NewAgainst makes an Against that predicts from a file.
func NewAgainst(f *params.File, c model.Choice) (*Against, error) {
	var models []Model
	for i, name := range []string{"taulop", "lognp"} {
		c.Model = name
		in, err := model.NewPredictor(f, c)
		if err != nil {
			return nil, err
		}
		models = append(models, Model{Name: AgainstModels[i], in: map[bool]model.Coster{false: in}})
	}
	return &Against{Predictor: models[0].in[false].(*model.Predictor), models: models, library: c.As}, nil
}

// Chosen selects the benchmark's times to compare; its zero value selects all.
type Chosen struct {
	P, M      []int
	Kinds     []mpibench.Kind
	Algorithm map[string]mpi.Algorithm // by the collective that was named with one
}

// neighbourly are the kinds of messages between neighbours, which are not collectives.
var neighbourly = []mpibench.Kind{mpibench.Message, mpibench.Sendrecv, mpibench.Exchange}

// noPrediction says why a kind is not predicted.
var noPrediction = map[mpibench.Kind]string{
	mpibench.Stream:    "it times streams, and no message: import makes parameters of them",
	mpibench.Reduction: "it times reductions, and no message: import takes γ from them",
}

// Name reads names of kinds and of algorithms, those of a library unless it is nil. It fails for an
// unknown name, and for two algorithms of a collective.
func (c *Chosen) Name(l *mpi.Library, names []string) error {
	c.Algorithm = make(map[string]mpi.Algorithm)
	for _, name := range names {
		of, _, named := strings.Cut(name, ":")
		c.Kinds = append(c.Kinds, mpibench.Kind(of))
		if slices.Contains(neighbourly, mpibench.Kind(name)) {
			continue
		}
		found, err := mpi.Find(l, name)
		if err != nil {
			return err
		}
		if !named {
			continue
		}
		if other, there := c.Algorithm[of]; there && other != found[0] {
			return fmt.Errorf("%s and %s cannot both be what the benchmark ran: choose one", other, found[0])
		}
		c.Algorithm[of] = found[0]
	}
	return nil
}

// Take returns the chosen times. If one number of ranks is chosen it fills that in where OSU does
// not print it. With noGamma, the reason why γ is missing, it leaves reductions out.
func (c *Chosen) Take(all []mpibench.Time, noGamma error) (times []mpibench.Time, leftOut []mpibench.Omission) {
	for _, t := range all {
		switch {
		case len(c.Kinds) > 0 && !slices.Contains(c.Kinds, t.Kind):
			continue
		case t.P == 0 && len(c.P) == 1:
			t = t.Among(c.P[0])
		case t.P > 0 && !(t.Kind == mpibench.Message && t.P == 2) && len(c.P) > 0 && !slices.Contains(c.P, t.P):
			continue
		}
		why := noPrediction[t.Kind]
		if why == "" && len(c.M) > 0 && !t.Kind.Empty() && !slices.Contains(c.M, t.Bytes) {
			continue
		}
		switch of := collective.Named(string(t.Kind)); {
		case t.Bytes == 0 && t.Printed > 0 && t.P > 0:
			why = "fewer bytes than ranks leave nothing for each"
		case of != nil && of.Reduces && noGamma != nil:
			why = fmt.Sprintf("it %v", noGamma)
		}
		switch {
		case why == "":
			times = append(times, t)
		case !slices.ContainsFunc(leftOut, func(o mpibench.Omission) bool { return o.Benchmark == t.Benchmark && o.Why == why }):
			leftOut = append(leftOut, mpibench.Omission{Benchmark: t.Benchmark, Line: t.Line, Why: why})
		}
	}
	return times, leftOut
}

// A Compared is a benchmark's time with predictions.
type Compared struct {
	Suite     string       `json:"suite"`
	Benchmark string       `json:"benchmark"`
	P         int          `json:"P"`
	Bytes     int          `json:"m"`
	Measured  fit.Estimate `json:"measured_ns"` // over repeated runs; no interval below 6
	Predicted Candidate    `json:"predicted"`
	// Nearest is the algorithm whose prediction by τ-Lop is nearest to the time; nil if there is only
	// one. The time itself has chosen it.
	Nearest *Candidate `json:"nearest,omitempty"`
}

// A Candidate is an algorithm that an MPI library may have used.
type Candidate struct {
	Algorithm string       `json:"algorithm,omitempty"` // none of messages between neighbours
	Models    []Prediction `json:"models"`              // in the order of AgainstModels, without those whose parameters are 0
}

// Compare compares times. Rows of one benchmark, P and m are one row, their median, in the order of
// the first of each. It fails if an algorithm does not exist for a call.
func (a Against) Compare(times []mpibench.Time) ([]Compared, error) {
	type call struct {
		suite, benchmark  string
		p, bytes, printed int
	}
	var rows []Compared
	for _, runs := range lists.Groups(times, func(t mpibench.Time) call { return call{t.Suite, t.Benchmark, t.P, t.Bytes, t.Printed} }) {
		t, samples := runs[0], lists.Map(runs, func(t mpibench.Time) float64 { return t.Microseconds * 1e3 })
		row := Compared{Suite: t.Suite, Benchmark: t.Benchmark, P: t.P, Bytes: t.Bytes, Measured: fit.Median(samples)}
		if err := a.predict(&row, t.Kind); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (a Against) predict(row *Compared, kind mpibench.Kind) error {
	switch kind {
	case mpibench.Message: // of all pairs at once
		return a.neighbours(row, row.P/2, collective.OneWay, 1)
	case mpibench.Sendrecv:
		return a.neighbours(row, row.P, collective.Exchange, 1)
	case mpibench.Exchange: // with one neighbour, then with the other
		return a.neighbours(row, row.P, collective.Exchange, 2)
	}
	all, err := collective.Of(string(kind))
	if err != nil {
		return err
	}
	c := all[0].Collective
	taken, chosen := a.Algorithm[string(kind)]
	if own := (mpi.Algorithm{Collective: c, Library: a.library}); a.library != nil && !chosen {
		nodes, _ := a.Predictor.Nodes(row.P)
		if _, known := a.library.Own(c, row.P, nodes, row.Bytes); known {
			return a.algorithm(row, &row.Predicted, own)
		}
	}
	if !chosen {
		taken = mpi.Algorithm{Collective: c, Textbook: c.DefaultAlgorithm()}
	}
	if err := a.algorithm(row, &row.Predicted, taken); err != nil || chosen || len(all) < 2 {
		return err
	}
	least := math.Inf(1)
	for _, other := range slices.Concat([]*collective.Algorithm{taken.Textbook}, all) { // the one supposed, where others cost the same
		if !other.Among.Has(row.P) {
			continue
		}
		var one Candidate
		if err := a.algorithm(row, &one, mpi.Algorithm{Collective: c, Textbook: other}); err != nil {
			return err
		}
		if its := of(one.Models, Full); its != nil && math.Abs(its.Error) < least {
			row.Nearest, least = &one, math.Abs(its.Error)
		}
	}
	return nil
}

// neighbours predicts count concurrent messages, repeated times. Both suites send from one buffer
// and receive into another of m bytes each, and both buffers occupy the cache, in a ping-pong too.
func (a Against) neighbours(row *Compared, count int, pattern collective.Pattern, times int) error {
	return a.candidate(row, &row.Predicted, &collective.Schedule{
		Call:    collective.Call{P: row.P, M: row.Bytes},
		Unit:    row.Bytes,
		Touched: 2 * row.Bytes,
		Blocks: []collective.Block{{
			Repeat: times,
			Stages: []collective.Stage{{Phase: row.Benchmark, Pattern: pattern, Shape: []collective.Batch{{Count: count, Bytes: row.Bytes}}}},
		}},
	})
}

func (a Against) algorithm(row *Compared, c *Candidate, algorithm mpi.Algorithm) error {
	s, taken, err := algorithm.Schedule(collective.Call{P: row.P, M: row.Bytes, Segment: a.Segment, Degree: a.Degree, Chunk: a.Chunk})
	if err != nil {
		return err
	}
	if c.Algorithm = algorithm.String(); algorithm.Own() {
		c.Algorithm = algorithm.Collective.Name + ":" + taken
	}
	return a.candidate(row, c, s)
}

func (a Against) candidate(row *Compared, c *Candidate, s *collective.Schedule) (err error) {
	if c.Models, err = predict(a.models, false, s, row.Measured.Center); err != nil {
		return fmt.Errorf("%s among P = %d: %w", row.Benchmark, row.P, err)
	}
	return nil
}

// An AgainstMean has the mean relative errors over the sizes of a benchmark that all models
// predict.
type AgainstMean struct {
	Suite     string    `json:"suite,omitempty"`
	Benchmark string    `json:"benchmark"`
	P         int       `json:"P"`
	Rows      int       `json:"rows"`
	Errors    []float64 `json:"mean_relative_errors"` // in the order of AgainstModels
	// Nearest is the error of τ-Lop if each time chooses the nearest algorithm: a lower bound, not a
	// test of the model.
	Nearest *float64 `json:"nearest_mean_relative_error,omitempty"`
}

// AgainstMeans are the means by benchmark and P, in the order of the rows.
func AgainstMeans(rows []Compared) []AgainstMean {
	type benchmark struct {
		suite, name string
		p           int
	}
	complete := lists.Filter(rows, func(r Compared) bool { return len(r.Predicted.Models) == len(AgainstModels) })
	means := []AgainstMean{}
	for _, of := range lists.Groups(complete, func(r Compared) benchmark { return benchmark{r.Suite, r.Benchmark, r.P} }) {
		m := AgainstMean{Suite: of[0].Suite, Benchmark: of[0].Benchmark, P: of[0].P, Rows: len(of)}
		m.Errors = lists.Map(AgainstModels, func(name string) float64 {
			return meanError(of, name, func(r Compared) *Candidate { return &r.Predicted })
		})
		// A row has none where no error is finite.
		if !slices.ContainsFunc(of, func(r Compared) bool { return r.Nearest == nil }) {
			m.Nearest = new(meanError(of, Full, func(r Compared) *Candidate { return r.Nearest }))
		}
		means = append(means, m)
	}
	return means
}

// meanError is the mean of a model's absolute errors.
func meanError(rows []Compared, name string, candidate func(Compared) *Candidate) float64 {
	sum := lists.Sum(rows, func(r Compared) float64 { return math.Abs(of(candidate(r).Models, name).Error) })
	return sum / float64(len(rows))
}
