#!/usr/bin/env bash
# Does the Go runtime disturb the workers? The share of timed batches above 1.5
# times the median, of taulop's ring and of the same ring in C, in turns.
#
#   bench/spikes.sh [ROUNDS] [SECONDS]     (3 rounds of 10 s each)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3} seconds=${2:-10}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cc -O2 -pthread -o "$tmp/ref" bench/ring_ref.c
go build -o "$tmp/taulop" ./cmd/taulop

printf '%-8s %12s %10s %8s %8s\n' "" "L(8KB,2)/ns" batches slow share
for _ in $(seq "$rounds"); do
  "$tmp/ref" 8192 "$seconds" | awk '{ printf "%-8s %12.1f %10d %8d %7.2f%%\n", "C", $1, $2, $3, 100 * $3 / $2 }'
  "$tmp/taulop" -quiet -json -k 1 -time "${seconds}s" -ring -local 2 8 2 |
    awk -F '[:,]' '/"batches"/ { n += $2 } /"slow_batches"/ { s += $2 } /"L_ns"/ { inL = 1 } inL && /"center"/ { L = $2; inL = 0 }
      END { printf "%-8s %12.1f %10d %8d %7.2f%%\n", "taulop", L, n, s, 100 * s / n }'
done
