package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/report/page"
	"github.com/taulop/taulop/internal/report/page/nodes"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	files := nodes.Write(t, dir, 10)
	bad := save(t, dir, "bad.json", "{")
	output := filepath.Join(dir, "report.html")
	run := func(args ...string) (string, error) {
		var errOut bytes.Buffer
		err := named("report").run(context.Background(), io.Discard, &errOut, args)
		return errOut.String(), err
	}

	// A report is replaced by the next.
	for _, files := range [][]string{files[:1], files} {
		if text, err := run(append([]string{"-force", "-o", output}, files...)...); err != nil || text != "" {
			t.Fatalf("%q, %v", text, err)
		}
	}
	text := load(t, output)
	for _, want := range []string{page.Mark, "node0009", "10 machines"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if _, err := run("-force", "-bare", "-o", output, files[0]); err != nil || strings.Contains(load(t, output), `id="raw`) {
		t.Errorf("-bare: %v, or the file is in the page", err)
	}

	// In Markdown figures are beside the page, and replaced with it.
	pageFile := filepath.Join(dir, "a page.md")
	for _, args := range [][]string{{"-md"}, {"-md", "-force"}} {
		if _, err := run(append(args, "-o", pageFile, files[0])...); err != nil {
			t.Fatal(err)
		}
	}
	if text := load(t, pageFile); !strings.Contains(text, "](a%20page-concurrency.svg)") || !strings.Contains(load(t, filepath.Join(dir, "a page-concurrency.svg")), "<svg") {
		t.Errorf("a page without its figure: %s", text)
	}
	os.Remove(pageFile)
	if _, err := run("-md", "-o", pageFile, files[0]); exitStatus(err) != 2 || !strings.Contains(err.Error(), "svg is there already") {
		t.Errorf("a figure that is there: %v", err)
	}

	// A bad file among many is named, the others are in the page.
	said, err := run(append([]string{"-force", "-o", output, bad}, files...)...)
	if exitStatus(err) != 1 || !strings.Contains(said, "bad.json") || strings.Count(said, "\n") != 1 {
		t.Errorf("exit %d, %v, said %q", exitStatus(err), err, said)
	}
	if text := load(t, output); !strings.Contains(text, "A file was skipped") || !strings.Contains(text, "node0009") {
		t.Error("the page does not say what was skipped, or skips more")
	}
}
