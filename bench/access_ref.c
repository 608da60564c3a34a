// The passes of taulop access in C, for bench/access.sh: STREAM-like loops over n
// elements at a stride, the same array again and again or the next of an arena.
//
//   access_ref OPERATION TYPE BYTES STRIDE CPU ARENA_BYTES   (0: in cache)
//
// prints the median time of a pass over some trials, in ns.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static volatile double sink;

// Constant strides let the compiler vectorise stride 1.
#define LOOPS(T)                                                                                      \
  static double read_##T(T *a, long n, long s) {                                                      \
    T t = 0;                                                                                          \
    if (s == 1) for (long i = 0; i < n; i++) t += a[i];                                               \
    else for (long i = 0; i < n; i++) t += a[i * s];                                                  \
    return t;                                                                                         \
  }                                                                                                   \
  static double write_##T(T *a, long n, long s) {                                                     \
    if (s == 1) for (long i = 0; i < n; i++) a[i] = (T)4093;                                          \
    else for (long i = 0; i < n; i++) a[i * s] = (T)4093;                                             \
    return 0;                                                                                         \
  }                                                                                                   \
  static double multiply_##T(T *a, long n, long s) {                                                  \
    static volatile T minus = -1;                                                                     \
    T x = minus;                                                                                      \
    if (s == 1) for (long i = 0; i < n; i++) a[i] *= x;                                               \
    else for (long i = 0; i < n; i++) a[i * s] *= x;                                                  \
    return 0;                                                                                         \
  }                                                                                                   \
  static double divide_##T(T *a, long n, long s) {                                                    \
    static volatile T product = 4087 * 4093;                                                          \
    T x = product;                                                                                    \
    if (s == 1) for (long i = 0; i < n; i++) a[i] = x / a[i];                                         \
    else for (long i = 0; i < n; i++) a[i * s] = x / a[i * s];                                        \
    return 0;                                                                                         \
  }                                                                                                   \
  static void lay_##T(void *mem, long bytes) {                                                        \
    T *a = mem;                                                                                       \
    for (long i = 0; i < bytes / (long)sizeof(T); i++) a[i] = (T)4087;                                \
  }
typedef int32_t int32;
typedef float float32;
typedef double float64;
LOOPS(int32)
LOOPS(float32)
LOOPS(float64)

typedef double (*loop)(void *, long, long);
#define ROW(T) {(loop)read_##T, (loop)write_##T, (loop)multiply_##T, (loop)divide_##T}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static int rising(const void *a, const void *b) {
  double x = *(double *)a, y = *(double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static const char *operations[] = {"read", "write", "multiply", "divide"}, *types[] = {"int32", "float32", "float64"};
  static loop loops[3][4] = {ROW(int32), ROW(float32), ROW(float64)};
  static void (*lay[3])(void *, long) = {lay_int32, lay_float32, lay_float64};
  if (argc != 7) return 2;
  int o = 0, t = 0;
  while (strcmp(operations[o], argv[1])) if (++o == 4) return 2;
  while (strcmp(types[t], argv[2])) if (++t == 3) return 2;
  long bytes = atol(argv[3]), stride = atol(argv[4]), arena = atol(argv[6]), size = t == 2 ? 8 : 4;
  long n = bytes / size / stride, all = arena > bytes ? arena : bytes, step = (bytes + 63) / 64 * 64;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(argv[5]), &set);
  if (sched_setaffinity(0, sizeof set, &set)) return 1;
  loop run = loops[t][o];
  enum { trials = 15 };
  double times[trials];
  char *mem = 0;
  long at = 0, passes = 1;
  for (int trial = -1; trial < trials; trial++) {
    if (!mem) {
      mem = mmap(0, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mem == MAP_FAILED) return 1;
      lay[t](mem, all);
    }
    for (;;) { // warms up, and once finds how many passes last 0.5 ms
      double begin = now(), found = 0, took;
      for (long p = 0; p < passes; p++) {
        if (at + bytes > all) at = 0;
        found += run((void *)(mem + at), n, stride);
        if (arena) at += step;
      }
      sink = found;
      took = now() - begin;
      if (trial >= 0 || took >= 5e5) break;
      passes *= 2;
    }
    double begin = now(), found = 0;
    for (long p = 0; p < passes; p++) {
      if (at + bytes > all) at = 0;
      found += run((void *)(mem + at), n, stride);
      if (arena) at += step;
    }
    sink = found;
    if (trial >= 0) times[trial] = (now() - begin) / passes;
    if (!arena) {
      munmap(mem, all);
      mem = 0;
    }
  }
  qsort(times, trials, sizeof *times, rising);
  printf("%.1f\n", times[trials / 2]);
}
