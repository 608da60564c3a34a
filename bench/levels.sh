#!/usr/bin/env bash
# Compares taulop copy with the same walk in C (libc's memcpy), in turns on one CPU. Prints
# ratios of medians.
#
#   bench/levels.sh [ROUNDS]     (5 rounds, about a minute; needs cc)
#
# A ratio of 1.05 means that taulop measures 5 % more time.
. "$(dirname "$0")/failed.sh"
cd "$(dirname "$0")/.."
most 1 "$@"
rounds=${1:-5}
whole ROUNDS "$rounds"
programs cc go
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cc -O2 -o "$tmp/ref" bench/level_ref.c
go build -o "$tmp/taulop" ./cmd/taulop
l1=$(getconf LEVEL1_DCACHE_SIZE) l2=$(getconf LEVEL2_CACHE_SIZE) l3=$(getconf LEVEL3_CACHE_SIZE)
far=$((2 * l3 + (1 << 20)))
for _ in $(seq "$rounds"); do
  for point in "L1 4096 4096" "L1 8192 8192" "L2 8192 $((4 * l1))" "L2 65536 $((4 * l1))" \
    "L3 65536 $((4 * l2))" "L3 1048576 $((4 * l2))" "memory 65536 $far" "memory 4194304 $far"; do
    read -r level m walk <<<"$point"
    c=$("$tmp/ref" "$m" "$walk" "$walk")
    seconds=2s && [ "$level" = memory ] && seconds=6s
    go=$("$tmp/taulop" copy -quiet -json -tau 1 -levels "$level" -m "$m" -time $seconds |
      sed -nE 's/.*"kind":"level".*"time_ns":\[([^,]*),.*/\1/p')
    echo "$level,m=$m $c $go"
  done
done >"$tmp/rounds"
awk -v theirs='C (ns)' -v ours='taulop (ns)' -f bench/ratios.awk "$tmp/rounds"
