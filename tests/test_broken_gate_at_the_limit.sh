#!/bin/sh
# Runs both kernels of chapter 13 on routers that --check-all has not, then breaks one line at a time: the program must
# refuse the run for what is wrong.
#
# run in all: $b/cpu/13_gate_at_the_limit
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/breaks.sh"
programs=$(dirname "$1")
source=chapters/13_gate_at_the_limit/gate.cu
four_groups="--num-experts 128 --num-expert-group 4 --topk-group 2 --topk 4"
sixteen_groups="--num-experts 512 --num-expert-group 16 --topk-group 8 --topk 16"

# --- routers that only this chapter has a kernel for ---
# shellcheck disable=SC2086 # words
for kernel in few many; do
    for dist in normal ties equal extreme nan; do
        for dtype in f32 bf16; do
            succeeds "$kernel tokens of 4 groups, $dist, $dtype" \
                "$programs/13_gate_at_the_limit_$kernel" --num-tokens 35 $four_groups --dist $dist --dtype $dtype
            succeeds "$kernel tokens of 16 groups, $dist, $dtype" \
                "$programs/13_gate_at_the_limit_$kernel" --num-tokens 7 $sixteen_groups --dist $dist --dtype $dtype
        done
    done
done
# Arrays for routers that --dist does not make: array NAME SHAPE EXPRESSION, of the expert's number
array() {
    python3 - "$scratch/$1.npy" "$2" "$3" <<'PYTHON'
import math
import struct
import sys

path, shape, expression = sys.argv[1:]
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}".ljust(117) + "\n"
count = math.prod(int(number) for number in shape.split(",") if number)
values = [float(eval(expression, {"inf": math.inf, "nan": math.nan, "e": e})) for e in range(count)]
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{count}f", *values))
PYTHON
}
array one_each 256, "0 if e % 32 == 0 else -inf" # groups without a second best, or with nothing but equal ones
array all_infinite 256, "inf"
array no_number 256, "nan"
array zeros "1, 256" "0"
array low "1, 256" "-68 - e / 64"
array lone_nan "4, 256" "nan if e == 3 else 9 if e % 32 in (4, 5) else -9" # noticed by a single lane of a warp
# The only number of a row is the sum of its scores, so its weight is the scale: also where the score is nearly too small.
array lone_number "64, 256" "e / 4096 if e % 256 == 3 else nan"
array lone_tiny_number "64, 256" "-87.3 + e / 16384 if e % 256 == 3 else nan"
# Choices of 1 in three groups, 0.75 in the fourth, and a little more in the fifth: its score is the next float.
fifth="(0.5 if e < 96 else 0.25 + (e == 128) * 2 ** -23) if e % 32 < 2 and e < 160 else -4"
array next_float 256, "$fifth"
array next_float_below_zero 256, "($fifth) - 2 + (e == 128) * 2 ** -23"
array sum_of_zero 256, "1.5 if e == 96 else -2.5 if e == 97 else $fifth" # of 2 and -2, in the fourth group
# Sums of two choices that f16 has no number for: infinite, though the choices are not; of both signs.
array large 256, "(40000 if e < 128 else 20000) - 16 * e"
array large_below_zero 256, "-40000 + e if e >= 96 else 100 + e"
for kernel in few many; do
    for name in large large_below_zero; do
        succeeds "$kernel tokens in f16, bias $name" \
            "$programs/13_gate_at_the_limit_$kernel" --num-tokens 9 --dtype f16 --bias-dtype same --dist normal \
            --bias "$scratch/$name.npy"
    done
    for name in one_each all_infinite no_number; do
        succeeds "$kernel tokens, bias $name" \
            "$programs/13_gate_at_the_limit_$kernel" --num-tokens 6 --dist normal --bias "$scratch/$name.npy"
    done
    for name in next_float next_float_below_zero sum_of_zero; do
        succeeds "$kernel tokens, bias $name" \
            "$programs/13_gate_at_the_limit_$kernel" --num-tokens 6 --logits "$scratch/zeros.npy" \
                --bias "$scratch/$name.npy"
    done
    succeeds "$kernel tokens, low logits" \
        "$programs/13_gate_at_the_limit_$kernel" --num-tokens 6 --logits "$scratch/low.npy" --bias none --renormalize 0
    succeeds "$kernel tokens, one NaN" \
        "$programs/13_gate_at_the_limit_$kernel" --num-tokens 4 --bias none --logits "$scratch/lone_nan.npy"
    for name in lone_number lone_tiny_number; do
        succeeds "$kernel tokens, $name" \
            "$programs/13_gate_at_the_limit_$kernel" --num-tokens 64 --bias none --logits "$scratch/$name.npy"
    done
done
# shellcheck disable=SC2086
for router in "$four_groups" "$sixteen_groups" "--num-expert-group 16"; do # main.c names them, as gate.cu does
    succeeds "shared experts: $router" \
        "$programs/13_gate_at_the_limit" --num-tokens 3 $router --dist normal --num-fused-shared-experts 1
