#!/bin/sh
# Tests the command line of a gate program. Every bad argument or file results in exit status 2 and one line that names
# it, without an output file; exit codes, formats and output files are as documented.
#
# run: $b/cpu/01_cpu_baseline $b/cpu/02_warp_per_group
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/command_line.sh"
host=$1
simulated=$2
python=$(command -v python3)

# refuses NAME WORDS ARGUMENT...: checks for exit status 2, nothing on stdout, one line with the words on stderr and no
# directory
refuses() {
    refuses_name=$1
    refuses_words=$2
    shift 2
    ends_early "$host" --num-tokens 3 "$@"
    matches "$refuses_name: says why" "*: *$refuses_words*" "$said"
    equal "$refuses_name: exit, lines, output, files" "2 1 0 no" "$ended"
}

# --- arguments ---
refuses "experts that do not divide" \
    "--num-experts: 256 is not a multiple of --num-expert-group (7); for example --num-expert-group 8 (every kernel takes powers of two up to 32, with at most 32 experts in a group)" \
    --num-expert-group 7
refuses "groups that are no power of two where one would do" \
    "--num-experts: 96 is not a multiple of --num-expert-group (5); for example --num-expert-group 4 (every kernel takes powers of two up to 32, with at most 32 experts in a group)" \
    --num-expert-group 5 --num-experts 96 --topk-group 3 --dist normal
refuses "experts that do not divide by the default" \
    "--num-experts: 250 is not a multiple of --num-expert-group (8 by default); for example --num-expert-group 10" \
    --num-experts 250 --dist normal
refuses "a prime number of experts" "--num-experts: 251 is not a multiple of --num-expert-group (8 by default)" \
    --num-experts 251 --dist normal
refuses "more groups than there are" "--topk-group: 9; it must be 1 to 8, the number of groups (--num-expert-group)" --topk-group 9
refuses "more experts than the groups hold" "--topk: 129; it must be 1 to 128, the number of experts in the kept groups (--topk-group, --num-expert-group)" --topk 129
chapters=$(dirname "$simulated")
for topk in 33 200; do
    for chapter in 02_warp_per_group 13a_gate_bound 15_one_launch 17_overlapping_launches; do
        matches "$chapter: --topk $topk: its own limit, which is the smaller one" \
            "$chapter: --topk: $topk is more than 32; *" "$("$chapters/$chapter" --topk $topk 2>&1)"
    done
done
for chapter in 02_warp_per_group 15_one_launch 17_overlapping_launches; do
    matches "$chapter: the limit of the groups, if it is the smaller one" \
        "$chapter: --topk: 40; it must be 1 to [18]*, the number of experts in the kept groups (*" \
        "$("$chapters/$chapter" --topk 40 --topk-group 1 --num-expert-group 16 2>&1)"
done
# reports_kernels PROGRAM WHOSE ARGUMENT...: the report names the fallback if and only if its kernels were launched
reports_kernels() {
    kernels_name=$1
    kernels_whose=$2
    shift 2
    matches "$kernels_name $*: whose kernels" "$kernels_whose" \
        "$("$chapters/$kernels_name" "$@" | sed -n 's/^kernels  *//p')"
    matches "$kernels_name $*: the fallback in JSON" "*\"failure\": \"\",*${kernels_whose:+\"fallback\": }*" \
        "$("$chapters/$kernels_name" "$@" --format json)"
}
for chapter in 13a_gate_bound 13b_gate_lane_per_group 13c_gate_fewer_instructions; do
    reports_kernels $chapter "" --num-tokens 40
    reports_kernels $chapter "the fallback is launched: chapter 05's; *" --num-experts 96 --num-expert-group 4 \
        --topk-group 2 --dist normal --num-tokens 4
done
for chapter in 14a_align_bit_ranks 14b_align_published_counts; do
    reports_kernels $chapter "" --num-tokens 1
    reports_kernels $chapter "" --num-tokens 40
done
reports_kernels 14a_align_bit_ranks "the fallback is launched: chapter 10's; *" --kernel large
reports_kernels 14b_align_published_counts "" --num-tokens 1000
reports_kernels 15_one_launch "" --num-tokens 40
reports_kernels 15_one_launch "the fallback is launched: those of chapters 13c and 14b; *" --num-tokens 1000
for chapter in 16a_layer_bulk_copies 16b_layer_warpgroup_products; do
    reports_kernels $chapter "" --num-tokens 4
    reports_kernels $chapter "the fallback is launched: chapter 11b's; *" --num-tokens 4 --hidden-size 100
