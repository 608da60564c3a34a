package provenance

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/sysfs"
	"github.com/taulop/taulop/params"
)

// steal reads the time that the hypervisor gave to other guests while a CPU wanted to run, and the CPUs'
// total time, both in ticks since boot; not known without times of the CPUs in proc/stat.
func (t tree) steal() (stolen, total uint64, known bool) {
	// cpu user nice system idle iowait irq softirq steal guest guest_nice; user includes guest. Kernels
	// before 2.6.11 have no steal.
	words := strings.Fields(t.Text("proc/stat"))
	if len(words) < 9 || words[0] != "cpu" {
		return 0, 0, false
	}
	for _, word := range words[1:9] {
		ticks, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return 0, 0, false
		}
		total += ticks
		stolen = ticks
	}
	return stolen, total, true
}

// A StealMeter measures the stolen time since its start.
type StealMeter struct {
	Load          float64 // of the minute before the start; 0: unknown
	root          string
	stolen, total uint64
	known         bool
}

// StartSteal starts a meter. Without times of the CPUs its share is unknown.
func StartSteal(root string) *StealMeter {
	s := &StealMeter{root: root}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return s
	}
	defer dir.Close()
	t := tree{sysfs.Tree{FS: dir.FS()}}
	s.stolen, s.total, s.known = t.steal()
	if loads := t.loads(); len(loads) > 0 {
		s.Load = loads[0]
	}
	return s
}

// Share is the share of the CPUs' time that was stolen since the start; it is not known before the
// first tick.
func (s *StealMeter) Share() (share float64, known bool) {
	now := StartSteal(s.root)
	if !s.known || !now.known || now.total <= s.total || now.stolen < s.stolen {
		return 0, false
	}
	return float64(now.stolen-s.stolen) / float64(now.total-s.total), true
}

// Warnings has one if the share exceeds params.StealLimit.
func (s *StealMeter) Warnings() []error {
	share, known := s.Share()
	if !known || share <= params.StealLimit {
		return nil
	}
	return []error{fmt.Errorf("the hypervisor took %s of the CPUs' time during the run, and samples may be slow for it: measure again when its other guests are quiet", printable.Percent(share))}
}
