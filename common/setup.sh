#!/bin/sh
# Installs missing packages, and nothing else, on Debian and Ubuntu; on other systems, lists what to install.
#
#   sh common/setup.sh            packages for `ninja run` and `ninja test`
#   sh common/setup.sh docs       also packages for `ninja docs`
#   sh common/setup.sh checks     also packages without which tests are skipped: clang, aarch64 emulator, PyTorch, MPI
#   sh common/setup.sh hip        also packages for `ninja hip`
#
# The script never prompts. If no package is missing, it changes nothing and needs no network.
set -u
at_terminal=$([ -t 0 ] && echo yes)

say() {
    echo "setup: $*"
}

# need PACKAGE NAME CHECK...: records the package as missing if the command CHECK fails
need() {
    package=$1
    name=$2
    shift 2
    "$@" >/dev/null 2>&1 </dev/null && return
    packages="$packages $package"
    names="$names${names:+, }$name"
}

# compiler COMMAND: checks that the compiler is installed and is version 12 or newer
compiler() {
    version=$("$1" -dumpversion) && [ "${version%%.*}" -ge 12 ]
}

# header FILE: checks that the C compiler finds the header or, without a compiler, that /usr/include has it
header() {
    if command -v gcc; then
        echo "#include <$1>" | gcc -E -x c -
    else
        [ -f "/usr/include/$1" ]
    fi
}

# mpi_header: checks that mpicc finds mpi.h, because the package with mpirun contains mpicc but not the header
mpi_header() {
    echo '#include <mpi.h>' | mpicc -E -x c -
}

# clang_header FILE: checks that clang finds the header
clang_header() {
    echo "#include <$1>" | clang -fopenmp -E -x c -
}

# python_module NAME: checks that the first python3 in PATH, or the system's, has the module
python_module() {
    look="import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)"
    python3 -c "$look" || /usr/bin/python3 -c "$look"
}

needs_of_run() {
    need gcc 'gcc 12 or newer' compiler gcc
    need g++ 'g++ 12 or newer' compiler g++
    need binutils binutils command -v ld
    need ninja-build 'ninja 1.10 or newer' command -v ninja
    need patch patch command -v patch
    need libc6-dev "the C library's headers" header stdio.h
    need libcmocka-dev cmocka header cmocka.h
    need python3 'Python 3.9 or newer' python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))'
}

needs_of_docs() {
    need doxygen doxygen command -v doxygen
    need graphviz graphviz command -v dot
    need doxygen-awesome-css doxygen-awesome-css [ -d "${DOXYGEN_AWESOME:-/usr/share/doxygen-awesome-css}" ]
    need libjs-lunr lunr [ -d "${LUNR:-/usr/share/javascript/lunr}" ]
    need python3-matplotlib 'Matplotlib for Python 3' python_module matplotlib
    need python3-pygments 'Pygments for Python 3' python_module pygments
    need chromium chromium command -v chromium
    need chromium-driver chromedriver command -v chromedriver
}

needs_of_checks() {
    need clang clang command -v clang++
    need libomp-dev "OpenMP's header for clang" clang_header omp.h
    need clang-format clang-format command -v clang-format
    need qemu-user qemu-user command -v qemu-aarch64
    need gcc-aarch64-linux-gnu 'gcc for aarch64-linux-gnu' command -v aarch64-linux-gnu-gcc
    need g++-aarch64-linux-gnu 'g++ for aarch64-linux-gnu' command -v aarch64-linux-gnu-g++
    need libc6-dev-arm64-cross "the C library for aarch64-linux-gnu" \
        aarch64-linux-gnu-gcc -E -include stdio.h -x c /dev/null
    need libopenmpi-dev 'Open MPI, to build with' mpi_header
    need openmpi-bin 'Open MPI' command -v mpirun
    need python3-numpy 'NumPy for Python 3' python_module numpy
    need python3-torch 'PyTorch for Python 3' python_module torch
}

needs_of_hip() {
    need hipcc "AMD's hipcc" command -v hipcc
    need libamdhip64-dev "HIP's headers" header hip/hip_version.h
}

# find_missing WORD...: sets `packages` and `names` to the missing packages that the words require
find_missing() {
    packages=
    names=
    needs_of_run
    for word in "$@"; do
        "needs_of_$word"
    done
}

# as_root COMMAND...: runs the command as root, with sudo if necessary
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif [ "$at_terminal" ]; then
        sudo "$@" # may ask for a password
    else
        sudo -n "$@"
    fi
}

# apt ARGUMENTS...: runs apt-get without prompts and writes its output to $log
apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >"$log" 2>&1 </dev/null
}

install() {
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        say "missing: $names; run this as root, or install sudo" >&2
        return 1
    fi
    log=$(mktemp) || return 1
    trap 'rm -f "$log"' EXIT
    say "installing$packages"
    # shellcheck disable=SC2086 # the packages must split into words
    if ! apt update || ! apt install --no-install-recommends $packages; then
        tail -n 20 "$log" >&2
        say "apt-get could not install$packages" >&2
        return 1
    fi
}

for word in "$@"; do
    case $word in
    docs | checks | hip) ;;
    *)
        say "$word: unknown; the words are docs (for the site), checks (for tests that are skipped without clang," \
            "PyTorch, NumPy or MPI) and hip" >&2
        exit 2
        ;;
    esac
done

find_missing "$@"
if [ -z "$packages" ]; then
    say 'nothing is missing'
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    say "missing: $names; this is neither Debian nor Ubuntu, install them with its own package manager" >&2
    exit 1
fi
install || exit 1
find_missing "$@"
if [ -n "$packages" ]; then
    say "still missing after installing: $names" >&2
    exit 1
fi
say 'done'
