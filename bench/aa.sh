#!/usr/bin/env bash
# Tests intervals and comparisons. Sweeps of this machine, each a session of its own, are
# spread over an hour or more and compared with each other. After every second sweep one
# with a real difference follows, in turns: a process on each CPU that works for 150 µs
# and sleeps for 50 µs, or segments of 512 bytes instead of 8 KB. Needs an idle machine.
#
#   bench/aa.sh DIR [SESSIONS] [MINUTES]     (28 sessions in 70 minutes; 16 in 7 for a first look)
. "$(dirname "$0")/failed.sh"
most 3 "$@"
[ $# -gt 0 ] || refuse "name the directory for its files, bench/aa.sh DIR"
sessions=${2:-28} minutes=${3:-70}
whole SESSIONS "$sessions" 4
whole MINUTES "$minutes"
programs go perl taskset
dir=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
go build -o "$dir/taulop" ./cmd/taulop
go build -o "$dir/aa" ./bench/aa
every=$((minutes * 60 / sessions))
time=$((every * 2 / 3 < 20 ? every * 2 / 3 : 20)) # every second sweep is followed by another
sweep() { "$dir/taulop" sweep -quiet -time ${time}s -gamma=false -m 64,1K,8K,64K,1M "$@" >/dev/null; }
busy='use Time::HiRes qw(clock_gettime usleep CLOCK_MONOTONIC);
while (1) { my $end = clock_gettime(CLOCK_MONOTONIC) + 150e-6; 1 while clock_gettime(CLOCK_MONOTONIC) < $end; usleep(50) }'
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
begin=$(date +%s)
for i in $(seq "$sessions"); do
  while [ "$(date +%s)" -lt $((begin + (i - 1) * every)) ]; do sleep 1; done
  sweep -o "$dir/a$i.json"
  case $((i % 4)) in
  1)
    for cpu in $(seq 0 $(($(nproc) - 1))); do taskset -c "$cpu" perl -e "$busy" & done
    sweep -o "$dir/busy$i.json"
    kill $(jobs -p)
    wait 2>/dev/null || true
    ;;
  3) sweep -segment 512 -o "$dir/segment$i.json" ;;
  esac
done
for change in busy segment; do
  echo "with $change:"
  "$dir/aa" "$dir"/a[0-9]*.json -b "$dir/$change"[0-9]*.json
done
