// What an MPI library's collectives take with settings that it is told, in turn within one process.
// taulop tune -plan writes this program, its work and the job that runs it.
//
//   mpirun -n P timing WORK RESULT SECONDS [crashed]
//
// A line of WORK is a collective, the name of a setting, m in bytes, and control variables of the
// library (MPI_T) with their values: numbers, or names. Lines of one collective and m follow each
// other; their settings are timed in turn, in random order, so that what drifts hits all.
//
//   bcast 3:0:8192 65536 coll_tuned_bcast_algorithm=3 coll_tuned_bcast_algorithm_segmentsize=8192
//
// To RESULT it adds, separated by tabs, try, collective, setting, m before each, and then time,
// collective, setting, P, m, µs: the median of a batch, from a common start to the last rank's end.
// What RESULT has is not timed again, nor what crashed twice: a process that is started as the next one of
// one that crashed writes crash, collective, setting, m. After SECONDS it stops; "done" ends a result
// that is whole.
#include "clock.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCH 60    // s that a batch may take
#define MOST_LINES 65536
#define MOST_SETTINGS 1024
#define MOST_VARIABLES 6
#define FAILS 2
#define MOST_NAMES 256

static const char *kinds[] = {"nothing", "barrier", "bcast", "gather", "scatter", "allgather", "allreduce", "reduce", "alltoall"};
enum { NOTHING, BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, ALLREDUCE, REDUCE, ALLTOALL, KINDS };

struct variable {
  MPI_T_cvar_handle handle;
  int value, before;
};

// Values that the library has for names of which MPI_T does not tell it, before it is started.
static struct name {
  char text[128]; // NAME=value
  int value, known;
} names[MOST_NAMES];
static int named;

static struct setting {
  char text[512]; // of its variables
  int variables;
  struct variable of[MOST_VARIABLES];
  MPI_Comm comm;
} settings[MOST_SETTINGS];

static struct line {
  int kind, m, setting, crashes, done;
  char name[96];
} lines[MOST_LINES];

static int count, known;
static char *from, *to;
static FILE *result;

static void fail(const char *why, const char *what) {
  if (!rank) fprintf(stderr, "timing: %s: %s\n", what, why);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

// as_started is the value that a variable of integers has in a process that starts with NAME=value in
// its environment: MPICH gives names numbers that differ between versions. MPI is not started yet.
static int as_started(const char *text, int *value) {
  char name[128];
  int ends[2], there;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
  if (pipe(ends)) return 0;
  pid_t child = fork();
  if (!child) {
    int threads, index, n, of[64] = {0};
    MPI_T_cvar_handle handle;
    setenv(name, strchr(text, '=') + 1, 1);
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &threads) == MPI_SUCCESS && MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, 0, &handle, &n) == MPI_SUCCESS && n == 1 && MPI_T_cvar_read(handle, of) == MPI_SUCCESS)
      n = write(ends[1], of, sizeof *of);
    _exit(0);
  }
  close(ends[1]);
  there = child > 0 && read(ends[0], value, sizeof *value) == sizeof *value;
  close(ends[0]);
  if (child > 0) waitpid(child, 0, 0);
  return there;
}

// read_names asks for the names in a file of work that are no numbers, of MPICH's variables.
static void read_names(const char *file) {
  FILE *f = fopen(file, "r");
  char text[1024];
  while (f && fgets(text, sizeof text, f))
    for (char *word = strtok(text, " \t\n"); word; word = strtok(0, " \t\n")) {
      int i = 0;
      if (strncmp(word, "MPIR_CVAR_", 10) || !strchr(word, '=') || strspn(strchr(word, '=') + 1, "0123456789") == strlen(strchr(word, '=') + 1)) continue;
      while (i < named && strcmp(names[i].text, word)) i++;
      if (i < named || named == MOST_NAMES || strlen(word) >= sizeof names->text) continue;
      strcpy(names[named].text, word);
      names[named].known = as_started(word, &names[named].value);
      named++;
    }
  if (f) fclose(f);
}

