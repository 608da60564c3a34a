package main

import (
	"os"
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
	os.Exit(m.Run())
}
