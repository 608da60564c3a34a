// What MPI's collectives take with every algorithm that a library can be told, all in turn
// within one process, so that drift hits all alike:
//
//   mpirun -n P choices BATCHES LEAST MOST SETTINGS
//
// A line of the file SETTINGS is a collective (bcast, allgather, allreduce, reduce or
// alltoall), a name of the setting without blanks, and control variables of the library
// (MPI_T) with their values: numbers, or names of an enumeration.
//
//   bcast 3:8192 coll_tuned_bcast_algorithm=3 coll_tuned_bcast_algorithm_segmentsize=8192
//
// It writes a line for each batch, separated by tabs: collective, setting, P, m in bytes, the
// number of the batch, µs, the median of the batch, and what an empty message took just before
// and just after, in µs; batches of all settings of a size in random order.
// Sizes double from LEAST to MOST; they are those of a rank's block in allgather and alltoall,
// and reductions are sums of doubles. Every rank finishes before the clock is read, what
// nothing takes in the same way is subtracted, and what arrives is checked. Ranks rewrite
// what they send before each call, as programs do.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "clock.h"

#define AHEAD 20e-6 // s from the announcement of a start to the start
#define MOST_SETTINGS 512 // and nothing
#define MOST_VARIABLES 8

enum { NOTHING, BCAST, ALLGATHER, ALLREDUCE, REDUCE, ALLTOALL, KINDS };
static const char *kinds[] = {"", "bcast", "allgather", "allreduce", "reduce", "alltoall"};

struct variable {
  MPI_T_cvar_handle handle;
  int value, before;
};

static struct setting {
  int kind, variables;
  char name[128];
  struct variable of[MOST_VARIABLES];
  MPI_Comm comm;
} settings[MOST_SETTINGS + 1];

static int P, rank;
static char *from, *to;

