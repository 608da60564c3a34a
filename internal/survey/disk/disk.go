// Package disk measures transfers between memory and a file: startup and bandwidth of reading and
// writing, past the page cache and through it (usc-hpc-benchmarks-1999, section 4.2.3).
//
// Its opinion: the page cache is memory, so times past it and through it are different quantities;
// files have no name, so that none is left behind; and read data are compared with written data.
package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/taulop/taulop/internal/engine"
	"github.com/taulop/taulop/internal/survey"
	"github.com/taulop/taulop/internal/view"
	"github.com/taulop/taulop/numa"
	"github.com/taulop/taulop/params"
	"github.com/taulop/taulop/shm"
)

// BlockBytes divides sizes of transfers and files: O_DIRECT needs whole blocks.
const BlockBytes = 4096

// Survey is transfers to and from a file. A sweep, which knows no directory, does not include it.
var Survey = survey.Register(&survey.Survey{
	Name: "disk", Doc: "what reading and writing a disk costs, page cache out and in",
	Decode:  survey.Decoder[Request],
	Command: &survey.Command{Help: help, Time: 10 * time.Second, Takes: true, Flags: flags},
	Answer:  Answer,
	Tables:  Tables,
	Drawing: &view.Drawing{
		Kind: params.DiskCell, Profiles: view.ByCell(profiled),
		Name: "disk", About: "reading and writing a file against m, past the page cache and through it", Example: "taulop plot disk -o d.svg disk.json",
		Title: "Time of a transfer between memory and a file", What: "transfers of a disk", Measure: "taulop disk",
		Order: append([]string{"page cache out", "page cache in"}, Operations...),
		Label: "Disks",
	},
})

// A Request says what to measure.
type Request struct {
	Dir       string         `json:"directory"`
	FileBytes int            `json:"file_bytes"` // of each file; each mode has one
	Sizes     []int          `json:"sizes"`      // m, of a transfer
	Modes     []Mode         `json:"modes"`
	Placement numa.Placement `json:"placement"`
}

// A Mode tells whether transfers use the page cache.
type Mode string

const (
	Direct Mode = "direct" // past the page cache, O_DIRECT
	Cached Mode = "cached" // through the page cache: data may lie in memory only
)

// Operations are the directions.
var Operations = []string{"read", "write"}

// A Transfer is the variant of cells: read-direct.
type Transfer struct {
	Operation string
	Mode      Mode
}

func (t Transfer) String() string               { return t.Operation + "-" + string(t.Mode) }
func (t Transfer) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

func init() {
	params.ReadVariants(params.DiskCell, func(text string) params.Variant {
		operation, mode, _ := strings.Cut(text, "-")
		if t := (Transfer{operation, Mode(mode)}); slices.Contains(Operations, operation) && (t.Mode == Direct || t.Mode == Cached) {
			return t
		}
		return nil
	})
}

// Check validates a request.
func (p Request) Check() error {
	if p.FileBytes < BlockBytes || p.FileBytes%BlockBytes != 0 {
		return fmt.Errorf("a file of %d bytes: want a multiple of %d", p.FileBytes, BlockBytes)
	}
	for _, m := range p.Sizes {
		switch {
		case m < BlockBytes || m%BlockBytes != 0:
			return fmt.Errorf("a transfer of %d bytes: want a multiple of %d, for the page cache is passed by in whole blocks only", m, BlockBytes)
		case m > p.FileBytes:
			return fmt.Errorf("a transfer of %d bytes does not fit into a file of %d: use a larger file or smaller transfers", m, p.FileBytes)
		}
	}
	return nil
}

// Settle leaves out modes that the directory's file system does not have. It fails if no file can be
// created.
func (p Request) Settle() (r Request, warnings []error, err error) {
	r = p
	r.Modes = nil
	for _, mode := range p.Modes {
		f, err := open(context.Background(), p, mode, make([]byte, BlockBytes))
		switch {
		case errors.Is(err, errNotDirect):
			warnings = append(warnings, fmt.Errorf("the page cache cannot be kept out: the file system of %s does not take O_DIRECT; what was measured is with it", p.Dir))
			continue
		case err != nil:
			return r, warnings, err
		}
		f.Close()
		r.Modes = append(r.Modes, mode)
	}
	if inMemory(p.Dir) {
		warnings = append(warnings, fmt.Errorf("%s is in memory (tmpfs): no disk was measured", p.Dir))
	}
	return r, warnings, nil
}

