package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/document"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/internal/view"
)

// Program is a program's messages under mappings, measured and predicted.
func Program(r *verify.ProgramResult) *document.Document {
	return document.New("taulop verify -map", r, document.Rows((*program)(r).values), (*program)(r).say)
}

type program verify.ProgramResult

// say writes a line for each mapping.
func (r *program) say(w *document.Document) {
	fmt.Fprintln(w, machine(r.Provenance))
	fmt.Fprintf(w, "%s: %s send %s of %s in all, each once, in rounds; parameters: %s\n", printable.Name(r.Program), printable.Count(r.Ranks, "rank"),
		printable.Count(r.Messages, "message"), rounded(int64(r.Bytes)), printable.Name(r.Parameters))
	for _, rows := range view.Grouped(r.Rows, func(row verify.ProgramRow) bool { return row.OffCache }) {
		beside := append(predictedColumns("predicted"), view.Words("CPUs of ranks")...)
		t := measuredTable("user data "+view.Cache(rows[0].OffCache)+"; errors in %, + predicted too high", view.Words("mapping"), beside, lists.Map(rows, func(r verify.ProgramRow) timedRow {
			return timedRow{[]any{r.Mapping}, r.Measured, []any{microseconds(r.Prediction.Ns/1e3, r.Prediction.Extrapolated), signed(r.Prediction.Error), some16(r.CPUs)}}
		}))
		if slices.ContainsFunc(rows, func(r verify.ProgramRow) bool { return r.Prediction.Extrapolated }) {
			t.Note(beyond)
		}
		w.Tables(t)
	}
	if len(r.Rows) > 1 && slices.Equal(r.Rows[0].CPUs, r.Rows[len(r.Rows)-1].CPUs) {
		fmt.Fprintln(w, "\nBoth mappings are the same: on this machine no other is predicted to be better.")
	}
}

// some16 lists numbers, the first ones of many.
func some16(numbers []int) string {
	var words []string
	for i, n := range numbers {
		if i == 16 {
			words = append(words, "…")
			break
		}
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, " ")
}
