#!/bin/sh
# Measures a machine with many cores in ten minutes, into six files: topology, a sweep with
# pairs and loaded, verify at P = 2, 4, 8 … cores with strict and full errors, a second
# session (A/A), flag and copy beside C where there is a compiler, time and memory of each
# step, and machine.md, the sweep's page for docs/machines. It needs only the static binary
# and this file, no root, and an idle machine.
#
#   manycore.sh OUT [SECONDS]        (600 seconds)
#   TAULOP=./taulop manycore.sh OUT  the binary; else taulop beside this file, or in PATH
#
#   CGO_ENABLED=0 go build -o taulop ./cmd/taulop makes it, GOARCH=arm64 another's.
set -eu
case ${1:-} in
-h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit ;;
'') echo "manycore.sh: name the directory for its files, manycore.sh OUT; -h says more" >&2; exit 2 ;;
esac
[ $# -le 2 ] || { echo "manycore.sh: $3 is an argument too many: -h says which there are" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
total=${2:-600}
case $total in *[!0-9]* | '') echo "manycore.sh: $total is no number of seconds" >&2; exit 2 ;; esac
[ "$total" -ge 120 ] || { echo "manycore.sh: $total seconds are too few: give 120 or more" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
for file in machine.md summary.txt tables.txt topo.json host.json again.json; do
  [ ! -e "$out/$file" ] || { echo "manycore.sh: $out/$file is there already: choose another directory" >&2; exit 2; }
done
taulop=${TAULOP:-}
[ -n "$taulop" ] || { [ ! -x "$here/taulop" ] || taulop=$here/taulop; }
[ -n "$taulop" ] || taulop=$(command -v taulop) || { echo "manycore.sh: no taulop: name it, TAULOP=./taulop $0 OUT" >&2; exit 2; }
case $taulop in /*) ;; *) taulop=$PWD/$taulop ;; esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
cd "$tmp"
touch said

say() { echo "$*" | tee -a "$out/summary.txt"; }

# peak prints the most memory, in kB, that a process or a child of it has had, once a second.
peak() {
  most=0
  while [ -d "/proc/$1" ]; do
    for p in "$1" $(cat "/proc/$1/task/"*/children 2>/dev/null || true); do
      kb=$(awk '/^VmHWM/ { print $2 }' "/proc/$p/status" 2>/dev/null || true)
      [ "${kb:-0}" -le "$most" ] || most=$kb
    done
    echo "$most" >"$tmp/now" && mv "$tmp/now" "$tmp/peak"
    sleep 1
  done
}

# step NAME FILE COMMAND… runs a command, its output into a file, and prints its time.
step() {
  name=$1 file=$2 status=0
  shift 2
  began=$(date +%s)
  "$@" >>"$file" 2>"$tmp/errors" &
  pid=$!
  echo 0 >"$tmp/peak"
  peak "$pid" &
  watch=$!
  wait "$pid" || status=$?
  kill "$watch" 2>/dev/null || true
  wait "$watch" 2>/dev/null || true
  say "$(printf '%-28s %4d s %7d MB  status %d' "$name" $(($(date +%s) - began)) $(($(cat "$tmp/peak") / 1024)) "$status")"
  # Not into /dev/stderr, which would cut a file that the output goes to.
  show() { cat >/dev/null; }
  [ "$status" = 0 ] || show() { cat >&2; }
  # Each sentence once, whichever steps say it: the lines that it goes on in are indented.
  awk '/^taulop: / && NR > 1 { print "" } { sub(/^ +/, " "); printf "%s", $0 } END { if (NR) print "" }' "$tmp/errors" |
    while read -r sentence; do
      grep -qxF -- "$sentence" "$tmp/said" && continue
      echo "$sentence" >>"$tmp/said"
      echo "$sentence" | fold -s -w 76 | sed 's/^/    /; s/ *$//' | tee -a "$out/summary.txt" | show
    done
}

