package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// What docs/commands.md lists is what there is: TAULOP_UPDATE=1 writes it.
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

// commandTables are tables of commands, a group each.
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