done
refuses "no experts" "--num-experts: 0; it must be 1" --num-experts 0 --dist normal
refuses "no groups" "--num-expert-group: 0; it must be 1" --num-expert-group 0
refuses "no kept groups" "--topk-group: 0; it must be 1" --topk-group 0
refuses "no chosen experts" "--topk: 0; it must be 1 or more" --topk 0
refuses "negative tokens" "--num-tokens: -1; it must be 0" --num-tokens -1
refuses "negative experts" "--num-experts: -4; it must be 1" --num-experts -4 --dist normal
refuses "negative topk" "--topk: -8; it must be 1" --topk -8
refuses "a negative seed" "--seed: -1; it must be 0" --seed -1
refuses "tokens times experts overflow" "--num-tokens: 9000000000000000000 tokens of 256 experts are more bytes" \
    --num-tokens 9000000000000000000
refuses "a count beyond 64 bits" "--num-tokens: 99999999999999999999; it must be" --num-tokens 99999999999999999999
refuses "a count beyond int" "--topk: 4294967304; it must be 1 to 2147483647" --topk 4294967304
refuses "a fraction for a count" "--topk: '2.5' is not a whole number" --topk 2.5
refuses "an empty count" "--topk: '' is not a whole number" --topk ''
refuses "a count with a tail" "--topk: '8x' is not a whole number" --topk 8x
refuses "groups of one with a bias" "--num-expert-group: groups of one" --num-expert-group 256 --topk 4
refuses "an unknown flag" "--frobnicate: no such argument" --frobnicate
refuses "an unknown flag with a value" "--frobnicate=3: no such argument" --frobnicate=3
refuses "an unknown short flag" "-q: no such argument" -q
refuses "a misspelt flag" "--num-tokns=3: no such argument; is it --num-tokens? --help lists them" --num-tokns=3
refuses "a word without a flag" "leftover: unexpected" leftover
refuses "a flag without its value" "--topk: needs a value" --topk
refuses "an unknown type" "--dtype: 'f64'; it must be one of f32, f16, bf16" --dtype f64
refuses "an unknown score" "--score: 'tanh'; it must be one of sigmoid, softmax, none" --score tanh
refuses "an unknown distribution" "--dist: 'pareto'; it must be one of normal" --dist pareto
refuses "an unknown format" "--format: 'xml'; it must be one of table, json, csv" --format xml
refuses "an unknown bias type" "--bias-dtype: 'f64'; it must be one of f32, same" --bias-dtype f64
refuses "renormalise twice" "--renormalize: '2'; it must be 0 or 1" --renormalize 2
refuses "renormalise by a word" "--renormalize: 'true'; it must be 0 or 1" --renormalize true
refuses "a scale that is no number" "--routed-scaling-factor: 'big' is not a number" --routed-scaling-factor big
refuses "a scale with a decimal comma" "--routed-scaling-factor: '2,5' is not a number (a decimal point is written '.')" \
    --routed-scaling-factor 2,5
refuses "an infinite scale" "--routed-scaling-factor: 'inf' is not a finite number" --routed-scaling-factor inf
refuses "two inputs" "--dist: the input is --logits" --logits x.npy --dist normal
refuses "another shape than the data's" "--num-experts: 128;" --num-experts 128
refuses "a seed of the real data" "--seed: no input of this run is generated; leave it out" --seed 5
refuses "a seed of files" "--seed: no input of this run is generated; leave it out" --seed 5 --bias none --logits x.npy
refuses "launches on the host" "--launches: this chapter computes on the host; it launches nothing" --launches 3
refuses "an empty name of logits" "--logits: '' is not a file's name" --logits ''
refuses "an empty name of a bias" "--bias: '' is not a file's name" --bias ''
refuses "a flush without a benchmark" "--flush-l2: only times know a cache" --flush-l2

# --- files ---
refuses "a missing file" "$scratch/missing.npy: " --logits "$scratch/missing.npy"
refuses "a missing bias" "--bias: $scratch/missing.npy: No such file or directory; it must be none, random or a .npy file" --bias "$scratch/missing.npy"
refuses "a directory for a file" "$scratch: " --logits "$scratch"

