package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taulop/taulop/fit"
	"github.com/taulop/taulop/internal/compare"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// A machine is what the page has of one.
type machine struct {
	Number   int
	Name     string
	File     string // its name
	Facts    []fact // what the table shows, the same of all machines
	Details  []fact
	Surveys  []surveyRow // of a few machines
	Notes    []string    // what surveys of pairs found, of a few machines
	Curves   template.JS // for the charts, JSON
	Measured template.JS // surveys, for charts and maps; "" where there is nothing
	Raw      string      // the file, gzip in base64
}

type fact struct{ Name, Value string }

// A group is a setup, placement and state of the cache.
type group struct {
	channel  compare.Channel // but Bytes
	machines int
	Label    string `json:"label"`
	Sizes    []int  `json:"m"` // of any machine
	Taus     []int  `json:"t"`
	Local    bool   `json:"local,omitempty"` // local memory and in cache, as published parameters are taken to be
}

// An index is what charts and tables begin with.
type index struct {
	Machines   []entry       `json:"machines"`
	Groups     []group       `json:"groups"`
	Kinds      []kind        `json:"kinds,omitempty"` // of surveys
	Bytes      int           `json:"S"`               // message size that charts begin with
	Tau        int           `json:"tau"`             // likewise
	Main       int           `json:"main"`            // the group that the verdict is about
	Fleet      bool          `json:"fleet"`
	First      []int         `json:"first"`                // machines that charts begin with, all if nil
	MedianMaps int           `json:"medianMaps,omitempty"` // of a fleet's median machine
	things     string        // that maps are of: CPUs
	maps       []view.Matrix // of one machine
	lines      *lines
	overview   *overview
	fleet      *fleet
}

type entry struct {
	Name string `json:"name"`
	File string `json:"file"`
	Maps int    `json:"maps,omitempty"` // how many
	// Published is the group of published parameters, from 1, which are drawn beside those
	// that others measured: their file does not say how they were.
	Published int `json:"published,omitempty"`
}

