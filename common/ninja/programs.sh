#!/bin/sh
# Makes a program of every C file in some folders, BUILD/tests/test_npy of tests/test_npy.c: adding a test is adding a file.
#
#   sh common/ninja/programs.sh OUT.a 'COMPILER FLAGS' BUILD 'LINKER' 'LIBRARIES' FOLDER...
#
# They are compiled as library.sh does it, into OUT.a.objects; each is then linked with what it needs of the libraries.
set -eu
out=$1
compile=$2
build=$3
export link="$4" libraries="$5"
shift 5
sh "$(dirname "$0")/library.sh" "$out" "$compile" "$@"
for folder in "$@"; do
    mkdir -p "$build/$folder"
done
for source in $(find "$@" -maxdepth 1 -name '*.c'); do
    printf '%s\n%s\n' "$out.objects/$(echo "${source%.c}" | tr / _).o" "$build/${source%.c}"
done | xargs -n 2 -P "$(nproc)" sh -c '$link "$0" $libraries -o "$1"' || { rm "$out"; exit 1; } # or Ninja takes it for made
