package mapping

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/taulop/taulop/internal/infile"
)

// Limits of an untrusted file.
const (
	maxRanks = 1 << 22
	maxLine  = 4096 // bytes
	maxHost  = 253  // letters of a name
)

// Read reads a placement of ranks: an Open MPI rankfile, such as
//
//	rank 0=node1 slot=0:0-1
//
// or a line for each rank with the name or number of its node, as for Slurm's arbitrary distribution, or a
// host file: a line for each node with its number of ranks, node1:4 of MPICH's Hydra or node1 slots=4 of
// Open MPI. Empty lines and comments after # are skipped. Slots of a rankfile are checked but not used:
// the ranks of a node take the cores of a placement in order. Errors give the line of the file called name.
func Read(r io.Reader, name string) (Order, error) {
	in := reader{Lines: infile.NewLines(r, name, maxLine), nodes: make(map[string]int32)}
	err := in.read()
	if failed := in.Failed("this is no list of ranks"); failed != nil {
		return Order{}, failed
	}
	if err != nil {
		return Order{}, in.Errorf("%w", err)
	}
	return Order{list: in.list, names: in.names}, nil
}

type reader struct {
	*infile.Lines
	list  []int32
	lines []int // of the ranks of a rankfile
	names []string
	nodes map[string]int32
}

const unplaced = -1

// rankLine is "rank 0=host slot=…" of Open MPI.
var rankLine = regexp.MustCompile(`^rank\s+(\d+)\s*=\s*(\S+)\s+slots?\s*=\s*(\S.*)$`)

// hostLine is "host:4" of MPICH, or "host slots=4 max_slots=8" of Open MPI.
var hostLine = regexp.MustCompile(`^([^\s:=]+)(?::| +slots *= *)(\d+)(?: +max[_-]slots *= *\d+)?$`)

// slot is a list of cores, or of sockets and their cores.
var slot = regexp.MustCompile(`^[pPlL]?(\d+|\d+-\d+|\*)([:,;](\d+|\d+-\d+|\*))*$`)

func (in *reader) read() error {
	rankfile := false
	for in.Scan() {
		text, _, _ := strings.Cut(in.Text(), "#")
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		if len(in.list) == 0 {
			rankfile = strings.HasPrefix(text, "rank ") || strings.HasPrefix(text, "rank\t")
		}
		if err := in.take(text, rankfile); err != nil {
			return err
		}
	}
	if len(in.list) == 0 {
		return errors.New("no rank: give a line for each, with the name of its node, or an Open MPI rankfile")
	}
	for rank, node := range in.list {
		if node == unplaced {
			return fmt.Errorf("rank %d is missing, and rank %d is there: give a line for each", rank, len(in.list)-1)
		}
	}
	return nil
}

func (in *reader) take(text string, rankfile bool) error {
	if !rankfile {
		if host := hostLine.FindStringSubmatch(strings.ReplaceAll(text, "\t", " ")); host != nil {
			ranks, err := strconv.Atoi(host[2])
			if err != nil || ranks > maxRanks {
				return fmt.Errorf("%.60q: the most that is read is %d ranks", text, maxRanks)
			}
			for range ranks {
				if err := in.put(len(in.list), host[1]); err != nil {
					return err
				}
			}
			return nil
		}
		if strings.ContainsAny(text, " \t=,:[]") {
			return fmt.Errorf("%.60q is no name of a node: give one for each rank, a line each, or an Open MPI rankfile, rank 0=node1 slot=0", text)
		}
		return in.put(len(in.list), text)
	}
	found := rankLine.FindStringSubmatch(text)
	if found == nil {
		return fmt.Errorf("%.60q is no line of an Open MPI rankfile: write it like rank 0=node1 slot=0:0-1", text)
	}
	if !slot.MatchString(strings.ReplaceAll(found[3], " ", "")) {
		return fmt.Errorf("%.60q is no slot: name cores like 0-3, or a socket and its cores like 1:0,2", found[3])
	}
	rank, err := strconv.Atoi(found[1])
	if err != nil || rank >= maxRanks {
		return fmt.Errorf("rank %.20s: the most that is read is %d ranks", found[1], maxRanks)
	}
	return in.put(rank, found[2])
}

func (in *reader) put(rank int, host string) error {
	switch {
	case rank >= maxRanks:
		return fmt.Errorf("more than %d ranks", maxRanks)
	case len(host) > maxHost || strings.ContainsAny(host, "\x00\x1b"):
		return fmt.Errorf("%.60q is no name of a node", host)
	case rank < len(in.list) && in.list[rank] != unplaced:
		return fmt.Errorf("rank %d is there twice, first in line %d", rank, in.lines[rank])
	}
	for len(in.list) <= rank {
		in.list, in.lines = append(in.list, unplaced), append(in.lines, 0)
	}
	node, known := in.nodes[host]
	if !known {
		host = strings.Clone(host)
		node = int32(len(in.names))
		in.nodes[host], in.names = node, append(in.names, host)
	}
	in.list[rank], in.lines[rank] = node, in.Number
	return nil
}
