package model

import (
	"errors"

	"github.com/taulop/taulop/params"
)

// A Network is the channel between nodes: a message of m bytes takes o(m) + L(m,τ) while τ
// go through it to the same node or from it, and its Copies through that node's memory.
type Network struct {
	params.Network
	Table *params.Table
}

// ErrOneNode is of algorithms whose ranks copy from each other's buffers.
var ErrOneNode = errors.New("copies from the buffers of other ranks, which are on one node then: take another algorithm, or one node")
