#!/bin/sh
# What ninja tables writes: in the course's Markdown it is what docs/results gives and the programs print; and the program that
# writes it.
#
# run: $b/cpu/tables $b/tests/simt/scan_tree
. tests/tap.sh
tables=$(realpath "$1")
scan_tree=$(realpath "$2")
programs=$(dirname "$tables")

succeeds 'the tables in README.md and chapters/ are what is recorded and printed' \
    "$tables" --check --programs "$programs" --runs "$programs/../run" README.md chapters/*/README.md

# A course of four chapters, two of them with recorded times.
results=$scratch/docs/results/h200
mkdir -p "$results"
for chapter in 01_cpu_baseline 02_first 03_second 04_third; do
    mkdir -p "$scratch/chapters/$chapter"
    echo "$chapter" >"$scratch/chapters/$chapter/gate.cu"
done
echo 01 >"$scratch/chapters/01_cpu_baseline/gate.c"
echo 01 >"$scratch/chapters/01_cpu_baseline/grouped_topk.py"

mkdir -p "$scratch/tests/peers"
echo cub >"$scratch/tests/peers/cub_align.cu"

hash_of() { sha256sum "$scratch/chapters/$1" | cut -d ' ' -f 1; }

# record CHAPTER BEFORE ROWS: a file as --bench writes it
record() {
    cat >"$results/$1_f32.json" <<END
{"chapter": "$1", "before": "$2", "device": "GPU", "toolkit": "CUDA 1.2", "command": "gpu/$1 --bench",
 "date": "2026-01-0${1%%_*}T01:02:03Z", "kernel_source_sha256": "$(hash_of "$1/gate.cu")", "distribution": "router",
 "cache": "warm", "problem": {"dtype": "f32"}, "rows": [$3]}
END
    sed -i 's/2026-01-00/2026-01-0/' "$results/$1_f32.json"
}

record_both() {
    record 02_first 01_cpu_baseline '{"num_tokens": 1, "here": {"median_us": 5.6032}, "before": {"median_us": 12345.6},
        "floor_us": 0.5}, {"num_tokens": 16, "here": {"median_us": 99.94}}, {"num_tokens": 64, "here": {"median_us": 99.96}}'
    record 03_second 02_first '{"num_tokens": 65536, "here": {"median_us": 0.04567}}'
    cat >"$results/pytorch_gate_f32.json" <<END
{"device": "GPU", "toolkit": "CUDA 1.2", "command": "python3 gate.py --out a/b.json", "date": "2026-01-02", "problem": {"dtype": "f32"},
 "kernel_source_sha256": "$(hash_of 01_cpu_baseline/grouped_topk.py)",
 "launches": {"eager": {"least": 15, "most": 15}, "compiled": {"least": 3, "most": 4}},
 "rows": [{"num_tokens": 512, "eager_stream": {"median_us": 170.4}, "eager_graph": {"median_us": 1999.9},
           "compiled_stream": null, "compiled_graph": {"median_us": -1}}]}
END
}

# tables ARGUMENT...: the exit status, and what the program said
tables() {
    said=$(cd "$scratch" && "$tables" "$@" 2>&1)
    echo "$?${said:+ $said}"
}

# page LINE...: a.md
page() {
    printf '%s\n' "$@" >"$scratch/a.md"
}

# shellcheck disable=SC2016 # these quotes are Markdown's
all='| tokens | 1 | 16 | 64 | 512 | 4,096 | 16,384 | 65,536 |
|---|---:|---:|---:|---:|---:|---:|---:|
| PyTorch, eager, in a stream (15 launches) | - | - | - | 170 | - | - | - |
| PyTorch, eager, in a graph (15 launches) | - | - | - | 2,000 | - | - | - |
| PyTorch, compiled, in a stream (3 to 4 launches) | - | - | - | - | - | - | - |
| PyTorch, compiled, in a graph (3 to 4 launches) | - | - | - | - | - | - | - |
| 01_cpu_baseline, on the host | 12,300 | - | - | - | - | - | - |
| 02_first | 5.60 | 99.9 | 100 | - | - | - | - |
| 03_second | - | - | - | - | - | - | 0.0457 |
| floor | 0.500 | - | - | - | - | - | - |

GPU, CUDA 1.2, recorded on 2026-01-02 and 2026-01-03 by `gpu/NAME --bench` and `python3 gate.py`.'

record_both
page before '<!-- times: f32 -->' 'what it was' '<!-- end -->' after
equal 'a table that is not as recorded' \
    '1 tables: a.md:3: this is not what would be written now: ninja tables writes it anew' "$(tables --check a.md)"
equal '--check writes nothing' 'what it was' "$(sed -n 3p "$scratch/a.md")"
chmod 640 "$scratch/a.md"
equal 'it is written' 0 "$(tables a.md)"
equal 'the whole table, the text around it kept' "before
<!-- times: f32 -->

$all

<!-- end -->
after" "$(cat "$scratch/a.md")"
equal 'the file keeps its rights' 640 "$(stat -c %a "$scratch/a.md")"
equal 'nothing else is left behind' 'a.md chapters docs tests' "$(cd "$scratch" && echo *)"
equal 'now it is as recorded' 0 "$(tables --check a.md)"
cp "$scratch/a.md" "$scratch/b.md"
touch -d 2020-01-01 "$scratch/a.md"
equal 'written again' 0 "$(tables a.md)"
succeeds 'it stays the same' cmp "$scratch/a.md" "$scratch/b.md"
equal 'a file that is as recorded is not touched' 2020 "$(date -r "$scratch/a.md" +%Y)"

page '<!-- times: f32 03_second 02_first -->' '<!-- end -->'
equal 'two chapters' 0 "$(tables a.md)"
equal 'chapters in order, PyTorch in a graph, the floor' "$(echo "$all" | grep -E 'tokens|---|eager, in a graph|02_|03_|floor')" \
    "$(grep '^|' "$scratch/a.md")"
page '<!-- times: f32 04_third 01_cpu_baseline -->' '<!-- end -->'
equal 'a chapter without results' 0 "$(tables a.md)"
equal 'it shows as dashes' '| 04_third | - | - | - | - | - | - | - |' "$(grep '| 04_' "$scratch/a.md")"
equal 'the host' "$(echo "$all" | grep 01_)" "$(grep '| 01_' "$scratch/a.md")"
page '<!-- times: bf16 -->' '<!-- end -->'
equal 'a type without results' 0 "$(tables a.md)"
equal 'it says so' 'Nothing is recorded yet.' "$(grep recorded "$scratch/a.md")"
printf '<!-- times: f16 -->\n<!-- end -->' >"$scratch/a.md"
equal 'no newline at the end' 0 "$(tables a.md)"
equal 'there is still none' '>' "$(tail -c 1 "$scratch/a.md")"
page 'text' '<!-- a note -->' ' <!-- times: f32 -->' ''
equal 'text without markers' 0 "$(tables --check a.md)"
mv "$scratch/docs/results/h200" "$scratch/docs/results/other"
page '<!-- times: f32 02_first -->' '<!-- end -->'
equal 'another folder of results' 0 "$(tables --results docs/results/other a.md)"
equal 'its times' 1 "$(grep -c '| 5.60 |' "$scratch/a.md")"
equal 'no folder of results' '2 tables: docs/results/h200: No such file or directory' "$(tables a.md)"
mv "$scratch/docs/results/other" "$scratch/docs/results/h200"

page '<!-- times: f32 -->' '<!-- end -->'
sed -i 's/"cache"/"host_threads": 16, "cache"/' "$results/02_first_f32.json"
equal 'the host with its threads' '0 | 01_cpu_baseline, 16 threads | 12,300 | - | - | - | - | - | - |' \
    "$(tables a.md) $(grep '| 01_' "$scratch/a.md")"
echo changed >>"$scratch/chapters/02_first/gate.cu"
equal 'a kernel changed: --check fails' 1 "$(tables --check a.md | cut -c 1)"
equal 'a kernel changed: its row says so' \
    '0 | 02_first (*recorded from an older kernel*) | 5.60 | 99.9 | 100 | - | - | - | - |' \
    "$(tables a.md) $(grep '| 02_' "$scratch/a.md")"
equal 'a kernel changed: the other rows do not' 1 "$(grep -c older "$scratch/a.md")"
echo changed >>"$scratch/chapters/01_cpu_baseline/grouped_topk.py"
equal 'the PyTorch function changed: four rows say so' '0 4' \
    "$(tables a.md) $(grep -c 'recorded from an older grouped_topk.py' "$scratch/a.md")"
record_both

# refuses NAME MESSAGE LINE...: a page with these lines
refuses() {
    name=$1
    message=$2
    shift 2
    page "$@"
    cp "$scratch/a.md" "$scratch/b.md"
    equal "$name" "2 tables: $message" "$(tables a.md)"
    cmp -s "$scratch/a.md" "$scratch/b.md" ||
        equal "$name: the file is left alone" "$(cat "$scratch/b.md")" "$(cat "$scratch/a.md")"
}

refuses 'an unknown marker' "a.md:2: '<!-- tmes: f32 -->' is no marker; <!-- times: f32 -->, <!-- counters: 03 04 --> and <!-- tree: 0-7 PROGRAM --> are some" '' '<!-- tmes: f32 -->' \
    '<!-- end -->'
refuses 'another unknown marker' "a.md:1: '<!-- counts: f32 -->' is no marker; <!-- times: f32 -->, <!-- counters: 03 04 --> and <!-- tree: 0-7 PROGRAM --> are some" \
    '<!-- counts: f32 -->'
refuses 'a marker with more behind it' "a.md:1: '<!-- times: f32 --> a' is no marker; <!-- times: f32 -->, <!-- counters: 03 04 --> and <!-- tree: 0-7 PROGRAM --> are some" \
    '<!-- times: f32 --> a' '<!-- end -->'
refuses 'an unknown type' "a.md:1: times of 'f64'; it must be f32, f16, bf16, align or small" '<!-- times: f64 -->' '<!-- end -->'
refuses 'no type' "a.md:1: times of ''; it must be f32, f16, bf16, align or small" '<!-- times:  -->' '<!-- end -->'
refuses 'an unknown chapter' "a.md:1: '05_none' is no chapter with a gate, or one too many" '<!-- times: f32 05_none -->' \
    '<!-- end -->'
refuses 'an open table' 'a.md:2: the table has no <!-- end -->' '' '<!-- times: f32 -->' '' ''
refuses 'a table in a table' 'a.md:3: the table before has no <!-- end -->' '<!-- times: f32 -->' '' '<!-- times: f32 -->' \
    '<!-- end -->'
refuses 'an end of nothing' 'a.md:1: <!-- end --> of no table' '<!-- end -->'
equal 'no such page' '2 tables: none.md: No such file or directory' "$(tables none.md)"
equal 'a folder' '2 tables: docs: Is a directory' "$(tables docs)"
printf 'a\0b' >"$scratch/nul.md"
equal 'a page with a NUL' '2 tables: nul.md: it has more than 4194304 bytes, or a NUL' "$(tables nul.md)"
head -c 4194305 /dev/zero | tr '\0' x >"$scratch/large.md"
equal 'a page that is too large' '2 tables: large.md: it has more than 4194304 bytes, or a NUL' "$(tables large.md)"
matches 'no page' '2 usage: *' "$(tables --check)"
matches 'an unknown option' '2 usage: *' "$(tables --chek a.md)"
page ''
equal 'the worst of several pages' '2 tables: none.md: No such file or directory' "$(tables a.md none.md a.md)"

# broken NAME MESSAGE SED-SCRIPT: 02's results changed
broken() {
    sed -i "$3" "$results/02_first_f32.json"
    refuses "$1" "docs/results/h200/02_first_f32.json$2" '<!-- times: f32 -->' '<!-- end -->'
    record_both
}

broken 'broken JSON' ":1: '\"' where a comma or a brace should be" '1s/,/ /'
broken 'an empty file' ':1: the file ends where a value should be' 'd'
broken 'no rows' ': it has no "rows"' 's/"rows"/"lines"/'
broken 'another chapter' ': "chapter" is "03_a"; it must be "02_first"' '1s/02_first/03_a/'
broken 'another type' ': "dtype" is "f16"; it must be "f32"' 's/"f32"/"f16"/'
broken 'a cold cache' ': "cache" is "cold"; it must be "warm"' 's/warm/cold/'
broken 'made-up logits' ': "distribution" is ""; it must be "router"' 's/"distribution"/"d"/'
mv "$scratch/chapters/03_second" "$scratch/gone"
refuses 'a chapter that is gone' \
    'docs/results/h200/03_second_f32.json: chapters/03_second/gate.cu, which it measured, is gone' \
    '<!-- times: f32 -->' '<!-- end -->'
mv "$scratch/gone" "$scratch/chapters/03_second"

# --- align ---

for chapter in 02_first 03_second; do
    echo "$chapter" >"$scratch/chapters/$chapter/align.cu"
done

# record_align NAME SOURCE FILE DISTRIBUTION ROWS: a file as an align program's --bench writes it
record_align() {
    cat >"$results/$3.json" <<END
{"chapter": "$1", "before": "", "device": "GPU", "toolkit": "CUDA 1.2", "command": "gpu/$1 --block-size 64 --bench",
 "date": "2026-02-03T01:02:03Z", "kernel_source_sha256": "$(sha256sum "$scratch/$2" | cut -d ' ' -f 1)", "distribution": "$4",
 "cache": "warm", "problem": {"num_experts": 256, "topk": 8, "block_size": 64, "ids": "i32"}, "rows": [$5]}
END
}

record_aligns() {
    record_align 02_first chapters/02_first/align.cu 02_first_b64 router \
        '{"num_tokens": 1, "here": {"median_us": 7.5}, "floor_us": 0.75}'
    record_align 03_second chapters/03_second/align.cu 03_second_b64 router \
        '{"num_tokens": 1, "here": {"median_us": 6.5}, "before": {"median_us": 7.25}, "floor_us": 0.5}'
    record_align cub_align tests/peers/cub_align.cu cub_align_b64 router '{"num_tokens": 1, "here": {"median_us": 17}}'
    record_align 03_second chapters/03_second/align.cu 03_second_b64_uniform uniform \
        '{"num_tokens": 16, "here": {"median_us": 8.5}, "floor_us": 0.625}'
}

# shellcheck disable=SC2016 # these quotes are Markdown's
aligned='| tokens | 1 | 16 | 64 | 512 | 4,096 | 16,384 | 65,536 |
|---|---:|---:|---:|---:|---:|---:|---:|
| CUB radix sort | 17.0 | - | - | - | - | - | - |
| 02_first | 7.50 | - | - | - | - | - | - |
| 03_second | 6.50 | - | - | - | - | - | - |
| floor | 0.500 | - | - | - | - | - | - |

GPU, CUDA 1.2, recorded on 2026-02-03 by `gpu/NAME --block-size 64 --bench` and `gpu/cub_align --block-size 64 --bench`.'

record_aligns
page '<!-- times: align 64 -->' '<!-- end -->'
equal 'times of align' 0 "$(tables a.md)"
equal 'CUB, the chapters, the floor of the last' "<!-- times: align 64 -->

$aligned

<!-- end -->" "$(cat "$scratch/a.md")"
equal 'they are as recorded' 0 "$(tables --check a.md)"
page '<!-- times: align 64 02_first -->' '<!-- end -->'
equal 'one chapter' 0 "$(tables a.md)"
equal 'CUB, the chapter, its floor' '17.0 7.50 0.750' "$(sed -n 's/^| [C0f][^|]*| \([0-9.]*\) |.*/\1/p' "$scratch/a.md" | xargs)"
page '<!-- times: align 64 uniform 03_second -->' '<!-- end -->'
equal 'generated ids' 0 "$(tables a.md)"
equal 'their times' '| 03_second | - | 8.50 | - | - | - | - | - |' "$(grep '| 03_' "$scratch/a.md")"
equal 'CUB was not timed with them' '| CUB radix sort | - | - | - | - | - | - | - |' "$(grep CUB "$scratch/a.md")"
page '<!-- times: align 16 -->' '<!-- end -->'
equal 'another block size' 0 "$(tables a.md)"
equal 'of which nothing is recorded' 'Nothing is recorded yet.' "$(grep recorded "$scratch/a.md")"
page '<!-- times: f32 02_first -->' '<!-- end -->'
equal 'the gate beside align' 0 "$(tables a.md)"
equal 'has its own times' "$(echo "$all" | grep '| 02_')" "$(grep '| 02_' "$scratch/a.md")"
echo changed >>"$scratch/tests/peers/cub_align.cu"
echo changed >>"$scratch/chapters/03_second/align.cu"
page '<!-- times: align 64 -->' '<!-- end -->'
equal 'sources changed' 0 "$(tables a.md)"
equal 'their rows say so' '| CUB radix sort (*recorded from an older cub_align.cu*) | 17.0 | - | - | - | - | - | - |
| 03_second (*recorded from an older kernel*) | 6.50 | - | - | - | - | - | - |' "$(grep older "$scratch/a.md")"
record_aligns

