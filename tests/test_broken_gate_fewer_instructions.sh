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
    breaks "no barrier behind the wait" '/__pipeline_wait_prior(0);/{n;d}' "" "" $many normal
    breaks "the last warp begins where it would" 's/min(first_token, num_tokens - TOKENS_PER_WARP)/first_token/' \
        "out-of-bounds" "" $many normal
    breaks "rows of the warp before stored again" 's/!by_rounds & (token >= first_token)/!by_rounds/' "race" "" \
        $many normal
    breaks "rows without room for shared experts" 's/token \* (TOPK + how.shared)/token * TOPK/' "race" "" \
        $many normal --num-fused-shared-experts 1
    breaks "a row chosen by rounds without room for shared experts" 's/+ t) \* (TOPK + how.shared)/+ t) * TOPK/' "" "" \
        $many nan --num-fused-shared-experts 1
    breaks "the least best for the least second best" \
        's/stays ? best.second : INFINITY/stays ? best.first : INFINITY/' "" "" \
        $many normal
    breaks "an equal second best is lost" 's/fminf(first\[i\], first\[i + step\])/fminf(second[i], first[i + step])/' \
        "" "" $many ties
    breaks "NaN is not noticed" 's/!(sum_of_two < INFINITY)/(sum_of_two == INFINITY)/' "" \
        "" $many nan
    breaks "NaN that the first lane alone has noticed" 's/if (unsure_lanes == 0)/if (unsure_lanes == 1)/' "" "" \
        --num-tokens 4 --bias none --logits "$scratch/lone_nan.npy"
    breaks "infinity is not noticed" 's/!(sum_of_two < INFINITY)/isnan(sum_of_two)/' "" "" \
        $many normal --bias "$scratch/all_infinite.npy"
    breaks "more candidates than there is room for" 's/ | (count > own_tile.ROOM)//' "" "" $many equal
    breaks "candidates of all tokens in one list" 's/own_tile.ids\[token_of_warp\] + end/own_tile.ids[0] + end/' \
        "race" "" $many normal
    breaks "the higher of two equal groups stays" 's/? group_score : above/? above : group_score/' "" "" \
        $many ties
    zeros="--num-tokens 6 --logits $scratch/zeros.npy --bias $scratch"
    breaks "the next float but one" 's/? -1 : 1)/? -1 : 2)/' "" "" $zeros/next_float.npy
    breaks "the next float but one below zero" 's/? -1 : 1)/? -2 : 1)/' "" "" $zeros/next_float_below_zero.npy
    breaks "the next float of zero is below it" 's/group_score < 0.0f/group_score <= 0.0f/' "" "" $zeros/sum_of_zero.npy
    breaks "equals are not parted" '/break_ties<OWN/s/break_ties.*/;/' "" "" $many ties
    breaks "equals are parted the other way round" 's/> own_i)/< own_i)/' "" "" $many ties
    breaks "a list that is not there yet" '/\[choose\]/,/\[choose\]/s/__syncwarp();//' "race" "" $many normal
    breaks "a group's first position for all of its candidates" 's/passing != 0; next++/passing != 0;/' "" "" $many normal
}
finish
