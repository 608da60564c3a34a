// A copy between levels of the memory in C, as the yardstick of taulop copy: one
// thread on CPU 0 copies M bytes, message after message, from FROM bytes to TO bytes
// and round again.
//   level_ref M FROM TO   median ns of a copy, over 8 trials of fresh memory
// Each trial walks twice round what is no larger than 64 MB, then times three
// batches of about 0.5 ms and takes their median.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TRIALS 8
#define BATCHES 3
#define KEPT (64ul << 20)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct room {
  char *mem;
  size_t bytes, at;
};

static void map(struct room *r) {
  r->mem = mmap(0, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (r->mem == MAP_FAILED) exit(1);
  memset(r->mem, 1, r->bytes);
  r->at = 0;
}

static void copies(struct room *from, struct room *to, size_t m, long n) {
  size_t stride = (m + 63) / 64 * 64;
  for (long i = 0; i < n; i++) {
    memcpy(to->mem + to->at, from->mem + from->at, m);
    __asm__ volatile("" ::: "memory");
    if ((from->at += stride) + stride > from->bytes) from->at = 0;
    if ((to->at += stride) + stride > to->bytes) to->at = 0;
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET(0, &cpu);
  if (sched_setaffinity(0, sizeof cpu, &cpu)) return 1;
  size_t m = strtoul(argv[1], 0, 0);
  struct room from = {.bytes = strtoul(argv[2], 0, 0)}, to = {.bytes = strtoul(argv[3], 0, 0)};
  long n = 5e5 / (10 + m / 10.0) + 1;
  double trial[TRIALS];
  for (int t = 0; t < TRIALS; t++) {
    struct room *rooms[] = {&from, &to};
    long warm = 3;
    for (int i = 0; i < 2; i++) {
      if (t && rooms[i]->bytes <= KEPT) munmap(rooms[i]->mem, rooms[i]->bytes);
      if (!t || rooms[i]->bytes <= KEPT) map(rooms[i]);
      long round = 2 * (rooms[i]->bytes / m);
      if (rooms[i]->bytes <= KEPT && round > warm) warm = round;
    }
    copies(&from, &to, m, warm);
    double batch[BATCHES];
    for (int b = 0; b < BATCHES; b++) {
      double began = now();
      copies(&from, &to, m, n);
      batch[b] = (now() - began) / n;
    }
    qsort(batch, BATCHES, sizeof *batch, rising);
    trial[t] = batch[BATCHES / 2];
  }
  qsort(trial, TRIALS, sizeof *trial, rising);
  printf("%.2f\n", (trial[TRIALS / 2 - 1] + trial[TRIALS / 2]) / 2);
  return 0;
}
