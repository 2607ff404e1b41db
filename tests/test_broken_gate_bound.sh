#!/bin/sh
# Runs chapter 13a's kernel on routers that --check-all does not include, then breaks one line at a time: the program
# must fail with the expected message.
#
# run in all: $b/cpu/13a_gate_bound
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
. "$(dirname "$0")/gates.sh"
tries "$1"

breaks_shared=kernels/few_tokens.cuh
breaks_start "$1" chapters/13a_gate_bound/gate.cu "$three_routers"
few="--num-tokens 9 --dist"
# shellcheck disable=SC2086
{
    breaks "no barrier before the scores of groups are read" '/\[few_groups\]/,/\[few_groups\]/s/__syncthreads();//' \
        "race" "" $few normal
    breaks "no barrier before the candidates are counted" \
        '/\[few_candidates\]/,/\[few_candidates\]/s/__syncthreads();//' "race" "" \
        $few normal
    breaks "a choice that equals the bound is not a candidate" 's/(key >= bound)/(key > bound)/' "" "" --num-tokens 64
    breaks "dropped groups also have candidates" \
        's/(key >= bound) & (kept_groups_mask >> expert .* Router::GROUP_SIZE)/key >= bound/' \
        "expected" "" $few normal
    breaks "the higher of two equal groups is kept" 's/(other < group_of_lane)/(other > group_of_lane)/' "groups" "" \
        $few ties
    breaks "four groups compared as if they were eight" 's/, other = number % Router::GROUPS/, other = number/' \
        "out-of-bounds" "*group_scores*" $few normal $four_groups
    breaks "only 16 of more candidates are ranked" 's/if (shared.num_candidates <= WARP_SIZE . 2) {/if (true) {/' "" "" --num-tokens 64
    breaks "no barrier before all threads' choices are added up" \
        '/\[few_slots\]/,/\[few_slots\]/s/__syncthreads();//' \
        "race" "" $few equal
    breaks "scores of other candidates" 's/score = shared.scores\[own\]/score = shared.scores[own \& 7]/' "weight" "" \
        $few normal
    breaks "half of the chosen scores are added up" 's/k < Router::TOPK; k += 4/k < Router::TOPK; k += 8/' "weight" "" \
        $few normal
    breaks "rows without space for shared experts" 's/(Router::TOPK + params.num_shared_experts)/Router::TOPK/' "race" "" $few normal \
        --num-fused-shared-experts 1
    breaks "an expert whose choice is NaN has a weight" 's/key != 0 ? score : 0.0f;/score;/' "weight" "" $few nan
}
finish
