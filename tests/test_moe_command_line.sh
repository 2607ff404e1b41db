#!/bin/sh
# Tests the command line of a layer program. Every bad argument or file results in exit status 2 and one line that names
# it, without a launch or an output file; too little memory results in exit status 3; output files are as documented.
#
# run: $b/cpu/11b_moe_tiled
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/command_line.sh"
program=$1
name=$(basename "$program")

# refuses NAME LINE ARGUMENT...: checks for exit status 2, nothing on stdout, this line on stderr and no output folder
refuses() {
    refuses_name=$1
    refuses_line=$2
    shift 2
    ends_early "$program" "$@"
    equal "$refuses_name: says why" "$name: $refuses_line" "$said"
    equal "$refuses_name: exit, lines, output, files" "2 1 0 no" "$ended"
}

# floats NAME SHAPE COUNT: writes $scratch/NAME.npy with zeros
floats() {
    npy "$1" "{'descr': '<f4', 'fortran_order': False, 'shape': $2, }" "$((4 * $3))"
}

# shape FILE: prints the shape of an f4 file that a program wrote
shape() {
    head -c 128 "$1" | tail -c +11 | sed -n "s/.*'<f4'.*'shape': \(([^)]*)\).*/\1/p"
}

# --- the problem ---
refuses "no hidden size" "--hidden-size: 0; it must be 1 or more" --hidden-size 0
refuses "a hidden size beyond all rows" "--hidden-size: 1048577; it must be 1 to 1048576" --hidden-size 1048577
refuses "an intermediate size beyond all rows" "--intermediate-size: 1048577; it must be 1 to 1048576" \
    --intermediate-size 1048577
refuses "no experts" "--num-experts: 0; it must be 1 or more" --num-experts 0
refuses "no choices" "--topk: 0; it must be 1 or more" --topk 0
refuses "negative tokens" "--num-tokens: -1; it must be 0 or more" --num-tokens -1
refuses "more choices than positions" "--num-tokens: 536870912 tokens of 4 ids; there can be 2147483647 ids in all" \
    --num-tokens 536870912
refuses "a type that the layer has not" "--dtype: 'f16'; it must be one of f32, bf16" --dtype f16
refuses "blocks that a tile does not divide" \
    "--block-size: 24 is not a multiple of 16; a tile is 16 or 64 rows of one expert" \
    --block-size 24
refuses "blocks of none" "--block-size: 0; it must be 1 or more" --block-size 0
refuses "a router that does not fit" \
    "--dist: router; the real router has 256 experts and gives a token at most 32 of them" --dist router
refuses "an unknown distribution" \
    "--dist: 'invalid'; it must be one of router, balanced, uniform, zipf, one, sparse, repeated" --dist invalid
refuses "two choices of experts" "--dist: --topk-ids says which experts; leave out one of the two" --dist one \
    --topk-ids x
refuses "arrays of a benchmark" "--out: a benchmark writes no arrays; leave out --bench" --bench

chapters=$(dirname "$program")
for chapter in 11c_moe_tensor_cores 11d_moe_async_ring; do
    for flag in --hidden-size --intermediate-size; do
        matches "$chapter: $flag" "$chapter: $flag: 100 is not a multiple of 64; *step*64 elements*" \
            "$("$chapters/$chapter" "$flag" 100 2>&1)"
    done
done
floats hundred '(3, 100)' 300
matches "a size from a file: names the file" \
    "11c_moe_tensor_cores: --hidden-size: 100 (from $scratch/hundred.npy) is not a multiple of 64; *" \
    "$("$chapters/11c_moe_tensor_cores" --hidden "$scratch/hundred.npy" 2>&1)"

# --- the check ---
matches "values that exceed the range of f32" "*verified *yes: 6,144 elements*; 6144 may exceed the range of f32 and \
were not compared*" "$("$program" --hidden-scale 1e38)"

# --- files ---
refuses "a file that is not there" "$scratch/none.npy: No such file or directory" --hidden "$scratch/none.npy"
floats hidden "(3, 8)" 24
floats flat "(24,)" 24
floats none "(0, 8)" 0
floats w13 "(2, 4, 8)" 64
floats odd "(2, 3, 8)" 48
floats w2 "(2, 8, 2)" 32
floats other "(2, 8, 3)" 48
floats empty "(2, 0, 8)" 0
integers ids i4 "(3, 2)" 0 1 1 0 0 0
integers far i4 "(3, 2)" 0 1 1 2 0 0
integers below i8 "(3, 2)" 0 1 1 -1 0 0
integers map i4 "(3,)" 0 1 2
refuses "hidden of one dimension" "$scratch/flat.npy: has 1 dimension, shape (24,); 2 are needed: [tokens, hidden]" --hidden "$scratch/flat.npy"
refuses "hidden of integers" "$scratch/ids.npy: holds integers; f2 or f4 is needed (array.astype converts)" --hidden "$scratch/ids.npy"
refuses "ids of floats" "$scratch/hidden.npy: holds floats; i4 or i8 is needed (array.astype converts)" --topk-ids "$scratch/hidden.npy"
refuses "w13 with a row too many" "$scratch/odd.npy: 3 rows of an expert; half are the gate's, half up's" --w13 \
    "$scratch/odd.npy"
refuses "w13 without rows" "$scratch/empty.npy: its shape is (2, 0, 8), [experts, 2 * intermediate, hidden]: 0 as --intermediate-size; it must be 1 to 2147483647" --w13 \
    "$scratch/empty.npy"
