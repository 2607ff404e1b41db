#!/bin/sh
# Builds variants. A variant is a chapter's program with a changed kernel, used to measure changes that no chapter
# teaches. The change is chapters/NN_name/variants/WHAT.sed, a sed script, or WHAT.patch, a unified diff; the program is
# BUILD/variants/NN_name_WHAT. WHAT_N.sed stands for several changes, one for each number in its first line. If that is
# "# N: 1 2 4", the changes are WHAT_1.sed, WHAT_2.sed and WHAT_4.sed, in which the number replaces N.
#
#   sh common/variants.sh BUILD [WORD]       BUILD is build/cpu or build/gpu; WORD: only names that contain it
#   sh common/variants.sh --hash CHANGE      prints the hash of the changed kernel: see source_hash.sh
#
# The chapter's program must have been built: Ninja lists its build commands, which also build the variant.
set -eu

# changes: prints every change
changes() {
    for file in chapters/*/variants/*; do
        case $file in
        *_N.sed) sed -n '1s/# N: //p' "$file" | tr ' ' '\n' | sed "s|.*|${file%N.sed}&.sed|" ;;
        *) echo "$file" ;;
        esac
    done
}

# names CHANGE: sets the variables for a change that the functions below use
names() {
    change=$1
    file=$change
    number=N
    if [ ! -e "$file" ]; then
        number=${change##*_}
        number=${number%.sed}
        file=${change%"$number.sed"}N.sed
    fi
    chapter=$(basename "${change%/variants/*}")
    what=$(basename "${change%.*}")
    for kernel in "chapters/$chapter"/*.cu; do :; done
}

# needs_change CHANGE: fails if no file has the change: there is neither CHANGE nor WHAT_N.sed that stands for it
needs_change() {
    { [ -f "$1" ] || changes | grep -qxF -e "$1"; } && return
    echo "variants.sh: $1: no such variant; see chapters/*/variants, in the repository's root" >&2
    return 2
}

# changed_kernel FILE: writes the chapter's changed kernel to FILE. It is an error if a change has no effect or a patch
# applies only with fuzz.
changed_kernel() {
    case $change in
    *.sed) sed "$(sed "s/\\bN\\b/$number/g" "$file")" "$kernel" >"$1" ;;
    *.patch) patch --silent --fuzz=0 --output="$1" --reject-file=- "$kernel" "$file" ;; # temporary files go next to $1
    esac
    ! cmp -s "$kernel" "$1" || { echo "variants.sh: $change changes nothing in $kernel" >&2; exit 1; }
}

# build_one BUILD CHANGE: builds the program of a change, unless it is up to date
build_one() {
    build=$1
    names "$2"
    program=$build/variants/${chapter}_$what
    objects=$build/obj/variants/${chapter}_$what
    [ -z "$(find "$file" "$0" "$build/$chapter" -newer "$program" 2>&1)" ] && return
    mkdir -p "$objects" "$build/variants"
    changed_kernel "$objects/$(basename "$kernel")"
    operator=$(basename "$kernel" .cu)
    ninja -t commands "$build/$chapter" | grep -e "/$chapter/$operator\.o" -e "/$chapter/hash\." |
        sed "s|$kernel|$objects/$operator.cu|g; s|-o $build/$chapter |-o $program |
             s#$build/obj/$chapter/\($operator\.o\|hash\.\)#$objects/\1#g" >"$objects/build.sh"
    echo "variant ${chapter}_$what"
    sh -e "$objects/build.sh"
}

# needs_built BUILD <CHANGES: prints a line for each chapter's program that is not built; fails if there is one
needs_built() {
    sed 's|/variants/.*||; s|.*/||' | sort | uniq -c | {
        missing=0
        while read -r count chapter; do
            [ -e "$1/$chapter" ] && continue
            [ "$count" = 1 ] && need='1 variant needs' || need="$count variants need"
            echo "variants.sh: $1/$chapter is not built: ninja $1/$chapter ($need it)" >&2
            missing=1
        done
        return $missing
    }
}

case ${1:-} in
--one) build_one "$2" "$3" ;;
--hash)
    [ $# = 2 ] || { echo "variants.sh: usage: sh common/variants.sh --hash chapters/NAME/variants/CHANGE" >&2; exit 2; }
    needs_change "$2" || exit
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    names "$2"
    changed_kernel "$scratch/kernel.cu"
    sh common/source_hash.sh "$scratch/kernel.cu"
    ;;
*/cpu | */gpu)
    [ -d "$1" ] || { echo "variants.sh: $1 does not exist; ninja builds build/cpu, ninja gpu build/gpu" >&2; exit 2; }
    wanted=$(changes | while read -r change; do
        names "$change"
        case ${chapter}_$what in *"${2:-}"*) echo "$change" ;; esac
    done)
    [ -n "$wanted" ] || { echo "variants.sh: no variant's name contains '$2'; see chapters/*/variants" >&2; exit 2; }
    echo "$wanted" | needs_built "$1" || exit 1
    echo "$wanted" | xargs -n 1 -P "$(nproc)" sh "$0" --one "$1"
    ;;
*)
    echo "variants.sh: '${1:-}' is not the folder of the programs; usage: sh common/variants.sh build/cpu|build/gpu [WORD]" >&2
    exit 2
    ;;
esac
