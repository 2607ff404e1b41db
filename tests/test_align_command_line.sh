#!/bin/sh
# Tests the command line of an align program. Every bad argument or file results in exit status 2 and one line that
# names it, without a launch or an output file; exit codes, formats and output files are as documented.
#
# run: $b/cpu/06_align_serial
#
# This program is used because it has a limit to test: --kernel small supports only a few experts.
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/command_line.sh"
program=$1
name=$(basename "$program")
python=$(command -v python3)

# refuses NAME LINE ARGUMENT...: checks for exit status 2, nothing on stdout, this line on stderr and no output
# directory
refuses() {
    refuses_name=$1
    refuses_line=$2
    shift 2
    ends_early "$program" "$@"
    equal "$refuses_name: says why" "$name: $refuses_line" "$said"
    equal "$refuses_name: exit, lines, output, files" "2 1 0 no" "$ended"
}

# --- the problem ---
refuses "blocks of none" "--block-size: 0; it must be 1 or more" --block-size 0
refuses "blocks below none" "--block-size: -64; it must be 1 or more" --block-size -64
refuses "blocks of a fraction" "--block-size: '1.5' is not a whole number" --block-size 1.5
refuses "blocks beyond int" "--block-size: 4294967360; it must be 1 to 2147483647" --block-size 4294967360
refuses "blocks too large for any array" \
    "--block-size: 2147483647; with its pads, sorted_token_ids would have 4,294,967,294 slots and can have 2147483647; try a smaller one" \
        --block-size 2147483647 --counts 4
refuses "blocks too large for the real data" \
    "--block-size: 1000000000; with its pads, sorted_token_ids would have 257,000,000,000 slots and can have 2147483647; try a smaller one" \
        --block-size 1000000000
refuses "more ids than slots" \
    "--counts: 2147483647 ids; with pads, sorted_token_ids would have 2,147,483,712 slots and can have 2147483647; try fewer" \
        --counts 2147483647
refuses "more tokens than slots" \
    "--num-tokens: 2147483640 ids; with pads, sorted_token_ids would have 2,147,499,776 slots and can have 2147483647; try fewer" \
        --num-tokens 268435455
refuses "a seed of the real data" "--seed: no input of this run is generated; leave it out" --seed 5
refuses "an empty name of ids" "--topk-ids: '' is not a file's name" --topk-ids ''
refuses "an empty name of a map" "--expert-map: '' is not a file's name" --expert-map ''
refuses "negative tokens" "--num-tokens: -1; it must be 0 or more" --num-tokens -1
refuses "more ids than positions" "--num-tokens: 268435456 tokens of 8 ids; there can be 2147483647 ids in all" \
    --num-tokens 268435456
refuses "tokens times topk overflow" \
    "--num-tokens: 9000000000000000000 tokens of 8 ids; there can be 2147483647 ids in all" \
    --num-tokens 9000000000000000000
refuses "no experts" "--num-experts: 0; it must be 1 or more" --num-experts 0 --dist one
refuses "more experts than any model has" "--num-experts: 1048577; it must be 1 to 1048576" --num-experts 1048577 \
    --dist one
refuses "no chosen experts" "--topk: 0; it must be 1 or more" --topk 0
refuses "more chosen experts than the gate has room for" \
    "--topk: 33; the gate that makes the input chooses at most 32 (more need --dist)" --topk 33
refuses "an unknown type of ids" "--ids: 'u8'; it must be one of i32, i64" --ids u8
refuses "a capacity too small" "--capacity: 128; these ids need at least 26368 slots" --capacity 128
refuses "a capacity a block too small" "--capacity: 26304; these ids need at least 26368 slots" --capacity 26304
refuses "no capacity" "--capacity: 0; these ids need at least 3 slots" --counts 1,1,1 --block-size 1 --capacity 0
refuses "a capacity with a part of a block" "--capacity: 32513; it must be a multiple of --block-size 64 that all groups and their pads fit in" \
    --capacity 32513
