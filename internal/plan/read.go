package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/mpibench"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/mpi"
)

// An Omission is a part of a result that is left out, and why.
type Omission struct {
	File  string `json:"file"`
	Line  int    `json:"line"` // the first
	Lines int    `json:"lines"`
	Why   string `json:"why"`
}

// Results are the times of a job.
type Results struct {
	// Passes have the times of each pass in µs, by cell and option; components follow the options. A pass
	// has several files.
	Passes  []map[[2]int]float64
	LeftOut []Omission
}

// most is the largest file of a plan or a result in bytes, and mostCells the most cells of a plan: far
// more than real ones have.
const most, mostCells = 256 << 20, 1 << 20

var errNoPlan = errors.New("this is no plan of taulop tune")

// ReadManifest reads plan.json. It refuses values that no plan has.
func ReadManifest(r io.Reader, name string) (*Manifest, error) {
	m := &Manifest{}
	in := json.NewDecoder(io.LimitReader(r, most))
	if err := in.Decode(m); err != nil || m.Format != format {
		return nil, fmt.Errorf("%s: %w", name, errNoPlan)
	}
	if m.Version != version {
		return nil, fmt.Errorf("%s is of version %d, and this taulop reads version %d", name, m.Version, version)
	}
	if len(m.Cells) > mostCells {
		return nil, fmt.Errorf("%s: %w: %d cells", name, errNoPlan, len(m.Cells))
	}
	if m.With != "" && suites[m.With] == nil {
		return nil, fmt.Errorf("%s: %w: suite %.20q", name, errNoPlan, m.With)
	}
	for i, c := range m.Components { // their environment is a command's
		known, there := mpi.ComponentNamed(c.Name)
		if !there {
			return nil, fmt.Errorf("%s: %w: component %.20q", name, errNoPlan, c.Name)
		}
		m.Components[i] = known
	}
	for i, w := range m.Cells {
		fine := collective.Named(w.Collective) != nil && w.P > 1 && w.P < 1<<30 && w.Bytes >= 0 && len(w.Options) > 0 && w.Options[0].Setting.Own()
		for at, o := range w.Options {
			fine = fine && o.Seconds >= 0 && !math.IsInf(o.Seconds, 1) && (at == 0 || !o.Setting.Own()) && w.index(o.Setting) == at
		}
		for _, o := range w.Timed {
			fine = fine && o >= 0 && o < len(w.Options)
		}
		if !fine {
			return nil, fmt.Errorf("%s: %w: cell %d", name, errNoPlan, i)
		}
	}
	return m, nil
}

