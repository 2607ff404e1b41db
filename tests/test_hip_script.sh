#!/bin/sh
# Tests common/hip.sh, which compiles a kernel with hipcc, fails if hipcc is missing or prints a warning, and prints the
# machine code.
. tests/tap.sh

mkdir "$scratch/bin"
equal 'no hipcc: one line' '1 hip: hipcc is missing; sh common/setup.sh hip installs it on Debian' \
    "$(said=$(PATH=$scratch/bin "$(command -v sh)" common/hip.sh 2>&1); echo "$? $said")"
if command -v hipcc >/dev/null; then
    succeeds 'chapter 02 compiles' sh common/hip.sh chapters/02_warp_per_group/gate.cu
    cat >"$scratch/warns.cu" <<'END'
#include <cuda_runtime.h>
static __global__ void kernel(int *y)
{
    int unused;
    y[0] = __shfl_sync(0xffffffffu, y[threadIdx.x], 0);
}
void launch(int *y)
{
    kernel<<<1, 32>>>(y);
}
END
    matches 'a warning is an error' "FAILED $scratch/warns.cu*unused*0 of 1 kernel files compile*" \
        "$(sh common/hip.sh "$scratch/warns.cu" 2>&1)"
    equal 'the machine code of the line with the shuffle: it stores the result' 'global_store_dword warns.cu:5' \
        "$(sh common/hip.sh --machine-code "$scratch/warns.cu" 5 5 2>/dev/null | awk '/store/ { print $1, $NF }')"
    matches 'of all lines: the shuffle, which is inlined' '*ds_bpermute_b32*amd_warp_functions.h:*' \
        "$(sh common/hip.sh --machine-code "$scratch/warns.cu" 2>/dev/null)"
    equal 'no machine code of a file that is not there' 1 \
        "$(sh common/hip.sh --machine-code "$scratch/none.cu" >/dev/null 2>&1; echo $?)"
else
    skip 'the machine code of the line with the shuffle: it stores the result' 'no hipcc'
    skip 'of all lines: the shuffle, which is inlined' 'no hipcc'
    skip 'no machine code of a file that is not there' 'no hipcc'
    skip 'chapter 02 compiles' 'no hipcc'
    skip 'a warning is an error' 'no hipcc'
fi
finish
