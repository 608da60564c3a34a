package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
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
