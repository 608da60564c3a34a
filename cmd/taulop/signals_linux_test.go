package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/process"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/nodes"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A signalled command is a taulop process. In its arguments FIFO is a pipe without a writer, HOST a
// swept file, and NEW a file to write.
type signalled struct {
	name, args string
	samples    bool // its launches do, and hang at one
	ends       bool // before the signal, perhaps
	unread     bool // standard output is a pipe that is full and without a reader
}

var signalledCommands = []signalled{
	{name: "plain", args: "-launches 1000 -time 10m -o NEW.txt 2 8 2", samples: true},
	{name: "plain, off cache", args: "-launches 1000 -time 10m -off_cache 2 8 2", samples: true},
	{name: "sweep", args: "sweep -launches 1000 -time 10m -o NEW.json", samples: true},
	{name: "pairs", args: "pairs -launches 1000 -time 10m -o NEW.json", samples: true},
	{name: "copy", args: "copy -launches 1000 -time 10m -o NEW.json", samples: true},
	{name: "pack", args: "pack -launches 1000 -time 10m -o NEW.json", samples: true},
	{name: "access", args: "access -launches 1000 -time 10m -o NEW.json", samples: true},
	{name: "disk", args: "disk -launches 1000 -time 10m -file 4M -m 4K,1M -o NEW.json DIR", samples: true},
	{name: "verify", args: "verify -oversubscribe -time 10m -P 2 -m 8K,64K -o NEW.txt message bcast:binomial", samples: true},
	{name: "verify -patterns", args: "verify -oversubscribe -patterns -time 10m -P 2 -save NEW.json", samples: true},
	{name: "topo", args: "topo", ends: true},

	{name: "opening: import", args: "import FIFO"},
	{name: "opening: import -o", args: "import -o NEW.json FIFO"},
	{name: "opening: predict", args: "predict -params FIFO -P 4 bcast"},
	{name: "opening: explain", args: "explain -params FIFO -P 4 bcast"},
	{name: "opening: compare", args: "compare HOST FIFO"},
	{name: "opening: export", args: "export -format csv FIFO"},
	{name: "opening: report", args: "report -o NEW.html FIFO"},
	{name: "opening: plot", args: "plot l-m -o NEW.svg FIFO"},
	{name: "opening: verify -against", args: "verify -against FIFO -params HOST"},
	{name: "opening: verify -params", args: "verify -oversubscribe -params FIFO"},
	{name: "opening: access -o", args: "access -o FIFO", ends: true}, // where a pipe is written to, it waits later
	{name: "reading: import", args: "import /dev/stdin"},

	{name: "computing: explain -compare", args: "explain -compare -params HOST -P 2-3000 bcast"},
	{name: "computing: predict", args: "predict -params HOST -P 2-3000 -m 1K bcast:binomial allgather:ring", ends: true},

	{name: "unread: predict", args: "predict -params HOST -P 4 -m 1:64M bcast", unread: true},
	{name: "unread: export", args: "export -format csv HOST", unread: true},
	{name: "unread: plain", args: "-launches 1000 -time 10m 2 8 2", unread: true, samples: true},
	{name: "unread: pairs", args: "pairs -launches 6 -m 8K -o NEW.json", unread: true, ends: true},
	{name: "unread: verify", args: "verify -oversubscribe -time 2s -P 2 -m 8K -cache in -o NEW.txt message", unread: true, ends: true},
}

// Every command ends after one signal with a shell's status for it, and keeps its measurements. The
// signal comes in the first sample of a launch, after some, or while the command waits or computes.
func TestSignals(t *testing.T) {
	needLinux(t)
	skip.Short(t, "begins a hundred processes")
	program, dir := build(t), t.TempDir()
	host := filepath.Join(dir, "host.json")
	must.Do(nodes.Machine(0).WriteFile(host))
	for i, c := range signalledCommands {
		if needsTwo(c.args) && oneCPU(t) {
			continue
		}
		moments := []moment{{sample: 1}, {sample: 7}}
		if !c.samples {
			moments = []moment{{}}
		}
		for j, m := range moments {
			m.signal = stops[(i+j)%len(stops)].(syscall.Signal)
			t.Run(fmt.Sprintf("%s, %v", c.name, m), func(t *testing.T) {
				t.Parallel()
				c.interrupted(t, program, host, m)
			})
		}
	}
}

// needsTwo reports whether a command needs two CPUs.
func needsTwo(args string) bool {
	return strings.HasPrefix(args, "pairs") || strings.HasPrefix(args, "pack")
}

func oneCPU(t *testing.T) bool {
	t.Helper()
	m, err := numa.Discover("/")
	return err == nil && m.Allowed.Len() == 1
}

// A moment is the time of a signal.
type moment struct {
	signal syscall.Signal
	sample int // at which a launch hangs; 0: when the command computes or waits
}

func (m moment) String() string {
	if m.sample > 0 {
		return fmt.Sprintf("%v at sample %d", m.signal, m.sample)
	}
	return m.signal.String()
}

