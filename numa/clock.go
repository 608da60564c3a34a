package numa

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Clock is the current frequency of a CPU in MHz, read from sys below root; 0: unknown. x86 kernels
// count cycles between the last two timer ticks.
func Clock(root string, cpu int) float64 {
	text, err := os.ReadFile(filepath.Join(root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu)))
	if err != nil {
		return 0
	}
	khz, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || khz < 0 || khz > 1e9 {
		return 0
	}
	return float64(khz) / 1e3
}
