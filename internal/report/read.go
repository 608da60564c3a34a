package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/params"
)

// maxDocument is far more than a document of taulop needs, in bytes.
const maxDocument = 64 << 20

var (
	ErrNoVerification = errors.New("this is not what taulop verify writes")
	ErrUnpredicted    = errors.New("measure again, and allow more time or name the machine's parameters")
)

// ReadVerification reads what WriteJSON of a Verification wrote, and of Patterns the
// rows, which are no collectives but have times and predictions as well. An error is a
// sentence that begins with the name of the file.
func ReadVerification(r io.Reader, name string) (*Verification, error) {
	text, err := readDocument(r, name, ErrNoVerification)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Format string `json:"format"` // of a parameter file
		Verification
	}
	err = params.DecodeJSON(text, name, &doc)
	if doc.Format == params.Format { // whatever is in it
		return nil, fmt.Errorf("%s holds the parameters of a machine, not what models predict beside what was measured: %w", name, ErrNoVerification)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; %w", err, ErrNoVerification)
	}
	if len(doc.Rows) == 0 {
		return nil, fmt.Errorf("%s has no rows of measured collectives: %w", name, ErrNoVerification)
	}
	measured := len(doc.Rows) // of a run that was stopped, or had little time
	if doc.Rows = slices.DeleteFunc(doc.Rows, func(r verify.Row) bool { return len(r.Predicted) == 0 }); len(doc.Rows) == 0 {
		return nil, fmt.Errorf("%s has %d rows and no predictions: %w", name, measured, ErrUnpredicted)
	}
	models := verify.Models
	if slices.ContainsFunc(doc.Rows, func(r verify.Row) bool {
		return slices.ContainsFunc(r.Predicted, func(p verify.Prediction) bool { return slices.Contains(verify.PatternModels[1:], p.Model) })
	}) {
		models = verify.PatternModels
	}
	type call struct {
		name     string
		p, bytes int
		offCache bool
		state    params.State
	}
	first := make(map[call]int)
	for i, row := range doc.Rows {
		err := checkRow(row, models)
		key := call{row.Name, row.P, row.Bytes, row.OffCache, row.State}
		if before, twice := first[key]; twice && err == nil {
			err = fmt.Errorf("%.40q of P = %d and m = %d is there twice, first in row %d", row.Name, row.P, row.Bytes, before)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w; %w", name, i+1, err, ErrNoVerification)
		}
		first[key] = i + 1
	}
	doc.Provenance.Hostname = printable.Name(doc.Provenance.Hostname)
	return &doc.Verification, nil
}

// readDocument reads what is not too long to be written by taulop, and not empty: that is
// other than what was wanted.
func readDocument(r io.Reader, name string, other error) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxDocument:
		return nil, fmt.Errorf("%s has more than %d MiB: %w", name, maxDocument>>20, other)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, fmt.Errorf("%s is empty: %w", name, other)
	}
	return text, nil
}

// ErrNoComparison is of files without predictions of published collectives.
var ErrNoComparison = errors.New("this is not what taulop verify writes of a table of collectives")

// ReadPublished reads the cells of what WriteJSON of a Published wrote. An error is a
// sentence that begins with the name of the file.
func ReadPublished(r io.Reader, name string) (*Published, error) {
	text, err := readDocument(r, name, ErrNoComparison)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Machine string           `json:"machine"`
		Version string           `json:"library_version"`
		Cells   []published.Cell `json:"cells"`
	}
	if err := params.DecodeJSON(text, name, &doc); err != nil {
		return nil, fmt.Errorf("%w; %w", err, ErrNoComparison)
	}
	for i, c := range doc.Cells {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%s: cell %d: %w; %w", name, i+1, err, ErrNoComparison)
		}
	}
	if !slices.ContainsFunc(doc.Cells, func(c published.Cell) bool { return c.Error != nil }) {
		return nil, fmt.Errorf("%s has no cell with a prediction: %w", name, ErrNoComparison)
	}
	return &Published{Source: Source{Machine: printable.Name(doc.Machine)}, Version: printable.Name(doc.Version), Comparison: &published.Comparison{Cells: doc.Cells}}, nil
}

// ErrNoPrediction is of files without predictions.
var ErrNoPrediction = errors.New("this is not what taulop predict writes")

