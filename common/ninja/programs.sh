#!/bin/sh
# Builds one program from each C file in several folders, such as BUILD/tests/test_npy from tests/test_npy.c, and one
# from each test written as a kernel, so that adding a file adds a test.
#
#   sh common/ninja/programs.sh OUT.a 'COMPILER FLAGS' BUILD 'LINKER' 'LIBRARIES' FOLDER...
#
# library.sh compiles these files into OUT.a.objects; each object is then linked with the library objects that it needs.
set -eu
out=$1
compile=$2
build=$3
export link="$4" libraries="$5"
shift 5
# shellcheck disable=SC2086 # the compiler and its flags must split into words
echo '#include <cmocka.h>' | $compile -E -x c - >/dev/null 2>&1 ||
    { echo "cmocka.h is missing, which the tests need: sh common/setup.sh installs it" >&2; exit 1; }
sh "$(dirname "$0")/library.sh" "$out" "$compile" "$@"
for folder in "$@"; do
    mkdir -p "$build/$folder"
done
while read -r source object; do
    echo "$object $build/${source%.*}"
done <"$out.objects/all" | xargs -n 2 -P "$(nproc)" sh -c '$link "$0" $libraries -o "$1"' ||
    { rm "$out"; exit 1; } # otherwise Ninja considers it up to date
