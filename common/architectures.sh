#!/bin/sh
# Compiles kernels for every architecture that the course supports, or for those in $ARCHITECTURES, and discards the
# output. Warnings are treated as errors.
#
#   sh common/architectures.sh [TARGET]...       the kernels of these Ninja targets; by default, those of the exercises
#
# Ninja supplies the commands that compile these kernels. Each file is compiled with the options in its command, for all
# architectures, and only once if several programs use it. Because the output is never run, nvcc compiles with reduced
# optimisation if it has an option for that. The level is mid because at max, nvcc keeps uncalled code, which contains
# instructions that older GPUs lack. SHARE=K/N in the environment (K from 0 to N - 1) compiles only every N-th file,
# starting with file K. The last line of the output is a summary.
set -u

# commands [TARGET]...: prints one line per kernel file: its name, followed by nvcc's options
commands() {
    if [ $# -gt 0 ]; then
        ninja -t commands "$@" | sed -n 's/^.*nvcc\.sh compile [^ ]* \(.*\) -MD .* -c \([^ ]*\.cu\) .*/\2 \1/p'
    else
        options=$(ninja -t commands learn-gpu | sed -n 's/^.*nvcc\.sh compile [^ ]* \(.*\) -MD .*\.cu .*/\1/p' | sed 1q)
        for file in exercises/[0-9]*/exercise.cu; do
            echo "$file $options -diag-suppress 177,550" # an unsolved exercise has unused functions and variables
        done
    fi | sed 's/ *$//' | sort -u -k 1,1 # xargs joins a line that ends in a blank to the next line
}

# compile_one FILE OPTION...: compiles a file; prints "ok FILE" or the errors
compile_one() {
    file=$1
    shift
    # shellcheck disable=SC2086 # one option or nothing
    if said=$(sh common/nvcc.sh every "$@" $fast -Werror all-warnings -fatbin "$file" -o "$scratch/$$.fatbin" 2>&1); then
        echo "ok $file"
    else
        echo "FAILED $file"
        echo "$said"
    fi
}

if [ "${1:-}" = --one ]; then
    shift
    compile_one "$@"
    exit
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
fast=$(sh common/nvcc.sh every --help 2>&1 | sed -n 's/^--Ofast-compile .*/--Ofast-compile=mid/p')
export scratch fast
commands "$@" | awk -v share="${SHARE:-0/1}" 'BEGIN { split(share, of, "/") } (NR - 1) % of[2] == of[1]' \
    >"$scratch/commands"
xargs -r -L 1 -P "$(nproc)" sh "$0" --one <"$scratch/commands" | tee "$scratch/said"
files=$(wc -l <"$scratch/commands")
good=$(grep -c '^ok ' "$scratch/said")
echo "$good of $files kernel files compile for ${ARCHITECTURES:-every architecture}, without a warning"
[ "$good" -eq "$files" ] && [ "$files" -gt 0 ]
