# Inputs for the gates of chapters 13a to 13c, and runs that --check-all does not include; sourced after tap.sh.
#
#   tries PROGRAM     runs PROGRAM on routers that only these chapters support and on arrays that no --dist makes
#
# shellcheck shell=sh disable=SC2034 # tests also use these variables
four_groups="--num-experts 128 --num-expert-group 4 --topk-group 2 --topk 4"
sixteen_groups="--num-experts 512 --num-expert-group 16 --topk-group 8 --topk 16"

# array NAME SHAPE EXPRESSION: writes an array that --dist does not generate; the expression computes element e
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
array one_each 256, "0 if e % 32 == 0 else -inf" # groups without a second best expert or with equal choices only
array all_infinite 256, "inf"
array no_number 256, "nan"
array zeros "1, 256" "0"
array low "1, 256" "-68 - e / 64"
array lone_nan "4, 256" "nan if e == 3 else 9 if e % 32 in (4, 5) else -9" # only one lane of a warp detects it
# If a row contains only one number, this expert's score is also the sum of the row's scores, so that the weight equals
# the scale even if the score is tiny.
array lone_number "64, 256" "e / 4096 if e % 256 == 3 else nan"
array lone_tiny_number "64, 256" "-87.3 + e / 16384 if e % 256 == 3 else nan"
# The best choices are 1 in three groups and 0.75 in the fourth; in the fifth group they are 0.75 and a slightly larger
# number, so that its score is the next float above the fourth group's.
fifth="(0.5 if e < 96 else 0.25 + (e == 128) * 2 ** -23) if e % 32 < 2 and e < 160 else -4"
array next_float 256, "$fifth"
array next_float_below_zero 256, "($fifth) - 2 + (e == 128) * 2 ** -23"
array sum_of_zero 256, "1.5 if e == 96 else -2.5 if e == 97 else $fifth" # choices of 2 and -2 in the fourth group
# In f16, sums of two finite choices overflow to infinity, with either sign.
array large 256, "(40000 if e < 128 else 20000) - 16 * e"
array large_below_zero 256, "-40000 + e if e >= 96 else 100 + e"
array all_large_below_zero 256, "-33000 + e if e % 32 < 2 else -60000" # all sums are -inf: groups 0 to 3 are kept

# shellcheck disable=SC2086 # must split into words
tries() {
    tried=${1##*/}
    for dist in normal ties equal extreme nan; do
        for dtype in f32 bf16; do
            succeeds "$tried: 4 groups, $dist, $dtype" "$1" --num-tokens 35 $four_groups --dist $dist --dtype $dtype
            succeeds "$tried: 16 groups, $dist, $dtype" "$1" --num-tokens 7 $sixteen_groups --dist $dist --dtype $dtype
        done
    done
    for name in large large_below_zero all_large_below_zero; do
        succeeds "$tried: f16, bias $name" \
            "$1" --num-tokens 9 --dtype f16 --bias-dtype same --dist normal --bias "$scratch/$name.npy"
    done
    for name in one_each all_infinite no_number; do
        succeeds "$tried: bias $name" "$1" --num-tokens 6 --dist normal --bias "$scratch/$name.npy"
    done
    for name in next_float next_float_below_zero sum_of_zero; do
        succeeds "$tried: bias $name" \
            "$1" --num-tokens 6 --logits "$scratch/zeros.npy" --bias "$scratch/$name.npy"
    done
    succeeds "$tried: low logits" "$1" --num-tokens 6 --logits "$scratch/low.npy" --bias none --renormalize 0
    succeeds "$tried: one NaN" "$1" --num-tokens 4 --bias none --logits "$scratch/lone_nan.npy"
    for name in lone_number lone_tiny_number; do
        succeeds "$tried: $name" "$1" --num-tokens 64 --bias none --logits "$scratch/$name.npy"
    done
    for router in "$four_groups" "$sixteen_groups" "--num-expert-group 16"; do # main.c repeats gate.cu's list
        succeeds "$tried: shared experts: $router" \
            "$1" --num-tokens 3 $router --dist normal --num-fused-shared-experts 1
    done
    for dist in normal nan; do
        for later in 0 1; do
            succeeds "$tried: shared experts, $dist, scaled later: $later" \
                "$1" --num-tokens 33 --dist $dist --num-fused-shared-experts 9 --scale-later $later
        done
    done
}

# A sed script that removes the routers that no run of a broken kernel uses, to reduce the code to compile.
three_routers="$only_f32; /if (matches_router<router<256, 16\|if (matches_router<router<512/,+1d"