// Read reads the results in the folder of a plan, and fails for a plan with settings that the library does
// not have. It leaves out and lists results of other ranks, another machine or library, settings outside
// the plan, crashed settings, and impossible times.
func (m *Manifest) Read(folder fs.FS, library *mpi.Library) (*Results, error) {
	r := &reading{plan: m, library: library, cells: make(map[string]int), heads: make(map[string]*mpi.Library), passes: make(map[string]int), Results: &Results{}, cpu: m.CPU}
	for i, w := range m.Cells {
		r.cells[cellKey(w.Collective, w.P, w.Bytes)] = i
		for _, o := range w.Options[1:] {
			if _, err := library.Schedule(collective.Named(w.Collective), o.Setting, collective.Call{P: w.P, M: w.Bytes}); err != nil {
				return nil, fmt.Errorf("%w: %v", errNoPlan, err)
			}
		}
	}
	names, err := fs.Glob(folder, results+"/*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := folder.Open(name)
		if err != nil {
			return nil, err
		}
		err = r.read(f, path.Base(name))
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	r.Passes = slices.DeleteFunc(r.Passes, func(pass map[[2]int]float64) bool { return len(pass) == 0 })
	return r.Results, nil
}

func cellKey(collective string, p, m int) string { return fmt.Sprintf("%s %d %d", collective, p, m) }

// A reading is the state of Read.
type reading struct {
	plan *Manifest
	*Results
	library *mpi.Library
	cells   map[string]int
	cpu     string // "": the first counts
	heads   map[string]*mpi.Library

	file  string
	line  int
	why   string // why nothing below the last head counts
	ranks int    // that the last head says, 0: there was none
	times map[[2]int]float64
	tries map[string]int // that have no time, and how often they crashed

	passes map[string]int // of Passes, by what ends the names of their files
}

// omit notes that a line is left out.
func (r *reading) omit(format string, args ...any) {
	r.omitAt(r.line, fmt.Sprintf(format, args...))
}

func (r *reading) omitAt(line int, why string) {
	for i := range r.LeftOut {
		if o := &r.LeftOut[i]; o.File == r.file && o.Why == why {
			o.Lines++
			return
		}
	}
	r.LeftOut = append(r.LeftOut, Omission{r.file, line, 1, why})
}

// read reads a file, a part of one pass.
func (r *reading) read(in io.Reader, name string) error {
	r.file, r.why, r.ranks = printable.Name(name), "", 0
	// Names of files end in the number of their pass: settings with processes of their own have own files.
	pass := strings.TrimSuffix(name[strings.LastIndex(name, "-")+1:], path.Ext(name))
	at, there := r.passes[pass]
	if !there {
		at = len(r.Passes)
		r.passes[pass], r.Passes = at, append(r.Passes, make(map[[2]int]float64))
	}
	r.times, r.tries = r.Passes[at], make(map[string]int)
	in = io.LimitReader(in, most)
	if r.plan.With != "" {
		return r.suite(in, name)
	}
	lines := infile.NewLines(in, name, 1<<16)
	done := false
	for lines.Scan() {
		r.line = lines.Number
		words := strings.Split(strings.TrimRight(lines.Text(), "\r"), "\t")
		switch {
		case lines.Cut && words[0] != "done":
			r.omit("the line is cut off")
		case words[0] == "head":
			r.head(words[1:])
		case words[0] == "try" && len(words) == 4:
			r.tries[strings.Join(words[1:], " ")] += 0
		case words[0] == "crash" && len(words) == 4:
			r.tries[strings.Join(words[1:], " ")]++
		case words[0] == "time":
			r.time(words[1:])
		case words[0] == "done" && len(words) == 1:
			done = true
		case strings.TrimSpace(lines.Text()) != "":
			r.omit("%.40q is no line that the job writes", lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		r.omitAt(max(1, lines.Number), fmt.Sprintf("it cannot be read further: %v", err))
	}
	for _, what := range slices.Sorted(maps.Keys(r.tries)) {
		if r.tries[what] > 0 || done {
			r.omitAt(max(1, lines.Number), fmt.Sprintf("%.80s did not end: it crashed, or took more than a minute", printable.Name(what)))
		}
	}
	return nil
}

// suite reads what a suite printed, below a head.
func (r *reading) suite(in io.Reader, name string) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	first, printed, _ := strings.Cut(string(text), "\n")
	r.line = 1
	words := strings.Split(strings.TrimRight(first, "\r"), "\t")
	on, setting, p := timedBy(name)
	if words[0] != "head" || on == nil {
		r.omit("it is no output that the job writes")
		return nil
	}
	r.head(words[1:])
	if p != r.ranks && r.why == "" {
		r.why = fmt.Sprintf("its name says %d ranks, and its head %d", p, r.ranks)
	}
	found, err := mpibench.Read(strings.NewReader(printed), name)
	if err != nil {
		r.omit("%.200s", printable.Name(err.Error()))
		return nil
	}
	sizes := make(map[string]bool) // of which settings the plan has sizes
	for _, w := range r.plan.Cells {
		for _, o := range w.Options {
			sizes[o.Setting.Key()] = sizes[o.Setting.Key()] || w.Collective == on.Name
		}
	}
	for _, t := range found.Times {
		if t.P == 0 {
			t = t.Among(p)
		}
		r.line = 1 + t.Line
		// Suites time sizes between those of a setting, too, and IMB fewer ranks.
		if at, there := r.cells[cellKey(on.Name, t.P, t.Bytes)]; there && string(t.Kind) == on.Name && (r.option(at, setting) >= 0 || !sizes[setting]) {
			r.time([]string{on.Name, setting, strconv.Itoa(t.P), strconv.Itoa(t.Bytes), strconv.FormatFloat(t.Microseconds, 'g', -1, 64)})
		}
	}
	return nil
}

// head reads the machine and library of the times that follow.
func (r *reading) head(words []string) {
	r.why, r.ranks = "", 0
	if len(words) != 5 {
		r.why = "the head of these times is not whole"
		return
	}
	p, err := strconv.Atoi(words[0])
	nodes, err2 := strconv.Atoi(words[1])
	cpu := strings.Join(strings.Fields(words[3]), " ")
	of, there := r.heads[words[4]]
	if !there {
		var version string
		if of, version, _ = mpi.OfHead([]string{strings.Join(strings.Fields(strings.Replace(words[4], "MPICH Version:", "MPICH", 1)), " ")}); version == "" {
			of = &mpi.Library{}
		}
		r.heads[words[4]] = of
	}
	switch {
	case err != nil || err2 != nil || p < 2:
		r.why = "the head of these times says no number of ranks"
	case of.Version != r.library.Version:
		r.why = fmt.Sprintf("they are of %.40q, and the plan is for %s", printable.Name(words[4]), r.library.Version)
	case nodes != max(1, r.plan.Nodes):
		r.why = fmt.Sprintf("they are of ranks on %d nodes, and the plan of %d", nodes, max(1, r.plan.Nodes))
	case r.cpu != "" && cpu != "unknown" && !strings.EqualFold(cpu, strings.Join(strings.Fields(r.cpu), " ")):
		r.why = fmt.Sprintf("they are of another machine, %.60q and not %.60q", printable.Name(cpu), printable.Name(r.cpu))
	case r.cpu == "" && cpu != "unknown":
		r.cpu = cpu
	}
	r.ranks = p
}

// option is the index of a cell's setting by its key, or of a component; -1 if the plan has none.
func (r *reading) option(cell int, key string) int {
	options := r.plan.Cells[cell].Options
	if i := slices.IndexFunc(r.plan.Components, func(c mpi.Component) bool { return componentKey(c) == key }); i >= 0 {
		return len(options) + i
	}
	return slices.IndexFunc(options, func(o Option) bool { return o.Setting.Key() == key })
}

func (r *reading) time(words []string) {
	if len(words) != 5 {
		r.omit("the line has %d words and not six", len(words)+1)
		return
	}
	p, err := strconv.Atoi(words[2])
	m, err2 := strconv.Atoi(words[3])
	us, err3 := strconv.ParseFloat(words[4], 64)
	delete(r.tries, strings.Join([]string{words[0], words[1], words[3]}, " "))
	at, there := r.cells[cellKey(words[0], p, m)]
	option := -1
	if there {
		option = r.option(at, words[1])
	}
	key := [2]int{at, option}
	_, twice := r.times[key]
	switch {
	case r.why != "":
		r.omit("%s", r.why)
	case r.ranks == 0:
		r.omit("no head says who timed it")
	case err != nil || err2 != nil || err3 != nil:
		r.omit("%.40q is no time", strings.Join(words, " "))
	case p != r.ranks:
		r.omit("it says %d ranks, and the head %d", p, r.ranks)
	case option < 0:
		r.omit("the plan has no %.40s of %.20s of %d B among %d ranks", printable.Name(words[1]), printable.Name(words[0]), m, p)
	case !(us > 0) || us > 1e9:
		r.omit("%g µs is no time of a collective", us)
	case twice:
		r.omit("the setting is there twice in one pass: a warm-up, or two jobs at once")
	default:
		r.times[key] = us
	}
}
