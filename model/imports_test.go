package model

import (
	"os/exec"
	"strings"
	"testing"
)

// What predicts and what reads parameter files detects no hardware and measures nothing:
// programs that import them need neither.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "../params", "../collective", "../fit", "../mapping").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		for _, not := range []string{"jaypipes/ghw", "klauspost/cpuid", "x/sys/cpu", "taulop/reduce", "taulop/shm", "taulop/setups", "internal/engine", "internal/chart"} {
			if strings.Contains(dep, not) && !strings.HasPrefix(dep, "vendor/") {
				t.Errorf("they need %s", dep)
			}
		}
	}
}
