package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/internal/test/sandbox"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/params"
)

// writers are quick commands that write a file, by the first bytes of that. OUT is the file, IN a
// parameter file, SHM a published table, OSU a benchmark's output.
func writers(t *testing.T, in, shm, scratch string) map[string][]string {
	t.Helper()
	all, two := make(map[string][]string), ""
	if !oneCPU(t) {
		two = surveytest.Machine(t, 2).Allowed[:2].String()
	}
	osu := save(t, scratch, "osu.txt", "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n1  0.6\n64  1.2\n")
	paths := strings.NewReplacer("IN", in, "SHM", shm, "OSU", osu, "DIR", scratch, "TWO", two)
	for line, begins := range map[string]string{
		"report -o OUT IN":                                                                                    "<!DOCTYPE html>",
		"compare -as ring -o OUT IN SHM":                                                                      "",
		"export -format csv -o OUT IN":                                                                        "kind,setup",
		"export -format benchfmt -o OUT IN":                                                                   "# host",
		"import -o OUT SHM":                                                                                   "{\n  \"format\"",
		"-quiet -launches 6 -time 10m -k 1,2 -o OUT 2 64B 2":                                                  "L(",
		"-quiet -json -launches 6 -time 10m -k 1,2 -o OUT 2 64B 2":                                            "{",
		"copy -quiet -launches 6 -time 10m -tau 1 -m 64 -levels memory -o OUT":                                "",
		"pack -quiet -launches 6 -time 10m -cpus TWO -o OUT 1K8S":                                             "",
		"access -quiet -launches 6 -time 10m -cache in -ops read -types int32 -n 1K -stride 1 -o OUT":         "",
		"disk -quiet -launches 6 -time 10m -m 4K -file 64K -cache in -o OUT DIR":                              "",
		"verify -quiet -against OSU -params SHM -o OUT":                                                       "Off on average of",
		"verify -quiet -json -against OSU -params SHM -o OUT":                                                 "{",
		"plot l-m -o OUT.svg IN":                                                                              "<?xml",
		"copy -quiet -launches 6 -time 10m -tau 1 -m 64 -levels memory -o OUT.json":                           "{\n  \"format\"",
		"copy -quiet -json -launches 6 -time 10m -tau 1 -m 64 -levels memory -o OUT":                          "{\n  \"format\"",
		"access -quiet -launches 6 -time 10m -cache in -ops read -types int32 -n 1K -stride 1 -o OUT.json":    "{\n  \"format\"",
		"disk -quiet -launches 6 -time 10m -m 4K -file 64K -cache in -o OUT.json DIR":                         "{\n  \"format\"",
		"pairs -quiet -launches 6 -time 10m -cpus TWO -o OUT.json":                                            "{\n  \"format\"",
		"sweep -quiet -launches 6 -time 10m -cache in -gamma=false -tau 1 -m 64 -o OUT.json":                  "{\n  \"format\"",
		"verify -quiet -oversubscribe -patterns -time 16s -cache in -P 2 -m 64:1K -save OUT.json permutation": "{\n  \"format\"",
	} {
		if strings.Contains(line, "TWO") && two == "" {
			continue
		}
		all[line] = append([]string{begins}, strings.Fields(paths.Replace(line))...)
	}
	return all
}

