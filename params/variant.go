package params

import (
	"fmt"
	"strings"

	"github.com/taulop/taulop/strided"
)

// A Parameter is a time of a network, as eth0:L, or of a published level, as same_l3:T: the
// Variant of cells of kinds net and channel.
type Parameter struct {
	Of   string // name of the network or the level
	Name string
}

func (p Parameter) String() string { return p.Of + ":" + p.Name }

// Parameter is the parameter that a cell of kind net or channel is of.
func (k Key) Parameter() (p Parameter) {
	p.Of, p.Name, _ = strings.Cut(k.Variant, ":")
	return p
}

func (k Key) checkParameter(what, example string) error {
	if p := k.Parameter(); checkVariant(k.Variant) != nil || p.Of == "" || p.Name == "" {
		return fmt.Errorf("%.40q is no parameter of a %s; want its name and the parameter, such as %s", k.Variant, what, example)
	}
	return nil
}

// parameter are the cells of a parameter.
func (f *File) parameter(kind Kind, p Parameter) grid {
	variant := p.String()
	return f.grid(func(c *Cell) bool { return c.Kind == kind && c.Variant == variant })
}

// A Packed message lies in pieces: the Variant of cells of kind pack. 4K8S is what packing takes,
// 4K8S-L3 one way between two CPUs that share an L3 at the closest.
type Packed struct {
	strided.Message
	Level string // smt, L2, L3 …, package, node or machine; empty: packing alone
}

func (p Packed) String() string { return strings.TrimSuffix(p.Message.String()+"-"+p.Level, "-") }

// Packed is the message of a cell; false: it is of another kind, or of a newer version.
func (k Key) Packed() (p Packed, ok bool) {
	text, level, _ := strings.Cut(k.Variant, "-")
	m, err := strided.Parse(text)
	return Packed{m, level}, k.Kind == PackCell && err == nil && m.Bytes == k.Bytes
}
