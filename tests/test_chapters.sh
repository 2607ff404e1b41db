#!/bin/sh
# Runs chapter programs on the real data and on many shapes, types and distributions; every run verifies its results.
#
# run: $b/cpu/[0-9][0-9]*_*
# run in all: $b/cpu/13c_gate_fewer_instructions_*
# run in all: share $b/cpu/[0-9][0-9]*_*
#
# If no word precedes the programs, problems with the real data and those of --check-corners are verified; the latter
# are a subset of those of --check-all and must launch every kernel of the chapter. With the word share, every eighth
# problem of --check-all is verified instead, starting at one that depends on the kernel's source, as well as larger
# generated inputs, and the kernel runs in 20 more orders. With the word every-problem, all problems are verified, and
# the rest is as with share.
# LARGEST, if it is set, is the largest number of tokens in a run. `ninja run` verifies 2,048, the number of rows in the
# data, and so do the runs in other orders.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/operators.sh"

# run_gate PROGRAM
run_gate() {
    for num_tokens in 0 1 2 31 511 ${LARGEST:-}; do # 511 fills each chapter's last block as 2047 does
        succeeds "$1 verifies $num_tokens tokens of the real data" "$1" --num-tokens "$num_tokens"
    done
    for dtype in $(dtypes_of "$1"); do
        succeeds "$1 verifies 512 tokens of the real data as $dtype" "$1" --num-tokens 512 --dtype "$dtype"
    done
    [ "$(dtypes_of "$1")" != f32 ] || equal "$1 refuses bf16" \
        "$(basename "$1"): --dtype: only f32 here; chapter 05 (05_fused_gate, in the same folder) brings f16 and bf16, exit 2" \
        "$(said=$("$1" --dtype bf16 2>&1); echo "$said, exit $?")"
    succeeds "$1 verifies the real data with softmax" "$1" --num-tokens 100 --score softmax
    succeeds "$1 verifies the real data with neither score nor bias" "$1" --num-tokens 100 --score none --bias none
}

# run_generated_gate PROGRAM
run_generated_gate() {
    for dist in normal uniform zipf ties equal extreme nan; do
        succeeds "$1 verifies 500 tokens of $dist" "$1" --num-tokens 500 --dist "$dist" --seed 11
    done
}

# run_align PROGRAM
run_align() {
    for num_tokens in 0 1 2 31 2047 3000 ${LARGEST:-}; do
        for ids in i32 i64; do
            succeeds "$1 verifies $num_tokens tokens of the real data as $ids" \
                "$1" --num-tokens "$num_tokens" --ids "$ids"
        done
    done
    for block_size in 1 7 128 256; do
        succeeds "$1 verifies the real data in blocks of $block_size" "$1" --num-tokens 300 --block-size "$block_size"
    done
    succeeds "$1 verifies eight ids of 256 experts in blocks of 128" "$1" --num-tokens 1 --block-size 128
    succeeds "$1 verifies an expert with everything and one with nothing" "$1" --counts 0,5000,0,1,0
}

# run_generated_align PROGRAM
run_generated_align() {
    for dist in balanced uniform zipf one sparse repeated invalid; do
        succeeds "$1 verifies 500 tokens of $dist" "$1" --num-tokens 500 --dist "$dist" --seed 11
        succeeds "$1 verifies 500 tokens of $dist in 2048 experts, blocks of 48, a map, an offset" \
            "$1" --num-tokens 500 --dist "$dist" --num-experts 2048 --block-size 48 --expert-map random --misalign 1 \
                --ids i64
    done
}

# run_routing PROGRAM: also tries 64 tokens, the largest number whose blocks are all resident on the simulator
run_routing() {
    for num_tokens in 0 1 31 64 257; do
        succeeds "$1 verifies $num_tokens tokens of the real data" "$1" --num-tokens "$num_tokens"
    done
    for dtype in $(dtypes_of "$1"); do
        succeeds "$1 verifies 65 tokens of the real data as $dtype" "$1" --num-tokens 65 --dtype "$dtype"
    done
    succeeds "$1 verifies the real data with softmax" "$1" --num-tokens 30 --score softmax
}

