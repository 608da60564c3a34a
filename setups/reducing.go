package setups

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/taulop/taulop/reduce"
)

// Reducing is the setup in which every worker reduces its user buffer into a
// buffer of its own, all at once and without flags: γ(m,τ).
func Reducing(o reduce.Operator) Setup {
	return Setup{
		Name: o.Name, About: "every worker reduces one vector into another", Transfers: 1,
		source: Bare.source, check: Bare.check, alone: true, operator: &o,
	}
}

// ones is what operators work on: elements of value 1. Random bytes would be
// NaNs and denormal numbers, which take far longer.
func ones(o reduce.Operator) []byte {
	var one []byte
	name := strings.TrimSuffix(o.Name, reduce.Scalar)
	switch name[len(name)-1] {
	case 'I':
		one = binary.NativeEndian.AppendUint32(nil, 1)
	case 'L':
		one = binary.NativeEndian.AppendUint64(nil, 1)
	case 'F':
		one = binary.NativeEndian.AppendUint32(nil, math.Float32bits(1))
	case 'R':
		one = binary.NativeEndian.AppendUint64(nil, math.Float64bits(1))
	}
	p := make([]byte, 1<<16)
	for at := 0; at < len(p); at += o.Element {
		copy(p[at:], one)
	}
	return p
}
