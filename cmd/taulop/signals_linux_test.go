package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/report/page/nodes"
	"github.com/taulop/taulop/params"
)

// hang is far longer than any command may go on after a signal, however busy the
// machine is, and shorter than those go on that no signal ends.
const hang = 30 * time.Second

// A signalled command is the real program. In its arguments FIFO is a pipe that nobody
// writes, HOST a swept file, and NEW a file to be written.
type signalled struct {
	name, args string
	ends       bool // before the signal, perhaps
	unread     bool // standard output is a pipe that is full and that nobody reads
}

var signalledCommands = []signalled{
	{name: "plain", args: "-time 60s -launches 1000 -o NEW.txt 2 8 2"},
	{name: "plain, off cache", args: "-time 60s -launches 1000 -off_cache 2 8 2"},
	{name: "sweep", args: "sweep -launches 1000 -time 60s -o NEW.json"},
	{name: "pairs", args: "pairs -time 60s -launches 1000 -o NEW.json"},
	{name: "copy", args: "copy -time 60s -launches 1000 -o NEW.json"},
	{name: "pack", args: "pack -time 60s -launches 1000 -o NEW.json"},
	{name: "access", args: "access -time 60s -launches 1000 -o NEW.json"},
	{name: "disk", args: "disk -time 60s -launches 1000 -file 4M -m 4K,1M -o NEW.json DIR"},
	{name: "verify", args: "verify -time 60s -P 2 -m 8K,64K -o NEW.txt message bcast:binomial"},
	{name: "verify -patterns", args: "verify -patterns -time 60s -P 2 -save NEW.json"},
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
	{name: "opening: verify -params", args: "verify -params FIFO"},
	{name: "opening: access -o", args: "access -o FIFO", ends: true}, // where a pipe is written to, it waits later
	{name: "reading: import", args: "import /dev/stdin"},

	{name: "computing: explain -compare", args: "explain -compare -params HOST -P 2-3000 bcast"},
	{name: "computing: predict", args: "predict -params HOST -P 2-3000 -m 1K bcast:binomial allgather:ring", ends: true},

	{name: "unread: predict", args: "predict -params HOST -P 4 -m 1:64M bcast", unread: true},
	{name: "unread: export", args: "export -format csv HOST", unread: true},
	{name: "unread: plain", args: "-time 60s -launches 1000 2 8 2", unread: true},
	{name: "unread: pairs", args: "pairs -time 2s -launches 1000 -o NEW.json", unread: true, ends: true},
	{name: "unread: verify", args: "verify -time 2s -P 2 -m 8K -cache in -o NEW.txt message", unread: true, ends: true},
}

// Every command ends after one signal, at any moment, with the status that a shell has
// for it, and keeps what it has measured. TAULOP_MOMENTS is how many moments are tried.
func TestSignals(t *testing.T) {
	needLinux(t)
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	moments := times(t, "TAULOP_MOMENTS", 1)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d moments a command", seed, moments)
	random := rand.New(rand.NewPCG(seed, 0))
	program, dir := build(t), t.TempDir()
	host := filepath.Join(dir, "host.json")
	if err := nodes.Machine(0).WriteFile(host); err != nil {
		t.Fatal(err)
	}
	type moment struct {
		after  time.Duration
		signal syscall.Signal
	}
	for _, c := range signalledCommands {
		var plan []moment
		for range moments {
			after := 2 * random.Float64() * random.Float64() // seconds: most happens early
			plan = append(plan, moment{time.Duration(after * float64(time.Second)), stops[random.IntN(len(stops))].(syscall.Signal)})
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for i, m := range plan {
				c.interrupted(t, program, host, m.after, m.signal)
				if t.Failed() {
					t.Fatalf("moment %d: %v after %v", i, m.signal, m.after)
				}
			}
		})
	}
}

