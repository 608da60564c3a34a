package numa

import (
	"os"
	"path/filepath"
	"testing"
)

func TestClock(t *testing.T) {
	for _, tt := range []struct {
		text string
		want float64
	}{{"3400123\n", 3400.123}, {"<unknown>\n", 0}, {"-1\n", 0}, {"99999999999\n", 0}, {"", 0}} {
		root := t.TempDir()
		dir := filepath.Join(root, "sys/devices/system/cpu/cpu3/cpufreq")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "scaling_cur_freq"), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Clock(root, 3); got != tt.want {
			t.Errorf("%q: %g MHz, want %g", tt.text, got, tt.want)
		}
		if got := Clock(root, 4); got != 0 {
			t.Errorf("CPU 4, of which nothing is said: %g MHz", got)
		}
	}
}
