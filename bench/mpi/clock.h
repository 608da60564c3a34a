// The clock of messages.c and choices.c, medians of what it says, and a look at where the ranks'
// CPUs are.

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

#define LOOKS 5  // of which a look is the median
#define EMPTY 10 // rounds of each

// look is what an empty message takes now, from rank to rank round all of them, in s, known to
// rank 0.
static double look(int P, int rank) {
  double t[LOOKS];
  int right = (rank + 1) % P, left = (rank + P - 1) % P;
  for (int i = 0; i < LOOKS; i++) {
    double start = now();
    for (int j = 0; j < EMPTY; j++) {
      if (!rank) MPI_Send(0, 0, MPI_BYTE, right, 2, MPI_COMM_WORLD);
      MPI_Recv(0, 0, MPI_BYTE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank) MPI_Send(0, 0, MPI_BYTE, right, 2, MPI_COMM_WORLD);
    }
    t[i] = (now() - start) / (EMPTY * P);
  }
  return median(t, LOOKS);
}
