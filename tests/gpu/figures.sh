#!/bin/sh
# Builds and runs a small CUDA program that prints figures, one per line: the name, the number and the unit.
#
#   sh tests/gpu/figures.sh cycles|store_rate      tests/gpu/cycles.cu, tests/gpu/store_rate.cu
#
# Prints JSON in the form of docs/results. Exits 1 if the program does not build or finds a wrong result.
set -eu
. "$(dirname "$0")/head.sh"
[ $# -gt 0 ] || {
    echo 'figures.sh: which figures? Either cycles or store_rate' >&2
    exit 2
}
source=tests/gpu/$1.cu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

sh common/nvcc.sh arch "$scratch/arch" >&2
sh common/nvcc.sh compile "$scratch/arch" -std=c++17 -O3 -Icommon "$source" -o "$scratch/program"
"$scratch/program" >"$scratch/figures"
print_head peer "$1" "$source" "sh tests/gpu/figures.sh $1"
printf '  "figures": ['
awk '{ printf "%s\n    {\"figure\": \"%s\", \"value\": %s, \"unit\": \"%s\"}", (NR > 1 ? "," : ""), $1, $2, $3 }' \
    "$scratch/figures"
printf '\n  ]\n}\n'
