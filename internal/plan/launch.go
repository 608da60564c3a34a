package plan

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/mpi"
)

// A Launch is the work of one process of each rank.
type Launch struct {
	Name        string // of its file of work
	P           int
	Environment []string
	Lines       []string // of the file: settings of timing.c, or the command of a suite
}

// Launches are the launches of a pass: one for each number of ranks, and one more for each component,
// which a process cannot change; suites cannot change any setting.
func (m *Manifest) Launches(library *mpi.Library) (all []*Launch) {
	of := make(map[string]*Launch)
	add := func(w *Work, name string, environment []string, key string, variables []string) {
		if m.With != "" {
			name = w.Collective + "=" + key
		}
		name = fmt.Sprintf("P%d-%s", w.P, name)
		l := of[name]
		if l == nil {
			l = &Launch{Name: name, P: w.P, Environment: environment}
			of[name], all = l, append(all, l)
		}
		line := append([]string{w.Collective, key, strconv.Itoa(w.Bytes)}, variables...)
		if m.With != "" {
			if len(l.Lines) == 0 {
				l.Environment = slices.Concat(environment, mpi.AsEnvironment(variables))
			}
			line = line[2:3] // sizes, of which suites makes a command
		}
		l.Lines = append(l.Lines, strings.Join(line, " "))
	}
	for i := range m.Cells {
		w := &m.Cells[i]
		for _, o := range w.Timed {
			s := w.Options[o].Setting
			var variables []string
			if m.With == "" || !s.Own() { // whose variables are of one size
				variables = library.Forcing(collective.Named(w.Collective), s, w.P, w.Bytes)
			}
			add(w, "rules", library.Forcible(), s.Key(), variables)
		}
		for _, c := range m.Components {
			if len(w.Timed) > 0 {
				add(w, c.Name, c.Environment, componentKey(c), nil)
			}
		}
	}
	if command := suites[m.With]; command != nil {
		for _, l := range all {
			on, _, _ := timedBy(l.Name + "-")
			l.Lines = []string{command(on, l)}
		}
	}
	return all
}

// timedBy is the collective, setting and number of ranks of a suite's results, by the file's name.
func timedBy(name string) (c *collective.Collective, key string, p int) {
	if at := strings.LastIndexByte(name, '-'); at >= 0 {
		ranks, of, _ := strings.Cut(name[:at], "-")
		word, setting, _ := strings.Cut(of, "=")
		p, _ = strconv.Atoi(strings.TrimPrefix(ranks, "P"))
		c, key = collective.Named(word), setting
	}
	return c, key, p
}

// suites are commands that time a collective at all sizes of a launch, with fewer calls than by default,
// because there are many passes.
var suites = map[string]func(c *collective.Collective, l *Launch) string{
	"osu": func(c *collective.Collective, l *Launch) string {
		command := benchmark(c, "OSU") + " --iterations 100 --warmup 130"
		if least, most := l.sizes(); !c.Empty() {
			command += fmt.Sprintf(" --message-size %d:%d", least, most)
		}
		return command
	},
	"imb": func(c *collective.Collective, l *Launch) string {
		command := fmt.Sprintf("IMB-MPI1 %s -npmin %d -iter 100 -iter_policy off", benchmark(c, "IMB"), l.P)
		if least, most := l.sizes(); !c.Empty() {
			command += fmt.Sprintf(" -msglog %d:%d", bits.Len(uint(least))-1, bits.Len(uint(most-1)))
		}
		return command
	},
}

// Suites are the names of the suites that can time instead of our own program.
func Suites() []string { return []string{"imb", "osu"} }

func benchmark(c *collective.Collective, suite string) string {
	return lists.Find(c.Benchmarks, func(b collective.Benchmark) bool { return b.Suite == suite }).Name
}

// sizes are the least and the largest size of a launch, in bytes.
func (l *Launch) sizes() (least, most int) {
	bytes := lists.Map(l.Lines, func(line string) int {
		m, _ := strconv.Atoi(line)
		return m
	})
	return max(1, slices.Min(bytes)), max(1, slices.Max(bytes))
}

// componentKey is a component's key among settings.
func componentKey(c mpi.Component) string { return "own+" + c.Name }
