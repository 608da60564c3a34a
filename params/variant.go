package params

import (
	"encoding"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/printable"
	"github.com/taulop/taulop/strided"
)

// A Variant distinguishes cells of a kind, by a pair of CPUs or a pass over an array. Each kind has its own
// comparable type, whose String is written to files, tables and charts.
type Variant interface {
	fmt.Stringer
	encoding.TextMarshaler
}

// A Name is a variant that is a name alone, such as a collective's, or that this version does not know.
type Name string

func (n Name) String() string               { return string(n) }
func (n Name) MarshalText() ([]byte, error) { return []byte(n), nil }

// parsers parse the variants of kinds.
var parsers = map[Kind]func(text string) Variant{
	PairCell: parsePair,
	PackCell: func(text string) Variant {
		message, level, _ := strings.Cut(text, "-")
		m, _ := strided.Parse(message)
		return Packed{m, level}
	},
	NetCell: parseParameter, ChannelCell: parseParameter, AccessCell: parseAccess, LoadedCell: parseLoad,
}

// ReadVariants registers the parser of a kind's variants. Text is a Name if parse returns nil or a variant
// whose String is another text.
func ReadVariants(k Kind, parse func(text string) Variant) { parsers[k] = parse }

// Named is the key with the variant that text stands for in files.
func (k Key) Named(text string) Key {
	if k.Variant = nil; text == "" {
		return k
	}
	k.Variant = Name(text)
	if parse := parsers[k.Kind]; parse != nil {
		if v := parse(text); v != nil && v.String() == text {
			k.Variant = v
		}
	}
	return k
}

// VariantName is the variant's text, "" without one.
func (k *Key) VariantName() string {
	if k.Variant == nil {
		return ""
	}
	return k.Variant.String()
}

// UnmarshalJSON reads a key with the variant of its kind.
func (k *Key) UnmarshalJSON(text []byte) error {
	type fields Key // without methods
	v := struct {
		*fields
		Variant string `json:"variant"`
	}{fields: (*fields)(k)}
	err := json.Unmarshal(text, &v)
	*k = k.Named(v.Variant)
	return err
}

// A PairKey is two CPUs, the lower one first, and the home of the memory between them: 0-2, 0-2-reader.
type PairKey struct {
	From, To int
	Home     Home
}

// PairOf is the key of two CPUs in either order.
func PairOf(a, b int, home Home) PairKey { return PairKey{min(a, b), max(a, b), home} }

func (p PairKey) String() string {
	return strconv.Itoa(p.From) + "-" + strconv.Itoa(p.To) + printable.If(p.Home != UnknownHome, "-"+string(p.Home))
}

func (p PairKey) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func parsePair(text string) Variant {
	low, rest, _ := strings.Cut(text, "-")
	high, home, _ := strings.Cut(rest, "-")
	from, _ := strconv.Atoi(low)
	to, _ := strconv.Atoi(high)
	p := PairKey{from, to, Home(home)}
	if from < 0 || from >= to || to > maxCPUs || !slices.Contains(homes, p.Home) {
		return nil
	}
	return p
}

// A Parameter is a time of a network, such as eth0:L, or of a published level, such as same_l3:T: the
// variant of kinds net and channel.
type Parameter struct {
	Of   string // name of the network or level
	Name string
	Host int // of a network: the other host, 2 is the second, eth0:L-2; 0: the first
}

func (p Parameter) String() string {
	return p.Of + ":" + p.Name + printable.If(p.Host > 0, "-"+strconv.Itoa(p.Host))
}

func (p Parameter) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func parseParameter(text string) Variant {
	p := Parameter{}
	if p.Of, p.Name, _ = strings.Cut(text, ":"); p.Of == "" || p.Name == "" {
		return nil
	}
	if at := strings.LastIndexByte(p.Name, '-'); at > 0 {
		if host, _ := strconv.Atoi(p.Name[at+1:]); strconv.Itoa(host) == p.Name[at+1:] {
			p.Name, p.Host = p.Name[:at], host
		}
	}
	return p
}

// Parameter is the variant of a cell of kind net or channel.
func (k *Key) Parameter() Parameter {
	p, _ := k.Variant.(Parameter)
	return p
}

// parameter is the grid of a parameter's cells.
func (f *File) parameter(kind Kind, p Parameter) grid {
	g := f.grid(func(c *Cell) bool { return c.Kind == kind && c.Variant == p })
	if kind == NetCell {
		g.again = ErrUnmeasured
	}
	return g
}

// A Packed message is not contiguous: the variant of kind pack. 4K8S is the time of packing it, 4K8S-L3
// its time one way between two CPUs whose closest shared level is an L3.
type Packed struct {
	strided.Message
	Level string // smt, L2, L3 …, package, node or machine; empty: packing alone
}

func (p Packed) String() string               { return strings.TrimSuffix(p.Message.String()+"-"+p.Level, "-") }
func (p Packed) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Packed is the message of a cell; false: the cell has another kind, or a newer version's variant.
func (k *Key) Packed() (p Packed, ok bool) {
	p, ok = k.Variant.(Packed)
	return p, ok && p.Bytes == k.Bytes
}

// An Access is passes over arrays of any size, the variant of kind access: read-int32-16.
type Access struct {
	Operation, Type string
	Stride          int // in elements
}

func (a Access) String() string               { return a.Operation + "-" + a.Type + "-" + strconv.Itoa(a.Stride) }
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

func parseAccess(text string) Variant {
	operation, rest, _ := strings.Cut(text, "-")
	typ, number, _ := strings.Cut(rest, "-")
	if stride, _ := strconv.Atoi(number); stride > 0 {
		return Access{operation, typ, stride}
	}
	return nil
}

// Operations whose latency under load is measured.
const (
	LoadedRead = "read"
	LoadedPair = "pair"
)

// A Load is the variant of kind loaded: read-25 is the latency of a read while the other workers inject
// 25 % of their largest load, rate-read-25 their time for a line of 64 bytes meanwhile.
type Load struct {
	What  string
	Level int  // in %
	Rate  bool // of the others' time
}

func (l Load) String() string {
	text := l.What + "-" + strconv.Itoa(l.Level)
	return printable.Either(l.Rate, "rate-"+text, text)
}

func (l Load) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

func parseLoad(text string) Variant {
	text, rate := strings.CutPrefix(text, "rate-")
	what, number, _ := strings.Cut(text, "-")
	level, err := strconv.Atoi(number)
	if err != nil || level < 0 || level > 100 || what != LoadedRead && what != LoadedPair {
		return nil
	}
	return Load{what, level, rate}
}
