#!/usr/bin/env bash
# Compares passes over arrays, taulop access with the STREAM-like loops of access_ref.c, in
# turns on one CPU. Prints ratios of medians.
#
#   bench/access.sh [ROUNDS] [CPU]     (5 rounds, some two minutes)
#
# A ratio above 1 means that taulop found a higher bandwidth. C is compiled as
# STREAM is, for this processor, so that its loops run in vectors and sums of their own.
. "$(dirname "$0")/failed.sh"
cd "$(dirname "$0")/.."
most 2 "$@"
rounds=${1:-5} cpu=${2:-0}
whole ROUNDS "$rounds"
whole CPU "$cpu" 0
programs gcc go
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
gcc -O3 -march=native -ffast-math -funroll-loops -fvariable-expansion-in-unroller -o "$tmp/ref" bench/access_ref.c
go build -o "$tmp/taulop" ./cmd/taulop
arena=$(($(cat /sys/devices/system/cpu/cpu"$cpu"/cache/index*/size | sed 's/K$//' | sort -n | tail -1) * 2048 + 1048576))

# pass OPERATION TYPE BYTES CACHE prints the ns of a pass by taulop.
pass() {
  "$tmp/taulop" access -quiet -json -cpu "$cpu" -ops "$1" -types "$2" -size "$3" -stride 1 -cache "$4" -time 2s |
    awk '/"pass_ns"/ { getline; gsub(/[^0-9.e+]/, "", $2); print $2 }'
}

for _ in $(seq "$rounds"); do
  for where in "in 16384" "in 1048576" "off 16777216"; do
    read -r cache bytes <<<"$where"
    a=0
    [ "$cache" = off ] && a=$arena
    for operation in read write multiply; do
      for type in int32 float32 float64; do
        # shellcheck disable=SC2046 # two words
        echo "$operation-$type-$cache-$bytes $bytes" $("$tmp/ref" "$operation" "$type" "$bytes" 1 "$cpu" "$a") $(pass "$operation" "$type" "$bytes" "$cache")
      done
    done
  done
done >"$tmp/rounds"

awk '{ print $1, $2 / $3, $2 / $4 }' "$tmp/rounds" |
  awk -v theirs='C (GB/s)' -v ours='taulop (GB/s)' -f bench/ratios.awk
