package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net"
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

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/snapshot"
	"github.com/taulop/taulop/params"
)

// status is the exit status of a program; −1 for a signal.
func status(err error) int {
	if err == nil {
		return 0
	}
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode()
	}
	return -1
}

// A run over loopback, which has the largest packets, that fails before a measurement leaves no file.
func TestNetFailsEarly(t *testing.T) {
	t.Setenv("SLURM_STEP_ID", "")
	secret, address := save(t, t.TempDir(), "secret", "the secret of both hosts"), freeAddress(t)
	file := filepath.Join(t.TempDir(), "net.json")
	listener := program(t, "net", "-secret", secret, "-listen", address)
	must.Do(listener.Start())
	until(t, "it listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	time.AfterFunc(time.Second, func() { listener.Process.Kill() }) // it measures by then, and its first launch takes longer
	said, err := program(t, "net", "-quiet", "-secret", secret, "-to", address, "-time", "60s", "-launches", "6", "-o", file).CombinedOutput()
	listener.Wait()
	check.True(t, status(err) == 1 && strings.Contains(string(said), address), "%v\n%s", err, said)
	check.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(file)))), 0, "there")
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

// Secrets that others can read, addresses in use, and hosts that do not answer are errors.
func TestNetMistakes(t *testing.T) {
	used := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("SLURM_STEP_ID", "")
	open := save(t, t.TempDir(), "open", "0123456789abcdef")
	must.Do(os.Chmod(open, 0o644))
	try := func(line string, status int, says string) {
		t.Helper()
		var out, errOut bytes.Buffer
		args := strings.Fields(line)
		if !slices.Contains(args, "-wait") { // no mistake is waited with
			args = slices.Insert(args, 0, "-wait", "24h")
		}
		fails(t, named("net").run(t.Context(), &out, &errOut, args), status, says)
	}
	try("-to a -secret "+open, 2, "chmod 600")
	try("-listen "+used.Addr().String(), 1, "in use already")
	try("-to "+used.Addr().String()+" -wait 300ms", 1, used.Addr().String())
	freeAddress(t) // or there is no lo
	used.Close()
	var err error
	for wait := quietWait + time.Second; wait < time.Minute; wait *= 2 { // a busy machine may take long to refuse
		var told bytes.Buffer
		err = named("net").run(t.Context(), &bytes.Buffer{}, &told, []string{"-to", used.Addr().String(), "-wait", wait.String()})
		if err != nil && strings.Contains(err.Error(), "nobody listens") {
			contains.All(t, told.String(), "for "+used.Addr().String()+": start taulop net -listen there")
			return
		}
	}
	t.Errorf("no host listens: %v", err)
}

// A cluster is a Slurm of two nodes on this machine.
type cluster struct {
	dir string   // that jobs run in
	env []string // of its commands
}

// newCluster starts a cluster, which ends with the test. Without Slurm it skips the test, or fails with TAULOP_SLURM.
func newCluster(t *testing.T, program string) *cluster {
	t.Helper()
	shared := snapshot.Shared(t) // which has the configuration of the cluster
	skip.If(t, os.Geteuid() != 0, "the daemons of a cluster need root")
	for _, name := range []string{"munged", "slurmctld", "slurmd", "srun", "scontrol"} {
		if _, err := exec.LookPath(name); err != nil {
			check.Need(t, os.Getenv("TAULOP_SLURM") == "", "%v", err)
			t.Skipf("%v: apt-get install slurm-wlm munge", err)
		}
	}
	freeAddress(t) // or its daemons do not find each other
	conf, host := load(t, filepath.Join(shared, "reference", "slurm-two-nodes.conf")), must.Get(os.Hostname())
	host, _, _ = strings.Cut(host, ".")
	dir := t.TempDir()
	must.Do(os.Chmod(filepath.Dir(dir), 0o711)) // munged is for all users
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"log", "state", "spool-n1", "spool-n2", "munge", "home", "jobs"} {
		must.Do(os.Mkdir(in(name), 0o711))
	}
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(conf), "")
	text = strings.NewReplacer("HOST", host, "DIR", dir).Replace(text)
	text += "\nAuthInfo=socket=" + in("munge/socket") + "\n"
	key := make([]byte, 64)
	rand.Read(key)
	for name, data := range map[string][]byte{"slurm.conf": []byte(text), "munge/key": key} {
		save(t, "", in(name), string(data))
	}
	c := &cluster{dir: in("jobs")}
	c.env = append(os.Environ(), "SLURM_CONF="+in("slurm.conf"), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "HOME="+in("home"), "XDG_CONFIG_HOME=")
	c.daemon(t, in("munge/out"), "munged", "-F", "--key-file="+in("munge/key"), "--socket="+in("munge/socket"), "--pid-file="+in("munge/pid"), "--log-file="+in("munge/log"), "--seed-file="+in("munge/seed"))
	until(t, "munged has a socket", func() bool { _, err := os.Stat(in("munge/socket")); return err == nil })
	c.daemon(t, in("log/ctld"), "slurmctld", "-D", "-f", in("slurm.conf"))
	for _, node := range []string{"n1", "n2"} {
		c.daemon(t, in("log/"+node), "slurmd", "-D", "-f", in("slurm.conf"), "-N", node)
	}
	until(t, "both nodes are idle", func() bool {
		out, _ := c.command(t.Context(), "sinfo --noheader --states=idle --format=%D").Output()
		return strings.TrimSpace(string(out)) == "2"
	})
	return c
}

