package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/params"
)

// Measurements before Ctrl-C are printed and saved by -save, and the error says so.
func TestStoppedPatterns(t *testing.T) {
	needLinux(t)
	save := filepath.Join(t.TempDir(), "host.json")
	for _, tt := range []struct {
		flags []string
		want  string
	}{{[]string{"-save", save}, "the measured patterns are in " + save}, {nil, "were measured"}} {
		line := append([]string{"verify", "-patterns", "-cache", "in", "-m", "1K:1M", "-time", "1m", "-oversubscribe", "-P", "2"}, tt.flags...)
		out, err := stoppedInTime(t, 250, append(line, "ping-pong")...)
		if exitStatus(err) != 130 || !strings.Contains(err.Error(), tt.want) || !strings.Contains(out, "ping-pong") {
			t.Errorf("%v: exit %d, %v, printed %q; want %q", tt.flags, exitStatus(err), err, out, tt.want)
		}
	}
	host := loadParams(t, save)
	patterns := 0
	for _, c := range host.Cells {
		if c.Kind != params.PatternCell {
			continue
		}
		if patterns++; len(c.Samples) == 0 || !(c.Time.Center > 0) {
			t.Errorf("%s of %d bytes: %+v", c.Variant, c.Bytes, c.Time)
		}
	}
	if patterns == 0 || patterns > 2*11 {
		t.Errorf("%d cells of patterns, want up to 22", patterns)
	}
}

func TestLacking(t *testing.T) {
	for _, tt := range []struct {
		req       verifyRequest
		outOfTime bool
		want      string
	}{
		{verifyRequest{Request: verify.Request{Time: time.Second}}, true, "fewer -m or -cache"},
		{verifyRequest{Request: verify.Request{Time: time.Second}, save: "host.json"}, true, "the patterns are in host.json"},
		{verifyRequest{Request: verify.Request{Source: "host.json"}}, false, "for host.json: no cells"},
		{verifyRequest{save: "host.json"}, false, "for host.json: no cells; the patterns are in host.json"},
	} {
		status := 2
		if tt.outOfTime {
			status = 3
		}
		if err := tt.req.lacking(errors.New("host.json: no cells"), tt.outOfTime); exitStatus(err) != status || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%v, want one that ends in %q", err, tt.want)
		}
	}
}
