#!/bin/sh
# Tests chapter 12 on several ranks on this machine: for every way to divide a layer, the result must be correct; if a
# division is invalid or if ranks disagree, die or hang, every rank must exit in time with a message.
#
# run: $b/cpu/12_expert_parallel
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/command_line.sh"
program=$1
name=$(basename "$program")
shape="--hidden-size 64 --intermediate-size 64 --num-experts 8 --topk 2"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1
# Makes MPI use shared memory without searching for networks, because the search takes a tenth of a run's time.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none

# refuses NAME LINE ARGUMENT...: checks that one rank exits with status 2 and prints this line
refuses() {
    refuses_name=$1
    refuses_line=$2
    shift 2
    # shellcheck disable=SC2086 # must split into words
    run_early "$program" $shape "$@"
    equal "$refuses_name: exit, line" "2 1 0: $name: $refuses_line" "$ended: $said"
}

# --- one rank ---
for dispatch in broadcast all-to-all; do
    # shellcheck disable=SC2086 # must split into words
    succeeds "one rank, $dispatch" "$program" $shape --num-tokens 5 --dispatch "$dispatch"
    # shellcheck disable=SC2086 # must split into words
    succeeds "no tokens at all, $dispatch" "$program" $shape --num-tokens 0 --dispatch "$dispatch"
done
refuses "more ranks than there are" "--dp, --tp: 2 x 1 ranks; 1 was started; start 2: mpirun -n 2 and this command line" --dp 2
refuses "parts that no rank has" "--ep: 2; it must be a divisor of the number of ranks, 1" --ep 2
refuses "tokens of too many ranks" "--tokens-per-group: 2 numbers for 1 TP group; give one for each (--dp); 2 groups need 2 ranks: mpirun -n 2 and --dp 2" \
    --tokens-per-group 3,4
refuses "a number with nothing in it" "--tokens-per-group: '' has no number for TP group 0 (the list is empty); 0 is for none" \
    --tokens-per-group ''
equal "no line of a table ends in a blank" "" "$("$program" --num-tokens 3 | grep ' $')"
refuses "repeats without times" \
    "--repeats: only times need them, and the CPU simulator has none; leave it out" --repeats 3
refuses "a map that is not there" \
    "--expert-map: nope: No such file or directory; it must be none, random or a .npy file" --expert-map nope
refuses "tokens twice" "--num-tokens: 5; --tokens-per-group has 4" --tokens-per-group 4 --num-tokens 5
refuses "a benchmark" "--bench: not of this chapter; each run checks one problem, and times it on GPUs" --bench
refuses "a cache" "--flush-l2: not of this chapter; each run checks one problem" --flush-l2
refuses "GPUs of the CPU's program" "--gpus: this program has none (no GPU, or no NCCL); start ranks with mpirun -n N" \
    --gpus 2
equal "--help lists none of these" "" "$("$program" --help | grep -e --bench -e --check-all -e --flush-l2 -e '--gpus=')"
integers lonely i4 "(1, 8)" 0 1 2 3 -1 4 5 6
refuses "an expert without an owner" "$scratch/lonely.npy: expert 4 has no owner: it is -1 in every row" \
    --expert-map "$scratch/lonely.npy"

if ! "$program" --version | grep -q '^ranks by:.* MPI'; then
    equal "started as one of two, it says what it was built without" "$name: rank 0, start: 2 ranks were started, but this \
program was built without MPI, for one; sh common/setup.sh checks installs MPI; then build it again" \
        "$(OMPI_COMM_WORLD_SIZE=2 "$program" 2>&1 >/dev/null)"
    skip "several ranks" "$name was built without MPI: sh common/setup.sh checks installs it; then build it again"
    finish
elif ! command -v mpirun >/dev/null; then
    skip "several ranks" "no mpirun: sh common/setup.sh checks installs it"
    finish
fi

# --- several ranks ---
# A run with several ranks mostly waits for processes to start and to end, so all runs are listed first and six run at a
# time. Each run has its own folder for mpirun's files.
runs=0
run_program=$program
stop=

# start RANKS ARGUMENT...: adds run number $runs to the list; $stop, if set, determines which rank dies or hangs at
# which stage
start() {
    runs=$((runs + 1))
    mkdir "$scratch/tmp$runs"
    start_ranks=$1
    shift
    echo "TMPDIR=$scratch/tmp$runs EXPERT_PARALLEL_STOP='$stop' timeout -k 5 60 mpirun -n $start_ranks $run_program $shape $*" \
        >"$scratch/run$runs"
}

