#!/bin/sh
# Checks the layout of sources: at most 120 columns, and the format of clang-format 14 (other versions differ).
set -u
. tests/tap.sh

# sources PATTERN...: prints the files whose names match one of the patterns, without built files
sources() {
    for pattern in "$@"; do
        find chapters common docs exercises tests build.ninja -name "$pattern"
    done | sort
}

# shellcheck disable=SC2046 # the names have no blanks
equal "no line has more than 120 columns" "" "$(LC_ALL=C.UTF-8 sed -n 's/.\{121\}.*/&/p' \
    $(sources '*.c' '*.h' '*.cpp' '*.cu' '*.cuh' '*.js' '*.css' '*.awk' '*.ninja'))"
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    # shellcheck disable=SC2046
    equal "clang-format has nothing to change" "" \
        "$(clang-format --dry-run $(sources '*.c' '*.h' '*.cpp' '*.cu' '*.cuh') 2>&1 | grep ': warning:')"
else
    skip "clang-format has nothing to change" "there is no clang-format 14"
fi
finish