npy good "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 256), }" 2048
succeeds "a file made for this test is read" "$host" --logits "$scratch/good.npy"
npy short "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 256), }" 2047
refuses "truncated data" "$scratch/short.npy: " --logits "$scratch/short.npy"
npy long "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 256), }" 2049
refuses "data left over" "$scratch/long.npy: " --logits "$scratch/long.npy"
npy flat "{'descr': '<f4', 'fortran_order': False, 'shape': (512,), }" 2048
refuses "one dimension for two" "$scratch/flat.npy: has 1 dimension, shape (512,); 2 are needed: \\[tokens, experts\\]" --logits "$scratch/flat.npy"
npy deep "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 128), }" 2048
refuses "three dimensions for two" "$scratch/deep.npy: has 3 dimensions, shape (2, 2, 128); 2 are needed: \\[tokens, experts\\]" --logits "$scratch/deep.npy"
npy whole "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 256), }" 2048
refuses "integers for logits" "$scratch/whole.npy: holds integers; f2 or f4 is needed (array.astype converts)" --logits "$scratch/whole.npy"
npy wide "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 256), }" 2048
refuses "f8" "$scratch/wide.npy: type '<f8'; only '<f2' and '<f4' are read (array.astype converts)" \
    --logits "$scratch/wide.npy"
npy fortran "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 256), }" 2048
refuses "Fortran order" "$scratch/fortran.npy: *ortran" --logits "$scratch/fortran.npy"
npy endian "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 256), }" 2048
refuses "big-endian" "$scratch/endian.npy: *endian" --logits "$scratch/endian.npy"
npy lying "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 256), }" 2048
refuses "a shape that overflows" "$scratch/lying.npy: " --logits "$scratch/lying.npy"
npy negative "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 256), }" 2048
refuses "a negative shape" "$scratch/negative.npy: " --logits "$scratch/negative.npy"
npy bias "{'descr': '<f4', 'fortran_order': False, 'shape': (255,), }" 1020
refuses "a bias of the wrong length" "$scratch/bias.npy: has 255 values for 256 experts; each needs one" --bias "$scratch/bias.npy"
npy none "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 256), }" 0
refuses "no rows to repeat" "$scratch/none.npy: has no rows" --logits "$scratch/none.npy"
printf 'hello' >"$scratch/text.npy"
refuses "no .npy at all" "$scratch/text.npy: " --logits "$scratch/text.npy"
: >"$scratch/empty.npy"
refuses "an empty file" "$scratch/empty.npy: " --logits "$scratch/empty.npy"
printf '\223NUMPY\002\000\166\000\000\000' >"$scratch/two.npy"
refuses "version 2" "$scratch/two.npy: *version 2" --logits "$scratch/two.npy"

# --- limits of a chapter, and options that need a GPU ---
matches "a limit names its flag, its reason and a remedy" \
    "*--num-experts: more than 32 experts in a group; a warp has *; give more groups (--num-expert-group: at least a 32nd of the experts)" \
    "$("$simulated" --num-experts 512 --dist normal 2>&1)"
npy other "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 250), }" 2000
equal "a file with a number of experts that the kernel does not have" \
    "04_bitonic_sort: $scratch/other.npy has 250 experts; the number is a template parameter here, compiled for 64, 128 and 256 (chapter 03 takes others)" \
    "$("$(dirname "$simulated")/04_bitonic_sort" --logits "$scratch/other.npy" 2>&1)"
"$simulated" --num-experts 512 --dist normal >/dev/null 2>&1
equal "a limit is bad usage" 2 $?
equal "the report ends with how to verify other problems" \
    "This verifies one problem; --check-corners verifies others, of unusual sizes and values." \
    "$("$simulated" --num-tokens 3 | tail -n 1)"
matches "the simulator has no times" "*--bench: the CPU simulator has no times; use the program in build/gpu (ninja gpu; needs an NVIDIA GPU)" "$("$simulated" --bench 2>&1)"
"$simulated" --bench >/dev/null 2>&1
equal "and says so as bad usage" 2 $?
"$host" --num-tokens 2000000000000 --dist normal >/dev/null 2>"$scratch/err"
equal "too little memory is exit 3" 3 $?
matches "and says so" \
    "*out of memory: *.[0-9] GB are needed, *.[0-9] [GM]B are available; a smaller problem needs less (--num-tokens, --num-experts)" \
    "$(cat "$scratch/err")"

