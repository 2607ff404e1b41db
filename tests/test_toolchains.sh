#!/bin/sh
# Builds the simulator's tests and the chapters with another toolchain and runs them; each program is one test here. All
# counters must equal those of the build's own compiler, because they count the source's operations. A toolchain that is
# not installed is skipped. Run `ninja cpu build/tests/simt.a` first.
#
#   sh tests/test_toolchains.sh gcc-14              a gcc or clang, by its name or path
#   sh tests/test_toolchains.sh gcc-14 exercises    also checks that all answers to exercises pass or fail as expected
#
# build.ninja is used unchanged except for the variables at its top (tests/toolchains.sh). The oldest and the newest of
# Debian's versions of clang are tried. Each toolchain builds every third chapter, starting at one that depends on the
# number in the toolchain's name.
#
# run in all: /usr/bin/gcc-[1-9][0-9]
# run in all: /usr/bin/clang-1[49]
# run in all: aarch64
# takes: long

. tests/tap.sh
. tests/operators.sh
. tests/toolchains.sh

chapters=$(cd chapters && ls [0-9]*/main.c | sed 's|/.*||' | grep -v '^19_') # chapter 19's program is for 64 lanes
programs="simt/test_collectives simt/test_cooperative simt/test_counters simt/test_host_api simt/test_order simt/test_refusals simt/test_valid simt/test_faults"
programs="$programs simt/test_bulk_copies simt/test_overlap simt/test_warpgroup_products"

# builds TARGET...: builds the targets; succeeds if there is no warning
builds() {
    ninja -f "$tap_ninja" "$@" >"$scratch/built" 2>&1 || { tail -n 20 "$scratch/built"; return 1; }
    ! grep -m 5 -A 3 'warning:' "$scratch/built"
}

# report: reads a program's report; prints one field per line, without the fields that $not_compared matches
report() {
    awk -F, -v skipped="${not_compared:-^$}" '
        NR == 1 { split($0, name) }
        NR > 1 { for (i = 1; i <= NF; i++) if (name[i] !~ skipped) print name[i], $i }'
}

# try_chapter NAME CHAPTER ARGUMENTS RUNNER...: checks that a run is verified and has the same counters as in the usual
# build
try_chapter() {
    name=$1
    chapter=$2
    arguments=$3
    shift 3
    # shellcheck disable=SC2086 # must split into words
    equal "$name: $chapter $arguments: is right, and counts what is counted here" \
        "$("build/cpu/$chapter" $arguments --format csv | report)" \
        "$("$@" "build/$name/cpu/$chapter" $arguments --format csv | report)"
}

# toolchain NAME SED-SCRIPT TOKENS RUNNER...: builds in build/NAME and runs each program with RUNNER; gates and align
# run with TOKENS tokens
toolchain() {
    name=$1
    edits=$2
    tokens=$3
    shift 3
    tap_ninja=build/$name.ninja
    mkdir -p "build/$name"
    sed -e "s|^b = .*|b = build/$name|" -e "$edits" build.ninja >"$tap_ninja"
    succeeds "$name: builds" builds "build/$name/tests/simt.a" || return
    for program in $programs; do
        succeeds "$name: $program" "$@" "build/$name/tests/$program"
    done
    equal "$name: what four kernels count" "$(build/tests/simt/print_counts)" \
        "$("$@" "build/$name/tests/simt/print_counts")"
    chapters=$(echo "$chapters" | awk -v first="$((${name##*[!0-9]} % 3))" 'NR % 3 == first')
    # shellcheck disable=SC2046 # must split into words
    succeeds "$name: the chapters build" builds $(printf "build/$name/cpu/%s " $chapters) || return
    for chapter in $chapters; do
        case $(operator_of "build/cpu/$chapter") in
        align)
            try_chapter "$name" "$chapter" "$tokens --ids i32" "$@"
            try_chapter "$name" "$chapter" '--num-tokens 100 --ids i64' "$@"
            ;;
        gate)
            try_chapter "$name" "$chapter" "$tokens --dtype f32" "$@"
            try_chapter "$name" "$chapter" "--num-tokens 100 --dtype $(dtypes_of "$chapter" | sed 's/.* //')" "$@"
            ;;
        *) try_chapter "$name" "$chapter" '--num-tokens 16' "$@" ;; # the layers are tried with only one type
        esac
    done
}

# exercises NAME: checks that every answer passes or fails as expected
exercises() {
    succeeds "$1: the exercises build" builds learn || return
    for folder in exercises/[0-9][0-9]*_*; do
        for every in '' other-answers; do
            # shellcheck disable=SC2086 # a word or none
            succeeds "$1: $folder $every" sh tests/test_exercises.sh $every "build/$1/cpu/grade_answer" "$folder"
        done
    done
}

# with_compiler PATH [exercises]: tests one compiler
with_compiler() {
    compiler=${1##*/}
    if [ "$("$1" --version)" = "$(gcc --version | sed "s/^gcc /$compiler /")" ]; then
        skip "$compiler: builds" "it is what everything is built with"
        return
    fi
    if ! command -v "$(toolchain_variable "$compiler" cxx)" >/dev/null; then
        skip "$compiler: builds" "$(toolchain_variable "$compiler" cxx) is not installed"
        return
    fi
    case $compiler in
    clang*)
        if ! toolchain_edits "$compiler" | grep -q idirafter; then
            skip "$compiler: builds" "clang's omp.h (libomp-dev) is not installed"
            return
        fi
        ;;
    esac
    toolchain "$compiler" "$(toolchain_edits "$compiler")" '--num-tokens 300'
    [ "${2:-}" != exercises ] || exercises "$compiler"
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
    # cmocka is installed only for this machine's processor, so its functions come from tests/cross/cmocka.c.
    cross=build/aarch64/cross
    mkdir -p $cross
    cp /usr/include/cmocka.h $cross
    aarch64-linux-gnu-gcc -O2 -isystem $cross -c tests/cross/cmocka.c -o $cross/cmocka.o &&
        aarch64-linux-gnu-ar rcs $cross/libcmocka.a $cross/cmocka.o
    # For aarch64, gcc aligns shared arrays to 8 bytes, so that it accesses a two-word structure in a single access.
    not_compared='^shared_'
    # The rewriter runs on this machine, not on the target.
    succeeds "aarch64: the rewriter" cc -O2 common/simt/rewriter/*.c -o $cross/rewrite_launch || return
    toolchain aarch64 "
        s|^cc = .*|cc = aarch64-linux-gnu-gcc|
        s|^cxx = .*|cxx = aarch64-linux-gnu-g++ -isystem $cross|
        s|^objcopy = .*|objcopy = aarch64-linux-gnu-objcopy|
        s|^host_flags =.*|host_flags = -isystem $cross -L$cross|
        s|^rewriter = .*|rewriter = $cross/rewrite_launch|" '--num-tokens 100' qemu-aarch64 -U LD_PRELOAD -L /usr/aarch64-linux-gnu
}

case ${1:-} in
'') skip 'another toolchain' 'none was named' ;;
aarch64) with_aarch64 ;;
*) with_compiler "$@" ;;
esac
finish
