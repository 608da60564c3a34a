package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/provenance"
	"github.com/taulop/taulop/internal/survey/transfers"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/setups"
	"github.com/taulop/taulop/shm"
)

// A Request describes a sweep into a new or an existing file.
type Request struct {
	Path     string
	Resume   bool          // complete the file
	Add      bool          // add a session to it
	Force    bool          // a new file may replace one
	PeakGBs  float64       // the memory's peak bandwidth; 0: the file's or the firmware's
	Plan     params.Plan   // of a new file: placements, τ and sizes may be left open
	Budget   time.Duration // 0: the file's; DefaultTime of a new one
	Over     time.Duration
	Launches int
	Huge     bool   // pages of buffers, of a new file
	Fill     bool   // idle cores are kept busy, of a new file
	Name     string // of the machine, of a new file; "": the host's
	// Warn receives warnings during the sweep.
	Warn func(error)
}

// ErrThere: a new file would replace an existing one.
var ErrThere = errors.New("go on with it, replace it, or choose another file")

// A Session is a sweep that keeps its file up to date while it measures.
type Session struct {
	*engine.Experiment
	Request
	// Moved says where the file is now, if another program has changed the requested one; else nil.
	Moved error
	// Restored: without results the file that the sweep was to replace is back.
	Restored bool
	// Here is the machine as this session found it; Earlier are warnings that the file had before.
	Here    provenance.Provenance
	Earlier []string
	target  string // the path with symbolic links resolved
	out     *outfile.File
}

// Open makes the file's experiment, adds results that a killed sweep left in its journal, and locks the
// file against other sweeps until Close. It returns an engine.RefusedError for an error of the request.
func Open(r Request, m *numa.Machine) (s *Session, err error) {
	s = &Session{Request: r}
	if s.out, err = r.check(); err != nil {
		return nil, err
	}
	s.locate()
	unlocked, err := s.out.Hold()
	if err != nil {
		return nil, refusef("%s cannot be written: %v", r.Path, err)
	}
	if unlocked != nil {
		r.Warn(unlocked)
	}
	if err := s.open(m); err != nil {
		s.out.Release()
		return nil, err
	}
	return s, nil
}

func (s *Session) open(m *numa.Machine) error {
	s.Here = provenance.Read("/", m)
	f, err := s.file(m)
	if err != nil {
		return err
	}
	number := max(0, f.Sessions()-1)
	if s.Add {
		number = f.Sessions()
	}
	if s.Experiment, err = Experiment(f, m, number); err == nil {
		s.Experiment.Over, s.Experiment.Launches, s.Save = s.Request.Over, s.Request.Launches, s.save()
		_, err = s.Recover(s.target)
	}
	if errors.Is(err, engine.ErrNoJournal) {
		s.Warn(fmt.Errorf("%s has the mark of a journal, and %s is not there, or is that of another file: what was measured after %[1]s was saved is not added", s.Path, engine.JournalPath(s.target)))
		f.Journal, err = "", nil
	}
	if err != nil {
		return engine.Refuse(err)
	}
	return nil
}

// Close unlocks the file for other sweeps.
func (s *Session) Close() { s.out.Release() }

// locate sets the path from the open file.
func (s *Session) locate() {
	s.Path, s.target = s.out.Path, s.out.Path
	if target, err := outfile.Target(s.Path); err == nil {
		s.target = target
	}
}

// write writes the file. If another program has changed it, outfile writes beside it, and the session
// continues with the new path.
func (s *Session) write(f *params.File) error {
	err := s.out.Write(f.Write)
	if moved := (*outfile.Moved)(nil); errors.As(err, &moved) {
		was := s.target
		s.Moved, err = moved, nil
		s.locate()
		engine.MoveJournal(was, s.target, f.Journal)
		s.Warn(moved)
	}
	return err
}

