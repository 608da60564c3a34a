// Times MPI messages and collectives, for comparison with predictions:
//
//   mpirun -n P messages BATCHES ARENA_MB LEAST MOST [rewritten]
//
// PingPong between ranks 0 and 1 (half of a round trip), and of all pairs 0 and 1, 2
// and 3, … at once, Sendrecv round the ring of all ranks, Bcast, Allgather and
// Allreduce (MPI_SUM of MPI_INT), for doubling sizes from LEAST to MOST bytes, and
// PingPong and Sendrecv of nothing. In cache also Reduce_local of the same sums, by
// one rank, two, four … and all at once. It prints tables in the layout of IMB-MPI1. A
// time is the median over BATCHES; a batch's is the median of the means of its thirds,
// as suites have means. A line for each batch follows it, "# batch" with bytes,
// rounds, time, what an empty message took just before and just after, and what sums
// of all ranks took there: the host of a virtual machine moves its CPUs, and lets
// others use their cores, and batches.awk makes tables of batches that had them where
// they had been before, and for themselves. With ARENA_MB above 0 each rank's messages
// walk down two arenas of that size, one to send from and one to receive into, so that
// user data comes from memory; with 0 the same buffers serve every message. Send
// buffers are left as they are, which all benchmarks do; with rewritten, and in cache,
// every rank writes its own before each message, while no time is taken.
//
// Messages of a ring follow each other, as the suites have them, unless they are rewritten.
// A collective is timed from a moment that all ranks wait for on the clock to the
// last rank's finish, what nothing takes in the same way subtracted. The clock is
// that of one machine: all ranks must run on it.
#include "../../internal/plan/job/clock.h"
#include <string.h>
#include <sys/mman.h>

#define ROUNDS 50   // of a batch of collectives, fewer of large messages
#define LOOKS 5     // at where the CPUs are, of which a look is the median
#define EMPTY 10    // rounds of each
#define SUMS 2000   // of all ranks at once: 3 µs

static int batches;
static struct batch {
  double time, before, after, computed; // s
} *batch;
static char *from, *to; // arenas
static size_t arena;
static int fixed; // the same buffers for every message
static int fresh; // send buffers are rewritten
static size_t walked; // bytes of the arenas

enum { NOTHING, PINGPONG, SENDRECV, BCAST, ALLGATHER, ALLREDUCE };

// pass has an empty message go from rank to rank round all of them, n times.
static void pass(int n) {
  int right = (rank + 1) % P, left = (rank + P - 1) % P;
  for (int j = 0; j < n; j++) {
    if (!rank) MPI_Send(0, 0, MPI_BYTE, right, 2, MPI_COMM_WORLD);
    MPI_Recv(0, 0, MPI_BYTE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank) MPI_Send(0, 0, MPI_BYTE, right, 2, MPI_COMM_WORLD);
  }
}

// look is what an empty message takes now, in s, known to rank 0.
static double look(void) {
  double t[LOOKS];
  for (int i = 0; i < LOOKS; i++) {
    double start = now();
    pass(EMPTY);
    t[i] = (now() - start) / (EMPTY * P);
  }
  return median(t, LOOKS);
}

// sums keeps all units of a core busy that compute with whole numbers: none of eight waits for another.
__attribute__((noinline)) static long sums(int n) {
  long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
  while (n--) {
    a += 3, b ^= 5, c += 7, d ^= 9, e += 11, f ^= 13, g += 17, h ^= 19;
    a ^= 1, b++, c ^= 2, d += 2, e ^= 3, f += 3, g ^= 4, h += 4;
  }
  return a + b + c + d + e + f + g + h;
}

// compute is what the same sums take the slowest of all ranks, between two rounds of empty messages, in s,
// known to rank 0: a thread of another guest on its core makes them slower, and messages as well. Of two
// the faster counts, for an interruption is in one of them.
static double compute(double message) {
  static volatile long kept; // so that the sums are computed
  double least = 1;
  for (int i = 0; i < 2; i++) {
    pass(1);
    double start = now();
    kept += sums(SUMS);
    pass(1);
    double took = now() - start - P * message;
    if (took < least) least = took;
  }
  return least;
}