# run_all FIRST: runs the listed runs from number FIRST on
run_all() {
    # shellcheck disable=SC2016 # the inner shell expands the variables
    seq "$1" "$runs" | xargs -n 1 -P 6 sh -c 'sh "$0/run$1" >"$0/out$1" 2>"$0/err$1"; echo $? >"$0/status$1"' "$scratch"
}

# said RUN: prints the run's exit status and the ranks' messages, sorted, or mpirun's messages if there are none
said() {
    echo "exit $(cat "$scratch/status$1")"
    grep "^$name: " "$scratch/err$1" | sort | grep . || cat "$scratch/err$1"
}

# Ranks that hang; these runs come first, because they take longest.
for stage in broadcast combine; do
    stop="1:$stage:hang"
    start 2 --num-tokens 3 --timeout 4 --dispatch "$([ $stage = combine ] && echo all-to-all || echo broadcast)"
done
# Ranks that die, at every stage.
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
    stop="1:$stage:die"
    start 2 --num-tokens 3 --tp 2 --dispatch "$dispatch" --timeout 20
done <"$scratch/stages"
stop=

# Ways to divide a layer.
ways=$runs
cat >"$scratch/ways" <<'END'
2 --ep 1 --dtype f32
2 --dispatch all-to-all --expert-map random
2 --tp 2 --dispatch all-to-all --ep 1
3 --tokens-per-group 5,0,6
3 --tokens-per-group 0,1,10 --dispatch all-to-all
4 --dp 2 --tp 2 --ep 2 --tokens-per-group 0,11
4 --dp 2 --tp 2 --ep 2 --dispatch all-to-all --tokens-per-group 10,1
3 --intermediate-size 66 --ep 1 --dispatch all-to-all
2 --tokens-per-group 0,11 --dist one --dispatch all-to-all
2 --num-tokens 0 --dispatch all-to-all
END
integers maps i4 "(2, 8)" 0 -1 1 -1 2 -1 -1 3 -1 2 -1 1 -1 0 3 -1
echo "2 --expert-map $scratch/maps.npy" >>"$scratch/ways"
while read -r arguments; do
    # shellcheck disable=SC2086 # must split into words
    case $arguments in
    *tokens*) start $arguments ;;
    *) start $arguments --num-tokens 11 ;;
    esac
done <"$scratch/ways"

# Weights from files; each rank reads its part of them.
# halves NAME SHAPE COUNT: writes $scratch/NAME.npy with f16 numbers from 0.125 to 0.7, with no two neighbours equal;
# each number's bytes are two ASCII digits
halves() {
    npy "$1" "{'descr': '<f2', 'fortran_order': False, 'shape': $2, }" 0
    seq 1000 99999 | tr -d '\n' | head -c $((2 * $3)) >>"$scratch/$1.npy"
}
halves w13 "(4, 12, 10)" 480
halves w2 "(4, 10, 6)" 240
files=$runs
usual_shape=$shape
shape="--w13 $scratch/w13.npy --w2 $scratch/w2.npy --topk 2 --dtype f32 --num-tokens 7"
start 2
start 2 --ep 1 --dispatch all-to-all
start 4 --ep 2 --expert-map random

# Every division of a layer gives the same result. Sums over ranks of numbers rounded to bf16 differ, but within the
# checker's tolerance.
outputs=$runs
shape="--topk 4 --num-tokens 9"
start 1 --dispatch all-to-all --out "$scratch/alone"
start 2 --out "$scratch/broadcast"
start 2 --dispatch all-to-all --out "$scratch/all-to-all" --trace "$scratch/trace.json" --trace-kernel add_rows_kernel
shape=$usual_shape