refuses 'align without a block size' "a.md:1: times of align without a block size; 'align 64' has one" \
    '<!-- times: align -->' '<!-- end -->'
refuses 'a block size of 0' "a.md:1: times of align without a block size; 'align 64' has one" '<!-- times: align 0 -->'
refuses 'a block size with a tail' "a.md:1: times of align without a block size; 'align 64' has one" \
    '<!-- times: align 64x -->'
refuses 'a chapter without align' "a.md:1: '04_third' is no chapter with an align, or one too many" \
    '<!-- times: align 64 04_third -->' '<!-- end -->'
refuses 'an unknown distribution' "a.md:1: 'unifrm' is no chapter with an align, or one too many" \
    '<!-- times: align 64 unifrm -->' '<!-- end -->'

# broken_align NAME FILE MESSAGE SED-SCRIPT: an align result changed
broken_align() {
    sed -i "$4" "$results/$2.json"
    refuses "$1" "docs/results/h200/$2.json$3" '<!-- times: align 64 -->' '<!-- end -->'
    record_aligns
}

broken_align 'a result of another block size' 03_second_b64 ': "block_size" is 16; it must be 64' \
    's/"block_size": 64/"block_size": 16/'
broken_align 'a result of other ids' 03_second_b64 ': "distribution" is "zipf"; it must be "router"' 's/"router"/"zipf"/'
broken_align 'a result of another program for CUB' cub_align_b64 ': "chapter" is "03_second"; it must be "cub_align"' \
    's/: "cub_align"/: "03_second"/'
