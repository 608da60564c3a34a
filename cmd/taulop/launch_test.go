package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/setups"
)

// TestMain has this program begin as a launch where a measurement of a test begins it
// again.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == engine.Command {
		os.Exit(survey.Serve())
	}
	if len(os.Args) == 2 && os.Args[1] == setups.WorkerCommand {
		os.Exit(setups.ServeWorker())
	}
	for _, s := range stops { // under nohup, say: children of the tests are not to inherit it
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Setenv("COLUMNS", "100000") // what is printed is looked for line by line
	status := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(status)
}

// builtIn is the directory of the program that the tests of processes share.
var builtIn string

var built = sync.OnceValues(func() (program string, err error) {
	if builtIn, err = os.MkdirTemp("", "taulop-test-"); err != nil {
		return "", err
	}
	program = filepath.Join(builtIn, "taulop")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// scratch is a directory for hundreds of files, in memory where there is some: disks
// take milliseconds for each that is written to its end. Such tests are long, and the race
// detector finds nothing in them that it does not find in others.
func scratch(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("writes and reads hundreds of files")
	}
	dir, err := os.MkdirTemp("/dev/shm", "taulop-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// times is how often a random test does what it is for: as often as the environment
// says, or else so many times.
func times(t *testing.T, env string, otherwise int) int {
	t.Helper()
	text := os.Getenv(env)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%q: give a number, like %d", env, text, 10*otherwise)
	}
	return n
}
