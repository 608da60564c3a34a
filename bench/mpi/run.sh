#!/usr/bin/env bash
# Predictions beside real MPI on this machine: Debian's Open MPI, as it comes and without
# single copies, and MPICH, as it comes, carry out one-way messages, sendrecv rings,
# broadcasts, allgathers and allreduces among as many ranks as there are cores, in cache with
# send buffers unchanged and rewritten, and off cache, alternately with a session of a sweep.
# taulop verify -against puts predictions beside what even rounds took, each library's
# messages in its own way (-as) and its collectives by the algorithms that it chooses:
#
#   own        from the sweep alone
#   own, o, γ  from the sweep, and in odd rounds o(m) of the library's ping-pongs and
#              exchanges, and γ of what its MPI_Reduce_local took
#   import     from the library's messages and γ in odd rounds, and own copies of the sweep
#
#   bench/mpi/run.sh [ROUNDS] [FOLDER]     (4 rounds, about three and a half minutes)
#
# What is missing of the libraries it installs with apt-get, as root. FOLDER keeps
# the sweep, what the programs printed, and all tables (default a temporary one).
set -euo pipefail
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
rounds=${1:-4} keep=${2:-} least=1024 most=$((4 << 20)) sizes=1K:4M
if [ "$rounds" -lt 2 ]; then
  echo "$rounds rounds: two are the least, one to estimate from and one to compare with" >&2
  exit 2
fi
folder "$keep"
install mpich libmpich-dev openmpi-bin libopenmpi-dev gcc
build bench/mpi/messages.c
taulop=$tmp/taulop
count_ranks
# As of taulop verify: a rank sends from one arena and receives into another, each four
# times its share of the last-level cache, here at most 256 MB.
arena=$((4 * $(getconf LEVEL3_CACHE_SIZE) / ranks >> 20))
[ "$arena" -gt 0 ] && [ "$arena" -lt 256 ] || arena=256

messages() {
  local ob1=(--allow-run-as-root --bind-to core -n "$ranks" --mca pml ob1 --mca btl vader,self)
  case $1 in
  openmpi4) mpirun.openmpi "${ob1[@]}" "$tmp/openmpi" "${@:2}" ;;
  openmpi4-none) mpirun.openmpi "${ob1[@]}" --mca btl_vader_single_copy_mechanism none "$tmp/openmpi" "${@:2}" ;;
  mpich4) mpirun.mpich -bind-to core -n "$ranks" "$tmp/mpich" "${@:2}" ;;
  esac
}

sweep() {
  local plan=(-o "$out/host.json" -with cma -segments 4 -segment 32K -setup ring,ping,sendrecv -placement local -m "64,$sizes" -operators SUM_I,SUM_I_SCALAR)
  [ ! -e "$out/host.json" ] || plan=(-add "$out/host.json") # the machine changes from round to round
  "$taulop" sweep -quiet -time 40s "${plan[@]}" >"$tmp/sweep"
}

version() {
  case $1 in
  openmpi4*) mpirun.openmpi --version | sed -n '1s/.* /Open MPI /p' ;;
  mpich4) mpichversion | awk '/Version|Device/ { sub(/.*:[ \t]*/, ""); v = v " " $0 } END { print "MPICH" v }' ;;
  esac
}
load() { cut -d ' ' -f 1-3 /proc/loadavg; }
libraries="openmpi4 openmpi4-none mpich4" states="in-unchanged in-rewritten off-unchanged"
echo "load before: $(load)"
for round in $(seq "$rounds"); do
  sweep
  for library in $libraries; do
    file=$out/$library-$((round % 2))
    messages "$library" 3 0 "$least" "$most" >>"$file-in-unchanged.txt"
    messages "$library" 3 0 "$least" "$most" rewritten >>"$file-in-rewritten.txt"
    messages "$library" 2 "$arena" "$least" "$most" >>"$file-off-unchanged.txt"
  done
done
echo "load after: $(load)"
"$taulop" topo | sed -n '1,/^online/p'

# against FILE PARAMS FLAG... writes the tables, and prints the mean errors of τ-Lop.
against() {
  "$taulop" verify -against "$1" -params "$2" -m "$sizes" "${@:3}" >"$tmp/against" 2>>"$out/warnings"
  cat "$tmp/against" >>"$out/tables"
  awk '/^Mean relative errors/ { means = 1 } means && $2 ~ /^[0-9]+$/ { printf "%10s %5s", $1, $4 } END { print "" }' "$tmp/against"
}

for library in $libraries; do
  printf '\n== %s (%s): mean relative errors of τ-Lop, %%\n' "$(version "$library")" "$library"
  for state in $states; do
    where=(-cache "${state%-*}") as=(-as "$library" -buffers "${state#*-}") name=$out/$library
    odd=$name-1-$state.txt even=$name-0-$state.txt
    # γ is of vectors in cache: off cache it is that of the file made in cache.
    before=$name-in.json
    [ -e "$before" ] || before=$out/host.json
    [ -e "$name-${state%-*}.json" ] || "$taulop" import -overheads "$name-1-${state%-*}-unchanged.txt" -params "$before" \
      -as "$library" "${where[@]}" -o "$name-${state%-*}.json" 2>>"$out/warnings"
    # Off cache ranks have at hand what they write in a call, as messages in cache tell.
    own=$name-in.json
    [ "$state" != off-unchanged ] || own=$name-in-rewritten-import.json
    "$taulop" import -params "$own" "${where[@]}" -o "$name-$state-import.json" "$odd" 2>>"$out/warnings"
    printf '%-14s own       ' "$state" && against "$even" "$out/host.json" "${as[@]}" "${where[@]}"
    printf '%-14s own, o, γ ' '' && against "$even" "$name-${state%-*}.json" "${as[@]}" "${where[@]}"
    printf '%-14s import    ' '' && against "$even" "$name-$state-import.json" -as "$library" "${where[@]}"
  done
done