// describe makes what the page has of all machines, several at a time.
func (p *Page) describe() ([]machine, *index, error) {
	machines := make([]machine, len(p.Machines))
	curves := make([][]compare.Curve, len(p.Machines))
	err := p.each(func(i int) (err error) {
		m := p.Machines[i]
		machines[i] = facts(m)
		machines[i].Number = i
		if len(p.Machines) < compare.Fleet {
			machines[i].Surveys = surveyRows(m)
		}
		curves[i], _ = compare.Curves(m.Name, m.File) // a file without transfers has other things to show
		for _, c := range curves[i] {
			for n := range c.Points {
				c.Points[n].Replicates, c.Points[n].AReplicates = nil, nil // the page shows none, and they are most of the memory
			}
		}
		first := slices.IndexFunc(p.Machines, func(of compare.Machine) bool { return of.Path == m.Path })
		if p.Raw != nil && (m.File.State() == nil || first == i) { // states of a machine are in one file
			machines[i].Raw, err = p.raw(m.Path)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	known(machines)
	paths := make(map[string][]string) // of files with a name
	for _, m := range p.Machines {
		name := filepath.Base(m.Path)
		paths[name] = lists.Insert(paths[name], m.Path)
	}
	for i, m := range machines {
		if len(paths[m.File]) > 1 {
			machines[i].File = m.Name + "-" + m.File
		}
	}
	x := &index{Fleet: len(p.Machines) >= compare.Fleet, Groups: []group{}}
	numbers := make(map[compare.Channel]int)
	measured := make(map[int]int) // machines by τ
	for i, of := range curves {
		x.Machines = append(x.Machines, entry{Name: machines[i].Name, File: machines[i].File})
		taus := make(map[int]bool)
		groups := make(map[int]bool)
		for _, c := range of {
			key := grouped(c.Channel)
			n, known := numbers[key]
			if !known {
				n = len(x.Groups)
				numbers[key] = n
				x.Groups = append(x.Groups, group{channel: key, Label: groupLabel(key), Local: key.Placement == numa.Local && !key.OffCache})
			}
			g := &x.Groups[n]
			if !groups[n] {
				groups[n] = true
				g.machines++
			}
			if key.Setup == params.Published {
				x.Machines[i].Published = n + 1
			}
			g.Sizes = lists.Insert(g.Sizes, c.Bytes)
			for _, p := range c.Points {
				g.Taus = lists.Insert(g.Taus, p.Tau)
				taus[p.Tau] = true
			}
		}
		for tau := range taus {
			measured[tau]++
		}
	}
	x.invite()
	x.Bytes = size(curves)
	for tau, n := range measured { // the largest that most machines have
		if most := measured[x.Tau]; n > most || n == most && tau > x.Tau {
			x.Tau = tau
		}
	}
	err = p.each(func(i int) (err error) {
		machines[i].Curves, err = encode(curves[i], numbers)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := p.surveys(machines, x); err != nil {
		return nil, nil, err
	}
	if !x.Fleet {
		if len(x.Groups) > 0 {
			x.overview = newOverview(p.Machines, curves, x.Bytes)
		}
		return machines, x, nil
	}
	x.fleet, err = newFleet(p.Machines, x, numbers)
	return machines, x, err
}

// invite gives groups of local memory, in cache, what published parameters have, which are
// drawn beside what was measured there: their files do not say how they were measured.
func (x *index) invite() {
	for _, m := range x.Machines {
		if m.Published == 0 {
			continue
		}
		from := x.Groups[m.Published-1]
		for i := range x.Groups {
			g := &x.Groups[i]
			if !g.Local {
				continue
			}
			g.machines++
			for _, bytes := range from.Sizes {
				g.Sizes = lists.Insert(g.Sizes, bytes)
			}
			for _, tau := range from.Taus {
				g.Taus = lists.Insert(g.Taus, tau)
			}
		}
	}
}

// groupLabel is what a group is called.
func groupLabel(c compare.Channel) string {
	if c.Setup == params.Published {
		return "published parameters"
	}
	return c.String()
}

// grouped is a channel but for the size of its messages.
func grouped(c compare.Channel) compare.Channel {
	c.Bytes = 0
	return c
}

// each calls do for every machine, several at a time, until one fails.
func (p *Page) each(do func(i int) error) error {
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range p.Machines {
		workers.Go(func() error { return do(i) })
	}
	return workers.Wait()
}

// packers are kept, for each takes a megabyte.
var packers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // which is a level that there is
	return w
}}

// raw is a file as the page holds it. Base64 is that of URLs, none of whose
// letters HTML escapes.
func (p *Page) raw(path string) (string, error) {
	text, err := p.Raw(path)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&packed)
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(packed.Bytes()), nil
}

// size is the message size that says most: a segment's, where the files know it,
// else the customary 8 KB, else the largest below, else the least.
func size(curves [][]compare.Curve) int {
	weight := make(map[int]int)
	for _, c := range slices.Concat(curves...) {
		weight[c.Bytes] += 0
		if c.Segment {
			weight[c.Bytes] += 1 << 20
		} else if c.Bytes <= compare.Customary {
			weight[c.Bytes]++
		}
		if c.Bytes == compare.Customary {
			weight[c.Bytes] += 1 << 10
		}
	}
	best := 0
	for m, n := range weight {
		if best == 0 || n > weight[best] || n == weight[best] && (m > best) == (n > 0) {
			best = m
		}
	}
	return best
}

// ofStates tells whether the machines are one in each of its states, whose launches are the
// same: there is nothing to test.
func ofStates(machines []compare.Machine) bool {
	return len(machines) > 1 && !slices.ContainsFunc(machines, func(m compare.Machine) bool {
		return m.File.State() == nil || m.Path != machines[0].Path
	})
}

// state is the one that a machine is taken in, or those that its times are means over.
func state(m compare.Machine) string {
	s := m.File.State()
	if s == nil {
		return m.States()
	}
	text := fmt.Sprintf("%s of the time", compare.InWords(*s))
	if s.Lasts > 0 {
		text += fmt.Sprintf(", for %s s in the median", view.Digits(s.Lasts, s.Lasts/10))
	}
	return text
}

// facts are what a file says of its machine.
func facts(m compare.Machine) machine {
	f, p := m.File, m.File.Provenance
	all := []fact{
		{"processor", p.CPUModel}, {"microcode", p.Microcode}, {"machine", p.Product}, {"board", p.Board}, {"BIOS", p.BIOS},
		{"hypervisor", p.Hypervisor}, {"system", strings.Join(nonempty(p.OS, p.Arch, p.Kernel), " ")},
		{"CPUs online", p.Online.String()}, {"CPUs allowed", p.Allowed.String()}, {"CPU quota", number(p.CPUQuota)},
		{"governor", strings.Join(p.Governors, ", ")}, {"turbo", p.Turbo}, {"SMT", p.SMT}, {"clock", p.Clocksource},
		{"memory", memory(p.MemoryBytes)}, {"huge pages", p.HugePages}, {"pages of buffers", p.BufferPages}, {"idle cores", p.IdleCores}, {"NUMA balancing", p.NUMABalancing},
		{"copy", f.Plan.Copy}, {"reduction", p.Reduction}, {"measured", p.Time}, {"measured for", seconds(f.Seconds)}, {"cells", strconv.Itoa(len(f.Cells))},
		{"Go", p.Go}, {"taulop", p.Taulop}, {"command", strings.Join(p.Command, " ")}, {"file", m.Path},
	}
	out := machine{Name: m.Name, File: filepath.Base(m.Path)}
	for _, fact := range all {
		if fact.Value != "" {
			out.Details = append(out.Details, fact)
		}
	}
	for _, u := range p.Unknown {
		out.Details = append(out.Details, fact{"unknown", u})
	}
	complete := "complete"
	if !f.Complete {
		complete = "incomplete"
	}
	out.Facts = []fact{
		{"processor", p.CPUModel}, {"CPUs", p.Allowed.String()}, {"hypervisor", p.Hypervisor}, {"governor", strings.Join(p.Governors, ", ")},
		{"SMT", p.SMT}, {"memory", memory(p.MemoryBytes)}, {"measured", minute(p.Time)}, {"cells", fmt.Sprintf("%d, %s", len(f.Cells), complete)}, {"state", state(m)},
	}
	return out
}

// known leaves out the facts that are known of no machine.
func known(machines []machine) {
	for i := len(machines[0].Facts) - 1; i >= 0; i-- {
		if slices.ContainsFunc(machines, func(m machine) bool { return m.Facts[i].Value != "" }) {
			continue
		}
		for n := range machines {
			machines[n].Facts = slices.Delete(machines[n].Facts, i, i+1)
		}
	}
}

// minute is a time as tables show it.
func minute(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func nonempty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(t string) bool { return t == "" })
}

func number(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func memory(n int64) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f s", s)
}

// A table is the curves of a group: m down, τ across, values row by row, of each
// the centres and, where any is known, the bounds.
type table struct {
	Group     int    `json:"g"`
	Sizes     []int  `json:"m"`
	Taus      []int  `json:"t"`
	L         values `json:"L"`
	A         values `json:"A"`
	Bandwidth values `json:"B"`
}

type values struct {
	Center column `json:"c"`
	Lo     column `json:"l,omitempty"`
	Hi     column `json:"h,omitempty"`
}

func (v *values) add(e fit.Estimate) {
	if !e.Known() {
		e.Lo, e.Hi = math.NaN(), math.NaN()
	}
	v.Center, v.Lo, v.Hi = append(v.Center, e.Center), append(v.Lo, e.Lo), append(v.Hi, e.Hi)
}

// trim leaves bounds out where none is known.
func (v *values) trim() {
	if !slices.ContainsFunc(v.Lo, func(x float64) bool { return !math.IsNaN(x) }) {
		v.Lo, v.Hi = nil, nil
	}
}

// A column is numbers with six digits; those that are none are null.
type column []float64

// MarshalJSON is what makes a thousand machines quick to write and small.
func (c column) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
		} else if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e15) {
			b = strconv.AppendFloat(b, v, 'e', 5, 64)
		} else if a >= 1e5 {
			b = strconv.AppendFloat(b, v, 'f', 0, 64)
		} else {
			b = strconv.AppendFloat(b, v, 'g', 6, 64)
		}
	}
	return append(b, ']'), nil
}

// encode makes tables of curves, for the charts.
func encode(curves []compare.Curve, groups map[compare.Channel]int) (template.JS, error) {
	byGroup := make(map[int][]compare.Curve)
	for _, c := range curves {
		g := groups[grouped(c.Channel)]
		byGroup[g] = append(byGroup[g], c)
	}
	tables := []table{}
	for g, of := range byGroup {
		t := table{Group: g}
		for _, c := range of {
			t.Sizes = append(t.Sizes, c.Bytes)
			for _, p := range c.Points {
				t.Taus = lists.Insert(t.Taus, p.Tau)
			}
		}
		none := fit.Median(nil)
		for _, c := range of {
			for _, tau := range t.Taus {
				p, ok := c.At(tau)
				if !ok {
					p = compare.Point{L: none, A: none, Bandwidth: none}
				}
				t.L.add(p.L)
				t.A.add(p.A)
				t.Bandwidth.add(p.Bandwidth)
			}
		}
		t.L.trim()
		t.A.trim()
		t.Bandwidth.trim()
		tables = append(tables, t)
	}
	slices.SortFunc(tables, func(a, b table) int { return cmp.Compare(a.Group, b.Group) })
	text, err := json.Marshal(tables)
	return template.JS(text), err
}
