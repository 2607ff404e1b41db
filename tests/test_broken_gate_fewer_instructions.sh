#!/bin/sh
# Runs chapter 13c's kernels on routers that --check-all does not include, then breaks one line at a time: the program
# must fail with the expected message.
#
# run in all: $b/cpu/13c_gate_fewer_instructions
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
. "$(dirname "$0")/gates.sh"
tries "$1_few"
tries "$1_many"
for tokens in 4 5 961; do
    succeeds "$tokens tokens" "$1" --num-tokens $tokens --dist normal
done

breaks_start "$1_many" chapters/13c_gate_fewer_instructions/gate.cu "$three_routers"
many="--num-tokens 33 --dist"
# shellcheck disable=SC2086
{
    breaks "no wait for the copies" '/__pipeline_wait_prior(0);/d' "asynchronous" "" $many normal
    breaks "no barrier after the wait" '/__pipeline_wait_prior(0);/{n;d}' "" "" $many normal
    breaks "the last warp does not begin at an earlier row" 's/min(first_token, num_tokens - TOKENS_PER_WARP)/first_token/' \
        "out-of-bounds" "" $many normal
    breaks "rows of the previous warp are stored again" 's/!on_slow_path & (token >= first_token)/!on_slow_path/' "race" "" \
        $many normal
    breaks "rows without space for shared experts" 's/token \* (TOPK + params.num_shared_experts)/token * TOPK/' "race" "" \
        $many normal --num-fused-shared-experts 1
    breaks "a row on the slow path without space for shared experts" 's/+ t) \* (TOPK + params.num_shared_experts)/+ t) * TOPK/' "" "" \
        $many nan --num-fused-shared-experts 1
    breaks "the smallest best instead of the smallest second best" \
        's/stays ? best.second : INFINITY/stays ? best.first : INFINITY/' "" "" \
        $many normal
    breaks "an equal second best is lost" 's/fminf(first\[i\], first\[i + step\])/fminf(second[i], first[i + step])/' \
        "" "" $many ties
    breaks "NaN is not detected" 's/!(sum_of_two < INFINITY)/(sum_of_two == INFINITY)/' "" \
        "" $many nan
    breaks "NaN counts only if lane 0 alone detects it" 's/if (slow_path_lanes == 0)/if (slow_path_lanes == 1)/' "" "" \
        --num-tokens 4 --bias none --logits "$scratch/lone_nan.npy"
    breaks "infinity is not detected" 's/!(sum_of_two < INFINITY)/isnan(sum_of_two)/' "" "" \
        $many normal --bias "$scratch/all_infinite.npy"
    breaks "more candidates than a list can hold" 's/ | (count > shared.CAPACITY)//' "" "" $many equal
    breaks "candidates of all tokens in one list" 's/shared.ids\[token_in_warp\] + end/shared.ids[0] + end/' \
        "race" "" $many normal
    breaks "the higher of two equal groups is kept" 's/? group_score : above/? above : group_score/' "" "" \
        $many ties
    zeros="--num-tokens 6 --logits $scratch/zeros.npy --bias $scratch"
    breaks "the next float but one" 's/? -1 : 1)/? -1 : 2)/' "" "" $zeros/next_float.npy
    breaks "the next float but one below zero" 's/? -1 : 1)/? -2 : 1)/' "" "" $zeros/next_float_below_zero.npy
    breaks "the next float of zero is below it" 's/group_score < 0.0f/group_score <= 0.0f/' "" "" $zeros/sum_of_zero.npy
    breaks "ties are not broken" '/break_ties<CANDIDATES_PER_LANE/s/break_ties.*/;/' "" "" $many ties
    breaks "ties are broken the other way round" 's/> own_i)/< own_i)/' "" "" $many ties
    breaks "no barrier before the list is read" '/\[choose\]/,/\[choose\]/s/__syncwarp();//' "race" "" $many normal
    breaks "a group's first position for all of its candidates" 's/passing != 0; to++/passing != 0;/' "" "" $many normal
}
finish
