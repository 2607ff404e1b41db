#!/bin/sh
# Tests chapter 12 on two GPUs: the result must be correct for every way to divide a layer, and if one rank dies or
# hangs, both ranks must exit.
#
#   sh tests/run.sh "tests/gpu/parallel.sh build/gpu/12_expert_parallel"
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../operators.sh"
program=$1
name=$(basename "$program")
shape="--hidden-size 256 --intermediate-size 128 --num-experts 16 --topk 4"

if [ "$(nvidia-smi --list-gpus 2>/dev/null | wc -l)" -lt 2 ]; then
    echo "1..0 # SKIP there are not two GPUs"
    exit
fi
reason=$(lacking "$program")
if [ -n "$reason" ]; then
    echo "1..0 # SKIP $reason"
    exit
fi

equal "--help lists no option that it refuses" "" \
    "$("$program" --help | grep -e --bench -e --check-all -e --flush-l2 -e '--trace')"
while read -r arguments; do
    # shellcheck disable=SC2086 # must split into words
    succeeds "two GPUs: $arguments" timeout -k 5 120 "$program" --gpus 2 $shape --repeats 2 $arguments
done <<'END'
--num-tokens 33
--num-tokens 33 --dispatch all-to-all
--num-tokens 33 --ep 1
--num-tokens 33 --ep 1 --dispatch all-to-all
--num-tokens 33 --tp 2 --dtype f32
--tokens-per-group 0,70 --dispatch all-to-all
--tokens-per-group 70,0 --expert-map random
--num-tokens 0
END

# stops HOW STAGE DISPATCH: makes rank 1 die or hang at a stage; sets $ended to the exit status and $said to the
# messages
stops() {
    # shellcheck disable=SC2086 # must split into words
    EXPERT_PARALLEL_STOP=1:$2:$1 timeout -k 5 120 "$program" --gpus 2 $shape --num-tokens 9 --timeout 5 \
        --dispatch "$3" >"$scratch/out" 2>"$scratch/err"
    ended=$?
    said=$(grep "^$name" "$scratch/err" | sort)
}
stops die experts broadcast
matches "a rank that dies: said" "*rank 1 was ended by signal 9*" "$said"
equal "a rank that dies: exit" 3 "$ended"
stops hang combine all-to-all
matches "a rank that hangs: said" "*rank 0, combine: not every rank of the run came within 5 s (--timeout)*" "$said"
equal "a rank that hangs: exit" 3 "$ended"
finish