// ReadCosts reads what WriteJSON of Predictions, of one machine, or of Machines wrote. An
// error is a sentence that begins with the name of the file.
func ReadCosts(r io.Reader, name string) (*Machines, error) {
	text, err := readDocument(r, name, ErrNoPrediction)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Format string `json:"format"`
		Source
		Machines []Source      `json:"machines"`
		Rows     []MachineCost `json:"rows"`
	}
	if err := params.DecodeJSON(text, name, &doc); err != nil {
		return nil, fmt.Errorf("%w; %w", err, ErrNoPrediction)
	}
	d := &Machines{Machines: doc.Machines, Rows: doc.Rows}
	switch doc.Format {
	case "taulop predict":
		d.Machines = []Source{doc.Source}
		for i := range d.Rows {
			r := &d.Rows[i]
			r.Machine, r.Of = doc.Machine, r.Collective+":"+r.Algorithm
		}
	case "taulop predict machines":
	default:
		return nil, fmt.Errorf("%s: %w", name, ErrNoPrediction)
	}
	if len(d.Machines) == 0 || len(d.Rows) == 0 {
		return nil, fmt.Errorf("%s has no costs: %w", name, ErrNoPrediction)
	}
	known := make(map[string]bool)
	for i := range d.Machines {
		known[d.Machines[i].Machine] = true
		d.Machines[i].Machine, d.Machines[i].Model = printable.Name(d.Machines[i].Machine), printable.Name(d.Machines[i].Model)
	}
	type call struct {
		machine, of string
		p, bytes    int
	}
	first := make(map[call]int)
	for i := range d.Rows {
		r := &d.Rows[i]
		err := r.check()
		key := call{r.Machine, r.Of, r.P, r.Bytes}
		switch before, twice := first[key]; {
		case err != nil:
		case !known[r.Machine]:
			err = fmt.Errorf("%.40q is none of the machines", r.Machine)
		case twice:
			err = fmt.Errorf("%.40q of P = %d and m = %d is there twice, first in row %d", r.Of, r.P, r.Bytes, before)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w; %w", name, i+1, err, ErrNoPrediction)
		}
		first[key] = i + 1
		r.Machine = printable.Name(r.Machine)
	}
	return d, nil
}

// check accepts what taulop predict writes.
func (r *MachineCost) check() error {
	for _, name := range []string{r.Of, r.Collective, r.Algorithm} {
		if name == "" || name != printable.Name(name) {
			return fmt.Errorf("%.40q is no name of a collective or an algorithm", name)
		}
	}
	us := r.Microseconds
	switch {
	case r.P < 1 || r.Bytes < 0:
		return fmt.Errorf("%s has P = %d and m = %d", r.Of, r.P, r.Bytes)
	case !(us >= 0) || us > maxCost:
		return fmt.Errorf("%s of m = %d has no cost", r.Of, r.Bytes)
	case r.Lo != nil && r.Hi != nil && !(*r.Lo > 0 && *r.Lo <= us && us <= *r.Hi && *r.Hi <= maxCost):
		return fmt.Errorf("%s of m = %d costs %g µs, which is not within [%g, %g]", r.Of, r.Bytes, us, *r.Lo, *r.Hi)
	}
	return nil
}

// maxCost is longer than any call takes, in µs.
const maxCost = 1e30

// checkRow accepts what taulop verify writes, with predictions of the models.
func checkRow(r verify.Row, models []string) error {
	m := r.Measured
	switch {
	case r.Name == "":
		return errors.New("the algorithm has no name")
	case r.Name != printable.Name(r.Name):
		return fmt.Errorf("%.40q is no name of an algorithm", r.Name)
	case r.P < 1 || r.Bytes < 0:
		return fmt.Errorf("%s has P = %d and m = %d", r.Name, r.P, r.Bytes)
	case !(m.Center >= 0) || math.IsInf(m.Center, 0):
		return fmt.Errorf("%s of m = %d has no time that was measured", r.Name, r.Bytes)
	case !(r.State.NS >= 0 && r.State.Share >= 0 && r.State.Share <= 1):
		return fmt.Errorf("%s of m = %d has a state of %g ns in %g of the time", r.Name, r.Bytes, r.State.NS, r.State.Share)
	case m.Known() && (m.Lo > m.Center || m.Center > m.Hi):
		return fmt.Errorf("%s of m = %d took %g ns, which is not within [%g, %g]", r.Name, r.Bytes, m.Center, m.Lo, m.Hi)
	}
	last := -1 // in the order of models, each once
	for _, p := range r.Predicted {
		i := slices.Index(models, p.Model)
		if i <= last {
			return fmt.Errorf("%s of m = %d has a prediction of %.40q where one of the next of %s belongs", r.Name, r.Bytes, p.Model, strings.Join(models, ", "))
		}
		last = i
		if !(p.Ns >= 0) || math.Signbit(p.Ns) || math.IsInf(p.Ns, 0) || !(p.Error >= -1) {
			return fmt.Errorf("%s of m = %d has %g ns as the prediction of %s, with an error of %g; no time is negative", r.Name, r.Bytes, p.Ns, p.Model, p.Error)
		}
	}
	return nil
}
