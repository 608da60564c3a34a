package slurm

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
)

func TestHosts(t *testing.T) {
	for _, tt := range []struct{ list, want string }{ // hosts, separated by spaces; an error begins with !
		{"", ""}, {"login", "login"}, {"n[1-2]", "n1 n2"}, {"n[1-3,07-09],login", "n1 n2 n3 n07 n08 n09 login"},
		{"n[9-11]", "n9 n10 n11"}, {"n[098-101]", "n098 n099 n100 n101"},
		{"rack[1-2]-node[01-02].a", "rack1-node01.a rack1-node02.a rack2-node01.a rack2-node02.a"}, {"n[1", "!no list"},
		{"n1]", "!no list"}, {"n[3-1]", "!no range"}, {"n[1-99999999]", "!no range"}, {"n[1-]", "!no list"},
		{"n[a]", "!no list"}, {"n[[1]]", "!no list"}, {"bgl[1x2]", "!no list"}, {"a,,b", "!no list"}, {"a,", "!no list"},
		{"a b", "!no list"}, {"a[0-999]b[0-999]", "!more than 65536 hosts"}, {strings.Repeat("x", 254), "!letters"},
	} {
		hosts, err := Hosts(tt.list)
		if want, fails := strings.CutPrefix(tt.want, "!"); fails {
			contains.Error(t, err, want)
			continue
		}
		check.True(t, err == nil && strings.Join(hosts, " ") == tt.want, "%q: %v, %v; want %s", tt.list, hosts, err, tt.want)
	}
}

func FuzzHosts(f *testing.F) {
	for _, list := range []string{"n[1-2]", "n[1-3,07-09],login", "rack[1-2]-node[01-02].a", "n[1", "n[3-1]", "[[", "]", ","} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		hosts, err := Hosts(list)
		if err != nil {
			return
		}
		check.Need(t, len(hosts) <= mostHosts, "%d hosts", len(hosts))
		// Expanded names expand to themselves.
		again, err := Hosts(strings.Join(hosts, ","))
		check.Need(t, err == nil && reflect.DeepEqual(hosts, again), "%q: %q, then %q, %v", list, hosts, again, err)
	})
}

func TestFind(t *testing.T) {
	// The environment of srun, Slurm 22.05, for two nodes.
	step := map[string]string{
		"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_STEP_NUM_TASKS": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0",
		"SLURM_STEP_NODELIST": "n[1-2]", "SLURM_NODELIST": "n[1-4]",
	}
	with := func(more ...string) func(string) string {
		env := maps.Clone(step)
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return func(name string) string { return env[name] }
	}
	task, ok, err := Find(with())
	check.True(t, ok && err == nil && task.Rank == 1 && task.Tasks == 2 && reflect.DeepEqual(task.Hosts, []string{"n1", "n2"}), "%+v, %v, %v", task, ok, err)
	p := task.Port(1)
	check.True(t, p == task.Port(0)+1 && p >= 20000 && p < 32768, "port %d", p)
	_, ok, err = Find(with("SLURM_STEP_ID", ""))
	check.True(t, !ok && err == nil, "a batch script is a task: %v", err)
	for name, env := range map[string]func(string) string{
		"want a number":          with("SLURM_PROCID", "x"),
		"is no list of hosts":    with("SLURM_STEP_NODELIST", "n[x]"),
		"srun -N 2":              with("SLURM_STEP_NUM_TASKS", "1", "SLURM_PROCID", "0", "SLURM_STEP_NODELIST", "n1"),
		"--ntasks-per-node=1":    with("SLURM_STEP_NUM_TASKS", "4"),
		"at the most":            with("SLURM_STEP_NUM_TASKS", "9000"),
		"task 1 of 1":            with("SLURM_STEP_NUM_TASKS", "1"),
		"SLURM_JOB_ID is \"-1\"": with("SLURM_JOB_ID", "-1"),
	} {
		_, ok, err := Find(env)
		contains.Error(t, err, name)
		check.True(t, ok, "no task, with %s", name)
	}
}

// A name that only Slurm knows has the address that scontrol says.
func TestAddress(t *testing.T) {
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "scontrol"), []byte("#!/bin/sh\necho \"NodeName=$3 NodeAddr=192.0.2.7 State=IDLE\"\n"), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for node, want := range map[string]string{"127.0.0.1": "127.0.0.1", "node1.invalid": "192.0.2.7"} {
		check.Equal(t, Address(t.Context(), node), want, "the address of %s", node)
	}
}
