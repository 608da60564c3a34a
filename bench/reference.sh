#!/usr/bin/env bash
# Compares Go with C on this machine: flag and copy of the Go benchmarks in shm, and the
# null transfer of taulop pairs, in turns with copy_ref. Prints ratios of medians.
#
#   TAULOP_SHARED=DIR bench/reference.sh [ROUNDS]     (9 rounds, about two minutes)
#
# DIR/reference/copy_ref.c is the C program: "copy_ref flag" prints the one-way
# time of a flag between CPUs 0 and 1, "copy_ref copy BYTES THREADS" the time of a
# memcpy. A ratio above 1 means that Go is slower.
#
# The host of a virtual machine may move its CPUs. look_ref.c measures the state before, between and
# after the two programs of a round. Each table has the rounds with all looks in one state, the most
# frequent state first.
. "$(dirname "$0")/failed.sh"
cd "$(dirname "$0")/.."
most 1 "$@"
rounds=${1:-9}
whole ROUNDS "$rounds"
[ -e "${TAULOP_SHARED:-}/reference/copy_ref.c" ] || refuse "set TAULOP_SHARED to the directory that holds reference/copy_ref.c"
programs cc go
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cc -O2 -pthread -o "$tmp/ref" "$TAULOP_SHARED/reference/copy_ref.c"
cc -O2 -pthread -o "$tmp/look" bench/look_ref.c
go build -o "$tmp/states" ./bench/states
go test -c -o "$tmp/go" ./shm
go build -o "$tmp/taulop" ./cmd/taulop

# bench PATTERN FIELD TIMES prints a figure of one Go benchmark.
bench() {
  "$tmp/go" -test.run '^$' -test.bench "$1" -test.benchtime "$3" |
    awk -v unit="$2" '/^Benchmark/ { for (i = 2; i < NF; i++) if ($(i + 1) == unit) print $i }'
}

# pair prints the one-way latency that taulop pairs finds between the same CPUs.
pair() {
  "$tmp/taulop" pairs -quiet -json -cpus 0,1 -time 2s |
    awk '/"time_ns"/ { getline; getline; gsub(/[^0-9.e+]/, "", $2); print $2; exit }'
}

# round NAME COMMAND... prints the name, what C's COMMAND before -- and ours after it found, and looks.
round() {
  local name=$1 theirs=() c go before between after
  shift
  while [ "$1" != -- ]; do theirs+=("$1") && shift; done
  shift
  before=$("$tmp/look")
  c=$("$tmp/ref" "${theirs[@]}")
  between=$("$tmp/look")
  go=$("$@")
  after=$("$tmp/look")
  echo "$name $c $go $before $between $after"
}

for _ in $(seq "$rounds"); do
  round pair flag -- pair
  round flag flag -- bench '^BenchmarkFlag$/^spinning$' ns/one-way 1000000x
  for size in 8 64; do
    for workers in 1 2; do
      round "copy-${size}KiB-$workers" copy $((size * 1024)) $workers -- bench "^BenchmarkCopy\$/^${size}KiB\$/^$workers\$" ns/median 50ms
    done
  done
done >"$tmp/rounds"

awk '{ print $4; print $5; print $6 }' "$tmp/rounds" | "$tmp/states" >"$tmp/found"
while read -r took share least below _; do
  printf '\na flag takes %s µs, %s %% of the looks\n' "$took" "$share"
  awk -v least="$least" -v below="$below" -v theirs='C (ns)' -v ours='Go (ns)' -f bench/ratios.awk "$tmp/rounds"
done <"$tmp/found"