# cores has the first allowed CPU of each core; siblings the first two of one core.
allowed=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
expand() { echo "$1" | tr , '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }'; }
cores='' siblings='' seen=' '
for cpu in $(expand "$allowed"); do
  of=$(cat "/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list" 2>/dev/null || echo "$cpu")
  case $seen in
  *" $of "*) [ -n "$siblings" ] || siblings="$(expand "$of" | head -n 1) $cpu" ;;
  *) cores="$cores $cpu" seen="$seen$of " ;;
  esac
done
set -- $cores
n=$#
version=$("$taulop" version 2>/dev/null | head -n 1 | sed 's/^taulop *//')
say "taulop $version, $n cores, CPUs $allowed, kernel $(uname -r) $(uname -m), $(date -u +%Y-%m-%dT%H:%M:%SZ)"
say "load before $(cut -d ' ' -f 1-3 /proc/loadavg)"

"$taulop" topo -json >"$out/topo.json" || say "topo: status $?"

# Half of the time for the sweep, a third for verify, the rest for a second session and C.
surveys=
[ "$n" -lt 2 ] || surveys='-with pairs,loaded'
step "sweep" "$out/tables.txt" "$taulop" sweep -time $((total / 2))s $surveys -o "$out/host.json"
step "a second session (A/A)" /dev/null "$taulop" sweep -time $((total / 16))s -gamma=false -setup ring -placement local -m 64,1K,8K,64K,1M -o "$out/again.json"
"$taulop" compare "$out/host.json" "$out/again.json" >"$tmp/aa.txt" || say "compare: status $?"
say "A/A: two sessions of one machine should not differ:"
awk '!NF { exit } { print "    " $0 }' "$tmp/aa.txt" | tee -a "$out/summary.txt"

