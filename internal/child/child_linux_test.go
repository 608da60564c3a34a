package child

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
)

// Main keeps its thread, the first one, which does not end with a goroutine.
func init() { runtime.LockOSThread() }

// The test binary begins itself anew as a parent, and that as its child.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "parent" {
		parent()
	}
	if len(os.Args) == 2 && os.Args[1] == "child" {
		for {
			if _, err := io.Copy(os.Stdout, os.Stdin); err == nil { // to the end of standard input, which is not its own
				time.Sleep(time.Hour)
			}
		}
	}
	if len(os.Args) == 2 && os.Args[1] == "slack" {
		ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		fmt.Print(time.Duration(ns), err)
		return
	}
	os.Exit(m.Run())
}

// parent begins a child on a thread that ends, and tells its process once it answers.
func parent() {
	cmd, err := Command("child")
	if err != nil {
		panic(err)
	}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	thread := make(chan int)
	go func() {
		runtime.LockOSThread()
		if err := Start(cmd, 0); err != nil {
			panic(err)
		}
		thread <- syscall.Gettid()
	}()
	for id := <-thread; ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(fmt.Sprint("/proc/self/task/", id)); err != nil {
			break
		}
	}
	fmt.Fprintln(in, cmd.Process.Pid)
	io.Copy(os.Stdout, out)
	fmt.Println("the child has ended")
	select {}
}

// A child outlives the thread that started it, and not its parent.
func TestEndsWithParent(t *testing.T) {
	cmd := must.Get(Command("parent"))
	out := must.Get(cmd.StdoutPipe())
	must.Do(Start(cmd, 0))
	defer cmd.Process.Kill()
	guard := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer guard.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	var id int
	_, scan := fmt.Sscan(line, &id)
	check.Need(t, err == nil && scan == nil, "%q, %v, %v", line, err, scan)
	cmd.Process.Kill()
	cmd.Wait()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprint("/proc/", id, "/stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") { // not reaped in this test
			return
		}
		if time.Now().After(end) {
			syscall.Kill(id, syscall.SIGKILL)
			t.Fatal("the child goes on without its parent")
		}
	}
}

// The timers of children are late, those of their parent are not.
func TestTimersOfChildrenAreLate(t *testing.T) {
	cmd := must.Get(Command("slack"))
	var out bytes.Buffer
	cmd.Stdout = &out
	const slack = 4 * time.Millisecond
	must.Do(Start(cmd, slack))
	must.Do(cmd.Wait())
	check.Equal(t, out.String(), fmt.Sprint(slack, nil), "what a child has")
	again := must.Get(Command("slack"))
	out.Reset()
	again.Stdout = &out
	must.Do(Start(again, 0))
	must.Do(again.Wait())
	check.True(t, out.String() != fmt.Sprint(slack, nil), "the next child has the slack of the one before")
	own := must.Get(unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0))
	check.True(t, own < int(slack), "the parent has a slack of %v itself", time.Duration(own))
}

// What the runtime prints is told as the limit to raise, and nothing else is.
func TestEnded(t *testing.T) {
	status := errors.New("exit status 2")
	for printed, want := range map[string]string{
		"runtime: out of memory: cannot allocate 4194304-byte block (0 in use)\nfatal error: out of memory\n\nruntime stack:": "ulimit -v",
		"fatal error: failed to reserve page summary memory\n":                                                                "ulimit -v",
		"fatal error: runtime: cannot allocate memory\n":                                                                      "ulimit -v",
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\n":                              "ulimit -u",
		"runtime: failed to create new OS thread (have 3 already; errno=11)\nfatal error: newosproc\n":                        "ulimit -u",
		"runtime: epollcreate failed with 24\nfatal error: runtime: netpollinit failed\n":                                     "ulimit -n",
		"taulop: cannot allocate memory for 3 workers\nmore":                                                                  "exit status 2: cannot allocate memory for 3 workers",
		"panic: x\n\ngoroutine 1 [running]:\n":                                                                                "exit status 2: panic: x",
		"":                                                                                                                    "exit status 2",
	} {
		got := Ended(status, []byte(printed))
		check.True(t, errors.Is(got, status) && strings.Contains(got.Error(), want) && !strings.Contains(got.Error(), "\n") && (strings.Contains(want, "ulimit") || got.Error() == want),
			"%q: %v, want %q", printed, got, want)
	}
}
