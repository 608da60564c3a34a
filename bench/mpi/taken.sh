#!/usr/bin/env bash
# Tests whether libraries follow rules files. For a size within each rule it compares the messages and
# bytes that each rank sends under a file of taulop tune, with the algorithm forced, and by the
# library's own choice. Nothing is timed.
#
#   bench/mpi/taken.sh [PARAMS [RANKS]]     (docs/tasks/data/host.json, 2)
#
# It ends with status 1 if a rule is not taken. It installs Debian's Open MPI and MPICH with apt-get, as root,
# if they are missing.
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
params=docs/tasks/data/host.json ranks=${2:-2}
[ $# -lt 1 ] || params=$(absolute "$1")
exists "$params"
most 2 "$@"
whole RANKS "$ranks" 2
folder ""
install mpich libmpich-dev openmpi-bin libopenmpi-dev gcc binutils
build bench/mpi/sent.c
tree_of_mpich >"$out/generic.json"

sent() { # LIBRARY WORK VARIABLES…
  local start
  read -ra start <<<"$(launcher "$1" | sed 's/-bind-to core/-bind-to none/; s/mpirun.openmpi/& --oversubscribe/')"
  env OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any "${@:3}" "${start[@]}" "$ranks" "$tmp/$1" "$2"
}

not=0
for library in openmpi mpich; do
  dynamic=(OMPI_MCA_coll_tuned_use_dynamic_rules=1)
  case $library in
  openmpi)
    target=(-for openmpi4)
    file=("${dynamic[@]}" OMPI_MCA_coll_tuned_dynamic_rules_filename="$out/$library")
    ;;
  mpich)
    target=(-for mpich4 -base "$out/generic.json")
    file=(MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$out/$library")
    ;;
  esac
  "$tmp/taulop" tune -quiet -params "$params" "${target[@]}" -P "$ranks" -o "$out/$library" -tsv >"$out/rules"
  [ ! -e "$out/$library.posix" ] || file+=(MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE="$out/$library.posix")
  # A size within each rule, of whole doubles.
  awk -F '\t' 'NR > 1 { m = int(($3 + 7) / 8) * 8; if (m < 8) m = 8; if (m <= $4) print $1, $5 ":" $6 ":" $7 ":" $8, m }' "$out/rules" >"$tmp/file"
  while read -r collective setting m; do
    IFS=: read -r id name fan segment <<<"$setting"
    v="coll_tuned_${collective}_algorithm" kind=tree
    case $collective in bcast | reduce | scatter) kind=chain ;; esac
    words="$v=$id ${v}_segmentsize=$segment ${v}_${kind}_fanout=$fan"
    [ $library = openmpi ] || words="MPIR_CVAR_${collective^^}_INTRA_ALGORITHM=$name"
    echo "$collective own $m"
    echo "$collective $setting $m $words"
  done <"$tmp/file" >"$tmp/forced"
  sent $library "$tmp/forced" "${dynamic[@]}" >"$tmp/forced.tsv"
  sent $library "$tmp/file" "${file[@]}" >"$tmp/file.tsv"
  printf '\n== %s: %s\n' $library "$(wc -l <"$tmp/file") rules"
  awk -F '\t' '
    FNR == NR { sent[$1, $2, $3] = $4; next }
    {
      verdict = $4 != sent[$1, $2, $3] ? "not taken" : $4 == sent[$1, "own", $3] ? "sends as the own choice" : "taken"
      printf "%-10s %8d  %-40s %s\n", $1, $3, $2, verdict
      if (verdict != "taken") printf "%20s own %s, forced %s, file %s\n", "", sent[$1, "own", $3], sent[$1, $2, $3], $4
      bad += verdict == "not taken"
    }
    END { exit bad > 0 }' "$tmp/forced.tsv" "$tmp/file.tsv" || not=1
done
exit $not
