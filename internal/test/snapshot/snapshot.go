// Package snapshot gives tests the sys and proc directories of other machines,
// from the archives in the directory topologies of $TAULOP_SHARED.
package snapshot

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/sysfs"
)

// Shared is a file below the directory $TAULOP_SHARED; the test is skipped without that.
func Shared(t testing.TB, parts ...string) string {
	t.Helper()
	shared := os.Getenv("TAULOP_SHARED")
	if shared == "" {
		t.Skip("TAULOP_SHARED is not set")
	}
	if !filepath.IsAbs(shared) {
		t.Fatalf("TAULOP_SHARED is %s: tests run in their package's directory, so make it an absolute path", shared)
	}
	return filepath.Join(append([]string{shared}, parts...)...)
}

// Dir is where the archives are; the test is skipped when there are none.
func Dir(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("unpacking thousands of files takes most of a minute")
	}
	return Shared(t, "topologies")
}

// Available reports whether there are any.
func Available() bool { return os.Getenv("TAULOP_SHARED") != "" }

// Names lists the machines.
func Names(t testing.TB) []string {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(Dir(t), "*.tar.bz2"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in %s (%v)", Dir(t), err)
	}
	for i, archive := range archives {
		archives[i] = strings.TrimSuffix(filepath.Base(archive), ".tar.bz2")
	}
	return archives
}

// Few are machines of three kinds that take little time; with TAULOP_LONG all.
func Few(t testing.TB) []string {
	t.Helper()
	if all := Names(t); os.Getenv("TAULOP_LONG") != "" {
		return all
	}
	return []string{"16amd64-8n2c", "20em64t-hybrid-1p6c2t+2ca4co1t", "8em64t-2s2ca2c"}
}

// idle matches what no one here reads; leaving it packed saves most of the time.
var idle = regexp.MustCompile(`/(pci|LNX|net|block|infiniband|cpuidle|memory[0-9]|hugepages|device-tree|hwloc-nofile)|/(ways_of|number_of|physical_line|uevent|numastat|vmstat|.*throttle)` +
	`|/(write_policy|allocation_policy|cache_disable_[01]|driver|power|(die|cluster)_.*)$|/sys/(bus|module)/`)

// Unpack writes the machine's files to a directory of the test's and returns the
// one that sys and proc are in.
func Unpack(t testing.TB, name string) string {
	t.Helper()
	// In memory if there is room: disks take a millisecond a file.
	if dir, err := os.MkdirTemp("/dev/shm", "taulop-snapshot-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		if root, err := unpack(t, name, dir); err == nil {
			return root
		}
	}
	root, err := unpack(t, name, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func unpack(t testing.TB, name, dir string) (string, error) {
	archive, err := os.Open(filepath.Join(Dir(t), name+".tar.bz2"))
	if err != nil {
		return "", err
	}
	defer archive.Close()
	return sysfs.Unpack(archive, dir, idle.MatchString)
}