// find makes a handle of name=value.
static struct variable find(char *text) {
  struct variable v = {0};
  char *value = strchr(text, '='), *end;
  struct name *as = names;
  if (!value) fail("name=value is expected", text);
  while (as < names + named && strcmp(as->text, text)) as++;
  *value++ = 0;
  int index, length = 0, verbosity, binding, scope, n;
  MPI_Datatype type;
  MPI_T_enum values;
  if (MPI_T_cvar_get_index(text, &index) != MPI_SUCCESS) fail("the library has no such variable", text);
  MPI_T_cvar_get_info(index, 0, &length, &verbosity, &type, &values, 0, &length, &binding, &scope);
  if (type != MPI_INT && type != MPI_UNSIGNED) fail("it is no integer", text);
  MPI_T_cvar_handle_alloc(index, 0, &v.handle, &n);
  MPI_T_cvar_read(v.handle, &v.before);
  v.value = strtol(value, &end, 10);
  if (as < names + named) {
    if (!as->known) fail("the variable has no such value", value);
    v.value = as->value;
  } else if (*end) {
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
  for (int i = 0; i < s->variables; i++)
    if (MPI_T_cvar_write(s->of[i].handle, back ? &s->of[i].before : &s->of[i].value) != MPI_SUCCESS) fail("a variable cannot be set", s->text);
}

// setting is that of variables, with a communicator of its own: some libraries look variables up
// when one is made, others with every call.
static int setting(char *text) {
  int i = 0;
  while (i < known && strcmp(settings[i].text, text)) i++;
  if (i < known) return i;
  if (known == MOST_SETTINGS) fail("there are too many settings", text);
  struct setting *s = &settings[known++];
  snprintf(s->text, sizeof s->text, "%s", text);
  for (char *word = strtok(text, " \t\n"); word; word = strtok(0, " \t\n")) {
    if (s->variables == MOST_VARIABLES) fail("there are too many variables", s->text);
    s->of[s->variables++] = find(word);
  }
  set(s, 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
  set(s, 1);
  return i;
}

static int kind(const char *word) {
  for (int k = 1; k < KINDS; k++)
    if (!strcmp(word, kinds[k])) return k;
  return 0;
}

static size_t read_work(const char *file) {
  FILE *f = fopen(file, "r");
  char text[1024], of[32];
  size_t most = 8;
  if (!f) fail("it cannot be read", file);
  while (fgets(text, sizeof text, f)) {
    struct line *l = &lines[count];
    int at = 0;
    if (count == MOST_LINES) fail("there are too many lines", file);
    if (sscanf(text, "%31s %95s %d%n", of, l->name, &l->m, &at) != 3 || !(l->kind = kind(of)) || l->m < 0) fail("is no line of work", text);
    l->setting = setting(text + at + strspn(text + at, " \t\n"));
    if (l->m > most) most = l->m;
    count++;
  }
  fclose(f);
  return most;
}

// resume goes on with a result. What was cut off is taken away: half of a number is one, too. A process that
// ended before its job did crashed in what it tried last.
static void resume(const char *file, int crashed) {
  FILE *f = fopen(file, "r");
  char text[1024], what[16], of[32], name[96];
  struct line *tried = 0;
  long whole = 0;
  int m, p;
  while (f && fgets(text, sizeof text, f) && strchr(text, '\n')) {
    whole = ftell(f);
    int timed = sscanf(text, "%15s %31s %95s %d %d", what, of, name, &p, &m) == 5 && !strcmp(what, "time");
    if (!timed && (sscanf(text, "%15s %31s %95s %d", what, of, name, &m) != 4 || (strcmp(what, "try") && strcmp(what, "crash")))) continue;
    for (struct line *l = lines; l < lines + count; l++)
      if (l->m == m && l->kind == kind(of) && !strcmp(l->name, name)) {
        tried = *what == 't' && !timed ? l : 0;
        l->done += timed;
        l->crashes += *what == 'c';
      }
  }
  if (f) fclose(f);
  if (!(result = fopen(file, "a")) || ftruncate(fileno(result), whole)) fail("it cannot be written", file);
  if (!crashed || !tried) return;
  tried->crashes++;
  fprintf(result, "crash\t%s\t%s\t%d\n", kinds[tried->kind], tried->name, tried->m);
}

static void carry(int kind, size_t m, MPI_Comm comm) {
  MPI_Datatype number = m % 8 ? m % 4 ? MPI_SIGNED_CHAR : MPI_INT : MPI_DOUBLE;
  int n = m % 8 ? m % 4 ? m : m / 4 : m / 8;
  switch (kind) {
  case BARRIER: MPI_Barrier(comm); break;
  case BCAST: MPI_Bcast(rank ? to : from, m, MPI_BYTE, 0, comm); break;
  case GATHER: MPI_Gather(from, m, MPI_BYTE, to, m, MPI_BYTE, 0, comm); break;
  case SCATTER: MPI_Scatter(from, m, MPI_BYTE, to, m, MPI_BYTE, 0, comm); break;
  case ALLGATHER: MPI_Allgather(from, m, MPI_BYTE, to, m, MPI_BYTE, comm); break;
  case ALLREDUCE: MPI_Allreduce(from, to, n, number, MPI_SUM, comm); break;
  case REDUCE: MPI_Reduce(from, to, n, number, MPI_SUM, 0, comm); break;
  case ALLTOALL: MPI_Alltoall(from, m, MPI_BYTE, to, m, MPI_BYTE, comm); break;
  }
}

// prepare writes what a rank sends, as programs do before each call: doubles of rank r are r+1.
static void prepare(int kind, size_t m) {
  size_t bytes = m * (kind == ALLTOALL || kind == SCATTER ? P : 1);
  for (size_t i = 0; i < (bytes + 7) / 8; i++) ((volatile double *)from)[i] = rank + 1;
}

// check ends the program if a rank receives what nobody sent; of sizes that doubles fill.
static void check(struct line *l) {
  double *mine = (double *)to;
  int k = l->kind, m = l->m, blocks = k == ALLGATHER || k == ALLTOALL || k == GATHER ? P : 1;
  if (m % 8 || k == BARRIER || (!rank && (k == BCAST)) || (rank && (k == REDUCE || k == GATHER))) blocks = 0;
  prepare(k, m);
  memset(to, 0, (size_t)(m + 8) * P);
  carry(k, m, settings[l->setting].comm);
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < m / 8; i++) {
      double want = k == BCAST || k == SCATTER ? 1 : k == ALLREDUCE || k == REDUCE ? P * (P + 1) / 2 : b + 1;
      if (mine[(size_t)b * (m / 8) + i] != want) {
        fprintf(stderr, "timing: %s %s, rank %d: wrong data of %d bytes\n", kinds[k], l->name, rank, m);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
}

// batch is the median of some. The first hundred messages of a size are slow, and say nothing of a
// program that goes on: UCX has a receiver's buffers mapped by them, page by page, and MPICH over
// libfabric starts to use shared memory.
static double batch(int kind, int m, MPI_Comm comm) {
  double t[32];
  int n = m >> 20 ? 5 : m >> 17 ? 9 : m >> 14 ? 15 : 31, warm = m >> 13 ? (1 << 20) / m + 1 : 129;
  for (int i = 0; i < warm; i++) carry(kind, m, comm);
  for (int i = -1; i < n; i++) t[i < 0 ? 0 : i] = once(kind, m, comm);
  return median(t, n);
}

// head says who times: the library, the machine, and how many ranks on how many nodes.
static void head(void) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING], host[MPI_MAX_PROCESSOR_NAME], text[512] = "", *model;
  int length, leader, nodes;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &leader);
  leader = !leader;
  MPI_Allreduce(&leader, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&node);
  several = nodes > 1;
  if (rank) return;
  MPI_Get_library_version(library, &length);
  MPI_Get_processor_name(host, &length);
  library[strcspn(library, "\n,")] = 0;
  for (char *c = library; *c; c++)
    if (*c == '\t') *c = ' ';
  FILE *f = fopen("/proc/cpuinfo", "r");
  while (f && fgets(text, sizeof text, f) && strncmp(text, "model name", 10)) *text = 0;
  if (f) fclose(f);
  model = strchr(text, ':');
  model = model ? model + 1 + strspn(model + 1, " \t") : "unknown";
  model[strcspn(model, "\n")] = 0;
  fprintf(result, "head\t%d\t%d\t%s\t%s\t%s\n", P, nodes, host, model, library);
  fflush(result);
}

