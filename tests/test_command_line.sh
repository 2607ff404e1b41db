#!/bin/sh
# The command line of a gate program: every bad argument and file ends with exit 2 and one line that names it, and
# writes nothing; exit codes, formats and output files are as documented.
#
# run: $b/cpu/01_cpu_baseline $b/cpu/02_warp_per_group
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/command_line.sh"
host=$1
simulated=$2
python=$(command -v python3)

# refuses NAME WORDS ARGUMENT...: exit 2, nothing on stdout, one line on stderr that has the words, no output directory
refuses() {
    refuses_name=$1
    refuses_words=$2
    shift 2
    ends_early "$host" --num-tokens 3 "$@"
    matches "$refuses_name: says why" "*: *$refuses_words*" "$said"
    equal "$refuses_name: exit, lines, output, files" "2 1 0 no" "$ended"
}

# --- arguments ---
refuses "experts that do not divide" "--num-expert-group: 256 experts do not divide into 7" --num-expert-group 7
refuses "more groups than there are" "--topk-group: 9 groups cannot stay, there are 8" --topk-group 9
refuses "more experts than the groups hold" "--topk: 129; the 4 kept groups hold 128" --topk 129
refuses "no experts" "--num-experts: 0; it must be 1" --num-experts 0 --dist normal
refuses "no groups" "--num-expert-group: 0; it must be 1" --num-expert-group 0
refuses "no kept groups" "--topk-group: 0; it must be 1" --topk-group 0
refuses "no chosen experts" "--topk: 0; it must be 1" --topk 0
refuses "negative tokens" "--num-tokens: -1; it must be 0" --num-tokens -1
refuses "negative experts" "--num-experts: -4; it must be 1" --num-experts -4 --dist normal
refuses "negative topk" "--topk: -8; it must be 1" --topk -8
refuses "a negative seed" "--seed: -1; it must be 0" --seed -1
refuses "tokens times experts overflow" "--num-tokens: 9000000000000000000 tokens of 256 experts are more bytes" \
    --num-tokens 9000000000000000000
refuses "a count beyond 64 bits" "--num-tokens: 99999999999999999999; it must be" --num-tokens 99999999999999999999
refuses "a count beyond int" "--topk: 4294967304; it must be" --topk 4294967304
refuses "a fraction for a count" "--topk: '2.5' is not a whole number" --topk 2.5
refuses "an empty count" "--topk: '' is not a whole number" --topk ''
refuses "a count with a tail" "--topk: '8x' is not a whole number" --topk 8x
refuses "groups of one with a bias" "--num-expert-group: groups of one" --num-expert-group 256 --topk 4
refuses "an unknown flag" "--frobnicate: no such argument" --frobnicate
refuses "an unknown flag with a value" "--frobnicate=3: no such argument" --frobnicate=3
refuses "an unknown short flag" "-q: no such argument" -q
refuses "a word without a flag" "leftover: unexpected" leftover
refuses "a flag without its value" "--topk: needs a value" --topk
refuses "an unknown type" "--dtype: 'f64'; it must be one of f32, f16, bf16" --dtype f64
refuses "an unknown score" "--score: 'tanh'; it must be one of sigmoid, softmax, none" --score tanh
refuses "an unknown distribution" "--dist: 'pareto'; it must be one of normal" --dist pareto
refuses "an unknown format" "--format: 'xml'; it must be one of table, json, csv" --format xml
refuses "an unknown bias type" "--bias-dtype: 'f64'; it must be one of f32, same" --bias-dtype f64
refuses "renormalise twice" "--renormalize: 2; it must be 0 to 1" --renormalize 2
refuses "a scale that is no number" "--routed-scaling-factor: 'big' is not a finite number" --routed-scaling-factor big
refuses "an infinite scale" "--routed-scaling-factor: 'inf' is not a finite number" --routed-scaling-factor inf
refuses "two inputs" "--dist: the input is --logits" --logits x.npy --dist normal
refuses "another shape than the data's" "--num-experts: 128;" --num-experts 128
refuses "a flush without a benchmark" "--flush-l2: only times know a cache" --flush-l2

# --- files ---
refuses "a missing file" "$scratch/missing.npy: " --logits "$scratch/missing.npy"
refuses "a missing bias" "$scratch/missing.npy: " --bias "$scratch/missing.npy"
refuses "a directory for a file" "$scratch: " --logits "$scratch"

