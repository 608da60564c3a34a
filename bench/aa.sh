#!/usr/bin/env bash
# Do intervals and comparisons hold? Sweeps of this machine, each a session of its
# own, spread over two hours, compared with each other. After two of three, a sweep
# with a difference that is really there: another copy routine (memmove without AVX
# and fast string moves), or segments of 512 bytes instead of 8 KB. Nothing else may
# run meanwhile.
#
#   bench/aa.sh DIR [SESSIONS] [MINUTES]     (30 sessions in 120 minutes)
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
sessions=${2:-30} minutes=${3:-120}
cd "$(dirname "$0")/.."
go build -o "$dir/taulop" ./cmd/taulop
go build -o "$dir/aa" ./bench/aa
sweep() { "$dir/taulop" sweep -quiet -budget 20s -gamma=false -sizes 64,1K,8K,64K,1M "$@" >/dev/null; }
every=$((minutes * 60 / sessions))
begin=$(date +%s)
for i in $(seq "$sessions"); do
  while [ "$(date +%s)" -lt $((begin + (i - 1) * every)) ]; do sleep 1; done
  sweep -o "$dir/a$i.json"
  case $((i % 3)) in
  1) GODEBUG=cpu.avx=off,cpu.erms=off sweep -o "$dir/copy$i.json" ;;
  2) sweep -segment 512 -o "$dir/segment$i.json" ;;
  esac
done
for change in copy segment; do
  echo "with another $change:"
  "$dir/aa" "$dir"/a[0-9]*.json -b "$dir/$change"[0-9]*.json
done
