#!/bin/sh
# Builds one library from all C files in several folders, so that a new file in a folder becomes part of the library.
#
#   sh common/ninja/library.sh OUT.a 'COMPILER FLAGS' FOLDER...
#
# Compiles each file that is newer than its object or that includes such a file, with one compiler per processor. The
# object of a/b/c.c is OUT.a.objects/a_b_c.o, next to the file's entry for compile_commands.json. OUT.a.d lists
# everything that the library depends on, including the folders, for Ninja. If $compile_kernel is set, the library also
# contains the files test_*.cu, which that command compiles.
set -eu
out=$1
compile=$2
shift 2
objects=$out.objects
export compile compile_kernel="${compile_kernel:-}"
if [ "$(cat "$objects/flags" 2>/dev/null)" != "$compile $compile_kernel" ]; then # changed flags need new objects
    rm -rf "$objects"
    mkdir -p "$objects"
    echo "$compile $compile_kernel" >"$objects/flags"
fi

# is_current OBJECT: checks that the object exists, and that no source that it depends on is missing or newer
is_current() {
    # shellcheck disable=SC2046 # the list of sources must split into words
    [ -f "$1" ] && [ -f "$1.d" ] &&
        [ -z "$(find $(sed 's/^[^:]*://; s/\\$//' "$1.d") -newer "$1" 2>&1)" ]
}

for source in $(find "$@" -maxdepth 1 '(' -name '*.c' -o -name "${compile_kernel:+test_*.cu}" ')' | sort); do
    echo "$source $objects/$(echo "${source%.*}" | tr / _).o"
done >"$objects/all"
while read -r source object; do
    is_current "$object" || echo "$source $object"
done <"$objects/all" >"$objects/stale"
# shellcheck disable=SC2016 # the inner shell expands the variables
xargs -r -n 2 -P "$(nproc)" sh -c '
    case $0 in *.cu) compile=$compile_kernel ;; esac
    printf "{\"directory\": \"%s\", \"command\": \"%s\", \"file\": \"%s\"}\n" "$PWD" "$compile -c $0 -o $1" "$0" >"$1.json"
    $compile -MMD -MF "$1.d.tmp" -c "$0" -o "$1" && mv "$1.d.tmp" "$1.d"' <"$objects/stale"
while read -r source object; do
    sed "1s|^[^:]*:|$out:|" "$object.d"
done <"$objects/all" >"$out.d"
echo "$out: $*" >>"$out.d" # a folder changes when a file is added to it
rm -f "$out"
cut -d ' ' -f 2 "$objects/all" | xargs ar rcs "$out"