broken_align "CUB's in another block size" cub_align_b64 ': "block_size" is 0; it must be 64' 's/block_size/size/'

# --- twins: a chapter's kernel, built otherwise ---

mkdir "$results/apart"
twin='| 02_first_bare | 7.25 | - | - | - | - | - | - |'
record_twin() {
    record_align 02_first chapters/02_first/align.cu apart/02_first_bare_b64 router \
        '{"num_tokens": 1, "here": {"median_us": 7.25}, "before": {"median_us": 9}, "floor_us": 0.25}'
    sed -i 's|gpu/02_first |gpu/02_first_bare |' "$results/apart/02_first_bare_b64.json"
}

record_twin
page '<!-- times: align 64 03_second apart/02_first_bare 02_first -->' '<!-- end -->'
equal 'a twin of a chapter' 0 "$(tables a.md)"
equal 'in the order of chapters, then as named; one command for all' \
    "$(echo "$aligned" | sed "s/^| 02_first .*/$twin\n&/")" "$(sed '1,2d; /^<!-- end/d' "$scratch/a.md" | sed '$d')"
page '<!-- times: align 64 02_first apart/02_first_bare -->' '<!-- end -->'
equal 'a twin at the end' 0 "$(tables a.md)"
equal 'has the floor' '| floor | 0.250 |' "$(grep -o '^| floor | [0-9.]* |' "$scratch/a.md")"
page '<!-- times: align 64 -->' '<!-- end -->'
equal 'no names' 0 "$(tables a.md)"
equal 'and no twin' 0 "$(grep -c bare "$scratch/a.md")"
echo changed >>"$scratch/chapters/02_first/align.cu"
page '<!-- times: align 64 apart/02_first_bare -->' '<!-- end -->'
equal "the chapter's source changed" 0 "$(tables a.md)"
equal 'the twin is old' "$(echo "$twin" | sed 's/bare/bare (*recorded from an older kernel*)/')" "$(grep '^|.*bare' "$scratch/a.md")"
record_aligns
record_twin

