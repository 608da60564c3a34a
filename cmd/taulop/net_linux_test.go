package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/must"
)

// status is the exit status of a program; −1 for a signal.
func status(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// A run over loopback, which has the largest packets, that fails before a measurement leaves no file.
func TestNetFailsEarly(t *testing.T) {
	p := newPair(t)
	file := filepath.Join(t.TempDir(), "net.json")
	listener, _ := p.listen(t)
	time.AfterFunc(time.Second, func() { listener.Process.Kill() }) // it measures by then, and its first launch takes longer
	said, err := p.lead(t, "-time", "60s", "-launches", "6", "-o", file)
	listener.Wait()
	if status(err) != 1 || !strings.Contains(string(said), p.address) {
		t.Errorf("%v\n%s", err, said)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 0 {
		t.Errorf("there is %v, %v", left, err)
	}
}

// A pair has the two ends of a run over loopback, with a common secret.
type pair struct{ program, secret, address string }

func newPair(t *testing.T) pair {
	t.Helper()
	t.Setenv("SLURM_STEP_ID", "")
	p := pair{build(t), filepath.Join(t.TempDir(), "secret"), freeAddress(t)}
	save(t, "", p.secret, "the secret of both hosts")
	return p
}

// freeAddress is a free address of loopback. It skips the test without lo.
func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		defer free.Close()
		var c net.Conn
		if c, err = net.DialTimeout("tcp", free.Addr().String(), time.Minute); err == nil {
			c.Close()
			return free.Addr().String()
		}
	}
	t.Skipf("needs the interface lo: %v", err)
	return ""
}

// listen starts the end that answers, and waits until it listens.
func (p pair) listen(t *testing.T, args ...string) (listener *exec.Cmd, heard *bytes.Buffer) {
	t.Helper()
	listener, heard = exec.CommandContext(t.Context(), p.program, append([]string{"net", "-secret", p.secret, "-listen"}, append(args, p.address)...)...), new(bytes.Buffer)
	listener.Stderr = heard
	must.Do(listener.Start())
	until(t, "it listens", func() bool {
		c, err := net.Dial("tcp", p.address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return listener, heard
}

func (p pair) lead(t *testing.T, args ...string) ([]byte, error) {
	return exec.CommandContext(t.Context(), p.program, append([]string{"net", "-quiet", "-secret", p.secret, "-to", p.address}, args...)...).CombinedOutput()
}

// Secrets that others can read, addresses in use, and hosts that do not answer are errors.
func TestNetMistakes(t *testing.T) {
	used := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("SLURM_STEP_ID", "")
	open := save(t, t.TempDir(), "open", "0123456789abcdef")
	must.Do(os.Chmod(open, 0o644))
	for _, tt := range []struct {
		args   string
		status int
		says   string
	}{
		{"-to a -secret " + open, 2, "chmod 600"},
		{"-listen " + used.Addr().String(), 1, "in use already"},
		{"-to " + used.Addr().String() + " -wait 300ms", 1, used.Addr().String()},
	} {
		var out, errOut bytes.Buffer
		args := strings.Fields(tt.args)
		if !slices.Contains(args, "-wait") { // no mistake is waited with
			args = slices.Insert(args, 0, "-wait", "24h")
		}
		err := named("net").run(t.Context(), &out, &errOut, args)
		if err == nil || exitStatus(err) != tt.status || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("net %s: status %d, %v; want %d with %q", tt.args, exitStatus(err), err, tt.status, tt.says)
		}
	}
	freeAddress(t) // or there is no lo
	used.Close()
	var err error
	for wait := quietWait + time.Second; wait < time.Minute; wait *= 2 { // a busy machine may take long to refuse
		var told bytes.Buffer
		err = named("net").run(t.Context(), &bytes.Buffer{}, &told, []string{"-to", used.Addr().String(), "-wait", wait.String()})
		if err != nil && strings.Contains(err.Error(), "nobody listens") {
			if !strings.Contains(told.String(), "for "+used.Addr().String()+": start taulop net -listen there") {
				t.Errorf("the host that waits is told %q", &told)
			}
			return
		}
	}
	t.Errorf("no host listens: %v", err)
}
