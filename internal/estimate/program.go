// Package estimate estimates the time of a program from its passes over memory, messages and disk transfers.
// It is the Integrated Memory Hierarchy model of D. Kang, H. W. Park, J. Suh, V. K. Prasanna and S. N.
// Gavali, "Benchmarking of HPC Systems", University of Southern California, CENG 99-07, 1999, section 5.2.4.
//
// Its opinion: a program is a list of phases that a person can write in five minutes, measured times come
// before fitted ones, and the total is shown by phase.
package estimate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/taulop/taulop/collective"
	"github.com/taulop/taulop/internal/argument"
	"github.com/taulop/taulop/internal/infile"
	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/internal/spelling"
	"github.com/taulop/taulop/internal/survey/access"
	"github.com/taulop/taulop/internal/survey/disk"
)

// A Program is consecutive phases, the same on every rank.
type Program struct {
	Name   string  `toml:"name"`
	Ranks  Number  `toml:"ranks"`
	Phases []Phase `toml:"phase"`
}

// A Phase is an operation that every rank does Times times: a pass over an array, a message or a disk
// transfer. Exactly one of Pass, Message and Disk is not empty.
type Phase struct {
	Name  string `toml:"name"`
	Times Number `toml:"times"`

	// Pass is an operation of package access on N elements of a type, Stride apart.
	Pass   string `toml:"pass"`
	Type   string `toml:"type"`
	N      Number `toml:"n"`
	Stride Number `toml:"stride"`

	// Message is permutation, ping-pong, a collective or one of its algorithms.
	Message  string `toml:"message"`
	Root     int    `toml:"root"`
	Distance Number `toml:"distance"`

	Disk string `toml:"disk"` // read or write

	Bytes Number `toml:"bytes"` // of a message or disk transfer
	// Cache is the place of the data: "in" or "off" cache; for a disk "in" or "out" of the page cache.
	Cache string `toml:"cache"`
}

// A Number is a whole number from 1, and may have a unit: 1000, "64K", "2M". 0: left out.
type Number int

// UnmarshalText reads a number in quotes.
func (n *Number) UnmarshalText(text []byte) error {
	value, err := argument.Some(string(text))
	*n = Number(value)
	return err
}

// Limits of a program.
const (
	maxPhases = 10_000
	maxRanks  = 1 << 24
	maxTimes  = 1 << 50
	maxFile   = 1 << 20 // bytes
)

// Messages besides collectives.
const (
	Permutation = "permutation"
	PingPong    = "ping-pong"
)

// ReadFile reads a program in TOML, see docs/estimate.md, and fills in defaults. Errors begin with the path,
// and have the line if it is known.
func ReadFile(path string) (*Program, error) {
	return infile.Read(path, func(r io.Reader, name string) (*Program, error) {
		text, err := infile.Document(io.LimitReader(r, maxFile+1), name, errors.New("a program is a short list of phases"))
		if err != nil {
			return nil, err
		}
		p, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return p, nil
	})
}

func parse(text []byte) (*Program, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("a program is a short list of phases, and this has more than %d bytes: name another file", maxFile)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	lines, err := checkNumbers(text)
	if err != nil {
		return nil, err
	}
	var p Program
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&p); err != nil {
		return nil, inLine(err)
	}
	return &p, p.settle(lines)
}

// inLine turns a decoder's error into a sentence.
func inLine(err error) error {
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		first := &unknown.Errors[0]
		line, _ := first.Position()
		key, known := first.Key(), phaseKeys
		if len(key) == 1 {
			known = programKeys
		}
		name := key[len(key)-1]
		return fmt.Errorf("line %d: there is no key %q; %s", line, printable.Part(name), spelling.Suggest(name, known))
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		text, _, _ := strings.Cut(strings.TrimPrefix(wrong.Error(), "toml: "), " into struct field")
		return fmt.Errorf("line %d: %s; docs/estimate.md says how to write a program", line, printable.Sentence(text))
	}
	return errors.New(printable.Sentence(strings.TrimPrefix(err.Error(), "toml: ")))
}

var (
	programKeys = []string{"name", "ranks", "phase"}
	phaseKeys   = []string{"name", "times", "pass", "type", "n", "stride", "message", "bytes", "root", "distance", "disk", "cache"}
)

