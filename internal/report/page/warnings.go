package page

import (
	"slices"
	"strings"
	"unicode"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/params"
)

// A warning is a sentence of one machine's file or more, numbers aside.
type warning struct {
	Text     string   // as the first machine has it
	Machines []string // the first of them
	More     int      // machines beside those
	Times    int      // in all
	All      bool     // every machine has it
}

// incomplete is what the page warns of beside what files do.
func incomplete(f *params.File) string {
	return "the file is not complete: cells without samples enough for an interval are in it, or missing; " + f.Completion()
}

// named is how many machines a warning names.
const named = 6

// warnings gathers those of all machines, the widespread first, and apart from
// them those that say where eq. (8) is broken, of which a file can have hundreds.
func warnings(machines []compare.Machine) (all, breaches []warning) {
	places := make(map[string]int)
	type found struct {
		warning
		last string
	}
	var list []*found
	for _, m := range machines {
		texts := m.File.Warnings
		if !m.File.Complete {
			texts = append(slices.Clone(texts), incomplete(m.File))
		}
		for _, text := range texts {
			key := text
			if len(machines) >= compare.Fleet {
				key = digitless(text) // the numbers are those of the first
			}
			if isBreach(text) {
				key = "eq. (8)" + m.Name
			}
			i, known := places[key]
			if !known {
				i = len(list)
				places[key] = i
				list = append(list, &found{warning: warning{Text: text}})
			}
			f := list[i]
			f.Times++
			if f.last == m.Name {
				continue
			}
			if f.last = m.Name; len(f.Machines) < named {
				f.Machines = append(f.Machines, m.Name)
			} else {
				f.More++
			}
		}
	}
	for _, f := range list {
		f.All = len(machines) > 1 && f.count() == len(machines)
		if isBreach(f.Text) {
			breaches = append(breaches, f.warning)
		} else {
			all = append(all, f.warning)
		}
	}
	slices.SortStableFunc(all, func(a, b warning) int { return b.count() - a.count() })
	slices.SortStableFunc(breaches, func(a, b warning) int { return b.Times - a.Times })
	return all, breaches
}

// sentences are warnings that say themselves whose they are.
func sentences(texts []string) (all []warning) {
	for _, text := range texts {
		all = append(all, warning{Text: text})
	}
	return all
}

func (w warning) count() int { return len(w.Machines) + w.More }

// isBreach knows what params.Violation says.
func isBreach(text string) bool { return strings.HasPrefix(text, "eq. (8) is broken") }

// digitless is a sentence without its numbers.
func digitless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == '.' {
			return -1
		}
		return r
	}, text)
}
