// Prints the present one-way time of a flag between CPUs 0 and 1 in µs: the median of LOOKS short
// series of round trips. The host of a virtual machine may move its CPUs: measurements are
// comparable where the looks before, between and after them agree.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOKS 9
#define TRIPS 200

static struct {
  _Alignas(128) atomic_int n;
} flag[2];

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set)) exit(1);
}

static void answer(int me, int first) {
  for (int i = first; i < first + TRIPS; i++) {
    if (me) while (atomic_load_explicit(&flag[0].n, memory_order_acquire) < i);
    atomic_store_explicit(&flag[me].n, i, memory_order_release);
    if (!me) while (atomic_load_explicit(&flag[1].n, memory_order_acquire) < i);
  }
}

static void *partner(void *none) {
  pin(1);
  for (int look = 0; look <= LOOKS; look++) answer(1, 1 + look * TRIPS);
  return none;
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(void) {
  pthread_t thread;
  double us[LOOKS];
  pin(0);
  if (pthread_create(&thread, 0, partner, 0)) return 1;
  answer(0, 1); // until both run
  for (int look = 0; look < LOOKS; look++) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    answer(0, 1 + (look + 1) * TRIPS);
    clock_gettime(CLOCK_MONOTONIC, &to);
    us[look] = ((to.tv_sec - from.tv_sec) * 1e6 + (to.tv_nsec - from.tv_nsec) / 1e3) / (2 * TRIPS);
  }
  pthread_join(thread, 0);
  qsort(us, LOOKS, sizeof *us, rising);
  printf("%.4f\n", us[LOOKS / 2]);
}