static void fail(const char *why, const char *what) {
  if (!rank) fprintf(stderr, "choices: %s: %s\n", what, why);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

// find makes a handle of name=value.
static struct variable find(char *text) {
  struct variable v = {0};
  char *value = strchr(text, '='), *end;
  if (!value) fail("name=value is expected", text);
  *value++ = 0;
  int index, length = 0, verbosity, binding, scope, count;
  MPI_Datatype type;
  MPI_T_enum values;
  if (MPI_T_cvar_get_index(text, &index) != MPI_SUCCESS) fail("the library has no such variable", text);
  MPI_T_cvar_get_info(index, 0, &length, &verbosity, &type, &values, 0, &length, &binding, &scope);
  if (type != MPI_INT && type != MPI_UNSIGNED) fail("it is no integer", text);
  MPI_T_cvar_handle_alloc(index, 0, &v.handle, &count);
  MPI_T_cvar_read(v.handle, &v.before);
  v.value = strtol(value, &end, 10);
  if (*end) {
    int items = 0, found = 0;
    char name[256];
    if (values != MPI_T_ENUM_NULL) MPI_T_enum_get_info(values, &items, name, (length = sizeof name, &length));
    for (int i = 0; i < items && !found; i++) {
      length = sizeof name;
      MPI_T_enum_get_item(values, i, &v.value, name, &length);
      found = !strcmp(name, value);
    }
    if (!found) fail("the variable has no such value", value);
  }
  return v;
}

static void set(struct setting *s, int back) {
  for (int i = 0; i < s->variables; i++) {
    struct variable *v = &s->of[i];
    if (MPI_T_cvar_write(v->handle, back ? &v->before : &v->value) != MPI_SUCCESS) fail("a variable cannot be set", s->name);
  }
}

// read_settings makes a communicator for each: some libraries look variables up when one
// is made, others with every call.
static int read_settings(const char *file) {
  FILE *f = fopen(file, "r");
  char line[1024];
  int n = 0;
  if (!f) fail("it cannot be read", file);
  while (fgets(line, sizeof line, f)) {
    char *word = strtok(line, " \t\n");
    if (!word || *word == '#') continue;
    if (n == MOST_SETTINGS) fail("there are too many settings", file);
    struct setting *s = &settings[n++];
    for (int k = 1; k < KINDS; k++)
      if (!strcmp(word, kinds[k])) s->kind = k;
    if (!s->kind) fail("is no collective that is timed here", word);
    if (!(word = strtok(0, " \t\n"))) fail("a setting has no name", file);
    snprintf(s->name, sizeof s->name, "%s", word);
    while ((word = strtok(0, " \t\n"))) {
      if (s->variables == MOST_VARIABLES) fail("there are too many variables", s->name);
      s->of[s->variables++] = find(word);
    }
    set(s, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
    set(s, 1);
  }
  fclose(f);
  return n;
}

static void carry(int kind, int m, MPI_Comm comm) {
  switch (kind) {
  case BCAST: MPI_Bcast(rank ? to : from, m, MPI_BYTE, 0, comm); break;
  case ALLGATHER: MPI_Allgather(from, m, MPI_BYTE, to, m, MPI_BYTE, comm); break;
  case ALLREDUCE: MPI_Allreduce(from, to, m / 8, MPI_DOUBLE, MPI_SUM, comm); break;
  case REDUCE: MPI_Reduce(from, to, m / 8, MPI_DOUBLE, MPI_SUM, 0, comm); break;
  case ALLTOALL: MPI_Alltoall(from, m, MPI_BYTE, to, m, MPI_BYTE, comm); break;
  }
}

// check ends the program if a rank receives what nobody sent: doubles of rank r are r+1.
static void check(struct setting *s, int m) {
  double *mine = (double *)to;
  int blocks = s->kind == ALLGATHER || s->kind == ALLTOALL ? P : 1;
  if ((s->kind == BCAST && !rank) || (s->kind == REDUCE && rank)) blocks = 0;
  memset(to, 0, (size_t)m * P);
  set(s, 0);
  carry(s->kind, m, s->comm);
  set(s, 1);
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < m / 8; i++) {
      double want = s->kind == BCAST ? 1 : s->kind == ALLREDUCE || s->kind == REDUCE ? P * (P + 1) / 2 : b + 1;
      if (mine[(size_t)b * (m / 8) + i] != want) {
        fprintf(stderr, "choices: %s %s, rank %d: wrong data of %d bytes\n", kinds[s->kind], s->name, rank, m);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
}

// rewrite writes what a rank sends.
static void rewrite(size_t bytes) {
  for (size_t i = 0; i < bytes / 8; i++) ((volatile double *)from)[i] = rank + 1;
}

// once is the time of a collective among all ranks, in s, known to rank 0.
static double once(int kind, int m, MPI_Comm comm) {
  for (int tries = 0; tries < 1000; tries++) {
    double start = 0, mine[2], all[2];
    rewrite(kind == ALLTOALL ? (size_t)m * P : m);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank) start = now() + AHEAD;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    mine[1] = now() > start;
    while (now() < start) {
    }
    carry(kind, m, comm);
    mine[0] = now() - start;
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (!all[1]) return all[0];
  }
  fail("ranks do not run at the same time: give each a core of its own", "clock");
  return 0;
}

struct batch {
  double time, before, after; // s
};

// batch has the median of some.
static struct batch batch(struct setting *s, int m) {
  double t[32];
  struct batch b = {.before = look(P, rank)};
  int n = m >> 20 ? 5 : m >> 17 ? 9 : m >> 14 ? 15 : 31;
  set(s, 0);
  for (int i = -1; i < n; i++) t[i < 0 ? 0 : i] = once(s->kind, m, s->comm);
  set(s, 1);
  b.time = median(t, n);
  b.after = look(P, rank);
  return b;
}

int main(int argc, char **argv) {
  int threads;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &threads);
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int batches = argc == 5 ? atoi(argv[1]) : 0, least = argc == 5 ? atoi(argv[2]) : 0, most = argc == 5 ? atoi(argv[3]) : 0;
  if (batches < 1 || least < 8 || least % 8 || most < least || P < 2) {
    if (!rank) fprintf(stderr, "usage: mpirun -n P choices BATCHES LEAST MOST SETTINGS, with two ranks or more, sizes that 8 divides\n");
    MPI_Finalize();
    return 2;
  }
  int n = read_settings(argv[4]);
  size_t room = (size_t)most * P;
  from = malloc(room);
  to = malloc(room);
  memset(to, 0, room);
  rewrite(room);
  settings[n] = (struct setting){.kind = NOTHING, .comm = MPI_COMM_WORLD};
  struct batch (*times)[64] = malloc((n + 1) * sizeof *times);
  int *order = malloc((n + 1) * sizeof *order);
  if (batches > 64) batches = 64;
  unsigned seed = now() * 1e6; // another one with each run: what a batch takes may depend on those before it
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  srand(seed);
  for (int m = least; m <= most; m *= 2) {
    for (int i = 0; i < n; i++) check(&settings[i], m);
    for (int b = 0; b < batches; b++) {
      for (int i = 0; i <= n; i++) { // a random order, the same on all ranks
        int j = rand() % (i + 1);
        order[i] = order[j];
        order[j] = i;
      }
      for (int i = 0; i <= n; i++) times[order[i]][b] = batch(&settings[order[i]], settings[order[i]].kind == NOTHING ? 0 : m);
    }
    double nothing[64];
    for (int b = 0; b < batches; b++) nothing[b] = times[n][b].time;
    double none = median(nothing, batches);
    for (int i = 0; i < n && !rank; i++)
      for (int b = 0; b < batches; b++) {
        struct batch *t = &times[i][b];
        printf("%s\t%s\t%d\t%d\t%d\t%.3f\t%.4f\t%.4f\n", kinds[settings[i].kind], settings[i].name, P, m, b,
               (t->time - none) * 1e6, t->before * 1e6, t->after * 1e6);
      }
    fflush(stdout);
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
