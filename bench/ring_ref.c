// The ring of taulop in C, as the yardstick for disturbances: two threads on
// CPUs 0 and 1 pass segments of S bytes through buffers of two segments.
//   ring_ref S SECONDS   median ns of a transfer, batches, and those of them
//                        that took more than 1.5 times the median
// Batches last about 0.5 ms and the threads sleep between trials of three, as
// taulop's workers do.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define SEGMENTS 2
#define BATCHES 3
#define MOST 100000

struct flag {
  _Alignas(128) _Atomic unsigned long n;
};
struct channel {
  struct flag filled, emptied;
  char *data;
};

static struct channel channel[2];
static struct flag arrived[2];
static size_t size;
static long messages;
static double times[MOST];
static int batches;
static pthread_barrier_t trial;
static volatile int over;
static double began[BATCHES], ended[2][BATCHES];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static void await(struct flag *f, unsigned long n) {
  while (atomic_load_explicit(&f->n, memory_order_acquire) < n) {
  }
}

static void set(struct flag *f, unsigned long n) {
  atomic_store_explicit(&f->n, n, memory_order_release);
}

static char *map(size_t n) {
  char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) abort();
  return p;
}

static void *worker(void *arg) {
  long id = (long)arg;
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET(id, &cpu);
  if (pthread_setaffinity_np(pthread_self(), sizeof cpu, &cpu)) abort();
  struct channel *out = &channel[id], *in = &channel[1 - id];
  char *user = map(size + 1);
  memset(user, id + 1, size);
  unsigned long sent = 0, received = 0, round = 0;
  for (;;) {
    pthread_barrier_wait(&trial);
    if (over) return 0;
    for (int b = 0; b < BATCHES; b++) {
      set(&arrived[id], ++round);
      await(&arrived[1 - id], round);
      if (!id) began[b] = now();
      for (long i = 0; i < messages; i++) {
        if (sent >= SEGMENTS) await(&out->emptied, sent - SEGMENTS + 1);
        memcpy(out->data + sent % SEGMENTS * size, user, size);
        set(&out->filled, ++sent);
        await(&in->filled, received + 1);
        memcpy(user, in->data + received % SEGMENTS * size, size);
        set(&in->emptied, ++received);
      }
      ended[id][b] = now();
    }
    pthread_barrier_wait(&trial);
  }
}

static void run(void) {
  pthread_barrier_wait(&trial);
  pthread_barrier_wait(&trial);
}

static int less(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double longest(int b) {
  return (ended[0][b] > ended[1][b] ? ended[0][b] : ended[1][b]) - began[b];
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  size = strtoul(argv[1], 0, 0);
  double seconds = atof(argv[2]);
  pthread_t threads[2];
  pthread_barrier_init(&trial, 0, 3);
  for (long id = 0; id < 2; id++) channel[id].data = map(SEGMENTS * size + 1);
  for (long id = 0; id < 2; id++) pthread_create(&threads[id], 0, worker, (void *)id);
  messages = 1000;
  run();
  double least = longest(0); // a batch that was disturbed would set all too short
  for (int b = 1; b < BATCHES; b++)
    if (longest(b) < least) least = longest(b);
  messages = messages * 0.5e6 / least + 1;
  for (double end = now() + seconds * 1e9; now() < end && batches + BATCHES <= MOST;) {
    run();
    for (int b = 0; b < BATCHES; b++) times[batches++] = longest(b) / messages / 2;
  }
  over = 1;
  pthread_barrier_wait(&trial);
  qsort(times, batches, sizeof *times, less);
  int slow = 0;
  for (int i = 0; i < batches; i++) slow += times[i] > 1.5 * times[batches / 2];
  printf("%.1f\t%d\t%d\n", times[batches / 2], batches, slow);
}
