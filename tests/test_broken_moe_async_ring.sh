#!/bin/sh
# Runs the large tiles of chapter 11d, then breaks one line of its kernel at a time: the program must fail with the
# expected message.
#
# run in all: $b/cpu/11d_moe_async_ring
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
programs=$(dirname "$1")

for name in 11d_moe_async_ring 11d_moe_async_ring_99_kb; do
    large="$programs/$name --num-tokens 300 --num-experts 3 --topk 2 --intermediate-size 192"
    # shellcheck disable=SC2086 # must split into words
    for size in 192 256 384; do
        succeeds "$name: blocks of $size" $large --hidden-size 320 --block-size $size
        succeeds "$name: blocks of $size, experts elsewhere" $large --hidden-size 64 --block-size $size \
            --expert-map random
        succeeds "$name: blocks of $size, one expert" $large --hidden-size 640 --block-size $size --dist one
    done
    # Runs one to six groups of 16 tokens per warp (the kernel has a tile for each number), then each number of groups
    # with one token fewer.
    for tokens in 32 64 96 128 160 192; do
        succeeds "$name: $tokens tokens of an expert" "$programs/$name" --num-tokens $tokens --num-experts 1 \
            --topk 1 --block-size 192
        succeeds "$name: $((tokens - 1)) tokens of an expert" "$programs/$name" --num-tokens $((tokens - 1)) \
            --num-experts 1 --topk 1 --block-size 192
    done
done
# Gives one expert more blocks than a warp can distribute at once, so that the warp distributes them in several rounds.
succeeds "40 blocks of an expert" "$programs/11d_moe_async_ring" --num-tokens 640 --num-experts 3 --topk 1 --dist one

# Only the tile of 16 tokens is compiled, except for the last three runs.
breaks_start "$programs/11d_moe_async_ring" chapters/11d_moe_async_ring/moe.cu \
    '/if (problem->block_size % many_tokens/,/return/d'

# --- faults that the checker finds ---
breaks "up's rows taken for the gate's" 's/silu(upper) \* lower/silu(lower) * upper/' "expected" ""
breaks "a part of every step that is skipped" 's/ multiply<Tile>(sums, pair/ if (k > 0) multiply<Tile>(sums, pair/' \
    "expected" ""
breaks "the neighbour's weights" 's/= tile.expert \* (int64_t)/= (tile.expert ^ 1) * (int64_t)/' "expected" ""
breaks "a lost routing weight" 's/weight \* lower/lower/' "expected" ""
breaks "a row of the pair's other half" 's/half % 2 \* MMA_TOKENS/(half + 1) % 2 * MMA_TOKENS/' "expected" ""
breaks "a choice that is not added" 's/k < problem.topk; k++/k < problem.topk - 1; k++/' "expected" ""
breaks "chunks read from another index than they have" 's/(chunk ^ stage_row % SWIZZLE_CHUNKS)/(chunk ^ (stage_row + chunk) % SWIZZLE_CHUNKS)/' "" ""
breaks "zeros that are not written" 's/GATE_UP \&\& tile.expert < 0/tile.expert < 0/' "uninitialised global memory" "" \
    --expert-map random
breaks "rows before their own expert's" 's/first + i %/first + 1 + i %/' "" ""

# --- faults that the simulator finds ---
breaks "a stage that has not come" \
    's/__pipeline_wait_prior(Tile::STAGES - 2)/__pipeline_wait_prior(Tile::STAGES - 1)/' \
    "asynchronous" "" --hidden-size 512
breaks "a step without a barrier" '/__pipeline_wait_prior(Tile::STAGES - 2)/{n;d}' "race" "" --hidden-size 512
breaks "a stage that is filled while it is read" \
    's/ring + (step + Tile::STAGES - 1) % Tile::STAGES/ring + step % Tile::STAGES/' \
    "" "" --hidden-size 512
breaks "results over a ring that is read" '/no reads or copies remain/d' "race" ""
breaks "a pad's row" 's/token >= count ? -1 : //' "out-of-bounds" ""

breaks "weights past a row's end" 's/from.remaining > 0 ? from.rows : 0/from.rows/' "out-of-bounds" ""
breaks "tokens past a row's end" 's/ \&\& from.remaining > 0//' "" ""

breaks_start "$programs/11d_moe_async_ring" chapters/11d_moe_async_ring/moe.cu \
    's/return launch_what_fits<few_tokens,.*/return cudaErrorInvalidValue;/'
breaks "a tile with too little room" 's/count <= Tile::narrower::TOKENS/count <= Tile::TOKENS/' "" "" --block-size 192 \
    --num-tokens 100 --num-experts 2 --topk 1
breaks "rows past the last" 's/i \* Tile::ROWS_PER_PASS < rows ? 0 : 16/0/' "out-of-bounds" "" --block-size 192
breaks "results past the last row" 's/if (tile.first_output + output < width)/if (output < OUTPUTS)/' "" "" \
    --block-size 192
finish
