#!/bin/sh
# Runs chapter programs on the real data and over the grid of shapes, types and distributions; every run verifies itself.
#
#   sh tests/test_chapters.sh build/cpu/02_warp_per_group...     (or build/gpu/...)
#
# LARGEST is the most tokens a run has: 2048, as the data has rows, unless the environment says otherwise.
set -u
[ $# -gt 0 ] || { echo "usage: $0 PROGRAM..." >&2; exit 2; }
. "$(dirname "$0")/tap.sh"

for program in "$@"; do
    for num_tokens in 0 1 2 31 2047 "${LARGEST:-2048}"; do
        for dtype in f32 f16 bf16; do
            succeeds "$program verifies $num_tokens tokens of the real data as $dtype" \
                "$program" --num-tokens "$num_tokens" --dtype "$dtype"
        done
    done
    for dist in normal uniform zipf ties equal extreme nan; do
        succeeds "$program verifies 500 tokens of $dist" "$program" --num-tokens 500 --dist "$dist" --seed 11
    done
    succeeds "$program verifies the real data with softmax" "$program" --num-tokens 300 --score softmax
    succeeds "$program verifies the real data with neither score nor bias" "$program" --num-tokens 300 --score none \
        --bias none
    succeeds "$program verifies the grid" "$program" --grid
done
finish
