#!/bin/sh
# Builds the simulator's tests and the chapters with another toolchain and runs them; each program is one test here. A
# toolchain that is not installed is skipped. `ninja cpu build/tests/simt.a` comes first.
#
# build.ninja is used as it is but for the variables at its top.
#
# run: clang
# run: aarch64
# takes: long

. tests/tap.sh
. tests/operators.sh

chapters=$(cd chapters && ls -d [0-9]*)
programs="simt/test_collectives simt/test_cooperative simt/test_counters simt/test_host_api simt/test_order simt/test_refusals simt/test_valid simt/test_faults"
programs="$programs simt/test_bulk_copies simt/test_warpgroup_products"

# builds TARGET...: with no warning
builds() {
    ninja -f "$tap_ninja" "$@" >"$scratch/built" 2>&1 || { tail -n 20 "$scratch/built"; return 1; }
    ! grep -m 5 -A 3 'warning:' "$scratch/built"
}

# toolchain NAME SED-SCRIPT RUNNER: builds into build/NAME and runs each program by RUNNER
toolchain() {
    tap_ninja=build/$1.ninja
    mkdir -p "build/$1"
    sed -e "s|^b = .*|b = build/$1|" -e "$2" build.ninja > "$tap_ninja"
    succeeds "$1: builds" builds "build/$1/tests/simt.a" || return
    for program in $programs; do
        # shellcheck disable=SC2086 # the runner may have arguments or be empty
        succeeds "$1: $program" $3 "build/$1/tests/$program"
    done
    # shellcheck disable=SC2086
    $3 "build/$1/tests/simt/print_counts" > "build/$1/counts.txt"
    # shellcheck disable=SC2046,SC2086 # words
    succeeds "$1: the chapters build" builds $(printf "build/$1/cpu/%s " $chapters) || return
    for chapter in $chapters; do
        size='--num-tokens 100'
        case $(operator_of "build/cpu/$chapter") in
        align) types='--ids i32,--ids i64' ;;
        gate) types="--dtype f32,--dtype $(dtypes_of "$chapter" | sed 's/.* //')" ;;
        *) size='' types='--seed 1,' ;; # what every program has; the layer's have one type here
        esac
        # shellcheck disable=SC2086
        report=$($3 "build/$1/cpu/$chapter" $size ${types%,*})
        equal "$1: $chapter verifies ${size:+100 tokens, }${types%,*}" 0 $?
        # shellcheck disable=SC2086
        equal "$1: $chapter has gcc's shuffles and barriers" \
            "$("build/cpu/$chapter" $size ${types%,*} | synchronisation)" "$(echo "$report" | synchronisation)"
        [ "${types#*,}" ] || continue
        # shellcheck disable=SC2086
        succeeds "$1: $chapter verifies 100 tokens, ${types#*,}" $3 "build/$1/cpu/$chapter" $size ${types#*,}
    done
}

# The lines of a report that the source settles, whoever compiles it.
synchronisation() {
    grep -E '^(launches|shuffles|votes|warp barriers|block barriers) '
}

# What the source says, whoever compiles it.
collectives() {
    grep -E ' (launches|blocks|shuffles|votes|warp_barriers|block_barriers|arrivals) '
}

# clang leaves branches and calls as they stand in the source only when told so, pass by pass. Loops stay rolled, as
# with gcc, which does not know `#pragma unroll`: chapter 13 unrolled takes 150 s to compile, rolled 8.
with_clang() {
    if ! command -v clang++ >/dev/null; then
        skip "clang: builds" "clang++ is not installed"
        return
    fi
    keep="-mllvm -simplifycfg-sink-common=false -mllvm -simplifycfg-hoist-common=false"
    keep="$keep -mllvm -simplifycfg-merge-cond-stores=false -mllvm -enable-tail-merge=0"
    keep="$keep -fno-unroll-loops -mllvm -pragma-unroll-threshold=1 -Wno-pass-failed"
    toolchain clang "
        s|^cc = .*|cc = clang|
        s|^cxx = .*|cxx = clang++|
        s|^as_written = .*|as_written = -O1 $keep|
        s|^trace = .*|trace = -fsanitize=thread -fsanitize-coverage=trace-pc,no-prune -mllvm -tsan-instrument-read-before-write=1 -mllvm -tsan-distinguish-volatile=1|
        s|-fopenmp|-fopenmp=libgomp|g" ""
}

with_aarch64() {
    for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64; do
        if ! command -v $tool >/dev/null; then
            skip "aarch64: builds" "$tool is not installed"
            return
        fi
    done
    if ! [ -e /usr/include/cmocka.h ]; then
        skip "aarch64: builds" "cmocka.h is not installed"
        return
    fi
    # cmocka is there for this machine's processor only: its header, and a small library of our own.
    cross=build/aarch64/cross
    mkdir -p $cross
    cp /usr/include/cmocka.h $cross
    aarch64-linux-gnu-gcc -O2 -isystem $cross -c tests/cross/cmocka.c -o $cross/cmocka.o &&
        aarch64-linux-gnu-ar rcs $cross/libcmocka.a $cross/cmocka.o
    # The rewriter runs here, not there.
    succeeds "aarch64: the rewriter" cc -O2 common/simt/rewriter/rewrite_launch.c -o $cross/rewrite_launch || return
    toolchain aarch64 "
        s|^cc = .*|cc = aarch64-linux-gnu-gcc|
        s|^cxx = .*|cxx = aarch64-linux-gnu-g++ -isystem $cross|
        s|^objcopy = .*|objcopy = aarch64-linux-gnu-objcopy|
        s|^host_flags =.*|host_flags = -isystem $cross -L$cross|
        s|^rewriter = .*|rewriter = $cross/rewrite_launch|" "qemu-aarch64 -L /usr/aarch64-linux-gnu"
}

[ $# -gt 0 ] || set -- clang aarch64
for name in "$@"; do
    "with_$name"
    if [ -s "build/$name/counts.txt" ]; then
        equal "$name: collectives and barriers are counted as with gcc" \
            "$(build/tests/simt/print_counts | collectives)" \
            "$(collectives < "build/$name/counts.txt")"
    fi
done
finish
