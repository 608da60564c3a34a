package levels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/params"
)

// Tables are c(m,τ) between levels for each τ, the ratios of adjacent levels, and Tam's parameters.
func Tables(f *params.File) (tables []view.Table) {
	at, taus, sizes := pointsOf(f.Cells)
	for _, tau := range taus {
		t := view.Table{Title: fmt.Sprintf("c(m,%d) in ns, from where the data lie to where they go, and what all copies of the longest move together", tau),
			Columns: slices.Concat(view.Words("from", "to"), view.Numbers(lists.Map(sizes, view.Bytes)...), view.Numbers("GB/s"))}
		for _, from := range Order {
			for _, to := range Order {
				row, rate := []string{from, to}, ""
				for _, m := range sizes {
					time, found := at[point{way{from, to}, tau, m}]
					if !found {
						row = append(row, "")
						continue
					}
					row, rate = append(row, view.Few(time)+view.Center(time)), view.Digits(float64(tau*m)/time.Center, 0.1)
				}
				if rate != "" {
					t.Add(row, rate)
				}
			}
		}
		tables = append(tables, t)
	}
	return append(tables, view.Filled(stepTable(Steps(f.Cells)), tamTable(f.Cells))...)
}

// Answer is the throughput of all of the longest copies within each level together, at the largest τ.
func Answer(f *params.File) string {
	at, taus, sizes := pointsOf(f.Cells)
	var rates []string
	for _, level := range Order {
		for _, m := range slices.Backward(sizes) {
			if time, found := at[point{way{level, level}, taus[len(taus)-1], m}]; found && time.Center > 0 {
				rates = append(rates, fmt.Sprintf("%s in %s (m = %s)", view.Known(time.Rate(float64(taus[len(taus)-1]*m)), " GB/s"), level, view.Bytes(m)))
				break
			}
		}
	}
	if len(rates) == 0 {
		return ""
	}
	return fmt.Sprintf("All copies together, τ = %d: %s.", taus[len(taus)-1], strings.Join(rates, ", "))
}

func stepTable(steps []Step) view.Table {
	t := view.Table{
		Title:   "What a level adds: times what a copy takes with that end at the level before, median of sizes and of other ends as near",
		Columns: slices.Concat(view.Numbers("τ"), view.Words("end", "level", "before"), view.Numbers("times", "slower")),
	}
	for _, s := range steps {
		mark := ""
		if !s.Slower {
			mark = "?"
			t.Notes = []string{"? not told apart from the level before"}
		}
		t.Add(strconv.Itoa(s.Tau), s.End, s.Far, s.Near, view.Digits(s.Ratio.Center, 0.01)+mark, fmt.Sprintf("%d of %d", s.SlowerOf, s.Compared))
	}
	return t
}

// tamTable has the costs of a copy from cache to cache, cache to memory and memory to memory (Tam,
// section 2.2.3), with the smallest cache that holds the message.
func tamTable(cells []params.Cell) view.Table {
	t := view.Table{
		Title:   "Tam's parameters in ns: copies from cache to cache, cache to memory, memory to memory, of the smallest cache that holds the message",
		Columns: slices.Concat(view.Numbers("τ", "m"), view.Words("cache"), view.Numbers("M_ctc", "M_ctm", "M_mtm")),
	}
	at, taus, sizes := pointsOf(cells)
	for _, tau := range taus {
		for _, m := range sizes {
			if _, there := at[point{way{Memory, Memory}, tau, m}]; !there {
				continue
			}
			time := func(from, to string) string {
				if e, there := at[point{way{from, to}, tau, m}]; there {
					return view.Few(e) + view.Center(e)
				}
				return ""
			}
			cache := "" // none holds the message
			if i := slices.IndexFunc(Order[:4], func(l string) bool { return time(l, l) != "" }); i >= 0 {
				cache = Order[i]
			}
			t.Add(tau, view.Bytes(m), cache, time(cache, cache), time(cache, Memory), time(Memory, Memory))
		}
	}
	return t
}

const arrow = " → "

// profiled gives c(m,τ) over m, in a panel for each τ and a line for each pair of levels.
func profiled(c params.Cell, at *view.Profile) (x int, y fit.Estimate, ok bool) {
	w, ok := c.Variant.(way)
	at.Panel, at.Line, at.Where, at.Time = view.TauName(c.Tau), w[0]+arrow+w[1], view.Where{}, "c(m,τ)"
	return c.Bytes, c.Time, ok
}
