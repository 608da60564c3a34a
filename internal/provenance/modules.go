package provenance

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io/fs"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/taulop/taulop/internal/lists"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// modules are the memory modules in the firmware's DMI tables, which only root may read; nil without
// any. The peak is known if the places of all modules name their channels.
func modules(t tree, m *numa.Machine) *params.Memory {
	table := t.Bytes("sys/firmware/dmi/tables/DMI")
	if table == nil { // a file for each structure, by a kernel module
		files, _ := fs.Glob(t, "sys/firmware/dmi/entries/17-*/raw")
		table = lists.Concat(files[:min(len(files), mostDevices)], t.Bytes)
	}
	memory := memoryIn(table)
	if memory != nil {
		memory.Nodes = params.MemoryNodes(m)
	}
	return memory
}

// mostDevices exceeds the slots of any machine.
const mostDevices = 1 << 12

// A device is a slot for a memory module: a structure of type 17 of the SMBIOS specification
// (DMTF DSP0134, section 7.18).
type device struct {
	channel       string // "": unknown
	bits          int    // width of its data
	filled        bool
	mts, ratedMTs int // 0: unknown
}

// memoryIn sums up the memory devices of a table.
func memoryIn(table []byte) *params.Memory {
	memory := &params.Memory{}
	type channel struct{ mts, bits, slots int }
	channels := make(map[string]*channel)
	known := true // channel, clock and width of all modules
	slowest := func(a, b int) int {
		if a == 0 || b == 0 {
			return max(a, b)
		}
		return min(a, b)
	}
	for s := range structures(table) {
		d, is := deviceOf(s)
		if !is || memory.Slots == mostDevices {
			continue
		}
		memory.Slots++
		c := channels[d.channel]
		if c == nil {
			c = &channel{}
			channels[d.channel] = c
		}
		if c.slots++; !d.filled {
			continue
		}
		memory.Modules++
		memory.MTs, memory.RatedMTs = slowest(memory.MTs, d.mts), slowest(memory.RatedMTs, d.ratedMTs)
		c.mts, c.bits = slowest(c.mts, d.mts), max(c.bits, d.bits)
		known = known && d.channel != "" && d.mts > 0 && d.bits > 0
	}
	if memory.Modules == 0 {
		return nil
	}
	const mostSlots = 4 // of a channel: more are the channels of several packages under one name
	for _, c := range channels {
		known = known && c.slots <= mostSlots
	}
	if !known || channels[""] != nil {
		return memory
	}
	for _, c := range channels {
		if memory.Channels++; c.bits > 0 {
			memory.Filled++
			memory.PeakGBs += float64(c.mts) * float64(c.bits) / 8 / 1e3
		}
	}
	return memory
}

// structures yields the complete structures of a table: fields, whose length is the second byte, and
// strings up to an empty one.
func structures(table []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(table) >= 4 && int(table[1]) >= 4 && int(table[1]) <= len(table) {
			end := bytes.Index(table[table[1]:], []byte{0, 0})
			if end < 0 {
				return
			}
			end += int(table[1]) + 2
			if !yield(table[:end]) {
				return
			}
			table = table[end:]
		}
	}
}

// notMemory are types of non-volatile devices: ROM, flash, and parts of persistent modules.
var notMemory = []byte{0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x1f}

// deviceOf reads a structure of type 17. Fields beyond its length are unknown.
func deviceOf(s []byte) (d device, isMemory bool) {
	fields, text := s[:s[1]], strings.Split(string(s[s[1]:]), "\x00")
	number := func(at, bytes int) int {
		if at+bytes > len(fields) {
			return 0
		}
		if bytes == 4 {
			return int(binary.LittleEndian.Uint32(fields[at:]) &^ (1 << 31))
		}
		return int(binary.LittleEndian.Uint16(fields[at:]))
	}
	if fields[0] != 17 || len(fields) < 0x15 || slices.Contains(notMemory, fields[0x12]) {
		return d, false
	}
	speed := func(at, extended int) int { // offsets of two bytes, and of four for larger speeds
		v := number(at, 2)
		if v == 0xffff {
			v = number(extended, 4)
		}
		if v > 1<<20 {
			return 0
		}
		return v
	}
	if d.bits = number(0x0a, 2); d.bits > 1<<12 { // 0xffff: unknown
		d.bits = 0
	}
	d.filled = number(0x0c, 2) > 0
	d.ratedMTs = speed(0x15, 0x54)
	d.mts = cmp.Or(speed(0x20, 0x58), d.ratedMTs)
	for _, at := range []int{0x10, 0x11} { // the slot, then its bank
		if n := int(fields[at]); n > 0 && n <= len(text) && d.channel == "" {
			d.channel = inChannel.FindString(text[n-1])
		}
	}
	return d, true
}

// inChannel matches a place up to the name of its channel: P0 CHANNEL A, Controller1-ChannelB,
// Node0_Channel3.
var inChannel = regexp.MustCompile(`(?i)^.*channel[ _-]?([a-z]|[0-9]+)\b|^.*channel[ _-]?([a-z]|[0-9]+)_`)
