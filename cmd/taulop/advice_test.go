package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
)

// allFlags are the flags of all commands, without dashes.
func allFlags() map[string]bool {
	all := make(map[string]bool)
	for _, flags := range flagsOf() {
		maps.Copy(all, flags)
	}
	return all
}

func TestAdvice(t *testing.T) {
	flags := allFlags()
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
	flags := allFlags()
	delete(flags, "plan") // in a whole command,
	delete(flags, "N")    // and srun's
	flag := regexp.MustCompile(`(?:^|[^\w-])-(` + strings.Join(slices.Sorted(maps.Keys(flags)), "|") + `)(?:$|[^\w-])`)
	left := []string{"cmd", "bench", "internal/test/vm"}                // still speak of flags
	found, declares := make(map[string][]string), make(map[string]bool) // by directory
	positions, read := token.NewFileSet(), 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(left, name):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(positions, filepath.Join("../..", name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read++
		dir := path.Dir(name)
		declares[dir] = declares[dir] || slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"flag"` })
		for n := range ast.Preorder(file) {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			text := strings.ReplaceAll(must.Get(strconv.Unquote(literal.Value)), "ulimit -", "ulimit ")        // flags of the shell's
			if spoken := flag.FindStringSubmatch(text); spoken != nil && !strings.HasPrefix(text, "taulop ") { // which is a whole command
				found[dir] = append(found[dir], fmt.Sprintf("%v speaks of -%s: say what it is about, and let advice name the flag: %q", positions.Position(literal.Pos()), spoken[1], text))
			}
		}
		return nil
	})
	if err != nil || read < 100 {
		t.Errorf("read %d files, %v", read, err)
	}
	for dir, texts := range found {
		if !declares[dir] {
			t.Error(strings.Join(texts, "\n"))
		}
	}
}
