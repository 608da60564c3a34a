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
//   - collective for algorithms, and mapping for the nodes and cores that ranks are on;
//   - mpi for how MPI libraries carry a message within a node;
//   - model for what algorithms cost;
//   - mapping/comm, mapping/heuristic and mapping/matching for who sends how much to whom,
//     and on which cores that is cheapest;
//   - reduce for the operators of reductions;
//   - strided for messages that are not contiguous.
//
// What else the program is made of is below internal:
//
//   - engine takes samples, survey and the packages below it say what is measured, and sweep
//     makes one experiment of them; provenance says under which circumstances;
//   - verify carries schedules out beside their predictions, compare is about several
//     machines, and about one machine and its baseline;
//   - mpibench and tidy read what others measured, published puts predictions beside that;
//   - tune chooses algorithms for MPI libraries, processmap cores for ranks, and estimate
//     costs whole programs;
//   - view describes tables, matrices and documents, report fills them in, report/page is the
//     page of charts for browsers, and chart draws pictures;
//   - argument, spelling, infile, outfile, decimal and printable are about what users give and
//     get, sysfs and slurm about what the system says;
//   - vm, sandbox and randtest are for tests.
//
// The example measures L(8K,1) and L(8K,2) and predicts a broadcast. It does so in one
// process and a second; taulop itself measures in several processes, and says how far
// they differ.
package taulop
