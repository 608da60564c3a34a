#!/usr/bin/env bash
# Counts the instructions of a call in Debian's Open MPI, with and without single copies, and in MPICH;
# instructions.c says how. It needs two minutes, two idle cores, and an x86 processor.
#
#   bench/mpi/instructions.sh
#
# For another library compile instructions.c with its mpicc, and run it with its mpirun.
# It installs missing libraries with apt-get, as root.
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
most 0 "$@"
folder ""
install mpich libmpich-dev openmpi-bin libopenmpi-dev gcc
build bench/mpi/instructions.c
ob1=(--allow-run-as-root --bind-to core -n 2 --mca pml ob1 --mca btl vader,self)
echo "== openmpi4: $(dpkg-query -W -f '${Package} ${Version} ${Architecture}' libopenmpi3)"
mpirun.openmpi "${ob1[@]}" "$tmp/openmpi" "$tmp/page1"
echo "== openmpi4-none"
mpirun.openmpi "${ob1[@]}" --mca btl_vader_single_copy_mechanism none "$tmp/openmpi" "$tmp/page2"
echo "== mpich4: $(dpkg-query -W -f '${Package} ${Version} ${Architecture}' libmpich12)"
mpirun.mpich -bind-to core -n 2 "$tmp/mpich" "$tmp/page3"
