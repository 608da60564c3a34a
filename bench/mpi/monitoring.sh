#!/usr/bin/env bash
# Records the communication matrix of bench/mpi/messages.c, or another MPI program, with the
# monitoring component of Debian's Open MPI, and maps its ranks.
#
#   bench/mpi/monitoring.sh FOLDER [RANKS [PROGRAM ARGUMENTS ...]]
#
# FOLDER gets trace.RANK.prof, a file for each rank, and ranks.txt, the rankfile. Without a
# PROGRAM it is messages.c among as many RANKS as there are cores: its ranks must all run
# at the same time. It installs Open MPI with apt-get, as root, if it is missing.
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
[ $# -gt 0 ] || refuse "say in which folder: bench/mpi/monitoring.sh FOLDER"
keep=$1 ranks=${2:-$(nproc)}
whole RANKS "$ranks"
shift $(($# < 2 ? $# : 2))
[[ ${1:-} != */* ]] || set -- "$(absolute "$1")" "${@:2}"
folder "$keep"
install openmpi-bin libopenmpi-dev gcc
if [ $# -eq 0 ]; then
  mpicc.openmpi -O2 -o "$tmp/messages" bench/mpi/messages.c
  set -- "$tmp/messages" 1 0 1024 65536
fi
go build -o "$tmp/taulop" ./cmd/taulop

mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" --mca pml_monitoring_enable 2 \
  --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename "$out/trace" "$@" >"$tmp/printed"
"$tmp/taulop" map "$out"/trace.*.prof
"$tmp/taulop" map -format openmpi -o "$out/ranks.txt" "$out"/trace.*.prof
echo
echo "mpirun --rankfile $out/ranks.txt"
cat "$out/ranks.txt"