done
for kernel in few many; do
    for dist in normal nan; do
        for later in 0 1; do
            succeeds "$kernel tokens with shared experts, $dist, scaled later: $later" \
                "$programs/13_gate_at_the_limit_$kernel" \
                --num-tokens 33 --dist $dist --num-fused-shared-experts 9 --scale-later $later
        done
    done
done
for tokens in 4 5 961; do
    succeeds "$tokens tokens" "$programs/13_gate_at_the_limit" --num-tokens $tokens --dist normal
done

# --- few tokens ---
three_routers="$only_f32; /if (is_of<router<256, 16\|if (is_of<router<512/,+1d"
breaks_start "$programs/13_gate_at_the_limit_few" $source "$three_routers"
few="--num-tokens 9 --dist"
# shellcheck disable=SC2086
{
    breaks "no barrier before the scores of groups are read" '/\[few_groups\]/,/\[few_groups\]/s/__syncthreads();//' \
        "race" "" $few normal
    breaks "no barrier before the candidates are counted" \
        '/\[few_candidates\]/,/\[few_candidates\]/s/__syncthreads();//' "race" "" \
        $few normal
    breaks "what equals the bound does not pass" 's/(key >= bound)/(key > bound)/' "" "" --num-tokens 64
    breaks "groups that do not stay have candidates, too" \
        's/(key >= bound) & (groups >> expert .* Router::COUNT)/key >= bound/' \
        "expected" "" $few normal
    breaks "the higher of two equal groups stays" 's/(other < group_of_lane)/(other > group_of_lane)/' "groups" "" \
        $few ties
    breaks "four groups compared as if they were eight" 's/, other = number % Router::GROUPS/, other = number/' \
        "out-of-bounds" "*group_scores*" $few normal $four_groups
    breaks "sixteen candidates of more" 's/if (token.count <= WARP_SIZE . 2) {/if (true) {/' "" "" --num-tokens 64
    breaks "no barrier before all threads' choices are added up" \
        '/\[few_places\]/,/\[few_places\]/s/__syncthreads();//' \
        "race" "" $few equal
    breaks "places of other candidates" 's/score = token.scores\[own\]/score = token.scores[own \& 7]/' "weight" "" \
        $few normal
    breaks "half of the chosen scores are added up" 's/k < Router::TOPK; k += 4/k < Router::TOPK; k += 8/' "weight" "" \
        $few normal
    breaks "rows without room for shared experts" 's/(Router::TOPK + how.shared)/Router::TOPK/' "race" "" $few normal \
        --num-fused-shared-experts 1
    breaks "NaN has a weight" 's/key != 0 ? score : 0.0f;/score;/' "weight" "" $few nan
}

# --- many tokens ---
breaks_start "$programs/13_gate_at_the_limit_many" $source "$three_routers"
many="--num-tokens 33 --dist"
# shellcheck disable=SC2086
{
    breaks "no wait for the copies" '/__pipeline_wait_prior(0);/d' "asynchronous" "" $many normal
    breaks "no barrier behind the wait" '/__pipeline_wait_prior(0);/{n;d}' "" "" $many normal
    breaks "the last warp begins where it would" 's/min(first_token, num_tokens - TOKENS)/first_token/' \
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
    breaks "more candidates than there is room for" 's/ | (count > ROOM)//' "" "" $many equal
    breaks "an infinite bound" 's/ | (bound == -INFINITY)//' "" "" $many normal --bias "$scratch/one_each.npy"
    breaks "candidates of all tokens in one list" 's/own_tile.ids\[token_of_warp\] + end/own_tile.ids[0] + end/' \
        "race" "" $many normal
    breaks "the higher of two equal groups stays" 's/? group_score : above/? above : group_score/' "" "" \
        $many ties
    zeros="--num-tokens 6 --logits $scratch/zeros.npy --bias $scratch"
    breaks "the next float but one" 's/? -1 : 1)/? -1 : 2)/' "" "" $zeros/next_float.npy
    breaks "the next float but one below zero" 's/? -1 : 1)/? -2 : 1)/' "" "" $zeros/next_float_below_zero.npy
    breaks "the next float of zero is below it" 's/group_score < 0.0f/group_score <= 0.0f/' "" "" $zeros/sum_of_zero.npy
    breaks "equals are not parted" '/part_equals<OWN/s/part_equals.*/;/' "" "" $many ties
    breaks "equals are parted the other way round" 's/> own_i)/< own_i)/' "" "" $many ties
    breaks "a list that is not there yet" '/\[choose\]/,/\[choose\]/s/__syncwarp();//' "race" "" $many normal
    breaks "a group's first place for all of its candidates" 's/passing != 0; next++/passing != 0;/' "" "" $many normal
}
finish
