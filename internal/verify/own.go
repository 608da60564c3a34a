package verify

import (
	"fmt"
	"slices"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/model"
	"github.com/taulop/taulop/mpi"
	"github.com/taulop/taulop/params"
)

// Overheads gives a file the o(m) of a library: the time of its ping-pongs, and of exchanges of two
// ranks if there are any, beyond the predicted transfers. Messages of one segment have a table; longer
// ones have one number for each transport, that of the shortest message, because the time before the
// first byte moves does not depend on the size. It replaces all o(m) of the file. It fails if no
// ping-pong has the size of measured transfers.
func Overheads(f *params.File, c model.Choice, times []mpibench.Time) error {
	bare := *f
	bare.Cells = lists.Filter(f.Cells, func(c params.Cell) bool { return !slices.Contains(params.OfOverheads, c.Kind) })
	bare.Launches = slices.Clone(f.Launches)
	for i := range bare.Launches {
		bare.Launches[i].Instruction = 0 // what it computes is what o(m) is to have
	}
	a, err := NewAgainst(&bare, c)
	if err != nil {
		return err
	}
	for _, of := range []struct {
		kind mpibench.Kind
		tau  int
	}{{mpibench.Sendrecv, params.Exchanging}, {mpibench.Message, 1}} {
		var messages []mpibench.Time
		for _, t := range times {
			if t.Kind == of.kind && t.P == 2 && t.Bytes <= a.Predictor.Largest {
				t.Suite, t.Benchmark = "", "" // all alike
				messages = append(messages, t)
			}
		}
		rows, err := a.Compare(messages)
		if err != nil {
			return err
		}
		bare.Cells = append(bare.Cells, overheadsOf(a, c, rows, of.tau)...)
	}
	if n := len(bare.Cells); n == 0 || bare.Cells[n-1].Kind != params.OverheadCell || bare.Cells[n-1].Tau > 1 {
		return fmt.Errorf("no PingPong of IMB-MPI1 or osu_latency is of a size up to %d bytes, which there are transfers of", a.Predictor.Largest)
	}
	f.Cells = bare.Cells
	return nil
}

// overheadsOf are the times of rows of messages beyond their predictions.
func overheadsOf(a *Against, c model.Choice, rows []Compared, tau int) (cells []params.Cell) {
	first := make(map[mpi.Way]*params.Cell)
	for _, row := range rows {
		predicted := of(row.Predicted.Models, Full)
		if predicted == nil {
			continue
		}
		way := c.As.Of(row.Bytes)
		key := params.Key{Kind: params.OverheadCell, Placement: a.Predictor.Placement, OffCache: c.OffCache, Tau: tau, Bytes: row.Bytes}
		if way.Single {
			key.Transport = params.CMA
		}
		cell := params.Cell{Key: key, Time: mpibench.Beyond(row.Measured, predicted.Ns)}
		if short := way.Most > 0 && way.Most <= way.Segment; short {
			cells = append(cells, cell)
			continue
		}
		if known := first[way]; known == nil || row.Bytes < known.Bytes {
			first[way] = &cell
		}
	}
	for _, way := range c.As.Ways {
		if cell := first[way]; cell != nil {
			cells = append(cells, *cell)
		}
	}
	return cells
}
