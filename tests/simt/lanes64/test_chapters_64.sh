#!/bin/sh
# Tests chapters 02 to 05, unchanged, and chapter 19 on a simulated device whose warps have 64 lanes. The argument is
# the program. Runs only some of the problems of --check-all, because all of them would take ten minutes.
#
# run: $b/cpu64/[0-9][0-9]_*
. tests/tap.sh

case $1 in
*_in_a_wave)
    matches 'a shuffle of 64 lanes where a warp has 32 is reported' '*chapters/02_warp_per_group/gate.cu:*thread*' \
        "$("$1" --num-tokens 1 2>&1 | grep 'verified')"
    ;;
*)
    for dist in normal uniform zipf ties equal extreme nan; do
        succeeds "$1 verifies $dist" "$1" --num-tokens 70 --dist "$dist"
    done
    ;;
esac
case $1 in
*/04_* | */05_*) succeeds "$1 verifies every corner that it supports" "$1" --check-corners ;;
esac
finish
