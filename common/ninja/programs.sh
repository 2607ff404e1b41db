#!/bin/sh
# Makes a program of every C file in some folders, tests/test_npy of tests/test_npy.c: adding a test is adding a file.
#
#   sh common/ninja/programs.sh BUILD 'COMPILER FLAGS' 'LINKER' 'LIBRARIES' FOLDER...
#
# They are compiled as library.sh does it, into BUILD/programs.a.objects; each is then linked with all of the libraries.
set -eu
build=$1
compile=$2
export link="$3" libraries="$4"
shift 4
sh "$(dirname "$0")/library.sh" "$build/programs.a" "$compile" "$@"
for folder in "$@"; do
    mkdir -p "$build/$folder"
done
for source in $(find "$@" -maxdepth 1 -name '*.c'); do
    printf '%s\n%s\n' "$build/programs.a.objects/$(echo "${source%.c}" | tr / _).o" "$build/${source%.c}"
done | xargs -n 2 -P "$(nproc)" sh -c '$link "$0" $libraries -o "$1"'