# --- outputs ---
succeeds "outputs are written" "$host" --num-tokens 5 --out "$scratch/good"
equal "both of them and nothing else" "topk_ids.npy topk_weights.npy" "$(ls "$scratch/good" | tr '\n' ' ' | sed 's/ $//')"
equal "of the right size" "288 288" "$(for f in topk_ids topk_weights; do wc -c <"$scratch/good/$f.npy" | tr -d ' '; done |
    tr '\n' ' ' | sed 's/ $//')"
: >"$scratch/file"
"$host" --num-tokens 3 --out "$scratch/file" >/dev/null 2>"$scratch/err"
equal "an --out that is a file is bad usage" 2 $?
matches "and named" "*--out: $scratch/file is a file; *" "$(cat "$scratch/err")"
"$host" --num-tokens 3 --out "$scratch/no/such" >/dev/null 2>"$scratch/err"
equal "an --out that cannot be made is bad usage" 2 $?
matches "and its parent is named" "*: --out: cannot make the folder $scratch/no/such: $scratch/no does not exist" \
    "$(cat "$scratch/err")"
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

# no_trace NAME WORDS ARGUMENT...: checks for exit status 2, nothing on stdout, one line with the words on stderr and no
# file
no_trace() {
    no_trace_name=$1
    no_trace_words=$2
    shift 2
    ends_untraced "$simulated" --num-tokens 3 "$@"
    equal "$no_trace_name: exit, lines, output, files" "2 1 0 " "$ended"
    matches "$no_trace_name: says why" "*: --trace: $no_trace_words*" "$said"
}

no_trace "a trace of a benchmark" "traces one launch; leave out --bench" --trace "$scratch/trace.json" --bench
no_trace "a trace of no launch" "no tokens launch nothing" --trace "$scratch/trace.json" --num-tokens 0
no_trace "a trace in no folder" "$scratch/no/such.json: it cannot be written: No such file or directory (mkdir -p $scratch/no)" --trace "$scratch/no/such.json"
no_trace "a trace for a folder" "$scratch: a directory is there" --trace "$scratch"
"$simulated" --num-tokens 1 --format csv >"$scratch/untraced.csv"
succeeds "a trace is written" "$simulated" --num-tokens 1 --trace "$scratch/trace.json"
"$simulated" --num-tokens 1 --format csv --trace "$scratch/again.json" >"$scratch/traced.csv"
succeeds "twice the same" cmp "$scratch/trace.json" "$scratch/again.json"
succeeds "and changes no counter" cmp "$scratch/untraced.csv" "$scratch/traced.csv"
equal "nothing else is left" "again.json trace.json" "$(cd "$scratch" && echo *.json*)"

# in_both COUNTER KIND TIMES: checks that TIMES times the only block's counter equals the number of KIND events in the
# trace
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