// daemon starts a daemon in the foreground, which ends with the test.
func (c *cluster) daemon(t *testing.T, log string, args ...string) {
	t.Helper()
	out := must.Get(os.Create(log))
	defer out.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, c.env
	must.Do(cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		stuck := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		stuck.Stop()
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("%s:\n%s", args[0], text[max(0, len(text)-1000):])
		}
	})
}

func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(50 * time.Millisecond) {
		check.Need(t, time.Since(began) <= 5*time.Minute, "not after %v: %s", time.Since(began), what)
	}
}

// command is a shell line in the cluster's environment.
func (c *cluster) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.dir, c.env, time.Second
	return cmd
}

// The Slurm commands of docs/cluster.md and docs/net.md work, with fewer nodes and less time.
func TestSlurm(t *testing.T) {
	t.Parallel()
	skip.Short(t, "takes half a minute")
	program := build(t)
	c := newCluster(t, program)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	smaller := strings.NewReplacer("--nodes=16", "--nodes=2", "-N 4", "-N 2", "-time 5m", "-time 4s", "taulop net", "taulop net -quiet -time 2s -m 1,64K -tau 1 -tam=false")
	ran, jobs := 0, c.dir
	for _, name := range []string{"cluster.md", "net.md"} {
		c.dir = filepath.Join(jobs, name)
		must.Do(os.Mkdir(c.dir, 0o755))
		doc := load(t, filepath.Join("..", "..", "docs", name))
		for _, line := range regexp.MustCompile(`(?m)^    srun .*taulop.*$`).FindAllString(string(doc), -1) {
			out, err := c.command(ctx, smaller.Replace(strings.TrimSpace(line))).CombinedOutput()
			check.True(t, err == nil || strings.Contains(string(out), "incomplete"), "%s: %v\n%s", strings.TrimSpace(line), err, out)
			ran++
		}
	}
	check.AtLeast(t, ran, 4, "lines of the documents for Slurm, sweep, topo and twice net")
	for _, name := range []string{"cluster.md/fleet/n1.json", "cluster.md/fleet/n2.json", "cluster.md/net.json", "net.md/net.json"} {
		f, err := params.ReadFile(filepath.Join(jobs, name))
		if err != nil {
			t.Error(err)
		} else if filepath.Base(name) == "net.json" && (len(f.Networks) != 1 || !slices.Contains(f.Networks[0].Hosts, "n2")) {
			t.Errorf("%s has networks %+v", name, f.Networks)
		}
	}

	// A mistake ends all tasks, and so does a task that is killed.
	out, err := c.command(ctx, "srun -N 2 --ntasks-per-node=1 taulop net -m x").CombinedOutput()
	check.True(t, status(err) == 2 && strings.Contains(string(out), `-m: size "x" is not a size`), "a mistake: %v\n%s", err, out)
	out, err = c.command(ctx, "srun -N 1 -n 1 taulop net").CombinedOutput()
	check.True(t, status(err) == 2 && strings.Contains(string(out), "a network has two ends"), "one task: %v\n%s", err, out)
	for rank := range 2 {
		cmd := c.command(ctx, "srun -N 2 --ntasks-per-node=1 taulop net -quiet -time 24h -tam=false")
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		must.Do(cmd.Start())
		until(t, "launches measure", func() bool { return len(tasks(program, -1)) >= 3 })
		for _, pid := range tasks(program, rank) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		err := cmd.Wait()
		check.True(t, err != nil && ctx.Err() == nil, "task %d killed: %v, %v\n%s", rank, err, ctx.Err(), &said)
		until(t, "no task is left", func() bool { return len(tasks(program, -1)) == 0 })
	}
}

// tasks are the processes of a program in the task of a rank, or in any task for −1. Other tests run the
// program as well.
func tasks(program string, rank int) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		exe, err := os.Readlink(dir + "/exe")
		if err != nil || exe != program {
			continue
		}
		env, _ := os.ReadFile(dir + "/environ")
		task := "\x00SLURM_PROCID="
		if rank >= 0 {
			task += strconv.Itoa(rank) + "\x00"
		}
		if bytes.Contains(append([]byte{0}, env...), []byte(task)) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}
