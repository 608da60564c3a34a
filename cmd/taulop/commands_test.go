package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/compare"
)

// docs/commands.md lists all commands. TAULOP_UPDATE=1 rewrites it.
func TestCommandsPage(t *testing.T) {
	const page, heading = docs + "/commands.md", "## Commands\n"
	text := load(t, page)
	before, after, found := strings.Cut(text, heading)
	_, after, more := strings.Cut(after, "\n## ")
	if !found || !more {
		t.Fatalf("%s has no section of commands", page)
	}
	want := before + heading + commandTables() + "\n## " + after
	if os.Getenv("TAULOP_UPDATE") != "" {
		save(t, "", page, want)
	} else if want != text {
		t.Errorf("%s is not what there is: TAULOP_UPDATE=1 go test -run TestCommandsPage writes it", page)
	}
}

// commandTables has a table per group of commands.
func commandTables() string {
	var b strings.Builder
	group := ""
	for _, c := range commands {
		if c.group != group {
			group = c.group
			fmt.Fprintf(&b, "\n| %s | what it is |\n| --- | --- |\n", strings.ToLower(group[:1])+group[1:])
		}
		for _, m := range c.all() {
			fmt.Fprintf(&b, "| `%s` | %s |\n", m.called(), m.about)
		}
	}
	return b.String()
}

// Every command rejects an empty name for a flag that takes a file.
func TestEmptyFileNames(t *testing.T) {
	tried := 0
	for _, c := range commands {
		for _, s := range c.settings() {
			if !slices.Contains([]string{"file", "table", "DIR"}, s.value) && s.name != "params" {
				continue
			}
			tried++
			args := []string{c.name, "-" + s.name, ""}
			if c.name == "" {
				args = args[1:]
			}
			out, _, err := run(t, args...)
			want := 2
			if c.plugin { // which prints its errors
				want = int(compare.Unknown)
			}
			if said := out + fmt.Sprint(err); c.status(err) != want || !strings.Contains(said, "-"+s.name) || !strings.Contains(said, "empty name") {
				t.Errorf("%s -%s '': status %d, %s", c.name, s.name, c.status(err), said)
			}
		}
	}
	if tried < 20 {
		t.Errorf("%d flags that name files, of 20 and more", tried)
	}
}

// Commands that do not measure print warnings after the result.
func TestWarningsAreLast(t *testing.T) {
	t.Chdir(fixtures(t))
	for _, line := range []string{"predict -params small/zero.txt -P 2 bcast", "explain -params small/zero.txt -P 2 bcast:binomial", "verify -against imb.txt -params small/zero.txt message"} {
		var both bytes.Buffer
		cmd, args := find(strings.Fields(line))
		if err := cmd.run(t.Context(), &both, &both, args); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		result, warning, warned := strings.Cut(both.String(), "taulop: warning: ")
		if !warned || strings.Count(result, "\n") < 5 || strings.Count(warning, "\n") != 1 {
			t.Errorf("%s:\n%s", line, &both)
		}
	}
}
