// Counts the messages and bytes that each rank sends in a collective, by setting of a library:
//
//   mpirun -n P sent WORK
//
// A line of WORK is one of internal/plan/job/timing.c, which has the most of this program. For each it
// prints collective, setting, m, and of each rank messages:bytes. This program stands in front of UCX, which
// carries Debian's MPICH, and Open MPI with pml=ucx: it is to be linked with -rdynamic. With -DWRAP it is to
// be linked with a static MPICH of any device, and counts what its algorithms send: -Wl,--wrap=MPIC_Send,
// and so on for all below.
#define _GNU_SOURCE
#define main timed
#include "../../internal/plan/job/timing.c"
#undef main
#include <dlfcn.h>
#include <stdint.h>

static unsigned long sent[2]; // messages and bytes

#ifdef WRAP
static void counted(MPI_Aint n, MPI_Datatype type) {
  int bytes;
  PMPI_Type_size(type, &bytes);
  sent[0]++, sent[1] += n * bytes;
}

// The last parameters differ between versions, and are words.
#define STANDS_BEFORE(name)                                                                                    \
  int __real_##name(const void *, MPI_Aint, MPI_Datatype, int, int, void *, void *, void *);                   \
  int __wrap_##name(const void *data, MPI_Aint n, MPI_Datatype type, int to, int tag, void *a, void *b, void *c) { \
    counted(n, type);                                                                                          \
    return __real_##name(data, n, type, to, tag, a, b, c);                                                     \
  }
STANDS_BEFORE(MPIC_Send)
STANDS_BEFORE(MPIC_Isend)

int __real_MPIC_Sendrecv(const void *, MPI_Aint, MPI_Datatype, int, int, void *, MPI_Aint, MPI_Datatype, int, int, void *, void *, void *);
int __wrap_MPIC_Sendrecv(const void *data, MPI_Aint n, MPI_Datatype type, int to, int tag, void *into, MPI_Aint room, MPI_Datatype as, int from, int its, void *a, void *b, void *c) {
  counted(n, type);
  return __real_MPIC_Sendrecv(data, n, type, to, tag, into, room, as, from, its, a, b, c);
}
#else
#define STANDS_BEFORE(name)                                                                                      \
  void *name(void *to, const void *data, size_t bytes, uint64_t tag, const void *more) {                         \
    static void *(*ucx)(void *, const void *, size_t, uint64_t, const void *);                                   \
    if (!ucx) ucx = (void *(*)(void *, const void *, size_t, uint64_t, const void *))dlsym(RTLD_NEXT, #name);    \
    sent[0]++, sent[1] += bytes;                                                                                 \
    return ucx(to, data, bytes, tag, more);                                                                      \
  }
STANDS_BEFORE(ucp_tag_send_nbx)
STANDS_BEFORE(ucp_tag_send_sync_nbx) // synchronous, as in some barriers
#endif

int main(int argc, char **argv) {
  int threads;
  if (argc == 2) read_names(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &threads);
  MPI_Comm_size(MPI_COMM_WORLD, &P);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) fail("usage: mpirun -n P sent WORK", "arguments");
  size_t room = (read_work(argv[1]) + 8) * P;
  from = calloc(room, 1);
  to = calloc(room, 1);
  unsigned long was[2], *all = calloc(2 * P, sizeof *all), some = 0;
  for (int i = 0; i < count; i++) {
    struct line *l = &lines[i];
    set(&settings[l->setting], 0);
    for (int j = 0; j < 8; j++) { // the first may make communicators; from the fifth on MPICH shares memory
      MPI_Barrier(MPI_COMM_WORLD);
      memcpy(was, sent, sizeof was);
      carry(l->kind, l->m, settings[l->setting].comm);
      for (int k = 0; k < 2; k++) was[k] = sent[k] - was[k];
    }
    set(&settings[l->setting], 1);
    MPI_Gather(was, 2, MPI_UNSIGNED_LONG, all, 2, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    if (rank) continue;
    printf("%s\t%s\t%d\t", kinds[l->kind], l->name, l->m);
    for (int r = 0; r < P; r++) printf("%s%lu:%lu", r ? " " : "", all[2 * r], all[2 * r + 1]), some += all[2 * r];
    printf("\n");
  }
#ifndef WRAP // release_gather sends none
  if (!rank && !some) fail("no message goes through UCX: Open MPI needs pml=ucx", "library");
#endif
  MPI_Finalize();
  return 0;
}
