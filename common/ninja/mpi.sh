#!/bin/sh
# Prints the flags with which a program for several devices must be compiled and linked: those for MPI if there is an
# mpicc and, for GPUs, those for NCCL if its header and library are in CUDA's or the system's folders. A program without
# these libraries has one rank.
#
#   sh common/ninja/mpi.sh compile mpi|nccl COMPILER...    prints flags for the compiler
#   sh common/ninja/mpi.sh link mpi|nccl COMPILER...       prints libraries
#   sh common/ninja/mpi.sh depends mpi|nccl COMPILER...    prints, for a depfile, the paths that change when MPI or NCCL
#                                                          is installed or removed: its files or, if it is missing, the
#                                                          folders in which they would be
set -eu

# mpi_flags compile|link: prints mpicc's flags for compiling (-I, -D) or for linking (-L, -l)
mpi_flags() {
    for word in $(mpicc "--showme:$1" 2>/dev/null || mpicc -show); do
        case $1$word in
        compile-[ID]* | link-[Ll]*) printf '%s ' "$word" ;;
        esac
    done
}

# has_mpi COMPILER...: checks that the compiler can link with MPI. Linking fails if the compiler targets a different
# processor or if mpicc is installed without the headers.
has_mpi() {
    command -v mpicc >/dev/null || return 1
    # shellcheck disable=SC2046 # the flags must split into words
    echo '#include <mpi.h>
int main(void) { return MPI_Init(0, 0); }' |
        "$@" -x c - -o /dev/null $(mpi_flags compile) $(mpi_flags link) 2>/dev/null
}

# mpi compile|link COMPILER...: prints the flags for MPI, if the compiler can link with it
mpi() {
    what=$1
    shift
    has_mpi "$@" || return 0
    mpi_flags "$what"
    [ "$what" = link ] || printf '%s ' -DHAVE_MPI
}

# nearest PATH...: prints each path's nearest existing folder, which changes when the rest of the path is created
nearest() {
    for path in "$@"; do
        while ! [ -d "$path" ]; do
            path=$(dirname "$path")
        done
        echo "$path"
    done
}

# mpi_depends COMPILER...: prints the paths that MPI depends on, one per line
mpi_depends() {
    if mpicc=$(command -v mpicc); then
        echo "$mpicc"
        # shellcheck disable=SC2046 # the flags must split into words
        has_mpi "$@" || nearest /usr/include "/usr/lib/$("$1" -print-multiarch 2>/dev/null)" \
            $({ mpi_flags compile; mpi_flags link; } | tr ' ' '\n' | sed -n 's/^-[IL]//p')
    else
        echo "$PATH" | tr : '\n' | while read -r folder; do
            case $folder in /*) nearest "$folder" ;; esac
        done
    fi
}

# first_in FOLDERS NAME: prints the first file called NAME in FOLDERS, a list with one folder per line
first_in() {
    echo "$1" | while read -r folder; do
        [ ! -e "$folder/$2" ] || echo "$folder/$2"
    done | head -n 1
}

# find_nccl: sets $folders to the folders that may contain NCCL, and $header and $library to the files found there
find_nccl() {
    header='' library='' folders=''
    nvcc=$(command -v "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" || command -v nvcc) || return 0
    cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    folders=$(find -L "$cuda/include" "$cuda"/targets/*/include /usr/include "$cuda/lib64" "$cuda/lib" \
        "$cuda"/targets/*/lib /usr/lib/*-linux-gnu /usr/lib64 -maxdepth 0 2>/dev/null) || true
    header=$(first_in "$folders" nccl.h)
    library=$(first_in "$folders" libnccl.so)
}

# nccl compile|link: prints flags if both header and library are found
nccl() {
    find_nccl
    [ "$header" ] && [ "$library" ] || return 0
    case $1 in
    compile) printf '%s ' -DHAVE_NCCL "-I$(dirname "$header")" ;;
    link) printf '%s ' "-L$(dirname "$library")" -Xlinker -rpath -Xlinker "$(dirname "$library")" -lnccl ;;
    esac
}

# nccl_depends: prints the paths that NCCL depends on, one per line
nccl_depends() {
    find_nccl
    if [ "$header" ] && [ "$library" ]; then
        printf '%s\n' "$header" "$library"
    elif [ "$nvcc" ]; then
        echo "$folders"
        nearest "$cuda/include" "$cuda/lib64"
    fi
}

what=$1
connection=$2
shift 2
[ "$connection" = mpi ] || set -- gcc # nvcc uses gcc for C files
case $what in
depends)
    {
        mpi_depends "$@"
        [ "$connection" = mpi ] || nccl_depends
    } | sort -u | sed -n 's/[ #]/\\&/g; s/\$/$$/g; /./p' | tr '\n' ' '
    ;;
*)
    mpi "$what" "$@"
    [ "$connection" = mpi ] || nccl "$what"
    ;;
esac
