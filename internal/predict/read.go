package predict

import (
	"errors"
	"fmt"
	"io"

	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/params"
)

// ErrNoPrediction is why a file without predictions is rejected.
var ErrNoPrediction = errors.New("this is not what taulop predict writes")

// Read reads the JSON of Predictions, of one machine, or of Machines. An error begins with the name of
// the file.
func Read(r io.Reader, name string) (*Machines, error) {
	text, err := infile.Document(r, name, ErrNoPrediction)
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
		machine string
		callKey
	}
	first := make(map[call]int)
	for i := range d.Rows {
		r := &d.Rows[i]
		err := r.check()
		key := call{r.Machine, callKey{r.Of, r.P, r.Bytes}}
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

// check rejects what taulop predict does not write.
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

// maxCost is a bound above any cost, in µs.
const maxCost = 1e30
