package infile

import (
	"reflect"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for text, want := range map[string][]string{
		"a.json\nb c.json\n":           {"a.json", "b c.json"},
		"a.json\r\n\r\r\n./b.json":     {"a.json", "./b.json"},
		"\ufeffa.json\n\n\nnode#1\n":   {"a.json", "node#1"},
		" indented.json\ntrailing \n":  {" indented.json", "trailing "},
		strings.Repeat("x\n", 3) + "é": {"x", "x", "x", "é"},
	} {
		if got, err := Names(strings.NewReader(text), "list"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                               "list holds no name of a file",
		"\n\r\n":                         "list holds no name of a file",
		"a.json\x00b.json\x00":           "list:1: a zero byte: give one name a line",
		"a\n" + strings.Repeat("x", 5e3): "list:2: a line of more than 4096 bytes",
	} {
		if got, err := Names(strings.NewReader(text), "list"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("nodes/a.json\nnodes/b.json\n")
	f.Add("\ufeffa\r\n\r\n b \x00")
	f.Add("\r\r\r")
	f.Fuzz(func(t *testing.T, text string) {
		names, err := Names(strings.NewReader(text), "list")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "list") {
				t.Errorf("an error without the list's name: %v", err)
			}
			return
		}
		for _, name := range names {
			if name == "" || strings.ContainsAny(name, "\n\x00") {
				t.Errorf("%q is no name", name)
			}
		}
		if again, err := Names(strings.NewReader(strings.Join(names, "\n")), "again"); err != nil || len(again) != len(names) {
			t.Errorf("%q, read again: %q, %v", names, again, err)
		}
	})
}
