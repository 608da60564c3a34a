package numa

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Clock is the frequency of a CPU in MHz, as the kernel below root knows it now; 0 where
// it does not say. On x86 it counts cycles between the last two of its timer's ticks.
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
