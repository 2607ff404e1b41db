# shellcheck shell=sh
# Functions for the tests of the programs' command lines; sourced after tap.sh.
#
#   ends_early PROGRAM ARGUMENT...    runs the program with --out; sets $said to its standard error and $ended to its
#                                     exit status, the number of lines in $said, the size of its standard output in
#                                     bytes and whether it made the directory: '2 1 0 no' for rejected arguments
#   ends_untraced PROGRAM ARGUMENT... does the same without --out; $ended ends with the trace.json* files in $scratch
#   npy NAME HEADER BYTES             writes $scratch/NAME.npy with this header and BYTES bytes of zeros
#   integers NAME i4|i8 SHAPE NUMBER... writes $scratch/NAME.npy with these numbers
#   numbers FILE                      prints the numbers of an i4 file that a program wrote, separated by spaces
#   unprivileged COMMAND...           runs the command without root's privilege to bypass file permissions; fails if
#                                     root cannot drop this privilege
# shellcheck disable=SC2034 # the tests use these variables

# hostile PROGRAM...: reads lines EXIT|MESSAGE|COMMAND and runs each COMMAND with every PROGRAM as $P and an empty
# folder as $S. Checks the exit status, that standard error matches the shell pattern MESSAGE, and that the folder is
# still empty.
hostile() {
    while IFS='|' read -r hostile_exit hostile_said hostile_command; do
        for P in "$@"; do
            mkdir "$scratch/h"
            (export P S="$scratch/h"; timeout -k 2 60 sh -c "$hostile_command") >"$scratch/out" 2>"$scratch/err" \
                </dev/null
            hostile_ended="$? $(ls -A "$scratch/h")"
            equal "${P##*/}: $(printf %s "$hostile_command" | tr '\\' /): exit, files" "$hostile_exit " "$hostile_ended"
# shellcheck disable=SC2254 # the pattern must not be quoted
            case $(cat "$scratch/err") in
            $hostile_said) ;;
            *) tap_result 1 "and says: $hostile_said" || tap_show expected "$hostile_said" '     got' \
                "$(cat "$scratch/err")" ;;
            esac
            rm -rf "$scratch/h"
        done
    done
}

run_early() {
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    ended=$?
    ended="$ended $(wc -l <"$scratch/err" | tr -d ' ') $(wc -c <"$scratch/out" | tr -d ' ')"
    said=$(cat "$scratch/err")
}

ends_early() {
    early_program=$1
    shift
    run_early "$early_program" --out "$scratch/refused" "$@"
    ended="$ended $([ -e "$scratch/refused" ] && echo yes || echo no)"
    rm -rf "$scratch/refused"
}

ends_untraced() {
    run_early "$@"
    ended="$ended $(find "$scratch" -name 'trace.json*')"
}

npy() {
    npy_header=$(printf '%-117s' "$2")
    { printf '\223NUMPY\001\000\166\000%s\n' "$npy_header" && head -c "$3" /dev/zero; } >"$scratch/$1.npy"
}

integers() {
    npy "$1" "{'descr': '<$2', 'fortran_order': False, 'shape': $3, }" 0
    integers_file=$scratch/$1.npy
    integers_size=${2#i}
    shift 3
    for integer in "$@"; do
        integer_byte=0
        while [ "$integer_byte" -lt "$integers_size" ]; do
            # shellcheck disable=SC2059 # the format is the byte's octal escape
            printf "\\$(printf %03o $((integer >> 8 * integer_byte & 255)))"
            integer_byte=$((integer_byte + 1))
        done
    done >>"$integers_file"
}

numbers() {
    numbers_header=$(od -An -t u2 -j 8 -N 2 "$1")
    od -An -v -w4 -t d4 -j $((10 + numbers_header)) "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'
}

# Stays root but drops the capabilities, because another user may not be able to enter the repository's folder.
unprivileged() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --bounding-set=-all --inh-caps=-all "$@"
    else
        "$@"
    fi
}
