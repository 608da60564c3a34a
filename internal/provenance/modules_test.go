package provenance

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/taulop/taulop/internal/test/must"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
)

// slot is a structure of type 17 of SMBIOS 3.3: 92 bytes and strings. Size 0 is an empty slot; speeds
// from 65535 on are in the extended fields.
func slot(place, bank string, size, bits, rated, clocked int) []byte {
	s := make([]byte, 92)
	s[0], s[1], s[0x12] = 17, 92, 0x22
	text := ""
	for at, name := range map[int]string{0x10: place, 0x11: bank} {
		if name != "" { // the number of a string; 0: none
			text += name + "\x00"
			s[at] = byte(strings.Count(text, "\x00"))
		}
	}
	put := func(at, v int) { binary.LittleEndian.PutUint16(s[at:], uint16(v)) }
	put(0x0a, bits)
	put(0x0c, size)
	for _, speed := range [][3]int{{0x15, 0x54, rated}, {0x20, 0x58, clocked}} {
		if speed[2] < 0xffff {
			put(speed[0], speed[2])
			continue
		}
		put(speed[0], 0xffff)
		binary.LittleEndian.PutUint32(s[speed[1]:], uint32(speed[2]))
	}
	return append(s, text+"\x00"...)
}

func table(slots ...[]byte) (all []byte) {
	for _, s := range slots {
		all = append(all, s...)
	}
	return all
}

// A peak needs the channel, clock and width of every module, because a channel may have several
// modules.
func TestMemoryIn(t *testing.T) {
	bios := append([]byte{0, 4, 0, 0}, "a BIOS\x00\x00"...)
	none := []byte{127, 4, 0, 0, 0, 0} // without strings
	rom := slot("SYSTEM ROM", "", 1, 64, 33, 33)
	rom[0x12] = 0x09
	old := append(slot("CHANNEL A", "", 512, 64, 0, 0)[:0x15], "CHANNEL A\x00\x00"...)
	old[1] = 0x15
	for _, tt := range []struct {
		name  string
		table []byte
		want  *params.Memory
	}{
		{"nothing", nil, nil},
		{"no slots", bios, nil},
		{"no modules", slot("DIMM 0", "P0 CHANNEL A", 0, 64, 0, 0), nil},
		{"two packages, two modules a channel, one channel empty", table(bios,
			slot("DIMM 0", "P0 CHANNEL A", 16384, 64, 4800, 4400), slot("DIMM 1", "P0 CHANNEL A", 16384, 64, 4800, 4400),
			slot("DIMM 0", "P0 CHANNEL B", 0, 64, 0, 0), slot("DIMM 0", "P1 CHANNEL A", 0x7fff, 64, 4800, 4800), none),
			&params.Memory{PeakGBs: 73.6, Modules: 3, Slots: 4, Filled: 2, Channels: 3, MTs: 4400, RatedMTs: 4800}}, // 4400·8 and 4800·8 MB/s
		{"the channel in the slot's name", table(slot("Controller0-ChannelA-DIMM0", "BANK 0", 1, 32, 6400, 6400), slot("Controller1-ChannelA-DIMM0", "BANK 1", 1, 32, 6400, 6400)),
			&params.Memory{PeakGBs: 51.2, Modules: 2, Slots: 2, Filled: 2, Channels: 2, MTs: 6400, RatedMTs: 6400}},
		{"numbers", table(slot("P1-DIMMA1", "P0_Node0_Channel0_Dimm0", 1, 64, 3200, 0), slot("P1-DIMMA2", "P0_Node0_Channel0_Dimm1", 1, 64, 3200, 0), slot("P1-DIMMB1", "P0_Node0_Channel1_Dimm0", 1, 64, 3200, 0)),
			&params.Memory{PeakGBs: 51.2, Modules: 3, Slots: 3, Filled: 2, Channels: 2, MTs: 3200, RatedMTs: 3200}},
		{"fast", slot("ChannelA", "", 1, 64, 70000, 70000), &params.Memory{PeakGBs: 560, Modules: 1, Slots: 1, Filled: 1, Channels: 1, MTs: 70000, RatedMTs: 70000}},
		{"letters may be packages", table(slot("DIMM_A1", "", 1, 64, 1600, 1333), slot("DIMM_B1", "", 0, 64, 0, 0)),
			&params.Memory{Modules: 1, Slots: 2, MTs: 1333, RatedMTs: 1600}},
		{"one name for the channels of all packages", table(slot("", "CHANNEL A", 1, 64, 1600, 1600), slot("", "CHANNEL A", 1, 64, 1600, 1600), slot("", "CHANNEL A", 1, 64, 1600, 1600),
			slot("", "CHANNEL A", 1, 64, 1600, 1600), slot("", "CHANNEL A", 1, 64, 1600, 1600)), &params.Memory{Modules: 5, Slots: 5, MTs: 1600, RatedMTs: 1600}},
		{"no width", slot("", "CHANNEL A", 1, 0xffff, 1600, 1600), &params.Memory{Modules: 1, Slots: 1, MTs: 1600, RatedMTs: 1600}},
		{"flash", table(rom, slot("", "CHANNEL A", 1, 64, 1600, 1600)), &params.Memory{PeakGBs: 12.8, Modules: 1, Slots: 1, Filled: 1, Channels: 1, MTs: 1600, RatedMTs: 1600}},
		{"of an old version, without clocks", old, &params.Memory{Modules: 1, Slots: 1}},
		{"cut short", table(slot("", "CHANNEL A", 1, 64, 1600, 1600), slot("", "CHANNEL B", 1, 64, 1600, 1600)[:95]),
			&params.Memory{PeakGBs: 12.8, Modules: 1, Slots: 1, Filled: 1, Channels: 1, MTs: 1600, RatedMTs: 1600}},
	} {
		if got := memoryIn(tt.table); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// The tables in sys are one file, or a file for each structure.
func TestModulesBelowRoot(t *testing.T) {
	for _, name := range []string{"sys/firmware/dmi/tables/DMI", "sys/firmware/dmi/entries/17-0/raw"} {
		root := t.TempDir()
		path := filepath.Join(root, name)
		must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(os.WriteFile(path, slot("", "CHANNEL A", 1, 64, 1600, 1600), 0o600))
		if p := Read(root, &numa.Machine{Nodes: []numa.Node{{CPUs: numa.SetOf(0), MemoryBytes: 1 << 30}, {MemoryBytes: 1 << 30}}}); p.Memory == nil || p.Memory.PeakGBs != 12.8 || p.Memory.Nodes != 1 {
			t.Errorf("%s: %+v", name, p.Memory)
		}
	}
}

func FuzzMemoryIn(f *testing.F) {
	f.Add(slot("DIMM 0", "P0 CHANNEL A", 16384, 64, 4800, 4400))
	f.Add(table(slot("ChannelA", "", 1, 64, 70000, 70000), slot("DIMM_B1", "", 0, 64, 0, 0)[:40]))
	f.Add([]byte{17, 255, 0, 0})
	f.Fuzz(func(t *testing.T, table []byte) {
		m := memoryIn(table)
		if m == nil {
			return
		}
		if m.Modules > m.Slots || m.Filled > m.Channels || m.Filled > m.Modules || m.PeakGBs < 0 || m.PeakGBs > 0 != (m.Filled > 0) {
			t.Errorf("%+v", m)
		}
		if text := m.String(); strings.ContainsAny(text, "\x00\n") {
			t.Errorf("%q", text)
		}
	})
}
