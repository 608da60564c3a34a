package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
)

const docs = "../../docs"

// A shown command is a command in a console block of a page, with its output.
type shown struct {
	line, output string
}

var console = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// consoles are the commands of a page: lines after "$ ", continued after a backslash.
func consoles(page string) (all []shown) {
	for _, block := range console.FindAllStringSubmatch(page, -1) {
		goesOn := false
		for line := range strings.Lines(block[1]) {
			if command, is := strings.CutPrefix(line, "$ "); is {
				all = append(all, shown{line: command})
			} else if last := &all[len(all)-1]; goesOn {
				last.line += line
			} else {
				last.output += line
				continue
			}
			goesOn = strings.HasSuffix(line, "\\\n")
		}
	}
	return all
}

var (
	duration = regexp.MustCompile(` -(time \S+|cache in)`)
	written  = regexp.MustCompile(` (?:-o|-add|-prom) (\S+)`)
)

// less are flags for short measurements, unless a page's command has them.
var less = map[string]string{"sweep": " -launches 6 -m 8K,1M -cache in -gamma=false", "verify": " -time 1s -m 12000 -cache in -oversubscribe", "check": ""}

// shortened is the line of a measuring command with these flags.
func shortened(line, command string) string {
	line = strings.TrimSpace(line)
	if strings.Contains(line, " -add ") { // under the file's own plan
		return line
	}
	fewer, known := less[command]
	if !known {
		fewer = " -launches 6"
	}
	return duration.ReplaceAllString(line, "") + fewer
}

// The commands of docs/tasks and docs/estimate.md print the output shown there. Each page runs in a
// directory with the files of docs/programs. Measuring commands get two seconds for a few sizes and may
// print anything; their files are replaced by those in docs/tasks/data, if any, so that later commands
// print the same. TAULOP_UPDATE=1 rewrites the pages.
func TestTaskPages(t *testing.T) {
	pages, err := filepath.Glob(docs + "/tasks/*.md")
	check.Need(t, err == nil && len(pages) >= 6, "%d pages, %v", len(pages), err) // compare, predict, tune, check, figure and go
	pages = append(pages, docs+"/estimate.md")
	data, program := must.Get(filepath.Abs(docs+"/tasks/data")), build(t)
	var measured sync.Map // commands, whatever their files are called
	for _, path := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			t.Parallel()
			text := load(t, path)
			page, dir := text, t.TempDir()
			must.Do(os.CopyFS(dir, os.DirFS(docs+"/programs")))
			for _, c := range consoles(page) {
				first, _, _ := strings.Cut(strings.TrimPrefix(c.line, "taulop "), " ")
				command, writes := lookup(first), written.FindAllStringSubmatch(c.line, -1)
				if command != nil && command.mode(strings.Fields(c.line)).measures {
					known := len(writes) > 0
					for _, w := range writes {
						_, err := os.Stat(filepath.Join(data, w[1]))
						known = known && err == nil
					}
					skip.If(t, testing.Short() && !known, "what follows needs measurements")
					_, before := measured.LoadOrStore(written.ReplaceAllString(c.line, ""), true)
					if !testing.Short() && !(known && before) && !measureShown(t, program, dir, c.line, *command) && !known && len(writes) > 0 {
						t.Skip("what follows needs what was not measured")
					}
					if known {
						for _, w := range writes {
							save(t, dir, w[1], load(t, data, w[1]))
						}
					}
				} else {
					out, errOut, err := shell(t, program, dir, c.line)
					check.Need(t, err == nil, "%s: %v\n%s%s", c.line, err, out, errOut)
					out = regexp.MustCompile(`\s+`+regexp.QuoteMeta(dir)).ReplaceAllString(out, " /home/you") // however long it is
					check.True(t, out == c.output || os.Getenv("TAULOP_UPDATE") != "", "%s: %s shows\n%s\nand it prints\n%s", path, c.line, c.output, out)
					page = strings.Replace(page, "$ "+c.line+c.output, "$ "+c.line+out, 1)
				}
				for _, w := range writes {
					s, err := os.Stat(filepath.Join(dir, w[1]))
					check.True(t, err == nil && s.Size() != 0, "%s: there is no %s, or it is empty: %v", c.line, w[1], err)
				}
			}
			if page != text && os.Getenv("TAULOP_UPDATE") != "" {
				save(t, "", path, page)
			}
		})
	}
}

// measureShown runs a measuring command in a directory, and reports whether it measured something. Two
// seconds may be too short on a busy machine, and a plugin may print any state.
func measureShown(t *testing.T, program, dir, line string, of command) bool {
	out, errOut, err := shell(t, program, dir, shortened(line, of.name))
	switch {
	case err == nil, of.plugin && strings.HasPrefix(out, "taulop "):
		return true
	case strings.Contains(errOut, "allow more"):
		t.Logf("%s: %v, %s", line, err, errOut)
		return false
	}
	t.Fatalf("%s: %v\n%s%s", line, err, out, errOut)
	return false
}

