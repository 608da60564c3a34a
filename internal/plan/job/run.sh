#!/usr/bin/env bash
# Times what plan.json says, and keeps what it took in results: taulop tune -timed reads it, also
# while this runs, and after it was cut off. Run again, it goes on where it was.
#
#   bash run.sh [SECONDS]
#
# MPICC and MPIRUN name other commands than mpicc and mpirun, with flags: MPIRUN="srun -n" starts
# ranks under Slurm.
cd "$(dirname "$0")" || exit 1
budget=${1:-@BUDGET@}
read -ra mpicc <<<"${MPICC:-mpicc}"
read -ra mpirun <<<"${MPIRUN:-mpirun --bind-to core -n}"
with=@WITH@ # osu or imb times instead of timing.c, which then says who does
mkdir -p results
"${mpicc[@]}" -O2 -o timing timing.c || exit 1

left() { echo $((budget - SECONDS)); }
whole() { [ "$(tail -n 1 "$1" 2>/dev/null)" = "done" ]; }

# launch NAME RANKS VARIABLES… has one process an MPI rank time what is left of a pass.
launch() {
  local result=results/$1-$pass.tsv tries crashed=
  for tries in 1 2 3; do
    whole "$result" && return
    [ "$(left)" -gt 0 ] || return
    start=(env "${@:3}" timeout -k 5 $(($(left) + 20)) "${mpirun[@]}" "$2")
    if [ -n "$with" ]; then
      suite "$1" "$2" && return
    else
      "${start[@]}" ./timing "work/$1" "$result" "$(left)" $crashed && return
    fi
    crashed=crashed
    echo "run.sh: work/$1 ended before its time: see the end of $result" >&2
  done
  whole "$result" && return
  missing=1
  # A setting that crashes is skipped by the next pass; what never begins never will.
  grep -qs . results/*.tsv && return
  echo "run.sh: ${mpirun[*]} $2 ./timing does not run: see above, and set MPIRUN" >&2
  exit 1
}

# suite NAME RANKS has a command time; what it printed is kept when it has ended.
suite() {
  local head=work/head-$2.tsv command
  whole "$head" || { rm -f "$head" && "${mpirun[@]}" "$2" ./timing /dev/null "$head" 60 || return; }
  read -ra command <"work/$1"
  (head -n 1 "$head" && "${start[@]}" "${command[@]}" && echo "done") >"work/$1.part" && mv "work/$1.part" "$result"
}

missing=

for pass in $(seq @PASSES@); do
  while read -ra one; do
    [ "$(left)" -gt 0 ] || { echo "run.sh: the time is up; run it again to go on"; exit 0; }
    launch "${one[@]}" </dev/null
  done < <(shuf launches)
done
[ -z "$missing" ] || { echo "run.sh: some passes are not whole: run it again to go on" >&2; exit 1; }
echo "run.sh: all is timed; taulop tune -timed $PWD writes the rules"
