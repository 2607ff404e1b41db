#!/bin/sh
# Breaks one line of chapter 17's router or its launches at a time: the program must fail with the expected message.
# Each program launches the step twice, so that the second step's router can race with the first step's gate.
#
# run in all: $b/cpu/17_overlapping_launches
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
few="--num-tokens 9"

breaks_start "$1" chapters/17_overlapping_launches/decode.cu \
    's/kernel < NUM_DECODE_KERNELS; kernel++/kernel < 2 * NUM_DECODE_KERNELS; kernel++/
    s/launched >> kernel & 1/launched >> kernel % NUM_DECODE_KERNELS \& 1/
    s/buffers, kernel, stream);/buffers, kernel % NUM_DECODE_KERNELS, stream);/'
succeeds "two steps build" rebuild 's/A thread keeps/Each thread keeps/'
# shellcheck disable=SC2086 # must split into words
{
    for overlap in 0 1; do
        succeeds "two steps, not broken, --overlap $overlap" "$scratch/program" $few --overlap $overlap
    done
    breaks "a router that never waits" '/wait_for_previous_kernel();/d' \
        "race with an earlier launch" "*gating_output*= sum;" $few
    breaks "a router that waits after it has stored" \
        '/wait_for_previous_kernel();/d; /gating_output\[.*= sum;/s/$/ wait_for_previous_kernel();/' \
        "race with an earlier launch" "*gating_output*= sum;*" $few
    breaks "a token without a block" 's/(num_tokens + TOKENS - 1) \/ TOKENS/(num_tokens + TOKENS - 2) \/ TOKENS/' \
        "" "" $few
    breaks "tokens past the end" 's/ \&\& token < num_tokens \&\& / \&\& /' "out-of-bounds" "*gating_output*= sum;" $few
    breaks "the first tokens in every block" 's/min(first_token + t, num_tokens - 1)/t/' 'gating_output\[8\]' "" $few
    breaks "a warp whose sum is left out" 's/warp = 0; warp < WARPS;/warp = 1; warp < WARPS;/' 'gating_output\[0\]' "" $few
    breaks "a lane whose sum is left out" 's/offset > 0; offset/offset > 1; offset/' 'gating_output\[0\]' "" $few
    breaks "only the first chunk of a thread" 's/thread + c \* THREADS;/thread + c * THREADS + (c > 0) * chunks;/' \
        'gating_output\[0\]' "" --num-tokens 1 --hidden-size 4096 --intermediate-size 64
    breaks "the neighbour's weights" 's/(int64_t)expert \* chunks/(int64_t)(expert ^ 1) * chunks/' \
        'gating_output\[0\]' "" $few
    breaks "no barrier before the sums" '/__syncthreads();/d' "race" "" $few
    breaks "a kernel that is not launched" 's/if (problem->launched/if (kernel % 4 != DECODE_ALIGN \&\& problem->launched/' \
        "" "" $few
    breaks "the layer before the list" 's/switch (kernel) {/switch (kernel < 2 ? kernel : 5 - kernel) {/' "" "" $few
}

# The message on the chapter's page comes from a program whose gate, linked from chapter 13c, does not wait.
few_tokens=common/kernels/few_tokens.cuh
gate=$(dirname "$1")/obj/13c_gate_fewer_instructions/gate.o
parts=$(dirname "$1")/obj/$(basename "$1")/parts.a
mkdir -p "$scratch/common/kernels"
sed '/^ *wait_for_previous_kernel();/d' $few_tokens >"$scratch/$few_tokens"
equal "one line of the gate is deleted" 1 $(($(wc -l <$few_tokens) - $(wc -l <"$scratch/$few_tokens")))
ninja -t commands "$1" | grep -e "-o $gate\$" -e "rcs $parts " -e "-o $1 " |
    sed "s|-Icommon/simt|& -I$scratch/common|; s|$gate|$scratch/gate.o|g; s|$parts|$scratch/parts.a|g
        s|-o $1 |-o $scratch/program |" >"$scratch/build.sh"
succeeds "a step whose gate does not wait builds" sh -e "$scratch/build.sh"
"$scratch/program" >"$scratch/out" 2>"$scratch/err"
equal "a gate that does not wait: is refused" 1 $?
equal "a gate that does not wait: the message on the page" \
    "$(sed -n '/^common\/kernels\/few_tokens/,/^```/p' chapters/17_overlapping_launches/README.md | grep -v '^```' |
        paste -sd ' ')" "$(sed -n "1s|^.*wrong: $scratch/||p" "$scratch/err")"
finish
