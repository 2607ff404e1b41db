#!/bin/sh
# Fuzzes a parser of files or options using libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer (Debian's
# packages clang and libclang-rt-dev).
#
#   sh tests/fuzz.sh TARGET EXECUTIONS    npy, options, rewriter, maps or records (tests/test_fuzz.c); stops at the
#                                         first fault
#   sh tests/fuzz.sh --keep               writes tests/fuzz_inputs.txt from the inputs found: one for each path through
#                                         a parser's code
#
# The inputs found are in build/fuzz/TARGET/found. A run starts from them and from tests/fuzz_inputs.txt.
set -eu
targets='npy options rewriter maps records'
inputs=tests/fuzz_inputs.txt

usage() {
    sed -n 's/^#   //p' "$0" >&2
    exit 2
}

# compile TARGET: builds build/fuzz/TARGET/fuzz without the files that test_fuzz.c includes. The linker must allow
# multiple definitions, because libFuzzer and the simulator define a hook of the same name.
compile() {
    # shellcheck disable=SC2046 # one word per source
    clang -std=c11 -D_GNU_SOURCE -g -O2 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
        -Wno-unknown-pragmas -Icommon -Icommon/simt -DFUZZ="$1" -o "build/fuzz/$1/fuzz" tests/test_fuzz.c \
        $(ls common/base/*.c common/harness/core/*.c common/harness/gate/*.c common/harness/align/*.c \
            common/harness/simt/*.c |
            grep -v align/load.c) \
        exercises/learn/child.c exercises/learn/learner_file.c exercises/learn/progress.c exercises/learn/regions.c \
        -Wl,--allow-multiple-definition build/cpu/libsimt.a -fopenmp=libgomp -lm -ldl -pthread
}

# unpack TARGET: decodes the kept inputs into build/fuzz/TARGET/kept
unpack() {
    sed -n "s/^$1 //p" "$inputs" | while read -r input; do
        echo "$input" | base64 -d >"build/fuzz/$1/kept/$(echo "$input" | sha1sum | cut -c 1-16)"
    done
}

# keep TARGET: prints a minimal set of the kept and found inputs that covers every path that all of them cover
keep() {
    rm -rf "build/fuzz/$1/fewest"
    mkdir "build/fuzz/$1/fewest"
    "build/fuzz/$1/fuzz" -merge=1 -use_counters=0 -max_len=300 "build/fuzz/$1/fewest" "build/fuzz/$1/kept" \
        "build/fuzz/$1/found" >"build/fuzz/$1/log" 2>&1
    for file in "build/fuzz/$1/fewest"/*; do
        echo "$1 $(base64 -w 0 "$file")"
    done
}

if [ "$*" = --keep ]; then
    for target in $targets; do
        keep "$target"
    done >"$inputs.tmp"
    mv "$inputs.tmp" "$inputs"
    exit
fi
[ $# -eq 2 ] || usage
case " $targets " in *" $1 "*) ;; *) usage ;; esac
mkdir -p "build/fuzz/$1/found" "build/fuzz/$1/kept"
ninja build/cpu/libsimt.a >/dev/null
compile "$1"
words=
if [ "$1" = rewriter ]; then # a dictionary of the strings that the rewriter searches for
    words=build/fuzz/rewriter/words
    grep -oh '"[^"%\\ ]\+"' common/simt/rewriter/*.c | sort -u >"$words"
fi
[ ! -f "$inputs" ] || unpack "$1"
# AddressSanitizer keeps freed memory in quarantine; a small quarantine keeps the runs fast.
export ASAN_OPTIONS=quarantine_size_mb=1:malloc_context_size=2
exec "build/fuzz/$1/fuzz" -runs="$2" -max_len=600 ${words:+-dict="$words"} -artifact_prefix="build/fuzz/$1/" \
    -print_final_stats=1 "build/fuzz/$1/found" "build/fuzz/$1/kept"
