#!/bin/sh
# Breaks one line of chapter 14a's kernels at a time: the program must fail with the expected message.
#
# run in all: $b/cpu/14a_align_bit_ranks
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
few="--num-tokens 64"

# Leaves out the kernels for 64-bit ids and for more than 256 experts.
breaks_start "$(dirname "$1")/14a_align_bit_ranks" chapters/14a_align_bit_ranks/align.cu \
    's/problem->wide_ids ? launch<int64_t>(problem, buffers, stream) : //
     s/problem->num_experts > STATIC_EXPERTS ? launch_few<Id, 0>(problem, buffers, stream)//
     s/: launch_few<Id, STATIC_EXPERTS>/launch_few<Id, STATIC_EXPERTS>/'

# shellcheck disable=SC2086 # must split into words
{
    breaks "no barrier between bits and ranks" '/\[few_count\]/,/\[few_count\]/{/1u << lane/{n;n;d}}' "race" \
        "*counts*" $few
    breaks "a plain |= of a bit" 's/atomicOr(&\(marks\[.*\]\), 1u << lane)/\1 |= 1u << lane/' "race" "*marks*" $few
    breaks "a rank that counts the id itself" 's/+ warp_inclusive_scan(count) - count/+ warp_inclusive_scan(count)/' \
        "align_groups.cuh*race" "" $few
    breaks "the slot of a warp's id counts the id itself" \
        's/slot = __popc(own_ids & lanes_below(lane))/slot = __popc(own_ids \& lanes_below(lane + 1))/' \
        "race" "*rows\[*" --num-tokens 2
    breaks "the rank of a warp's id counts the id itself" \
        's/\(__match_any_sync(FULL_MASK, expert)\) & lanes_below(lane))/\1 \& lanes_below(lane + 1))/' \
        "num_tokens_post_padded" "" --num-tokens 2
    breaks "a block too few" \
        's/(align.num_experts + EXPERTS_PER_BLOCK - 1) \/ EXPERTS_PER_BLOCK/align.num_experts \/ EXPERTS_PER_BLOCK/' \
        "expert_ids" "" $few --num-experts 255 --dist uniform
}
finish
