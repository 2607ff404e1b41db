#!/bin/sh
# The tables of recorded times: those in the course's Markdown are what docs/results gives; and the program that writes them.
#
#   sh tests/test_tables.sh build/cpu/tables
. tests/tap.sh
tables=$(realpath "$1")

succeeds 'the tables in README.md and chapters/ are what is recorded' "$tables" --check README.md chapters/*/README.md

# A course of four chapters, two of them with recorded times.
results=$scratch/docs/results/h200
mkdir -p "$results"
for chapter in 01_cpu_baseline 02_first 03_second 04_third; do
    mkdir -p "$scratch/chapters/$chapter"
    echo "$chapter" >"$scratch/chapters/$chapter/gate.cu"
done
echo 01 >"$scratch/chapters/01_cpu_baseline/gate.c"
echo 01 >"$scratch/chapters/01_cpu_baseline/grouped_topk.py"

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
    '1 tables: a.md: a table is not what docs/results/h200 gives: ninja tables writes it anew' "$(tables --check a.md)"
equal '--check writes nothing' 'what it was' "$(sed -n 3p "$scratch/a.md")"
chmod 640 "$scratch/a.md"
equal 'it is written' 0 "$(tables a.md)"
equal 'the whole table, the text around it kept' "before
<!-- times: f32 -->

$all

<!-- end -->
after" "$(cat "$scratch/a.md")"
equal 'the file keeps its rights' 640 "$(stat -c %a "$scratch/a.md")"
equal 'nothing else is left behind' 'a.md chapters docs' "$(cd "$scratch" && echo *)"
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
    '0 | 02_first *(recorded from an older kernel)* | 5.60 | 99.9 | 100 | - | - | - | - |' \
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

refuses 'an unknown marker' "a.md:2: '<!-- tmes: f32 -->' is no marker; <!-- times: f32 --> is one" '' '<!-- tmes: f32 -->' \
    '<!-- end -->'
refuses 'another unknown marker' "a.md:1: '<!-- counts: f32 -->' is no marker; <!-- times: f32 --> is one" \
    '<!-- counts: f32 -->'
refuses 'a marker with more behind it' "a.md:1: '<!-- times: f32 --> a' is no marker; <!-- times: f32 --> is one" \
    '<!-- times: f32 --> a' '<!-- end -->'
refuses 'an unknown type' "a.md:1: times of 'f64'; it must be f32, f16 or bf16" '<!-- times: f64 -->' '<!-- end -->'
refuses 'no type' "a.md:1: times of ''; it must be f32, f16 or bf16" '<!-- times:  -->' '<!-- end -->'
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
refuses 'a chapter that is gone' 'docs/results/h200/03_second_f32.json: the source that it measured is not in chapters/' \
    '<!-- times: f32 -->' '<!-- end -->'
mv "$scratch/gone" "$scratch/chapters/03_second"

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