// A result whose file cannot be written is printed, with status 1.
func TestUnwrittenIsPrinted(t *testing.T) {
	t.Parallel()
	needLinux(t)
	scratch, dir := t.TempDir(), t.TempDir()
	in, shm := nodes.Write(t, scratch, 1)[0], save(t, scratch, "SHM.txt", tinySHM)
	all := writers(t, in, shm, scratch)
	sandbox.Mount(t, dir, "size=4k", func() {
		save(t, dir, "filler", strings.Repeat("x", 4096))
		for line, words := range all {
			args := slices.Clone(words[1:])
			for i, word := range args {
				args[i] = strings.Replace(word, "OUT", dir+"/out", 1)
			}
			out, errOut, err := run(t, args...)
			check.True(t, exitStatus(err) == 1 && errors.Is(err, syscall.ENOSPC) && strings.HasPrefix(out, words[0]) && len(out) >= 20,
				"%s: exit %d, %v\n%.300s\n%s; want exit 1 and what begins with %q", line, exitStatus(err), err, out, errOut, words[0])
			if strings.Contains(line, ".json") && !strings.Contains(line, "-save") {
				check.NoError(t, must.Err(params.Read(strings.NewReader(out), "out")), "%s: what is printed is no parameter file", line)
			}
			check.Equal(t, len(must.Get(os.ReadDir(dir))), 1, "%s left", line)
		}
	})
}

// onWarning calls a function at a warning.
type onWarning struct {
	bytes.Buffer
	do func()
}

func (w *onWarning) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "tries again") {
		w.do()
	}
	return w.Buffer.Write(p)
}

// A sweep survives a disk that is full at first, and writes its file.
func TestSweepOutlastsFullDisk(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	sandbox.Mount(t, dir, "size=1m", func() {
		filler, file := filepath.Join(dir, "filler"), filepath.Join(dir, "host.json")
		save(t, dir, "filler", strings.Repeat("x", 1<<20))
		said := &onWarning{do: func() { os.Remove(filler) }}
		var out bytes.Buffer
		err := named("sweep").run(context.Background(), &out, said, strings.Fields("-launches 6 -time 10m -cache in -gamma=false -tau 1 -m 64,1K -o "+file))
		check.True(t, err == nil && strings.Count(said.String(), "tries again") == 1 && !strings.Contains(out.String(), `"format"`),
			"%v\n%s\n%s", err, out.String(), said.String())
		check.True(t, len(loadParams(t, file).Cells) > 0, "the file has no cells")
	})
}

// A sweep whose disk has room for its first, empty file, but not for the last one, leaves what was there before; with
// room for some of its journal it says how to go on, and is resumed.
func TestSweepOnFullDisk(t *testing.T) {
	needLinux(t)
	page := os.Getpagesize()
	for free, journal := range map[int]bool{0: false, 2: false, 4: true} {
		dir := t.TempDir()
		sandbox.Mount(t, dir, fmt.Sprintf("size=%d", 64*page), func() {
			filler, file := filepath.Join(dir, "filler"), filepath.Join(dir, "host.json")
			save(t, dir, "filler", strings.Repeat("x", (64-free)*page))
			out, _, err := run(t, "sweep", "-quiet", "-launches", "6", "-time", "10m", "-cache", "in", "-gamma=false", "-tau", "1", "-m", "64,1K", "-o", file)
			left, _ := os.ReadDir(dir)
			check.Need(t, exitStatus(err) == 1 && errors.Is(err, syscall.ENOSPC) && strings.HasPrefix(out, "{") && strings.Contains(err.Error(), "resume the sweep") == journal && len(left) > 1 == journal,
				"%d pages left: %v, and %v\n%.100s", free, err, left, out)
			if !journal {
				return
			}
			must.Do(os.Remove(filler))
			ran(t, "sweep", "-quiet", "-time", "10m", "-resume", file)
			check.Equal(t, len(must.Get(os.ReadDir(dir))), 1, "files that the resumed sweep left")
		})
	}
}

// A sweep that cannot write its file does not lose the one that it replaces.
func TestReplacedOutlastsFullDisk(t *testing.T) {
	needLinux(t)
	page := os.Getpagesize()
	for free, replaced := range map[int]bool{0: false, 4: true} {
		dir := t.TempDir()
		sandbox.Mount(t, dir, fmt.Sprintf("size=%d", 64*page), func() {
			old := strings.Repeat("old\n", page)
			file := save(t, dir, "host.json", old)
			save(t, dir, "filler", strings.Repeat("x", (64-4-free)*page))
			_, _, err := run(t, "sweep", "-quiet", "-launches", "6", "-time", "10m", "-cache", "in", "-gamma=false", "-tau", "1", "-m", "64,1K", "-force", "-o", file)
			kept := "host.json"
			if replaced {
				kept = "host.json.old"
			}
			left, _ := filepath.Glob(filepath.Join(dir, "host*"))
			check.True(t, exitStatus(err) == 1 && errors.Is(err, syscall.ENOSPC) && strings.Contains(err.Error(), "host.json.old has what was there before") == replaced && len(left) > 1 == replaced && load(t, dir, kept) == old,
				"%d pages left: %v, and %v", free, err, left)
		})
	}
}