refuses "a negative capacity" "--capacity: -64; it must be 0 or more" --capacity -64
refuses "a capacity beyond int" "--capacity: 2147483648; it must be 0 to 2147483647" --capacity 2147483648
refuses "an offset past the next 16 bytes" "--misalign: 4; it must be 0 to 3" --misalign 4
refuses "a negative offset" "--misalign: -1; it must be 0 to 3" --misalign -1
refuses "an unknown kernel" "--kernel: 'tiny'; it must be one of auto, large, small" --kernel tiny
refuses "another number of experts than the data's" \
    "--num-experts: 128; $(pwd)/common/data/router/layer2_logits.npy has 256 (another number needs generated input: --dist NAME; --help lists the names)" \
        --num-experts 128
ends_early "$program" --kernel small
matches "a kernel that does not take so many experts: says why" "$name: --num-experts: 256 is more than 96; with --kernel small, *" "$said"
equal "a kernel that does not take so many experts: exit, lines, output, files" "2 1 0 no" "$ended"
ends_early "$program" --num-experts 100000 --dist uniform
matches "more experts than the chapter takes: says why" "$name: --num-experts: 100000 is more than *" "$said"
equal "more experts than the chapter takes: exit, lines, output, files" "2 1 0 no" "$ended"

# --- the input ---
refuses "an unknown distribution" \
    "--dist: 'normal'; it must be one of balanced, uniform, zipf, one, sparse, repeated, invalid" --dist normal
refuses "two inputs" "--counts: the input is --dist already" --dist one --counts 1,2
refuses "two inputs the other way round" "--dist: the input is --counts already" --counts 1,2 --dist one
refuses "a file and a distribution" "--dist: the input is --topk-ids already" --topk-ids x.npy --dist one
refuses "counts of tokens" "--num-tokens: --counts has a number of ids for each expert (0 for none); leave out one of the two" \
    --counts 1,2 --num-tokens 3
refuses "counts of experts" "--num-experts: --counts has a number of ids for each expert (0 for none); leave out one of the two" \
    --num-experts 2 --counts 1,2
refuses "counts of topk" "--topk: --counts has a number of ids for each expert (0 for none); leave out one of the two" --counts 1,2 \
    --topk 1
refuses "no counts" "--counts: '' has no number for expert 0 (the list is empty); 0 is for none" --counts ''
refuses "a count missing" "--counts: '1,,2' has no number for expert 1 (nothing between two commas); 0 is for none" \
    --counts 1,,2
refuses "a first count missing" "--counts: ',2' has no number for expert 0 (nothing before the first comma); 0 is for none" \
    --counts ,2
refuses "a comma too many" "--counts: '1,2,' has no number for expert 2 (nothing after the last comma); 0 is for none" \
    --counts 1,2,
refuses "counts without commas" "20: unexpected; a list is one argument, without spaces, such as 4,1,5,3" --counts 10 20 30
refuses "a count that is none" "--counts: 'two' is not a whole number" --counts 1,two
refuses "a negative count" "--counts: -1; it must be 0 or more" --counts 1,-1
refuses "counts too large" "--counts: more than 2147483647 ids with expert 1's; that is the most there can be" \
    --counts 2147483647,1
refuses "a negative seed" "--seed: -1; it must be 0 or more" --seed -1

# --- files ---
refuses "a missing file" "$scratch/missing.npy: No such file or directory" --topk-ids "$scratch/missing.npy"
refuses "a directory for a file" "$scratch: a directory; a regular file is read" --topk-ids "$scratch"
npy floats "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }" 32
refuses "floats for ids" "$scratch/floats.npy: holds floats; i4 or i8 is needed (array.astype converts)" --topk-ids "$scratch/floats.npy"
npy halves "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 4), }" 16
refuses "halves for ids" "$scratch/halves.npy: holds floats; i4 or i8 is needed (array.astype converts)" --topk-ids "$scratch/halves.npy"
npy deep "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2, 2), }" 32
refuses "three dimensions" "$scratch/deep.npy: has 3 dimensions, shape (2, 2, 2); 1 or 2 are needed: [tokens, topk] or [tokens]" --topk-ids "$scratch/deep.npy"
npy point "{'descr': '<i4', 'fortran_order': False, 'shape': (), }" 4
refuses "no dimension" "$scratch/point.npy: has 0 dimensions, shape (); 1 or 2 are needed: [tokens, topk] or [tokens]" --topk-ids "$scratch/point.npy"
npy narrow "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 0), }" 0
refuses "rows of nothing" "$scratch/narrow.npy: 0 ids in a row; there must be 1 to 2147483647" \
    --topk-ids "$scratch/narrow.npy"
