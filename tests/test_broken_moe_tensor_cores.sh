#!/bin/sh
# Runs chapter 11c on blocks of several tiles, then breaks one line of its kernel at a time: the program must fail with
# the expected message.
#
# run in all: $b/cpu/11c_moe_tensor_cores
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
program=$(dirname "$1")/11c_moe_tensor_cores

for size in 16 64 192; do
    succeeds "blocks of $size" "$program" --num-tokens 60 --num-experts 3 --topk 2 --hidden-size 320 \
        --intermediate-size 192 --block-size $size
    succeeds "blocks of $size, experts elsewhere" "$program" --num-tokens 60 --num-experts 3 --topk 2 --hidden-size 64 \
        --block-size $size --expert-map random
done
breaks_start "$program" chapters/11c_moe_tensor_cores/moe.cu

# --- faults that the checker finds ---
breaks "up's rows taken for the gate's" 's/silu(upper) \* lower/silu(lower) * upper/' "expected" ""
breaks "a lost routing weight" 's/weight \* lower/lower/' "expected" ""
breaks "the neighbour's weights" 's/= tile.expert \* (int64_t)/= (tile.expert ^ 1) * (int64_t)/' "expected" ""
breaks "the other tokens' sums" 's/token = half \* MMA_TOKENS/token = (half ^ 1) * MMA_TOKENS/' "expected" ""
breaks "the tokens' chunks in the other order" 's|lane / 8 % 2 \* CHUNK|(lane / 8 + 1) % 2 * CHUNK|' "expected" ""
breaks "matrices of weights in another order" 's|lane % 16) \* Tile::ROW_PITCH + lane / 16 \* CHUNK|(lane / 16 * 8 + lane % 8)) * Tile::ROW_PITCH + lane / 8 % 2 * CHUNK|' "expected" ""
breaks "a choice that is not added" 's/k < problem.topk; k++/k < problem.topk - 1; k++/' "expected" ""
breaks "zeros that are not written" 's/GATE_UP \&\& tile.expert < 0/tile.expert < 0/' "uninitialised global memory" "" \
    --expert-map random

# --- faults that the simulator finds ---
breaks "products before the copies are there" '/all threads have stored their chunks/d' "race" ""
breaks "copies over what is still read" '/no warp reads the stage any more/d' "race" "" --hidden-size 512
breaks "a pad's row" 's/row >= count ? -1 : //' "out-of-bounds" ""
breaks "weights past a row's end" 's/from.remaining > 0 ? from.rows : 0/from.rows/' "out-of-bounds" ""
breaks "tokens past a row's end" 's/ \&\& from.remaining > 0//' "" ""
breaks "rows past the last" 's/i \* Tile::ROWS_PER_PASS < rows ?/true ?/' "out-of-bounds" ""
finish