refuses 'a twin of no chapter' "a.md:1: 'apart/04_none_bare' is no chapter with an align, or one too many" \
    '<!-- times: align 64 apart/04_none_bare -->' '<!-- end -->'
refuses 'a twin elsewhere' "a.md:1: '../02_first_bare' is no chapter with an align, or one too many" \
    '<!-- times: align 64 ../02_first_bare -->' '<!-- end -->'
refuses 'a twin without a folder' "a.md:1: '02_first_bare' is no chapter with an align, or one too many" \
    '<!-- times: align 64 02_first_bare -->' '<!-- end -->'
refuses 'a twin that is not recorded' 'docs/results/h200/apart/02_first_full_b64.json: No such file or directory' \
    '<!-- times: align 64 apart/02_first_full -->' '<!-- end -->'
sed -i 's/"02_first"/"03_second"/' "$results/apart/02_first_bare_b64.json"
refuses "another chapter's twin" \
    'docs/results/h200/apart/02_first_bare_b64.json: "chapter" is "03_second"; it must be "02_first"' \
    '<!-- times: align 64 apart/02_first_bare -->' '<!-- end -->'

# --- the small kernel beside the large one ---

mkdir "$results/small"
# record_small TOKENS KERNEL US: as align's --bench writes it, of 8 experts
record_small() {
    record_align 02_first chapters/02_first/align.cu "small/02_first_e8_n$1_$2" uniform \
        "{\"num_tokens\": $1, \"here\": {\"median_us\": $3}, \"floor_us\": 0.5}"
    sed -i "s/\"num_experts\": 256/\"num_experts\": 8/; s/\"ids\"/\"kernel\": \"$2\", &/; s/--bench/--num-tokens $1 --kernel $2 &/" \
        "$results/small/02_first_e8_n$1_$2.json"
}

