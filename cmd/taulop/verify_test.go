package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/report"
	"github.com/taulop/taulop/internal/verify"
	"github.com/taulop/taulop/params"
)

// read decodes the document that a command wrote, unless it failed: for lack of time,
// it says.
func read(t *testing.T, file string, failed error, doc any) bool {
	t.Helper()
	if failed != nil && !strings.Contains(failed.Error(), "within -time") {
		t.Fatal(failed)
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, doc)
	}
	if failed == nil && err != nil {
		t.Fatal(err)
	}
	return failed == nil
}

// It measures, checks and predicts; how well is not for a test to say.
func TestVerifies(t *testing.T) {
	needLinux(t)
	file := filepath.Join(t.TempDir(), "v.json")
	var doc verify.Result
	var errOut string
	longEnough(t, 2*time.Second, func(budget time.Duration) bool {
		var err error
		_, errOut, err = run(t, "verify", "-cache", "in", "-m", "512,9000", "-time", budget.String(), "-oversubscribe", "-P", "2", "-json", "-force", "-o", file,
			"message", "allgather:ring", "barrier:dissemination")
		doc = verify.Result{}
		return read(t, file, err, &doc) && doc.Rounds >= 3 && !strings.Contains(errOut, "time did not suffice for")
	})
	if !strings.Contains(errOut, "taulop: warning: ") {
		t.Errorf("no warnings: %q", errOut)
	}
	if len(doc.Rows) != 5 || doc.Rounds < 3 || len(doc.LogGP) != 1 || len(doc.Means) != 4 {
		t.Fatalf("%d rows of %d rounds, %d LogGP, %d means", len(doc.Rows), doc.Rounds, len(doc.LogGP), len(doc.Means))
	}
	complete := false
	for _, r := range doc.Rows {
		if !(r.Measured.Center >= 0) || len(r.Predicted) > 4 || r.OnGrid != (r.Bytes == 512) {
			t.Errorf("%+v", r)
		}
		complete = complete || len(r.Predicted) == 4 // no other session's
		for _, p := range r.Predicted {
			if math.IsNaN(p.Ns) || math.IsInf(p.Ns, 0) {
				t.Errorf("%s, m = %d: %s predicts %g", r.Name, r.Bytes, p.Model, p.Ns)
			}
		}
	}
	if n := doc.Launches; !complete || len(doc.Models) != 4 || n.Parameters < 3 || n.Schedules < 3 || n.Both > 0 {
		t.Errorf("%d models, %+v, a row that all predict: %v", len(doc.Models), n, complete)
	}
	var text strings.Builder
	report.Verification(&doc).WriteText(&text)
	for _, want := range []string{"P = 2, user data in cache", "allgather:ring", "τ-Lop, full: L(8K,τ)", "* on the grid", "Errors, %"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}

// Patterns run, are fitted and predicted, and their times are in the file.
func TestVerifiesPatterns(t *testing.T) {
	needLinux(t)
	dir := t.TempDir()
	file, save := filepath.Join(dir, "v.json"), filepath.Join(dir, "host.json")
	var doc verify.PatternResult
	longEnough(t, 2*time.Second, func(budget time.Duration) bool {
		os.Remove(save)
		_, _, err := run(t, "verify", "-patterns", "-cache", "in", "-m", "2K:32K", "-time", budget.String(), "-oversubscribe", "-P", "2", "-json", "-force", "-o", file, "-save", save, "ping-pong")
		doc = verify.PatternResult{}
		return read(t, file, err, &doc) && doc.Rounds >= 3
	})
	if len(doc.Rows) != 2*5 || doc.Rounds < 3 || len(doc.Fits) != 3 || len(doc.Means) != 3 || len(doc.FittedSizes) != 3 || len(doc.Patterns) != 2 {
		t.Fatalf("%d rows of %d rounds, %d fits, %d means", len(doc.Rows), doc.Rounds, len(doc.Fits), len(doc.Means))
	}
	for _, f := range doc.Fits {
		if !(f.Line.Startup.Value+f.Line.PerByte.Value > 0) || f.Line.N != 3 {
			t.Errorf("%s: %+v", f.Name, f.Line)
		}
	}
	host := loadParams(t, save)
	times := make(map[string]int)
	for _, c := range host.Cells {
		if c.Kind == params.PatternCell && c.Time.Center > 0 && len(c.Samples) >= doc.Rounds {
			times[c.VariantName()]++
		}
	}
	if len(times) != 2 || times["permutation-1"] != 5 || times["ping-pong-0-1"] != 5 {
		t.Errorf("cells by variant: %v", times)
	}
	var out string
	var err error
	longEnough(t, 2*time.Second, func(budget time.Duration) bool {
		out, _, err = run(t, "verify", "-patterns", "-cache", "in", "-m", "2K:32K", "-time", budget.String(), "-oversubscribe", "-P", "2", "-quiet", "-params", save)
		return err == nil && strings.Contains(out, "permutation-d")
	})
	if err != nil || !strings.Contains(out, "permutation-d") || !strings.Contains(out, "parameters: "+save) {
		t.Errorf("from the file: %v, %s", err, out)
	}
}

// A file that lacks what patterns need predicts none of them, however long they run: where
// time was too short for lines as well, that is not the reason given.
func TestPatternsOfAFileThatLacks(t *testing.T) {
	needLinux(t)
	path, err := filepath.Join(fixtures(t), "context.json"), error(nil)
	longEnough(t, 100*time.Millisecond, func(budget time.Duration) bool {
		var out string
		out, _, err = run(t, "verify", "-patterns", "-cache", "off", "-m", "1:1M", "-time", budget.String(), "-oversubscribe", "-P", "2", "-params", path, "scatter")
		return strings.Contains(out, "scatter")
	})
	if err != nil && (exitStatus(err) != 2 || !strings.Contains(err.Error(), "τ-Lop has nothing off cache: "+path)) {
		t.Errorf("exit %d, %v", exitStatus(err), err)
	}
}

// What was measured until Ctrl-C is printed and in -save, and the sentence says so.
func TestStoppedPatterns(t *testing.T) {
	needLinux(t)
	save := filepath.Join(t.TempDir(), "host.json")
	for _, tt := range []struct {
		flags []string
		want  string
	}{{[]string{"-save", save}, "the patterns that were are in " + save}, {nil, "were measured"}} {
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
