package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/setups"
)

// simulated is the environment variable for launches that simulate this machine without any work.
const simulated = "TAULOP_TEST_SIMULATED"

// programName is the name under which the test program is taulop, so that main and its streams are
// tested, too.
const programName = "taulop"

// TestMain runs this program as a launch if a measurement started it, and as taulop under that name.
// Launches are simulated unless a test calls measures.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == engine.Command {
		if os.Getenv(simulated) != "" {
			os.Exit(surveytest.Serve(surveytest.Simulated{Latency: 100, PerByte: 0.05, Far: 1, Noise: 0.01, Cost: func(setups.Work) float64 { return 2000 }}))
		}
		os.Exit(survey.Serve())
	}
	if len(os.Args) == 2 && os.Args[1] == setups.WorkerCommand {
		os.Exit(setups.ServeWorker())
	}
	if filepath.Base(os.Args[0]) == programName {
		main()
	}
	for _, s := range stops { // under nohup, say: children of the tests are not to inherit it
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Setenv("COLUMNS", "100000") // what is printed is looked for line by line
	os.Setenv(simulated, "1")
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) { // go test's default
		flag.Set("test.parallel", strconv.Itoa(8*runtime.GOMAXPROCS(0))) // most tests that run at once wait
	}
	status := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(status)
}

// measures lets a test measure this machine, without other tests in parallel.
func measures(t *testing.T) {
	t.Helper()
	needLinux(t)
	t.Setenv(simulated, "")
}

// builtIn is the directory of the program that tests of processes share.
var builtIn string

var built = sync.OnceValues(func() (program string, err error) {
	if builtIn, err = os.MkdirTemp("", "taulop-test-"); err != nil {
		return "", err
	}
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	program = filepath.Join(builtIn, programName)
	if os.Link(own, program) == nil {
		return program, nil
	}
	out, err := exec.Command("cp", own, program).CombinedOutput() // a file that this process wrote might be busy
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return program, err
})

// build is the path of taulop: this program under another name.
func build(t *testing.T) string {
	t.Helper()
	return must.Get(built())
}

// program is a taulop process with a command line.
func program(t *testing.T, line ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(build(t), line...)
}

// hanging is the environment variable that makes launches hang at every n-th sample. next waits for
// the next one that hangs, and returns its process ID; 0 if the command ends first.
func hanging(t *testing.T, n int) (variable string, next func(ended <-chan struct{}) (pid int)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hangs")
	seen := 0
	return fmt.Sprintf("%s=%d %s", surveytest.HangsVariable, n, file), func(ended <-chan struct{}) (pid int) {
		for {
			text, _ := os.ReadFile(file)
			if lines := strings.Split(string(text), "\n"); len(lines) > seen+1 {
				fmt.Sscan(lines[seen], &pid)
				seen++
				return pid
			}
			select {
			case <-ended:
				return 0
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

// scratch is inMemory for hundreds of files. Such long tests are skipped with -short.
func scratch(t *testing.T) string {
	t.Helper()
	skip.Short(t, "writes and reads hundreds of files")
	return inMemory(t)
}

// inMemory is a test's directory, in memory if possible: disks take milliseconds per file.
func inMemory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "taulop-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
