#!/usr/bin/env bash
# How many instructions Debian's Open MPI, as it comes and without single copies, and MPICH
# execute in a call: instructions.c says what is counted and how. It takes two minutes, two
# cores with nothing else on them, and an x86 processor.
#
#   bench/mpi/instructions.sh
#
# For another library compile instructions.c with its mpicc, and run it with its mpirun.
# What is missing of the libraries it installs with apt-get, as root.
. "$(dirname "$0")/../failed.sh"
cd "$(dirname "$0")/../.."
. bench/mpi/setup.sh
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
