#!/bin/sh
# Reintroduces into the kernels of chapters 06 to 10, one at a time, the bugs of the kernel on which these chapters are
# based, and checks that the simulator or the checker reports each bug.
#
# run in all: $b/cpu/10_align_parallel_fill
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
programs=$(dirname "$1")

# chapter NAME: sets the chapter whose kernel the following lines break
chapter() {
    name=$1
    breaks_start "$programs/$name" "chapters/$name/align.cu"
}

# between FIRST LAST SED: prints a sed command that applies SED from a line that matches FIRST to one that matches LAST
between() {
    echo "/$1/,/$2/{$3}"
}

chapter 06_align_serial

# --- ids outside [0, E) used as an index ---
unchecked='s/if (is_expert(.*num_experts))/if (true)/'
breaks "06: any id counts" "$(between '^    \/\/ \[count\]' '^    \/\/ \[scan\]' "$unchecked")" "out-of-bounds" \
    "*counts*" --dist invalid
breaks "06: any id is scattered" 's/i < problem.numel && is_expert(.*))/i < problem.numel)/' "out-of-bounds" \
    "*offsets*" --dist invalid
breaks "06: any id counts in the small kernel" "$(between '^static __global__ void align_small' '^}' "$unchecked")" \
    "not device memory" "*thread_counts*" --dist invalid --num-experts 32 --num-tokens 8

# --- barriers left out ---
# first_barrier_after LINE: prints a sed script that removes the first __syncthreads after a line that matches LINE
first_barrier_after() {
    echo "/$1/,/__syncthreads/{/__syncthreads/d}"
}
breaks "06: counts before the counters are cleared" "$(first_barrier_after '^    \/\/ \[count\]')" "race" "*counts*"
breaks "06: adds up before all have counted" "$(first_barrier_after '^#pragma unroll 4')" "shared memory race" \
    "*counts*"

# --- more experts than the small kernel's shared memory holds ---
breaks "06: the small kernel for any number of experts" \
    's/return problem->numel < SMALL_NUMEL && .*/return problem->numel < SMALL_NUMEL;/
     /small_shared_bytes(problem->num_experts) <= MAX_SHARED_BYTES;/d' "invalid argument" "" \
    --dist uniform --num-experts 128 --num-tokens 8
breaks "06: rows of counters for half of the threads" \
    's/(round_up(num_experts, WARP_SIZE) + 1) \* num_experts/(round_up(num_experts, WARP_SIZE) \/ 2 + 1) * num_experts/' \
    "shared" "*thread_counts*" --dist uniform --num-experts 64 --num-tokens 8

chapter 07_align_vector_pad

# --- padding in chunks of four words, for any capacity and any start of the array ---
# For each offset, a capacity that leaves words after the last whole chunk: 21 is 3 blocks of 7, 15 is 3 blocks of 5.
for case in 0:7 1:7 2:7 3:5; do
    offset=${case%:*} block_size=${case#*:}
    set -- --counts 2,3 --block-size "$block_size" --misalign "$offset"
    breaks "07: the last slots unwritten, offset $offset" '/if (thread < capacity - tail_begin)/,/pad;/d' \
        "sorted_token_ids" "" "$@"
    breaks "07: a whole chunk for the last slots, offset $offset" \
        's/chunks = (capacity - head) \/ 4/chunks = (capacity - head + 3) \/ 4/' \
        "past the end of 'sorted_token_ids'" "*aligned*" "$@"
done

chapter 08_align_blelloch

# --- empty groups ---
set -- --counts 3,0,5,0,0,2 --kernel large
breaks "08: the last group that begins before the slot" \
    's/tree\[padded_index(middle)\] <= slot/tree[padded_index(middle)] < slot/' \
    "expert_ids" "" "$@"
breaks "08: the first of the groups that begin together" \
    's/return first;/while (first > 0 \&\& tree[padded_index(first - 1)] == tree[padded_index(first)]) first--;  return first;/' \
    "expert_ids" "" "$@"

# --- a tree for numbers of experts that are not powers of two ---
breaks "08: a tree of num_experts leaves" 's/    while (num_leaves < num_experts)/    while (2 * num_leaves <= num_experts)/' \
    "out-of-bounds shared access" "*tree*" --dist uniform --num-experts 160

chapter 09_align_warp_scan

# --- barriers left out ---
breaks "09: counts before the counters are cleared" "$(first_barrier_after '^    \/\/ \[count\]')" "race" "*counts*"
breaks "09: adds up before all have counted" "$(first_barrier_after '^#pragma unroll 4')" "shared memory race" \
    "*counts*"
breaks "09: adds up the warps before all have summed" "$(first_barrier_after 'warp_sums\[warp\] = lane_prefix')" \
    "shared memory" "*warp_sums*"
breaks "09: adds the warps before they are added up" \
    "$(first_barrier_after 'warp_sums\[lane\] = warp_exclusive_scan')" \
    "shared memory race" "*warp_sums*"

# --- one array, two meanings ---
breaks "09: an exclusive sum of the warps read as the total" \
    's/counts\[num_experts\] = begin;/counts[num_experts] = warp_sums[(num_experts - 1) \/ WARP_SIZE];/' \
    "num_tokens_post_padded" ""
breaks "09: an inclusive sum of the warps added as what lies before" \
    's/warp_sums\[lane\] = warp_exclusive_scan(warp_sums\[lane\])/& + warp_sums[lane]/' "race" "*sorted_token_ids*"

# --- one expert per thread ---
breaks "09: experts past the last thread are not added up" \
    's/experts_per_thread = (num_experts + THREADS - 1) \/ THREADS;/experts_per_thread = 1;/' \
    "uninitialised shared memory" "*begins*" --dist uniform --num-experts 2048

chapter 10_align_parallel_fill

# --- separate barriers for the filling threads and the working threads ---
set -- --counts 3,1,7,0,4,1,6,3 --kernel small
breaks "10: three barriers of their own for those that fill" \
    's/^        fill(.*SMALL_FILL_THREADS);/&  __syncthreads();  __syncthreads();  __syncthreads();  return;/' \
    "divergent barrier" "*fill(*__syncthreads*" "$@"
other=$(sed -n 's/.* is at the one at :\([0-9]*\).*/\1/p' "$scratch/err")
matches "and the line of the other barrier" "    __syncthreads();" "$(sed -n "${other:-0}p" "$scratch/align.cu")"
breaks "10: those that fill leave before the barriers" 's/^        fill(.*SMALL_FILL_THREADS);/&  return;/' \
    "barrier that some threads miss" "*__syncthreads*" "$@"

# --- positions scattered too early: before the pads or the offsets are complete ---
breaks "10: scatters while the pads are on their way" \
    's/^        fill(.*SMALL_FILL_THREADS);/        ;/
     s/^    if (fills) \/\* no.*/    if (fills)  fill(problem, sorted_token_ids, threadIdx.x, SMALL_FILL_THREADS);  if (fills)/' \
    "global memory race" "*sorted_token_ids*" "$@"
breaks "10: scatters before the groups' beginnings are known" \
    '/\*num_tokens_post_padded = offsets\[num_experts\];/,/__syncthreads/{/__syncthreads/d}' "race" "*offsets*" "$@"
breaks "10: the block that counts scatters beside the blocks that fill" \
    's/^        \*num_tokens_post_padded = begins.*/&  for (int e = first_expert; e < end_expert; e++)  sorted_token_ids[begins[e]] = e;/' \
    "blocks are not ordered" "*aligned*" --counts 3,1,7,2,4,1,6,3 --kernel large
finish