npy good "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 256), }" 2048
succeeds "a file made for this test is read" "$host" --logits "$scratch/good.npy"
npy short "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 256), }" 2047
refuses "truncated data" "$scratch/short.npy: " --logits "$scratch/short.npy"
npy long "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 256), }" 2049
refuses "data left over" "$scratch/long.npy: " --logits "$scratch/long.npy"
npy flat "{'descr': '<f4', 'fortran_order': False, 'shape': (512,), }" 2048
refuses "one dimension for two" "$scratch/flat.npy: has 1 dimension; 2 are needed" --logits "$scratch/flat.npy"
npy deep "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 128), }" 2048
refuses "three dimensions for two" "$scratch/deep.npy: has 3 dimensions; 2 are needed" --logits "$scratch/deep.npy"
npy whole "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 256), }" 2048
refuses "integers for logits" "$scratch/whole.npy: holds integers" --logits "$scratch/whole.npy"
npy wide "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 256), }" 2048
refuses "f8" "$scratch/wide.npy: " --logits "$scratch/wide.npy"
npy fortran "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 256), }" 2048
refuses "Fortran order" "$scratch/fortran.npy: *ortran" --logits "$scratch/fortran.npy"
npy endian "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 256), }" 2048
refuses "big-endian" "$scratch/endian.npy: *endian" --logits "$scratch/endian.npy"
npy lying "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 256), }" 2048
refuses "a shape that overflows" "$scratch/lying.npy: " --logits "$scratch/lying.npy"
npy negative "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 256), }" 2048
refuses "a negative shape" "$scratch/negative.npy: " --logits "$scratch/negative.npy"
npy bias "{'descr': '<f4', 'fortran_order': False, 'shape': (255,), }" 1020
refuses "a bias of the wrong length" "$scratch/bias.npy: has 255 values for 256 experts" --bias "$scratch/bias.npy"
npy none "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 256), }" 0
refuses "no rows to repeat" "$scratch/none.npy: has no rows" --logits "$scratch/none.npy"
printf 'hello' >"$scratch/text.npy"
refuses "no .npy at all" "$scratch/text.npy: " --logits "$scratch/text.npy"
: >"$scratch/empty.npy"
refuses "an empty file" "$scratch/empty.npy: " --logits "$scratch/empty.npy"
printf '\223NUMPY\002\000\166\000\000\000' >"$scratch/two.npy"
refuses "version 2" "$scratch/two.npy: *version 2" --logits "$scratch/two.npy"

# --- what a chapter does not support, and what only a GPU does ---
matches "a limit names its flag and its reason" "*--num-expert*: more than 32 experts in a group*" \
    "$("$simulated" --num-experts 512 --dist normal 2>&1)"
"$simulated" --num-experts 512 --dist normal >/dev/null 2>&1
equal "a limit is bad usage" 2 $?
matches "the simulator has no times" "*--bench: the CPU simulator has no times*" "$("$simulated" --bench 2>&1)"
"$simulated" --bench >/dev/null 2>&1
equal "and says so as bad usage" 2 $?
"$host" --num-tokens 2000000000000 --dist normal >/dev/null 2>"$scratch/err"
equal "too little memory is exit 3" 3 $?
matches "and says so" "*out of memory: * bytes are needed*" "$(cat "$scratch/err")"

# --- outputs ---
succeeds "outputs are written" "$host" --num-tokens 5 --out "$scratch/good"
equal "both of them and nothing else" "topk_ids.npy topk_weights.npy" "$(ls "$scratch/good" | tr '\n' ' ' | sed 's/ $//')"
equal "of the right size" "288 288" "$(for f in topk_ids topk_weights; do wc -c <"$scratch/good/$f.npy" | tr -d ' '; done |
    tr '\n' ' ' | sed 's/ $//')"
: >"$scratch/file"
"$host" --num-tokens 3 --out "$scratch/file" >/dev/null 2>"$scratch/err"
equal "an --out that is a file is bad usage" 2 $?
matches "and named" "*--out: $scratch/file: *" "$(cat "$scratch/err")"
"$host" --num-tokens 3 --out "$scratch/no/such" >/dev/null 2>"$scratch/err"
equal "an --out that cannot be made is bad usage" 2 $?
if [ -c /dev/full ]; then
    "$host" --num-tokens 3 >/dev/full 2>"$scratch/err"
    equal "a full standard output is noticed" 2 $?
fi
(
    ulimit -f 1
    trap '' XFSZ
    "$host" --num-tokens 2048 --out "$scratch/full" >"$scratch/out" 2>"$scratch/err"
    echo $? >"$scratch/code"
)
equal "a full disk is bad usage" 2 "$(cat "$scratch/code")"
equal "and leaves no file behind" "" "$(ls -A "$scratch/full" 2>/dev/null)"
succeeds "no tokens are an ordinary run" "$host" --num-tokens 0 --out "$scratch/zero"
succeeds "on the simulator too" "$simulated" --num-tokens 0

# --- traces ---
"$host" --num-tokens 3 --trace "$scratch/trace.json" >"$scratch/out" 2>"$scratch/err"
equal "a chapter on the host has no trace" "2 1 0" "$? $(wc -l <"$scratch/err" | tr -d ' ') $(wc -c <"$scratch/out" | tr -d ' ')"
matches "and says so" "*: --trace: this chapter computes on the host;*" "$(cat "$scratch/err")"

