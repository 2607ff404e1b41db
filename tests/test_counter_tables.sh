#!/bin/sh
# Tables of counters in Markdown, as ninja tables writes them: in the course they give what the programs count; and what they do
# with a report, or a GPU's counters, that is not as it should be.
#
# run: $b
# shellcheck disable=SC2016 # quotes are Markdown's
. tests/tap.sh
build=$(realpath "$1")
tables=$build/cpu/tables

# --- the course's own: figures of the programs' CSV, which the tables are not made from ---

# csv CHAPTER COUNTER
csv() {
    "$build/cpu/$1" --format csv | awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }'
}
cell() { grep -m 1 "^| $2 |" chapters/"$1"/README.md | cut -d '|' -f "$3" | tr -d ' ,'; }

equal '03: branches of 02, as the CSV has them' "$(csv 02_warp_per_group divergent_branches)" \
    "$(cell 03_divergence_free 'branches that split a warp' 3)"
equal '03: those of 03' "$(csv 03_divergence_free divergent_branches)" \
    "$(cell 03_divergence_free 'branches that split a warp' 4)"
equal '05: shuffles per token' "$(awk -v all="$(csv 05_fused_gate shuffles)" 'BEGIN { print all / 2048 }')" \
    "$(cell 05_fused_gate shuffles 4)"
equal '07: launches' "$(csv 06_align_serial launches) $(csv 07_align_vector_pad launches)" \
    "$(cell 07_align_vector_pad launches 3) $(cell 07_align_vector_pad launches 6)"
