#!/bin/sh
# What a program on several devices is compiled and linked with: MPI where there is mpicc; for GPUs also NCCL, where its
# header and library lie in CUDA's folders or the system's. What is missing leaves a program for one rank.
#
#   sh common/ninja/mpi.sh compile mpi|nccl COMPILER...    prints flags for the compiler
#   sh common/ninja/mpi.sh link mpi|nccl COMPILER...       prints libraries
#   sh common/ninja/mpi.sh depends                         prints what changes when MPI is installed or removed
set -eu

# mpi_flags compile|link: of the flags that mpicc has those that matter
mpi_flags() {
    for word in $(mpicc "--showme:$1" 2>/dev/null || mpicc -show); do
        case $1$word in
        compile-[ID]* | link-[Ll]*) printf '%s ' "$word" ;;
        esac
    done
}

# mpi compile|link COMPILER...: flags, if the compiler can link with MPI: one for another processor cannot
mpi() {
    command -v mpicc >/dev/null || return 0
    what=$1
    shift
    # shellcheck disable=SC2046 # flags are words
    echo '#include <mpi.h>
int main(void) { return MPI_Init(0, 0); }' |
        "$@" -x c - -o /dev/null $(mpi_flags compile) $(mpi_flags link) 2>/dev/null || return 0
    mpi_flags "$what"
    [ "$what" = link ] || printf '%s ' -DHAVE_MPI
}

# nccl compile|link: flags, if both header and library are found
nccl() {
    nvcc=$(command -v "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" || command -v nvcc) || return 0
    cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    header=$(find -L "$cuda/include" "$cuda"/targets/*/include /usr/include -maxdepth 1 -name nccl.h 2>/dev/null |
        head -n 1)
    library=$(find -L "$cuda/lib64" "$cuda/lib" "$cuda"/targets/*/lib /usr/lib/*-linux-gnu /usr/lib64 -maxdepth 1 \
        -name libnccl.so 2>/dev/null | head -n 1)
    [ "$header" ] && [ "$library" ] || return 0
    case $1 in
    compile) printf '%s ' -DHAVE_NCCL "-I$(dirname "$header")" ;;
    link) printf '%s ' "-L$(dirname "$library")" -Xlinker -rpath -Xlinker "$(dirname "$library")" -lnccl ;;
    esac
}

case $1 in
depends) command -v mpicc || echo /usr/bin ;;
*)
    what=$1
    connection=$2
    shift 2
    [ "$connection" = mpi ] || set -- gcc # as nvcc does for C
    mpi "$what" "$@"
    [ "$connection" = mpi ] || nccl "$what"
    ;;
esac
