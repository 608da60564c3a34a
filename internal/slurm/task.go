// Package slurm reads a program's task and job step from Slurm's environment.
package slurm

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/taulop/taulop/internal/lists"
)

// A Task is a task of a job step.
type Task struct {
	Rank  int
	Tasks int
	Hosts []string // of the step, in the order of tasks
	ports int      // the step's first port
}

// Find reads the task from the environment; ok is false outside of a job step. The error names an
// invalid variable, or a wrong number of tasks.
func Find(getenv func(string) string) (t Task, ok bool, err error) {
	rank, step := getenv("SLURM_PROCID"), getenv("SLURM_STEP_ID")
	if rank == "" || step == "" { // a batch script has a rank and no step
		return t, false, nil
	}
	first := func(names ...string) string { return cmp.Or(lists.Map(names, getenv)...) }
	var numbers [4]uint64
	for i, v := range []struct{ name, value string }{
		{"SLURM_PROCID", rank}, {"SLURM_NTASKS", first("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")},
		{"SLURM_JOB_ID", first("SLURM_JOB_ID", "SLURM_JOBID")}, {"SLURM_STEP_ID", step},
	} {
		if numbers[i], err = strconv.ParseUint(v.value, 10, 32); err != nil {
			return t, true, fmt.Errorf("%s is %.20q; want a number, as srun sets it", v.name, v.value)
		}
	}
	t = Task{Rank: int(numbers[0]), Tasks: int(numbers[1])}
	// Below the ephemeral ports.
	t.ports = 20000 + int((numbers[2]*131+numbers[3]*7)%10000)
	if t.Hosts, err = Hosts(first("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")); err != nil {
		return t, true, err
	}
	switch {
	case t.Tasks > mostTasks || t.Rank >= t.Tasks:
		return t, true, fmt.Errorf("task %d of %d; want %d at the most", t.Rank, t.Tasks, mostTasks)
	case t.Tasks < 2 || len(t.Hosts) < 2:
		return t, true, fmt.Errorf("this step has %d tasks on %d nodes, and a network has two ends: srun -N 2 --ntasks-per-node=1", t.Tasks, len(t.Hosts))
	case t.Tasks != len(t.Hosts):
		return t, true, fmt.Errorf("this step has %d tasks on %d nodes: want one on each, srun --ntasks-per-node=1", t.Tasks, len(t.Hosts))
	}
	return t, true, nil
}

// mostTasks keeps the ports of a step below the ephemeral ones.
const mostTasks = 2000

// Port is the port on which a rank's task listens.
func (t Task) Port(rank int) int { return t.ports + rank }

// nodeAddress matches a node's address in the output of scontrol.
var nodeAddress = regexp.MustCompile(`(?m)(?:^|\s)NodeAddr=(\S+)`)

// Address is a name or an address of a node, whose name may be known to Slurm only.
func Address(ctx context.Context, node string) string {
	if _, err := net.DefaultResolver.LookupHost(ctx, node); err == nil {
		return node
	}
	said, err := exec.CommandContext(ctx, "scontrol", "show", "node", node).Output()
	if found := nodeAddress.FindSubmatch(said); err == nil && found != nil {
		return string(found[1])
	}
	return node
}
