package plan

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/outfile"
	"github.com/taulop/taulop/mpi"
)

// A Manifest is the work of a job, the content of plan.json.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Library string `json:"library"`       // as mpi.Tunable has it
	CPU     string `json:"cpu,omitempty"` // of the machine that was predicted
	Nodes   int    `json:"nodes"`
	Passes  int    `json:"passes"` // over all that is timed, at most
	// Seconds is the expected time of the timings, and Brute that of as many passes over all settings.
	Seconds  float64 `json:"seconds"`
	Brute    float64 `json:"brute_force_seconds"`
	Expected float64 `json:"expected_penalty"` // a share, the mean over cells
	Cells    []Work  `json:"cells"`
	// With is the suite that times, see Suites; empty: job/timing.c.
	With string `json:"with,omitempty"`
	// Components are timed in each timed cell, beside the library's own choice.
	Components []mpi.Component `json:"components,omitempty"`
}

// Work are the timings of a cell.
type Work struct {
	Cell
	Timed []int `json:"timed,omitempty"` // of its options, the own choice first
}

const (
	format  = "taulop plan"
	version = 1
	// Name is the file of a manifest.
	Name = "plan.json"
	// results is the folder of a job's results.
	results = "results"
)

// Numbers of passes: medians of fewer than FewPasses have no interval, and more than manyPasses gain
// little.
const (
	FewPasses  = 6
	manyPasses = 100
)

// mostTimed is the most settings of a cell that are timed beside the library's own choice: two are too
// few where predictions do not differ, as among two ranks.
const mostTimed = 4

// leastPass is the least time of a pass that is worth timing, in seconds.
const leastPass = 0.01

// launching is the time to start a process, in seconds.
const launching = 1

// passCost is the time of an option's timing in a pass, in seconds: job/timing.c warms up, and times each
// call after a barrier and from an announced start.
func passCost(c *Cell, o Option) float64 {
	return calls(c.Bytes)*(60e-6+o.Seconds) + min(129, float64(1<<20)/float64(max(1, c.Bytes))+1)*o.Seconds
}

func calls(m int) float64 {
	switch {
	case m >= 1<<20:
		return 7
	case m >= 1<<17:
		return 11
	case m >= 1<<14:
		return 17
	}
	return 33
}

// Make plans a job within a budget, or for all options of the cells. Manifest.Brute counts all settings
// of the library in each cell.
func Make(cells []Cell, library *mpi.Library, nodes int, cpu string, components []mpi.Component, budget time.Duration, all bool, with string) *Manifest {
	by := Picker{Most: mostTimed, Cost: passCost}
	brute := 0.0
	for i := range cells {
		c, least := &cells[i], math.Inf(1)
		for _, o := range c.Options {
			brute += passCost(c, o)
			if o.Seconds > 0 {
				least = min(least, o.Seconds)
			}
		}
		// Settings left out are only known to take longer.
		all := len(library.Settings(collective.Named(c.Collective), c.P, c.Bytes)) + 1
		if !math.IsInf(least, 1) {
			brute += float64(all-len(c.Options)) * passCost(c, Option{Seconds: least * math.Exp(far*sigma)})
		}
	}
	m := &Manifest{Format: format, Version: version, Library: library.Name, CPU: cpu, Nodes: nodes, With: with, Components: components}
	// Fewer passes prove nothing, and only a plan tells the time of its starts.
	for by.Budget = budget.Seconds() / FewPasses; ; by.Budget /= 2 {
		picked := &Picked{}
		if all {
			picked.all(cells, passCost)
		} else {
			picked = by.Pick(cells)
		}
		m.Cells = nil
		for i, c := range cells {
			m.Cells = append(m.Cells, Work{c, picked.Timed[i]})
			if len(picked.Timed[i]) > 0 {
				picked.Seconds += float64(len(components)) * passCost(&c, c.Options[0])
			}
		}
		pass := picked.Seconds + launching*float64(len(m.Launches(library)))
		m.Passes = min(manyPasses, max(1, int(budget.Seconds()/pass)))
		m.Seconds, m.Brute, m.Expected = float64(m.Passes)*pass, float64(m.Passes)*(pass-picked.Seconds+brute), picked.Expected
		if all || m.Passes >= FewPasses || by.Budget < leastPass {
			return m
		}
	}
}

// Timings counts the timed settings, the cells that they are in, and all cells.
func (m *Manifest) Timings() (settings, cells, of int) {
	for _, w := range m.Cells {
		settings += len(w.Timed)
		cells += min(1, len(w.Timed))
	}
	return settings, cells, len(m.Cells)
}

//go:embed job
var job embed.FS

// ErrThere: the folder has another plan. ErrForeign: it has other files.
var ErrThere = errors.New("it has another plan: name a new folder")
var ErrForeign = errors.New("it has files that are of no plan, and would be lost among those of one: name a new folder")

// Write writes a plan into a folder: the manifest, the timing program, and jobs that run it. It fails
// with ErrThere if the folder has another plan, and with ErrForeign if it has other files.
func (m *Manifest) Write(folder string, library *mpi.Library, budget time.Duration) error {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(m); err != nil {
		return err
	}
	if was, err := os.ReadFile(filepath.Join(folder, Name)); err == nil {
		if bytes.Equal(was, text.Bytes()) {
			return nil
		}
		return fmt.Errorf("%s: %w", folder, ErrThere)
	}
	var names []string
	files := make(map[string][]byte)
	put := func(name string, text []byte) { names, files[name] = append(names, name), text }
	var launches strings.Builder
	for _, l := range m.Launches(library) {
		fmt.Fprintln(&launches, strings.Join(append([]string{l.Name, strconv.Itoa(l.P)}, l.Environment...), " "))
		put(filepath.Join("work", l.Name), []byte(strings.Join(l.Lines, "\n")+"\n"))
	}
	put("launches", []byte(launches.String()))
	ranks := slices.Max(lists.Map(m.Cells, func(w Work) int { return w.P }))
	words := strings.NewReplacer("@BUDGET@", strconv.Itoa(int(budget.Seconds())), "@PASSES@", strconv.Itoa(m.Passes),
		"@NODES@", strconv.Itoa(max(1, m.Nodes)), "@RANKS@", strconv.Itoa(ranks), "@MINUTES@", strconv.Itoa(int(math.Ceil(budget.Minutes()))+2), "@WITH@", m.With)
	for _, name := range []string{"clock.h", "timing.c", "run.sh", "run.slurm"} {
		content, _ := job.ReadFile("job/" + name)
		put(name, []byte(words.Replace(string(content))))
	}
	put(Name, text.Bytes()) // last: a folder that has it is whole
	if err := foreign(folder, files); err != nil {
		return err
	}
	if err := outfile.MakeDir(filepath.Join(folder, "work")); err != nil {
		return err
	}
	for _, name := range names {
		if err := outfile.Write(filepath.Join(folder, name), func(w io.Writer) error {
			_, err := w.Write(files[name])
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// foreign fails for a folder with a file that is not the plan's; an interrupted Write leaves some that are.
func foreign(folder string, plan map[string][]byte) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if path == folder && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || path == folder { // a file is no folder, and MakeDir says so
			return err
		}
		name, _ := filepath.Rel(folder, path)
		if text, ours := plan[name]; ours && d.Type().IsRegular() {
			if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, text) {
				return nil
			}
		}
		return fmt.Errorf("%s: %w", folder, ErrForeign)
	})
}
