package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// isolated makes two network namespaces that are joined by a pair of virtual interfaces,
// each with what tc is told of it, and returns their names. It skips where this system
// does not let it.
func isolated(t *testing.T, qdisc string) (near, far string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	near, far = fmt.Sprintf("taulop-%d-a", os.Getpid()), fmt.Sprintf("taulop-%d-b", os.Getpid())
	t.Cleanup(func() { // with them goes what is in them
		exec.Command("ip", "netns", "del", near).Run()
		exec.Command("ip", "netns", "del", far).Run()
	})
	lines := []string{
		"ip netns add " + near, "ip netns add " + far,
		"ip link add veth0 netns " + near + " type veth peer name veth0 netns " + far,
	}
	for i, n := range []string{near, far} {
		lines = append(lines,
			fmt.Sprintf("ip -n %s addr add 10.77.0.%d/24 dev veth0", n, i+1),
			"ip -n "+n+" link set lo up", "ip -n "+n+" link set veth0 up")
		if qdisc != "" {
			lines = append(lines, "tc -n "+n+" qdisc add dev veth0 root "+qdisc)
		}
	}
	for _, line := range lines {
		words := strings.Fields(line)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v %s", line, err, bytes.TrimSpace(out))
		}
	}
	return near, far
}

// in runs taulop in a namespace, on one of the CPUs where there are several: as two hosts
// do, the ends have their own.
func in(ctx context.Context, namespace, cpu, program, home string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", namespace, program}, args...)...)
	if taskset, err := exec.LookPath("taskset"); err == nil && exec.Command(taskset, "-c", cpu, "true").Run() == nil {
		cmd.Args = append([]string{"ip", "netns", "exec", namespace, taskset, "-c", cpu, program}, args...)
	}
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
	return cmd
}

// The rate that tc allows is found again, by one flow and by four. A packet has 66 bytes
// of heads and 1448 of a message; what the bucket holds goes at once, so that two sizes
// are compared.
func TestNetFindsTheRate(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const megabits = 400
	near, far := isolated(t, fmt.Sprintf("tbf rate %dmbit burst 10kb limit 8mb", megabits))
	var wrong []string
	for range 4 { // quiet, 5 % at the most; beside others one run may be off by more, and hardly four
		if wrong = foundRates(t, near, far, megabits); len(wrong) == 0 {
			return
		}
		t.Log(wrong)
	}
	t.Error(wrong)
}

