#!/bin/sh
# Chapter 12 on several ranks of this machine: every way to divide a layer verifies; wrong divisions, ranks that disagree, die or
# hang end every rank with a message, in time.
#
# run: $b/cpu/12_expert_parallel
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/command_line.sh"
program=$1
name=$(basename "$program")
shape="--hidden-size 64 --intermediate-size 64 --num-experts 8 --topk 2"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1

# refuses NAME LINE ARGUMENT...: one rank ends with exit 2 and this line
refuses() {
    refuses_name=$1
    refuses_line=$2
    shift 2
    # shellcheck disable=SC2086 # words
    run_early "$program" $shape "$@"
    equal "$refuses_name: exit, line" "2 1 0: $name: $refuses_line" "$ended: $said"
}

# --- one rank ---
for dispatch in broadcast all-to-all; do
    # shellcheck disable=SC2086 # words
    succeeds "one rank, $dispatch" "$program" $shape --num-tokens 5 --dispatch "$dispatch"
    # shellcheck disable=SC2086 # words
    succeeds "no tokens at all, $dispatch" "$program" $shape --num-tokens 0 --dispatch "$dispatch"
done
refuses "more ranks than there are" "--dp, --tp: 2 x 1 ranks; 1 was started (mpirun -n N)" --dp 2
refuses "parts that no rank has" "--ep: 2 parts; it must divide the 1 ranks" --ep 2
refuses "tokens of too many ranks" "--tokens-per-rank: '3,4'; it must be 1 number, a comma between two" --tokens-per-rank 3,4
refuses "tokens twice" "--num-tokens: 5; --tokens-per-rank has 4" --tokens-per-rank 4 --num-tokens 5
refuses "a benchmark" "--bench: not of this chapter; each run checks one problem, and times it on GPUs" --bench
refuses "GPUs of the CPU's program" "--gpus: this program has none (no GPU, or no NCCL); start ranks with mpirun -n N" --gpus 2
integers lonely i4 "(1, 8)" 0 1 2 3 -1 4 5 6
refuses "an expert without an owner" "$scratch/lonely.npy: expert 4 has no owner: it is -1 in every row" \
    --expert-map "$scratch/lonely.npy"

if ! command -v mpirun >/dev/null; then
    skip "several ranks" "no mpirun: sh common/setup.sh checks installs it"
    finish
fi

# --- several ranks ---
# on RANKS ARGUMENT...
on() {
    on_ranks=$1
    shift
    # shellcheck disable=SC2086 # words
    timeout -k 5 60 mpirun -n "$on_ranks" "$program" $shape "$@"
}

while read -r ranks arguments; do
    # shellcheck disable=SC2086 # words
    succeeds "$ranks ranks: ${arguments:-broadcast}" on "$ranks" --num-tokens 11 $arguments
done <<'END'
1 --dispatch all-to-all
2
2 --ep 1 --dtype f32
2 --dispatch all-to-all --expert-map random
2 --tp 2 --dispatch all-to-all --ep 1
4 --tokens-per-rank 5,0,6,0
4 --tokens-per-rank 0,1,0,10 --dispatch all-to-all
4 --dp 2 --tp 2 --ep 2 --tokens-per-rank 0,11
4 --dp 2 --tp 2 --ep 2 --dispatch all-to-all --tokens-per-rank 10,1
3 --intermediate-size 66 --ep 1 --dispatch all-to-all
2 --tokens-per-rank 0,11 --dist one --dispatch all-to-all
END
integers maps i4 "(2, 8)" 0 -1 1 -1 2 -1 -1 3 -1 2 -1 1 -1 0 3 -1
succeeds "no tokens at all on two ranks" on 2 --num-tokens 0 --dispatch all-to-all
succeeds "a map from a file" on 2 --num-tokens 5 --expert-map "$scratch/maps.npy"
one=$("$program" --num-tokens 9 --seed 4 --dtype f32 --out "$scratch/one" >/dev/null && cksum <"$scratch/one/output.npy")
two=$(timeout 60 mpirun -n 2 "$program" --num-tokens 9 --seed 4 --dtype f32 --dispatch all-to-all --out "$scratch/two" \
    >/dev/null && cksum <"$scratch/two/output.npy")
equal "two sums of f32 are the same in either order: what two ranks write is what one does, with top 2" \
    "$("$program" --topk 2 --num-tokens 9 --out "$scratch/three" >/dev/null && cksum <"$scratch/three/output.npy")" \
    "$(timeout 60 mpirun -n 2 "$program" --topk 2 --num-tokens 9 --out "$scratch/four" >/dev/null && cksum <"$scratch/four/output.npy")"
[ "$one" ] && [ "$two" ]

# ends NAME EXIT LINES: the last run ended so, and these lines, sorted, are what ranks said
ends() {
    equal "$1" "$2" "$(echo "exit $status"; grep "^$name" "$scratch/err" | sort)"
}

# stops RANKS ARGUMENT...: runs, and sets status
stops() {
    on "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
}

stops 2 --dp 3
ends "wrong for all: rank 0 says so" "exit 2
$name: --dp, --tp: 3 x 1 ranks; 2 were started (mpirun -n N)"
stops 4 --ep 4 --num-experts 3
ends "more ranks than experts" "exit 2
$name: --ep: 4 parts of 3 experts; a part must have one at least"
stops 3 --ep 1
ends "a shape that does not divide" "exit 2
$name: --intermediate-size: 64; 3 ranks have equal slices of an expert, which it must divide into"
# shellcheck disable=SC2086 # words
timeout 60 mpirun -n 1 "$program" $shape : -n 1 "$program" $shape --seed 3 >"$scratch/out" 2>"$scratch/err"
status=$?
ends "ranks that disagree" "exit 2
$name: ranks 0 and 1 disagree on the command line"

# --- ranks that stop ---
gone="ended before the others: a rank has died, or did not come"
EXPERT_PARALLEL_STOP=1:experts:die
export EXPERT_PARALLEL_STOP
stops 3 --timeout 20
ends "a rank that dies" "exit 137
$name: rank 0: $gone
$name: rank 2: $gone"
for stage in broadcast align experts "reduce DP" "reduce TP" round dispatch combine add "gather TP"; do
    case $stage in
    dispatch | combine | add | gather*) dispatch=all-to-all ;;
    *) dispatch=broadcast ;;
    esac
    EXPERT_PARALLEL_STOP="1:$stage:hang"
    stops 2 --tp 2 --timeout 1 --dispatch "$dispatch"
    matches "a rank that hangs at $stage: both end with a message" "*rank 0, *: not every rank of * came within 1 s (--timeout)*rank 1: $gone*" \
        "$(grep "^$name" "$scratch/err" | sort)"
    equal "a rank that hangs at $stage: exit" 3 "$status"
done
finish
