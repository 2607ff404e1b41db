#!/bin/sh
# Tests that 100 random kernels run on the simulator without a report, and produce the same results in every order and
# on a GPU (tests/golden/random_kernels.txt).
#
# run: $b
. tests/tap.sh
build=$1
golden=tests/golden/random_kernels.txt # printed on a GPU by: sh tests/gpu/compare_random_kernels.sh gpu 100
compare=tests/gpu/compare_random_kernels.sh
export FOLDER="$scratch/random" BUILD="$build"

BUILD=$scratch succeeds "without the simulator" sh -c "! sh $compare simulator 1"
sh "$compare" simulator 100 >"$scratch/results" 2>"$scratch/errors"
equal "100 kernels run without a report" "" "$(cat "$scratch/errors")"
equal "and have results" "seed 1, 100 lines" "$(sed '2,$d; s/$/, /' "$scratch/results" | tr -d '\n'
    )$(grep -cE '^[0-9]+ [0-9a-f]{16}$' "$scratch/results") lines"
for order in reverse random:1; do
    for first in 0 50; do
        SIMT_ORDER=$order "$FOLDER/simulator/$first" >"$scratch/$order.$first" 2>&1
        equal "kernels $first to $((first + 49)) in the order $order" "$(cat "$FOLDER/simulator/$first.txt")" \
            "$(cat "$scratch/$order.$first")"
    done
done
equal "the results of a GPU" "100 of 100 kernels equal" "$(sh "$compare" compare "$golden" "$scratch/results")"

equal "equal results" "100 of 100 kernels equal" "$(sh "$compare" compare "$scratch/results" "$scratch/results")"
sed '8s/.$/x/; 9d' "$scratch/results" >"$scratch/changed"
equal "results that differ, or that one machine lacks" "1 2" \
    "$(sh "$compare" compare "$scratch/results" "$scratch/changed" >"$scratch/said"; echo "$? $(grep -c only "$scratch/said")")"
equal "their number" "98 of 100 kernels equal" "$(tail -n 1 "$scratch/said")"
command=$(sed -n '1s/.*: //p' "$scratch/said")
matches "the command of the message writes this kernel" "*kernel_6<<<*" "$(sh -c "$command")"
finish
