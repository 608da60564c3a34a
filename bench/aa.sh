#!/usr/bin/env bash
# Do intervals and comparisons hold? Sweeps of this machine, spread over an hour, each
# a session of its own, compared with each other; every fourth pause has a sweep with a
# difference that is really there: segments of 4 KB instead of 8 KB, and a busy
# process on each CPU. Nothing else may run meanwhile.
#
#   bench/aa.sh DIR [SESSIONS] [MINUTES]     (20 sessions in 60 minutes)
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
sessions=${2:-20} minutes=${3:-60}
cd "$(dirname "$0")/.."
go build -o "$dir/taulop" ./cmd/taulop
go build -o "$dir/aa" ./bench/aa
plan=(-quiet -budget 20s -gamma=false -sizes 64,1K,8K,64K,1M)
every=$((minutes * 60 / sessions))
begin=$(date +%s)
for i in $(seq "$sessions"); do
  while [ "$(date +%s)" -lt $((begin + (i - 1) * every)) ]; do sleep 1; done
  "$dir/taulop" sweep "${plan[@]}" -o "$dir/a$i.json" >/dev/null
  if [ $((i % 4)) = 0 ]; then
    "$dir/taulop" sweep "${plan[@]}" -segment 4K -o "$dir/segment$i.json" >/dev/null
    for _ in $(seq "$(nproc)"); do
      (while :; do :; done) &
    done
    "$dir/taulop" sweep "${plan[@]}" -o "$dir/busy$i.json" >/dev/null
    kill $(jobs -p) 2>/dev/null || true
    wait 2>/dev/null || true
  fi
done
for change in segment busy; do
  echo "with $change:"
  "$dir/aa" "$dir"/a[0-9]*.json -b "$dir/$change"[0-9]*.json
done
