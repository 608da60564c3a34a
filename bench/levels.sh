#!/usr/bin/env bash
# What taulop copy measures against the same walk in C with its library's memcpy, on
# the same CPU, by turns: ratios of medians.
#
#   bench/levels.sh [ROUNDS]     (5 rounds, about a minute; needs cc)
#
# A ratio of 1.05 means that taulop finds 5 % more time, that is 5 % less bandwidth.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
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
    go=$("$tmp/taulop" copy -quiet -json -tau 1 -levels "$level" -m "$m" -time $seconds -ci 0.01 |
      sed -nE 's/.*"kind":"level".*"time_ns":\[([^,]*),.*/\1/p')
    echo "$level $m $c $go"
  done
done >"$tmp/rounds"
awk '
function median(list, n,   i, j, t) {
  for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j-1]; j--) { t = list[j]; list[j] = list[j-1]; list[j-1] = t }
  return n % 2 ? list[(n+1)/2] : (list[n/2] + list[n/2+1]) / 2
}
{ k = $1 " " $2; n[k]++; c[k, n[k]] = $3; g[k, n[k]] = $4; if (n[k] == 1) order[++kinds] = k }
END {
  printf "%-16s %10s %10s %7s   %s\n", "level, m", "C (ns)", "taulop", "ratio", "rounds, least to most"
  for (i = 1; i <= kinds; i++) {
    k = order[i]
    for (j = 1; j <= n[k]; j++) { x[j] = c[k, j]; y[j] = g[k, j]; r[j] = y[j] / x[j] }
    mc = median(x, n[k]); mg = median(y, n[k]); median(r, n[k])
    printf "%-16s %10.1f %10.1f %7.2f   %.2f – %.2f\n", k, mc, mg, mg / mc, r[1], r[n[k]]
  }
}' "$tmp/rounds"