npy none "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 4), }" 0
refuses "no rows to repeat" "$scratch/none.npy: has no rows to repeat for 3 tokens" --topk-ids "$scratch/none.npy" \
    --num-tokens 3
npy short "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 4), }" 63
ends_early "$program" --topk-ids "$scratch/short.npy"
matches "truncated data: says why" "$name: $scratch/short.npy: *" "$said"
equal "truncated data: exit, lines, output, files" "2 1 0 no" "$ended"
integers ids i4 '(3, 2)' 0 1 1 3 1 9
refuses "another topk than the file's" "--topk: 3; $scratch/ids.npy has 2 ids in a row" --topk-ids "$scratch/ids.npy" \
    --topk 3
refuses "a missing map" \
    "--expert-map: $scratch/missing.npy: No such file or directory; it must be none, random or a .npy file" \
        --expert-map "$scratch/missing.npy"
refuses "a map of floats" "$scratch/floats.npy: holds floats; i4 or i8 is needed (array.astype converts)" --expert-map "$scratch/floats.npy"
refuses "a map with two dimensions" "$scratch/ids.npy: has 2 dimensions, shape (3, 2); 1 is needed: [experts]" --expert-map "$scratch/ids.npy"

# bad_map NAME LINE TYPE NUMBER...: checks that these numbers are rejected as a map of four experts
bad_map() {
    bad_map_name=$1
    bad_map_line=$2
    bad_map_type=$3
    shift 3
    integers map "$bad_map_type" "($#,)" "$@"
    refuses "$bad_map_name" "--expert-map: $bad_map_line" --num-experts 4 --dist uniform --topk 2 \
        --expert-map "$scratch/map.npy"
}

bad_map "a map too short" "3 values for 4 experts; each needs one, its local number or -1" i4 0 1 2
bad_map "a map too long" "5 values for 4 experts; each needs one, its local number or -1" i8 0 1 2 3 4
bad_map "a local expert beyond the last" "2 at index 3; the 2 local experts are 0 to 1, each once, and others are -1" \
    i4 0 -1 -1 2
bad_map "a local expert below none" "-2 at index 1; the 3 local experts are 0 to 2, each once, and others are -1" i8 0 \
    -2 1 -1
bad_map "a local expert twice" "1 at index 3 and at index 1; the 3 local experts are 0 to 2, each once, and others are -1" \
    i4 0 1 -1 1
bad_map "a local expert beyond i32" "4294967296 at index 0; a local expert is below 4, others are -1" i8 4294967296 0 \
    1 2

# --- arguments that exclude each other ---
refuses "an unknown flag" "--frobnicate: no such argument; --help lists them" --frobnicate
refuses "the gate's flags" "--num-expert-group: no such argument; --help lists them" --num-expert-group 8
refuses "a list with spaces" "1,: unexpected; a list is one argument, without spaces, such as 4,1,5,3" \
    --counts 4, 1, 5, 3 --block-size 3
refuses "a list with spaces before its commas" ",1: unexpected; a list is one argument, without spaces, such as 4,1,5,3" \
    --counts 4 ,1 ,5
refuses "a word without a flag" "leftover: unexpected; every argument has a flag, --help lists them" leftover
refuses "a flag without its value" "--block-size: needs a value" --block-size
refuses "an unknown format" "--format: 'xml'; it must be one of table, json, csv" --format xml
refuses "a flush without a benchmark" "--flush-l2: only times know a cache; add --bench" --flush-l2
refuses "a benchmark with outputs" "--out: a benchmark writes no arrays; leave out --bench" --bench
refuses "a capacity and room" "--room: --capacity says how much there is; leave out one of the two" --room exact \
    --capacity 26368
refuses "a sweep with one capacity" "--capacity: every size of a sweep has its own; add --num-tokens" --bench \
    --capacity 64

# no_trace NAME LINE ARGUMENT...: checks for exit status 2, nothing on stdout, this line on stderr and no file
no_trace() {
    no_trace_name=$1
    no_trace_line=$2
    shift 2
    ends_untraced "$program" --num-tokens 3 "$@"
    equal "$no_trace_name: says why" "$name: $no_trace_line" "$said"
    equal "$no_trace_name: exit, lines, output, files" "2 1 0 " "$ended"
}

