#!/bin/sh
# Runs shapes for which chapter 16a's ring is filled several times, then breaks one line of the kernel at a time: the
# program must fail with the expected message. test_moe_bulk_counters.c checks that the counters are 0 after every
# launch.
#
# run in all: $b/cpu/16a_layer_bulk_copies
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
programs=$(dirname "$1")
program=$programs/16a_layer_bulk_copies
small="--hidden-size 128 --intermediate-size 64"

# shellcheck disable=SC2086 # must split into words
{
    for tokens in 1 8 9 15 16 17; do
        succeeds "$tokens tokens of an expert" "$program" $small --num-tokens $tokens --num-experts 1 --topk 1
    done
    succeeds "several steps, the last one short, experts elsewhere" "$program" --num-tokens 50 --hidden-size 2112 \
        --intermediate-size 192 --num-experts 3 --topk 1 --expert-map random
    succeeds "40 blocks of an expert" "$program" $small --num-tokens 640 --num-experts 2 --topk 1 --dist one
    succeeds "blocks too large for its kernel" "$program" $small --num-tokens 20 --num-experts 2 --topk 1 \
        --block-size 32
    succeeds "rows that are no multiple of 64" "$program" --num-tokens 20 --hidden-size 96 --num-experts 2 --topk 1
}

breaks_start "$program" chapters/16a_layer_bulk_copies/moe.cu
few="$small --num-tokens 20 --num-experts 3 --topk 2"
ring="--num-tokens 3 --hidden-size 4096 --intermediate-size 64 --num-experts 2 --topk 1"

# shellcheck disable=SC2086 # must split into words
{
    # --- faults that the checker finds ---
    breaks "up's rows taken for the gate's" 's/silu(a\[0\]) \* a\[2\]/silu(a[2]) * a[0]/' "expected" "" $few
    breaks "a lost routing weight" 's/+= weight \* unpack/+= unpack/' "expected" "" $few
    breaks "a choice that is not added" 's/k < topk; k++/k < topk - 1; k++/' "expected" "" $few
    breaks "the neighbour's weights" \
        's/: tile.expert \* (int64_t)problem.hidden_size/: (tile.expert ^ 1) * (int64_t)problem.hidden_size/' \
        "expected" "" $few --num-experts 4
    breaks "a consumer that multiplies another's stage" 's/if (i == consumer)/if ((i ^ 1) == consumer)/' "expected" "" $few

    # --- faults that the simulator finds ---
    breaks "no fence before the copies of the second product" '/async_proxy_fence()/d' \
        "no fence to the asynchronous proxy" "" $few
    matches "no fence before the copies of the second product: who waits for another block" \
        "*try: a proxy fence, such as async_proxy_fence(), in the thread that issues the copy, after it has waited for the *" \
        "$(sed -n 2p "$scratch/err")"
    breaks "a stage that is freed before it is read" '/__syncwarp(); \/\* all lanes have loaded/d' "race" "" $ring
    breaks "a stage that no thread frees" 's/mbarrier_arrive(\&shared.emptied\[token_stage\])/(void)0/' "deadlock" "" $ring
    breaks "copies that do not wait for room" '/mbarrier_wait(\&shared.emptied/d' "" "" $ring
    breaks "the parity of the round before" \
        's/emptied\[ring_state.index\], ring_state.parity ^ 1/emptied[ring_state.index], ring_state.parity/' \
        "deadlock" "" $few
    breaks "products that do not wait for copies" '/mbarrier_wait(\&shared.filled/d' "" "" $few
    breaks "an arrival too many" 's/filled\[i\], 1)/filled[i], 2)/' "deadlock" "" $few
    breaks "half the bytes announced" 's/(filled, num_rows \* bytes)/(filled, num_rows * bytes \/ 2)/' "" "" $few
    breaks "a second product that does not wait" 's/wait_for_count(counters, \&counters->gate_up_stores\[tile.block\], needed)/true/' \
        "" "" $few
    breaks "a sum that does not wait" 's/= wait_for_count(counters, \&counters->down_stores, all)/= true/' "" "" $few
    breaks "a message without a release" 's/add_release(counter, 1)/atomicAdd(counter, 1)/' "race" "" $few
    breaks "zeros that are not written" 's/^        compute_tile<Tile>(/        if (tile.expert >= 0)&/' \
        "uninitialised global memory" "" $few --expert-map random --num-experts 8
}
finish
