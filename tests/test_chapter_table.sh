#!/bin/sh
# Tests common/chapter_table.py, which tabulates the chapters' counters, on sample reports embedded in this file.
set -u
. "$(dirname "$0")/tap.sh"
table=$PWD/common/chapter_table.py

mkdir "$scratch/empty"
asks=$(ninja -t commands build/cpu/python3)
equal 'ninja run without Python' 'ninja run: no python3 here; sh common/setup.sh installs it' \
    "$(PATH=$scratch/empty /bin/sh -c "$asks" 2>&1)"
succeeds 'ninja run with Python' sh -c "$asks"

equal "a program's name is a target" 'build/cpu/02_warp_per_group build/gpu/02_warp_per_group build/cpu64/19_sixty_four_lanes' \
    "$(ninja -t query 02_warp_per_group gpu/02_warp_per_group cpu64/19_sixty_four_lanes | sed -n '/input: phony/{n;s/^ *//;p;}' |
        paste -sd ' ')"

cd "$scratch" || exit 1

# report NAME CHAPTER BEFORE VERIFIED PROBLEM COUNTERS [FIELDS]: writes a report with these members
report() {
    echo "{\"chapter\": \"$2\", \"before\": \"$3\", \"verified\": $4, \"problem\": {$5}, \"counters\": {$6}${7:+, $7}}" \
        >"$1.json"
}

# counted LAUNCHES ACTIVE POSSIBLE SHUFFLES BARRIERS LOADED STORED CONFLICTS: prints the members of the counters
counted() {
    printf '"launches": %d, "lanes_active": %d, "lanes_possible": %d, "shuffles": %d, "block_barriers": %d,
        "global_load_sectors": %d, "global_store_sectors": %d, "shared_conflicts": %d' "$@"
}

# tables FILE...: runs common/chapter_table.py; prints its exit status and output
tables() {
    said=$(python3 "$table" "$@" 2>&1)
    printf '%s\n%s\n' $? "$said"
}
gate='"num_tokens": 4, "score": "sigmoid"'
report 01 01_host '' true "$gate" ''
report 02 02_first 01_host true "$gate" "$(counted 1 24 32 100 0 30 10 4)"
report 03 03_second_with_a_long_name 02_first false "$gate" "$(counted 2 16 32 50 8 30 10 0)"
report 06 06_align '' true '"num_tokens": 2048, "topk": 8, "num_experts": 8, "block_size": 64' \
    "$(counted 3 1 1 0 0 7 0 0)" '"load": {"busiest_expert": 5, "ids": 7000}'
echo nothing >no.json

equal 'a gate: per token, the change to the chapter before, one that is not verified' \
    '1
chapter                    verified launches  shuffles     votes  barriers divergent   sectors wavefronts conflicts   atomics   lanes
01_host                    yes             -         -         -         -         -         -          -         -         -       -
02_first                   yes             1     25.00         -      0.00         -     10.00          -      1.00         -   75.0%
03_second_with_a_long_name NO              2     12.50         -      2.00         -     10.00          -      0.00         -   50.0%
  against the last                              -50.0%               +2.00                   =              -100.0%' \
    "$(tables 01.json 02.json 03.json | head -n 6)"
equal 'align: in all, and what the ids are' \
    '0
06_align yes             3         0         0         -         -         -         -         7          -         0  100.0%
Input: 16,384 ids of 8 experts,  slots in whole blocks of 64; expert 5 is the busiest, with 7,000 ids.' \
    "$(tables 06.json | sed -n '1p; /^06/p; /^Input/p')"
report 11 11_layer '' true '"num_tokens": 4, "hidden_size": 7168, "block_size": 64, "num_experts": 2' \
    "$(counted 3 1 1 0 0 7 0 0)" '"bytes": 1601068, "operations": 9437184'
equal 'the layer: what it moves and computes' 'Input: 4 tokens of 7,168, each to  of 2 experts of , ; 1.601 MB to move, 9.437 million operations.' \
    "$(tables 11.json | sed -n '/^Input/p')"
equal 'both, an empty line between' 2 "$(tables 06.json 02.json | grep -c '^chapter ')"
equal 'a file without a report' "2 chapter_table: no.json: no report in it; a chapter's program with --format json prints one" \
    "$(tables 02.json no.json | tr '\n' ' ' | sed 's/ $//')"
equal 'no file' '2 chapter_table: usage: chapter_table.py FILE.json...' "$(tables | tr '\n' ' ' | sed 's/ $//')"
finish
