#!/bin/sh
# Compiles kernels for AMD GPUs whose warps have 64 lanes, gfx906 (Vega) and gfx90a (CDNA 2), with hipcc from
# Debian's package, and discards the output. half_waves.h defines CUDA's names for these GPUs. Warnings are treated as
# errors.
#
#   sh common/hip.sh [KERNEL.cu]...                           these kernels; by default, chapters 02 to 10 and 19
#   sh common/hip.sh --machine-code KERNEL.cu [FIRST LAST]    prints the machine code for gfx906, each instruction
#                                                             with its source line; FIRST LAST selects source lines
#
# The last line of the output is a summary.
set -u
command -v hipcc >/dev/null || {
    echo 'hip: hipcc is missing; sh common/setup.sh hip installs it on Debian' >&2
    exit 1
}

# hip ARGUMENT...: compiles a kernel
hip() {
    hipcc -x hip -std=c++17 -O3 -Icommon/hip -Icommon "$@"
}

# machine_code KERNEL [FIRST LAST]: prints the instructions in order: those of the given lines of the file, or all
machine_code() {
    assembly=$(hip --offload-arch=gfx906 --cuda-device-only -S -gline-tables-only -Wno-unused-command-line-argument \
        "$1" -o -) || return 1
    echo "$assembly" | awk -v kernel="$1" -v first="${2:-0}" -v last="${3:-0}" '
        function is_kernel(path) { # clang may leave out folders at the beginning of the path
            return path == kernel || substr("/" kernel, length(kernel) - length(path) + 1) == "/" path
        }
        $1 == ".loc" { # after the semicolon: FILE:LINE:COLUMN, then the inlined calls
            sub(/.*; */, "")
            split($1, place, ":")
        }
        /^\t(s|v|ds|global|flat|buffer)_/ && (!last || is_kernel(place[1]) && place[2] >= first && place[2] <= last) {
            sub(/ *;.*/, "")
            name = place[1]
            sub(/.*\//, "", name)
            printf "%-56s ; %s:%d\n", $0, name, place[2]
        }'
}

if [ "${1:-}" = --machine-code ]; then
    shift
    machine_code "$@"
    exit
fi
[ $# -gt 0 ] || set -- chapters/0[2-9]_*/*.cu chapters/10_*/*.cu chapters/19_*/*.cu

# compile KERNEL: prints "ok KERNEL" or the errors
compile() {
    if said=$(hip --offload-arch=gfx906 --offload-arch=gfx90a -Wall -Wextra -Werror -c "$1" -o /dev/null 2>&1); then
        echo "ok $1"
    else
        echo "FAILED $1"
        echo "$said"
        return 1
    fi
}

good=0
for kernel in "$@"; do
    compile "$kernel" && good=$((good + 1))
done
echo "$good of $# kernel files compile for gfx906 and gfx90a, without a warning"
[ "$good" -eq $# ]
