# Functions for tests that inject faults into a kernel; sourced after tap.sh.
#
#   breaks_start PROGRAM SOURCE [SED] sets the program to break and its kernel file, and copies the headers in the
#                                     file's folder into it; SED removes code that no run reaches, to compile faster
#   breaks NAME SED FAULT LINE ARGUMENT...
#                                     edits the kernel with a sed script, builds it with the commands that built the
#                                     program (from ninja), runs it with the arguments and expects exit status 1 and a
#                                     message with FAULT, at a line that matches the pattern LINE ('' for a wrong
#                                     result, which has no line)
#   rebuild SED                       only edits the kernel and builds $scratch/program
#
# If set, breaks_shared names a header of common/kernels that is also copied into the kernel file, so that SED can edit
# it.

# A sed script that removes the kernels for types other than f32, for tests that run a gate only in f32.
only_f32='/^    case DTYPE_/,/^    default:/{/^    default:/!d}'

# inline_headers FILE: prints the file, replacing each #include of $breaks_shared or of a header in the file's folder
# with the header's text
inline_headers() {
    while IFS= read -r inline_line; do
        inline_name=${inline_line#\#include \"}
        inline_name=${inline_name%\"}
        case $inline_line in
        "#include \"${breaks_shared:-none}\"") inline_headers "common/$inline_name" && continue ;;
        '#include "'*h'"') [ -f "${1%/*}/$inline_name" ] && inline_headers "${1%/*}/$inline_name" && continue ;;
        esac
        printf '%s\n' "$inline_line"
    done <"$1"
}

breaks_start() {
    breaks_source=$scratch/unbroken
    inline_headers "$2" | sed "${3:-}" >"$breaks_source"
    breaks_kernel=$(basename "$2" .cu)
    breaks_object=$(dirname "$1")/obj/$(basename "$1")/$breaks_kernel.o
    ninja -t commands "$1" | grep -F "$breaks_object" |
        sed "s|$2|$scratch/$breaks_kernel.cu|; s|$breaks_object|$scratch/$breaks_kernel.o|g; s|-o $1 |-o $scratch/program |" \
            >"$scratch/build.sh"
}

rebuild() {
    sed "$1" "$breaks_source" >"$scratch/$breaks_kernel.cu"
    ! cmp -s "$breaks_source" "$scratch/$breaks_kernel.cu" || {
        echo "the line to break is not there"
        return 1
    }
    sh -e "$scratch/build.sh"
}

breaks() {
    breaks_name=$1
    breaks_fault=$3
    breaks_place=$4
    breaks_log=$(rebuild "$2" 2>&1) || {
        tap_result 1 "$breaks_name: builds" || printf '%s\n' "$breaks_log" | sed 's/^/# /'
        return
    }
    shift 4
    "$scratch/program" "$@" >/dev/null 2>"$scratch/err"
    equal "$breaks_name: is refused" 1 $?
    breaks_said=$(head -n 1 "$scratch/err")
    matches "$breaks_name: for what it is" "*$breaks_fault*" "$breaks_said"
    [ -n "$breaks_place" ] || return 0
    breaks_line=$(printf '%s\n' "$breaks_said" | sed -n "s/.*$breaks_kernel\.cu:\([0-9]*\): .*/\1/p")
    matches "$breaks_name: at its line" "$breaks_place" \
        "$(sed -n "${breaks_line:-0}p" "$scratch/$breaks_kernel.cu" 2>/dev/null)"
}
