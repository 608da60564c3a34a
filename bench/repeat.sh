#!/usr/bin/env bash
# Prints the distribution of relative differences of all cells between two sweeps in a row.
#
#   bench/repeat.sh [taulop sweep's flags]     (two sweeps of a minute each)
. "$(dirname "$0")/failed.sh"
cd "$(dirname "$0")/.."
programs go
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/taulop" ./cmd/taulop
for i in 1 2; do
  "$tmp/taulop" sweep -quiet "$@" -o "$tmp/$i.json" >/dev/null
  grep '^ *{"kind"' "$tmp/$i.json" |
    sed -E 's/^ *\{(.*),"time_ns":\[([^,]*),.*/\1\t\2/; s/,"k":[0-9]+,"transfers":[0-9]+//' | sort >"$tmp/$i"
done
join -t "$(printf '\t')" "$tmp/1" "$tmp/2" |
  awk -F '\t' '{ d = $3 / $2 - 1; kind = $1; sub(/^"kind":"/, "", kind); sub(/".*/, "", kind); print (d < 0 ? -d : d) * 100, kind }' | sort -n |
  awk '{ d[NR] = $1; kind[$2]++; of[$2, kind[$2]] = $1; total++ }
    function at(q, n) { i = int(q * n); return i < 1 ? 1 : i }
    END {
      printf "%-10s %6s  %s\n", "", "cells", "difference between two sweeps: median, 3 of 4, 9 of 10"
      for (k in kind) printf "%-10s %6d  %.1f %%  %.1f %%  %.1f %%\n", k, kind[k], of[k, at(0.5, kind[k])], of[k, at(0.75, kind[k])], of[k, at(0.9, kind[k])]
      printf "%-10s %6d  %.1f %%  %.1f %%  %.1f %%\n", "all", total, d[at(0.5, total)], d[at(0.75, total)], d[at(0.9, total)]
    }'