# --- errors ---
npy bias_nan "{'descr': '<f4', 'fortran_order': False, 'shape': (256,), }" 1020
printf '\000\000\300\177' >>"$scratch/bias_nan.npy"
mkdir "$scratch/a 'b"
cp "$scratch/good.npy" "$scratch/a 'b/$(printf 'c\n\001"\377').npy"
mkfifo "$scratch/pipe"
npy no_experts "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0), }" 0
npy halves "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 256), }" 1024
export scratch
hostile "$host" <<'END'
2|*/no_experts.npy: 0 experts|$P --logits "$scratch/no_experts.npy"
2|*: common/data/router/layer2_logits.npy: not found above the program or here; name the input with --logits|p=$PWD/$P; cp "$p" "$scratch/copy"; cd "$scratch"; ./copy
0||$P --logits "$scratch/halves.npy" | grep -q f16
0||$P --num-tokens 4 --bench --format csv | grep -q median_us
END
hostile "$host" "$simulated" <<'END'
2|*: standard output: cannot be written: No space left on device|$P --num-tokens 3 >/dev/full
2|*: standard output: cannot be written: Bad file descriptor|$P --num-tokens 3 >&-
2|*: standard output: cannot be written: No space left on device|$P --num-tokens 3 --format json >/dev/full
2|*: standard output: cannot be written: No space left on device|$P --help >/dev/full
2|*: standard output: cannot be written: Bad file descriptor|$P --help >&-
2|*: standard output: cannot be written: Bad file descriptor|$P --version >&-
2||$P --num-tokens 3 >&- 2>&- <&-
0||$P --num-tokens 3 <&-
2|*: --check-all: makes its problems itself; leave out --format|$P --check-all --format json
2|*: --check-all: makes its problems itself; leave out --num-tokens; --check-corners or --check-share N takes less time|$P --num-tokens=3 --check-all
2|*: --check-all: makes its problems itself; leave out --dist|$P --seed 1 --dist uniform --check-all
2|*: --check-all: makes its problems itself; leave out --bench|$P --check-all --bench
2|*: --num-tokens: '?3' is not a whole number (leave out the white space)|$P --num-tokens "$(printf '\t3')"
2|*: --num-tokens: '+3' is not a whole number|$P --num-tokens +3
2|*: --num-tokens: '0x3' is not a whole number|$P --num-tokens 0x3
2|*: : unexpected; every argument has a flag, --help lists them|$P ""
2|*: -: no such argument; --help lists them|$P -
2|*: --: no such argument; --help lists them|$P --
2|*: --num: may be more than one argument: --num-tokens, --num-expert-group, --num-fused-shared-experts, --num-experts|$P --num 3
2|*: --check=3: may be more than one argument: --check-all, --check-corners, --check-share|$P --check=3
2|*: --check-corners: makes its problems itself; leave out --format|$P --check-corners --format json
2|*: --check-share: makes its problems itself; leave out --num-tokens|$P --check-share 3 --num-tokens 4
2|*: --check-all: makes its problems itself; leave out --num-tokens; *|$P --check-corners --check-all --num-tokens 4
2|*: --a?b: no such argument; --help lists them|$P "$(printf -- '--a\nb')"
2|*: --bogus: no such argument; --help lists them|$P --bogus --help
2|*: aaa*...*aaa: unexpected; every argument has a flag, --help lists them|$P "$(head -c 100000 /dev/zero | tr '\0' a)"
2|*: --out: cannot make the folder *aaa...aaa*: File name too long|$P --num-tokens 3 --out "$S/$(head -c 1900 /dev/zero | tr '\0' a)"
2|*: --out: '' is not a file's name|$P --num-tokens 3 --out ""
2|*: --out: cannot make the folder /nope/a/b//: /nope/a does not exist|$P --num-tokens 3 --out /nope/a/b//
2|*: --out: cannot make the folder /proc/nowhere: No such file or directory|$P --num-tokens 3 --out /proc/nowhere
2|*: --out: /dev/null is a file; --out needs a folder|$P --num-tokens 3 --out /dev/null
2|*.npy: it cannot be written: Too many open files|ulimit -n 4; mkdir "$S/o"; $P --num-tokens 3 --out "$S/o"; e=$?; rmdir "$S/o"; exit $e
2|*: a device, a pipe or a socket; a regular file is read|$P --logits "$scratch/pipe"
2|*: a device, a pipe or a socket; a regular file is read|$P --bias "$scratch/pipe"
0||$P --num-tokens 2 --bias "$scratch/bias_nan.npy"
0|*|ARGP_HELP_FMT=rmargin=3,bogus timeout 10 $P --help
0||TERM=dumb COLUMNS=1 $P --help
0||env -i $P --num-tokens 3
2|*: OMP_NUM_THREADS: '1,x'; where it is set, it must be 1 to 1024, in digits|OMP_NUM_THREADS=1,x $P --num-tokens 3
2|*: OMP_NUM_THREADS: '100000'; where it is set, it must be 1 to 1024, in digits|OMP_NUM_THREADS=100000 $P --num-tokens 3
2|*: OMP_NUM_THREADS: ''; where it is set, it must be 1 to 1024, in digits|OMP_NUM_THREADS= $P --num-tokens 3
0||OMP_NUM_THREADS=2,1 $P --num-tokens 3
2|*: SIMT_EVENT_LIMIT: '-1'; where it is set, it must be 1 to *|SIMT_EVENT_LIMIT=-1 $P --num-tokens 3
2|*: SIMT_EVENT_LIMIT: '5k'; where it is set, it must be 1 to *|SIMT_EVENT_LIMIT=5k $P --num-tokens 3
2|*: a stack of at most 64 KiB; it must be 1024 or more (ulimit -s)|ulimit -s 64; $P --num-tokens 3
0||ulimit -S -s 64; $P --num-tokens 3
3|*libgomp: Thread creation failed*|OMP_NUM_THREADS=4 OMP_STACKSIZE=100000G $P --num-tokens 3000
3|*: out of memory: * MB are needed, 51.2 MB are available; a smaller problem needs less (--num-tokens, --num-experts)|ulimit -v 50000; $P --num-tokens 100000
END
hostile "$simulated" <<'END'
3|*: out of memory: the simulator reserves 1.3 GiB of address space, and less can be had (*ulimit -v*)|ulimit -v 800000; $P --num-tokens 3
3|*: out of memory: the simulator reserves 1.3 GiB of address space, and less can be had (*ulimit -v*)|ulimit -v 50000; $P --num-tokens 3
2|*: --check-all: makes its problems itself; leave out --trace|$P --check-all --trace "$S/t.json"
2|*: --trace: '' is not a file's name|$P --num-tokens 3 --trace ""
2|*: --trace: *: a device, a pipe or a socket is there; only a regular file is replaced|$P --num-tokens 3 --trace "$scratch/pipe"
2|*: --trace: *: File name too long|$P --num-tokens 3 --trace "$S/$(head -c 250 /dev/zero | tr '\0' a)"
0||ln -s to "$S/from"; echo old >"$S/to"; $P --num-tokens 1 --trace "$S/from"; [ -L "$S/from" ] && grep -q gate_kernel "$S/to"; e=$?; rm "$S/from" "$S/to"; exit $e
END

