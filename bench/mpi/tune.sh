#!/usr/bin/env bash
# What rules by taulop tune are worth: every algorithm of bcast, allgather, allreduce, reduce
# and alltoall that Debian's Open MPI can be told, forced in turn, beside the library's own
# choice, among as many ranks as there are cores; then the library with the rules file, to
# show that it takes what the file says. The same for MPICH, with a file an algorithm, or with
# FORCE=variable a control variable, which spares it the search of a file.
#
#   bench/mpi/tune.sh [ROUNDS] [FOLDER]     (4 rounds, about six minutes)
#
# Open MPI sends what fits into 4 KB through shared memory in one segment, and has the
# kernel copy the rest; MPICH over UCX does the same from 8 KB on. TUNE has flags for taulop
# tune, SWEEP for taulop sweep, and PARAMS a parameter file instead of a sweep; QUIET a program
# that each measurement is run by; LIBRARIES those to measure, openmpi and mpich.
#
# MPICH allocates temporary vectors anew in each call. Whether these are mapped anew, too, at
# 2 µs a page, depends on what the process freed before, and not on the algorithm: so all its
# settings keep what they free. HEAP= leaves that to the C library, as it comes.
#
# What is missing of the libraries it installs with apt-get, as root. FOLDER keeps all
# that was measured (default a temporary one).
#
# The best of many noisy times is too short. So the best setting of a cell is chosen by the
# odd rounds and timed by the even ones, and the other way round.
#
# The host of a virtual machine moves its CPUs: tables are of each state that the machine was in
# for a tenth of the time or more, the most frequent first, by what messages of nothing took just
# before and after each batch.
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
rounds=${1:-4} keep=${2:-} least=8 most=$((4 << 20))
if [ "$rounds" -lt 2 ]; then
  echo "two rounds or more: one says which is the best, another one how good it is" >&2
  exit 2
fi
folder "$keep"
install mpich libmpich-dev openmpi-bin libopenmpi-dev gcc binutils
build bench/mpi/choices.c
go build -o "$tmp/states" ./bench/states
count_ranks

collectives="bcast allgather allreduce reduce alltoall"
libraries=" ${LIBRARIES:-openmpi mpich} "
read -ra quiet <<<"${QUIET:-}"
read -ra heap <<<"${HEAP-MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=1073741824}"
read -ra tune <<<"${TUNE:-}"
force=${FORCE:-file}
mpir=(MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM=mpir MPIR_CVAR_REDUCE_POSIX_INTRA_ALGORITHM=mpir MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=mpir)
read -ra sweep <<<"${SWEEP:--time 75s -with cma -segments 1 -segment 4K -placement local -cache in}"

# Every setting as Open MPI's control variables force it; 0:0:0 is its own choice.
settings() {
  for c in $collectives; do
    echo "$c 0:0:0"
    case $c in
    bcast) ids="1 2 3 4 5 6 7 8 9" chunked=" 2 3 4 5 6 7 " ;;
    allgather) ids="1 2 3 4 5 6" chunked=" " ;;
    allreduce) ids="1 2 3 4 5 6" chunked=" 5 " ;;
    reduce) ids="1 2 3 4 5 6 7" chunked=" 2 3 4 5 6 " ;;
    alltoall) ids="1 2 3 4 5" chunked=" " ;;
    esac
    for id in $ids; do
      case $c:$id in
      bcast:2 | reduce:2) fans="2 4 8" ;;
      allgather:6 | alltoall:5) [ "$ranks" = 2 ] || continue; fans=0 ;;
      *) fans=0 ;;
      esac
      for fan in $fans; do
        [ "$fan" -lt "$ranks" ] || continue
        for segment in 0 8192 32768 131072 524288; do
          [[ $segment = 0 || $chunked = *" $id "* ]] || continue
          v="coll_tuned_${c}_algorithm"
          line="$c $id:$fan:$segment $v=$id ${v}_segmentsize=$segment"
          [ "$fan" = 0 ] || line+=" ${v}_chain_fanout=$fan"
          echo "$line"
        done
      done
    done
  done
}
settings >"$out/settings"
for c in $collectives; do
  echo "$c file" >>"$out/file"
  echo "$c 0" >>"$tmp/own"
  echo "$c release_gather" >>"$tmp/release"
done

openmpi() { # SETTINGS TABLE FLAGS…
  local settings=$1 table=$2
  shift 2
  "${quiet[@]}" mpirun.openmpi --allow-run-as-root --bind-to core -n "$ranks" --mca coll_tuned_use_dynamic_rules 1 "$@" \
    "$tmp/openmpi" 3 "$least" "$most" "$settings" >"$table" 2>"$tmp/openmpi.err" || { cat "$tmp/openmpi.err" >&2; exit 1; }
}
mpich() { # SETTINGS TABLE VARIABLES…
  local settings=$1 table=$2
  shift 2
  "${quiet[@]}" env "${heap[@]}" "$@" mpirun.mpich -bind-to core -n "$ranks" "$tmp/mpich" 3 "$least" "$most" "$settings" >"$table"
}

# The file that MPICH chooses by is in the library, as text in one line.
base() {
  local library
  [[ $libraries = *" mpich "* ]] || return 1
  library=$(ldconfig -p | awk '/libmpich\.so/ { print $NF; exit }')
  strings -n 500 -w "$library" | grep 'algorithm=MPIR_Bcast_intra_binomial' | head -1 >"$out/generic.json"
  [ -s "$out/generic.json" ]
}

