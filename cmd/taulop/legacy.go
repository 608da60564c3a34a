package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// progress draws a line on a terminal while rows are measured; a negative row
// wipes it.
func progress(w io.Writer, quiet bool) func(row, rows int) {
	f, ok := w.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return func(int, int) {}
	}
	return func(row, rows int) {
		if row < 0 {
			fmt.Fprint(f, "\r\x1b[K")
		} else if row < rows {
			fmt.Fprintf(f, "\r\x1b[Kmeasuring row %d of %d", row+1, rows)
		}
	}
}

func writeWarnings(w io.Writer, warnings []string, bounds ...string) { warn(w, append(warnings, bounds...)) }
