package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
)

// WriteSweep writes a file's transfers, a table for each setup, placement and
// state of the cache, the memory concurrency, and how well all is known.
func WriteSweep(w io.Writer, f *params.File) {
	at := make(map[params.Key]params.Cell)
	for _, c := range f.Cells {
		at[c.Key] = c
	}
	for _, setup := range f.Plan.Setups {
		for _, policy := range f.Plan.Policies {
			for _, off := range f.Plan.Caches {
				writeTransfers(w, f, at, setup, policy, off)
			}
		}
	}
	for _, s := range survey.All() {
		s.WriteText(w, f)
	}
	WriteReach(w, f)
}

// WriteSurvey writes what one survey found: the machine, lines about what was measured
// and where, tables, and how well all is known.
func WriteSurvey(w io.Writer, f *params.File, about []string, s *survey.Survey) {
	fmt.Fprintln(w, machine(f.Provenance))
	for _, line := range about {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	s.WriteText(w, f)
	WriteReach(w, f)
}

// WriteReach says how well a file's cells are known.
func WriteReach(w io.Writer, f *params.File) {
	seconds := strconv.FormatFloat(f.Seconds, 'f', 0, 64)
	if f.Seconds < 10 {
		seconds = strconv.FormatFloat(f.Seconds, 'f', 1, 64)
	}
	fmt.Fprintf(w, "%d cells in %s s, %s; ", len(f.Cells), seconds, launches(f))
	widths := f.Widths()
	half, most := fit.Quantile(widths, 0.5), fit.Quantile(widths, 0.9)
	switch {
	case !(half <= math.MaxFloat64):
		fmt.Fprintln(w, "samples are too few for intervals of half of them")
	case !(most <= math.MaxFloat64):
		fmt.Fprintf(w, "95 %% intervals within ±%s %% for half of them, too few samples for 9 of 10\n", view.Digits(100*half, 1))
	default:
		fmt.Fprintf(w, "95 %% intervals within ±%s %% for half of them, ±%s %% for 9 of 10\n", view.Digits(100*half, 1), view.Digits(100*most, 1))
	}
	if text := components(f); text != "" {
		fmt.Fprintln(w, text)
	}
}

// launches says how a file was measured.
func launches(f *params.File) string {
	alive := 0
	for _, l := range f.Launches {
		if !l.Died {
			alive++
		}
	}
	switch n := f.Sessions(); {
	case alive == 0:
		return "no launches"
	case alive == 1:
		return "one launch"
	case n == 1:
		return fmt.Sprintf("%d launches of one session", alive)
	default:
		return fmt.Sprintf("%d launches of %d sessions", alive, n)
	}
}

// components says what samples differ by, and what intervals are over.
func components(f *params.File) string {
	within, between, sessions := f.Components()
	if math.IsNaN(within) || math.IsNaN(between) {
		return ""
	}
	text := fmt.Sprintf("samples differ by %s %% within a launch, %s %% between launches", view.Digits(100*within, 0.1), view.Digits(100*between, 0.1))
	if math.IsNaN(sessions) {
		return text + "; intervals are over the launches of one session: another hour is not in them, until a session is added"
	}
	return text + fmt.Sprintf(", %s %% between sessions; intervals are over sessions (median standard deviations of all cells)", view.Digits(100*sessions, 0.1))
}

// writeTransfers writes L(m,τ) of messages down and τ across: first the isolated
// transfer between two workers, then the setup's.
func writeTransfers(w io.Writer, f *params.File, at map[params.Key]params.Cell, setup string, policy numa.Policy, off bool) {
	cache := "in cache"
	if off {
		cache = "off cache"
	}
	columns := []params.Key{{Kind: params.TransferCell, Setup: setups.Isolated.Name, Placement: policy, OffCache: off, Tau: 1}}
	for _, tau := range f.Plan.Taus {
		columns = append(columns, params.Key{Kind: params.TransferCell, Setup: setup, Placement: policy, OffCache: off, Tau: tau})
	}
	columns = slices.DeleteFunc(columns, func(k params.Key) bool {
		return !slices.ContainsFunc(f.Plan.Sizes, func(m int) bool { k.Bytes = m; _, ok := at[k]; return ok })
	})
	fmt.Fprintf(w, "L(m,τ) in ns, %s, placement %s, %s; segments of %s, longer messages as a whole\n", setup, policy, cache, view.Bytes(f.Plan.SegmentBytes))
	if len(columns) == 0 {
		fmt.Fprint(w, "nothing is measured yet\n\n")
		return
	}
	fmt.Fprintf(w, "%10s", "m")
	for _, k := range columns {
		name := "τ=" + strconv.Itoa(k.Tau)
		if k.Setup == setups.Isolated.Name {
			name = "isolated"
		}
		fmt.Fprintf(w, " %11s", name)
	}
	fmt.Fprintf(w, " %8s\n", "A(τ)")
	for _, m := range f.Plan.Sizes {
		var row strings.Builder
		fmt.Fprintf(&row, "%10s", view.Bytes(m))
		one, last := fit.Median(nil), fit.Median(nil) // L(m,1), and that of the largest τ
		tau := 0
		for _, k := range columns {
			k.Bytes = m
			c, ok := at[k]
			if !ok {
				fmt.Fprintf(&row, " %11s", "")
				continue
			}
			L := c.Whole()
			fmt.Fprintf(&row, " %11s", view.Center(L))
			if k.Tau == 1 && tau == 0 {
				one = f.Alone(&c).Whole()
			}
			last, tau = L, k.Tau
		}
		if tau > 1 && one.Center > 0 {
			A := fit.Concurrency(tau, one, last)
			fmt.Fprintf(&row, " %8s", view.Digits(A.Center, max(0.01, (A.Hi-A.Lo)/2)))
		}
		fmt.Fprintln(w, strings.TrimRight(row.String(), " "))
	}
	fmt.Fprintln(w)
}
