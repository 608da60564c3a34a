// Package comm holds communication matrices: how many bytes, in how many messages, each
// process of a program sends to each other. They are read from files, of which one says
// nothing about the machine it was made on, or made by a built-in pattern.
package comm

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// A Matrix is who sends how much to whom, without what processes send to themselves.
type Matrix struct {
	Name string // a file or a pattern, for users
	rows [][]Entry
	sum  int64 // bytes and messages of all
}

// An Entry is what a process sends to one other.
type Entry struct {
	To       int   `json:"to"`
	Bytes    int64 `json:"bytes"`
	Messages int64 `json:"messages"` // 1 at least
}

// Limits of matrices, which may come from anywhere.
const (
	MaxRanks   = 1 << 12
	maxEntries = 1 << 22
	maxBytes   = 1 << 50 // of an entry, and messages
	maxTotal   = 1 << 55 // of all
)

// New is a matrix of processes that send nothing.
func New(ranks int) (*Matrix, error) {
	if ranks < 1 || ranks > MaxRanks {
		return nil, fmt.Errorf("%d processes: a communication matrix has 1 to %d", ranks, MaxRanks)
	}
	return &Matrix{rows: make([][]Entry, ranks)}, nil
}

// Add adds bytes in messages from one process to another. It fails for what cannot be.
func (m *Matrix) Add(from, to int, bytes, messages int64) error {
	switch p := m.Ranks(); {
	case from < 0 || to < 0 || from >= p || to >= p:
		return fmt.Errorf("process %d sends to %d, and there are %d, from 0: number them from 0 to %d", from, to, p, p-1)
	case bytes < 0 || messages < 0:
		return fmt.Errorf("process %d sends %d bytes in %d messages to %d: give numbers from 0", from, bytes, messages, to)
	case bytes > maxBytes || messages > maxBytes:
		return errEntry(from, to)
	case from == to || messages == 0 && bytes == 0:
		return nil
	}
	row := &m.rows[from]
	at, found := slices.BinarySearchFunc(*row, to, func(e Entry, to int) int { return e.To - to })
	if !found {
		*row = slices.Insert(*row, at, Entry{To: to})
	}
	e := &(*row)[at]
	e.Bytes, e.Messages = e.Bytes+bytes, e.Messages+max(1, messages)
	if e.Bytes > maxBytes || e.Messages > maxBytes {
		return errEntry(from, to)
	}
	if m.sum += bytes + max(1, messages); m.sum > maxTotal {
		return errTotal
	}
	return nil
}

func errEntry(from, to int) error {
	return fmt.Errorf("process %d sends more than 2^50 bytes or messages to %d: this is no communication of a program", from, to)
}

var errTotal = errors.New("all together send more than 2^55 bytes or messages: this is no communication of a program")

// Ranks is the number of processes.
func (m *Matrix) Ranks() int { return len(m.rows) }

// Row is what a process sends, by receiver. It must not be changed.
func (m *Matrix) Row(from int) []Entry { return m.rows[from] }

// Entry is what a process sends to another.
func (m *Matrix) Entry(from, to int) Entry {
	row := m.rows[from]
	if at, found := slices.BinarySearchFunc(row, to, func(e Entry, to int) int { return e.To - to }); found {
		return row[at]
	}
	return Entry{To: to}
}

// All yields every entry with its sender.
func (m *Matrix) All() iter.Seq2[int, Entry] {
	return func(yield func(int, Entry) bool) {
		for from, row := range m.rows {
			for _, e := range row {
				if !yield(from, e) {
					return
				}
			}
		}
	}
}

// Total is what all send together.
func (m *Matrix) Total() (bytes, messages int64) {
	for _, e := range m.All() {
		bytes, messages = bytes+e.Bytes, messages+e.Messages
	}
	return bytes, messages
}

// Pairs is the number of pairs with messages, one way or both.
func (m *Matrix) Pairs() (n int) {
	for from, e := range m.All() {
		if from < e.To || m.Entry(e.To, from).Messages == 0 {
			n++
		}
	}
	return n
}

// A Volume is what two processes send each other, both ways together.
type Volume struct {
	With  int
	Bytes int64
}

// Volumes lists for each process what it exchanges with each other one. A message without bytes
// counts as one byte, so that processes that only synchronise are near, too.
func (m *Matrix) Volumes() [][]Volume {
	volumes := make([][]Volume, m.Ranks())
	for from, e := range m.All() {
		bytes := max(e.Bytes, 1)
		volumes[from] = append(volumes[from], Volume{e.To, bytes})
		volumes[e.To] = append(volumes[e.To], Volume{from, bytes})
	}
	for v := range volumes {
		slices.SortFunc(volumes[v], func(a, b Volume) int { return cmp.Compare(a.With, b.With) })
		merged := volumes[v][:0]
		for _, volume := range volumes[v] {
			if n := len(merged); n > 0 && merged[n-1].With == volume.With {
				merged[n-1].Bytes += volume.Bytes
			} else {
				merged = append(merged, volume)
			}
		}
		volumes[v] = merged
	}
	return volumes
}