func (c signalled) interrupted(t *testing.T, program, host string, after time.Duration, signal syscall.Signal) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var written string
	args := strings.Fields(strings.NewReplacer("FIFO", fifo, "HOST", host, "DIR", dir).Replace(c.args))
	for i, arg := range args {
		if ext, ok := strings.CutPrefix(arg, "NEW"); ok {
			written = filepath.Join(dir, "new"+ext)
			args[i] = written
		}
	}
	cmd := exec.Command(program, args...)
	stdin, nobody, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	defer stdin.Close()
	cmd.Stdin = stdin
	errFile, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer errFile.Close()
	cmd.Stderr = errFile
	if c.unread {
		r, w, err := fullPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		cmd.Stdout = w
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(after):
	}
	cmd.Process.Signal(signal)
	select {
	case <-ended:
	case <-time.After(hang):
		t.Errorf("hangs after %v", signal)
		cmd.Process.Kill()
		<-ended
	}
	said, err := os.ReadFile(errFile.Name())
	if err != nil {
		t.Fatal(err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	right := status.Signaled() && status.Signal() == signal || // so early that nobody caught it
		status.ExitStatus() == 128+int(signal) || c.ends && status.ExitStatus() == 0
	if signal == syscall.SIGQUIT && bytes.Contains(said, []byte("SIGQUIT: quit")) && !bytes.Contains(said, []byte("main.supervise.func")) {
		return // the Go runtime had begun, and the command had not
	}
	if !right || bytes.Contains(said, []byte("goroutine ")) {
		t.Errorf("status %#x after %v:\n%s", status, signal, said)
	}
	if written == "" {
		return
	}
	// Of what was measured it says how much; then it is there. Launches that were over before
	// a row was have nothing.
	_, err = os.Stat(written)
	if err != nil && !bytes.Contains(said, []byte(" with 0 of ")) && regexp.MustCompile(`stopped(:| after| with) [1-9]|patterns that were are in|what is printed is not complete`).Match(said) {
		t.Errorf("%s is not there: %v\n%s", written, err, said)
	}
	if err == nil && strings.HasSuffix(written, ".json") {
		if _, err := params.ReadFile(written); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if name := filepath.Join(dir, e.Name()); !slices.Contains([]string{fifo, written, errFile.Name()}, name) {
			t.Errorf("left behind: %s\n%s", name, said)
		}
	}
}

// fullPipe is a pipe that takes no more.
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

// untilItOpens waits until a process is within the opening of a pipe that nobody
// writes. Where the kernel does not tell, it waits for a second.
func untilItOpens(t *testing.T, pid int) {
	t.Helper()
	opening := fmt.Sprintf("%d ", unix.SYS_OPENAT)
	seen := 0 // times in a row: other files are open at once
	for deadline := time.Now().Add(time.Minute); seen < 5; time.Sleep(10 * time.Millisecond) {
		calls, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		within, told := false, false
		for _, call := range calls {
			text, err := os.ReadFile(call)
			told = told || err == nil
			within = within || strings.HasPrefix(string(text), opening)
		}
		if seen++; !within {
			seen = 0
		}
		if !told && len(calls) > 0 {
			time.Sleep(time.Second)
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it opens no pipe")
		}
	}
}

// The second signal ends a command at once, whatever the first was.
func TestSecondSignal(t *testing.T) {
	program, fifo := build(t), filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "import", fifo)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	untilItOpens(t, cmd.Process.Pid)
	cmd.Process.Signal(syscall.SIGTERM)
	time.Sleep(100 * time.Millisecond)
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
}

// Under nohup the end of a session is no reason to end.
func TestNohup(t *testing.T) {
	t.Parallel()
	program, fifo := build(t), filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"import", "verify -params"} {
		cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" `+command+` "$1"`, program, fifo)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		untilItOpens(t, cmd.Process.Pid)
		cmd.Process.Signal(syscall.SIGHUP)
		time.Sleep(100 * time.Millisecond)
		cmd.Process.Signal(syscall.SIGTERM) // would be the second
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 143 {
			t.Errorf("%s: exit %d, want 143", command, code)
		}
	}
}

// A reader who has seen enough ends a measurement, and its file is written.
func TestReaderGone(t *testing.T) {
	needLinux(t)
	program, file := build(t), filepath.Join(t.TempDir(), "pairs.json")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errOut bytes.Buffer
	cmd := exec.Command(program, "pairs", "-quiet", "-time", "1s", "-o", file)
	cmd.Stdout, cmd.Stderr = w, &errOut
	cmd.Run()
	if _, err := params.ReadFile(file); err != nil || cmd.ProcessState.ExitCode() != 141 || errOut.Len() > 0 {
		t.Errorf("%v, exit %d, %s", err, cmd.ProcessState.ExitCode(), &errOut)
	}
}

// A crash in any goroutine does not look like bad input, exit status 2.
func TestCrash(t *testing.T) {
	const crash = "TAULOP_TEST_CRASH"
	if os.Getenv(crash) != "" {
		abortOnCrash()
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
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGABRT || status.CoreDump() {
			t.Errorf("%s: %v\n%s", how, cmd.ProcessState, out)
		}
	}
}

// A time too short is kept, and what was measured is printed; a busy machine may
// measure nothing in it, and says so.
func TestBudgetIsKept(t *testing.T) {
	needLinux(t)
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	program, dir := build(t), t.TempDir()
	for i, args := range []string{ // at the same time, as many as there are CPUs
		"-off_cache -time %s 2 8 2", "sweep -time %s -o DIR/sweep%d.json", "pairs -time %s", "copy -time %s", "pack -cache off -time %s",
		"access -time %s", "disk -time %s DIR", "verify -time %s", "verify -patterns -time %s", "verify -patterns -time %s -save DIR/patterns%d.json",
	} {
		for j, budget := range []time.Duration{time.Millisecond, time.Second} {
			line := strings.NewReplacer("%s", budget.String(), "%d", fmt.Sprint(i, j)[:1]+budget.String(), "DIR", dir).Replace(args)
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(program, strings.Fields(line)...)
				var out, errOut bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errOut
				began := time.Now()
				err := cmd.Run()
				took := time.Since(began)
				said := strings.Contains(errOut.String(), "may not be kept")
				if took > budget+hang && !said {
					t.Errorf("%s took %v", line, took)
				}
				if out.Len() == 0 && (err == nil || !strings.Contains(errOut.String(), "too short")) {
					t.Errorf("%s printed nothing and did not say that the time is too short: %v\n%s", line, err, &errOut)
				}
				t.Logf("%s: %v, %d bytes, %v", line, took.Round(time.Millisecond), out.Len(), err)
			})
		}
	}
}