# run_generated_routing PROGRAM
run_generated_routing() {
    for dist in normal uniform zipf ties equal extreme nan; do
        succeeds "$1 verifies 50 tokens of $dist, half of the experts elsewhere" \
            "$1" --num-tokens 50 --dist "$dist" --seed 11 --expert-map random
    done
    for shape in "256 16 4" "128 4 2" "128 8 8"; do
        # shellcheck disable=SC2086 # split into three numbers
        set -- "$1" $shape
        for block_size in 1 48 1000; do
            succeeds "$1 verifies $2 experts in $3 groups, blocks of $block_size" "$1" --num-tokens 40 --dist normal \
                --num-experts "$2" --num-expert-group "$3" --topk-group "$4" \
                    --topk "$([ "$3" = 4 ] && echo 4 || echo 8)" --block-size "$block_size" --dtype bf16
        done
    done
}

# run_moe PROGRAM
run_moe() {
    for num_tokens in 0 1 3 70; do
        succeeds "$1 verifies $num_tokens tokens" "$1" --num-tokens "$num_tokens"
    done
    succeeds "$1 verifies the real router's choices" \
        "$1" --num-experts 256 --topk 8 --num-tokens 5 --hidden-size 64 --intermediate-size 64
    succeeds "$1 verifies blocks of 64" "$1" --block-size 64 --num-tokens 20
    succeeds "$1 verifies long sums" "$1" --num-tokens 2 --topk 1 --num-experts 1 --hidden-size 2048 \
        --intermediate-size 64
}

# run_generated_moe PROGRAM
run_generated_moe() {
    for dist in balanced uniform zipf one sparse repeated; do
        succeeds "$1 verifies tokens of $dist, half of the experts elsewhere" "$1" --dist "$dist" --seed 11 \
            --expert-map random
    done
}

# run_parallel PROGRAM: runs one rank; test_parallel.sh runs several
run_parallel() {
    for dispatch in broadcast all-to-all; do
        for num_tokens in 0 1 70; do
            succeeds "$1 verifies $num_tokens tokens, $dispatch" "$1" --num-tokens "$num_tokens" --dispatch "$dispatch"
        done
        succeeds "$1 verifies f32, $dispatch" "$1" --num-tokens 5 --dtype f32 --dispatch "$dispatch"
    done
}

# run_decode PROGRAM: the runs in other orders are with overlap
run_decode() {
    succeeds "$1 verifies a step of 48 tokens without overlap" "$1" --overlap 0
}

# run_other PROGRAM
run_other() {
    succeeds "$1 verifies its usual problem" "$1"
}

# tries_problems PROGRAM OPTION: verifies the problems of --check-all, --check-corners or --check-share=N, and checks
# that the problems of --check-all and of --check-corners launch every kernel
tries_problems() {
    succeeds "$1 verifies the problems of $2" "$1" "$2"
    case $1 in */gpu/*) return ;; esac # on a GPU, a program does not report which kernels it launched
    case $2 in --check-share*) return ;; esac
    for kernel in $(kernels_of "$1"); do
        case $tap_output in
        *"$kernel: in "* | *cudaLaunch*": in "*) tap_result 0 "$1 $2 launches $kernel" ;;
        *) tap_result 1 "$1 $2 launches $kernel" || tap_show kernels "$kernel" launched "$tap_output" ;;
        esac
    done
}

# runs_in_orders PROGRAM WHAT ORDERS ARGUMENT...: runs the program in each of the orders, on the simulator only, because
# the order on a GPU cannot be set
runs_in_orders() {
    ordered=$1 what=$2 orders=$3
    shift 3
    case $ordered in */gpu/*) return ;; esac
    for order in $orders; do
        succeeds "$ordered verifies $what in the order $order" env SIMT_ORDER="$order" "$ordered" "$@"
    done
}

case ${1:-} in
share) problems=--check-share=8 ;;
every-problem) problems=--check-all ;;
*) problems= ;;
esac
[ -z "$problems" ] || shift
for program in "$@"; do
    reason=$(lacking "$program")
    if [ -n "$reason" ]; then
        skip "$program" "$reason"
        continue
    fi
    operator=$(operator_of "$program")
    if [ -z "$problems" ]; then
        "run_$operator" "$program"
        [ "$operator" = parallel ] || tries_problems "$program" --check-corners
        runs_in_orders "$program" "its usual problem" "reverse random:1"
    elif [ "$operator" = parallel ]; then
        skip "$program" "its problems are test_parallel.sh's"
    else
        tries_problems "$program" "$problems"
        case $operator in gate | align | routing | moe) "run_generated_$operator" "$program" ;; esac
        runs_in_orders "$program" "8 tokens" "$(seq -f random:%g 2 21)" --num-tokens 8
    fi
done
finish