# Terminates a run with a signal while it writes its trace.
for signal in TERM HUP; do
    mkdir "$scratch/signal"
    "$simulated" --num-tokens 100000 --out "$scratch/signal" --trace "$scratch/signal/t.json" >/dev/null 2>&1 &
    child=$!
    while kill -0 $child 2>/dev/null && [ -z "$(ls -A "$scratch/signal")" ]; do sleep 0.05; done
    matches "SIG$signal: the trace is on its way" 't.json.*.tmp' "$(ls -A "$scratch/signal")"
    kill -s $signal $child
    wait $child 2>/dev/null
    status=$?
    matches "SIG$signal ends the run, and nothing is left" "1[24][39] " "$status $(ls -A "$scratch/signal")"
    rm -rf "$scratch/signal"
done

# write_all COMMAND...: writes two outputs and a trace. After a failed run, all files must still be those of the last
# successful run. Runs fail because a file is too large, because a directory has the file's name, or because the old
# file may not be replaced.
write_all() {
    "$@" --num-tokens 100 --out "$scratch/both" --trace "$scratch/both/t.json" >"$scratch/out" 2>"$scratch/err"
}
mkdir "$scratch/both"
write_all "$simulated"
cp -r "$scratch/both" "$scratch/before"
(
    ulimit -f 2
    write_all "$simulated" --routed-scaling-factor 2
)
equal "a file that is too large for the disk" 2 $?
succeeds "and all are the last run's" diff -r "$scratch/both" "$scratch/before"
rm "$scratch/both/topk_ids.npy"
mkdir "$scratch/both/topk_ids.npy"
write_all "$simulated" --routed-scaling-factor 1
equal "a directory in a file's place" 2 $?
matches "is named" "*/both/topk_ids.npy: a directory is there; only a regular file is replaced" "$(cat "$scratch/err")"
succeeds "and all others are the last run's" cmp "$scratch/both/topk_weights.npy" "$scratch/before/topk_weights.npy"
rmdir "$scratch/both/topk_ids.npy"
cp "$scratch/before/topk_ids.npy" "$scratch/both"
if [ "$(id -u)" -eq 0 ] && unprivileged true 2>/dev/null && chmod 1777 "$scratch/both" &&
    chown 2 "$scratch/both/topk_ids.npy" && chown 3 "$scratch/both"; then
    write_all unprivileged "$simulated" --routed-scaling-factor 1
    equal "a file that may not be replaced" 2 $?
    matches "is named" "*/both/topk_ids.npy: it cannot be written: Operation not permitted" "$(cat "$scratch/err")"
    succeeds "and all are the last run's" diff -r "$scratch/both" "$scratch/before"
else
    skip "a file that may not be replaced" "only root can give files to others, and give up its rights to them"