# The n-th algorithm of each collective; nothing beyond the last of all. A file has it chosen in one
# step, the least that any file costs: of a name that stands there twice the library takes the last.
forced() {
  local names=(
    "bcast binomial scatter_recursive_doubling_allgather scatter_ring_allgather"
    "allgather brucks recursive_doubling ring"
    "allreduce recursive_doubling reduce_scatter_allgather"
    "reduce binomial reduce_scatter_gather"
    "alltoall brucks pairwise scattered"
  ) words c a tree leaf few
  tree=$(<"$out/generic.json") tree=${tree%\}*} variables=()
  : >"$tmp/forced"
  for words in "${names[@]}"; do
    read -ra words <<<"$words"
    c=${words[0]} a=${words[$1]:-}
    [ -n "$a" ] || continue
    case $a in *recursive_doubling*) [ $((ranks & (ranks - 1))) = 0 ] || [ "$c" = allreduce ] || continue ;; esac
    echo "$c $a" >>"$tmp/forced"
    leaf="\"algorithm=MPIR_${c^}_intra_$a\": {}"
    if [[ $a = reduce_scatter_* ]]; then # which every file has to guard
      few="{\"algorithm=MPIR_${c^}_intra_${words[1]}\": {}}"
      leaf="\"is_op_built_in=no\": $few, \"count<pow2\": $few, \"count=any\": {$leaf}"
    fi
    tree+=", \"collective=$c\": {\"comm_type=intra\": {$leaf}}"
    variables+=("MPIR_CVAR_${c^^}_INTRA_ALGORITHM=$a")
  done
  [ "$force" = variable ] || variables=(MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$tmp/forced.json")
  echo "$tree}" >"$tmp/forced.json"
}

# pass runs MPICH with every setting, in random order: the machine changes within seconds.
pass() {
  local which
  for which in $(shuf -e release own file 1 2 3); do
    case $which in
    release) mpich "$tmp/release" "$tmp/table-release" ;;
    own) mpich "$tmp/own" "$tmp/table-own" "${mpir[@]}" ;;
    file) mpich "$out/file" "$tmp/table-file" "${mpir[@]}" MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$out/rules.json" ;;
    *)
      forced "$which"
      mpich "$tmp/forced" "$tmp/table-$which" "${mpir[@]}" "${variables[@]}"
      ;;
    esac
  done
}

params=${PARAMS:-$out/host.json}
if [ -z "${PARAMS:-}" ]; then
  "${quiet[@]}" "$tmp/taulop" sweep -quiet -force -o "$params" "${sweep[@]}" >"$out/sweep"
fi
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
"$tmp/taulop" tune -params "$params" -for openmpi4 -P "$ranks" -m "1:$most" "${tune[@]}" -o "$out/rules.conf" -tsv $collectives >"$out/openmpi.rules"
if base; then
  "$tmp/taulop" tune -params "$params" -for mpich4 -base "$out/generic.json" -P "$ranks" -m "1:$most" "${tune[@]}" -o "$out/rules.json" -tsv $collectives >"$out/mpich.rules"
elif [[ $libraries = *" mpich "* ]]; then
  echo "MPICH is left out: its library has no file of rules in it, as text in one line" >&2
fi
for round in $(seq "$rounds"); do
  if [[ $libraries = *" openmpi "* ]]; then
    openmpi "$out/settings" "$out/openmpi-$round.tsv"
    openmpi "$out/file" "$out/openmpi-file-$round.tsv" --mca coll_tuned_dynamic_rules_filename "$out/rules.conf"
  fi
  [ -s "$out/generic.json" ] || continue
  for pass in 1 2 3 4 5 6; do
    pass
    cat "$tmp"/table-[^f]* >>"$out/mpich-$round.tsv"
    cat "$tmp/table-file" >>"$out/mpich-file-$round.tsv"
  done
done
echo "load after: $(cut -d ' ' -f 1-3 /proc/loadavg)"
"$tmp/taulop" topo | sed -n '1,/^online/p'

# tables LIBRARY FLAG... prints those of each state; flags are of penalties.awk.
tables() {
  local library=$1 took share least below flag
  cut -f 7,8 "$out/$library"-*.tsv | tr '\t' '\n' | "$tmp/states" >"$out/$library.states"
  while read -r took share least below flag; do
    printf '\nan empty message takes %s µs, %s %% of them\n' "$took" "$share"
    if [ "$share" -lt 10 ]; then
      echo "too seldom for a table"
      continue
    fi
    awk -v least="$least" -v below="$below" "${@:2}" -f bench/mpi/penalties.awk "$out/$library.rules" \
      "$out/$library"-[0-9]*.tsv "$out/$library"-file-*.tsv
  done <"$out/$library.states"
}

if [[ $libraries = *" openmpi "* ]]; then
  printf '\n== %s, %d ranks\n' "$(mpirun.openmpi --version | sed -n '1s/.* /Open MPI /p')" "$ranks"
  tables openmpi -v own=0:0:0
fi
if [ -s "$out/generic.json" ]; then
  printf '\n== %s, %d ranks\n' "$(mpichversion | awk '/Version|Device/ { sub(/.*:[ \t]*/, ""); v = v " " $0 } END { print "MPICH" v }')" "$ranks"
  tables mpich -v own=0 -v ours=file
fi
