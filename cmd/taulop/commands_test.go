package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/contains"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

// docs/commands.md lists all commands. TAULOP_UPDATE=1 rewrites it.
func TestCommandsPage(t *testing.T) {
	const page, heading = docs + "/commands.md", "## Commands\n"
	text := load(t, page)
	before, after, found := strings.Cut(text, heading)
	_, after, more := strings.Cut(after, "\n## ")
	check.Need(t, found && more, "%s has no section of commands", page)
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
		check.NoError(t, cmd.run(t.Context(), &both, &both, args), "%s", line)
		result, warning, warned := strings.Cut(both.String(), "taulop: warning: ")
		check.True(t, warned && strings.Count(result, "\n") >= 5 && strings.Count(warning, "\n") == 1, "%s:\n%s", line, &both)
	}
}

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
		check.Equal(t, usagef("a.json: %v", fmt.Errorf("nothing: %w", a.of)).Error(), fmt.Sprintf("a.json: nothing: %v (%s)", a.of, a.flags), "advice at the end")
		check.Equal(t, usagef("%v", fmt.Errorf("nothing: %w; name a file", a.of)).Error(), fmt.Sprintf("nothing: %v (%s); name a file", a.of, a.flags), "advice before the end")
		for _, word := range strings.Fields(a.flags) {
			flag, is := strings.CutPrefix(strings.Trim(word, ",;"), "-")
			check.True(t, !is || flags[flag], "%q: no command has -%s", a.flags, flag)
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
	check.True(t, err == nil && read >= 100, "read %d files, %v", read, err)
	for dir, texts := range found {
		check.True(t, declares[dir], "%s", strings.Join(texts, "\n"))
	}
}

// The manual and completion have every flag of every command. Shells accept the completion scripts, and
// troff the manual.
func TestManualAndCompletion(t *testing.T) {
	manual, _ := ran(t, "man")
	check.AtMost(t, strings.Count(manual, "\n"), 900, "lines of the manual")
	for page, want := range map[string]string{"": "taulop COMMAND [flags]", "tune": "taulop tune \\-plan DIR"} {
		text, _ := ran(t, strings.Fields("man "+page)...)
		_, synopsis, _ := strings.Cut(text, "\n.SH SYNOPSIS\n")
		synopsis, _, _ = strings.Cut(synopsis, "\n.SH ")
		contains.All(t, synopsis, want)
	}
	for _, c := range commands {
		check.True(t, len(c.settings()) != 0 || slices.Contains([]string{"help", "version", "man", "completion"}, c.name), "%q has nothing to say of itself", c.name)
		for _, m := range c.all() {
			contains.All(t, manual, `.SH "`+roff(strings.ToUpper(m.called()))+`"`)
			line := append(strings.Fields(m.name), "-")
			offered := strings.Join(complete(line), "\n")
			for _, s := range m.settings() {
				check.True(t, strings.Contains(offered, "-"+s.name+"\t"), "%q: completion has no -%s", line, s.name)
				check.True(t, strings.Contains(manual, `\fB\-`+roff(s.name)+`\fR`), "the manual has no -%s of %q", s.name, m.name)
			}
		}
	}
	for line, want := range map[string]string{
		"sweep -with pa":                    "pack\t\npairs\t",
		"sweep -with pairs,":                "pairs,access\t\npairs,cma\t\npairs,copy\t\npairs,loaded\t\npairs,pack\t",
		"predict -cache ":                   "in\t\noff\t",
		"plot -cache off,":                  "off,in\t",
		"predict -model log3p,":             "",
		"explain -params x.json -as mpich5": "mpich5.1\t",
		"explain -as=mpich5":                "-as=mpich5.1\t",
		"plot --cache=off,":                 "--cache=off,in\t",
		"predict -params ":                  files,
		"predict -params a.json,b":          files + "\ta.json,",
		"predict -params=a.json,b":          files + "\t-params=a.json,",
		"sweep -o=a,b":                      files + "\t-o=",
	} {
		check.Equal(t, strings.Join(complete(strings.Split(line, " ")), "\n"), want, "what completes %q", line)
	}
	texts := map[string]string{"groff -man -Kutf8 -Tutf8 -ww -z": manual}
	for _, shell := range shells {
		texts[shell+" -n"], _ = ran(t, "completion", shell)
	}
	for line, text := range texts {
		words := strings.Fields(line)
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("%v", err)
			continue
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdin = strings.NewReader(text)
		said, err := cmd.CombinedOutput()
		check.True(t, err == nil && len(said) == 0, "%s: %v, %s", line, err, said)
	}
}

