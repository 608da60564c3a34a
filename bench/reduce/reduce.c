// The loops of package reduce in C, for bench/reduce.sh.
//
//   reduce BYTES MS OPERATOR…
//
// prints the median time of each reduction of vectors of so many bytes, in ns, over
// batches of 4 MB and MS milliseconds. inout is first in MAX and MIN, as in Open MPI.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LOOP(name, T, result)                                                                             \
  __attribute__((noinline)) static void name(void *restrict inout, const void *restrict in, size_t bytes) { \
    T *restrict a = inout;                                                                                \
    const T *restrict b = in;                                                                             \
    for (size_t i = 0; i < bytes / sizeof(T); i++) a[i] = result;                                         \
  }
#define NUMBERS(letter, T)                            \
  LOOP(MAX_##letter, T, a[i] > b[i] ? a[i] : b[i])    \
  LOOP(MIN_##letter, T, a[i] < b[i] ? a[i] : b[i])    \
  LOOP(SUM_##letter, T, a[i] + b[i])                  \
  LOOP(PROD_##letter, T, a[i] * b[i])
#define INTEGERS(letter, T)                           \
  NUMBERS(letter, T)                                  \
  LOOP(LAND_##letter, T, a[i] && b[i])                \
  LOOP(LOR_##letter, T, a[i] || b[i])                 \
  LOOP(LXOR_##letter, T, !a[i] != !b[i])              \
  LOOP(BAND_##letter, T, a[i] & b[i])                 \
  LOOP(BOR_##letter, T, a[i] | b[i])                  \
  LOOP(BXOR_##letter, T, a[i] ^ b[i])
INTEGERS(I, int32_t)
INTEGERS(L, int64_t)
NUMBERS(F, float)
NUMBERS(R, double)

#define ROW4(letter) {"MAX_" #letter, MAX_##letter}, {"MIN_" #letter, MIN_##letter}, {"SUM_" #letter, SUM_##letter}, {"PROD_" #letter, PROD_##letter}
#define ROW10(letter) ROW4(letter), {"LAND_" #letter, LAND_##letter}, {"LOR_" #letter, LOR_##letter}, {"LXOR_" #letter, LXOR_##letter}, \
                      {"BAND_" #letter, BAND_##letter}, {"BOR_" #letter, BOR_##letter}, {"BXOR_" #letter, BXOR_##letter}
static const struct {
  const char *name;
  void (*loop)(void *restrict, const void *restrict, size_t);
} loops[] = {ROW10(I), ROW10(L), ROW4(F), ROW4(R)};

static void *map(size_t bytes) {
  const size_t huge = 2 << 20;
  char *p = mmap(0, bytes + 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) exit(1);
  madvise(p, bytes + 2 * huge, MADV_HUGEPAGE);
  return p + -(uintptr_t)p % huge;
}

// lay fills memory with ones.
static void lay(char *mem, size_t bytes, char letter) {
  switch (letter) {
  case 'I': *(int32_t *)mem = 1; break;
  case 'L': *(int64_t *)mem = 1; break;
  case 'F': *(float *)mem = 1; break;
  case 'R': *(double *)mem = 1; break;
  }
  size_t n = letter == 'I' || letter == 'F' ? 4 : 8;
  for (; n < bytes; n *= 2) memcpy(mem + n, mem, n < bytes - n ? n : bytes - n);
}

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
  if (argc < 4) return 2;
  size_t bytes = atol(argv[1]), calls = bytes < 4 << 20 ? (4 << 20) / bytes : 1;
  void *in = map(bytes), *inout = map(bytes);
  for (int a = 3; a < argc; a++) {
    size_t k = 0;
    while (k < sizeof loops / sizeof *loops && strcmp(loops[k].name, argv[a])) k++;
    if (k == sizeof loops / sizeof *loops) return 2;
    lay(in, bytes, strchr(argv[a], '_')[1]);
    lay(inout, bytes, strchr(argv[a], '_')[1]);
    static double times[1 << 16];
    int n = 0;
    double end = now() + atof(argv[2]) * 1e6;
    do {
      double begin = now();
      for (size_t c = 0; c < calls; c++) loops[k].loop(inout, in, bytes);
      times[n++] = (now() - begin) / calls;
    } while (now() < end && n < 1 << 16);
    qsort(times, n, sizeof *times, rising);
    printf("%s %.1f\n", argv[a], times[n / 2]);
  }
}
