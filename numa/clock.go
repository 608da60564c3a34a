package numa

import (
	"fmt"
	"os"
	"path"

	"github.com/taulop/taulop/internal/sysfs"
)

// Clock is the current frequency of a CPU in MHz, read from sys below root; 0: unknown. x86 kernels
// count cycles between the last two timer ticks.
func Clock(root string, cpu int) float64 {
	files := tree{Tree: sysfs.Tree{FS: os.DirFS(root)}}
	khz, _ := files.number(path.Join(cpuDir, fmt.Sprint("cpu", cpu), "cpufreq/scaling_cur_freq"))
	if khz < 0 || khz > 1e9 {
		return 0
	}
	return float64(khz) / 1e3
}