no_trace "no times on the simulator" "--bench: the CPU simulator has no times; use the program in build/gpu (ninja gpu; needs an NVIDIA GPU)" --bench
no_trace "a trace of a benchmark" "--trace: traces one launch; leave out --bench" --trace "$scratch/trace.json" --bench
no_trace "a trace for a folder" "--trace: $scratch: a directory is there; only a regular file is replaced" \
    --trace "$scratch"
no_trace "a kernel to trace and no trace" "--trace-kernel: says what --trace traces; add --trace FILE.json" \
    --trace-kernel align_kernel
ends_untraced "$program" --num-tokens 3 --trace "$scratch/trace.json" --trace-kernel gate
matches "a trace of a kernel that is not launched: says which were" \
    "$name: --trace-kernel: no kernel 'gate' was launched; launched: *align_kernel*" "$said"
equal "a trace of a kernel that is not launched: exit, lines, output, files" "2 1 0 " "$ended"
succeeds "a trace is written" "$program" --num-tokens 3 --trace "$scratch/trace.json"
matches "of align's first kernel" '{"kernel": "*chapters/[01][0-9]_align_*' \
    "$(head -n 3 "$scratch/trace.json" | tr '\n' ' ')"
succeeds "a trace of a later kernel" "$program" --num-tokens 3 --kernel large --trace "$scratch/trace.json" \
    --trace-kernel scatter_kernel
matches "is of that kernel" '{"kernel": "scatter_kernel<*' "$(head -n 1 "$scratch/trace.json")"
rm -f "$scratch/trace.json"
succeeds "no tokens have a trace too" "$program" --num-tokens 0 --trace "$scratch/trace.json"

# --- ordinary runs ---
succeeds "no tokens" "$program" --num-tokens 0
succeeds "no tokens of any expert" "$program" --counts 0,0,0
succeeds "one expert" "$program" --num-experts 1 --topk 1 --dist one
succeeds "2048 experts" "$program" --num-experts 2048 --dist uniform
succeeds "an expert several times in a token" "$program" --num-experts 3 --topk 8 --dist repeated
succeeds "no local expert" "$program" --num-experts 1 --dist one --expert-map random
succeeds "the small kernel" "$program" --num-experts 16 --dist uniform --num-tokens 30 --kernel small
succeeds "the large kernel for few ids" "$program" --num-experts 16 --dist uniform --num-tokens 30 --kernel large
succeeds "a capacity of just what is needed" "$program" --capacity 26368
matches "room for just what is needed" "padded *26,368 of 26,368 slots*" "$("$program" --room exact | sed -n 5p)"
matches "and more room than the chapter makes" "padded *26,368 of 32,832 slots*" \
    "$("$program" --room spare | sed -n 5p)"

# --- outputs ---
: >"$scratch/file"
"$program" --num-tokens 3 --out "$scratch/file" >/dev/null 2>"$scratch/err"
equal "an --out that is a file is bad usage" "2 $name: --out: $scratch/file is a file; --out needs a folder" "$? $(cat "$scratch/err")"
"$program" --num-tokens 3 --out "$scratch/no/such" >/dev/null 2>"$scratch/err"
equal "an --out that cannot be made is bad usage" "2 $name: --out: cannot make the folder $scratch/no/such: $scratch/no does not exist" \
    "$? $(cat "$scratch/err")"
succeeds "outputs are written" "$program" --topk-ids "$scratch/ids.npy" --num-experts 4 --block-size 3 \
    --out "$scratch/good"
equal "all three and nothing else" "expert_ids.npy num_tokens_post_padded.npy sorted_token_ids.npy" \
    "$(cd "$scratch/good" && echo *)"

equal "of ids beyond the experts the user is told" \
    "$name: $scratch/ids.npy: 1 of 6 ids names no expert (0 to 3 do; the largest is 9); is --num-experts right?" \
    "$("$program" --topk-ids "$scratch/ids.npy" --num-experts 4 2>&1 >"$scratch/out")"
integers marked i4 '(2, 2)' 0 -1 3 -1
equal "but not of ids that a negative number marks" "" \
    "$("$program" --topk-ids "$scratch/marked.npy" --num-experts 4 2>&1 >"$scratch/out")"

