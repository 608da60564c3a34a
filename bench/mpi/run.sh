#!/usr/bin/env bash
# Puts predictions beside real MPI on this machine: Debian's Open MPI, with and without single copies,
# and MPICH. They run one-way messages, sendrecv rings, broadcasts, allgathers and allreduces with a rank on
# each core, in cache with send buffers unchanged and rewritten, and off cache, in turns with sessions of a
# sweep. The host of a virtual machine may move its CPUs: each state with a tenth of the time or more has
# tables, the most frequent state first. messages.c and the sweep tell states by empty messages just before
# and after. taulop verify -against takes every other run, with each library's protocols and own choices (-as):
#
#   own        from the sweep alone
#   own, o, γ  from the sweep, and in every second run o(m) of the library's ping-pongs and
#              exchanges, and γ of what its MPI_Reduce_local took
#   import     from the library's messages and γ in those runs, and own copies of the sweep
#
#   bench/mpi/run.sh [ROUNDS] [FOLDER]     (4 rounds, about seven minutes)
#
# It installs missing libraries with apt-get, as root. FOLDER keeps the sweep, the programs' outputs and all
# tables (default a temporary one).
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
rounds=${1:-4} keep=${2:-} least=1024 most=$((4 << 20)) sizes=1K:4M
whole ROUNDS "$rounds"
most 2 "$@"
folder "$keep"
install mpich libmpich-dev openmpi-bin libopenmpi-dev gcc
build bench/mpi/messages.c
go build -o "$tmp/states" ./bench/states
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
  local plan=(-o "$tmp/host.json" -with cma -segments 4 -segment 32K -setup ring,ping,sendrecv -placement local -m "64,$sizes" -operators SUM_I,SUM_I_SCALAR)
  rm -f "$tmp/host.json"
  if [ -e "$out/host.json" ]; then # the machine changes from round to round
    cp "$out/host.json" "$tmp/host.json"
    plan=(-add "$tmp/host.json")
  fi
  "$taulop" sweep -quiet -time 60s "${plan[@]}" >"$tmp/sweep"
}

# times LIBRARY writes what one run of its messages took with all user data.
times() {
  messages "$1" 3 0 "$least" "$most" >"$tmp/in-unchanged"
  messages "$1" 3 0 "$least" "$most" rewritten >"$tmp/in-rewritten"
  messages "$1" 2 "$arena" "$least" "$most" >"$tmp/off-unchanged"
}

version() {
  case $1 in
  openmpi4*) mpirun.openmpi --version | sed -n '1s/.* /Open MPI /p' ;;
  mpich4) mpichversion | awk '/Version|Device/ { sub(/.*:[ \t]*/, ""); v = v " " $0 } END { print "MPICH" v }' ;;
  esac
}
load() { cut -d ' ' -f 1-3 /proc/loadavg; }
libraries="openmpi4 openmpi4-none mpich4" data="in-unchanged in-rewritten off-unchanged"
echo "load before: $(load)"
for round in $(seq "$rounds"); do
  sweep
  mv "$tmp/host.json" "$out/host.json"
  for half in $((round % 2)) $(((round + 1) % 2)); do
    for library in $libraries; do
      times "$library"
      for user in $data; do cat "$tmp/$user" >>"$out/$library-$half-$user.txt"; done
    done
  done
done
echo "load after: $(load)"
"$taulop" topo | sed -n '1,/^online/p'

# noted CMD... keeps what CMD warns of in a file. Why a row cannot be predicted the terminal says.
rows=0
noted() {
  "$@" 2>"$tmp/noted" && cat "$tmp/noted" >>"$out/warnings" && return
  cat "$tmp/noted" >&2
  rows=$((rows + 1))
  return 1
}

# against FILE PARAMS FLAG... writes the tables, and prints the mean errors of τ-Lop.
against() {
  noted "$taulop" verify -against "$1" -params "$2" -m "$sizes" "${@:3}" >"$tmp/against" || return
  cat "$tmp/against" >>"$out/tables"
  awk '/^Mean relative errors/ { means = 1 } means && $2 ~ /^[0-9]+$/ { printf "%10s %5s", $1, $4 } END { print "" }' "$tmp/against"
}

# tables LIBRARY STATE LEAST BELOW FLAG prints the tables of a state, in which empty messages take from LEAST
# to less than BELOW µs, and a flag of the sweep FLAG; "" if unknown.
tables() {
  local library=$1 name=$out/$1-state$2 in=() user half where as own before
  for user in $data; do
    for half in 0 1; do
      awk -v "least=$3" -v "below=$4" -f bench/mpi/batches.awk "$out/$library-$half-$user.txt" "$out/$library-$half-$user.txt" >"$name-$half-$user.txt"
      if ! grep -q '^# Benchmarking' "$name-$half-$user.txt"; then
        echo "some runs had no batch in this state: no table"
        return
      fi
    done
  done
  for user in $data; do
    # A table of slowed cores stands beside the sweep's slowed state.
    if [ -n "$5" ] && grep -q '^# sums .*: most of them' "$name-0-$user.txt"; then in=(-state "$5-slowed"); elif [ -n "$5" ]; then in=(-state "$5"); fi
    where=(-cache "${user%-*}") as=(-as "$library" -buffers "${user#*-}")
    # γ is of vectors in cache: off cache the file made in cache gives it.
    before=("$name-in.json")
    [ -e "${before[0]}" ] || before=("$out/host.json" "${in[@]}")
    printf '%-14s own       ' "$user"
    against "$name-0-$user.txt" "$out/host.json" "${in[@]}" "${as[@]}" "${where[@]}" || continue
    [ -e "$name-${user%-*}.json" ] || noted "$taulop" import -overheads "$name-1-${user%-*}-unchanged.txt" -params "${before[@]}" \
      -as "$library" "${where[@]}" -o "$name-${user%-*}.json" || continue
    # Off cache, ranks still find data of the same call in cache: messages in cache give its times.
    own=$name-in.json
    [ "$user" != off-unchanged ] || own=$name-in-rewritten-import.json
    noted "$taulop" import -params "$own" "${where[@]}" -o "$name-$user-import.json" "$name-1-$user.txt" || continue
    printf '%-14s own, o, γ ' ''
    against "$name-0-$user.txt" "$name-${user%-*}.json" "${as[@]}" "${where[@]}" || continue
    printf '%-14s import    ' ''
    against "$name-0-$user.txt" "$name-$user-import.json" -as "$library" "${where[@]}" || continue
  done
}

for library in $libraries; do
  printf '\n== %s (%s): mean relative errors of τ-Lop, %%\n' "$(version "$library")" "$library"
  awk '/^# batch / { print $6; print $7 }' "$out/$library"-[01]-*.txt | "$tmp/states" "$out/host.json" >"$out/$library.states"
  state=0
  while read -r took share least below flag; do
    state=$((state + 1))
    printf '\nan empty message takes %s µs, %s %% of them%s\n' "$took" "$share" "${flag:+, and a flag in the sweep $flag}"
    if [ "$share" -lt 10 ]; then
      echo "too seldom for a table"
      continue
    fi
    tables "$library" "$state" "$least" "$below" "$flag" </dev/null
  done <"$out/$library.states"
done
if [ "$rows" -gt 0 ]; then
  echo "$rows rows could not be predicted" >&2
  false
fi
