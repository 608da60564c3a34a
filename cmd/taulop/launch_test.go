package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
)

// TestMain has this program begin as a launch where a measurement of a test begins it
// again.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == engine.Command {
		if err := survey.Serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