ps='' p=2
while [ "$p" -lt "$n" ]; do ps="$ps $p" p=$((p * 2)); done
[ "$n" -lt 2 ] || ps="$ps $n"
set -- $ps
for p in $ps; do
  echo "== P = $p" >>"$tmp/verify"
  cache=in
  [ "$p" -lt "$n" ] || cache=in,off
  step "verify -P $p" "$tmp/verify" "$taulop" verify -quiet -P "$p" -cache $cache -m 5600,56000,560000 -time $((total / 3 / $#))s
done
awk '/^Errors, %/ { on = 1 } /^mean:/ { on = 0 } on' "$tmp/verify" >"$tmp/means" 2>/dev/null || true
if [ -s "$tmp/means" ]; then
  say "verify, mean and 90 % of errors, bias, in %:"
  sed 's/^/    /' "$tmp/means" | tee -a "$out/summary.txt"
fi

# Flags and copies of C, in the same minutes.
cat >ref.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* ref flag CPU CPU [pause]: one-way time of a flag, ns; ref copy BYTES CPU…: of a memcpy
   between two buffers of each of so many threads, all at once. Medians of 31. */
static struct { _Alignas(128) atomic_ulong n; } there, back;
static int pausing, cpus[4096], threads;
static size_t bytes;
static long copies = 1;
static pthread_barrier_t gate;
static double took[31];
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
static void pin(int cpu) { cpu_set_t s; CPU_ZERO(&s); CPU_SET(cpu, &s); if (sched_setaffinity(0, sizeof s, &s)) { perror("pin"); exit(1); } }
static void await(atomic_ulong *f, unsigned long n) {
  while (atomic_load_explicit(f, memory_order_acquire) < n)
    if (pausing)
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      __asm__ volatile("yield");
#else
      ;
#endif
}
enum { trips = 20000 };
static void *answer(void *cpu) {
  pin(*(int *)cpu);
  for (unsigned long n = 1; n <= 31UL * trips; n++) { await(&there.n, n); atomic_store(&back.n, n); }
  return 0;
}
static int rise(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }
static void *copy(void *at) {
  long id = (long)at;
  char *a = malloc(bytes), *b = malloc(bytes);
  pin(cpus[id]);
  memset(a, 1, bytes); memset(b, 2, bytes);
  for (int r = 0; r < 31; r++) {
    pthread_barrier_wait(&gate);
    double t = now();
    for (long i = 0; i < copies; i++) {
      memcpy(b, a, bytes); __asm__ volatile("" ::: "memory");
      memcpy(a, b, bytes); __asm__ volatile("" ::: "memory");
    }
    pthread_barrier_wait(&gate);
    if (id == 0) took[r] = (now() - t) / copies / 2;
  }
  return 0;
}
int main(int argc, char **argv) {
  pthread_t t[4096];
  if (argc >= 4 && !strcmp(argv[1], "flag")) {
    int a = atoi(argv[2]), b = atoi(argv[3]);
    unsigned long n = 0;
    pausing = argc > 4;
    pin(a);
    pthread_create(&t[0], 0, answer, &b);
    for (int r = 0; r < 31; r++) {
      double began = now();
      for (int i = 0; i < trips; i++) { atomic_store(&there.n, ++n); await(&back.n, n); }
      took[r] = (now() - began) / trips / 2;
    }
    pthread_join(t[0], 0);
  } else if (argc >= 4 && !strcmp(argv[1], "copy")) {
    bytes = atol(argv[2]);
    for (int i = 3; i < argc && threads < 4096; i++) cpus[threads++] = atoi(argv[i]);
    copies = 1 + 5000000 / (bytes / 16 + 50);
    pthread_barrier_init(&gate, 0, threads);
    for (long i = 0; i < threads; i++) pthread_create(&t[i], 0, copy, (void *)i);
    for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
  } else return 2;
  qsort(took, 31, sizeof *took, rise);
  printf("%.1f\n", took[15]);
  return 0;
}
C
compiler=$(command -v gcc || command -v cc || command -v clang || true)
if [ -n "$compiler" ] && "$compiler" -O2 -pthread -o ref ref.c 2>"$tmp/errors"; then
  c() { ./ref "$@" || echo -; }
else
  say "no C compiler, so no C beside taulop"
  c() { echo -; }
fi
# one prints the first number after a name in JSON.
one() { tr -d ' \n' | sed -n "s/.*\"$1\":\[\{0,1\}{\{0,1\}[^0-9]*\([0-9]*\.\{0,1\}[0-9]\{0,1\}\).*/\1/p"; }
pair() { "$taulop" pairs -quiet -json -cpus "$1,$2" -time 4s 2>/dev/null | one time_ns || echo -; }
copies() { "$taulop" -quiet -json -cpus "$(echo "$@" | tr ' ' ,)" -time 8s -kmax 1 2 8 $# 2>/dev/null | one copy_ns || echo -; }
{
  echo "ns, medians          C  C, PAUSE  taulop"
  set -- $cores
  if [ "$n" -ge 2 ]; then
    eval "last=\${$n}"
    for b in "$2" "$last"; do
      printf 'flag %3d %3d    %7s  %8s  %6s\n' "$1" "$b" "$(c flag "$1" "$b")" "$(c flag "$1" "$b" pause)" "$(pair "$1" "$b")"
      [ "$2" != "$last" ] || break
    done
  fi
  if [ -n "$siblings" ]; then
    set -- $siblings
    printf 'flag %3d %3d SMT%7s  %8s  %6s\n' "$1" "$2" "$(c flag "$1" "$2")" "$(c flag "$1" "$2" pause)" "$(pair "$1" "$2")"
  fi
  set -- $cores
  printf 'copy 8K, 1 %3s  %7s  %8s  %6s\n' '' "$(c copy 8192 "$1")" - "$(copies "$1")"
  [ "$n" -lt 2 ] || printf 'copy 8K, %-5d  %7s  %8s  %6s\n' "$n" "$(c copy 8192 $cores)" - "$(copies $cores)"
} >"$tmp/reference"
say "flag and copy, C beside taulop:"
sed 's/^/    /' "$tmp/reference" | tee -a "$out/summary.txt"
say "load after $(cut -d ' ' -f 1-3 /proc/loadavg)"

"$taulop" report -md -o "$out/machine.md" "$out/host.json"
cat "$tmp/verify" >>"$out/tables.txt" 2>/dev/null || true # of one core there is none
say "$out/machine.md is a page on this machine: docs/machines/README.md says what for"
