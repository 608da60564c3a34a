package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

// TestScriptsSayWhy runs bench/mpi/run.sh with fake compilers, libraries and taulop. Each command fails
// in turn, and the terminal shows its error.
func TestScriptsSayWhy(t *testing.T) {
	t.Parallel()
	skip.Without(t, "bash")
	dir := t.TempDir()
	must.Do(os.CopyFS(dir, os.DirFS("testdata/scripts")))
	for _, program := range must.Get(filepath.Glob(dir + "/*")) {
		must.Do(os.Chmod(program, 0o755))
	}
	for _, fails := range []string{"", "sweep", "mpirun", "topo", "import", "verify"} {
		cmd := exec.Command("bash", "../../bench/mpi/run.sh", "2", filepath.Join(dir, "out-"+fails))
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "FAIL="+fails)
		said, err := cmd.CombinedOutput()
		switch {
		case fails == "" && err != nil:
			t.Errorf("nothing fails: %v\n%s", err, said)
		case fails == "":
		case err == nil:
			t.Errorf("%s fails, and run.sh does not", fails)
		case !strings.Contains(string(said), "taulop: "+fails+" cannot") || !strings.Contains(string(said), "run.sh: line "):
			t.Errorf("%s fails, and run.sh says:\n%s", fails, said)
		}
	}
}

// TestManycoreInFile runs bench/manycore.sh with a taulop whose verify fails, and without a compiler: a file that it
// prints into has all of it, from the first line on.
func TestManycoreInFile(t *testing.T) {
	t.Parallel()
	skip.If(t, runtime.NumCPU() < 2, "one core alone is not verified")
	dir := t.TempDir()
	must.Do(os.CopyFS(dir, os.DirFS("testdata/scripts")))
	must.Do(os.Chmod(dir+"/stub", 0o755))
	for _, compiler := range []string{"gcc", "cc", "clang"} {
		must.Do(os.WriteFile(filepath.Join(dir, compiler), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	}
	printed := must.Get(os.Create(filepath.Join(dir, "printed")))
	defer printed.Close()
	cmd := exec.Command("sh", "../../bench/manycore.sh", filepath.Join(dir, "out"), "120")
	cmd.Env = append(os.Environ(), "TAULOP="+dir+"/stub", "FAIL=verify", "PATH="+dir+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = printed, printed
	err := cmd.Run()
	said := load(t, dir, "printed")
	check.True(t, err == nil && strings.HasPrefix(said, "taulop ") && strings.Contains(said, "\n    taulop: verify cannot\n") && strings.Contains(said, "no C compiler"),
		"%v\n%q", err, said)
}

// TestScriptsRefuse gives each script of bench a wrong argument: it says one sentence, and ends with status 2 before
// it builds or installs anything. With -h it prints what its head says.
func TestScriptsRefuse(t *testing.T) {
	t.Parallel()
	skip.Without(t, "bash")
	full := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(full, "host.json"), nil, 0o644))
	scripts := map[string][]string{
		"aa.sh":               {"", "DIR x", "DIR 3", "DIR 28 0", "DIR 28 70 1"},
		"access.sh":           {"x", "0", "5 x", "5 -1", "5 0 1"},
		"bandwidth.sh":        {"x", "0", "5 1"},
		"levels.sh":           {"x", "0", "5 1"},
		"manycore.sh":         {"", "DIR x", "DIR 119", "FULL", "DIR 600 1"},
		"processes.sh":        {"x", "0", "7 1"},
		"reduce.sh":           {"x", "5 SUM", "5 SUM_X", "5 LAND_R", "5 SUM_I 4G", "5 SUM_I 16K", "5 SUM_I 4K x", "5 SUM_I 4K 0 1"},
		"reference.sh":        {"x", "0", "9 1", "9"},
		"mpi/instructions.sh": {"x"},
		"mpi/monitoring.sh":   {"", "DIR x", "FULL"},
		"mpi/posix.sh":        {"", "mpicc", "true true none.json", "true none-there"},
		"mpi/run.sh":          {"x", "0", "4 FULL", "4 DIR 1"},
		"mpi/taken.sh":        {"none.json", "docs_test.go 1", "docs_test.go x"},
		"mpi/timed.sh":        {"FULL", "DIR 1"},
	}
	for script, calls := range scripts {
		path := "../../bench/" + script
		said, err := exec.Command(path, "-h").CombinedOutput()
		check.True(t, err == nil && (strings.Contains(string(said), script+" ") || strings.Contains(string(said), script+"\n")) && !strings.Contains(string(said), "# "),
			"%s -h: %v\n%s", script, err, said)
		for _, call := range calls {
			args := strings.Fields(strings.NewReplacer("DIR", filepath.Join(full, "new"), "FULL", full).Replace(call))
			cmd := exec.Command(path, args...)
			cmd.Env = append(os.Environ(), "TAULOP_SHARED=", "PARAMS=")
			said, _ := cmd.CombinedOutput()
			got := cmd.ProcessState.ExitCode()
			check.True(t, got == 2 && strings.Count(string(said), "\n") == 1 && strings.Contains(string(said), filepath.Base(script)+": "),
				"%s %s: status %d\n%s", script, call, got, said)
		}
	}
	check.Error(t, must.Err(os.Stat(filepath.Join(full, "new"))), "a refused script made its directory")
	for _, script := range append(must.Get(filepath.Glob("../../bench/*.sh")), must.Get(filepath.Glob("../../bench/mpi/*.sh"))...) {
		name := strings.TrimPrefix(script, "../../bench/")
		_, tested := scripts[name]
		check.True(t, tested || name == "failed.sh" || name == "mpi/setup.sh" || name == "repeat.sh", "%s is not tested", script)
	}
}
