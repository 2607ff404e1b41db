#!/bin/sh
# Compiles kernels for AMD GPUs whose warps have 64 lanes, gfx906 (Vega) and gfx90a (CDNA 2), with hipcc of Debian's
# package, and keeps no output. half_waves.h gives them CUDA's names. A warning is an error.
#
#   sh common/hip.sh [KERNEL.cu]...      without one, those of chapters 02 to 10
#
# The last line is a summary.
set -u
command -v hipcc >/dev/null || {
    echo 'hip: hipcc is missing; sh common/setup.sh hip installs it on Debian' >&2
    exit 1
}
[ $# -gt 0 ] || set -- chapters/0[2-9]_*/*.cu chapters/10_*/*.cu

# compile KERNEL: prints "ok KERNEL" or the errors
compile() {
    if said=$(hipcc -x hip --offload-arch=gfx906 --offload-arch=gfx90a -std=c++17 -O3 -Wall -Wextra -Werror \
        -Icommon/hip -Icommon -c "$1" -o /dev/null 2>&1); then
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