// middle is the median time of the batches.
static double middle(void) {
  double *t = malloc(batches * sizeof *t), all;
  for (int b = 0; b < batches; b++) t[b] = batch[b].time;
  all = median(t, batches);
  free(t);
  return all;
}

// begin is where a batch begins, and finish where it ends; batch -1 warms up.
static void begin(int b) {
  double before = look(), computed = compute(before);
  if (b >= 0) batch[b].before = before, batch[b].computed = computed;
}

static void finish(int b, double time) {
  double after = look(), computed = compute(after);
  if (b < 0) return;
  batch[b].time = time, batch[b].after = after;
  if (computed > batch[b].computed) batch[b].computed = computed;
}

// map maps n bytes of the rank's own, and touches them.
static char *map(size_t n) {
  char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    fprintf(stderr, "messages: no memory for %zu bytes\n", n);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  memset(p, rank + 1, n);
  return p;
}

static size_t pages(size_t m) { return (m + 4095) / 4096 * 4096; }

// place is the address of the next buffer of m bytes in an arena: below the last one, so that
// the processor does not prefetch it.
static char *place(char *a, size_t m) { return fixed ? a : a + (walked + pages(m) > arena ? 0 : arena - walked - pages(m)); }

static void carry(int what, size_t m, MPI_Comm comm) {
  int right = (rank + 1) % P, left = (rank + P - 1) % P;
  switch (what) {
  case PINGPONG: // with the other rank of the pair
    for (int turn = 0; turn < 2; turn++)
      if (turn == rank % 2)
        MPI_Send(place(from, m), m, MPI_BYTE, rank ^ 1, 0, comm);
      else
        MPI_Recv(place(to, m), m, MPI_BYTE, rank ^ 1, 0, comm, MPI_STATUS_IGNORE);
    break;
  case SENDRECV:
    MPI_Sendrecv(place(from, m), m, MPI_BYTE, right, 0, place(to, m), m, MPI_BYTE, left, 0, comm, MPI_STATUS_IGNORE);
    break;
  case BCAST:
    MPI_Bcast(place(rank ? to : from, m), m, MPI_BYTE, 0, comm);
    break;
  case ALLGATHER:
    MPI_Allgather(place(from, m), m, MPI_BYTE, place(to, m * P), m, MPI_BYTE, comm);
    break;
  case ALLREDUCE:
    MPI_Allreduce(place(from, m), place(to, m), m / sizeof(int), MPI_INT, MPI_SUM, comm);
    break;
  }
}

// walk moves on to the least recently used place.
static void walk(int what, size_t m) {
  walked += pages(what == ALLGATHER ? m * P : m);
  if (walked >= arena) walked = 0;
}

// rewrite writes the next send buffer.
static void rewrite(int what, size_t m) {
  if (fresh && what != NOTHING && (what != BCAST || !rank)) memset(place(from, m), rank + 1, m);
}

static void prepare(int what, size_t m) {
  walk(what, m);
  rewrite(what, m);
}

// known passes long messages over every page of the arenas three times. When the kernel copies from
// process to process and meets a page the second time, it puts it on the active list
// (mark_page_accessed), which takes as long as half of the copy; a program's buffers are there already.
static void known(size_t most) {
  size_t m = fixed ? 0 : most;
  for (size_t sent = 0; sent < 3 * arena && m; sent += m) {
    carry(SENDRECV, m, MPI_COMM_WORLD);
    walk(SENDRECV, m);
  }
}

