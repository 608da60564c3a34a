package engine

import (
	"os"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/provenance"
)

// A state is what else went on when a launch began.
type state struct {
	load  float64
	steal *provenance.StealMeter
}

func readState() state {
	s := state{steal: provenance.StartSteal("/")}
	text, _ := os.ReadFile("/proc/loadavg")
	if words := strings.Fields(string(text)); len(words) > 0 {
		s.load, _ = strconv.ParseFloat(words[0], 64)
	}
	return s
}

// since is the load at the beginning, and the share of the CPUs' time that the
// hypervisor took until now.
func (s state) since() (load, steal float64) {
	steal, _ = s.steal.Share()
	return s.load, steal
}
