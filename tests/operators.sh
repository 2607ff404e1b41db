# shellcheck shell=sh
# Functions for tests of chapter programs with any operator.

# operator_of PROGRAM: prints the program's operator, recognised by the options in --help: gate, align, routing, moe,
# decode or parallel; otherwise prints "other", for which tests use only what every program supports
operator_of() {
    case $("$1" --help 2>/dev/null) in
    *--tokens-per-group*) echo parallel ;;
    *--hidden-size*--num-expert-group*) echo decode ;;
    *--hidden-size*) echo moe ;;
    *--block-size*--num-expert-group*) echo routing ;;
    *--block-size*) echo align ;;
    *--num-expert-group*) echo gate ;;
    *) echo other ;;
    esac
}

# dtypes_of PROGRAM: prints the types of logits that a gate's program supports; chapters 02 to 04 support only f32
dtypes_of() {
    case $(basename "$1") in
    0[234]_*) echo f32 ;;
    *) echo f32 f16 bf16 ;;
    esac
}

# with_headers FILE: prints a chapter's kernel file with the included headers from its folder and from common/kernels
with_headers() {
    cat "$1"
    sed -n 's/^#include "\([a-z_]*\.cuh\)"/\1/p' "$1" | while read -r header_name; do
        cat "${1%/*}/$header_name"
    done
    sed -n 's/^#include "\(kernels\/.*\)"/common\/\1/p' "$1" | while read -r header_name; do
        cat "$header_name"
    done
}

# kernels_of PROGRAM: prints the names of the kernels in the files of its chapter; prints none for another build of a
# chapter, which may lack some of them
kernels_of() {
    for kernels_file in "chapters/${1##*/}"/*.cu; do
        [ ! -f "$kernels_file" ] || with_headers "$kernels_file"
    done | tr '\n' ' ' | grep -o '__global__ void *\(__launch_bounds__([^)]*)\)\{0,1\} *[a-z_0-9]*(' |
        sed 's/($//; s/.*[ )]//'
}

# lacking PROGRAM: prints why the program needs another GPU or a build for another GPU; prints nothing if it can run
lacking() {
    lacking_said=$("$1" --num-tokens 0 2>&1 >/dev/null)
    [ $? -eq 3 ] || return 0
    case $lacking_said in
    *': this program needs '*) echo "$lacking_said" ;;
    esac
}