// check ends the program if a rank received wrong bytes: rank r sends bytes of r+1.
static void check(int what, size_t m) {
  size_t n = what == NOTHING || (what == BCAST && !rank) ? 0 : what == ALLGATHER ? m * P : m;
  size_t at = walked;
  walked = 0;
  char *got = place(to, what == ALLGATHER ? n : m);
  memset(got, 0, n);
  carry(what, m, MPI_COMM_WORLD);
  walked = at;
  if (what == ALLREDUCE) {
    for (size_t i = 0; i < m / sizeof(int); i++)
      if (((int *)got)[i] != 0x01010101 * (P * (P + 1) / 2)) {
        fprintf(stderr, "messages: rank %d: element %zu of %zu is not the sum of what ranks sent\n", rank, i, m / sizeof(int));
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    return;
  }
  for (size_t i = 0; i < n; i++) {
    int sender = what == PINGPONG ? (rank ^ 1) : what == SENDRECV ? (rank + P - 1) % P : what == ALLGATHER ? (int)(i / m) : 0;
    if (got[i] != (char)(sender + 1)) {
      fprintf(stderr, "messages: rank %d: byte %zu of %zu is not what rank %d sent\n", rank, i, n, sender);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
}

static int rounds(size_t m) {
  int n = ROUNDS >> (m >> 20 ? 4 : m >> 17 ? 2 : 0);
  return n < 4 ? 4 : n;
}

// passes are more than for copies, because a reduction lasts no longer than a copy.
static int passes(size_t m) { return 8 * rounds(m); }

// typical is the median of the means of three parts of n times: an interruption is in one of them.
static double typical(const double *t, int n) {
  double sum[3] = {0}, mean[3];
  int count[3] = {0};
  for (int i = 0; i < n; i++) sum[3 * i / n] += t[i], count[3 * i / n]++;
  for (int i = 0; i < 3; i++) mean[i] = sum[i] / count[i];
  return median(mean, 3);
}

// collective times one of those.
static void collective(int what, size_t m) {
  double t[ROUNDS];
  for (int b = -1; b < batches; b++) {
    int n = rounds(m);
    begin(b);
    for (int j = 0; j < n; j++) t[j] = once(what, m, MPI_COMM_WORLD);
    finish(b, what == NOTHING ? median(t, n) : typical(t, n)); // nothing is shorter than any interruption
  }
  check(what, m);
}

// slowest is the longest time of all ranks, known to rank 0.
static double slowest(double mine) {
  double all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

// oneway times half a round trip in pairs of ranks at once; the slowest pair counts. The other ranks
// wait.
static void oneway(size_t m, int pairs) {
  double t[ROUNDS];
  for (int b = -1; b < batches; b++) {
    int n = rounds(m);
    begin(b);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int j = 0; j < n && rank < 2 * pairs; j++) {
      if (fresh) { // with its partner alone, so that pairs go on by themselves
        rewrite(PINGPONG, m);
        MPI_Sendrecv(0, 0, MPI_BYTE, rank ^ 1, 1, 0, 0, MPI_BYTE, rank ^ 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      double start = now();
      carry(PINGPONG, m, MPI_COMM_WORLD);
      t[j] = (now() - start) / 2;
      walk(PINGPONG, m);
    }
    finish(b, slowest(rank < 2 * pairs && rank % 2 == 0 ? typical(t, n) : 0));
  }
  if (rank < 2 * pairs) check(PINGPONG, m);
}

// closely times one of those that follow each other closely, as the suites have rings; the
// slowest rank counts.
static void closely(int what, size_t m) {
  for (int b = -1; b < batches; b++) {
    int n = rounds(m);
    begin(b);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now();
    for (int j = 0; j < n; j++) {
      carry(what, m, MPI_COMM_WORLD);
      walk(what, m);
    }
    finish(b, slowest((now() - start) / n));
  }
  check(what, m);
}

// reducing times the reduction of one vector into another by so many ranks at once, each the
// same two again and again, of which the slowest counts. The other ranks wait.
static void reducing(size_t m, int ranks) {
  int count = m / sizeof(int), n = passes(m);
  memset(from, 0, m); // so that sums stay what they are
  memset(to, 1, m);
  for (int b = -1; b < batches; b++) {
    double mine = 0;
    begin(b);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < ranks) {
      double start = now();
      for (int j = 0; j < n; j++) MPI_Reduce_local(from, to, count, MPI_INT, MPI_SUM);
      mine = (now() - start) / n;
    }
    finish(b, slowest(mine));
  }
  memset(from, rank + 1, m);
  MPI_Reduce_local(from, to, count, MPI_INT, MPI_SUM);
  for (int i = 0; i < count; i++)
    if (((int *)to)[i] != 0x01010101 * (rank + 2)) {
      fprintf(stderr, "messages: rank %d: element %d of %zu bytes is not the sum of two vectors\n", rank, i, m);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

// head begins a table of a benchmark, with the numbers of groups and of their ranks.
static void head(const char *name, int groups, int processes, const char *time) {
  if (rank) return;
  const char *line = "#---------------------------------------------------";
  printf("\n%s\n# Benchmarking %s%s\n", line, groups > 1 ? "Multi-" : "", name);
  if (groups > 1) printf("# ( %d groups of %d processes each running simultaneous )\n", groups, processes);
  else printf("# #processes = %d\n", processes);
  if (groups * processes < P) printf("# ( %d additional processes waiting in MPI_Barrier )\n", P - groups * processes);
  printf("%s\n%13s %12s %12s\n", line, "#bytes", "#repetitions", time);
}

// row prints the last time, less the given seconds.
static void row(size_t m, int n, double less) {
  if (rank) return;
  printf("%13zu %12d %12.4f\n", m, n * batches, (middle() - less) * 1e6);
  for (int b = 0; b < batches; b++)
    printf("# batch %zu %d %.4f %.4f %.4f %.4f\n", m, n, (batch[b].time - less) * 1e6, batch[b].before * 1e6, batch[b].after * 1e6, batch[b].computed * 1e6);
  fflush(stdout);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fresh = argc == 6 && !strcmp(argv[5], "rewritten");
  int given = argc == 5 || (fresh && !strtoul(argv[2], 0, 10));
  size_t mb = given ? strtoul(argv[2], 0, 10) : 0;
  size_t least = given ? strtoul(argv[3], 0, 10) : 0, most = given ? strtoul(argv[4], 0, 10) : 0;
  batches = given ? atoi(argv[1]) : 0;
  if (batches < 1 || least < 4 || most < least || P < 2) {
    if (!rank) fprintf(stderr, "usage: mpirun -n P messages BATCHES ARENA_MB LEAST MOST [rewritten], with two ranks or more, of 4 bytes or more, and rewritten with an arena of 0 alone\n");
    MPI_Finalize();
    return 2;
  }
  size_t one = pages(most) * P; // an allgather's result
  arena = mb << 20 > one ? mb << 20 : one;
  from = map(arena);
  to = map(arena);
  fixed = !mb;
  if (!rank) printf("# taulop bench/mpi/messages, user data %s, send buffers %s\n# median over %d batches\n# MPI_Datatype for reductions : MPI_INT\n# MPI_Op : MPI_SUM\n", mb ? "off cache" : "in cache", fresh ? "rewritten" : "unchanged", batches);

  batch = malloc(batches * sizeof *batch);
  known(most);
  for (int pairs = 1; 2 * pairs <= P; pairs *= 2) {
    head("PingPong", pairs, 2, pairs > 1 ? "t_max[usec]" : "t[usec]");
    for (size_t m = 0; m <= most; m = m ? 2 * m : least) {
      oneway(m, pairs);
      row(m, rounds(m), 0);
    }
  }
  static const char *names[] = {"", "", "Sendrecv", "Bcast", "Allgather", "Allreduce"};
  collective(NOTHING, 1);
  double nothing = middle();
  for (int what = SENDRECV; what <= ALLREDUCE; what++) {
    head(names[what], 1, P, "t_max[usec]");
    for (size_t m = what == SENDRECV ? 0 : least; m <= most; m = m ? 2 * m : least) {
      int close = what == SENDRECV && (!fresh || !m);
      if (close) closely(what, m);
      else collective(what, m);
      row(m, rounds(m), close ? 0 : nothing);
    }
  }
  for (int ranks = 1; fixed && ranks <= P; ranks = ranks < P && 2 * ranks > P ? P : 2 * ranks) {
    head("Reduce_local", 1, ranks, "t_max[usec]");
    for (size_t m = least; m <= most; m *= 2) {
      reducing(m, ranks);
      row(m, passes(m), 0);
    }
  }
  if (!rank) printf("\n# the clock's own %.3f usec are subtracted from collectives; %ld starts were late and taken again\n", nothing * 1e6, late);
  MPI_Finalize();
  return 0;
}
