#!/bin/sh
# Puts a chapter's counters from the CPU simulator beside what Nsight Compute counts on the GPU, for the same problem.
#
#   sh tests/gpu/count_on_gpu.sh 02_warp_per_group [NUM_TOKENS]      (after ninja and ninja gpu)
#
# Needs ncu, and leave to read the GPU's counters. Prints JSON, as docs/results has it: what was run on what, and "counters": of
# each its name, the simulator's figure, the GPU's (null: not counted), and the GPU's name for it. Of several launches these
# are the sums; align's input, which chapter 05's gate makes on the same GPU, is not counted.
set -eu
chapter=$1
num_tokens=${2:-2048}
source=$(echo "chapters/$chapter"/*.cu)
kernels=$("build/cpu/$chapter" --num-tokens "$num_tokens" --format json | sed -n 's/^ *{"name": "\([^"]*\)".*/\1/p' | paste -sd '|')
kernels="^($kernels)\$"

sectors() { echo "l1tex__t_${2}_pipe_lsu_mem_global_op_$1.sum"; }

metrics="$(sectors ld requests),$(sectors ld sectors),$(sectors st requests),$(sectors st sectors)"
metrics="$metrics,smsp__sass_inst_executed_op_shared_ld.sum,smsp__sass_inst_executed_op_shared_st.sum"
metrics="$metrics,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
metrics="$metrics,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
metrics="$metrics,smsp__sass_branch_targets_threads_divergent.sum,smsp__sass_branch_targets.sum"
metrics="$metrics,smsp__thread_inst_executed.sum,smsp__inst_executed.sum,sass__inst_executed_per_opcode"

simulated=$("build/cpu/$chapter" --num-tokens "$num_tokens" --format csv)
simulator() {
    echo "$simulated" | awk -F, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR == 2 { print at ? $at : "null" }'
}

measured=$(ncu --clock-control none --kernel-name "regex:$kernels" --launch-count "$(simulator launches)" --metrics "$metrics" \
    --print-metric-instances details --csv "build/gpu/$chapter" --num-tokens "$num_tokens" 2>/dev/null)
# values METRIC: the GPU's figures, one for each launch
values() { echo "$measured" | grep -F "\"$1\"" | sed 's/.*,"\([^"]*\)"$/\1/' | tr -d ','; }
gpu() { values "$1" | awk '{ sum += $1 } END { if (NR) printf "%.15g", sum; else printf "null" }'; }
opcodes=$(values sass__inst_executed_per_opcode | tr '(;)' '\n\n\n')
executed() { echo "$opcodes" | sed -n "s/^ *$1: *//p" | awk '{ sum += $1 } END { print sum + 0 }'; }

separator=
# counter NAME SIMULATOR GPU METRIC
counter() {
    printf '%s\n    {"counter": "%s", "simulator": %s, "gpu": %s, "metric": "%s"}' "$separator" "$@"
    separator=,
}

cat <<END_OF_HEAD
{
  "chapter": "$chapter",
  "gpu": "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)",
  "cuda": "$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')",
  "date": "$(date +%Y-%m-%d)",
  "kernel_source_sha256": "$(sh common/source_hash.sh "$source")",
  "command": "sh tests/gpu/count_on_gpu.sh $chapter $num_tokens",
END_OF_HEAD
printf '  "counters": ['
for pair in global_load_requests:$(sectors ld requests) global_load_sectors:$(sectors ld sectors) \
    global_store_requests:$(sectors st requests) global_store_sectors:$(sectors st sectors) \
    shared_load_requests:smsp__sass_inst_executed_op_shared_ld.sum \
    shared_load_wavefronts:smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum \
    shared_store_requests:smsp__sass_inst_executed_op_shared_st.sum \
    shared_store_wavefronts:smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum \
    divergent_branches:smsp__sass_branch_targets_threads_divergent.sum \
    branches:smsp__sass_branch_targets.sum thread_instructions:smsp__thread_inst_executed.sum \
    instructions:smsp__inst_executed.sum; do
    counter "${pair%%:*}" "$(simulator "${pair%%:*}")" "$(gpu "${pair#*:}")" "${pair#*:}"
done
for pair in shuffles:SHFL votes:VOTE block_barriers:BAR warp_barriers:WARPSYNC; do
    counter "${pair%%:*}" "$(simulator "${pair%%:*}")" "$(executed "${pair#*:}")" "${pair#*:} instructions, one per warp"
done
printf '\n  ]\n}\n'
