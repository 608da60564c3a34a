package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// What docs/commands.md lists is what there is: TAULOP_UPDATE=1 writes it.
func TestCommandsPage(t *testing.T) {
	const page = docs + "/commands.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for heading, tables := range map[string]string{"## Commands\n": commandTables(), "## Flags of many commands\n": flagTable()} {
		before, after, found := strings.Cut(want, heading)
		_, after, more := strings.Cut(after, "\n## ")
		if !found || !more {
			t.Fatalf("%s has no section %s", page, heading)
		}
		want = before + heading + tables + "\n## " + after
	}
	if os.Getenv("TAULOP_UPDATE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
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

// flagTable has the flags that many commands have in the same words.
func flagTable() string {
	const many = 4
	usages := make(map[string][]string) // of each flag
	for _, c := range commands {
		for _, m := range c.all() {
			for _, s := range m.settings() {
				name := "-" + s.name
				if s.value != "" {
					name += " " + s.value
				}
				usages[s.name] = append(usages[s.name], fmt.Sprintf("| `%s` | %s |\n", name, strings.ReplaceAll(s.usage, "`", "")))
			}
		}
	}
	var rows []string
	for _, of := range usages {
		times := func(usage string) (n int) {
			for _, u := range of {
				if u == usage {
					n++
				}
			}
			return n
		}
		if most := slices.MaxFunc(of, func(a, b string) int { return cmp.Or(times(a)-times(b), strings.Compare(a, b)) }); times(most) >= many {
			rows = append(rows, most)
		}
	}
	slices.Sort(rows)
	return "\n| flag | what it is |\n| --- | --- |\n" + strings.Join(rows, "")
}
