package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/vm/machine"
)

// What is packed is read back by the rules of the format: numbers in
// hexadecimal, names and contents padded to 4 bytes.
func TestInitramfs(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"init": "first", "bin/a": "", "bin/tool": "12345678"}
	for name, content := range files {
		must.Do(os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(content), 0o600))
	}
	archive := must.Get(newInitramfs(dir))
	var names []string
	for at := 0; ; {
		var magic, inode, mode, uid, gid, links, mtime, size, major, minor, devMajor, devMinor, nameSize, sum int
		n, err := fmt.Sscanf(string(archive[at:at+110]), "%06x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
			&magic, &inode, &mode, &uid, &gid, &links, &mtime, &size, &major, &minor, &devMajor, &devMinor, &nameSize, &sum)
		if n != 14 || err != nil || magic != 0x070701 {
			t.Fatalf("no header at %d: %v\n%q", at, err, archive[at:at+110])
		}
		name := string(archive[at+110 : at+110+nameSize-1])
		begin := (at + 110 + nameSize + 3) &^ 3
		content := string(archive[begin : begin+size])
		if at = (begin + size + 3) &^ 3; name == "TRAILER!!!" {
			break
		}
		names = append(names, name)
		if want, program := files[name]; program && (content != want || mode != regular|0o755) {
			t.Errorf("%s: %q with mode %o, want %q to run", name, content, mode, want)
		}
		if name == "dev/console" && (mode&device == 0 || devMajor != 5 || devMinor != 1) {
			t.Errorf("%s: mode %o, device %d, %d", name, mode, devMajor, devMinor)
		}
	}
	for _, name := range []string{"init", "bin/a", "bin/tool", "proc", "sys", "dev/console", "tmp"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing in %v", name, names)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		console string
		done    bool
		want    string // in the error, empty for none
	}{
		{"[ 0.1] boot\nvm: ok 1 s x\nvm: 1 passed, 0 failed\n", true, ""},
		{"vm: FAIL 1 s x\nvm: 3 passed, 2 failed\n[ 2.0] Power down", true, "2 of 5 checks failed"},
		{"vm: 0 passed, 0 failed", true, "no check ran"},
		{"vm: ok 1 s x\nKernel panic", false, ""},
		{"1 passed, 0 failed", false, ""},
	} {
		var v verdict
		for line := range strings.Lines(tt.console) {
			v.read(strings.TrimSpace(line))
		}
		if v.done != tt.done {
			t.Errorf("%q: done %v", tt.console, v.done)
		}
		if !v.done {
			continue
		}
		if err := v.err(); fmt.Sprint(err) != "<nil>" && tt.want == "" || tt.want != "" && !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%q: %v, want %q", tt.console, err, tt.want)
		}
	}
}

func TestMachines(t *testing.T) {
	for _, m := range machine.All {
		if len(m.Distances) != len(m.Nodes) {
			t.Errorf("%s: distances from %d of %d nodes", m.Name, len(m.Distances), len(m.Nodes))
		}
		for from, row := range m.Distances {
			if len(row) != len(m.Nodes) || row[from] != 10 || slices.Min(row) != 10 {
				t.Errorf("%s: distances from node %d: %v", m.Name, from, row)
			}
		}
		for _, id := range m.CPUNodes() {
			if n := m.Nodes[id].CPUs; n != m.CPUs()/len(m.CPUNodes()) || n%m.Threads != 0 {
				t.Errorf("%s: node %d has %d CPUs, want as many as every other, in whole cores", m.Name, id, n)
			}
		}
	}
	m := must.Get(machine.Lookup("memoryonly"))
	line := strings.Join(m.QEMU(), " ")
	for _, want := range []string{
		"-smp cpus=4,sockets=2,dies=1,cores=2,threads=1", "-m 1536M",
		"-numa node,nodeid=1,cpus=2-3,memdev=node1", "-numa node,nodeid=2,memdev=node2", "-numa dist,src=2,dst=0,val=40",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%s lacks %q", line, want)
		}
	}
	if _, err := machine.Lookup("5nodes"); err == nil || !strings.Contains(err.Error(), "4nodes") {
		t.Errorf("a machine that is not there: %v", err)
	}
}

func TestList(t *testing.T) {
	var out bytes.Buffer
	if err := prove(t.Context(), &out, []string{"-list", "smt"}); err != nil || !strings.HasPrefix(out.String(), "smt ") {
		t.Errorf("%v\n%s", err, &out)
	}
	if err := prove(t.Context(), &out, []string{"nosuch"}); err == nil {
		t.Error("no error for a machine that is not there")
	}
}
