#!/usr/bin/env bash
# Compares taulop's bandwidths with mbw and likwid-bench (Debian packages), for the same
# sizes, in turns on one CPU.
#
#   bench/bandwidth.sh [ROUNDS]     (5 rounds, some twelve minutes, 2 GB; CPU 0)
#
# A ratio above 1 means that taulop found a higher bandwidth. Passes over an array of
# float64: likwid-bench's sum_avx, store_avx and update_avx beside read, write and
# multiply of taulop access; sum_avx has fewer sums at once, and update_avx stores what
# it loaded, without arithmetic, so in L1 these two differ from what taulop does.
# Copies: mbw's MEMCPY of 4 and 16 MB, in the last-level cache where it is so large,
# and its MCBLOCK, which up to version 1.4 copies the same block to ever new places:
# from L2 to memory.
. "$(dirname "$0")/failed.sh"
cd "$(dirname "$0")/.."
most 1 "$@"
rounds=${1:-5}
whole ROUNDS "$rounds"
for tool in mbw likwid-bench; do
  command -v $tool >/dev/null || refuse "it needs mbw and likwid-bench: apt-get install mbw likwid"
done
programs go taskset
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/taulop" ./cmd/taulop

# likwid KERNEL SIZE prints GB/s of the array's bytes, however often each is touched.
likwid() {
  likwid-bench -t "$1" -s 1 -W "N:$2:1" 2>/dev/null |
    awk -v once="$([ "$1" = update_avx ] && echo 2 || echo 1)" '/^MByte\/s/ { print $2 / 1e3 / once }'
}

# pass OPERATION BYTES prints GB/s.
pass() {
  "$tmp/taulop" access -quiet -json -cpu 0 -ops "$1" -types float64 -size "$2" -stride 1 -cache in -time "$((3 + $2 / 130000000))s" |
    awk '/"elements_gb_s"/ { getline; gsub(/[^0-9.e+]/, "", $2); print $2 }'
}

# copied FROM TO BYTES prints GB/s.
copied() {
  "$tmp/taulop" copy -quiet -json -tau 1 -levels "$1,$2" -m "$3" -time 6s |
    sed -nE 's/.*"kind":"level".*"variant":"'"$1-$2"'".*"time_ns":\[([^,]*),.*/\1/p' | awk -v m="$3" '{ print m / $1 }'
}

# blocks FLAGS… prints GB/s of mbw.
blocks() { taskset -c 0 mbw -q "$@" | awk '/AVG/ { print $(NF - 1) * 1048576 / 1e9 }'; }

for _ in $(seq "$rounds"); do
  for bytes in 16384 1048576 33554432 1610612736; do
    for pair in "read sum_avx" "write store_avx" "multiply update_avx"; do
      read -r operation kernel <<<"$pair"
      echo "$operation-float64-$bytes $(likwid "$kernel" "${bytes}B") $(pass "$operation" "$bytes")"
    done
  done
  echo "copy-L2-memory-65536 $(blocks -n 10 -t2 -b 65536 1024) $(copied L2 memory 65536)"
  for mb in 4 16; do
    echo "copy-L3-L3-$((mb << 20)) $(blocks -n 200 -t0 $mb) $(copied L3 L3 $((mb << 20)))"
  done
done >"$tmp/rounds"
awk -v theirs='theirs (GB/s)' -v ours='taulop (GB/s)' -f bench/ratios.awk "$tmp/rounds"