# Ranks that cannot start.
beginnings=$runs
start 2 --dp 3
start 2 --num-experts 1 --topk 1
start 3 --ep 1
start 1 --seed 2 : -n 1 "$program" --seed 3
mkdir "$scratch/a" "$scratch/b"
integers ids i4 "(2, 2)" 0 1 2 3
mv "$scratch/ids.npy" "$scratch/a"
integers ids i4 "(2, 2)" 0 1 2 4
mv "$scratch/ids.npy" "$scratch/b"
case $program in /*) whole=$program ;; *) whole=$PWD/$program ;; esac
run_program="--wdir $scratch/a $whole"
start 1 --topk-ids ids.npy : -n 1 --wdir "$scratch/b" "$whole" "$shape" --topk-ids ids.npy
run_program=$program

# Checks that neither reduction can be left out and that each rank's sum is needed. The environment variable LEFT_OUT
# selects what the changed program leaves out; this program is built while the runs listed above are running.
objects=$(dirname "$program")/obj/$name
source=chapters/$name/token_paths.c
left_out='strcmp(getenv("LEFT_OUT"), '
sed "s/#include <stdlib.h>/&\n#include <string.h>/
     s/group_all_reduce(&layer->\([dt]p\)_group, .*, error)/($left_out\"\1\") == 0 || &)/
     s/RANK_SUM_ROWS), share->num_ranks/RANK_SUM_ROWS), $left_out\"ranks\") ? share->num_ranks : 1/" \
    "$source" >"$scratch/token_paths.c"
ninja -t commands "$program" | grep -F -e "$objects/token_paths.o" -e "$objects/parts.a" |
    sed "s|$source|-iquote chapters/$name $scratch/token_paths.c|; s|$objects/token_paths.o|$scratch/token_paths.o|g
         s|$objects/parts.a|$scratch/parts.a|g; s|-o $program |-o $scratch/$name |" >"$scratch/build.sh"
sh -e "$scratch/build.sh" >"$scratch/built" 2>&1 &
run_all 1
wait
lacking=$runs
for what in dp tp ranks; do
    run_program="-x LEFT_OUT=$what $scratch/$name"
    case $what in
    ranks) start 2 --num-tokens 6 --dispatch all-to-all ;;
    *) start 4 --num-tokens 6 --tp 2 ;;
    esac
done
run_all $((lacking + 1))

# --- results of the runs ---
# ended_so NAME FIRST FILE EXPECTED: checks how the runs from number FIRST on ended, one run for each line of FILE
ended_so() {
    ended_run=$2
    while read -r line; do
        equal "$1 $line" "$4" "$(said "$ended_run")"
        ended_run=$((ended_run + 1))
    done <"$3"
}
ended_so "verified, ranks:" $((ways + 1)) "$scratch/ways" "exit 0"
printf '%s\n' parts slices both >"$scratch/parts"
ended_so "verified, weights from files:" $((files + 1)) "$scratch/parts" "exit 0"
printf '%s\n' alone broadcast all-to-all >"$scratch/writers"
ended_so "verified, output written:" $((outputs + 1)) "$scratch/writers" "exit 0"
for dispatch in broadcast all-to-all; do
    succeeds "two ranks write what one does, byte for byte: another order of f32 sums shows in no element of these, $dispatch" \
        cmp "$scratch/alone/output.npy" "$scratch/$dispatch/output.npy"
done

matches "of two ranks, rank 0 writes what its kernel did" '{"kernel": "add_rows_kernel*' \
    "$(head -n 1 "$scratch/trace.json")"

printf '%s\n' "no sum over DP ranks" "no sum over TP ranks" "sums of the first rank only" >"$scratch/lacks"
lack=$lacking
while read -r what; do
    lack=$((lack + 1))
    matches "$what: refused for what it is" "exit 1
*$name: wrong: output*expected*" "$(said $lack)"
done <"$scratch/lacks"

equal "wrong for all: rank 0 says so" "exit 2
$name: --dp, --tp: 3 x 1 ranks; 2 were started; start 3: mpirun -n 3 and this command line" "$(said $((beginnings + 1)))"
equal "more ranks than experts" "exit 2
$name: --ep: 2 parts of 1 expert; a part must have one at least" "$(said $((beginnings + 2)))"
equal "a shape that does not divide" "exit 2
$name: --intermediate-size: 64; 3 ranks have equal slices of an expert, which it must divide into" "$(said $((beginnings + 3)))"
equal "ranks that disagree" "exit 2
$name: ranks 0 and 1 disagree on the command line" "$(said $((beginnings + 4)))"
equal "ranks whose files differ" "exit 2
$name: ranks 0 and 1 disagree on the layer or the routing, as their files have it" "$(said $((beginnings + 5)))"

gone="ended before the others: a rank has died, or did not come"
ended_so "a rank dies, and the other says so:" 3 "$scratch/stages" "exit 137
$name: rank 0: $gone"
equal "a rank hangs in a group: the other gives up, and both end" "exit 3
$name: rank 0, broadcast: not every rank of the DP group came within 4 s (--timeout)
$name: rank 1: $gone" "$(said 1)"
equal "a rank hangs before all exchange" "exit 3
$name: rank 0, combine: not every rank of the run came within 4 s (--timeout)
$name: rank 1: $gone" "$(said 2)"
finish
