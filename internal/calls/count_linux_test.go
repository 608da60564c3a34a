package calls

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

const child = "TAULOP_TEST_COUNTED"

func init() { runtime.LockOSThread() } // the thread that is traced

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		l := newLayer()
		for range 100 {
			l.pass(64)
		}
		runtime.Breakpoint()
		l.pass(64)
		runtime.Breakpoint()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Another version of Go makes other instructions of the same code: these are counted one by one, and
// may differ by as much as code of libraries does (docs/mpi.md).
func TestInstructions(t *testing.T) {
	skip.If(t, check.Raced() || testing.CoverMode() != "", "it has other instructions besides")
	breakpoint, ok := map[string][]byte{"amd64": {0xcc}, "arm64": {0, 0, 0x20, 0xd4}}[runtime.GOARCH]
	skip.If(t, !ok, "not counted on %s", runtime.GOARCH)
	runtime.LockOSThread()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1", "GODEBUG=asyncpreemptoff=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	skip.Error(t, cmd.Start()) // no process may be traced here
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	at := func() (uint64, []byte) {
		var regs syscall.PtraceRegs
		skip.Error(t, syscall.PtraceGetRegs(pid, &regs))
		text := make([]byte, len(breakpoint))
		syscall.PtracePeekText(pid, uintptr(regs.PC()), text)
		return regs.PC(), text
	}
	wait := func() syscall.WaitStatus {
		var status syscall.WaitStatus
		must.Get(syscall.Wait4(pid, &status, 0, nil))
		check.Need(t, !status.Exited(), "it ended")
		return status
	}
	wait() // for its first instruction
	for signal := 0; ; {
		must.Do(syscall.PtraceCont(pid, signal))
		status := wait()
		if status.StopSignal() == syscall.SIGTRAP {
			break
		}
		signal = int(status.StopSignal())
	}
	n := 0
	for steps := 0; steps < 1e6; steps++ {
		pc, text := at()
		if steps > 0 && fmt.Sprint(text) == fmt.Sprint(breakpoint) {
			break
		}
		// Instruction by instruction it takes so long that the scheduler comes in between.
		name := runtime.FuncForPC(uintptr(pc)).Name()
		if strings.Contains(name, "internal/calls.(") || strings.HasPrefix(name, "sync/atomic.") {
			n++
		}
		must.Do(syscall.PtraceSingleStep(pid))
		wait()
	}
	t.Log(n, "instructions")
	check.Near(t, float64(n)/instructions, 1, 0.2, "instructions of a message by those that stand for it")
}