// settled waits until a process is idle, has computed for a while, or has ended.
func settled(pid int, ended <-chan struct{}) {
	const long = 20 // ticks of a hundredth of a second
	last, same := -1, 0
	for same < 5 {
		ticks := 0
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, fields, _ := strings.Cut(string(text), ") ")
		if of := strings.Fields(fields); len(of) > 12 {
			user, _ := strconv.Atoi(of[11])
			system, _ := strconv.Atoi(of[12])
			ticks = user + system
		}
		if ticks >= long {
			return
		}
		if same++; ticks != last {
			last, same = ticks, 0
		}
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// command is the command in a directory, with the file that it writes, if any.
func (c signalled) command(program, host, dir, fifo string) (cmd *exec.Cmd, written string) {
	args := strings.Fields(strings.NewReplacer("FIFO", fifo, "HOST", host, "DIR", dir).Replace(c.args))
	for i, arg := range args {
		if ext, ok := strings.CutPrefix(arg, "NEW"); ok {
			written = filepath.Join(dir, "new"+ext)
			args[i] = written
		}
	}
	return exec.Command(program, args...), written
}

func (c signalled) interrupted(t *testing.T, program, host string, m moment) {
	dir := t.TempDir()
	fifo, errPath := filepath.Join(dir, "fifo"), save(t, dir, "stderr", "")
	stdin, open, err := os.Pipe()
	if err == nil {
		err = syscall.Mkfifo(fifo, 0o600)
	}
	must.Do(err)
	defer open.Close()
	defer stdin.Close()
	errFile := must.Get(os.OpenFile(errPath, os.O_WRONLY, 0))
	defer errFile.Close()
	cmd, written := c.command(program, host, dir, fifo)
	cmd.Stdin, cmd.Stderr = stdin, errFile
	if c.unread {
		r, w, err := fullPipe()
		must.Do(err)
		defer r.Close()
		defer w.Close()
		cmd.Stdout = w
	}
	variable, hung := hanging(t, cmp.Or(m.sample, 1e9))
	cmd.Env = append(cmd.Environ(), variable)
	must.Do(cmd.Start())
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	switch {
	case m.sample > 0:
		check.True(t, hung(ended) != 0, "no launch came to the sample")
	case c.unread:
		untilWithin(t, cmd.Process.Pid, printing)
	default:
		settled(cmd.Process.Pid, ended)
	}
	cmd.Process.Signal(m.signal)
	select {
	case <-ended:
	case <-time.After(hangs):
		t.Errorf("hangs after %v", m.signal)
		cmd.Process.Kill()
		<-ended
	}
	c.checkEnd(t, cmd.ProcessState.Sys().(syscall.WaitStatus), m.signal, load(t, errPath), written)
	left := must.Get(os.ReadDir(dir))
	for _, e := range left {
		name := filepath.Join(dir, e.Name())
		check.True(t, slices.Contains([]string{fifo, written, errPath}, name), "left behind: %s", name)
	}
}

// checkEnd checks the status, messages and file of a command after a signal.
func (c signalled) checkEnd(t *testing.T, status syscall.WaitStatus, signal syscall.Signal, said, written string) {
	t.Helper()
	if signal == syscall.SIGQUIT && strings.Contains(said, "SIGQUIT: quit") && !strings.Contains(said, "main.supervise.func") {
		return // the Go runtime had begun, and the command had not
	}
	right := status.Signaled() && status.Signal() == signal || // too early to be caught
		status.ExitStatus() == 128+int(signal) || c.ends && (status.ExitStatus() == 0 || strings.Contains(said, "within -time"))
	check.True(t, right && !strings.Contains(said, "goroutine "), "status %#x after %v:\n%s", status, signal, said)
	if written == "" {
		return
	}
	// A command says how much it measured, and prints that. Launches without a complete row have nothing.
	_, err := os.Stat(written)
	check.True(t, err == nil || strings.Contains(said, " with 0 of ") || !regexp.MustCompile(`stopped(:| after| with) [1-9]|patterns that were are in|what is printed is not complete`).MatchString(said),
		"%s is not there: %v\n%s", written, err, said)
	if err == nil && strings.HasSuffix(written, ".json") {
		loadParams(t, written)
	}
}

// fullPipe is a pipe whose buffer is full.
func fullPipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return nil, nil, err
	}
	for {
		if _, err := syscall.Write(fds[1], make([]byte, 1)); err != nil {
			break
		}
	}
	syscall.SetNonblock(fds[1], false)
	return os.NewFile(uintptr(fds[0]), "reader"), os.NewFile(uintptr(fds[1]), "writer"), nil
}

// opening and printing are system calls with their first argument: open of a pipe without a writer, and
// write to a full standard output.
var opening, printing = fmt.Sprintf("%d ", unix.SYS_OPENAT), fmt.Sprintf("%d 0x1 ", unix.SYS_WRITE)