// Cells are both operations in each mode, for each size.
func (p Request) Cells(*numa.Machine) (cells []engine.Cell, warnings []error, err error) {
	for _, mode := range p.Modes {
		for _, operation := range Operations {
			for _, m := range p.Sizes {
				cells = append(cells, engine.Cell{Cell: params.Cell{Key: params.Key{Kind: params.DiskCell, Placement: p.Placement.Policy, Tau: 1, Bytes: m, Variant: Transfer{operation, mode}}}})
			}
		}
	}
	return cells, nil, nil
}

// Open pins a thread for all transfers, and fills memory with incompressible data.
func (p Request) Open(b *engine.Bench) (engine.Sampler, error) {
	s := &sampler{Request: p, files: make(map[Mode]*file), do: make(chan func())}
	pinned := make(chan error)
	go func() {
		// The thread stays pinned and ends with this goroutine.
		pinned <- numa.Pin(p.Placement.Workers[0].CPU.ID)
		for f := range s.do {
			f()
		}
	}()
	err := <-pinned
	if err == nil {
		s.content, err = s.mapped(p.FileBytes, b.Huge)
	}
	if err == nil {
		s.buffer, err = s.mapped(slices.Max(p.Sizes), b.Huge)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	rand.NewChaCha8([32]byte{}).Read(s.content.Bytes())
	return s, nil
}

// mapped is new memory. It warns if the kernel rejects advice on page sizes.
func (s *sampler) mapped(n int, huge bool) (*shm.Region, error) {
	r, err := shm.MapPrivate(n)
	if err != nil {
		return nil, err
	}
	if err := r.Pages(huge); err != nil {
		s.warnings = []error{fmt.Errorf("which pages memory has is the kernel's choice: %w", err)}
	}
	return r, nil
}

type sampler struct {
	Request
	content, buffer *shm.Region
	files           map[Mode]*file
	do              chan func()
	warnings        []error
}

// A sample is the mean of consecutive transfers for this time, within a bound.
const (
	sampleTime    = 5 * time.Millisecond
	mostTransfers = 64
)

func (s *sampler) Sample(ctx context.Context, k params.Key, hint float64) (r engine.Reading, err error) {
	done := make(chan struct{})
	s.do <- func() {
		defer close(done)
		r, err = s.sample(ctx, k)
	}
	<-done
	return r, err
}

func (s *sampler) sample(ctx context.Context, k params.Key) (r engine.Reading, err error) {
	t := k.Variant.(Transfer)
	f := s.files[t.Mode]
	if f == nil {
		if f, err = open(ctx, s.Request, t.Mode, s.content.Bytes()[:s.FileBytes]); err != nil {
			return r, err
		}
		f.buffer = s.buffer.Bytes()
		s.files[t.Mode] = f
	}
	var sum, squares, n float64
	for sum < float64(sampleTime) && n < mostTransfers {
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		took, err := f.transfer(t.Operation, k.Bytes)
		if err != nil {
			return r, err
		}
		sum, squares, n = sum+float64(took), squares+float64(took)*float64(took), n+1
	}
	r.NS = sum / n
	r.Spread = float32(math.Sqrt(max(0, squares/n-r.NS*r.NS)) / r.NS)
	return r, nil
}

func (s *sampler) Warnings() []error { return s.warnings }

// Close deletes the files, which have no names.
func (s *sampler) Close() {
	close(s.do)
	for _, f := range s.files {
		f.Close()
	}
	s.content.Close()
	s.buffer.Close()
}

// transfer moves m bytes at the next offset of the file, and returns the duration of the call.
func (f *file) transfer(operation string, m int) (took time.Duration, err error) {
	if f.next+m > len(f.content) {
		f.next = 0
	}
	at, blocks := f.next, m/BlockBytes
	f.next += m
	if operation == "write" {
		from := rand.IntN(len(f.content)/BlockBytes - blocks + 1)
		data := f.content[from*BlockBytes:][:m]
		begin := time.Now()
		_, err = f.WriteAt(data, int64(at))
		took = time.Since(begin)
		for i := range blocks {
			f.holds[at/BlockBytes+i] = from + i
		}
		return took, f.refused(err)
	}
	data := f.buffer[:m]
	clear(data)
	begin := time.Now()
	_, err = f.ReadAt(data, int64(at))
	took = time.Since(begin)
	if err != nil {
		return took, f.refused(err)
	}
	for i := range blocks {
		was := f.content[f.holds[at/BlockBytes+i]*BlockBytes:][:BlockBytes]
		if !bytes.Equal(data[i*BlockBytes:][:BlockBytes], was) {
			return took, fmt.Errorf("%s: block %d of the file does not hold what was written there: this disk cannot be trusted", f.dir, at/BlockBytes+i)
		}
	}
	return took, nil
}
