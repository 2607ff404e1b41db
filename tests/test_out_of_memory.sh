#!/bin/sh
# Makes one of a program's allocations fail, at any point: the program must not crash or leave a half-written file, and
# must print one line about the failure, with the advice below it if the simulator reports a fault. Each of the first
# requests fails in its own run. Later requests resemble each other, so only some of them, at increasing intervals, fail
# in a run; in a small program, every request fails in a run.
#
# run: $b
. tests/tap.sh

folder=$1
refuse=$scratch/refuse.so
if ! ${CC:-gcc} -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC -o "$refuse" tests/preloaded/refuse_memory.c 2>"$scratch/why"; \
    then
    echo "1..0 # SKIP no library that refuses memory: $(head -n 1 "$scratch/why")"
    exit
fi

one_by_one=8 # number of first requests that fail one by one
# refused PROGRAM ARGUMENT...: runs the program repeatedly, with a later request failing each time; prints unexpected
# results
refused() {
    nth=1
    while :; do
        mkdir "$scratch/made"
        LD_PRELOAD=$refuse REFUSE=$nth "$@" >"$scratch/out" 2>"$scratch/err" 3>"$scratch/mark" </dev/null
        status=$?
        [ -s "$scratch/mark" ] || break
        case $status,$(wc -l <"$scratch/err"),$(cat "$scratch/err") in
        0,0, | 3,1,*memory* | 3,2,*"out of memory: "*": try: a smaller problem" | 3,1,*initialization* | 2,1,*": Cannot allocate memory") ;;
        *) echo "request $nth: exit $status: $(cat "$scratch/err")" ;;
        esac
        find "$scratch/made" -name '*.tmp'
        rm -rf "$scratch/made"
        nth=$((nth + 1 + nth / one_by_one))
    done
    [ "$status" -eq 0 ] || echo "without a refusal: exit $status"
    [ "$nth" -gt 20 ] || echo "only $nth requests"
    rm -rf "$scratch/made"
}

# survives NAME PROGRAM ARGUMENT...: checks that `refused` prints nothing; the program may make files in $scratch/made
survives() {
    survives_name=$1
    shift
    equal "$survives_name" '' "$(refused "$@")"
}

survives 'a gate' "$folder/cpu/02_warp_per_group" --num-tokens 3 --out "$scratch/made" --trace "$scratch/made/t.json"
one_by_one=1000
survives 'a gate on the host, from files' "$folder/cpu/01_cpu_baseline" --num-tokens 3 --format json \
    --bias common/data/router/layer2_bias.npy
one_by_one=8
survives 'align' "$folder/cpu/10_align_parallel_fill" --num-tokens 3 --expert-map random --format csv
survives 'align of counts' "$folder/cpu/06_align_serial" --counts 4,1,5,3 --block-size 3 --out "$scratch/made"
survives 'a layer' "$folder/cpu/11a_moe_naive" --num-tokens 3 --hidden-size 8 --intermediate-size 8 --num-experts 2 \
    --topk 1 --expert-map random --out "$scratch/made"
survives 'a layer of the router'\''s choices' "$folder/cpu/11a_moe_naive" --num-tokens 2 --hidden-size 8 \
    --intermediate-size 8 --num-experts 256 --format csv
finish
