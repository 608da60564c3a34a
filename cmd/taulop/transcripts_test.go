package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/survey/cma"
	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/internal/test/surveytest"
	"github.com/taulop/taulop/shm"
)

// TestTranscripts runs the command lines of testdata/transcripts, a file after the other in a
// directory of its own that has the files of fixtures. A line begins with what it is:
//
//	# a comment
//	with WORDS           words that precede the words of the lines below; a flag of a line replaces theirs
//	$ WORDS              a command that succeeds; cat shows a file
//	> TEXT               lines, one below the other, that standard output has
//	~ TEXT               text that is printed, or said on standard error, spaces and lines apart
//	- TEXT               text that is nowhere there
//	= WORDS              a command that prints the same
//	! WORDS → TEXT       a command that is refused: status 2, one sentence with the text, and no trace
//	!3 WORDS → TEXT      a command with that status and sentence, which may take memory and leave files
//
// CPU0 in a command is the first CPU that the test may use.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/transcripts/*.txt")
	check.Need(t, err == nil && len(paths) >= 20, "%v %v", paths, err)
	files := fixtures(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // for secrets
	t.Setenv("SLURM_STEP_ID", "")
	for _, path := range paths {
		name, text := strings.TrimSuffix(filepath.Base(path), ".txt"), load(t, path)
		t.Run(name, func(t *testing.T) {
			skip.If(t, strings.HasPrefix(name, "meas") && !shm.Supported, "measuring needs Linux")
			switch name {
			case "measured":
				surveytest.Machine(t, 2)
			case "cma":
				skip.Error(t, cma.Allowed(surveytest.Machine(t, 2)))
			}
			dir := inMemory(t)
			linkFiles(t, files, dir)
			if name == "snapshots" {
				snapshots(t, dir)
			}
			t.Chdir(dir)
			skip.Error(t, os.Symlink("host.json", "link.json"))
			played := &transcript{T: t, traces: traces(t)}
			for line := range strings.Lines(text) {
				played.line(strings.TrimRight(line, "\n"))
			}
			played.end()
		})
	}
}

// A transcript is the state of one that is run.
type transcript struct {
	*testing.T
	with        []string
	last        string // that ran last
	out, errOut string
	block       []string // of > so far
	traces      string   // of the files in the directory
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

func (s *transcript) line(line string) {
	s.Helper()
	kind, rest, _ := strings.Cut(line, " ")
	if kind != ">" {
		s.end()
	}
	switch kind {
	case "", "#":
	case "with":
		s.with = strings.Fields(rest)
	case "$":
		s.last = rest
		s.out, s.errOut = s.run(rest)
		s.traces = traces(s.T)
	case "=":
		out, _ := s.run(rest)
		check.True(s, rounded(out) == rounded(s.out), "%s\n%s\n%s\n%s", s.last, s.out, rest, out)
	case ">":
		s.block = append(s.block, rest)
	case "~", "-":
		check.True(s, strings.Contains(plain(s.out)+" "+plain(s.errOut), plain(rest)) == (kind == "~"), "%s\n%s%s\n%s", s.last, s.out, s.errOut, line)
	case "!":
		s.refuses(rest)
	case "!1", "!2", "!3":
		line, want, _ := strings.Cut(rest, " → ")
		words := s.words(line)
		of, _ := find(words)
		var err error
		s.out, s.errOut, err = run(s.T, words...)
		said := fmt.Sprint(err)
		if of.plugin { // which prints its sentence
			said = strings.TrimSuffix(s.out, "\n")
		}
		check.True(s, fmt.Sprint("!", of.status(err)) == kind && strings.Contains(said, want) && (!of.plugin || !strings.Contains(said, "\n")),
			"%s: exit %d, %s", rest, of.status(err), said)
		s.last, s.traces = line, traces(s.T)
	default:
		s.Fatalf("%q begins with none of # with $ > ~ - !", line)
	}
}

func (s *transcript) run(line string) (out, errOut string) {
	s.Helper()
	if file, is := strings.CutPrefix(line, "cat "); is {
		return load(s.T, strings.Trim(file, "'")), ""
	}
	return ran(s.T, s.words(line)...)
}

// fraction is a number whose last digits depend on fused multiply-add.
var fraction = regexp.MustCompile(`[0-9]+\.[0-9]+(e[-+][0-9]+)?`)

func rounded(text string) string {
	return fraction.ReplaceAllStringFunc(text, func(number string) string {
		v, _ := strconv.ParseFloat(number, 64)
		return strconv.FormatFloat(v, 'g', 6, 64)
	})
}

// words are the words of a command line, after the prefix.
func (s *transcript) words(line string) []string {
	words := word.FindAllString(line, -1)
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
		if strings.Contains(words[i], "CPU0") {
			words[i] = strings.ReplaceAll(words[i], "CPU0", strconv.Itoa(surveytest.Machine(s.T, 1).Allowed[0]))
		}
	}
	if len(s.with) == 0 {
		return words
	}
	return behind(s.with[1:], s.with[0], words)
}

// end checks the expected lines of the last command.
func (s *transcript) end() {
	block := strings.Join(s.block, "\n")
	check.True(s, strings.Contains("\n"+s.out, "\n"+block), "%s\n%s%s\nwant\n%s", s.last, s.out, s.errOut, block)
	s.block = nil
}

func (s *transcript) refuses(line string) {
	line, want, _ := strings.Cut(line, " → ")
	words := s.words(line)
	out, err := frugal(s.T, words...)
	check.True(s, exitStatus(err) == 2 && strings.Contains(err.Error(), want) && want != "" && !strings.ContainsAny(err.Error(), "\n") && !strings.Contains(err.Error(), "open ") && out == "",
		"%q: exit %d, %v, output %q; want exit 2 and one line with %q", words, exitStatus(err), err, out, want)
	if now := traces(s.T); now != s.traces {
		s.Errorf("%q leaves traces:\n%s", words, now)
		s.traces = now
	}
}

// linkFiles links the files of a directory into another. Commands replace links, and leave the originals.
func linkFiles(t *testing.T, from, to string) {
	t.Helper()
	must.Do(filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		if err == nil && d.IsDir() {
			return os.MkdirAll(name, 0o755)
		} else if err == nil {
			err = os.Link(path, name)
		}
		return err
	}))
}

// traces are the files in the directory with their modification times.
func traces(t testing.TB) string {
	t.Helper()
	var all bytes.Buffer
	must.Do(fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			fmt.Fprintln(&all, path, info.Size(), info.ModTime())
		}
		return err
	}))
	return all.String()
}

// behind is a command with more words; a flag in both is taken from words.
func behind(machine []string, command string, words []string) []string {
	all := []string{command}
	for i := 0; i < len(machine); i++ {
		if strings.HasPrefix(machine[i], "-") && i+1 < len(machine) {
			if i++; !slices.Contains(words, machine[i-1]) {
				all = append(all, machine[i-1], machine[i])
			}
		} else {
			all = append(all, machine[i])
		}
	}
	return append(all, words...)
}