int main(int argc, char **argv) {
  int threads;
  double begun = now();
  if (argc > 1) read_names(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &threads);
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4 || argc > 5 || P < 2) fail("usage: mpirun -n P timing WORK RESULT SECONDS [crashed], with two ranks or more", "arguments");
  size_t room = (read_work(argv[1]) + 8) * P;
  from = malloc(room);
  to = malloc(room);
  memset(to, 0, room);
  void *volatile large = malloc((32 << 20) - (64 << 10));
  free(large); // from now on the heap keeps what is freed, as after any large block
  prepare(NOTHING, room - 8);
  if (!rank) resume(argv[2], argc == 5);
  head();
  MPI_Bcast(lines, sizeof lines, MPI_BYTE, 0, MPI_COMM_WORLD);
  unsigned seed = now() * 1e6;
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  srand(seed);
  double none = batch(NOTHING, 0, MPI_COMM_WORLD);
  int stop = 0;
  for (int first = 0, next; first < count && !stop; first = next) {
    int order[MOST_SETTINGS], n = 0;
    for (next = first; next < count && n < MOST_SETTINGS && lines[next].kind == lines[first].kind && lines[next].m == lines[first].m; next++) {
      int j = rand() % (n + 1); // a random order, the same on all ranks
      order[n] = order[j];
      order[j] = next;
      n++;
    }
    for (int i = 0; i < n && !stop; i++) {
      struct line *l = &lines[order[i]];
      if (l->done || l->crashes >= FAILS) continue;
      stop = now() - begun > atof(argv[3]);
      MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (stop) break;
      if (!rank) fprintf(result, "try\t%s\t%s\t%d\n", kinds[l->kind], l->name, l->m), fflush(result);
      alarm(WATCH);
      set(&settings[l->setting], 0);
      check(l);
      double t = batch(l->kind, l->m, settings[l->setting].comm);
      set(&settings[l->setting], 1);
      alarm(0);
      if (!rank) fprintf(result, "time\t%s\t%s\t%d\t%d\t%.4f\n", kinds[l->kind], l->name, P, l->m, (t - none) * 1e6), fflush(result);
    }
  }
  if (!rank && !stop) fprintf(result, "done\n");
  if (!rank) fclose(result);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
