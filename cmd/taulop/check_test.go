package main

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// Monitors show the first line, so that it is not broken at the width of a terminal.
func TestCheckIsOneLine(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	if out, _, _ := show("check", "-baseline", node(t, t.TempDir(), "host", 1000, 0.3, 0.02, 1, 2)); strings.Count(out, "\n") != 1 || len(out) < 80 {
		t.Errorf("%q is not one line", out)
	}
}

// A check against a baseline measured just before.
func TestCheck(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	host, prom := filepath.Join(dir, "host.json"), filepath.Join(dir, "taulop.prom")
	ran(t, strings.Fields("sweep -quiet -tau 1,2 -m 8K -cache in -gamma=false -launches 6 -time 5m -o "+host)...)
	out, _, err := run(t, strings.Fields("check -quiet -perfdata -drift 0.01 -baseline "+host+" -prom "+prom)...)
	status := named("check").status(err)
	if strings.Contains(out, "nothing could be tested") {
		t.Skipf("too little of the CPUs is had: %s", out)
	}
	states := map[int]string{0: "OK", 1: "WARNING", 2: "CRITICAL", 3: "UNKNOWN"}
	if !strings.HasPrefix(out, "taulop "+states[status]+": ") || strings.Count(out, "\n") != 1 || !regexp.MustCompile(` \| ('\w+'=[0-9.e+]+;1\.1;1\.3 ?)+\n$`).MatchString(out) {
		t.Errorf("status %d, %q", status, out)
	}
	f := must.Get(os.Open(prom))
	defer f.Close()
	sample := regexp.MustCompile(`^taulop_check_\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+-]+$`)
	ratios := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		if !strings.HasPrefix(s.Text(), "# ") && !sample.MatchString(s.Text()) {
			t.Errorf("no sample of Prometheus: %s", s.Text())
		}
		if strings.HasPrefix(s.Text(), "taulop_check_ratio{") {
			ratios++
		}
	}
	if ratios < 3 {
		t.Errorf("%d ratios", ratios)
	}
}