// Status 0 means that all output was written.
func TestClosedOutput(t *testing.T) {
	dir := t.TempDir()
	shm := save(t, dir, "SHM.txt", tinySHM)
	try := func(want int, redirect string, args ...string) {
		t.Helper()
		_, said, err := outputs(exec.Command("sh", append([]string{"-c", `exec "$0" "$@" ` + redirect, build(t)}, args...)...))
		check.Equal(t, status(err), want, "status of taulop %v %s, %s", args, redirect, said)
		check.True(t, want != 1 || strings.Contains(said, "standard output is closed"), "taulop %v %s: %s", args, redirect, said)
	}
	try(1, ">&-", "topo")
	try(1, ">&-", "-h")
	try(1, ">&-", "export", "-format", "csv", shm)
	try(0, ">&-", "export", "-format", "csv", "-o", filepath.Join(dir, "x.csv"), shm)
	try(1, "<&- >&-", "topo")
	try(0, ">/dev/null", "topo")
	try(0, "1<>/dev/null 2>&1", "topo")
	try(2, "2>"+shm, "topo", "-o", shm)
	try(0, "2>"+shm, "topo", "-o", "/dev/stderr")
}

// A page has the text of a file from a pipe.
func TestReportOfPipe(t *testing.T) {
	dir := t.TempDir()
	file := nodes.Write(t, dir, 1)[0]
	raw := func(path string) string {
		page := filepath.Join(dir, "report.html")
		ran(t, "report", "-force", "-o", page, path)
		_, text, _ := strings.Cut(load(t, page), `<script type="application/gzip"`)
		_, text, _ = strings.Cut(text, ">")
		text, _, _ = strings.Cut(text, "</script>")
		return text
	}
	pipe := filepath.Join(dir, filepath.Base(file)+".pipe")
	must.Do(unix.Mkfifo(pipe, 0o600))
	go os.WriteFile(pipe, []byte(load(t, file)), 0)
	whole, piped := raw(file), raw(pipe)
	check.True(t, len(whole) >= 100 && piped == whole, "the pipe's download has %d letters, the file's %d", len(piped), len(whole))
}

// A page that cannot be written leaves no figures.
func TestReportWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	file, full := nodes.Write(t, dir, 1)[0], filepath.Join(dir, "full.md")
	must.Do(os.Symlink("/dev/full", full))
	_, _, err := run(t, "report", "-md", "-force", "-o", full, file)
	left, _ := filepath.Glob(filepath.Join(dir, "full-*"))
	check.True(t, err != nil && left == nil, "%v, and figures %q", err, left)
}

// A full and a read-only disk are errors, and nothing is left on them. They are mounts in the child's namespace.
func TestDiskRefused(t *testing.T) {
	skip.If(t, os.Getuid() != 0, "mounting needs root")
	for options, want := range map[string]string{"size=8m": "there is no room for a file of 64 MB", "size=8m,ro": "no file can be written there"} {
		cmd := exec.Command("sh", "-c", `mount -t tmpfs -o "$2" taulop "$1" || exit 77
"$0" disk -quiet "$1"; code=$?
ls -A "$1"; exit $code`, build(t), t.TempDir(), options)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, errOut, err := outputs(cmd)
		skip.If(t, errors.Is(err, syscall.EPERM) || status(err) == 77, "this root may not mount: %v", errOut)
		check.True(t, status(err) == 2 && strings.Contains(errOut, want) && strings.Count(errOut, "\n") == 1 && out == "",
			"%s: %v, %q, left behind: %s; want exit 2 and one line with %q", options, err, errOut, out, want)
	}
}