fi

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
    odd=$(echo "$scratch/a 'b"/*)
    "$host" --logits "$odd" --format json >"$scratch/odd.json"
    succeeds "with any file name" "$python" -c 'import json, os, sys; r = json.load(open(sys.argv[1], encoding="utf-8"))
assert r["input"] == os.fsencode(sys.argv[2]).decode("utf-8", "replace"), r["input"]' "$scratch/odd.json" "$odd"
else
    skip "the JSON report is JSON" "no python3"
fi
equal "the CSV report has two lines of equal fields" "1" "$("$simulated" --num-tokens 4 --format csv | awk -F, '{print NF}' |
    sort -u | wc -l | tr -d ' ')"
"$host" --num-tokens 4 --bench >"$scratch/bench"
matches "a benchmark on the host: of calls, and no line ends in a blank" "*microseconds per call: *  tokens  *  before
*" "$(cat "$scratch/bench")"
equal "no line of a table ends in a blank" "" "$("$simulated" --num-tokens 4 | grep ' $'; grep ' $' "$scratch/bench")"
matches "a time that was not measured is empty in CSV" '*,rotated_us,floor_us,before_us
01_cpu_baseline,4,*.*,*.*,*.*,,,' "$("$host" --num-tokens 4 --bench --format csv)"
matches "numbers have thousands separators" "*problem    2,048 tokens, 256 experts in 8 groups, *" "$("$host")"
matches "also numbers with decimals" "*lanes possible *[0-9],[0-9][0-9][0-9].[0-9][0-9]*" "$("$simulated" --num-tokens 8)"
equal "no tokens: no load" "" "$("$host" --num-tokens 0 | grep '^load')"
matches "what a share of the problems is" \
    "*: [0-9]* of [0-9]* problems verified, one in 500 from problem [0-9]*; the [0-9]* problems have * pairs of corners; the others are not supported" \
    "$("$host" --check-share 500)"
if command -v script >/dev/null; then
    matches "problems are counted on a terminal" "*$(printf '\r')${host##*/}: 7 problems$(printf '\033')?K*" \
        "$(script -qec "$host --check-share 1000" /dev/null)"
else
    skip "problems are counted on a terminal" "no script"
fi
equal "and nowhere else" "" "$("$host" --check-share 1000 2>&1 >/dev/null)"
matches "--help: exit status 3" "*3 no suitable device, or too little memory.*" "$("$host" --help | tr '\n' ' ')"
succeeds "--help" "$host" --help
for program in "$host" "$simulated"; do
    equal "--help: no line of blanks" "" "$("$program" --help | grep '^  *$')"
done
matches "--help names every flag" "*--bias-dtype*--routed-scaling-factor*--flush-l2*" "$("$host" --help | tr '\n' ' ')"
equal "--version: the course, and the compiler" "MoE routing, kernel by kernel: 1.0
compiler: " "$("$host" --version | sed 's/^\(compiler: \)[a-z]* [0-9].*/\1/')"

# --- the command in a report repeats the run ---
for arguments in "--bias random --num-tokens 3 --seed 4" "--logits $scratch/good.npy --seed 5" \
    "--logits $scratch/good.npy --bias none --score none --routed-scaling-factor 1.2345678" \
    "--dist zipf --num-tokens 5 --num-experts 64 --dtype bf16 --bias-dtype same --bias random --seed 9"; do
    # shellcheck disable=SC2086 # one word per argument
    "$host" $arguments --format json --out "$scratch/once" >"$scratch/once.json"
    again=$(sed -n 's/^  "command": "\(.*\)",$/\1/p' "$scratch/once.json")
    # shellcheck disable=SC2086
    $again --format json --out "$scratch/again" >"$scratch/again.json"
    succeeds "the same report: $arguments" cmp "$scratch/once.json" "$scratch/again.json"
    succeeds "the same answer: $arguments" diff -r "$scratch/once" "$scratch/again"
done
mkdir "$scratch/q"
cp "$scratch/good.npy" "$scratch/q/a \$HOME 'b';.npy"
"$host" --logits "$scratch/q/a \$HOME 'b';.npy" --format json >"$scratch/once.json"
eval "$(sed -n 's/^  "command": "\(.*\)",$/\1/p' "$scratch/once.json" | sed 's/\\\\/\\/g') --format json" >"$scratch/again.json"
succeeds "the same report, whatever the file is called" cmp "$scratch/once.json" "$scratch/again.json"
# --- the progress of a long launch, on a terminal only ---
if command -v script >/dev/null; then
    matches "progress on a terminal" "*gate_kernel*: block [1-9]*,[0-9]* of 8,192*" \
        "$(script -qec "$simulated --num-tokens 8192 --format csv >/dev/null" /dev/null)"
else
    skip "progress on a terminal" "no script"
fi
equal "no progress elsewhere" "" "$("$simulated" --num-tokens 4096 --format csv 2>&1 >/dev/null)"
finish