// Completion in bash.
func TestBashCompletes(t *testing.T) {
	skip.Without(t, "bash")
	script, _ := ran(t, "completion", "bash")
	script = fmt.Sprintf("taulop() { %q \"$@\"; }\n%s", build(t), script)
	for line, want := range map[string]string{
		"taulop pre":                      "predict",
		"taulop predict -mod":             "-model",
		"taulop predict -model li":        "libtaulop",
		"taulop predict bcast:bino":       "binomial",
		"taulop tune -as openmpi5":        "openmpi5-none",
		"taulop compare -as ri":           "ring",
		"taulop explain -P 8 allga":       "allgather",
		"taulop sweep -cache ":            "in off",
		"taulop completion f":             "fish",
		"taulop -off":                     "-off_cache",
		"taulop -cpus ":                   "",
		"taulop plot conc":                "concurrency",
		"taulop help swe":                 "sweep",
		"taulop verify permu":             "permutation",
		"taulop export -format b":         "benchfmt",
		"taulop predict -params /dev/nul": "/dev/null",

		"taulop predict -params a.json,/dev/nul":  "a.json,/dev/null",
		"taulop predict -params=a.json,/dev/nul":  "a.json,/dev/null",
		"taulop predict -params=a.json,testdat":   "a.json,testdata/",
		"taulop plot -cache=off,":                 "off,in",
		"taulop predict -as=openmpi5 bcast:binom": "binomial",
	} {
		cmd := exec.Command("bash", "-c", script+fmt.Sprintf("\nCOMP_LINE=%q COMP_POINT=%d; _taulop; echo \"${COMPREPLY[*]}\"", line, len(line)))
		said, err := cmd.CombinedOutput()
		got := strings.Fields(string(said))
		check.True(t, err == nil && (want != "" || len(got) == 0) && (want == "" || slices.Contains(got, strings.Fields(want)[0])),
			"%q: %v, %q; want %q", line, err, said, want)
	}
}

// In zsh the first completion loads the script from fpath, and completes.
func TestZshCompletesAtOnce(t *testing.T) {
	skip.Without(t, "zsh")
	dir := t.TempDir()
	script, _ := ran(t, "completion", "zsh")
	save(t, dir, "_taulop", script)
	cmd := exec.Command("zsh", "-fc", fmt.Sprintf(`_describe() { print -l -- ${(P)2} }; fpath=(%q); autoload -Uz _taulop; words=(%q help pre); CURRENT=3; _taulop`, dir, build(t)))
	check.Equal(t, string(must.Get(cmd.CombinedOutput())), "predict\n", "CombinedOutput")
}

// fits fails if a line of a text is longer than 80 columns.
func fits(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		check.AtMost(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, "%s: letters of %s", name, line)
	}
}

// A shortened warning keeps its statement, and as much of the rest as fits.
func TestBrief(t *testing.T) {
	try := func(text, want string, start, width int) {
		t.Helper()
		check.Equal(t, brief(text, start, width), want, "%q in %d", text, width)
	}
	try("this is so: do that", "this is so: do that", 0, 40)
	try("this is a machine (hypervisor KVM): compare here, or there; or nowhere", "this is a machine (hypervisor KVM)", 0, 40)
	try("this is a machine (hypervisor KVM): compare here, or there; or nowhere", "this is a machine (hypervisor KVM): compare here, or there", 0, 60)
	try("host.json: o(m) is below zero (here, there, and elsewhere) at m = 64K; it counts as 0", "host.json: o(m) is below zero …", 0, 40)
	try("the governor is powersave, so clocks change during a run and all is slow: set performance", "the governor is powersave …", 0, 40)
	try("it does not say its governor, turbo, clock source: find out", "it does not say its governor, turbo …", 0, 40)
	try("it is outside its bounds at some size: eq. (8), here and there", "it is outside its bounds at some size", 0, 44)
	try("host.json, other.json and third.json say nothing of it: ask", "host.json, other.json and third.json say nothing of it", 0, 40)
	try("one clause that is longer than there is room for", "one clause that is longer than there is room for", 0, 20)
	try("vm (a.json), vm (b.json): the hypervisor took 0.9 %: measure later", "vm (a.json), vm (b.json): the hypervisor took 0.9 %", 26, 40)
}
