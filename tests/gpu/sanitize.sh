#!/bin/sh
# Runs chapter programs under compute-sanitizer's four tools. A test passes if the program verified its results and the
# tool counted no error, no hazard and no warning.
#
#   sh tests/gpu/sanitize.sh build/gpu/02_warp_per_group...     (without a program: only checks for compute-sanitizer)
#
# Uses the compute-sanitizer in $CUDA_HOME, else the one in PATH, else the one in /usr/local/cuda.
set -u

for sanitizer in ${CUDA_HOME:+"$CUDA_HOME/bin/compute-sanitizer"} "$(command -v compute-sanitizer)" \
    "${CUDA_DEFAULT:-/usr/local/cuda}/bin/compute-sanitizer"; do
    [ -x "$sanitizer" ] && break
done
[ -x "$sanitizer" ] || { echo 'sanitize.sh: compute-sanitizer is missing: it comes with the CUDA Toolkit' >&2; exit 1; }
[ $# -gt 0 ] || exit 0
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../operators.sh"

# clean TOOL PROGRAM ARGUMENT...: succeeds if the tool reports nothing; otherwise the output ends with the reason
clean() {
    tool=$1
    shift
    "$sanitizer" --tool "$tool" --error-exitcode 86 --print-limit 5 "$@" >"$scratch/output" 2>&1
    status=$?
    tail -n 60 "$scratch/output"
    if [ "$status" -ne 0 ]; then
        echo "exit status $status"
        return 1
    fi
    # There must be at least one summary, and all counts of every summary must be 0.
    summaries=$(grep -E '^=+ .*SUMMARY: ' "$scratch/output")
    case $tool in
    racecheck) none='RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)' ;;
    *) none='ERROR SUMMARY: 0 errors' ;;
    esac
    [ -n "$summaries" ] || { echo "no summary"; return 1; }
    ! echo "$summaries" | grep -vF "$none" || { echo 'a summary that is not clean'; return 1; }
}

# runs_of PROGRAM: prints the arguments of the runs under every tool, one run per line. The runs use every kernel and
# every type except f16.
runs_of() {
    case $(operator_of "$1") in
    align)
        printf '%s\n' '--num-tokens 700 --ids i32' '--num-tokens 300 --ids i64 --expert-map random --misalign 1' \
            '--num-tokens 30 --num-experts 16 --dist uniform'
        ;;
    gate)
        for dtype in $(dtypes_of "$1" | sed 's/ f16//'); do
            echo "--num-tokens 300 --dtype $dtype"
        done
        ;;
    routing)
        printf '%s\n' '--num-tokens 1' '--num-tokens 64 --dtype bf16 --expert-map random' '--num-tokens 256' \
            '--num-tokens 300'
        ;;
    decode)
        step='--hidden-size 128 --intermediate-size 64 --num-experts 128 --topk 4'
        printf '%s\n' "$step --num-tokens 1" "$step --num-tokens 9" "$step --num-tokens 33 --overlap 0"
        ;;
    moe | parallel)
        layer='--hidden-size 128 --intermediate-size 64 --num-experts 16 --topk 4 --dist zipf'
        printf '%s\n' "$layer --num-tokens 30" "$layer --num-tokens 70 --expert-map random --block-size 192"
        ;;
    *) echo ;;
    esac
}

for program in "$@"; do
    reason=$(lacking "$program")
    if [ -n "$reason" ]; then
        skip "$(basename "$program")" "$reason"
        continue
    fi
    runs_of "$program" >"$scratch/runs"
    for tool in memcheck racecheck synccheck initcheck; do
        while read -r arguments; do
            # shellcheck disable=SC2086 # one word per argument
            succeeds "$(basename "$program"), $tool: $arguments" clean "$tool" "$program" $arguments </dev/null
        done <"$scratch/runs"
    done
    [ "$(operator_of "$program")" = parallel ] && continue # it has no --check-all
    for tool in memcheck synccheck; do
        succeeds "$(basename "$program"), $tool: the grid" clean "$tool" "$program" --check-all
    done
done
finish