record_smalls() {
    record_small 1 small 1.5
    record_small 120 small 12
    record_small 1 large 2.5
}

# shellcheck disable=SC2016 # these quotes are Markdown's
small='| tokens | 1 | 16 | 64 | 120 |
|---|---:|---:|---:|---:|
| 02_first, small kernel | 1.50 | - | - | 12.0 |
| 02_first, large kernel | 2.50 | - | - | - |
| 03_second, small kernel | - | - | - | - |
| 03_second, large kernel | - | - | - | - |

GPU, CUDA 1.2, recorded on 2026-02-03 by `gpu/NAME --block-size 64 --num-tokens 1 --kernel small --bench`, and so on.'

record_smalls
page '<!-- times: small 8 03_second 02_first -->' '<!-- end -->'
equal 'both kernels' 0 "$(tables a.md)"
equal 'a row each, few tokens, the first of the commands' "$small" "$(sed '1,2d; /^<!-- end/d' "$scratch/a.md" | sed '$d')"
equal 'they are as recorded' 0 "$(tables --check a.md)"
page '<!-- times: small 16 02_first -->' '<!-- end -->'
equal 'experts of which nothing is recorded' '0 Nothing is recorded yet.' "$(tables a.md) $(grep recorded "$scratch/a.md")"
echo changed >>"$scratch/chapters/02_first/align.cu"
page '<!-- times: small 8 02_first -->' '<!-- end -->'
equal 'a kernel changed' 0 "$(tables a.md)"
equal 'its rows say so' 2 "$(grep -c 'kernel (\*recorded from an older kernel\*) | [12].50 |' "$scratch/a.md")"
record_aligns
record_smalls

