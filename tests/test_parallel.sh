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

# A run of several ranks mostly waits for processes to start: some are under way at once.
runs=0
# start RANKS ARGUMENT...: begins a run, number $runs; with seven under way, waits for them
start() {
    runs=$((runs + 1))
    (on "$@" >"$scratch/out$runs" 2>"$scratch/err$runs"; echo $? >"$scratch/status$runs") &
    [ $((runs % 7)) -ne 0 ] || wait
}

# said RUN: its exit status, and what the ranks said, sorted
said() {
    echo "exit $(cat "$scratch/status$1")"
    grep "^$name: " "$scratch/err$1" | sort
}

cat >"$scratch/ways" <<'END'
1 --dispatch all-to-all
2 --dispatch broadcast
2 --ep 1 --dtype f32
2 --dispatch all-to-all --expert-map random
2 --tp 2 --dispatch all-to-all --ep 1
4 --tokens-per-rank 5,0,6,0
4 --tokens-per-rank 0,1,0,10 --dispatch all-to-all
4 --dp 2 --tp 2 --ep 2 --tokens-per-rank 0,11
4 --dp 2 --tp 2 --ep 2 --dispatch all-to-all --tokens-per-rank 10,1
3 --intermediate-size 66 --ep 1 --dispatch all-to-all
2 --tokens-per-rank 0,11 --dist one --dispatch all-to-all
2 --num-tokens 0 --dispatch all-to-all
END
integers maps i4 "(2, 8)" 0 -1 1 -1 2 -1 -1 3 -1 2 -1 1 -1 0 3 -1
echo "2 --expert-map $scratch/maps.npy" >>"$scratch/ways"
while read -r arguments; do
    # shellcheck disable=SC2086 # words
    case $arguments in
    *tokens*) start $arguments ;;
    *) start $arguments --num-tokens 11 ;;
    esac
done <"$scratch/ways"
wait
runs=0
while read -r ranks arguments; do
    runs=$((runs + 1))
    equal "$ranks ranks, $arguments: verified" "exit 0" "$(said $runs)"
done <"$scratch/ways"

# --- weights from files, of which each rank takes its part ---
# halves NAME SHAPE COUNT: $scratch/NAME.npy of numbers from 0.125 to 0.7, no two neighbours alike: two digits are a half
halves() {
    npy "$1" "{'descr': '<f2', 'fortran_order': False, 'shape': $2, }" 0
    seq 1000 99999 | tr -d '\n' | head -c $((2 * $3)) >>"$scratch/$1.npy"
}
halves w13 "(4, 12, 10)" 480
halves w2 "(4, 10, 6)" 240
runs=0
shape="--w13 $scratch/w13.npy --w2 $scratch/w2.npy --topk 2 --dtype f32 --num-tokens 7"
start 2
start 2 --ep 1 --dispatch all-to-all
start 6 --ep 2 --expert-map random
wait
for run in 1 2 3; do
    equal "weights from files: parts, slices, both: $run" "exit 0" "$(said $run)"
done
shape="--hidden-size 64 --intermediate-size 64 --num-experts 8 --topk 2"

# --- the same result ---
"$program" --topk 2 --num-tokens 9 --out "$scratch/one" >"$scratch/out"
for dispatch in broadcast all-to-all; do
    mpirun -n 2 "$program" --topk 2 --num-tokens 9 --dispatch $dispatch --out "$scratch/two" >"$scratch/out"
    succeeds "two ranks write what one does, byte for byte: there are two terms to each sum, $dispatch" \
        cmp "$scratch/one/output.npy" "$scratch/two/output.npy"
done

# --- neither reduction can be left out, and each of its ranks is needed ---
# leaves_out NAME SED ARGUMENT...: the program with token_paths.c edited so, on four ranks, is refused as wrong
objects=$(dirname "$program")/obj/$name
source=chapters/$name/token_paths.c
ninja -t commands "$program" | grep -F -e "$objects/token_paths.o" -e "$objects/parts.a" |
    sed "s|$source|-iquote chapters/$name $scratch/token_paths.c|; s|$objects/token_paths.o|$scratch/token_paths.o|g
         s|$objects/parts.a|$scratch/parts.a|g; s|-o $program |-o $scratch/$name |" >"$scratch/build.sh"
