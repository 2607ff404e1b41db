#!/bin/sh
# Puts a chapter's counters from the CPU simulator beside what Nsight Compute counts on the GPU, for the same problem.
#
#   sh tests/gpu/count_on_gpu.sh 02_warp_per_group [NUM_TOKENS]      (after ninja and ninja gpu)
#
# Needs ncu, and leave to read the GPU's counters. Prints what was run on what, then one line per counter: its name, the
# simulator's figure, the GPU's, and the GPU's name for it. Of several launches it prints the sums; align's input, which
# chapter 05's gate makes on the same GPU, is not counted.
set -eu
chapter=$1
num_tokens=${2:-2048}
source=$(echo "chapters/$chapter"/*.cu)
case $source in
*/gate.cu) kernels='^gate_kernel$' ;;
*) kernels='^(fill|align|align_small|sort)_kernel$' ;;
esac

sectors() { echo "l1tex__t_${2}_pipe_lsu_mem_global_op_$1.sum"; }
opcode() { echo "sass__inst_executed_per_opcode"; }

metrics="$(sectors ld requests),$(sectors ld sectors),$(sectors st requests),$(sectors st sectors)"
metrics="$metrics,smsp__sass_inst_executed_op_shared_ld.sum,smsp__sass_inst_executed_op_shared_st.sum"
metrics="$metrics,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
metrics="$metrics,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
metrics="$metrics,smsp__sass_branch_targets_threads_divergent.sum,smsp__sass_branch_targets.sum"
metrics="$metrics,smsp__thread_inst_executed.sum,smsp__inst_executed.sum,$(opcode)"

simulated=$("build/cpu/$chapter" --num-tokens "$num_tokens" --format csv)
simulator() { echo "$simulated" | awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }'; }

measured=$(ncu --clock-control none --kernel-name "regex:$kernels" --launch-count "$(simulator launches)" --metrics "$metrics" \
    --print-metric-instances details --csv "build/gpu/$chapter" --num-tokens "$num_tokens" 2>/dev/null)
# values METRIC: the GPU's figures, one for each launch
values() { echo "$measured" | grep -F "\"$1\"" | sed 's/.*,"\([^"]*\)"$/\1/' | tr -d ','; }
gpu() { values "$1" | awk '{ sum += $1 } END { printf "%.15g", sum }'; }

row() { printf '%-26s %15s %15s  %s\n' "$1" "$2" "$3" "$4"; }

printf '# gpu: %s\n' "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
printf '# cuda: %s\n' "$(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
printf '# date: %s\n' "$(date +%Y-%m-%d)"
printf '# kernel_sha256: %s\n' "$(sha256sum "$source" | cut -d ' ' -f 1)"
printf '# command: sh tests/gpu/count_on_gpu.sh %s %s\n' "$chapter" "$num_tokens"
row counter simulator GPU metric
for pair in global_load_requests:$(sectors ld requests) global_load_sectors:$(sectors ld sectors) \
    global_store_requests:$(sectors st requests) global_store_sectors:$(sectors st sectors) \
    shared_load_requests:smsp__sass_inst_executed_op_shared_ld.sum \
    shared_load_wavefronts:smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum \
    shared_store_requests:smsp__sass_inst_executed_op_shared_st.sum \
    shared_store_wavefronts:smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum \
    divergent_branches:smsp__sass_branch_targets_threads_divergent.sum; do
    row "${pair%%:*}" "$(simulator "${pair%%:*}")" "$(gpu "${pair#*:}")" "${pair#*:}"
done
row branches - "$(gpu smsp__sass_branch_targets.sum)" smsp__sass_branch_targets.sum
row thread_instructions - "$(gpu smsp__thread_inst_executed.sum)" smsp__thread_inst_executed.sum
row instructions - "$(gpu smsp__inst_executed.sum)" smsp__inst_executed.sum
opcodes=$(values sass__inst_executed_per_opcode)
for pair in shuffles:SHFL votes:VOTE block_barriers:BAR warp_barriers:WARPSYNC; do
    row "${pair%%:*}" "$(simulator "${pair%%:*}")" \
        "$(echo "$opcodes" | tr '(;)' '\n\n\n' | sed -n "s/^ *${pair#*:}: *//p" | awk '{ sum += $1 } END { print sum + 0 }')" "${pair#*:} instructions, one per warp"
done
