package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/predict"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/published"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/params"
)

var (
	ErrNoVerification = errors.New("this is not what taulop verify writes")
	ErrUnpredicted    = errors.New("measure again, and allow more time or name the machine's parameters")
)

// ReadVerification reads the JSON of a Verification or of Patterns. It leaves out rows without predictions.
// An error is one sentence that begins with the name of the file.
func ReadVerification(r io.Reader, name string) (*verify.Result, error) {
	var doc struct {
		Format string `json:"format"`
		verify.Result
	}
	if err := decode(r, name, &doc, &doc.Format, ErrNoVerification); err != nil {
		return nil, err
	}
	if len(doc.Rows) == 0 {
		return nil, fmt.Errorf("%s has no rows of measured collectives: %w", name, ErrNoVerification)
	}
	measured := len(doc.Rows) // a stopped run has rows without predictions
	if doc.Rows = slices.DeleteFunc(doc.Rows, func(r verify.Row) bool { return len(r.Predicted) == 0 }); len(doc.Rows) == 0 {
		return nil, fmt.Errorf("%s has %d rows and no predictions: %w", name, measured, ErrUnpredicted)
	}
	type call struct {
		name     string
		p, bytes int
		offCache bool
		state    params.State
	}
	first := make(map[call]int)
	for i, row := range doc.Rows {
		err := checkRow(row)
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
	return &doc.Result, nil
}

// decode reads a document with a format, else fails with other. It refuses parameter files.
func decode(r io.Reader, name string, doc any, format *string, other error) error {
	text, err := infile.Document(r, name, other)
	if err != nil {
		return err
	}
	err = params.DecodeJSON(text, name, doc)
	switch {
	case *format == params.Format: // err may be about a field of parameter files
		return fmt.Errorf("%s holds the parameters of a machine, not what models predict beside what was measured: %w", name, other)
	case err != nil:
		return fmt.Errorf("%w; %w", err, other)
	}
	return nil
}

// ErrNoComparison is returned for files without predictions of published collectives.
var ErrNoComparison = errors.New("this is not what taulop verify writes of a table of collectives")

// ReadPublished reads machine, version and cells from the JSON of a Published. An error is one
// sentence that begins with the name of the file.
func ReadPublished(r io.Reader, name string) (*Published, error) {
	var doc struct {
		Format  string           `json:"format"`
		Machine string           `json:"machine"`
		Version string           `json:"library_version"`
		Cells   []published.Cell `json:"cells"`
	}
	if err := decode(r, name, &doc, &doc.Format, ErrNoComparison); err != nil {
		return nil, err
	}
	for i, c := range doc.Cells {
		if err := c.Check(); err != nil {
			return nil, fmt.Errorf("%s: cell %d: %w; %w", name, i+1, err, ErrNoComparison)
		}
	}
	if !slices.ContainsFunc(doc.Cells, func(c published.Cell) bool { return c.Error != nil }) {
		return nil, fmt.Errorf("%s has no cell with a prediction: %w", name, ErrNoComparison)
	}
	return &Published{Source: predict.Source{Machine: printable.Name(doc.Machine)}, Version: printable.Name(doc.Version), Comparison: &published.Comparison{Cells: doc.Cells}}, nil
}

// checkRow checks a row, and that its predictions are in the order of the models.
func checkRow(r verify.Row) error {
	m, models := r.Measured, slices.Concat(verify.Models, verify.PatternModels[1:])
	switch {
	case r.Name == "" || r.Name != printable.Name(r.Name):
		return fmt.Errorf("%.40q is no name of an algorithm", r.Name)
	case r.P < 1 || r.Bytes < 0:
		return fmt.Errorf("%s has P = %d and m = %d", r.Name, r.P, r.Bytes)
	case !(m.Center >= 0) || math.IsInf(m.Center, 0), m.Known() && (m.Lo > m.Center || m.Center > m.Hi):
		return fmt.Errorf("%s of m = %d took %g ns within [%g, %g], which is no time that was measured", r.Name, r.Bytes, m.Center, m.Lo, m.Hi)
	case !(r.State.NS >= 0 && r.State.Share >= 0 && r.State.Share <= 1):
		return fmt.Errorf("%s of m = %d has a state of %g ns in %g of the time", r.Name, r.Bytes, r.State.NS, r.State.Share)
	}
	last := -1
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
