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

// checkStatus runs a check, and returns its line and status.
func checkStatus(t *testing.T, line string) (string, int) {
	t.Helper()
	c, args := find(strings.Fields(line))
	if !c.plugin {
		t.Fatalf("%s is for no monitoring", line)
	}
	var out, errOut strings.Builder
	err := c.run(t.Context(), &out, &errOut, args)
	return out.String(), c.status(err)
}

// A failed check is unknown, in one line on standard output and in its metrics.
func TestCheckUnknown(t *testing.T) {
	dir := t.TempDir()
	host := node(t, dir, "host", 1000, 0.3, 0.02, 1, 2)
	published := save(t, dir, "SHM.txt", "#m\t1\n#tau\t1\n# x\n1\t0\t1e-6\n")
	prom := filepath.Join(dir, "taulop.prom")
	for _, tt := range []struct{ line, want string }{
		{"check", "-baseline is missing"},
		{"check -baseline " + dir + "/none.json -prom " + prom, "none.json is not there"},
		{"check -baseline " + published, "published text file"},
		{"check -baseline " + host, "is no measure of this node"},
		{"check -baseline " + host + " x", "no arguments"},
		{"check -baseline " + host + " -time 1m", "-time"},
		{"check -baseline " + host + " -peak 0", "no bandwidth"},
		{"check -baseline " + host + " -warning 0.5 -critical 0.1", "-warning"},
		{"check -baseline " + host + " -drift 200", "-drift"},
		{"check -baseline " + host + " -warning 1", "give 1% or 100%"},
		{"check -baseline " + host + " -prom " + host, "-prom"},
		{"check -baseline " + host + " -prom " + dir + "/no/x", "-prom"},
		{"check -nonsense", "-nonsense"},
		{"check -drift x", "is no percentage"},
	} {
		out, status := checkStatus(t, tt.line)
		if status != 3 || !strings.HasPrefix(out, "taulop UNKNOWN: ") || !strings.Contains(out, tt.want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: status %d, %q; want %q", tt.line, status, out, tt.want)
		}
	}
	if text, err := os.ReadFile(prom); err != nil || !strings.Contains(string(text), "\ntaulop_check_state 3\n") {
		t.Errorf("%s, %v", text, err)
	}
	// Monitors show the first line: what goes to them is broken at no width.
	t.Setenv("COLUMNS", "40")
	if out, _ := show("check", "-baseline", host); strings.Count(out, "\n") != 1 || len(out) < 80 {
		t.Errorf("%q is not one line", out)
	}
	if out, status := checkStatus(t, "check -h"); status != 0 || !strings.Contains(out, "-baseline") {
		t.Errorf("-h: status %d, %s", status, out)
	}
}

// A check against a baseline measured just before.
func TestCheck(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	host, prom := filepath.Join(dir, "host.json"), filepath.Join(dir, "taulop.prom")
	ran(t, strings.Fields("sweep -quiet -tau 1,2 -m 8K -cache in -gamma=false -launches 6 -time 5m -o "+host)...)
	out, status := checkStatus(t, "check -quiet -perfdata -drift 0.01 -baseline "+host+" -prom "+prom)
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
