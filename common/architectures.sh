#!/bin/sh
# Compiles kernels for every architecture that the course supports, or those in $ARCHITECTURES, and keeps nothing. A
# warning is an error.
#
#   sh common/architectures.sh [TARGET]...       the kernels of these Ninja targets; without one, the exercises'
#
# Ninja tells the commands that compile them, and each file is compiled with the same options, once for all
# architectures; a file that several programs are made of is compiled once. The last line is the sum.
set -u

# commands [TARGET]...: a line for each kernel file: its name, then nvcc's options
commands() {
    if [ $# -gt 0 ]; then
        ninja -t commands "$@" | sed -n 's/^.*nvcc\.sh compile [^ ]* \(.*\) -MD .* -c \([^ ]*\.cu\) .*/\2 \1/p'
    else
        options=$(ninja -t commands learn-gpu | sed -n 's/^.*nvcc\.sh compile [^ ]* \(.*\) -MD .*\.cu .*/\1/p' | sed 1q)
        for file in exercises/[0-9]*/exercise.cu; do
            echo "$file $options -diag-suppress 177,550" # what an unsolved exercise does not use yet
        done
    fi | sed 's/ *$//' | sort -u -k 1,1 # xargs takes a line that ends in a blank for half of one
}

# compile_one FILE OPTION...: "ok FILE" or what is wrong
compile_one() {
    file=$1
    shift
    if said=$(sh common/nvcc.sh every "$@" -Werror all-warnings -fatbin "$file" -o "$scratch/$$.fatbin" 2>&1); then
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
export scratch
commands "$@" >"$scratch/commands"
xargs -r -L 1 -P "$(nproc)" sh "$0" --one <"$scratch/commands" | tee "$scratch/said"
files=$(wc -l <"$scratch/commands")
good=$(grep -c '^ok ' "$scratch/said")
echo "$good of $files kernel files compile for ${ARCHITECTURES:-every architecture}, without a warning"
[ "$good" -eq "$files" ] && [ "$files" -gt 0 ]
