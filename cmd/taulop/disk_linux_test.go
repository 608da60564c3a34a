package main

import (
	"os"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/sandbox"
)

// A full disk and a read-only one are a sentence, and nothing is left on them.
func TestDiskRefused(t *testing.T) {
	needLinux(t)
	for options, want := range map[string]string{"size=8m": "there is no room for a file of 64 MB", "size=8m,ro": "no file can be written there"} {
		dir := t.TempDir()
		sandbox.Mount(t, dir, options, func() {
			if out, _, err := run(t, "disk", "-quiet", dir); exitStatus(err) != 2 || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || out != "" {
				t.Errorf("%s: %v, %q; want exit 2 and a sentence with %q", options, err, out, want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%s: left behind: %v, %v", options, left, err)
			}
		})
	}
}
