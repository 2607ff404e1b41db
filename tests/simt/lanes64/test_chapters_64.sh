#!/bin/sh
# Tests chapters 02 to 05, unchanged, and chapter 19 on a simulated device whose warps have 64 lanes. The argument is
# the folder of their programs. Runs only some of the problems of --check-all, because all of them would take ten
# minutes.
#
# run: $b/cpu64
. tests/tap.sh

for chapter in 02_warp_per_group 03_divergence_free 04_bitonic_sort 05_fused_gate 19_sixty_four_lanes; do
    for dist in normal uniform zipf ties equal extreme nan; do
        succeeds "$chapter verifies $dist" "$1/$chapter" --num-tokens 70 --dist "$dist"
    done
done
for chapter in 04_bitonic_sort 05_fused_gate; do
    succeeds "$chapter verifies every corner that it supports" "$1/$chapter" --check-corners
done
matches 'a shuffle of 64 lanes where a warp has 32 is reported' '*chapters/02_warp_per_group/gate.cu:*thread*' \
    "$("$1/02_warp_per_group_in_a_wave" --num-tokens 1 2>&1 | grep 'verified')"
finish