# Ids 0 1, 1 3, 1 9: expert 0 has position 0, expert 1 positions 1, 2 and 4, expert 3 position 3; 9 names no expert.
equal "the padded size" 9 "$(numbers "$scratch/good/num_tokens_post_padded.npy")"
equal "the blocks' experts" "0 1 3 -1 -1" "$(numbers "$scratch/good/expert_ids.npy" | cut -d ' ' -f 1-5)"
places=$(numbers "$scratch/good/sorted_token_ids.npy")
equal "expert 0's block" "0 6 6" "$(echo "$places" | cut -d ' ' -f 1-3)"
equal "expert 1's block, in any order" "1 2 4" \
    "$(echo "$places" | cut -d ' ' -f 4-6 | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//')"
equal "expert 3's block, and pads to the end" "3 6 6 6 6 6 6 6 6" "$(echo "$places" | cut -d ' ' -f 7-15)"
integers map i8 '(4,)' 1 -1 2 0
succeeds "with a map" "$program" --topk-ids "$scratch/ids.npy" --num-experts 4 --block-size 3 \
    --expert-map "$scratch/map.npy" --out "$scratch/mapped"
equal "the blocks' local experts" "1 -1 0 -1 -1" "$(numbers "$scratch/mapped/expert_ids.npy" | cut -d ' ' -f 1-5)"
succeeds "the map moves nothing" cmp "$scratch/good/sorted_token_ids.npy" "$scratch/mapped/sorted_token_ids.npy"
integers wide i8 '(6,)' 0 1 1 3 1 4294967297
succeeds "i64 ids in a row, one beyond 32 bits" "$program" --topk-ids "$scratch/wide.npy" --num-experts 4 \
    --block-size 3 --out "$scratch/wide"
succeeds "come to the same" cmp "$scratch/good/sorted_token_ids.npy" "$scratch/wide/sorted_token_ids.npy"
succeeds "more tokens than rows" "$program" --topk-ids "$scratch/ids.npy" --num-experts 4 --num-tokens 7 \
    --block-size 1 --out "$scratch/more"
equal "repeat them" 12 "$(numbers "$scratch/more/num_tokens_post_padded.npy")"
succeeds "fewer tokens than rows" "$program" --topk-ids "$scratch/ids.npy" --num-experts 4 --num-tokens 1 \
    --block-size 1 --out "$scratch/less"
equal "leave some out" "0 1" "$(numbers "$scratch/less/expert_ids.npy" | cut -d ' ' -f 1-2)"
(
    ulimit -f 1
    trap '' XFSZ
    "$program" --out "$scratch/full" >"$scratch/out" 2>"$scratch/err"
    echo $? >"$scratch/code"
)
equal "a full disk is bad usage" 2 "$(cat "$scratch/code")"
equal "and leaves no file behind" "" "$(ls -A "$scratch/full" 2>/dev/null)"

