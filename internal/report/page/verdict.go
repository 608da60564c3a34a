package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/setups"
)

// A verdict is what the page comes to, before everything else.
type verdict struct {
	Text  string
	Tests string // what it rests on, of machines that were compared
}

// newVerdict is of a page whose fleet and overview are there, and chooses the group whose
// chart shows it.
func newVerdict(machines []compare.Machine, x *index) verdict {
	x.Main = x.main()
	var v verdict
	switch {
	case x.fleet != nil && x.fleet.Why != "":
		v.Text = "Nothing is compared: " + x.fleet.Why + "."
	case x.fleet != nil:
		v.Text = x.fleet.Conclusion
	case x.overview != nil:
		main := x.Groups[x.Main].channel
		v.Tests = x.overview.tests
		if x.overview.Why != "" {
			v.Tests = "Nothing is compared: " + x.overview.Why + "."
		}
		if v.Text = x.overview.headline; v.Text != "" {
			break
		}
		if i := slices.IndexFunc(x.overview.conclusions, func(c conclusion) bool { return grouped(c.of) == main }); i >= 0 {
			c := x.overview.conclusions[i]
			v.Text, v.Tests = c.text, fmt.Sprintf("That is of %s. %s", c.channel, v.Tests)
			break
		}
		var texts []string
		if ofStates(machines) {
			texts = append(texts, "The host moves the CPUs between states, and the machine is shown in each.")
		}
		for _, of := range x.curves {
			texts = append(texts, carries(of, main, x.Bytes)...)
		}
		v.Text = strings.Join(texts, " ")
	default:
		v.Text = surveyed(machines, x)
	}
	v.Text = unbroken.Replace(v.Text)
	return v
}

// unbroken keeps units beside their numbers.
var unbroken = strings.NewReplacer(" %", "\u00a0%", " GB/s", "\u00a0GB/s", " ns", "\u00a0ns")

// main is the group that the verdict is about: most machines, then the ring, which is the best
// guide to collectives, with local memory and in cache.
func (x *index) main() int {
	best, most := -1, -1
	for i, g := range x.Groups {
		weight := 8 * g.machines
		for at, is := range []bool{!g.channel.OffCache, g.channel.Placement == numa.Local, g.channel.Setup == setups.Ring.Name} {
			if is {
				weight += 1 << at
			}
		}
		if weight > most {
			best, most = i, weight
		}
	}
	return best
}

// surveyed is of machines without transfers.
func surveyed(machines []compare.Machine, x *index) string {
	names := lists.Map(x.Kinds, func(k kind) string { return strings.ToLower(k.Label[:1]) + k.Label[1:] })
	if x.things != "" {
		names = append(names, "pairs of "+x.things)
	}
	whose := "these machines"
	if len(machines) == 1 {
		whose = machines[0].Name
	}
	if len(names) == 0 { // messages by levels, γ
		return fmt.Sprintf("Of %s there is nothing to draw: neither transfers nor a survey that has a chart.", whose)
	}
	text := fmt.Sprintf("Of %s surveys alone were measured: %s.", whose, strings.Join(names, ", "))
	if len(machines) > 1 || len(x.matrices) == 0 {
		return text
	}
	m := &x.matrices[0]
	known := lists.Filter(m.Groups, func(g view.Group) bool { return g.Median > 0 })
	if len(known) == 0 {
		return text
	}
	near, far := known[0], known[len(known)-1]
	said := fmt.Sprintf("%s between two %ss: %s", strings.ToUpper(m.Name[:1])+m.Name[1:], m.Axis, pairTime(near))
	if len(known) > 1 {
		said += " to " + pairTime(far)
	}
	return said + ", median. " + text
}

func pairTime(g view.Group) string {
	return fmt.Sprintf("%s ns (%s)", view.Digits(g.Median, math.Pow(10, math.Floor(math.Log10(g.Median))-2)), g.Name)
}
