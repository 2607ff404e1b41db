#!/bin/sh
# Breaks one line of chapter 07's kernels at a time: the program must fail with the expected message, either on a given
# problem or on a problem of --check-all.
#
# run in all: $b/cpu/07_align_vector_pad
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
source=chapters/07_align_vector_pad/align.cu
breaks_start "$1" "$source"

# --- faults that the simulator finds ---
breaks "no barrier before the count" '/^    \/\/ \[count\]/,/__syncthreads/{/__syncthreads/d}' "shared memory" \
    "*counts*"
breaks "no barrier after the count" \
    '/^    \/\/ \[scan\]/{x;s/^/x/;x};/atomicAdd(&counts/,/\[scan\]/{/__syncthreads/d}' \
    "shared memory race" "*counts*"
breaks "no barrier after the sum" '/num_tokens_post_padded = offset;/,/\[scan\]/{/__syncthreads/d}' "race" "*offset*"
breaks "an id that is not looked at" 's/if (is_expert(id, num_experts))/if (true)/' "out-of-bounds" "*counts*" \
    --dist invalid
breaks "an i64 of which the low word is looked at" \
    's/return (id >= 0) & (id < num_experts);/return ((int)id >= 0) \& ((int)id < num_experts);/' \
    "out-of-bounds shared access" "*counts*" --dist invalid --ids i64
breaks "16 bytes at a time from wherever it begins" 's/unaligned = .*; \/\* words/unaligned = 0; \/* words/' \
    "misaligned" "*aligned*" --misalign 1
breaks "a chunk past the end" 's/chunks = (capacity - head) \/ 4/chunks = (capacity - head + 3) \/ 4/' \
    "past the end of 'sorted_token_ids'" "*aligned*" --block-size 3 --counts 4
breaks "a block past the end" 's/row_block < num_row_blocks/row_block <= num_row_blocks/' "past the end of 'expert_ids'" "*expert_ids*"
breaks "a table of counters one too small" \
    's/problem->num_experts \* sizeof(int), stream/(problem->num_experts - 1) * sizeof(int), stream/' \
    "shared" "*counts*"
breaks "groups that are not rounded up" 's/offset += round_up(counts\[e\], block_size);/offset += counts[e];/' "race" \
    "*expert_ids*"

# --- faults that the checker finds ---
breaks "the last slots unwritten" '/if (thread < capacity - tail_begin)/,/pad;/d' "sorted_token_ids" "" --block-size 3 \
    --counts 1
breaks "the first slots unwritten" '/if (thread < head)/,/pad;/d' "sorted_token_ids" "" --misalign 1 --num-tokens 1
breaks "pads that are -1" 's/pad = (int)problem.numel/pad = -1/' "sorted_token_ids" ""
breaks "blocks past the last unwritten" '/for (int row_block = /,/-1;/d' "expert_ids" ""
breaks "owners of others' blocks" 's/local_id(expert_map, e)/local_id(expert_map, e ^ 1)/' "expert_ids" ""
breaks "owners by their global ids" 's/return expert_map ? expert_map\[expert\] : expert;/return expert;/' \
    "expert_ids" "" --expert-map random
breaks "a total of ids, not of slots" \
    's/\*num_tokens_post_padded = offset;/*num_tokens_post_padded = (int)problem.numel;/' \
    "num_tokens_post_padded" ""
breaks "a position twice" 's/= (int)i;/= (int)i - (i == 1);/' "sorted_token_ids" ""
breaks "positions of another expert" \
    's/atomicAdd(&offsets\[topk_ids\[i\]\], 1)/atomicAdd(\&offsets[topk_ids[i] \/ 2], 1)/' "" ""

# --- faults that only --check-all finds; the default problem passes with each of them ---
for script in 's/unaligned = .*; \/\* words/unaligned = 0; \/* words/' 's/(id >= 0) &/true \&/' \
    's/expert_map ? expert_map\[expert\] : expert/expert/' 's/thread_counts\[e\] = 0;/;/' \
    's/e < num_experts; e += THREADS/e < num_experts \&\& e == thread; e += THREADS/' \
    's/if (thread < capacity - tail_begin)/if (thread == 0 \&\& thread < capacity - tail_begin)/'; do
    if rebuild "$script" >"$scratch/log" 2>&1; then
        succeeds "good for the default problem: $script" "$scratch/program"
        "$scratch/program" --check-all >/dev/null 2>"$scratch/err"
        equal "refused by the grid: $script" 1 $?
        matches "with a command: $script" "*(repeat it with: *" "$(cat "$scratch/err")"
    else
        tap_result 1 "builds: $script" || sed 's/^/# /' "$scratch/log"
    fi
done
finish
