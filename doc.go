// Package taulop is the root of a module that measures how a machine's memory
// carries concurrent transfers, and predicts with that what MPI collectives cost:
// L(S,τ) = c(S,τ) + y(τ), the τ-Lop model of J.-A. Rico-Gallego and J.-C.
// Díaz-Martín, Parallel Computing 46 (2015).
//
// The program is cmd/taulop. The package itself is empty; programs import
//
//   - numa, shm and setups to measure: the machine, shared memory, who copies what
//     to whom;
//   - fit for arithmetic on samples, with intervals;
//   - params for a machine's parameters and their files;
//   - collective and model for algorithms and what they cost;
//   - reduce for the operators of reductions;
//   - strided for messages that are not contiguous.
//
// The example measures L(8K,1) and L(8K,2) and predicts a broadcast. It does so in one
// process and one minute; taulop itself measures in several processes, and says how far
// they differ.
package taulop
