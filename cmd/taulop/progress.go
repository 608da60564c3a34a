package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/printable"
)

// launchProgress shows the progress of an experiment.
func launchProgress(w io.Writer, budget time.Duration) (show func(engine.Progress), done func()) {
	text := func(p engine.Progress) string {
		launch := fmt.Sprintf("launch %d", p.Launch)
		if p.Launches > 0 {
			launch += fmt.Sprintf(" of %d", p.Launches)
		}
		return fmt.Sprintf("%s: %d of %d cells, %v left", launch, p.Visited, p.Cells, max(0, p.Left.Round(time.Second)))
	}
	set, done := progress(w, int(budget.Milliseconds()))
	return func(p engine.Progress) {
		set(text(p), int(min(max(0, budget-p.Left), budget).Milliseconds()))
	}, done
}

// countProgress shows progress over steps of similar duration.
func countProgress(w io.Writer, what string) (show func(done, of int), done func()) {
	began := time.Now()
	set, done := progress(w, 1000)
	return func(done, of int) {
		left := time.Since(began) / time.Duration(max(1, done)) * time.Duration(of-done)
		set(fmt.Sprintf("%d of %s, %v left", done, printable.Count(of, what), left.Round(time.Second)), 1000*done/max(1, of))
	}, done
}

// progress draws a bar on a terminal, and prints a line per minute elsewhere.
func progress(w io.Writer, most int) (set func(text string, at int), done func()) {
	if m, is := w.(*messages); is {
		w = m.progress
	}
	if !isTerminal(w) {
		last := time.Now()
		return func(text string, _ int) {
			if time.Since(last) >= time.Minute {
				last = time.Now()
				fmt.Fprintf(w, "taulop: %s\n", text)
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(most, progressbar.OptionSetWriter(raw(w)), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(200*time.Millisecond))
	return func(text string, at int) {
		const bars = 30 // columns of the bar, with the percentage before it
		if letters, room := []rune(text), columns(w)-bars; len(letters) > room {
			text = string(letters[:max(0, room-1)]) + "…"
		}
		bar.Describe(text)
		bar.Set(at)
	}, func() { bar.Finish() }
}