# no_trace NAME WORDS ARGUMENT...: exit 2, nothing on stdout, one line on stderr that has the words, no file
no_trace() {
    no_trace_name=$1
    no_trace_words=$2
    shift 2
    ends_untraced "$simulated" --num-tokens 3 "$@"
    equal "$no_trace_name: exit, lines, output, files" "2 1 0 " "$ended"
    matches "$no_trace_name: says why" "*: --trace: $no_trace_words*" "$said"
}

no_trace "a trace of a grid" "traces one launch; leave out --check-all" --trace "$scratch/trace.json" --check-all
no_trace "a trace of a benchmark" "traces one launch; leave out --bench" --trace "$scratch/trace.json" --bench
no_trace "a trace of no launch" "no tokens launch nothing" --trace "$scratch/trace.json" --num-tokens 0
no_trace "a trace in no folder" "$scratch/no/such.json: it cannot be written" --trace "$scratch/no/such.json"
no_trace "a trace for a folder" "$scratch: a directory is there" --trace "$scratch"
"$simulated" --num-tokens 1 --format csv >"$scratch/untraced.csv"
succeeds "a trace is written" "$simulated" --num-tokens 1 --trace "$scratch/trace.json"
"$simulated" --num-tokens 1 --format csv --trace "$scratch/again.json" >"$scratch/traced.csv"
succeeds "twice the same" cmp "$scratch/trace.json" "$scratch/again.json"
succeeds "and changes no counter" cmp "$scratch/untraced.csv" "$scratch/traced.csv"
equal "nothing else is left" "again.json trace.json" "$(cd "$scratch" && echo *.json*)"

# in_both COUNTER KIND TIMES: the only block's counter is the number of events
in_both() {
    equal "as many $1 as are counted" "$(awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR == 2 { print $at * '"$3"' }' "$scratch/untraced.csv")" "$(grep -c "\"kind\": \"$2\"" "$scratch/trace.json")"
}

in_both shuffles shuffle 1
in_both votes vote 1
in_both warp_barriers warp_barrier 1
in_both block_barriers block_barrier 8
in_both global_load_requests global_load 1
in_both global_store_requests global_store 1
in_both shared_load_requests shared_load 1
in_both shared_store_requests shared_store 1
(
    ulimit -f 1
    trap '' XFSZ
    "$simulated" --num-tokens 1 --trace "$scratch/full.json" >"$scratch/out" 2>"$scratch/err"
    echo $? >"$scratch/code"
)
equal "a full disk is bad usage for a trace" 2 "$(cat "$scratch/code")"
equal "and leaves no trace behind" "" "$(find "$scratch" -name 'full.json*')"

# --- formats ---
if [ -n "$python" ]; then
    "$simulated" --num-tokens 4 --format json >"$scratch/report.json"
    succeeds "the JSON report is JSON" "$python" -c 'import json, sys; r = json.load(open(sys.argv[1])); \
assert r["verified"] is True and r["counters"]["block_barriers"] == 12 and r["problem"]["topk"] == 8' "$scratch/report.json"
    succeeds "it has the counters of the kernel" "$python" -c 'import json, sys; r = json.load(open(sys.argv[1])); \
assert r["kernels"] == [{"name": "gate_kernel", "counters": r["counters"]}]' "$scratch/report.json"
    "$host" --num-tokens 4 --bench --format json >"$scratch/bench.json"
    succeeds "the JSON benchmark is JSON" "$python" -c 'import json, sys; r = json.load(open(sys.argv[1])); \
assert r["rows"][0]["here"]["median_us"] > 0 and len(r["kernel_source_sha256"]) == 64' "$scratch/bench.json"
else
    skip "the JSON report is JSON" "no python3"
fi
equal "the CSV report has two lines of equal fields" "1" "$("$simulated" --num-tokens 4 --format csv | awk -F, '{print NF}' |
    sort -u | wc -l | tr -d ' ')"
succeeds "--help" "$host" --help
matches "--help names every flag" "*--bias-dtype*--routed-scaling-factor*--flush-l2*" "$("$host" --help | tr '\n' ' ')"
matches "--version" "*MoE routing*" "$("$host" --version)"

# --- what a report gives to repeat a run does repeat it ---
for arguments in "--bias random --num-tokens 3 --seed 4" "--logits $scratch/good.npy --seed 5" \
    "--logits $scratch/good.npy --bias none --score none --routed-scaling-factor 1.2345678" \
    "--dist zipf --num-tokens 5 --num-experts 64 --dtype bf16 --bias-dtype same --bias random --seed 9"; do
    # shellcheck disable=SC2086 # arguments are words
    "$host" $arguments --format json --out "$scratch/once" >"$scratch/once.json"
    again=$(sed -n 's/^  "command": "\(.*\)",$/\1/p' "$scratch/once.json")
    # shellcheck disable=SC2086
    $again --format json --out "$scratch/again" >"$scratch/again.json"
    succeeds "the same report: $arguments" cmp "$scratch/once.json" "$scratch/again.json"
    succeeds "the same answer: $arguments" diff -r "$scratch/once" "$scratch/again"
done
finish
