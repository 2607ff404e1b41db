#!/bin/sh
# Checks, using the hook calls that gcc inserts into tests/simt/vector_accesses.cc, that copying a short vector is one
# access and that a __shared__ variable of a vector or 16-bit type has no hidden guard variable. Clang keeps local
# variables in memory, so only gcc is used here; tests/test_toolchains.sh counts the accesses in clang's code.
. tests/tap.sh
. tests/toolchains.sh
fixture=tests/simt/vector_accesses.cc

# found NAME: prints the loads and stores of a function in $assembly, sorted
found() {
    sed -n "/^$1:/,/^[[:space:]]*\.size[[:space:]]*$1,/p" "$assembly" |
        grep -oE '__tsan_(unaligned_)?(read|write)[a-z0-9_]*' | sed 's/__tsan_//' | sort | tr '\n' ' '
}

# check_compiler COMPILER: checks every function of the fixture, compiled by this compiler
check_compiler() {
    assembly=$scratch/$1.s
    compiler=$(toolchain_variable "$1" cxx)
    if ! command -v "$compiler" >/dev/null; then
        skip "$1" "$compiler is not installed"
        return
    fi
    # shellcheck disable=SC2046 # flags are words
    succeeds "$1 compiles without a warning" "$compiler" $(toolchain_variable "$1" as_written) \
        $(toolchain_variable "$1" trace) -std=c++17 -Wall -Wextra -Wpedantic -Werror -Wno-return-type-c-linkage \
        -fno-exceptions -fno-rtti -Icommon/simt -Icommon -S "$fixture" -o "$assembly" || return
    sed -nE 's|^[a-z_][^(]* \*?([a-z0-9_]+)\(.*// ?(.*)$|\1 \2|p' "$fixture" >"$scratch/expected"
    while read -r name expected; do
        expected=$(for access in $expected; do echo "$access"; done | sort | tr '\n' ' ')
        equal "$1: $name" "$expected" "$(found "$name")"
    done <"$scratch/expected"
}

check_compiler gcc
finish
