#!/bin/sh
# Breaks one line of chapter 02's kernel at a time: the program must fail and name the file and the line.
#
# run: $b/cpu/02_warp_per_group
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
source=chapters/02_warp_per_group/gate.cu
breaks_start "$1" "$source"

# drop_barrier N: prints the line number of the kernel's Nth __syncthreads(), counting from the group scores
drop_barrier() {
    awk -v n="$1" '/group_scores\[group\] = group_score/ { on = 1 } on && /__syncthreads/ && ++seen == n { print NR }' \
        "$breaks_source"
}

breaks "no barrier before the groups are ranked" "$(drop_barrier 1)d" "shared memory race" "*group_scores*"
breaks "no barrier before the kept groups are read" "$(drop_barrier 2)d" "shared memory" "*kept_groups*"
breaks "no barrier before the merge" "$(drop_barrier 3)d" "shared memory race" "*best_first*"
breaks "no __syncwarp before the choices are read" '/__syncwarp();/d' "shared memory race" "*chosen*"
breaks "a shuffle with half the mask" 's/FULL_MASK, mine.id/0x0000ffffu, mine.id/' "mask" "*__shfl_xor_sync*"
breaks "a shuffle that some lanes skip" \
    's/mine = better(mine, other);/&  if (threadIdx.x % 32 < 16) __shfl_sync(FULL_MASK, 0, 0);/' \
    "lane" "*__*_sync*"
breaks "a barrier inside a branch" 's/if (rank < problem.topk_group)/& __syncthreads(); &/' "barrier" "*__syncthreads*"
breaks "an early return before a barrier" 's/const size_t row = blockIdx.x;/&  if (lane == 31) return;/' "" "*__*sync*"
breaks "an unguarded tail at the output" 's/if (writes) {/{/' "out-of-bounds" "*topk_*" --num-tokens 1
breaks "an unguarded tail at the input" 's/has_expert ? gating_output\(.*\) : -INFINITY/gating_output\1/' \
    "out-of-bounds" "*gating_output*" --num-tokens 1 --dist normal --num-experts 160
breaks "a loop one too long" 's/while (rank < problem.topk_group/while (rank <= problem.topk_group/' "uninitialised" \
    "*kept_groups*" --dist normal --num-experts 128 --num-expert-group 4 --topk-group 2 --topk 2
breaks "an array in shared memory too small" \
    's/__shared__ candidate chosen\[MAX_TOPK\]/__shared__ candidate chosen[4]/' \
    "right past the end of 'chosen', which has 32 bytes" "*best_first*"
breaks "ties that go to the higher expert" 's/other.id < mine.id/other.id > mine.id/' "expected" "" --dist ties
breaks "a bias left out" 's/{score + bias, expert}/{score, expert}/' "expected" ""
breaks "a second maximum that drops the equal of the first" \
    's/fmaxf(fminf(first, other_first), fmaxf(second, other_second))/first == other_first ? fmaxf(second, other_second) : &/' "expected" "" --dist ties
breaks "NaN let through" 's/if (has_expert \&\& isnan(mine.value))/if (false)/' "out-of-bounds" "*expert_scores*" \
    --dist nan
finish