refuses "w2 of another intermediate size" \
    "$scratch/other.npy: its shape is (2, 8, 3), [experts, hidden, intermediate], so --intermediate-size would be 3; $scratch/w13.npy has 2" --w13 "$scratch/w13.npy" --w2 \
        "$scratch/other.npy"
refuses "another hidden size than the file's" "--hidden-size: 16; $scratch/hidden.npy has 8" --hidden-size 16 \
    --hidden "$scratch/hidden.npy"
floats more "(4, 8)" 32
refuses "files with different numbers of rows" \
    "$scratch/ids.npy: 3 rows; $scratch/more.npy has 4 (--num-tokens makes rows repeat)" --hidden "$scratch/more.npy" \
        --topk-ids "$scratch/ids.npy"
floats three "(3, 3)" 9
refuses "another number of weights than of ids" \
    "$scratch/three.npy: its shape is (3, 3), [tokens, topk], so --topk would be 3; $scratch/ids.npy has 2; topk-weights has one weight for each id of topk-ids: take both from one run" \
    --topk-ids "$scratch/ids.npy" --topk-weights "$scratch/three.npy"
refuses "an empty name" "--w13: '' is not a file's name" --w13 ''
refuses "a seed of nothing" "--seed: no input of this run is generated; leave it out" --seed 3 \
    --hidden "$scratch/hidden.npy" --w13 "$scratch/w13.npy" --w2 "$scratch/w2.npy" --topk-ids "$scratch/ids.npy" \
        --topk-weights "$scratch/weights.npy"
refuses "a block size too large for any array" \
    "--block-size: 2147483632; with its pads, sorted_token_ids would have 70,866,959,856 slots and can have 2147483647; try a smaller one" \
        --block-size 2147483632
refuses "no rows to repeat" "$scratch/none.npy: has no rows to repeat for 3 tokens" --hidden "$scratch/none.npy" \
    --num-tokens 3
refuses "an id that names no expert" "$scratch/far.npy: 2 at [1][1]; an expert is 0 to 1" \
    --topk-ids "$scratch/far.npy" --num-experts 2
refuses "an id below every expert" "$scratch/below.npy: -1 at [1][1]; an expert is 0 to 1" \
    --topk-ids "$scratch/below.npy" --num-experts 2
refuses "a map of other experts" "--expert-map: 3 values for 2 experts; each needs one, its local number or -1" --w13 "$scratch/w13.npy" \
    --expert-map "$scratch/map.npy"
printf '\000\000\200\177' | dd of="$scratch/hidden.npy" bs=1 seek=$((128 + 4 * 9)) conv=notrunc 2>/dev/null
refuses "infinity" "$scratch/hidden.npy: element 9 is inf in bf16; it must be finite" --hidden "$scratch/hidden.npy"
floats hidden "(3, 8)" 24

# --- memory ---
run_early "$program" --hidden-size 1048576 --intermediate-size 1048576 --num-tokens 1
matches "too little memory: says how much is needed" \
    "$name: out of memory: *GB of device memory are needed, *GB are available; a smaller problem needs less (--num-tokens, --hidden-size, --intermediate-size, --num-experts)" \
    "$said"
equal "too little memory: exit, lines, output" "3 1 0" "$ended"

# --- outputs ---
files="--hidden $scratch/hidden.npy --w13 $scratch/w13.npy --w2 $scratch/w2.npy --topk-ids $scratch/ids.npy"
# shellcheck disable=SC2086 # must split into words
succeeds "all arrays from files" "$program" $files --out "$scratch/arrays"
floats weights "(3, 2)" 6
# input ARGUMENT...: prints the line of the report about the input
input() {
    "$program" "$@" | sed -n 's/^input *//p'
}
# shellcheck disable=SC2086 # must split into words
equal "the input: all of it from files" "experts: file; arrays: from files" \
    "$(input $files --topk-weights "$scratch/weights.npy")"
equal "the input: one array from a file" "experts: zipf; arrays: from files, but w13, w2 generated, seed 1" \
    "$(input --hidden "$scratch/hidden.npy" --num-experts 4)"
equal "the input: generated" "experts: one; arrays: generated, seed 3" "$(input --dist one --seed 3)"
succeeds "rows of several files repeat if a number of tokens is given" "$program" --num-tokens 5 \
    --hidden "$scratch/hidden.npy" --topk-ids "$scratch/ids.npy" --num-experts 4
equal "output.npy has a row for each token" "(3, 8)" "$(shape "$scratch/arrays/output.npy")"
equal "zeros in, zeros out" "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" "$(numbers "$scratch/arrays/output.npy")"
equal "nothing else is written" "output.npy" "$(ls "$scratch/arrays")"
succeeds "no tokens: an empty output" "$program" --num-tokens 0 --out "$scratch/nothing"
equal "no tokens: neither a load nor work" "blocks" "$("$program" --num-tokens 0 | sed -n '/^$/q; s/^\(load\|blocks\|work\) .*/\1/p')"
matches "the work, with its unit" "*; * operations per byte" "$("$program" --num-tokens 5 | grep '^work')"
equal "the empty output's shape" "(0, 128)" "$(shape "$scratch/nothing/output.npy")"

# --- the command that repeats a run, and a seed ---
repeat=$("$program" --num-tokens 5 --seed 3 --format json | sed -n 's/.*"command": "\(.*\)",/\1/p')
# shellcheck disable=SC2086 # must split into words
equal "the command repeats the run" "$("$program" --num-tokens 5 --seed 3 --format csv)" "$($repeat --format csv)"
finish
