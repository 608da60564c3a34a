#!/usr/bin/env bash
# Tests whether an MPICH with shared memory of its own (ch4:ofi) follows the files of taulop tune -timed. It
# reads RULES.posix before RULES. For sizes with and without a rule the script compares the messages that each
# rank sends under both files, with the algorithm forced, and by the library's own choice, release_gather,
# which sends none. Nothing is timed: the rules rest on invented times.
#
#   bench/mpi/posix.sh MPICC MPIRUN [PARAMS]     (docs/tasks/data/host.json)
#
# The commands are of an installed MPICH 4 that has libmpi.a or libmpich.a, which comes with
#
#   configure --with-device=ch4:ofi --enable-static --disable-fortran --prefix=…
#
# It ends with status 1 if a rule is not taken, or if one is where none was written.
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
most 3 "$@"
[ $# -ge 2 ] || refuse "name two commands: bench/mpi/posix.sh MPICC MPIRUN [PARAMS]"
programs "$1" "$2"
mpicc=$1 mpirun=$2 params=docs/tasks/data/host.json ranks=2
[ $# -lt 3 ] || params=$(absolute "$3")
exists "$params"
folder ""
static=
for directory in $("$mpicc" -show | grep -o -- '-L[^ ]*' | cut -c 3-); do
  for name in libmpi.a libmpich.a; do
    [ -n "$static" ] || [ ! -e "$directory/$name" ] || static=$directory/$name
  done
done
if [ -z "$static" ]; then
  echo "$mpicc has no libmpi.a: configure MPICH with --enable-static" >&2
  exit 1
fi
mapfile -t needs < <(sed -n 's/^Libs[.a-z]*://p' "$(dirname "$static")/pkgconfig/mpich.pc" | tr ' ' '\n' | grep '^-l' | grep -v '^-lmpi')
"$mpicc" -O2 -DWRAP -Wl,--as-needed,--wrap=MPIC_Send,--wrap=MPIC_Isend,--wrap=MPIC_Sendrecv -o "$tmp/sent" bench/mpi/sent.c "$static" "${needs[@]}" -lm
go build -o "$tmp/taulop" ./cmd/taulop
tree_of_mpich "$static" >"$out/generic.json"
target=(-quiet -params "$params" -base "$out/generic.json")
"$tmp/taulop" tune "${target[@]}" -plan "$out/plan" -all -for mpich4 -P "$ranks" -m 8,1K,16K,256K bcast allreduce reduce >"$out/plan.txt"
work=$out/plan/work/P$ranks-rules

# Times as of a job, in which at 1 and 256 KiB the first algorithm is twice as quick as the own choice.
mkdir "$out/plan/results"
for pass in 1 2 3 4 5 6; do
  awk -v ranks="$ranks" -v OFS='\t' '
    BEGIN { print "head", ranks, 1, "host", "unknown", "MPICH Version: 4.0" }
    {
      us = 10
      if ($2 != "own") us = ($3 == 1024 || $3 == 262144) && !had[$1, $3]++ ? 5 : 20
      print "time", $1, $2, ranks, $3, us
    }' "$work" >"$out/plan/results/P$ranks-rules-$pass.tsv"
done
"$tmp/taulop" tune "${target[@]}" -timed "$out/plan" -o "$out/rules" -csv >"$out/rules.csv"
files=(MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE="$out/rules" MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE="$out/rules.posix")
awk '{ print $1, $2, $3 }' "$work" >"$tmp/file"
"$mpirun" -n "$ranks" "$tmp/sent" "$work" >"$tmp/forced.tsv"
env "${files[@]}" "$mpirun" -n "$ranks" "$tmp/sent" "$tmp/file" >"$tmp/file.tsv"
env "${files[0]}" "$mpirun" -n "$ranks" "$tmp/sent" "$tmp/file" >"$tmp/alone.tsv"
awk -F '\t' '
  FILENAME ~ /rules.csv$/ { split($0, of, ","); if (of[4] != "own choice" && FNR > 1) rule[of[1], of[3]] = of[4]; next }
  FILENAME ~ /forced.tsv$/ { forced[$1, $2, $3] = $4; next }
  FILENAME ~ /alone.tsv$/ { alone[$1, $3] = $4; next }
  seen[$1, $3]++ { next }
  {
    key = $1 SUBSEP $3
    want = key in rule ? rule[key] : "own"
    verdict = $4 != forced[$1, want, $3] ? "NOT TAKEN" : want == "own" ? "own choice" : $4 == forced[$1, "own", $3] ? "sends as the own choice" : "taken"
    printf "%-10s %8d  %-22s own %-18s forced %-18s files %-18s RULES alone %-18s %s\n", $1, $3, want, forced[$1, "own", $3], forced[$1, want, $3], $4, alone[key], verdict
    bad += verdict == "NOT TAKEN"
    taken += verdict == "taken"
  }
  END { if (!taken) print "no rule shows"; exit bad > 0 || !taken }' "$out/rules.csv" "$tmp/forced.tsv" "$tmp/alone.tsv" "$tmp/file.tsv"