// foundRates are the rates that a run from one host to the other finds more than 10 % off.
func foundRates(t *testing.T, near, far string, megabits float64) (wrong []string) {
	t.Helper()
	program, home, file := build(t), t.TempDir(), filepath.Join(t.TempDir(), "net.json")
	listener := in(t.Context(), far, "1", program, home, "net", "-quiet", "-listen", "-wait", "60s")
	var heard bytes.Buffer
	listener.Stderr = &heard
	if err := listener.Start(); err != nil {
		t.Fatal(err)
	}
	out, err := in(t.Context(), near, "0", program, home, "net", "-quiet", "-to", "10.77.0.2", "-tam=false", "-m", "1,128K,512K", "-tau", "1,4", "-launches", "6", "-time", "10m", "-o", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := listener.Wait(); err != nil {
		t.Errorf("the host that listened: %v\n%s", err, &heard)
	}
	f := loadParams(t, file)
	n, table, err := f.Network("veth0")
	if err != nil {
		t.Fatal(err)
	}
	if n.Kind != "tcp" || len(n.Peers) != 1 || n.Peers[0].Packet != 1448 || n.Peers[0].Provenance.Kernel == "" {
		t.Errorf("%+v", n)
	}
	for _, tau := range []int{1, 4} {
		small, _ := table.L(128<<10, tau)
		large, _ := table.L(512<<10, tau)
		found := 8e-6 * float64(tau*(512-128)<<10) * 1514 / 1448 / (large - small)
		if !(math.Abs(found/megabits-1) <= 0.1) {
			wrong = append(wrong, fmt.Sprintf("%d flows find %.0f Mbit/s, want %.0f within 10 %%:\n%s", tau, found, megabits, out))
		}
	}
	return wrong
}

// A firewall that drops, and one that begins to while messages are under way.
func TestNetBlackhole(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	near, far := isolated(t, "")
	program, home := build(t), t.TempDir()
	drop := func() error {
		return exec.Command("ip", "-n", far, "route", "replace", "blackhole", "10.77.0.1/32").Run()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	listener := in(ctx, far, "1", program, home, "net", "-listen", "-wait", "50s")
	var heard bytes.Buffer
	listener.Stderr = &heard
	if err := listener.Start(); err != nil {
		t.Fatal(err)
	}
	leader := in(ctx, near, "0", program, home, "net", "-quiet", "-to", "10.77.0.2", "-time", "50s", "-m", "1,64K", "-tau", "1")
	var said bytes.Buffer
	leader.Stderr = &said
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // it measures by then
	if err := drop(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	// It waits for bytes, or begins a launch.
	if err := leader.Wait(); status(err) != 1 || !strings.Contains(said.String(), "10.77.0.2: nothing moved for 10s") && !strings.Contains(said.String(), "does not answer at all") {
		t.Errorf("%v after %v:\n%s", err, time.Since(began), &said)
	}
	if err := listener.Wait(); status(err) != 1 {
		t.Errorf("the listener: %v\n%s", err, &heard)
	}
	// From the beginning.
	out, err := in(ctx, near, "0", program, home, "net", "-quiet", "-to", "10.77.0.2", "-wait", "2s").CombinedOutput()
	if status(err) != 1 || !strings.Contains(string(out), "does not answer at all") {
		t.Errorf("%v\n%s", err, out)
	}
}

// status is how a program ended, −1 for a signal.
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

// A run that fails before it has measured anything leaves no file, and says why; over
// loopback, which has the largest packets.
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

// A pair is the two ends of a run over loopback, which share a secret.
type pair struct{ program, secret, address string }

func newPair(t *testing.T) pair {
	t.Helper()
	t.Setenv("SLURM_STEP_ID", "")
	p := pair{build(t), filepath.Join(t.TempDir(), "secret"), freeAddress(t)}
	save(t, "", p.secret, "the secret of both hosts")
	return p
}

// freeAddress is one of loopback that nobody listens on. The test is skipped where there is no lo.
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
	if err := listener.Start(); err != nil {
		t.Fatal(err)
	}
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

// Messages that are too large for the host that listens are a mistake, which both ends tell.
func TestNetMemory(t *testing.T) {
	p := newPair(t)
	listener, heard := p.listen(t, "-memory", "1M")
	out, err := p.lead(t, "-m", "1,2M", "-tau", "1")
	const says = "takes 1M for messages, and τ = 1 with m = 2M needs 4M: let the host that listens take more memory, or choose smaller messages or fewer flows (-memory there; -m, -tau)"
	if said := strings.Join(strings.Fields(string(out)), " "); status(err) != 2 || !strings.Contains(said, says) {
		t.Errorf("%v\n%s", err, out)
	}
	err = listener.Wait()
	if said := strings.Join(strings.Fields(heard.String()), " "); status(err) != 1 || !strings.Contains(said, says) {
		t.Errorf("the host that listened: %v\n%s", err, heard)
	}
}

// What can be wrong on one host: a sentence, and a status.
func TestNetMistakes(t *testing.T) {
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("SLURM_STEP_ID", "")
	open := save(t, t.TempDir(), "open", "0123456789abcdef")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   string
		status int
		says   string
	}{
		{"-listen 127.0.0.1 -wait 0s", 2, "-wait is 0s"},
		{"-to a -wait 0s", 2, "-wait is 0s"},
		{"-to a -secret " + open, 2, "chmod 600"},
		{"-to no.such.host.invalid", 2, "no address is known of this name"},
		{"-listen " + used.Addr().String(), 1, "in use already"},
		{"-listen -wait 50ms 127.0.0.1:0", 2, "want a number from 1 to 65535"},
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
	for wait := quietWait + time.Second; wait < time.Minute; wait *= 2 { // a busy machine may take long to refuse
		var told bytes.Buffer
		err = named("net").run(t.Context(), &bytes.Buffer{}, &told, []string{"-to", used.Addr().String(), "-wait", wait.String()})
		if err != nil && strings.Contains(err.Error(), "nobody listens") {
			if !strings.Contains(told.String(), "for "+used.Addr().String()+": start taulop net -listen there") {
				t.Errorf("who waits is told %q", &told)
			}
			return
		}
	}
	t.Errorf("nobody listens: %v", err)
}

// A host with another secret is not measured with, and who has it is told.
func TestNetOtherSecret(t *testing.T) {
	p := newPair(t)
	listener, heard := p.listen(t)
	other := save(t, t.TempDir(), "other", "the secret of another host")
	err := named("net").run(t.Context(), &bytes.Buffer{}, &bytes.Buffer{}, []string{"-secret", other, "-to", p.address, "-wait", "5m"})
	if err == nil || exitStatus(err) != 1 || !strings.Contains(err.Error(), "another secret") {
		t.Errorf("%v", err)
	}
	listener.Process.Signal(os.Interrupt)
	if err := listener.Wait(); status(err) != 130 || !strings.Contains(heard.String(), "was sent away") {
		t.Errorf("the listener: %v, it says %q", err, heard)
	}
}
