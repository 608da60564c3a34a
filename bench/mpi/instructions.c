// Counts the instructions of an MPI library's calls on the path of a message, for the fields Computes
// of package mpi:
//
//   mpirun -n 2 instructions FILE
//
// FILE is a new one that both ranks map. One rank runs instruction by instruction, with the trap
// flag of x86 processors, and its signal handler waits after each: the other rank runs as ever and
// so takes no time. What is counted is therefore one rank's part, and waits of it only as long as
// until it looks again.
//
//   sends     from the call until the other rank has returned from its own, which then is at
//             once: Send, and Bcast of the root
//   receives  from when the message is there, at some moment while the rank looks for it, until
//             its call returns: Recv, and Bcast of the other, a mean over moments
//   both      all of the call, while the other rank is in the same one already: Sendrecv,
//             Allgather, Allreduce, Alltoall
//   alone     Reduce_local
//
// Counts are medians, for moments means, and of two sizes: what they grow by is the copy of the
// data and the reduction, and "of 0" is the line through both at 0 bytes. A string instruction
// counts once. What a call of nothing counts is subtracted.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef __x86_64__
#error "instructions one by one need the trap flag of x86"
#endif

#define MOMENTS 64
#define REPEATS 9
#define LOOKING 3000 // instructions after which a rank surely looks for its message

static struct page {
  volatile int turn[2], go, returned;
} *page;
static int rank;
static char *from, *to;

static volatile long count, until, first; // instructions; that the other returned after; that it begins after
static const long instant = 5000;         // ns that the other rank is given

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void pass(long ns) {
  for (long end = now() + ns; now() < end;) {
  }
}

static void trap(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  static long long last;
  long long at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  if (at == last) return; // a string instruction goes on
  last = at;
  count++;
  if (first) {
    if (count == first) {
      page->go = 1;
      pass(20 * instant);
    }
    return;
  }
  pass(instant);
  if (page->returned && !until) until = count;
}

static void step(void) { __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq" ::: "memory", "cc"); }
static void stop(void) { __asm__ volatile("pushfq\n andq $~0x100, (%%rsp)\n popfq" ::: "memory", "cc"); }

enum { NOTHING, MESSAGE, BCAST, SENDRECV, ALLGATHER, ALLREDUCE, ALLTOALL, REDUCE_LOCAL };
static const char *names[] = {"", "Message", "Bcast", "Sendrecv", "Allgather", "Allreduce", "Alltoall", "Reduce_local"};

static __attribute__((noinline)) void call(int what, int m) {
  int other = 1 - rank;
  switch (what) {
  case MESSAGE:
    if (!rank) MPI_Send(from, m, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(to, m, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    break;
  case BCAST: MPI_Bcast(from, m, MPI_BYTE, 0, MPI_COMM_WORLD); break;
  case SENDRECV: MPI_Sendrecv(from, m, MPI_BYTE, other, 0, to, m, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); break;
  case ALLGATHER: MPI_Allgather(from, m, MPI_BYTE, to, m, MPI_BYTE, MPI_COMM_WORLD); break;
  case ALLREDUCE: MPI_Allreduce(from, to, m / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
  case ALLTOALL: MPI_Alltoall(from, m, MPI_BYTE, to, m, MPI_BYTE, MPI_COMM_WORLD); break;
  case REDUCE_LOCAL: MPI_Reduce_local(from, to, m / 4, MPI_INT, MPI_SUM); break;
  }
}

// meet waits for the other rank without the library.
static void meet(void) {
  int mine = ++page->turn[rank];
  while (page->turn[1 - rank] < mine) {
  }
}

static int less(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

// stepped counts the instructions of one call of this rank.
static long stepped(int what, int m, long looking) {
  count = until = 0;
  first = looking;
  step();
  call(what, m);
  stop();
  if (looking) return count - looking;
  return until ? until : count;
}

enum { SENDS, RECEIVES, BOTH, ALONE };

// part counts a rank's part of a call of m bytes, known to that rank, which is who.
static double part(int what, int role, int m) {
  int who = role == RECEIVES, n = role == RECEIVES ? MOMENTS : REPEATS;
  long counts[MOMENTS], total = 0;
  for (int i = 0; i < n; i++) {
    for (int warm = 0; warm < 20 && role != ALONE; warm++) call(what, m);
    meet();
    page->go = page->returned = 0;
    meet();
    if (rank == who) {
      if (role != RECEIVES) pass(40 * instant); // the other is in its call by then
      counts[i] = stepped(what, m, role == RECEIVES ? LOOKING + 37 * i : 0);
      total += counts[i];
    } else if (role != ALONE) {
      while (role == RECEIVES && !page->go) {
      }
      call(what, m);
      if (role == SENDS) page->returned = 1;
    }
    meet();
  }
  if (rank != who) return 0;
  qsort(counts, n, sizeof *counts, less);
  return role == RECEIVES ? (double)total / n : counts[n / 2];
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int P;
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  int file = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
  if (P != 2 || file < 0 || ftruncate(file, 4096)) {
    fprintf(stderr, "usage: mpirun -n 2 instructions FILE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  from = calloc(1, 1 << 20);
  to = calloc(1, 1 << 20);
  memset(from, 0, 1 << 20);
  memset(to, 0, 1 << 20);
  struct sigaction act = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &act, 0);
  long none = stepped(NOTHING, 0, 0);
  static const struct { int what, role; } parts[] = {
      {MESSAGE, SENDS}, {MESSAGE, RECEIVES}, {BCAST, SENDS}, {BCAST, RECEIVES}, {SENDRECV, BOTH}, {ALLGATHER, BOTH}, {ALLREDUCE, BOTH}, {ALLTOALL, BOTH}, {REDUCE_LOCAL, ALONE}};
  static const char *roles[] = {"sends", "receives", "both", "alone"};
  static const int sizes[][2] = {{1024, 2048}, {20480, 24576}, {16, 80}};
  if (!rank) printf("# instructions of a rank's part in a call\n%-13s %-9s %6s %9s %6s %9s %9s\n", "# call", "part", "bytes", "", "bytes", "", "of 0");
  for (unsigned p = 0; p < sizeof parts / sizeof *parts; p++)
    for (unsigned s = 0; s < (parts[p].what == MESSAGE || parts[p].what == SENDRECV ? 3 : 1); s++) {
      double counts[2], all[2];
      for (int i = 0; i < 2; i++) {
        counts[i] = part(parts[p].what, parts[p].role, sizes[s][i]);
        if (parts[p].role != RECEIVES && !rank) counts[i] -= none;
      }
      MPI_Reduce(counts, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      if (!rank) {
        printf("%-13s %-9s %6d %9.0f %6d %9.0f %9.0f\n", names[parts[p].what], roles[parts[p].role], sizes[s][0], all[0], sizes[s][1], all[1], 2 * all[0] - all[1]);
        fflush(stdout);
      }
    }
  MPI_Finalize();
  return 0;
}
