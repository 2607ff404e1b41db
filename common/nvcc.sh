#!/bin/sh
# Finds nvcc, and chooses the GPU architecture to compile for.
#
#   sh common/nvcc.sh arch STAMP               writes the architecture to STAMP unless it is already there
#   sh common/nvcc.sh compile STAMP ARGS...    runs nvcc with ARGS for the architecture in STAMP
#   sh common/nvcc.sh every ARGS...            runs nvcc with ARGS for every architecture that the course supports, or
#                                              for those in $ARCHITECTURES
#
# The architecture is $GPU_ARCH (such as sm_90 or sm_90a), else the first GPU's, else sm_90; sm_90 is compiled as
# sm_90a. With GPU_ARCH=every, `compile` does the same as `every`, and warnings are treated as errors. The script runs
# the nvcc in $CUDA_HOME, else the one in PATH, else the one in /usr/local/cuda.
set -u
architectures=${ARCHITECTURES:-sm_75 sm_80 sm_86 sm_89 sm_90 sm_120}

fail() {
    status=$1
    shift
    echo "nvcc.sh: $*" >&2
    exit "$status"
}

find_nvcc() {
    for nvcc in ${CUDA_HOME:+"$CUDA_HOME/bin/nvcc"} "$(command -v nvcc)" "${CUDA_DEFAULT:-/usr/local/cuda}/bin/nvcc"; do
        [ -x "$nvcc" ] && break
    done
    [ -x "$nvcc" ] ||
        fail 1 \
            'nvcc is missing: install the CUDA Toolkit, 12 or newer, from https://developer.nvidia.com/cuda-downloads'
    release=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    [ "${release:-0}" -ge 12 ] ||
        fail 1 \
            "$nvcc is of CUDA ${release:-(no release)}: install 12 or newer from https://developer.nvidia.com/cuda-downloads"
}

# first_gpu: prints the first GPU's architecture, such as sm_90 for compute capability 9.0, or nothing if there is no
# GPU
first_gpu() {
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n '1s/^\([0-9]*\)\.\([0-9]\)$/sm_\1\2/p'
}

# check_arch: checks that nvcc can compile for $arch, and that the course supports it; passes if nvcc does not list the
# architectures it supports. An error lists those that both support, by number.
check_arch() {
    # shellcheck disable=SC2005,SC2046 # joins the lines
    codes=$(echo $("$nvcc" --list-gpu-code 2>/dev/null |
        sed -n '/^sm_[1-6].$/d; /^sm_7[0-4]$/d; /^sm_[0-9]*a*$/p' | sort -t _ -k 2n -k 2))
    case $arch in
    sm_[1-6]? | sm_7[0-4]) needs='the course needs sm_75 (Turing) or newer; ' ;;
    *) needs= ;;
    esac
    case " $codes " in
    '  ' | *" ${arch%a} "*) ;;
    *) [ "$arch" = every ] || fail 2 "${GPU_ARCH:+GPU_ARCH=}$arch: $needs$nvcc compiles for: $codes" ;;
    esac
}

write_arch() {
    find_nvcc
    arch=${GPU_ARCH:-$(first_gpu)}
    notice=
    if [ -z "$arch" ]; then
        arch=sm_90
        notice='no GPU here: compiling for sm_90; GPU_ARCH=sm_NN chooses another'
    fi
    [ "$arch" = every ] || expr "$arch" : 'sm_[0-9][0-9][0-9]\{0,1\}a\{0,1\}$' >/dev/null ||
        fail 2 "GPU_ARCH=$arch: it must be sm_ and the compute capability, such as sm_90"
    [ -f "$1" ] && [ "$(cat "$1")" = "$arch" ] && return
    check_arch
    [ -z "$notice" ] || echo "nvcc.sh: $notice"
    echo "$arch" >"$1" || exit 1
}

# with_features ARCH: prints ARCH, or sm_90a if it is sm_90, because wgmma and similar instructions require sm_90a
with_features() {
    case $1 in
    sm_90) echo sm_90a ;;
    *) echo "$1" ;;
    esac
}

every() {
    find_nvcc
    for arch in $architectures; do
        arch=$(with_features "$arch")
        set -- "$@" -gencode "arch=compute_${arch#sm_},code=$arch"
    done
    exec "$nvcc" "$@"
}

compile() {
    find_nvcc
    arch=$(cat "$1") || exit 1
    shift
    arch=$(with_features "$arch")
    case $arch in
    every) every -Werror all-warnings "$@" ;;
    *a) exec "$nvcc" -gencode "arch=compute_${arch#sm_},code=$arch" "$@" ;;
    *) exec "$nvcc" "-arch=$arch" "$@" ;;
    esac
}

case ${1:-} in
arch) [ $# -eq 2 ] || fail 2 'usage: nvcc.sh arch STAMP' ;;
compile) [ $# -ge 3 ] || fail 2 'usage: nvcc.sh compile STAMP ARGS...' ;;
every) [ $# -ge 2 ] || fail 2 'usage: nvcc.sh every ARGS...' ;;
*) fail 2 'usage: nvcc.sh arch STAMP, nvcc.sh compile STAMP ARGS..., or nvcc.sh every ARGS...' ;;
esac
command=$1
shift
case $command in
arch) write_arch "$1" ;;
compile) compile "$@" ;;
every) every "$@" ;;
esac
