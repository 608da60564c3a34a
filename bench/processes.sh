#!/usr/bin/env bash
# Compares threads with processes for messages through segments: the same messages and
# exchanges through the same channels, in turns. Prints µs by size, and the ratio of
# processes to threads.
#
#   bench/processes.sh [ROUNDS]     (7 rounds)
. "$(dirname "$0")/failed.sh"
cd "$(dirname "$0")/.."
most 1 "$@"
rounds=${1:-7}
whole ROUNDS "$rounds"
programs go
test=$(mktemp) printed=$(mktemp)
trap 'rm -f "$test" "$printed"' EXIT
go test -c -o "$test" ./setups
cd setups
for round in $(seq "$rounds"); do
  "$test" -test.run='^$' -test.bench='^BenchmarkProcesses$' -test.benchtime=1x >"$printed" || { cat "$printed" >&2; exit 1; }
  cat "$printed"
done | awk '
  $1 ~ /^BenchmarkProcesses/ {
    split($1, part, "/"); sub(/-[0-9]+$/, part[4])
    key = part[2] "/" part[3]; who = part[4]; sub(/-[0-9]+$/, "", who)
    if (!(key in seen)) { seen[key] = 1; order[++keys] = key }
    for (i = 3; i <= NF; i++) if ($i == "ns/message") { n[key, who]++; time[key, who, n[key, who]] = $(i - 1) }
  }
  function median(key, who,   i, j, t, all) {
    for (i = 1; i <= n[key, who]; i++) all[i] = time[key, who, i]
    for (i = 2; i <= n[key, who]; i++) for (j = i; j > 1 && all[j] < all[j - 1]; j--) { t = all[j]; all[j] = all[j - 1]; all[j - 1] = t }
    return all[int((n[key, who] + 1) / 2)]
  }
  END {
    printf "%-24s %12s %12s %8s\n", "", "threads, µs", "processes, µs", "×"
    for (k = 1; k <= keys; k++) { a = median(order[k], "threads"); b = median(order[k], "processes"); printf "%-24s %12.3f %12.3f %8.3f\n", order[k], a / 1e3, b / 1e3, b / a }
  }'
