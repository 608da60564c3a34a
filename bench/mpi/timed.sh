#!/usr/bin/env bash
# Evaluates tune -plan and tune -timed: rules from a job beside all settings of Debian's Open MPI and
# MPICH, timed by the same program in the same minutes, with one rank on each core.
#
#   bench/mpi/timed.sh [FOLDER]     (about ten minutes)
#
# A penalty is the time beyond the best of a cell: one half of the passes chooses the best, the other
# one times it and the rule. PARAMS is a parameter file instead of a sweep of 75 s; BUDGET is of a job,
# and of the passes over all settings. FOLDER keeps all measurements (default a temporary one).
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
most 1 "$@"
budget=${BUDGET:-150s}
[ -z "${PARAMS:-}" ] || exists "$(absolute "$PARAMS")"
folder "${1:-}"
params=$out/host.json
[ -z "${PARAMS:-}" ] || params=$(absolute "$PARAMS")
install mpich libmpich-dev openmpi-bin libopenmpi-dev gcc binutils
go build -o "$tmp/taulop" ./cmd/taulop
count_ranks
[ -n "${PARAMS:-}" ] || "$tmp/taulop" sweep -quiet -force -o "$params" -time 75s -with cma -segments 1 -segment 4K -placement local -cache in >"$out/sweep"
tree_of_mpich >"$out/generic.json"
targets() {
  case $1 in
  openmpi) target=(-for openmpi4) ;;
  mpich) target=(-for mpich4 -base "$out/generic.json") ;;
  esac
}

for library in openmpi mpich; do
  targets $library
  for which in plan all; do
    flags=() && [ $which = plan ] || flags=(-all)
    "$tmp/taulop" tune -quiet -plan "$out/$which-$library" "${flags[@]}" -budget "$budget" -params "$params" "${target[@]}" -P "$ranks" -m 8:4M \
      bcast allgather allreduce reduce alltoall >"$out/$which-$library.txt"
  done
done
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
for library in openmpi mpich; do
  for which in plan all; do
    begun=$SECONDS
    MPICC=mpicc.$library MPIRUN="$(launcher $library)" bash "$out/$which-$library/run.sh" >>"$out/run.txt"
    took=$((SECONDS - begun)) passes=$(ls "$out/$which-$library/results" | wc -l)
    awk -v library=$library -v which=$which -v took=$took -v passes="$passes" '$1 == "time" { n++ }
      END { printf "%-8s %s: %d settings, %d passes in %d s, one in %.2f s\n", library, which, n / passes, passes, took, took / passes }' "$out/$which-$library/results"/*
  done
done
echo "load after: $(cut -d ' ' -f 1-3 /proc/loadavg)"
for library in openmpi mpich; do
  targets $library
  "$tmp/taulop" tune -quiet -timed "$out/plan-$library" -params "$params" "${target[@]}" -o "$out/$library.rules" -tsv >"$out/$library.tsv"
  printf '\n== %s\n' "$library"
  awk -f bench/mpi/timed.awk "$out/$library.tsv" "$out/all-$library/results"/*.tsv
done