leaves_out() {
    leaves_name=$1
    sed "$2" "$source" >"$scratch/token_paths.c"
    shift 2
    ! cmp -s "$source" "$scratch/token_paths.c" && sh -e "$scratch/build.sh" >"$scratch/out" 2>&1
    # shellcheck disable=SC2086 # words
    timeout 60 mpirun -n 4 "$scratch/$name" $shape --num-tokens 6 --tp 2 "$@" >"$scratch/out" 2>"$scratch/err"
    equal "$leaves_name: is refused" 1 $?
    matches "$leaves_name: for what it is" "$name: wrong: output*expected*" "$(cat "$scratch/err")"
}
leaves_out "no sum over DP ranks" 's/group_all_reduce(&layer->dp, .*, error) &&/true \&\&/'
leaves_out "no sum over TP ranks" 's/group_all_reduce(&layer->tp, .*, error) &&/true \&\&/'
leaves_out "sums of the first rank only" 's/SUM_PLACES), split->num_ranks/SUM_PLACES), 1/' --dispatch all-to-all

# --- ranks that cannot begin ---
runs=0
start 2 --dp 3
start 4 --ep 4 --num-experts 3
start 3 --ep 1
start 1 --seed 2 : -n 1 "$program" --seed 3
wait
equal "wrong for all: rank 0 says so" "exit 2
$name: --dp, --tp: 3 x 1 ranks; 2 were started (mpirun -n N)" "$(said 1)"
equal "more ranks than experts" "exit 2
$name: --ep: 4 parts of 3 experts; a part must have one at least" "$(said 2)"
equal "a shape that does not divide" "exit 2
$name: --intermediate-size: 64; 3 ranks have equal slices of an expert, which it must divide into" "$(said 3)"
mkdir "$scratch/a" "$scratch/b"
integers ids i4 "(2, 2)" 0 1 2 3
mv "$scratch/ids.npy" "$scratch/a"
integers ids i4 "(2, 2)" 0 1 2 4
mv "$scratch/ids.npy" "$scratch/b"
# shellcheck disable=SC2086 # words
timeout 60 mpirun -n 1 --wdir "$scratch/a" "$PWD/$program" $shape --topk-ids ids.npy : \
    -n 1 --wdir "$scratch/b" "$PWD/$program" $shape --topk-ids ids.npy >"$scratch/out" 2>"$scratch/err5"
echo $? >"$scratch/status5"
equal "ranks whose files differ" "exit 2
$name: ranks 0 and 1 disagree on the layer or the routing, as their files have it" "$(said 5)"
equal "ranks that disagree" "exit 2
$name: ranks 0 and 1 disagree on the command line" "$(said 4)"

# --- ranks that stop: the others end, with a message ---
gone="ended before the others: a rank has died, or did not come"
runs=0
cat >"$scratch/stages" <<'END'
broadcast:broadcast
broadcast:align
broadcast:experts
broadcast:sum
broadcast:reduce DP
broadcast:reduce TP
broadcast:round
all-to-all:dispatch
all-to-all:combine
all-to-all:add
all-to-all:gather TP
END
while IFS=: read -r dispatch stage; do
    export EXPERT_PARALLEL_STOP="1:$stage:die"
    start 2 --tp 2 --dispatch "$dispatch" --timeout 20
done <"$scratch/stages"
for stage in broadcast combine; do
    export EXPERT_PARALLEL_STOP="1:$stage:hang"
    start 2 --timeout 2 --dispatch "$([ $stage = combine ] && echo all-to-all || echo broadcast)"
done
wait
runs=0
while read -r stage; do
    runs=$((runs + 1))
    equal "a rank dies at $stage: the other says so" "exit 137
$name: rank 0: $gone" "$(said $runs)"
done <"$scratch/stages"
equal "a rank hangs in a group: the other gives up, and both end" "exit 3
$name: rank 0, broadcast: not every rank of the DP group came within 2 s (--timeout)
$name: rank 1: $gone" "$(said $((runs + 1)))"
equal "a rank hangs before all exchange" "exit 3
$name: rank 0, combine: not every rank of the run came within 2 s (--timeout)
$name: rank 1: $gone" "$(said $((runs + 2)))"
finish
