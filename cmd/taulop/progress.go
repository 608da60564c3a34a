package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/taulop/taulop/internal/engine"
)

// launchProgress shows a bar on a terminal, and a line a minute elsewhere.
func launchProgress(w io.Writer, budget time.Duration) (show func(engine.Progress), done func()) {
	text := func(p engine.Progress) string {
		launch := fmt.Sprintf("launch %d", p.Launch)
		if p.Launches > 0 {
			launch += fmt.Sprintf(" of %d", p.Launches)
		}
		return fmt.Sprintf("%s: %d of %d cells, %v left", launch, p.Visited, p.Cells, max(0, p.Left.Round(time.Second)))
	}
	if !isTerminal(w) {
		last := time.Now()
		return func(p engine.Progress) {
			if time.Since(last) >= time.Minute {
				last = time.Now()
				fmt.Fprintf(w, "taulop: %s\n", text(p))
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(int(budget.Milliseconds()), progressbar.OptionSetWriter(raw(w)), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(200*time.Millisecond))
	return func(p engine.Progress) {
		bar.Describe(text(p))
		bar.Set(int(min(max(0, budget-p.Left), budget).Milliseconds()))
	}, func() { bar.Finish() }
}
