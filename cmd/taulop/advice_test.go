package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allFlags are the flags of all commands, as their help lists them, without dashes.
func allFlags(t *testing.T) map[string]bool {
	flags := make(map[string]bool)
	lines := [][]string{{"verify", "-patterns", "-h"}, {"verify", "-against", "x", "-h"}}
	for _, c := range commands {
		lines = append(lines, slices.DeleteFunc([]string{c.name, "-h"}, func(word string) bool { return word == "" }))
	}
	for _, line := range lines {
		help, _, _ := run(t, line...)
		found := regexp.MustCompile(`(?m)^  -([\w-]+)`).FindAllStringSubmatch(help, -1)
		for _, flag := range found {
			flags[flag[1]] = true
		}
		if len(found) == 0 && !slices.Contains([]string{"help", "version", "man", "completion"}, line[0]) {
			t.Errorf("%q lists no flags", line)
		}
	}
	return flags
}

func TestAdvice(t *testing.T) {
	flags := allFlags(t)
	for _, a := range advice {
		if got, want := usagef("a.json: %v", fmt.Errorf("nothing: %w", a.of)).Error(), fmt.Sprintf("a.json: nothing: %v (%s)", a.of, a.flags); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := usagef("%v", fmt.Errorf("nothing: %w; name a file", a.of)).Error(), fmt.Sprintf("nothing: %v (%s); name a file", a.of, a.flags); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		for _, word := range strings.Fields(a.flags) {
			if flag, is := strings.CutPrefix(strings.Trim(word, ",;"), "-"); is && !flags[flag] {
				t.Errorf("%q: no command has -%s", a.flags, flag)
			}
		}
	}
}

// Packages do not name flags, except those that they declare: advice adds flags to their errors.
func TestPackagesSpeakOfNoFlags(t *testing.T) {
	root := filepath.Join("..", "..")
	flag := regexp.MustCompile(`(?:^|[^\w-])-(` + strings.Join(slices.Sorted(maps.Keys(allFlags(t))), "|") + `)(?:$|[^\w-])`)
	left := []string{"cmd", "bench", "internal/test/vm"} // still speak of flags
	read := 0
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, dir)
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case slices.Contains(left, name):
			return fs.SkipDir
		}
		sources, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		positions := token.NewFileSet()
		var files []*ast.File
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(positions, source, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"flag"` }) {
				return nil
			}
			files = append(files, file)
		}
		read += len(files)
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Error(err)
				}
				text = strings.ReplaceAll(text, "ulimit -", "ulimit ")                                           // flags of the shell's
				if found := flag.FindStringSubmatch(text); found != nil && !strings.HasPrefix(text, "taulop ") { // which is a whole command
					t.Errorf("%v speaks of -%s: say what it is about, and let advice name the flag: %q", positions.Position(literal.Pos()), found[1], text)
				}
				return true
			})
		}
		return nil
	})
	if err != nil || read < 100 {
		t.Errorf("read %d files, %v", read, err)
	}
}
