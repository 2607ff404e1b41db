#!/bin/sh
# Runs every width of chapter 16b's products, then breaks one line of the kernel at a time: the program must fail with
# the expected message. test_moe_counters.c checks that the counters are 0 after every launch.
#
# run in all: $b/cpu/16b_layer_warpgroup_products
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
programs=$(dirname "$1")
program=$programs/16b_layer_warpgroup_products
small="--hidden-size 128 --intermediate-size 64"

# shellcheck disable=SC2086 # must split into words
{
    for tokens in 16 17 48 64 80 96 112 128 144 160 176 191 192; do
        succeeds "$tokens tokens of an expert" "$program" $small --num-tokens $tokens --num-experts 1 --topk 1 \
            --block-size 192
    done
    succeeds "several tiles, experts elsewhere" "$program" --num-tokens 250 --hidden-size 384 --intermediate-size 192 \
        --num-experts 3 --topk 1 --block-size 192 --expert-map random
    succeeds "40 blocks of an expert" "$program" $small --num-tokens 640 --num-experts 2 --topk 1 --dist one \
        --block-size 16
    succeeds "blocks too large for its kernel" "$program" $small --num-tokens 20 --num-experts 2 --topk 1 \
        --block-size 256
    succeeds "rows that are no multiple of 128" "$program" --num-tokens 20 --hidden-size 192 --num-experts 2 --topk 1
}

# Compiles only the tile for few tokens.
breaks_start "$program" chapters/16b_layer_warpgroup_products/moe.cu 's/: launch<many_tokens>(.*/: cudaErrorInvalidValue;/'
few="$small --num-tokens 20 --num-experts 3 --topk 2"
ring="--num-tokens 3 --hidden-size 1536 --intermediate-size 64 --num-experts 2 --topk 1"

# shellcheck disable=SC2086 # must split into words
{
    # --- faults that the checker finds ---
    breaks "up's rows taken for the gate's" 's/silu(a\[0\]) \* b\[0\]/silu(b[0]) * a[0]/' "expected" "" $few
    breaks "a lost routing weight" 's/+= weight \* unpack/+= unpack/' "expected" "" $few
    breaks "a choice that is not added" 's/k < topk; k++/k < topk - 1; k++/' "expected" "" $few
    breaks "chunks that are not permuted" 's/(chunk ^ stage_row % SWIZZLE_CHUNKS)/chunk/' "expected" "" $few
    breaks "the neighbour's weights" \
        's/: tile.expert \* problem.hidden_size/: (tile.expert ^ 1) * problem.hidden_size/' \
        "expected" "" $few --num-experts 4
    breaks "results out of order" 's/e \/ 4 \* 32 + e \/ 2 % 2 \* 4/e \/ 2/' "" "" $few

    # --- faults that the simulator finds ---
    breaks "no fence before the products" '/async_proxy_fence_shared/d' "no fence to the asynchronous proxy" "" $few
    breaks "a stage that is freed too early" 's/wgmma_wait_group<1>/wgmma_wait_group<2>/' "race" "" $ring
    breaks "a stage that no thread frees" '/if (step > 0 \&\& lane == 0)/,+1d' "deadlock" "" $ring
    breaks "an arrival too few" 's/TOKEN_COPY_THREADS + 1)/TOKEN_COPY_THREADS)/' "asynchronous copy under way" "" $few
    breaks "an arrival too many" 's/TOKEN_COPY_THREADS + 1)/TOKEN_COPY_THREADS + 2)/' "deadlock" "" $few
    breaks "a second product that does not wait" 's/wait_for_count(counters, \&counters->gate_up_stores\[tile.block\], needed)/true/' \
        "" "" $few
    breaks "a sum that does not wait" 's/= wait_for_count(counters, \&counters->down_stores, all)/= true/' "" "" $few
    breaks "a message without a release" 's/add_release(counter, 1)/atomicAdd(counter, 1)/' "race" "" $few
    breaks "zeros that are not written" 's/^        compute_tile<Tile, Tile::TOKENS>/        if (tile.expert >= 0)&/' \
        "uninitialised global memory" "" $few --expert-map random --num-experts 8
}
finish