few="a.md:1: times of the small kernel; 'small 64 CHAPTER' has experts and a chapter"
refuses 'the small kernel of no chapter' "$few" '<!-- times: small 64 -->' '<!-- end -->'
refuses 'the small kernel without experts' "$few" '<!-- times: small 02_first -->' '<!-- end -->'
refuses 'the small kernel of a twin' "a.md:1: 'apart/02_first_bare' is no chapter with an align, or one too many" \
    '<!-- times: small 8 apart/02_first_bare -->' '<!-- end -->'

# broken_small NAME MESSAGE SED-SCRIPT: a result of the small kernel changed
broken_small() {
    sed -i "$3" "$results/small/02_first_e8_n1_small.json"
    refuses "$1" "docs/results/h200/small/02_first_e8_n1_small.json: $2" '<!-- times: small 8 02_first -->' '<!-- end -->'
    record_smalls
}

broken_small 'the other kernel' '"kernel" is "large"; it must be "small"' 's/"kernel": "small"/"kernel": "large"/'
broken_small 'other experts' '"num_experts" is 9; it must be 8' 's/"num_experts": 8/"num_experts": 9/'
broken_small 'other tokens' 'it has no row of 1 tokens' 's/"num_tokens": 1,/"num_tokens": 2,/'
broken_small 'other ids' '"distribution" is "router"; it must be "uniform"' 's/"uniform"/"router"/'

