#!/usr/bin/env bash
# Predictions beside real MPI on this machine: Debian's Open MPI and MPICH carry
# out one-way messages, sendrecv rings, broadcasts and allgathers among as many
# ranks as there are cores, alternately with a sweep, and taulop verify -against puts
# both beside each other.
#
#   bench/mpi/run.sh [ROUNDS] [FOLDER]     (7 rounds, about seven minutes)
#
# What is missing of the libraries it installs with apt-get, as root. FOLDER keeps
# the sweep and what the programs printed (default a temporary one).
#
# Open MPI copies through shared memory in fragments of 32 KB, of a message the
# first and then three at once (pml_ob1_send_pipeline_depth): four segments of
# that size. MPICH is left as Debian builds it: from some size on the kernel copies
# straight from one process to the other, predicted with -transport single-copy.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-7} keep=${2:-} least=$((64 << 10)) most=$((4 << 20)) sizes=64K:4M
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
out=${keep:-$tmp/out}
mkdir -p "$out"
if [ -n "$(ls -A "$out")" ]; then
  echo "$out is not empty: name a new directory, or one that is empty" >&2
  exit 2
fi

missing=()
for package in mpich libmpich-dev openmpi-bin libopenmpi-dev gcc; do
  dpkg -s "$package" >"$tmp/found" 2>&1 || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  (apt-get update && apt-get install -y --no-install-recommends "${missing[@]}") >"$tmp/apt" 2>&1 ||
    { cat "$tmp/apt" >&2; exit 1; }
fi
for library in openmpi mpich; do
  "mpicc.$library" -O2 -o "$tmp/$library" bench/mpi/messages.c
done
go build -o "$tmp/taulop" ./cmd/taulop

ranks=$(lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l)
[ "$ranks" -le "$(nproc)" ] || ranks=$(nproc)
if [ "$ranks" -lt 2 ]; then
  echo "one core: messages need two" >&2
  exit 1
fi
# As of taulop verify: a rank sends from one arena and receives into another, each four
# times its share of the last-level cache.
arena=$((4 * $(getconf LEVEL3_CACHE_SIZE) / ranks >> 20))
[ "$arena" -gt 0 ] || arena=256

openmpi() {
  mpirun.openmpi --allow-run-as-root --bind-to core -n "$ranks" --mca pml ob1 --mca btl vader,self \
    --mca btl_vader_single_copy_mechanism none "$tmp/openmpi" "$@"
}
mpich() { mpirun.mpich -bind-to core -n "$ranks" "$tmp/mpich" "$@"; }

sweep() {
  local plan=(-o "$out/host.json" -segments 4 -segment 32K -setup ring,ping,sendrecv -placement local -gamma=false
    -m 4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M)
  [ ! -e "$out/host.json" ] || plan=(-resume "$out/host.json")
  "$tmp/taulop" sweep -quiet -time 35s "${plan[@]}" >"$tmp/sweep"
}

version() {
  case $1 in
  openmpi) mpirun.openmpi --version | sed -n '1s/.* /Open MPI /p' ;;
  mpich) mpichversion | awk '/Version|Device/ { sub(/.*:[ \t]*/, ""); v = v " " $0 } END { print "MPICH" v }' ;;
  esac
}
load() { cut -d ' ' -f 1-3 /proc/loadavg; }
echo "load before: $(load)"
for round in $(seq "$rounds"); do
  sweep
  order="openmpi mpich"
  [ $((round % 2)) = 1 ] || order="mpich openmpi"
  for library in $order; do
    "$library" 11 0 "$least" "$most" >>"$out/$library-in.txt"
    "$library" 5 "$arena" "$least" "$most" >>"$out/$library-off.txt"
  done
done
echo "load after: $(load)"
"$tmp/taulop" topo | sed -n '1,/^online/p'

for library in openmpi mpich; do
  for cache in in off; do
    printf '\n== %s, user data %s cache\n\n' "$(version $library)" "$cache"
    how=()
    [ $cache = in ] || how+=(-cache off)
    [ $library = openmpi ] || how+=(-transport single-copy)
    "$tmp/taulop" verify -against "$out/$library-$cache.txt" -params "$out/host.json" -m $sizes "${how[@]}" \
      message sendrecv bcast:binomial allgather:ring
  done
done
