#!/bin/sh
# Breaks one line of the kernels of chapters 11a and 11b at a time: the program must fail with the expected message.
#
# run in all: $b/cpu/11b_moe_tiled
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
programs=$(dirname "$1")

breaks_start "$programs/11a_moe_naive" chapters/11a_moe_naive/moe.cu

# --- faults that the checker finds ---
breaks "sums in bf16" 's/^        up += x/        up = to_float(__float2bfloat16_rn(up)); up += x/' "expected" ""
breaks "a step of k that is skipped" 's/k < intermediate_size; k++/k < intermediate_size - 1; k++/' "expected" ""
breaks "up's rows taken for the gate's" 's/silu(gate) \* up/silu(up) * gate/' "expected" ""
breaks "the neighbour's weights" 's/(expert \* hidden_size + i)/((expert ^ 1) * hidden_size + i)/' "expected" ""
breaks "a lost routing weight" 's/buffers.topk_weights\[position\] \* sum/sum/' "expected" ""
breaks "the weight of another choice" 's/topk_weights\[position\]/topk_weights[position ^ 1]/' "expected" ""
breaks "a choice that is not added" 's/k < problem.topk; k++/k < problem.topk - 1; k++/' "expected" ""
breaks "another token's row" 's|position / problem.topk \* hidden|(position + 1) % problem.num_tokens * hidden|' \
    "expected" ""
breaks "zeros that are not written" '/if (expert < 0) {/,/^    }/{/store(partial/d}' "uninitialised global memory" "" \
    --expert-map random
breaks "silu without its x" 's/return x \/ (1.0f/return 1.0f \/ (1.0f/' "expected" ""

# --- faults that the simulator finds ---
breaks "a pad that is computed with" 's/position == pad || //' "out-of-bounds" ""
breaks "an expert that is elsewhere" 's/position == pad || expert < 0 || i >= inter/position == pad || i >= inter/' \
    "out-of-bounds" "" --expert-map random
breaks "an element past the last" 's/position == pad || i >= hidden_size/position == pad/' "" "" --hidden-size 100

breaks_start "$programs/11b_moe_tiled" chapters/11b_moe_tiled/moe.cu

breaks "tiles that are read before they are there" \
    '0,/all threads have stored their elements/{/all threads have stored their elements/d}' \
    "shared memory" ""
breaks "tiles that are overwritten while they are read" '/all threads have read the tiles/d' "shared memory race" ""
breaks "the tail of k" 's/ \&\& first_k + k < length//' "" "" --hidden-size 100 --intermediate-size 50
breaks "pads that are stored" 's/position >= 0 \&\& column >= 0/column >= 0/' "" ""
breaks "columns past the last" 's/column < num_columns ? column : -1/column/' "" "" --hidden-size 100 \
    --intermediate-size 50
breaks "zeros that are not written in tiles" \
    's/if (!find_rows(problem, buffers, hidden_size, positions, columns))/if (expert < 0 || !find_rows(problem, buffers, hidden_size, positions, columns))/' \
    "uninitialised global memory" "" --expert-map random
breaks "every other row of a tile" 's/inputs\[k\]\[row + r \* THREADS_PER_COLUMN\]/inputs[k][row]/' "expected" "" --dist one
finish
