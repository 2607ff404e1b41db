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

cd "$scratch" || exit 1

# report NAME FIELDS VALUES: writes a report
report() { printf '%s\n' "$2" "$3" >"$1.csv"; }

# tables FILE...: runs common/chapter_table.py; prints its exit status and output
tables() {
    said=$(python3 "$table" "$@" 2>&1)
    printf '%s\n%s\n' $? "$said"
}
gate=chapter,before,verified,num_tokens,score
counted=launches,lanes_active,lanes_possible,shuffles,block_barriers,global_load_sectors,global_store_sectors,shared_conflicts
report 01 $gate 01_host,,yes,4,sigmoid
report 02 $gate,$counted 02_first,01_host,yes,4,sigmoid,1,24,32,100,0,30,10,4
report 03 $gate,$counted '03_second_with_a_long_name,02_first,no,4,"sigmoid, ""twice""",2,16,32,50,8,30,10,0'
report 06 chapter,before,verified,num_tokens,block_size,numel,num_experts,$counted \
    06_align,,yes,4,64,16384,8,3,1,1,0,0,7,0,0
echo nothing >no.csv

equal 'a gate: per token, the change to the chapter before, one that is not verified' \
    '1
chapter                    verified launches  shuffles     votes  barriers divergent   sectors wavefronts conflicts   atomics   lanes
01_host                    yes             -         -         -         -         -         -          -         -         -       -
02_first                   yes             1     25.00         -      0.00         -     10.00          -      1.00         -   75.0%
03_second_with_a_long_name NO              2     12.50         -      2.00         -     10.00          -      0.00         -   50.0%
  against the last                              -50.0%               +2.00                   =              -100.0%' \
    "$(tables 01.csv 02.csv 03.csv | head -n 6)"
equal 'align: in all, and what the ids are' \
    '0
06_align yes             3         0         0         -         -         -         -         7          -         0  100.0%
Input: 16,384 ids of 8 experts,  slots in whole blocks of 64; expert  is the busiest, with  ids.' \
    "$(tables 06.csv | sed -n '1p; /^06/p; /^Input/p')"
report 11 chapter,before,verified,num_tokens,hidden_size,bytes,operations,$counted \
    11_layer,,yes,4,7168,1601068,9437184,3,1,1,0,0,7,0,0
equal 'the layer: what it moves and computes' 'Input: 4 tokens of 7,168, each to  of  experts of , ; 1.601 MB to move, 9.437 million operations.' \
    "$(tables 11.csv | sed -n '/^Input/p')"
equal 'both, an empty line between' 2 "$(tables 06.csv 02.csv | grep -c '^chapter ')"
equal 'a file without a report' "2 chapter_table: no.csv: no report in it; a chapter's program with --format csv prints one" \
    "$(tables 02.csv no.csv | tr '\n' ' ' | sed 's/ $//')"
equal 'no file' '2 chapter_table: usage: chapter_table.py FILE.csv...' "$(tables | tr '\n' ' ' | sed 's/ $//')"
finish
