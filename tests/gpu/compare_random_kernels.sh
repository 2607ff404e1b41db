#!/bin/sh
# Runs random kernels (tests/random_kernels) on a GPU and on the simulator and compares all words that they write.
#
#   sh tests/gpu/compare_random_kernels.sh both COUNT [SEED]        runs both on this machine; needs a GPU and nvcc
#   sh tests/gpu/compare_random_kernels.sh gpu COUNT [SEED]         prints the results of one of the two:
#   sh tests/gpu/compare_random_kernels.sh simulator COUNT [SEED]   the seed, then a line for each kernel
#   sh tests/gpu/compare_random_kernels.sh compare FILE FILE        compares two files of such results
#
# The kernels are numbers 0 to COUNT - 1 of SEED (default 1). They are divided into programs of 50 kernels, which are
# built and run in $FOLDER (default $BUILD/random_kernels), in parallel, one per processor. Build the simulator first,
# with ninja, in $BUILD (default build). FMA contraction is off on both devices (-fmad=false on the GPU), so that every
# product and every sum is rounded separately.
set -u
build=${BUILD:-build}
folder=${FOLDER:-$build/random_kernels}
per_program=50

fail() {
    echo "compare_random_kernels.sh: $*" >&2
    exit 1
}

usage() {
    sed -n 's/^#   //p' "$0" >&2
    exit 2
}

# prepare simulator|gpu: sets the commands that compile a file and link a program, and compiles run.c
prepare() {
    mkdir -p "$folder/$1" || exit 1
    if [ "$1" = gpu ]; then
        sh common/nvcc.sh arch "$folder/arch" >&2 || exit 1
        compile="sh common/nvcc.sh compile $folder/arch -std=c++17 -O3 -fmad=false -w -Itests -Icommon"
        compile_host="sh common/nvcc.sh compile $folder/arch -Xcompiler -std=c11,-D_GNU_SOURCE,-O2"
        link="sh common/nvcc.sh compile $folder/arch"
        libraries=
    else
        libraries="$build/cpu/libsimt.a $build/cpu/libbase.a"
        for file in $libraries "$build/cpu/rewrite_launch"; do
            [ -e "$file" ] || fail "$file is missing: build it with ninja"
        done
        # Compile with the same options as other kernel files but with less debug information.
        compile=$(ninja -t commands "$build/tests/obj/bench_kernels.o" | sed -n '$s/ -MMD .*//p' |
            sed 's/ -gdwarf-4 / -gdwarf-4 -g1 /; s/ -W[a-z=-]*//g')
        compile="$compile -w -ffp-contract=off -Itests -MMD -MF $folder/$1/NUMBER.d"
        compile_host='gcc -std=c11 -D_GNU_SOURCE -O2 -Icommon/simt'
        link=g++
        libraries="$libraries -fopenmp -lm -ldl -pthread"
    fi
    $compile_host -Icommon -c tests/random_kernels/run.c -o "$folder/$1/run.o" >&2 || exit 1
    export compile link libraries
}

# run_program simulator|gpu COUNT SEED FIRST: builds and runs the program whose first kernel is FIRST
run_program() {
    program=$folder/$1/$4
    count=$(($2 - $4))
    [ "$count" -le "$per_program" ] || count=$per_program
    python3 -B tests/random_kernels/generate.py --seed "$3" --first "$4" --count "$count" >"$program.cu" &&
        # shellcheck disable=SC2086 # must split into words
        $(echo "$compile" | sed "s|NUMBER|$4|") -c "$program.cu" -o "$program.o" >&2 &&
        $link "$program.o" "$folder/$1/run.o" $libraries -o "$program" >&2 && "$program" >"$program.txt"
}

# run_all simulator|gpu COUNT SEED: prints the results of all kernels
run_all() {
    prepare "$1"
    seq 0 "$per_program" $(($2 - 1)) >"$folder/$1/first"
    xargs -P "$(nproc)" -I FIRST sh "$0" --program "$1" "$2" "$3" FIRST <"$folder/$1/first" ||
        echo "compare_random_kernels.sh: not all kernels ran on the $1" >&2
    echo "seed $3"
    while read -r first; do
        cat "$folder/$1/$first.txt"
    done <"$folder/$1/first"
}

# compare FILE FILE: prints which kernels' results differ and how many agree; fails unless all agree
compare() {
    awk '
        FNR == 1 { seed[++files] = $0; next }
        files == 1 { first[$1] = $0; if ($1 >= end) end = $1 + 1; next }
        { second[$1] = $0; if ($1 >= end) end = $1 + 1 }
        END {
            if (seed[1] != seed[2]) {
                print "the seeds differ: " seed[1] ", " seed[2]
                exit 1
            }
            for (i = 0; i < end; i++) {
                one = i in first ? first[i] : i " has no result"
                other = i in second ? second[i] : i " has no result"
                if (one == other && i in first)
                    equal++
                else
                    print one " and " other ": python3 tests/random_kernels/generate.py --" seed[1] " --only " i
            }
            printf "%d of %d kernels equal\n", equal, end
            exit equal != end || end == 0
        }' "$1" "$2"
}

case ${1:-} in
--program)
    shift
    run_program "$@"
    exit
    ;;
compare)
    [ $# -eq 3 ] || usage
    compare "$2" "$3"
    exit
    ;;
esac
[ $# -eq 2 ] || [ $# -eq 3 ] || usage
case $2${3:-1} in *[!0-9]*) usage ;; esac
[ "$2" -gt 0 ] || usage
case $1 in
gpu | simulator) run_all "$1" "$2" "${3:-1}" ;;
both)
    for machine in gpu simulator; do
        (run_all "$machine" "$2" "${3:-1}") >"$folder.$machine" || exit 1
    done
    compare "$folder.gpu" "$folder.simulator"
    ;;
*) usage ;;
esac
