package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/skip"
)

// terminal is a pseudo-terminal: the side to write to, and its whole output after that is closed.
func terminal(t *testing.T) (side *os.File, shown func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	skip.If(t, err != nil, "there is no pseudo-terminal here: %v", err)
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		side, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	skip.If(t, err != nil, "there is no pseudo-terminal here: %v", err)
	t.Cleanup(func() { side.Close() })
	read := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(master) // which ends with EIO
		read <- strings.ReplaceAll(string(text), "\r\n", "\n")
	}()
	return side, func() string {
		side.Close()
		select {
		case text := <-read:
			return text
		case <-time.After(time.Minute):
			t.Fatal("the terminal is still open")
			return ""
		}
	}
}

func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	file := hostile(t, dir)
	for _, line := range [][]string{
		{"compare", file, talkative}, {"compare", "-csv", file, talkative}, {"compare", "-json", file, talkative}, {"predict", "-params", file, "-P", "2", "-m", "8K", "bcast"},
		{"predict", "-params", file, "-P", "2", "-m", "8K", "-tsv", "bcast"}, {"explain", "-params", file, "-P", "2", "-m", "8K", "-model", "mlognp", "bcast:linear"},
		{"predict", "-params", file, "-P", "2", "-m", "8K", "-json", "bcast"}, {"export", "-format", "csv", file}, {"export", "-format", "benchfmt", file},
		{"report", "-o", filepath.Join(dir, "\x1b[2J", "x.html"), file}, {"predict", "-params", "\x1b[2J", "-P", "2", "bcast"},
	} {
		side, shown := terminal(t)
		cmd := program(t, line...)
		cmd.Stdout, cmd.Stderr = side, side
		if line[1] == "-json" {
			cmd.Stderr = nil
		}
		cmd.Run()
		text := shown()
		at, found := unsafe(text)
		check.True(t, !found && text != "", "%q: %.40q", line, text[max(0, at-20):])
		check.True(t, line[1] != "-json" || json.Valid([]byte(text)), "%q: no JSON: %.80q", line, text)
	}
}

// Progress bars are not escaped.
func TestProgressOnTerminal(t *testing.T) {
	side, shown := terminal(t)
	show, done := launchProgress(&messages{progress: escape(side)}, time.Minute)
	show(engine.Progress{Launch: 1, Launches: 6, Visited: 1, Cells: 2, Left: time.Second})
	done()
	text := shown()
	contains.All(t, text, "launch 1 of 6: 1 of 2 cells", "\r")
	contains.None(t, text, `\x1b`)
}