// shell runs a line in a shell with the program on its PATH.
func shell(t *testing.T, program, dir, line string) (out, errOut string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append(os.Environ(), "COLUMNS=80", "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return outputs(cmd)
}

// outputs runs a process.
func outputs(cmd *exec.Cmd) (out, errOut string, err error) {
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

var (
	span     = regexp.MustCompile("(?s)`([^`]+)`")
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code     = regexp.MustCompile("`[^`]*`")
	spoken   = regexp.MustCompile(`(?:^|[ /(;|&])taulop( [^|;&#()]*)`)
	flagWord = regexp.MustCompile(`^-([a-zA-Z_][a-zA-Z_0-9-]*)$`)
	operand  = regexp.MustCompile(`^[-A-Z0-9]`) // of taulop without a command
)

// flagsOf are the flags of each command and of its modes; "" is the plain command.
var flagsOf = sync.OnceValue(func() map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for _, c := range commands {
		all[c.name] = make(map[string]bool)
		for _, m := range c.all() {
			for _, s := range m.settings() {
				all[c.name][s.name] = true
			}
		}
	}
	return all
})

// hasFlag reports whether a command, or another program in the pages, has a flag.
func hasFlag(flags map[string]bool, name string) bool {
	return name == "h" || name == "multi" || flags[name]
}

// Every command, flag, benchmark and linked file in README, docs and the scripts of bench exists.
func TestDocsNameWhatThereIs(t *testing.T) {
	pages := []string{"../../README.md", "../../CHANGELOG.md"}
	must.Do(filepath.WalkDir(docs, func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	}))
	scripts := must.Get(filepath.Glob("../../bench/*.sh"))
	found, any, benchmarks := 0, allFlags(), must.Get(exec.Command("grep", "-rhoE", `^func Benchmark\w+`, "../..", "--include=*_test.go").Output())
	for _, path := range append(pages, scripts...) {
		page := load(t, path)
		if filepath.Ext(path) == ".sh" {
			for _, name := range regexp.MustCompile(`\bBenchmark[A-Z]\w*`).FindAllString(page, -1) {
				check.True(t, strings.Contains(string(benchmarks), "func "+name+"\n"), "%s runs %s, which no package has", path, name)
			}
			page = scriptCommands(page)
		}
		prose := fenced.ReplaceAllString(page, "")
		for _, s := range span.FindAllStringSubmatch(prose, -1) {
			f := flagWord.FindStringSubmatch(strings.Fields(s[1] + " .")[0])
			check.True(t, f == nil || hasFlag(any, f[1]), "%s: no command has the flag of `%s`", path, s[1])
		}
		for _, line := range commandLines(page, prose) {
			found += checkCommands(t, path, line)
		}
		for _, l := range link.FindAllStringSubmatch(code.ReplaceAllString(prose, ""), -1) {
			target, _, _ := strings.Cut(l[1], "#")
			if strings.Contains(target, "://") || target == "" {
				continue
			}
			check.NoError(t, must.Err(os.Stat(filepath.Join(filepath.Dir(path), target))), "%s links %s", path, l[1])
		}
	}
	check.AtLeast(t, found, 200, "commands found in README, docs and bench")
}

// commandLines are the lines of a page that may contain commands.
func commandLines(page, prose string) (all []string) {
	for _, s := range span.FindAllStringSubmatch(prose, -1) {
		if words := strings.Fields(s[1]); len(words) > 0 && words[0] == "taulop" {
			all = append(all, strings.Join(words, " "))
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(page, "\\\n", " ")) {
		if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "* ||") {
			line, _, _ = strings.Cut(line, "    # ")
			if i := strings.Index(strings.TrimLeft(line, " "), "   "); i > 0 { // what it is, beside it
				line = strings.TrimLeft(line, " ")[:i]
			}
			all = append(all, line)
		}
	}
	return all
}

// checkCommands checks that the commands of a line and their flags exist, and counts them.
func checkCommands(t *testing.T, path, line string) (found int) {
	t.Helper()
	for _, command := range spoken.FindAllStringSubmatch(line, -1) {
		words := strings.Fields(command[1])
		if len(words) == 0 {
			continue
		}
		found++
		name := words[0]
		if lookup(name) == nil {
			if line == "taulop parameters" || strings.Contains(name, "/") { // a format, and a file
				continue
			} else if !operand.MatchString(name) {
				t.Errorf("%s: there is no command %q in %q", path, name, line)
				continue
			}
			name = ""
		}
		for _, word := range words {
			word, _, _ = strings.Cut(word, "=")
			word = strings.TrimRight(word, ",.`")
			f := flagWord.FindStringSubmatch(word)
			check.True(t, f == nil || hasFlag(flagsOf()[name], f[1]), "%s: taulop %s has no flag %s, in %q", path, name, word, line)
		}
	}
	return found
}

// scriptCommands are the lines of a shell script that run taulop, with X for expansions.
func scriptCommands(script string) string {
	program := regexp.MustCompile(`"\$(taulop|\w+/taulop)" ([-a-z])`)
	filled := regexp.MustCompile(`\$\(\([^()]*\)\)|\$\([^()]*\)|\$\w+|'[^']*'|"[^"]*"`)
	var lines []string
	for line := range strings.Lines(script) {
		if program.MatchString(line) {
			line = strings.TrimSpace(program.ReplaceAllString(line, " taulop $2"))
			for range 2 { // one in another
				line = filled.ReplaceAllString(line, "X")
			}
			lines = append(lines, "    "+line+"\n")
		}
	}
	return strings.Join(lines, "")
}