// untilWithin waits until a process is in a system call, or has ended; for a second if the kernel does not tell.
func untilWithin(t *testing.T, pid int, call string) {
	t.Helper()
	seen := 0 // times in a row: other files are open at once
	for deadline := time.Now().Add(time.Minute); seen < 5; time.Sleep(10 * time.Millisecond) {
		calls, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		if len(calls) == 0 {
			return
		}
		within, told := false, false
		for _, name := range calls {
			text, err := os.ReadFile(name)
			told = told || err == nil
			within = within || strings.HasPrefix(string(text), call)
		}
		if seen++; !within {
			seen = 0
		}
		if !told {
			time.Sleep(time.Second)
			return
		}
		check.Need(t, time.Now().Before(deadline), "it is never within the system call %s", call)
	}
}

// A second signal ends a command at once. Under nohup SIGHUP is no signal.
func TestTwoSignals(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	must.Do(syscall.Mkfifo(fifo, 0o600))
	try := func(script string, first, second syscall.Signal, want int) {
		t.Helper()
		code := 0
		for n := 0; n < 20 && code != want; n++ { // on a busy machine both may arrive at once, or the second after the first ended it
			cmd := exec.Command("sh", "-c", script, build(t), fifo)
			must.Do(cmd.Start())
			untilWithin(t, cmd.Process.Pid, opening)
			cmd.Process.Signal(first)
			time.Sleep(100 * time.Millisecond)
			cmd.Process.Signal(second)
			cmd.Wait()
			code = cmd.ProcessState.ExitCode()
		}
		check.Equal(t, code, want, "%s: exit", script)
	}
	try(`exec "$0" import "$1"`, syscall.SIGTERM, syscall.SIGINT, 130)
	try(`trap "" HUP; exec "$0" import "$1"`, syscall.SIGHUP, syscall.SIGTERM, 143)
	try(`trap "" HUP; exec "$0" verify -oversubscribe -params "$1"`, syscall.SIGHUP, syscall.SIGTERM, 143)
}

// A measurement whose standard output is closed ends, and writes its file.
func TestReaderGone(t *testing.T) {
	needLinux(t)
	program, file := build(t), filepath.Join(t.TempDir(), "copies.json")
	r, w, err := os.Pipe()
	must.Do(err)
	r.Close()
	defer w.Close()
	var errOut bytes.Buffer
	cmd := exec.Command(program, "copy", "-quiet", "-launches", "6", "-time", "10m", "-tau", "1", "-m", "64", "-o", file)
	cmd.Stdout, cmd.Stderr = w, &errOut
	cmd.Run()
	_, err = params.ReadFile(file)
	check.True(t, err == nil && cmd.ProcessState.ExitCode() == 141 && errOut.Len() == 0, "%v, exit %d, %s", err, cmd.ProcessState.ExitCode(), &errOut)
}

// A crash in any goroutine has another status than bad input, 2.
func TestCrash(t *testing.T) {
	const crash = "TAULOP_TEST_CRASH"
	if os.Getenv(crash) != "" {
		process.AbortOnCrash()
		switch os.Getenv(crash) {
		case "panic":
			go func() { panic("x") }()
		case "fatal": // no recover would help
			m := map[int]int{}
			for range 8 {
				go func() {
					for {
						m[1]++
					}
				}()
			}
		}
		select {}
	}
	for _, how := range []string{"panic", "fatal"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrash$")
		cmd.Env = append(os.Environ(), crash+"="+how, "GOTRACEBACK=")
		out, _ := cmd.CombinedOutput()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		check.True(t, status.Signal() == syscall.SIGABRT && !status.CoreDump(), "%s: %v\n%s", how, cmd.ProcessState, out)
	}
}

// A command keeps its time although a launch hangs, and prints its measurements, or that there are none.
func TestBudgetIsKept(t *testing.T) {
	needLinux(t)
	program := build(t)
	for _, args := range []string{
		"-off_cache -time %s 2 8 2", "sweep -time %s -o DIR/sweep.json", "pairs -time %s", "copy -time %s", "pack -cache off -time %s",
		"access -time %s", "disk -time %s DIR", "verify -oversubscribe -time %s", "verify -oversubscribe -patterns -time %s", "verify -oversubscribe -patterns -time %s -save DIR/patterns.json",
	} {
		if needsTwo(args) && oneCPU(t) {
			continue
		}
		for _, tt := range []struct {
			budget string
			sample int
		}{{"1ms", 1}, {"300ms", 1}, {"300ms", 6}} {
			line := strings.NewReplacer("%s", tt.budget, "DIR", t.TempDir()).Replace(args)
			t.Run(fmt.Sprintf("%s, %s, %d", args, tt.budget, tt.sample), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), 2*hangs)
				defer cancel()
				cmd := exec.CommandContext(ctx, program, strings.Fields(line)...)
				variable, _ := hanging(t, tt.sample)
				cmd.Env = append(cmd.Environ(), variable)
				out, errOut, err := outputs(cmd)
				check.True(t, ctx.Err() == nil && (out != "" || err != nil && strings.Contains(errOut, "within -time")),
					"%v, %v; printed is %q; want what was measured, or that the time is too short\n%s", ctx.Err(), err, out, errOut)
			})
		}
	}
}