// settle checks a program and fills in defaults.
func (p *Program) settle(lines []int) error {
	p.Ranks = cmp.Or(p.Ranks, 1)
	switch {
	case p.Ranks < 1 || p.Ranks > maxRanks:
		return fmt.Errorf("ranks is %d: give a number from 1 to %d", p.Ranks, maxRanks)
	case len(p.Phases) == 0:
		return errors.New("it has no phases: write at least one, under a line [[phase]]")
	case len(p.Phases) > maxPhases:
		return fmt.Errorf("it has %d phases, and %d are the most: put those together that are alike, with times", len(p.Phases), maxPhases)
	}
	for i := range p.Phases {
		if err := p.Phases[i].settle(int(p.Ranks)); err != nil {
			return fmt.Errorf("%s: %w", p.Phases[i].at(i, lines), err)
		}
	}
	return nil
}

// at is the position of a phase in an error.
func (h *Phase) at(i int, lines []int) (text string) {
	if i < len(lines) {
		text = fmt.Sprintf("line %d, ", lines[i])
	}
	return text + fmt.Sprintf("phase %d", i+1) + printable.If(h.Name != "", fmt.Sprintf(" (%s)", printable.Name(h.Name)))
}

// checkNumbers refuses numbers below 1, of which a Number cannot tell 0 from one that was left out, and
// numbers that are not whole. lines are the lines of [[phase]]; nil if the text has phases in other syntax.
func checkNumbers(text []byte) (lines []int, err error) {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, inLine(err)
	}
	if err := atLeastOne(all, "ranks"); err != nil {
		return nil, err
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[[phase]]")) {
			lines = append(lines, i+1)
		}
	}
	phases, several := all["phase"].([]any)
	if !several {
		phases = []any{all["phase"]} // [phase]
	}
	if len(lines) != len(phases) {
		lines = nil
	}
	for i, phase := range phases {
		keys, _ := phase.(map[string]any)
		if err := atLeastOne(keys, "times", "n", "stride", "bytes", "distance"); err != nil {
			return nil, fmt.Errorf("%s: %w", (&Phase{}).at(i, lines), err)
		}
	}
	return lines, nil
}

// atLeastOne refuses values that are no whole numbers from 1; texts are for UnmarshalText.
func atLeastOne(values map[string]any, keys ...string) error {
	for _, key := range keys {
		switch v := values[key].(type) {
		case nil, string:
		case int64:
			if v < 1 {
				return fmt.Errorf("%s is %d: give a number from 1", key, v)
			}
		default:
			return fmt.Errorf("%s is no whole number: write one like 64, or with a unit \"64K\"", key)
		}
	}
	return nil
}

func (h *Phase) settle(ranks int) error {
	h.Times = cmp.Or(h.Times, 1)
	if h.Times > maxTimes {
		return fmt.Errorf("times is %d, and %d is the most", h.Times, maxTimes)
	}
	kinds := lists.Filter([]string{h.Pass, h.Message, h.Disk}, func(kind string) bool { return kind != "" })
	if len(kinds) != 1 {
		return fmt.Errorf("it has %d of the keys pass, message and disk: give it exactly one", len(kinds))
	}
	switch {
	case h.Pass != "":
		return h.settlePass()
	case h.Message != "":
		return h.settleMessage(ranks)
	}
	return h.settleDisk()
}

func (h *Phase) settlePass() error {
	h.Stride = cmp.Or(h.Stride, 1)
	switch {
	case !slices.Contains(access.AllOperations, h.Pass):
		return fmt.Errorf("there is no operation %q; %s", printable.Part(h.Pass), spelling.Suggest(h.Pass, access.AllOperations))
	case h.Type == "":
		return fmt.Errorf("a pass needs the type of its elements: type = %q, or one of %s", access.Types[len(access.Types)-1], strings.Join(access.Types, ", "))
	case !slices.Contains(access.Types, h.Type):
		return fmt.Errorf("there are no elements of type %q; %s", printable.Part(h.Type), spelling.Suggest(h.Type, access.Types))
	case h.N == 0:
		return errors.New("a pass needs the number of its elements: n = 1000")
	}
	err := cmp.Or(h.refuse("a pass", "bytes", "root", "distance"), h.settleCache("off"))
	if err != nil {
		return err
	}
	return h.pass().Check()
}

