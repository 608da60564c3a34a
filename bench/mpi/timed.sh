#!/usr/bin/env bash
# What tune -plan and tune -timed are worth: rules from a job beside all settings that Debian's Open
# MPI and MPICH can be told, timed by the same program in the same minutes, among as many ranks as
# there are cores.
#
#   bench/mpi/timed.sh [PASSES] [FOLDER]     (12 passes over all settings, about ten minutes)
#
# A penalty is the time beyond the best of a cell: one half of the passes chooses the best, the other
# one times it and the rule. PARAMS is a parameter file instead of a sweep of 75 s; BUDGET is of a job.
# FOLDER keeps all that was measured (default a temporary one).
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
passes=${1:-12} keep=${2:-} budget=${BUDGET:-120s}
folder "$keep"
install mpich libmpich-dev openmpi-bin libopenmpi-dev gcc binutils
build internal/plan/job/timing.c
count_ranks
collectives="bcast allgather allreduce reduce alltoall"
params=${PARAMS:-$out/host.json}
[ -n "${PARAMS:-}" ] || "$tmp/taulop" sweep -quiet -force -o "$params" -time 75s -with cma -segments 1 -segment 4K -placement local -cache in >"$out/sweep"
library=$(ldconfig -p | awk '/libmpich\.so/ { print $NF; exit }')
strings -n 500 -w "$library" | grep 'algorithm=MPIR_Bcast_intra_binomial' | head -1 >"$out/generic.json"

# all writes every setting of a library as work: for MPICH one file each of its processes.
all() {
  local c m id ids fan fans segment chunked v names words i
  for m in 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576 2097152 4194304; do
    for c in $collectives; do
      if [ "$1" = mpich ]; then
        case $c in
        bcast) names="binomial scatter_recursive_doubling_allgather scatter_ring_allgather" ;;
        allgather) names="brucks recursive_doubling ring" ;;
        allreduce) names="recursive_doubling reduce_scatter_allgather" ;;
        reduce) names="binomial reduce_scatter_gather" ;;
        alltoall) names="brucks pairwise scattered" ;;
        esac
        read -ra words <<<"$names"
        echo "$c own $m" >>"$out/all-mpich-0"
        for i in "${!words[@]}"; do echo "$c ${words[$i]} $m" >>"$out/all-mpich-$((i + 1))"; done
        continue
      fi
      case $c in
      bcast) ids="1 2 3 4 5 6 7 8 9" chunked=" 2 3 4 5 6 7 " ;;
      allgather) ids="1 2 3 4 5 6" chunked=" " ;;
      allreduce) ids="1 2 3 4 5 6" chunked=" 5 " ;;
      reduce) ids="1 2 3 4 5 6 7" chunked=" 2 3 4 5 6 " ;;
      alltoall) ids="1 2 3 4 5" chunked=" " ;;
      esac
      echo "$c own $m" >>"$out/all-openmpi-0"
      for id in $ids; do
        fans=0
        case $c:$id in
        bcast:2 | reduce:2) fans="2 4 8" ;;
        allgather:6 | alltoall:5) [ "$ranks" = 2 ] || continue ;;
        esac
        for fan in $fans; do
          [ "$fan" = 0 ] || [ "$fan" -lt "$ranks" ] || continue
          for segment in 0 8192 32768 131072 524288; do
            [[ $segment = 0 || $chunked = *" $id "* && $segment -lt $m ]] || continue
            v="coll_tuned_${c}_algorithm"
            echo "$c $id:$fan:$segment $m $v=$id ${v}_segmentsize=$segment ${v}_chain_fanout=$fan" >>"$out/all-openmpi-0"
          done
        done
      done
    done
  done
}

# forced are the variables of a work file of MPICH.
forced() {
  awk '$2 != "own" { print "MPIR_CVAR_" toupper($1) "_INTRA_ALGORITHM=" $2; print "MPIR_CVAR_" toupper($1) "_POSIX_INTRA_ALGORITHM=mpir" }' "$1" | sort -u
}
launchers() {
  case $1 in
  openmpi) launcher=(mpirun.openmpi --allow-run-as-root --bind-to core -n) variables=(OMPI_MCA_coll_tuned_use_dynamic_rules=1) ;;
  mpich) launcher=(mpirun.mpich -bind-to core -n) variables=() ;;
  esac
}

for library in openmpi mpich; do
  all $library
  if [ $library = openmpi ]; then to=(-for openmpi4); else to=(-for mpich4 -base "$out/generic.json"); fi
  "$tmp/taulop" tune -quiet -plan "$out/$library" -budget "$budget" -params "$params" "${to[@]}" -P "$ranks" -m 8:4M $collectives
done
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
for library in openmpi mpich; do
  launchers $library
  begun=$SECONDS
  MPICC=mpicc.$library MPIRUN="${launcher[*]}" bash "$out/$library/run.sh"
  echo "$library: the job took $((SECONDS - begun)) s for $(ls "$out/$library/results" | wc -l) results"
  begun=$SECONDS
  for pass in $(seq "$passes"); do
    for work in "$out/all-$library"-?; do
      mapfile -t words < <([ $library = openmpi ] || forced "$work")
      env "${variables[@]}" "${words[@]}" "${launcher[@]}" "$ranks" "$tmp/$library" "$work" "$out/$library-$((pass % 2))-$pass-${work##*-}.tsv" 600
    done
  done
  echo "$library: $passes passes over all settings took $((SECONDS - begun)) s"
done
echo "load after: $(cut -d ' ' -f 1-3 /proc/loadavg)"
for library in openmpi mpich; do
  to=() && [ $library = openmpi ] || to=(-base "$out/generic.json")
  "$tmp/taulop" tune -quiet -timed "$out/$library" -params "$params" "${to[@]}" -o "$out/$library.rules" -tsv >"$out/$library.tsv"
  printf '\n== %s\n' "$library"
  awk -f bench/mpi/timed.awk "$out/$library.tsv" "$out/$library"-[01]-*.tsv
done
