package plan

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

// A job that is killed twice at any point goes on: nothing is timed twice, and nothing is missing.
func TestKilledJob(t *testing.T) {
	t.Run("stub", func(t *testing.T) {
		t.Parallel()
		var points []string
		for write := range 2 + 2*2 { // a head, a try and a time of each setting, done
			for _, how := range []string{"before", "half", "after"} {
				points = append(points, fmt.Sprintf("%s:%d", how, write))
			}
		}
		points = append(points, "crash:2")
		killed(t, []string{"cc", "-I", "testdata/stub"}, "nice -n", points) // a launcher that takes a number
	})
	t.Run("Open MPI", func(t *testing.T) {
		t.Parallel()
		version, err := exec.Command("mpirun", "--version").Output()
		skip.If(t, err != nil || !strings.Contains(string(version), "(Open MPI) 4."), "mpirun is not of Open MPI 4")
		out, _ := exec.Command("mpirun", "--allow-run-as-root", "-n", "1", "true").CombinedOutput()
		skip.If(t, strings.Contains(string(out), "unable to find network interfaces"), "mpirun needs a network: %s", out)
		killed(t, []string{"mpicc"}, "mpirun --allow-run-as-root --oversubscribe -n", []string{"half:2"})
	})
}

// killed kills a job of two settings twice at each of some points.
func killed(t *testing.T, compiler []string, launcher string, points []string) {
	skip.Without(t, compiler[0])
	m, library := small(), openMPI(t)
	m.CPU, m.Passes = "", 2
	m.Cells = m.Cells[:1]
	m.Cells[0].Timed = []int{0, 1}
	program := filepath.Join(t.TempDir(), "timing")
	build := append(compiler, "-O1", "-include", "testdata/stub/killed.h", "-o", program, "job/timing.c")
	text, err := exec.Command(build[0], build[1:]...).CombinedOutput()
	check.Need(t, err == nil, "%v\n%s", err, text)
	for _, point := range points {
		folder := filepath.Join(t.TempDir(), "plan")
		must.Do(m.Write(folder, library, time.Minute))
		must.Do(os.Link(program, filepath.Join(folder, "timing")))
		run := func(environment ...string) (*os.ProcessState, string) {
			job := exec.Command("bash", "-c", "JOB=$$ exec bash run.sh")
			job.Dir, job.SysProcAttr = folder, &syscall.SysProcAttr{Setpgid: true}
			job.Env = append(append(os.Environ(), "MPICC=true", "MPIRUN="+launcher), environment...)
			text, _ := job.CombinedOutput()
			return job.ProcessState, string(text)
		}
		crashes := strings.HasPrefix(point, "crash")
		for range 2 {
			state, text := run("KILL=" + point)
			check.Need(t, crashes || state.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL, "%s: the job was not killed: %v\n%s", point, state, text)
		}
		state, text := run()
		check.Need(t, state.Success() && strings.Contains(text, "all is timed"), "%s: %v\n%s", point, state, text)
		r, err := m.Read(os.DirFS(folder), library)
		crashed, below := 0, 0 // settings, twice, and times less than nothing, as on a busy machine
		for _, o := range r.LeftOut {
			if strings.HasSuffix(o.Why, "is no time of a collective") {
				below++
			} else if crashed++; !crashes || !strings.Contains(o.Why, "it crashed") {
				t.Errorf("%s: left out %+v", point, o)
			}
		}
		timed := lists.Sum(r.Passes, func(pass map[[2]int]float64) int { return len(pass) }) + below
		check.True(t, err == nil && crashes == (crashed > 0), "%s: %v, %d settings crashed", point, err, crashed)
		check.Equal(t, timed+crashed, len(m.Cells[0].Timed)*m.Passes, "%s: settings timed or crashed", point)
		names, _ := filepath.Glob(filepath.Join(folder, results, "*"))
		times := lists.Sum(names, func(name string) int { return strings.Count(string(must.Get(os.ReadFile(name))), "\ntime\t") })
		check.Equal(t, times, timed, "%s: times and settings", point)
	}
}