// Run measures. Whatever ends it, the results are in the file, unless unsaved says why they are not.
func (s *Session) Run(ctx context.Context) (err, unsaved error) {
	f, open := s.File, engine.OpenJournal
	var old *replaced
	if s.Force {
		old = setAside(s.target)
	}
	if f.Journal == "" {
		f.Journal, open = engine.NewMark(), engine.MakeJournal
		if !s.Resume && !s.Add {
			engine.RemoveOldJournal(s.target)
		}
	}
	if err := s.Save(f); err != nil { // with the journal's mark
		old.drop()
		return err, nil
	}
	switch s.Journal, err = open(s.target, f.Journal); {
	case errors.Is(err, fs.ErrExist):
		err = fmt.Errorf("%s is there, and is not that of this file: move it away", engine.JournalPath(s.target))
	case err != nil:
		err = outfile.Reason(err)
	default:
		defer s.Journal.Close()
	}
	if err != nil {
		f.Journal = ""
		s.Warn(fmt.Errorf("beside %s no journal can be kept (%w): if this process is killed, what was measured since the file was saved is lost", s.Path, err))
	}
	spent, began := f.Seconds, time.Now()
	err = s.Experiment.Run(ctx)
	f.Seconds = spent + time.Since(began).Seconds()
	if len(f.Cells) == 0 && old != nil {
		s.Restored = true
		engine.RemoveJournal(s.target, f)
		return err, old.putBack(s.out)
	}
	if unsaved = s.write(f); unsaved == nil { // now the journal has no results that the file lacks
		old.drop()
		engine.RemoveJournal(s.target, f)
		return err, s.write(f)
	}
	if limit := new(params.LimitError); errors.As(unsaved, limit) {
		if errors.As(err, limit) { // the same error of an earlier save
			err = nil
		}
		unsaved = fmt.Errorf("%s was not written: %w", s.Path, unsaved)
		if f.Journal != "" {
			unsaved = fmt.Errorf("%w; %s has what it lacks", unsaved, engine.JournalPath(s.target))
		}
		return err, old.told(unsaved)
	}
	return err, s.unsaved(unsaved, old)
}

// unsaved ends a sweep whose last write failed. A file without results is removed, or what it replaced is
// put back; else the error says where results and the replaced file are.
func (s *Session) unsaved(err error, old *replaced) error {
	f := s.File
	switch {
	case old.inPlace(s.target): // no write succeeded
		engine.RemoveJournal(s.target, f)
		old.drop()
		return err
	case !outfile.Replaces(s.Path):
		engine.RemoveJournal(s.target, f)
	case f.Journal != "": // the file has its mark
		err = fmt.Errorf("%w; resume the sweep, which adds what %s has", err, engine.JournalPath(s.target))
	case !s.Resume && !s.Add:
		if saved, unread := params.ReadFile(s.target); unread != nil || len(saved.Cells) > 0 {
			break
		}
		if old != nil {
			old.putBack(s.out)
			return err
		}
		os.Remove(s.target)
	}
	return old.told(err)
}

// Discard removes a new file without results; an existing file stays.
func (s *Session) Discard() error {
	if s.Resume || s.Add || s.Restored || len(s.File.Cells) > 0 {
		return nil
	}
	return os.Remove(s.target)
}

// Missing says which cells were not reached or have too few samples; nil: none.
func (s *Session) Missing() error {
	missing := s.Experiment.Missing()
	if missing == nil {
		return nil
	}
	name := func(c engine.Cell) string {
		if c.Survey == transfers.Survey.Name {
			return transfers.Names[c.Kind]
		}
		return c.Survey
	}
	lacking, _ := s.Lacking()
	kinds := lists.Groups(lacking, name)
	slices.SortFunc(kinds, func(a, b []engine.Cell) int {
		return cmp.Or(len(b)-len(a), strings.Compare(name(a[0]), name(b[0])))
	})
	parts := lists.Map(kinds, func(lacks []engine.Cell) string {
		kind := name(lacks[0])
		all := len(lists.Filter(s.Cells, func(c engine.Cell) bool { return name(c) == kind }))
		return printable.Either(len(lacks) == all,
			fmt.Sprintf("all %d of %s", all, kind), fmt.Sprintf("%d of %d %s", len(lacks), all, kind))
	})
	return fmt.Errorf("%w (%s)", missing, strings.Join(parts, ", "))
}

