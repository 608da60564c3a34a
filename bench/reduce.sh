#!/usr/bin/env bash
# Compares package reduce with the same loops in C, compiled for this processor, in turns
# on one CPU. Prints ratios of medians, C's time over package reduce's.
#
#   bench/reduce.sh [ROUNDS] [OPERATORS] [SIZES] [CPU]
#
# (5 rounds of all operators and of vectors of 4 KB, 256 KB, 8 MB and 256 MB; about
# two minutes; needs gcc.) OPERATORS is a list such as "SUM_I MAX_R", SIZES one of these
# sizes. A ratio above 1 means that our kernel is faster than gcc's loop.
# KERNELS=SSE4.2 or Go tries those.
. "$(dirname "$0")/failed.sh"
cd "$(dirname "$0")/.."
most 4 "$@"
rounds=${1:-5} sizes=${3:-4K 256K 8M 256M} cpu=${4:-0}
whole ROUNDS "$rounds"
whole CPU "$cpu" 0
numbers="MAX MIN SUM PROD" integers="MAX MIN SUM PROD LAND LOR LXOR BAND BOR BXOR"
operators=${2:-$(echo ${integers// /_I }_I ${integers// /_L }_L ${numbers// /_F }_F ${numbers// /_R }_R)}
for operator in ${2:-}; do
  case $operator in
  *_[IL]) known=$integers ;;
  *_[FR]) known=$numbers ;;
  *) known= ;;
  esac
  [[ " $known " = *" ${operator%_?} "* ]] || refuse "no operator is called $operator: take one such as SUM_I, MAX_R or LAND_L"
done
for size in $sizes; do
  [[ " 4K 256K 8M 256M " = *" $size "* ]] || refuse "vectors have 4K, 256K, 8M or 256M, not $size"
done
programs gcc go taskset
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
gcc -O3 -march=native -o "$tmp/c" bench/reduce/reduce.c
go test -c -o "$tmp/go" ./reduce
usable=$("$tmp/go" -test.run '^$' -test.benchtime 1x -test.bench '^BenchmarkOperators$/./^SUM_I$/^4K$' | awk -F / '/^Benchmark/ { print $2 }')
kernels=${KERNELS:-${usable%%$'\n'*}} # the first are in use
[[ $'\n'$usable$'\n' = *$'\n'"$kernels"$'\n'* ]] || refuse "this processor has no $kernels: KERNELS is one of ${usable//$'\n'/, }"

for _ in $(seq "$rounds"); do
  for size in $sizes; do
    ms=20 && [ "$size" = 256M ] && ms=100
    # shellcheck disable=SC2086 # a list of words
    taskset -c "$cpu" "$tmp/c" "$(numfmt --from=iec "$size")" $ms $operators >"$tmp/theirs"
    taskset -c "$cpu" "$tmp/go" -test.run '^$' -test.benchtime ${ms}ms -test.bench "^BenchmarkOperators\$/^$kernels\$/^(${operators// /|})\$/^$size\$" |
      awk '/^Benchmark/ { split($1, name, "/"); for (i = 2; i < NF; i++) if ($(i + 1) == "ns/median") print name[3], $i }' >"$tmp/ours"
    awk -v size="$size" 'FILENAME == ARGV[1] { ours[$1] = $2; next } { print $1 "-" size, ours[$1], $2 }' "$tmp/ours" "$tmp/theirs"
  done
done >"$tmp/rounds"
awk -v theirs="$kernels (ns)" -v ours='C (ns)' -f bench/ratios.awk "$tmp/rounds"