// With too few resources every command prints a sentence, with another status than for bad input.
func TestLimits(t *testing.T) {
	skip.If(t, testing.CoverMode() != "", "the program opens files of its own for the coverage")
	unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) // what go test inherited would count
	program := build(t)
	must.Do(os.Chmod(filepath.Dir(program), 0o755)) // others begin it too
	try := func(limit string, most []int, as []string) {
		t.Helper()
		for _, tool := range append(slices.Clone(as[:min(1, len(as))]), "bash") {
			if _, err := exec.LookPath(tool); err != nil || len(as) > 0 && os.Getuid() != 0 {
				t.Skipf("ulimit -%s: this needs root, setpriv and bash", limit)
			}
		}
		for _, n := range most {
			for _, args := range []string{"topo", "-ring -local -time 2s 2 8 2", "sweep -time 2s -o /dev/null/x.json", "check -baseline x.json"} {
				line := append(slices.Clone(as), "bash", "-c", fmt.Sprintf(`ulimit -%s %d && exec "$0" %s`, limit, n, args), program)
				out, errOut, err := outputs(exec.Command(line[0], line[1:]...))
				want := 1
				if strings.HasPrefix(args, "check") {
					want = 3
				}
				check.True(t, status(err) == want && strings.Count(errOut, "\n") == 1 && strings.Contains(errOut, "(ulimit -"+limit+")") && out == "",
					"%d: taulop %s: %v\n%s%s", n, args, err, out, errOut)
			}
		}
	}
	try("n", []int{4, 5, 6, 7, 8, 9, 10, 12}, nil)
	try("u", []int{8, 9, 10}, []string{"setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"})
}

// A release prints a sentence in any address space: by its entry where the Go runtime does not start, else
// by checkLimits.
func TestAddressSpace(t *testing.T) {
	program := filepath.Join(t.TempDir(), programName)
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-E=entry", "-o", program, ".").CombinedOutput()
	check.Need(t, err == nil, "%v\n%s", err, out)
	for kib := 100_000; kib < 1_900_000; kib += 100_000 {
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d && exec "$0" -ring -local -time 2s 2 8 2`, kib), program)
		out, _ := cmd.CombinedOutput()
		got := cmd.ProcessState.ExitCode()
		check.True(t, got == 1 && bytes.Count(out, []byte("\n")) == 1 && bytes.Contains(out, []byte("(ulimit -v)")), "%d KiB: status %d\n%.2000s", kib, got, out)
	}
	out, err = exec.Command(program, "version").CombinedOutput()
	check.NoError(t, err, "%s", out)
}

// Sentences call the file - standard input, which is a pipe here.
func TestStandardInput(t *testing.T) {
	program := build(t)
	for line, want := range map[string]string{
		"import -format text -":            "taulop: standard input:1: ",
		"import -":                         "taulop: standard input:1: ", // read to know its format, and again
		"map -":                            "taulop: standard input:1: ",
		"import -format mpi - -":           "taulop: standard input is named twice: name each file once",
		"compare - -":                      "taulop: standard input is named twice: name each file once",
		"predict -P 2 -params - bcast":     "taulop: -params: standard input:1: ",
		"verify -against - -params a.json": "taulop: -against: standard input holds no table",
		"check -baseline -":                "taulop UNKNOWN: -baseline: standard input:1: ",
		"export -format csv -":             "taulop: standard input:1: ",
	} {
		cmd := exec.Command(program, strings.Fields(line)...)
		cmd.Stdin = strings.NewReader("nothing\n")
		said, _ := cmd.CombinedOutput()
		check.True(t, strings.HasPrefix(string(said), want), "%s: %s", line, said)
	}
}
