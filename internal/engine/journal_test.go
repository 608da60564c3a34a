package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taulop/taulop/internal/test/check"
	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/internal/test/skip"
	"github.com/taulop/taulop/params"
)

// A file without the journal's format and the file's mark is not read, not appended to and not removed.
func TestJournalOfAnother(t *testing.T) {
	mark := NewMark()
	head := `{"format":"taulop journal","mark":"` + mark + `"}` + "\n"
	for name, text := range map[string]string{
		"text": "precious\n", "nothing": "", "a line": `{"cell":{}}` + "\n",
		"another mark": strings.Replace(head, mark, NewMark(), 1), "no mark": strings.Replace(head, mark, "", 1),
		"another format": strings.Replace(head, "journal", "sweep", 1), "cut": strings.TrimSpace(head),
		"in line 2": "\n" + head,
	} {
		path := filepath.Join(t.TempDir(), "host.json")
		must.Do(os.WriteFile(JournalPath(path), []byte(text), 0o600))
		for _, of := range []string{mark, "", "host.json", "../host.json", ".host.json.journal"} {
			check.ErrorIs(t, must.Err(OpenJournal(path, of)), ErrNoJournal, "%s, mark %q", name, of)
			f := &params.File{Journal: of}
			RemoveJournal(path, f)
			check.Equal(t, f.Journal, "", "%s: mark of the file, which was %q", name, of)
		}
		check.ErrorIs(t, must.Err(MakeJournal(path, mark)), fs.ErrExist, "%s", name)
		if !strings.Contains(name, "mark") {
			RemoveOldJournal(path)
		}
		check.Equal(t, string(must.Get(os.ReadFile(JournalPath(path)))), text, "%s", name)
	}
}

// A journal is neither opened nor removed through a symbolic link.
func TestJournalBehindALink(t *testing.T) {
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "host.json"), filepath.Join(dir, "elsewhere")
	mark := NewMark()
	must.Get(MakeJournal(elsewhere, mark)).Close()
	for _, to := range []string{JournalPath(elsewhere), filepath.Join(dir, "new")} {
		skip.Error(t, os.Symlink(to, JournalPath(path)))
		check.ErrorIs(t, must.Err(OpenJournal(path, mark)), ErrNoJournal, "link to %s", to)
		check.ErrorIs(t, must.Err(MakeJournal(path, mark)), fs.ErrExist, "link to %s", to)
		RemoveOldJournal(path)
		check.NoError(t, os.Remove(JournalPath(path)), "the link") // the link is there
	}
	check.Equal(t, len(must.Get(os.ReadDir(dir))), 1, "files left")
}

// journalOf has a simulated sweep write the journal of the file at path, and returns its mark and text.
func journalOf(path string) (mark, text string) {
	x := experiment(5, newSimulated())
	x.Launches = 6
	mark = NewMark()
	x.Journal = must.Get(MakeJournal(path, mark))
	defer x.Journal.Close()
	must.Do(x.Run(context.Background()))
	return mark, string(must.Get(os.ReadFile(JournalPath(path))))
}

// resumed is an experiment whose file was saved without results.
func resumed(mark string) *Experiment {
	x := experiment(5, newSimulated())
	x.File.Format, x.File.Version, x.File.Journal = params.Format, params.Version, mark
	return x
}

// An opened journal continues after an incomplete line, and everything but that line is recovered.
func TestJournalGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.json")
	mark, text := journalOf(path)
	must.Do(os.WriteFile(JournalPath(path), []byte(text+`{"cell":{"kind":`), 0o600))
	x := resumed(mark)
	check.Equal(t, must.Get(x.Recover(path)), 5*6, "samples recovered")
	x.Journal = must.Get(OpenJournal(path, mark))
	defer x.Journal.Close()
	x.Session, x.Launches = 1, 6
	must.Do(x.Run(context.Background()))
	again := resumed(mark)
	check.Equal(t, must.Get(again.Recover(path)), 2*5*6, "samples recovered")
	check.Equal(t, len(again.File.Launches), 12, "launches")
	RemoveJournal(path, again.File)
	check.Empty(t, must.Get(os.ReadDir(filepath.Dir(path))), "left")
	check.ErrorIs(t, must.Err(x.Recover(path)), ErrNoJournal, "of a journal that is gone")
}

// A damaged journal adds nothing that cannot be written to a file.
func FuzzRecover(f *testing.F) {
	path := filepath.Join(f.TempDir(), "host.json")
	mark, text := journalOf(path)
	lines := slices.Collect(strings.Lines(text))
	f.Add([]byte(text))
	f.Add([]byte(strings.Join(slices.Insert(slices.Clone(lines), 9, lines[1]), "")))
	for _, change := range [][2]string{{`"session":0`, `"session":-5`}, {`"session":0`, `"session":999999999`}, {`"ns":`, `"ns":-`}, {`"began":"`, `"began":"x`}, {`"last":3`, `"last":-3`}} {
		f.Add([]byte(strings.Replace(text, change[0], change[1], 1)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !bytes.HasPrefix(text, []byte(lines[0])) {
			text = append([]byte(lines[0]), text...)
		}
		must.Do(os.WriteFile(JournalPath(path), text, 0o600))
		x := resumed(mark)
		if added, err := x.Recover(path); err != nil {
			check.True(t, added == 0 && !strings.Contains(err.Error(), "\n") && strings.HasPrefix(err.Error(), JournalPath(path)), "%d samples, %q", added, err)
			return
		}
		check.NoError(t, x.File.Write(&bytes.Buffer{}), "what is recovered cannot be written")
	})
}

// A journal moves with its file, and replaces nothing.
func TestJournalFollows(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "host.json"), filepath.Join(dir, "host-2.json")
	mark := NewMark()
	must.Get(MakeJournal(from, mark)).Close()
	MoveJournal(from, to, NewMark()) // of another file
	check.ErrorIs(t, must.Err(os.Stat(JournalPath(to))), fs.ErrNotExist, "another file's journal went along")
	MoveJournal(from, to, mark)
	check.ErrorIs(t, must.Err(os.Stat(JournalPath(from))), fs.ErrNotExist, "the journal is at its old place")
	must.Get(OpenJournal(to, mark)).Close()
	must.Do(os.WriteFile(JournalPath(from), []byte("theirs"), 0o600))
	MoveJournal(to, from, mark)
	check.Equal(t, string(must.Get(os.ReadFile(JournalPath(from)))), "theirs", "ReadFile")
}

// A fixed sampler has looks of one time.
type fixed struct{ Sampler }

func (fixed) Look(context.Context, []int) (ns, computed float64) { return 64, 8.5 }

// A look between two visits reaches the looks of its workers' watch through the journal.
func TestLookBetweenVisits(t *testing.T) {
	var journal bytes.Buffer
	s := &service{journal: &journal, since: func() time.Duration { return 2 * time.Second }, samplers: map[string]Sampler{"": fixed{}}}
	s.look(t.Context(), []int{2, 5})
	var e entry
	must.Do(json.Unmarshal(journal.Bytes(), &e))
	r := &run{Experiment: &Experiment{File: new(params.File)}, looks: make(map[int32][]params.Sample)}
	r.hear(&answers{launch: 3}, e)
	check.Deep(t, r.looks, map[int32][]params.Sample{1: {{Launch: 3, At: 2, Watch: 1, Before: 64, After: 64, Computed: 8.5}}}, "looks")
	check.Slices(t, r.File.Watches[0].CPUs, []int{2, 5}, "CPUs")
}