# --- trees ---

mkdir "$scratch/programs"
cp "$scan_tree" "$scratch/programs/scan_tree"
printf '#!/bin/sh\nexit 3\n' >"$scratch/programs/fails"
chmod +x "$scratch/programs/fails"
trees() { tables --programs programs "$@"; }

page before '<!-- tree: 0-7 scan_tree 3 1 7 0 4 1 6 3 -->' 'what it was' '<!-- end -->' after
equal 'a tree that is not as printed' '1 tables: a.md:3: this is not what would be written now: ninja tables writes it anew' \
    "$(trees --check a.md)"
equal 'it is written' 0 "$(trees a.md)"
# shellcheck disable=SC2016 # these quotes are Markdown's
equal 'the tree, step by step' 'before
<!-- tree: 0-7 scan_tree 3 1 7 0 4 1 6 3 -->

```
word         0   1   2   3   4   5   6   7
barrier 1    0   0   0   0   0   0   0   0
barrier 2    3   1   7   0   4   1   6   3
barrier 3    3   4   7   7   4   5   6   9
barrier 4    3   4   7  11   4   5   6  14
barrier 5    3   4   7  11   4   5   6  25
barrier 6    3   4   7  11   4   5   6   0
barrier 7    3   4   7   0   4   5   6  11
barrier 8    3   0   7   4   4  11   6  16
barrier 9    0   3   4  11  11  15  16  22
```

