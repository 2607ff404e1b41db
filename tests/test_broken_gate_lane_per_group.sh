#!/bin/sh
# Runs chapter 13b's kernel on routers that --check-all does not include, then breaks one line at a time: the program
# must fail with the expected message.
#
# run in all: $b/cpu/13b_gate_lane_per_group
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
. "$(dirname "$0")/gates.sh"
tries "$1"
for tokens in 1 3 4 5; do # fewer than, exactly and more than the four in a warp
    succeeds "$tokens tokens" "$1" --num-tokens $tokens --dist normal
done

breaks_start "$1" chapters/13b_gate_lane_per_group/gate.cu "$three_routers"
many="--num-tokens 33 --dist"
# shellcheck disable=SC2086
{
    breaks "no wait for the copies" '/__pipeline_wait_prior(0);/d' "asynchronous" "" $many normal
    breaks "no barrier after the wait" '/__pipeline_wait_prior(0);/{n;d}' "" "" $many normal
    breaks "rows past the last token are copied" \
        's/min(first_token + chunk . ROW, num_tokens - 1)/first_token + chunk \/ ROW/' \
        "out-of-bounds" "" $many normal
    breaks "tokens past the last one are stored" 's/if (token < num_tokens)/if (true)/' "out-of-bounds" "" $many normal
    breaks "rows without space for shared experts" 's/token \* (TOPK + params.num_shared_experts)/token * TOPK/' "race" "" \
        $many normal --num-fused-shared-experts 1
    breaks "the smallest best instead of the smallest second best" \
        's/stays ? best.second : 0xffffffffu/stays ? best.first : 0xffffffffu/' \
        "" "" $many normal
    breaks "an equal second best is lost" \
        's/min(best.first, key\[e\])/best.first > key[e] ? key[e] : 0/' "" "" $many ties
    breaks "a choice that equals the bound is not a candidate" 's/key\[e\] >= bound/key[e] > bound/g' "" "" $many normal
    breaks "dropped groups also have candidates" \
        's/stays & (key\[e\] >= bound)/key[e] >= bound/g' "expected" "" \
        $many normal
    breaks "the higher of two equal groups is kept" 's/((group ^ i) < group)/((group ^ i) > group)/' "" "" $many ties
    breaks "candidates of all tokens in one list" \
        's/candidates\[token_in_warp\]\[next++\]/candidates[0][next++]/' "race" "" \
        $many normal
    breaks "a group's first position for all of its candidates" 's/\[next++\]/[next]/' "" "" $many normal
    breaks "no barrier before the list is read" '/\[many_candidates\]/,/\[many_candidates\]/s/__syncwarp();//' "race" "" \
        $many normal
    breaks "no barrier before the chosen experts are read" '/\[many_slots\]/,/\[many_slots\]/s/__syncwarp();//' "race" "" $many normal
    breaks "only one candidate per lane" \
        's/own < count; own += GROUPS/own < count \&\& own < GROUPS; own += GROUPS/' \
        "" "" $many normal
    breaks "an expert whose choice is NaN has a weight" 's/has_weight = winner >> 32 != 0/has_weight = winner != 0/' "weight" "" $many nan
}
finish
