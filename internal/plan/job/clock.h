// The clock of programs that time an MPI library: what a call takes from a common start to the last
// rank's end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LEAST 3e-6 // s from the announcement of a start to the start
#define MOST 1e-4

static int P, rank;
static int several; // nodes, which have no common clock: ranks start when they leave a barrier
static long late;   // starts that a rank heard of too late, taken again
static double ahead = LEAST;

// A program says what it times, and what goes before each time without being timed.
static void carry(int kind, size_t m, MPI_Comm comm);
static void prepare(int kind, size_t m);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int less(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *xs, int n) {
  qsort(xs, n, sizeof *xs, less);
  return n % 2 ? xs[n / 2] : (xs[n / 2 - 1] + xs[n / 2]) / 2;
}

// once is the time of a collective among all ranks, in s, known to rank 0. Ranks wait no longer than they
// must to start together: the longer they wait, the slower is the code that follows.
static double once(int kind, size_t m, MPI_Comm comm) {
  for (int tries = 0; tries < 1000; tries++) {
    double start = 0, mine[2] = {0, 0}, all[2];
    prepare(kind, m);
    MPI_Barrier(MPI_COMM_WORLD);
    if (several) {
      start = now();
    } else {
      if (!rank) start = now() + ahead;
      MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      mine[1] = now() > start;
      while (now() < start) {
      }
    }
    carry(kind, m, comm);
    mine[0] = now() - start;
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    ahead = all[1] ? 2 * ahead < MOST ? 2 * ahead : MOST : ahead / 2 > LEAST ? ahead / 2 : LEAST;
    if (!all[1]) return all[0];
    late++;
  }
  if (!rank) fprintf(stderr, "ranks do not run at the same time: give each a core of its own\n");
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 0;
}