# --- errors ---
mkfifo "$scratch/pipe"
integers huge i8 '(3, 2)' 9223372036854775807 -9223372036854775807 -1 256 255 0
export scratch
hostile "$program" <<'END'
2|*: standard output: cannot be written: No space left on device|$P --num-tokens 3 >/dev/full
2|*: standard output: cannot be written: Bad file descriptor|$P --num-tokens 3 >&-
2|*: standard output: cannot be written: Bad file descriptor|$P --help >&-
2|*: --check-all: makes its problems itself; leave out --out|$P --check-all --out "$S/o"
2|*: --check-all: makes its problems itself; leave out --trace|$P --check-all --trace "$S/t.json"
2|*: --check-all: makes its problems itself; leave out --kernel|$P --kernel small --check-all
2|*: --counts: '?1' is not a whole number (leave out the white space)|$P --counts "1,$(printf '\n1')"
2|*: --counts: '+1' is not a whole number|$P --counts +1
2|*: a device, a pipe or a socket; a regular file is read|$P --topk-ids "$scratch/pipe"
2|*: a device, a pipe or a socket; a regular file is read|$P --expert-map "$scratch/pipe"
0|*huge.npy: 4 of 6 ids name no expert (0 to 255 do; *|$P --topk-ids "$scratch/huge.npy"
2|*: --block-size: 2147483648; it must be 1 to 2147483647|$P --block-size 2147483648
2|*.npy: it cannot be written: Too many open files|ulimit -n 5; mkdir "$S/o"; $P --num-tokens 3 --out "$S/o"; e=$?; rmdir "$S/o"; exit $e
3|*: out of memory: * of device memory are needed, * are available; a smaller problem needs less (--num-tokens, --counts, --block-size)|ulimit -v 4000000; timeout 5 $P --counts 1000000,400000000
3|*: out of memory: the simulator reserves 1.3 GiB of address space, and less can be had (*ulimit -v*)|ulimit -v 800000; $P --dist uniform --num-tokens 3
2|*: OMP_NUM_THREADS: '0'; where it is set, it must be 1 to 1024, in digits|OMP_NUM_THREADS=0 $P --num-tokens 3
END

# --- reports ---
report=$("$program" --topk-ids "$scratch/ids.npy" --num-experts 4 --block-size 3 --capacity 15 \
    --expert-map "$scratch/map.npy" |
    sed -n '2,8p')
equal "the report" "problem    3 tokens, top 2: 6 i32 ids of 4 experts in blocks of 3, 15 slots
input      $scratch/ids.npy
verified   yes: 15 slots, the experts of 5 blocks, the padded size
padded     9 of 15 slots: 3 blocks with 5 ids and 4 pads (44.4 %)
load       expert 1 is the busiest: 3 of 5 ids (60.0 %, 2.4 times the mean); 1 expert gets none
map        3 of 4 experts are local; a block of any other is -1
skipped    1 id, which names no expert" "$report"
equal "the report of nothing" "padded     0 of 12 slots: no id names an expert" \
    "$("$program" --counts 0,0,0,0 --block-size 4 --capacity 12 | sed -n 5p)"
if [ -n "$python" ]; then
    "$program" --num-tokens 4 --format json >"$scratch/report.json"
    succeeds "the JSON report is JSON" "$python" -c 'import json, sys; r = json.load(open(sys.argv[1])); \
assert r["verified"] is True and r["problem"]["block_size"] == 64 and r["num_tokens_post_padded"] % 64 == 0 \
and sum(k["counters"]["launches"] for k in r["kernels"]) == r["counters"]["launches"]' "$scratch/report.json"
else
    skip "the JSON report is JSON" "no python3"
fi
equal "the CSV report has two lines of equal fields" "1" \
    "$("$program" --num-tokens 4 --format csv | awk -F, '{print NF}' |
    sort -u | wc -l | tr -d ' ')"
matches "every corner is supported" "$name: [0-9]* problems verified, with 153 of 153 corners
*" "$("$program" --check-corners)"
matches "numbers have thousands separators" \
    "*problem    2,048 tokens, top 8: 16,384 i32 ids of 256 experts in blocks of 64, 32,512 slots*" "$("$program")"
succeeds "--help" "$program" --help
equal "--help: no line of blanks" "" "$("$program" --help | grep '^  *$')"
matches "--help names every flag" "*--block-size*--capacity*--counts*--flush-l2*" "$("$program" --help | tr '\n' ' ')"
matches "--version" "*MoE routing*" "$("$program" --version)"

# --- the command in a report repeats the run ---
for arguments in "--num-tokens 5 --ids i64 --misalign 3" \
    "--dist zipf --num-tokens 9 --num-experts 33 --expert-map random --seed 7" \
    "--counts 3,0,2 --block-size 2 --kernel large --seed 3" \
        "--topk-ids $scratch/ids.npy --num-experts 4 --capacity 384" \
    "--counts 3,0,2 --room exact"; do
    # shellcheck disable=SC2086 # one word per argument
    "$program" $arguments --format json --out "$scratch/once" >"$scratch/once.json"
    again=$(sed -n 's/^  "command": "\(.*\)",$/\1/p' "$scratch/once.json")
    # shellcheck disable=SC2086
    $again --format json --out "$scratch/again" >"$scratch/again.json"
    succeeds "the same report: $arguments" cmp "$scratch/once.json" "$scratch/again.json"
    succeeds "the same answer: $arguments" cmp "$scratch/once/sorted_token_ids.npy" \
        "$scratch/again/sorted_token_ids.npy"
done
finish