Printed by `build/cpu/scan_tree 3 1 7 0 4 1 6 3 --trace trace.json` and `build/cpu/tree_steps 0-7 trace.json`.

<!-- end -->
after' "$(cat "$scratch/a.md")"
equal 'now it is as printed' 0 "$(trees --check a.md)"
sed -i 's/^barrier 4    3   4   7  11/barrier 4    3   4   7  12/' "$scratch/a.md"
equal 'a number that the program does not print' \
    '1 tables: a.md:9: this is not what would be written now: ninja tables writes it anew' "$(trees --check a.md)"
page '<!-- tree: 2-3 scan_tree 2 1 2 4 -->' '<!-- end -->' '<!-- times: align 64 02_first -->' '<!-- end -->'
equal 'a tree and a table' 0 "$(trees a.md)"
equal 'both are there' '2 1' "$(grep -c '^barrier [12]' "$scratch/a.md") $(grep -c '^| 02_first' "$scratch/a.md")"
equal 'the same again' 0 "$(trees --check a.md)"

# no_tree NAME MESSAGE MARKER: refused, and the page left alone
no_tree() {
    page '' "$3" '<!-- end -->'
    cp "$scratch/a.md" "$scratch/b.md"
    matches "$1" "2 $2" "$(trees a.md)"
    succeeds "$1: the file is left alone" cmp "$scratch/a.md" "$scratch/b.md"
}

no_tree 'a tree of nothing' "tables: a.md:2: a tree of nothing; 'tree: 0-7 PROGRAM' has words and a program" '<!-- tree:  -->'
no_tree 'a tree without a program' "tables: a.md:2: '' is no program and at most 32 arguments" '<!-- tree: 0-7 -->'
no_tree 'a program elsewhere' "tables: a.md:2: '../sh 1' is no program and at most 32 arguments" '<!-- tree: 0-7 ../sh 1 -->'
no_tree 'words the wrong way' "tables: a.md:2: words '7-0'; 0-7 are some, and 64 the most" '<!-- tree: 7-0 scan_tree 1 2 -->'
page "<!-- tree: 0-31 scan_tree $(seq 32 | xargs) -->" '<!-- end -->'
equal 'many arguments' 0 "$(trees a.md)"
equal 'are all passed on' 1 "$(grep -c '^barrier 13 .* 465  496$' "$scratch/a.md")"
no_tree 'too many arguments' 'tables: a.md:2: * is no program and at most 32 arguments' \
    "<!-- tree: 0-1 scan_tree $(seq 33 | xargs) -->"
no_tree 'a program that is not there' 'tables: a.md:2: programs/none: it cannot be run: No such file or directory' \
    '<!-- tree: 0-7 none -->'
no_tree 'a program that fails' 'tables: a.md:2: programs/fails: it failed, with exit 3' '<!-- tree: 0-7 fails -->'
no_tree 'more words than the kernel has' \
    'tables: a.md:2: /tmp/tables.*/trace.json: the kernel has 4 words of dynamic shared memory; 0 to 7 are wanted' \
    '<!-- tree: 0-7 scan_tree 1 2 3 4 -->'
record_both

sed -i 's/"GPU"/"a|b`<c>\\n\\u20ac"/; s/5.6032/1e300/; s/12345.6/-1/; s/99.94/"x"/' "$results/02_first_f32.json"
page '<!-- times: f32 02_first -->' '<!-- end -->'
equal 'odd values are read' 0 "$(tables a.md)"
equal 'what Markdown would take for its own is replaced' 'a?b??c?????, CUDA 1.2 and' "$(grep -o '^a?b[^G]* and' "$scratch/a.md")"
equal 'what is no time shows as a dash' '| 02_first | - | - | 100 | - | - | - | - |' "$(grep '| 02_' "$scratch/a.md")"
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w "$scratch"
    matches 'a folder that cannot be written' '2 tables: a.md.*Permission denied' "$(rm "$results"/*; tables a.md)"
    chmod u+w "$scratch"
fi
finish