// pass is the pass in terms of package access.
func (h *Phase) pass() access.Pass {
	return access.Pass{Operation: h.Pass, Type: h.Type, N: int(h.N), Stride: int(h.Stride)}
}

func (h *Phase) settleMessage(ranks int) error {
	algorithms, err := h.algorithms()
	if err != nil {
		return err
	}
	of := algorithms[0].Collective
	err = cmp.Or(h.refuse("a message", "type", "n", "stride"), h.refuse(of.Name, ignored(of)...), h.settleCache("off"))
	if err != nil {
		return err
	}
	if h.Distance = cmp.Or(h.Distance, 1); ranks < 2 {
		return errors.New("a message needs ranks that send and receive it: write ranks = 2 or more at the top of the file")
	}
	if _, err = h.schedules(algorithms, ranks, int(h.Bytes)); err == nil && h.Bytes == 0 && algorithms[0].Collective.M != "" {
		err = errors.New("a message needs its size: bytes = \"64K\"")
	}
	return err
}

// ignored are the keys of a message that a collective does not have.
func ignored(c *collective.Collective) (keys []string) {
	if !c.Rooted {
		keys = append(keys, "root")
	}
	if !c.Shifted {
		keys = append(keys, "distance")
	}
	if c.M == "" {
		keys = append(keys, "bytes")
	}
	return keys
}

// algorithms are the algorithms for the message.
func (h *Phase) algorithms() ([]*collective.Algorithm, error) {
	switch h.Message {
	case Permutation:
		return []*collective.Algorithm{collective.Permutation}, nil
	case PingPong:
		return []*collective.Algorithm{collective.PingPong}, nil
	}
	found, err := collective.Find(h.Message)
	if err != nil && !strings.Contains(h.Message, ":") {
		known := append([]string{Permutation, PingPong}, collective.Names(collective.Collectives())...)
		return nil, fmt.Errorf("there is no message %q; %s, and algorithms like bcast:binomial", printable.Part(h.Message), spelling.Suggest(h.Message, known))
	}
	return found, err
}

// schedules are the schedules of algorithms that exist for that many ranks. It fails if there are none.
func (h *Phase) schedules(algorithms []*collective.Algorithm, ranks, bytes int) (all []*collective.Schedule, err error) {
	for _, a := range algorithms {
		call := collective.Call{P: ranks, M: bytes, Root: h.Root}
		if a.Collective.Shifted {
			call.Distance = int(h.Distance)
		}
		s, failed := a.Schedule(call)
		if failed != nil {
			err = cmp.Or(err, failed)
			continue
		}
		all = append(all, s)
	}
	if len(all) > 0 {
		err = nil
	}
	return all, err
}

func (h *Phase) settleDisk() error {
	switch {
	case !slices.Contains(disk.Operations, h.Disk):
		return fmt.Errorf("there is no transfer %q of a disk; %s", printable.Part(h.Disk), spelling.Suggest(h.Disk, disk.Operations))
	case h.Bytes == 0:
		return errors.New("a transfer of a disk needs its size: bytes = \"1M\"")
	}
	h.Cache = cmp.Or(h.Cache, "out")
	return cmp.Or(h.refuse("a transfer of a disk", "type", "n", "stride", "root", "distance"), h.settleCache("out"))
}

// settleCache checks Cache, which is "in" or the word for not.
func (h *Phase) settleCache(not string) error {
	if h.Cache = cmp.Or(h.Cache, "in"); h.Cache != "in" && h.Cache != not {
		return fmt.Errorf("cache is %q: write \"in\" or %q", printable.Part(h.Cache), not)
	}
	return nil
}

// refuse refuses keys that do not apply to the phase.
func (h *Phase) refuse(what string, keys ...string) error {
	given := map[string]bool{"type": h.Type != "", "n": h.N != 0, "stride": h.Stride != 0, "bytes": h.Bytes != 0, "root": h.Root != 0, "distance": h.Distance != 0}
	for _, key := range keys {
		if given[key] {
			return fmt.Errorf("%s has no %s: leave it out", what, key)
		}
	}
	return nil
}
