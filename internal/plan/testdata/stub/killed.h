// A job that is killed at a named point, included in front of timing.c: KILL=HOW:N, where what is written to
// the result for the N-th time, from 0 on, is not yet written, half of it, or all. With HOW crash this process alone
// dies, before.
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// die ends the job, a group of processes, and this one, which timeout has put into another group.
static void die(void) {
  kill(-atoi(getenv("JOB")), SIGKILL);
  kill(getpid(), SIGKILL);
  pause();
}

static int write_out(FILE *f, int (*out)(FILE *)) {
  static int written;
  size_t n = __fpending(f);
  const char *how = getenv("KILL");
  int here = how && n && written == atoi(strchr(how, ':') + 1);
  if (n) written++;
  if (!here) return out(f);
  if (!strncmp(how, "crash", 5)) kill(getpid(), SIGKILL);
  if (!strncmp(how, "before", 6)) die();
  fflush(f);
  if (!strncmp(how, "half", 4) && ftruncate(fileno(f), lseek(fileno(f), 0, SEEK_END) - (n + 1) / 2)) perror("killed");
  die();
  return 0;
}

#define fflush(f) write_out(f, fflush)
#define fclose(f) write_out(f, fclose)