// check rejects a path that a sweep cannot write repeatedly, and opens it.
func (r *Request) check() (*outfile.File, error) {
	_, missing := os.Stat(r.Path)
	regular := outfile.Replaces(r.Path)
	if regular && !r.Resume && !r.Add && !r.Force {
		return nil, r.there()
	}
	f, err := outfile.Open(r.Path)
	switch {
	case err != nil:
		return nil, refusef("%s cannot be written: %v", r.Path, err)
	case missing == nil && !regular:
		return nil, refusef("%s is no regular file, and a sweep writes its file again and again: choose another", r.Path)
	}
	return f, nil
}

func (r *Request) there() error {
	return engine.Refuse(fmt.Errorf("%s already exists: %w", r.Path, ErrThere))
}

// file makes a new file, or reads the one to complete.
func (s *Session) file(m *numa.Machine) (*params.File, error) {
	r, here := &s.Request, s.Here
	if !r.Resume && !r.Add {
		if _, err := os.Stat(r.Path); err == nil && !r.Force { // it appeared after check
			return nil, r.there()
		}
		here.Give(r.Huge)
		here.Fill(r.Fill)
		here.Name = r.Name
		here.SetPeak(r.PeakGBs, m)
		f := &params.File{Format: params.Format, Version: params.Version, Provenance: here, Plan: r.plan(m)}
		f.Plan.ArenaCaches = setups.NeededCaches(m, f.Plan.Caches)
		if err := transfers.Fit(f, m); err != nil {
			return nil, engine.Refuse(err)
		}
		return f, nil
	}
	f, err := params.ReadFile(r.Path)
	if err != nil {
		return nil, engine.Refuse(err)
	}
	s.Earlier = slices.Clone(f.Warnings)
	if err = transfers.SameMachine(f, m, here); err == nil {
		err = transfers.Holds(f.Plan, m)
	}
	if err != nil {
		return nil, refusef("%s cannot be gone on with here: %w", r.Path, err)
	}
	warnOfCopy(f, f.Plan.Copy)
	if f.Provenance.SetPeak(r.PeakGBs, m); r.Budget > 0 {
		f.Plan.Budget = r.Budget.Seconds()
	}
	return f, nil
}

// warnOfCopy warns in f if another program's launches, to be added to or compared with, copied in another way.
func warnOfCopy(f *params.File, was string) {
	if is := shm.CopyName(); was != "" && was != is {
		f.Warn(fmt.Errorf("earlier launches copied by %.120s, and these copy by %s: times may differ for that alone, so measure the file anew", printable.Name(was), is))
	}
}

// plan is a new file's plan, with defaults filled in.
func (r *Request) plan(m *numa.Machine) params.Plan {
	p := r.Plan
	p.Budget, p.Copy = cmp.Or(r.Budget, DefaultTime(p.With, m)).Seconds(), shm.CopyName()
	cores := m.Concurrency()
	if len(p.CPUs) > 0 {
		cores = len(p.CPUs)
	}
	if len(p.Policies) == 0 {
		p.Policies = transfers.Policies(m)
	}
	if len(p.Taus) == 0 {
		p.Taus = transfers.Taus(cores)
	}
	if len(p.Sizes) == 0 {
		p.Sizes = transfers.Sizes
	}
	if len(p.Operators) == 0 && cores > manyCores {
		p.Operators = transfers.Common
	}
	return p
}

// manyCores is the number of cores beyond which γ of all operators at every τ would take longer than all
// other cells.
const manyCores = 32

// save returns the function that writes the file during the sweep. A failed write does not end the sweep:
// a full disk may get room, and the last write reports its error.
func (s *Session) save() func(*params.File) error {
	failing := false
	return func(f *params.File) error {
		err := s.write(f)
		var unwritten *outfile.Error
		if !errors.As(err, &unwritten) {
			failing = false
			return err
		}
		if !failing {
			s.Warn(fmt.Errorf("%w; the sweep goes on, and tries again", err))
		}
		failing = true
		return nil
	}
}

func refusef(format string, args ...any) error { return engine.Refuse(fmt.Errorf(format, args...)) }
