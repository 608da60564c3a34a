package main

import (
	"os"
	"os/signal"
	"testing"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
)

// TestMain has this program begin as a launch where a measurement of a test begins it
// again.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == engine.Command {
		os.Exit(survey.Serve())
	}
	for _, s := range stops { // under nohup, say: children of the tests are not to inherit it
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Exit(m.Run())
}
