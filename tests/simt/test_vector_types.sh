#!/bin/sh
# The copy of a short vector is one access, the 16-bit types add no branch, and shared memory of either has no hidden
# guard: read off the hooks that the compilers call in tests/simt/vector_accesses.cc.
. tests/tap.sh
fixture=tests/simt/vector_accesses.cc
as_written=$(sed -n 's/^as_written = //p' build.ninja)

# found NAME: the loads and stores of a function in $assembly, sorted, and its basic blocks
found() {
    sed -n "/^$1:/,/^[[:space:]]*\.size[[:space:]]*$1,/p" "$assembly" >"$scratch/function"
    grep -oE '__tsan_(unaligned_)?(read|write)[a-z0-9_]*' "$scratch/function" | sed 's/__tsan_//' | sort | tr '\n' ' '
    grep -c sanitizer_cov_trace_pc "$scratch/function"
}

# check_compiler COMMAND...: every function of the fixture as this compiler makes it
check_compiler() {
    assembly=$scratch/$1.s
    compiler=$1
    if ! command -v "$1" >/dev/null; then
        skip "$1" "$1 is not installed"
        return
    fi
    succeeds "$compiler compiles without a warning" "$@" -std=c++17 -Wall -Wextra -Wpedantic -Werror \
        -Wno-return-type-c-linkage -fno-exceptions -fno-rtti -Icommon/simt -Icommon -S "$fixture" -o "$assembly" ||
            return
    sed -nE 's|^[a-z_][^(]* \*?([a-z0-9_]+)\(.*// ?(.*)$|\1 \2|p' "$fixture" >"$scratch/expected"
    while read -r name expected; do
        blocks=1
        [ "$name" != loop ] || blocks=$(found loop | awk '{ print $NF }')
        expected=$(for access in $expected; do echo "$access"; done | sort | tr '\n' ' ')
        equal "$compiler: $name" "$expected$blocks" "$(found "$name")"
    done <"$scratch/expected"
}

# shellcheck disable=SC2086 # flags are words
check_compiler g++ $as_written -fsanitize=thread -fsanitize-coverage=trace-pc
check_compiler clang++ -O1 -fsanitize=thread -fsanitize-coverage=trace-pc,no-prune -mllvm \
    -tsan-instrument-read-before-write=1
finish
