package tidy

import (
	"testing"

	"github.com/taulop/taulop/internal/test/check"
)

// Names of levels as people write them.
func TestRelationOf(t *testing.T) {
	for name, want := range map[string]relation{
		"same_l3": {l3, false}, "same-numa": {numaNode, false}, "sameNuma": {numaNode, false}, "intra-numa": {numaNode, false}, "numa": {numaNode, false},
		"same_numa_node": {numaNode, false}, "sameNUMANode": {numaNode, false}, "numa_local": {numaNode, false}, "within_ccx": {l3, false}, "shared_L2": {l2, false},
		"cross_numa": {numaNode, true}, "other-numa": {numaNode, true}, "remote_numa": {numaNode, true}, "numa_remote": {numaNode, true}, "l3_not_shared": {l3, true},
		"inter-socket": {socket, true}, "intersocket": {socket, true}, "cross_sockets": {socket, true}, "different_package": {socket, true}, "socket": {socket, true},
		"intra_socket": {socket, false}, "same_socket_other_numa": {socket, false}, "other_numa_same_socket": {socket, false}, "on_chip": {socket, false},
		"other_numa_other_socket": {socket, true}, "same_ccd": {ccd, false}, "siblings": {smt, false}, "same_core": {smt, false},
		"same_node": {node, false}, "intranode": {node, false}, "other_node": {node, true}, "inter-node": {node, true}, "node": {node, true}, "between_hosts": {node, true},
		"network": {network, false}, "other_rack": {network, true}, "near": {-1, false}, "level1": {-1, false}, "distance": {-1, false},
	} {
		check.Equal(t, relationOf(name), want, "%s", name)
	}
}

func TestHeads(t *testing.T) {
	for head, want := range map[string]map[int]int{
		"4 cores per L3 (CCX), 16 cores per NUMA node (4 NUMA nodes a socket), 64 cores per socket": {l3: 4, numaNode: 16, socket: 64},
		"12 cores share an L3 (19 MB) = one NUMA node = one socket":                                 {l3: 12, numaNode: 12, socket: 12},
		"nodes with 2 x AMD EPYC 7H12, 64 cores each (128 cores a node)":                            {socket: 64, node: 128},
		"nodes with 2 x 28-core Intel Cascade Lake (56 cores a node)":                               {socket: 28, node: 56},
		"64 cores/socket, 2 sockets":                                                                {socket: 64, node: 128},
		"dual-socket, 48 cores / socket, 12 cores per NUMA domain":                                  {numaNode: 12, socket: 48, node: 96},
		"Core(s) per socket: 32":                                                                    {socket: 32},
		"cores_per_socket=20, 40 cores per node":                                                    {socket: 20, node: 40},
		"2 sockets of 18 cores":                                                                     {socket: 18, node: 36},
		"2 sockets x 24 cores":                                                                      {socket: 24, node: 48},
		"each NUMA node has 8 cores, each socket has 32 cores":                                      {numaNode: 8, socket: 32},
		"8 cores per CCD, P=64, 32 ranks a node":                                                    {ccd: 8},
	} {
		topology := topology{head: make(map[int]int)}
		topology.read([]string{head})
		for unit := range node + 1 {
			check.Equal(t, topology.head[unit], want[unit], "%s: cores of unit %d", head, unit)
		}
	}
}
