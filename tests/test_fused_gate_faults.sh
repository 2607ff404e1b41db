#!/bin/sh
# Reintroduces, one at a time, the faults of the fused gate from which chapter 05 started, and checks that a tool finds
# each of them: the simulator, the checker, a counter, or the compiler's report on local memory.
#
# run in all: $b/cpu/05_fused_gate
# takes: long
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
source=chapters/05_fused_gate/gate.cu
program=$1
breaks_start "$program" "$source" "$only_f32"

# --- a weight written by one lane and read by another, without synchronisation ---
breaks "the choices are read with no order after the write" '/__syncwarp();/d' "shared memory race" "*my_chosen*"
breaks "a weight goes through global memory unordered" \
    's/if (group == 0)$/if (best.id == mine.id \&\& writes) topk_weights[token * problem.topk + k] = best.value;  if (group == 0 \&\& writes \&\& topk_weights[token * problem.topk + k] > 9.0f)/' \
    "global memory race" "*topk_weights*" --num-expert-group 8

# --- threads that leave early ---
breaks "lanes without a token leave before a block barrier" \
    's/if (token - token_in_warp >= problem.num_tokens)/if (!writes)/; s/__syncwarp();/__syncthreads();/' "" \
        "*__sync*" --num-tokens 3
breaks "whole warps leave before a block barrier" 's/__syncwarp();/__syncthreads();/' "barrier" "*__sync*" \
    --num-tokens 3

# --- ties, infinities and NaN ---
breaks "a taken expert is marked by the lowest finite number" 's/e == taken ? -INFINITY/e == taken ? -3.0e38f/' \
    "chosen twice" "" --dist nan
breaks "the higher of two equal groups wins" 's/((group ^ i) < group)/((group ^ i) > group)/' "the best groups are kept" \
    "" --dist ties
breaks "NaN is compared" 's/const bool is_nan = isnan(choice);/const bool is_nan = false;/' "expected" "" --dist nan

# --- a specialised kernel that no run reaches: it loads 16 bytes at a time, the general kernel one number ---
load_requests() {
    "$1" --num-tokens 24 --dist normal --num-experts "$2" --num-expert-group "$3" --format csv |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "global_load_requests") at = i } NR == 2 { print $at }'
}

# Tokens share a warp: 24 tokens need 24 * groups / 32 warps. Each warp loads the logits in experts / groups / 4
# requests of 16 bytes per lane, and the bias likewise. It loads each token's 8 chosen logits twice more, each time in 8
# / groups requests, or in one request if there are more than 8 groups.
for shape in 256:8:6 256:16:12 128:4:3 128:8:6; do
    experts=${shape%%:*} rest=${shape#*:}
    groups=${rest%:*} warps=${rest#*:}
    again=$((2 * (8 > groups ? 8 / groups : 1)))
    equal "$experts experts in $groups groups run their own kernel" $((warps * (2 * experts / groups / 4 + again))) \
        "$(load_requests "$program" "$experts" "$groups")"
done
rebuild '/case 25616:/,/return/d' >/dev/null 2>&1
matches "and a case that is missing shows" "?*" "$(load_requests "$scratch/program" 256 16)"
succeeds "as more requests than its own kernel has" test "$(load_requests "$scratch/program" 256 16)" -gt 144

# --- local memory ---
if sh common/nvcc.sh arch "$scratch/arch" >/dev/null 2>&1; then
    echo sm_90 >"$scratch/arch"
    # stack SOURCE: prints the size in bytes of the largest stack frame of the source's kernels, and the number of
    # spilled bytes
    stack() {
        sh common/nvcc.sh compile "$scratch/arch" -std=c++17 -O3 -Icommon -Xptxas -v -cubin "$1" -o "$scratch/stack.o" \
            2>&1 |
            sed -n 's/^ *\([0-9]*\) bytes stack frame, \([0-9]*\) bytes spill stores.*/\1 \2/p' | sort -n | tail -n 1
    }
    for chapter in chapters/0[2-9]*/gate.cu; do
        equal "$chapter uses no local memory" "0 0" "$(stack "$chapter")"
    done
    # Gives the same tree descending steps: the inner loop then has two conditions, so nvcc does not unroll it.
    sed 's/int step = 1; step < CAPACITY; step \*= 2/int step = 16; step > 0; step \/= 2/
        s/int e = 0; e < CAPACITY; e += 2 \* step/int e = 0; e < step \&\& e + step < CAPACITY; e++/' "$source" >"$scratch/rolled.cu"
    matches "an index known only at run time puts the array there" "[1-9]* 0" "$(stack "$scratch/rolled.cu")"
else
    skip "no chapter uses local memory" "no nvcc"
fi
finish