hand_typed=$(for page in chapters/*/README.md; do
    awk -v page="$page" '/^<!-- end/ { inside = 0 } /^<!-- (times|tree|counters):/ { inside = 1 }
        /^\| counter \|/ && !inside { print page ":" NR }' "$page"
done)
equal 'no table of counters is typed by hand' '' "$hand_typed"

# --- two chapters and a GPU ---

mkdir -p "$scratch/chapters/03_third" "$scratch/chapters/04_fourth" "$scratch/tests/peers" "$scratch/runs" \
    "$scratch/docs/results/h200/counters"
touch "$scratch/tests/peers/a.cu"
echo 03 >"$scratch/chapters/03_third/gate.cu"
echo 04 >"$scratch/chapters/04_fourth/gate.cu"

# report NUMBER NAME SHUFFLES BARRIERS
report() {
    cat >"$scratch/runs/$1.json" <<END
{"chapter": "$2", "command": "elsewhere/cpu/$2 --num-tokens 8", "input": "the logits", "verified": true,
 "problem": {"num_tokens": 8, "num_experts": 2048},
 "counters": {"launches": 2, "shuffles": $3, "block_barriers": $4, "shared_load_wavefronts": 1000, "shared_store_wavefronts": 234},
 "kernels": [{"name": "first_kernel", "counters": {"shuffles": 1, "block_barriers": 2}},
  {"name": "last_kernel", "counters": {"shuffles": 3, "block_barriers": 4}}]}
END
}

gpu() {
    hash=$(sha256sum "$scratch/chapters/04_fourth/gate.cu" | cut -d ' ' -f 1)
    cat >"$scratch/docs/results/h200/counters/04_fourth.txt" <<END
# gpu: GPU
# cuda: 1.2
# date: 2026-01-02
# kernel_sha256: $hash
# command: sh tests/gpu/count_on_gpu.sh 04_fourth 4
counter                          simulator             GPU  metric
shuffles                           1234567         7654321  SHFL instructions, one per warp
branches                                 -             282  smsp__sass_branch_targets.sum
block_barriers                           3              96  BAR instructions, one per warp
END
}

both() {
    report 03 03_third 1234567 12
    report 04 04_fourth 117 0
    gpu
}

# tables ARGUMENT...: the exit status, and what the program said
tables() {
    said=$(cd "$scratch" && "$tables" --runs runs "$@" 2>&1)
    echo "$?${said:+ $said}"
}

# page LINE...: a.md
page() { printf '%s\n' "$@" >"$scratch/a.md"; }

# writes NAME EXPECTED LINE...: what stands between the last of LINE... and the end
writes() {
    name=$1
    expected=$2
    shift 2
    page "$@" '<!-- end -->'
    equal "$name: written" 0 "$(tables a.md)"
    equal "$name" "$expected" "$(sed '/^<!--/d; /^$/d' "$scratch/a.md")"
    equal "$name: the same again" 0 "$(tables --check a.md)"
}

both
from='Counted by the CPU simulator: `build/cpu/NAME --num-tokens 8`; the input: the logits.'
writes 'two chapters' "| counter | 03 | 04 | remark |
|---|---:|---:|---|
| shuffles | 1,234,567 | 117 | it falls: 8 x 2 |
| shared load and store wavefronts | 1,234 | 1,234 | |
$from" '<!-- counters: 03 04 -->' '<!-- row: shuffles: it falls: 8 x 2 -->' '<!-- row: shared_wavefronts -->'
equal 'its markers are kept' 4 "$(grep -c '^<!-- ' "$scratch/a.md")"
sed -i 's/117/118/' "$scratch/a.md"
equal 'a number that is not the report'\''s' '1 tables: a.md:7: this is not what would be written now: ninja tables writes it anew' \
    "$(tables --check a.md)"
writes 'per token' '| counter | 03 | 04 |
|---|---:|---:|
| launches | 2 in all | 2 in all |
| shuffles | 154,321 | 14.6 |
| block barriers | 1.50 | 0 |
Counted by the CPU simulator, per token: `build/cpu/NAME --num-tokens 8`; the input: the logits.' \
    '<!-- counters: per token, 03 04 -->' '<!-- row: launches -->' '<!-- row: shuffles -->' '<!-- row: block_barriers -->'
writes 'kernels of a chapter' '| counter | `first_kernel` | `last_kernel` |
|---|---:|---:|
| shuffles | 1 | 3 |
Counted by the CPU simulator: `build/cpu/03_third --num-tokens 8`; the input: the logits.' \
    '<!-- counters: 03:first_kernel 03:last_kernel -->' '<!-- row: shuffles -->'
writes 'kernels of two chapters' "| counter | 03, \`first_kernel\` | 04 |
|---|---:|---:|
| shuffles | 1 | 117 |
$from" '<!-- counters: 03:first_kernel 04 -->' '<!-- row: shuffles -->'
writes 'a kernel of two chapters' '| counter | 03 | 04 |
|---|---:|---:|
| shuffles | 3 | 3 |
Counted by the CPU simulator, of `last_kernel`: `build/cpu/NAME --num-tokens 8`; the input: the logits.' \
    '<!-- counters: of last_kernel, 03 04 -->' '<!-- row: shuffles -->'
writes 'by a number of the problem' '| experts | 2,048 |
|---|---:|
| shuffles | 117 |
Counted by the CPU simulator: `build/cpu/04_fourth --num-tokens 8`, and so on; the input: the logits.' \
    '<!-- counters: by num_experts, 04 -->' '<!-- row: shuffles -->'
machine='Source: counted by the CPU simulator: `build/cpu/04_fourth --num-tokens 8`; the input: the logits.
Machine: counted by Nsight Compute on GPU, CUDA 1.2, recorded on 2026-01-02 by `sh tests/gpu/count_on_gpu.sh NAME 4`.'
writes 'the simulator and a GPU' "| counter | source, 04 | machine, 04 |
|---|---:|---:|
| shuffles | 117 | 7,654,321 |
| branch instructions | | 282 |
$machine" '<!-- counters: 04 machine:04 -->' '<!-- row: shuffles -->' '<!-- row: branches -->'
writes 'a GPU, per token' '| counter | machine, 04 |
|---|---:|
| branch instructions | 70.5 |
Machine: counted by Nsight Compute on GPU, CUDA 1.2, recorded on 2026-01-02 by `sh tests/gpu/count_on_gpu.sh NAME 4`.' \
    '<!-- counters: per token, machine:04 -->' '<!-- row: branches -->'
echo '// changed' >>"$scratch/chapters/04_fourth/gate.cu"
page '<!-- counters: 04 machine:04 -->' '<!-- row: shuffles -->' '<!-- end -->'
equal 'a kernel that has changed: written' 0 "$(tables a.md)"
equal 'a kernel that has changed is marked' '| counter | source, 04 | machine, 04 *(an older kernel)* |' \
    "$(grep '^| counter' "$scratch/a.md")"
gpu

# --- what is refused ---

# refuses NAME MESSAGE LINE...: one line, and the page left alone
refuses() {
    name=$1
    message=$2
    shift 2
    page "$@" '<!-- end -->'
    cp "$scratch/a.md" "$scratch/b.md"
    equal "$name" "2 tables: $message" "$(tables a.md)"
    succeeds "$name: the file is left alone" cmp "$scratch/a.md" "$scratch/b.md"
}

row='<!-- row: shuffles -->'
refuses 'an unknown counter' "a.md:2: 'shufles' is no counter" '<!-- counters: 03 -->' '<!-- row: shufles: 8 -->'
refuses 'a counter that the report does not have' 'a.md:1: runs/03.json: it has no counter "votes"' '<!-- counters: 03 -->' \
    '<!-- row: votes -->'
refuses 'a chapter without a report' 'a.md:2: runs/05.json: No such file or directory' '' '<!-- counters: 03 05 -->' "$row"
refuses 'a kernel that is not there' "a.md:1: runs/03.json: it has no counters of the kernel 'sort_kernel'" \
    '<!-- counters: 03:sort_kernel -->' "$row"
refuses 'a GPU that did not count' 'a.md:1: docs/results/h200/counters/03_third.txt: No such file or directory' \
    '<!-- counters: machine:03 -->' "$row"
refuses 'a GPU and no such chapter' "a.md:1: '05' is no chapter with a kernel" '<!-- counters: machine:05 -->' "$row"
refuses 'a counter that a GPU does not have' "a.md:1: docs/results/h200/counters/04_fourth.txt: it has no 'votes'" \
    '<!-- counters: machine:04 -->' '<!-- row: votes -->'
refuses 'a counter in another unit' \
    "a.md:1: a GPU counts block_barriers once for each warp: it has no column beside the simulator's" \
    '<!-- counters: machine:04 -->' '<!-- row: block_barriers -->'
refuses 'a kernel on a GPU' "a.md:1: a GPU's counters are of all kernels of one problem: no 'of' and no 'by'" \
    '<!-- counters: of last_kernel, machine:04 -->' "$row"
refuses 'no rows' 'a.md:1: counters without rows; <!-- row: shuffles --> is one' '<!-- counters: 03 -->'
refuses 'a row of no table' 'a.md:1: a row must follow <!-- counters: ... --> or another row' "$row"
refuses 'a row after the table' 'a.md:4: a row must follow <!-- counters: ... --> or another row' '<!-- counters: 03 -->' "$row" '' "$row"
refuses 'no columns' "a.md:1: counters of nothing; 'counters: 03 04' is of two chapters" '<!-- counters: per token, -->'
refuses 'an unknown way' "a.md:1: counters 'per expert'; 'per token', 'of KERNEL' and 'by NUMBER' are known" \
    '<!-- counters: per expert, 03 -->' "$row"
refuses 'a column elsewhere' "a.md:1: a column '../03'; 03, 06:fill_kernel and machine:03 are some" '<!-- counters: ../03 -->' "$row"
refuses 'a kernel elsewhere' "a.md:1: a column '03:a/b'; 03, 06:fill_kernel and machine:03 are some" '<!-- counters: 03:a/b -->' "$row"
refuses 'a remark with a bar' "a.md:2: more than 32 rows, or a remark of more than 639 characters or with a '|'" \
    '<!-- counters: 03 -->' '<!-- row: shuffles: a | b -->'
refuses 'too many columns' 'a.md:1: more than 8 columns' '<!-- counters: 03 03 03 03 03 03 03 03 03 -->' "$row"
page '<!-- counters: 03 -->' "$row"
equal 'an open table' '2 tables: a.md:1: the table has no <!-- end -->' "$(tables a.md)"

# broken NAME FILE SED-SCRIPT MESSAGE
broken() {
    sed -i "$3" "$scratch/$2"
    refuses "$1" "a.md:1: $2$4" '<!-- counters: 04 machine:04 -->' "$row"
    both
}

broken 'a report of another chapter' runs/04.json 's/04_fourth/03_third/' ': "chapter" is "03_third"; it must begin with 04'
broken 'a report of a wrong result' runs/04.json 's/true/false/' ': its result was not verified'
broken 'a report that is no JSON' runs/04.json '1s/^{/[/' ":1: ':' where a comma or a bracket should be"
counted=docs/results/h200/counters/04_fourth.txt
broken 'counters without a hash' $counted '/sha256/d' \
    ": it needs the lines '# gpu:', '# cuda:', '# date:' and '# kernel_sha256:', and rows"
broken 'counters of another chapter' $counted 's/04_fourth/03_third/' \
    ": \"# command:\" is 'sh tests/gpu/count_on_gpu.sh 03_third 4'; it must end with 04_fourth and the number of tokens"
broken 'counters without rows' $counted '/^[a-z]/d' \
    ": it needs the lines '# gpu:', '# cuda:', '# date:' and '# kernel_sha256:', and rows"
finish
