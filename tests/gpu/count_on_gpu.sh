#!/bin/sh
# Compares a chapter's counters from the CPU simulator with Nsight Compute's counts on the GPU, for the same problem.
#
#   sh tests/gpu/count_on_gpu.sh 02_warp_per_group [NUM_TOKENS]      (after ninja and ninja gpu)
#
# Needs ncu and permission to read the GPU's counters. Prints JSON in the form of docs/results: the program, the GPU and
# "counters", each with its name, the simulator's count, the GPU's count (null: not counted) and the GPU's metric.
# Counts of several launches are summed. "kernels" lists, for each launch, the cycles between two instructions of a
# warp, by stall reason ("selected" is the cycle in which the warp issues), and the sum of these cycles.
set -eu
. "$(dirname "$0")/head.sh"
[ $# -gt 0 ] || {
    echo 'count_on_gpu.sh: which chapter? For example: sh tests/gpu/count_on_gpu.sh 02_warp_per_group' >&2
    exit 2
}
command -v ncu >/dev/null || {
    echo 'count_on_gpu.sh: ncu is missing: it comes with the CUDA Toolkit, as part of Nsight Compute' >&2
    exit 1
}
chapter=$1
num_tokens=${2:-2048}
source=$(echo "chapters/$chapter"/*.cu)
kernels=$("build/cpu/$chapter" --num-tokens "$num_tokens" --format json | sed -n 's/^ *{"name": "\([^"]*\)".*/\1/p' |
    paste -sd '|')
kernels="^($kernels)\$"

sectors() { echo "l1tex__t_${2}_pipe_lsu_mem_global_op_$1.sum"; }

metrics="$(sectors ld requests),$(sectors ld sectors),$(sectors st requests),$(sectors st sectors)"
metrics="$metrics,smsp__sass_inst_executed_op_shared_ld.sum,smsp__sass_inst_executed_op_shared_st.sum"
metrics="$metrics,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
metrics="$metrics,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
metrics="$metrics,smsp__sass_branch_targets_threads_divergent.sum,smsp__sass_branch_targets.sum"
metrics="$metrics,smsp__thread_inst_executed.sum,smsp__inst_executed.sum,sass__inst_executed_per_opcode"
metrics="$metrics,gpu__time_duration.sum,sm__cycles_active.max,smsp__issue_active.avg.per_cycle_active"
metrics="$metrics,smsp__average_warp_latency_per_inst_issued.ratio"
for reason in barrier branch_resolving dispatch_stall drain imc_miss lg_throttle long_scoreboard math_pipe_throttle \
    membar mio_throttle misc no_instruction not_selected selected short_scoreboard sleeping wait; do
    metrics="$metrics,smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio"
done

simulated=$("build/cpu/$chapter" --num-tokens "$num_tokens" --format csv)
simulator() {
    echo "$simulated" | awk -F, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR == 2 { print at ? $at : "null" }'
}

measured=$(ncu --clock-control none --kernel-name "regex:$kernels" --launch-count "$(simulator launches)" \
    --metrics "$metrics" --print-metric-instances details --print-units base \
    --csv "build/gpu/$chapter" --num-tokens "$num_tokens" 2>/dev/null)
# values METRIC: prints the GPU's figures, one per launch
values() { echo "$measured" | grep -F "\"$1\"" | sed 's/.*,"\([^"]*\)"$/\1/' | tr -d ','; }
gpu() { values "$1" | awk '{ sum += $1 } END { if (NR) printf "%.15g", sum; else printf "null" }'; }
opcodes=$(values sass__inst_executed_per_opcode | tr '(;)' '\n\n\n')
executed() { echo "$opcodes" | sed -n "s/^ *$1: *//p" | awk '{ sum += $1 } END { print sum + 0 }'; }

separator=
# counter NAME SIMULATOR GPU METRIC: prints a counter's JSON
counter() {
    printf '%s\n    {"counter": "%s", "simulator": %s, "gpu": %s, "metric": "%s"}' "$separator" "$@"
    separator=,
}

print_head chapter "$chapter" "$source" "sh tests/gpu/count_on_gpu.sh $chapter $num_tokens"
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
    counter "${pair%%:*}" "$(simulator "${pair%%:*}")" "$(executed "${pair#*:}")" \
        "${pair#*:} instructions, one per warp"
done
printf '\n  ],\n  "kernels": ['
echo "$measured" | awk -F '","' '
    BEGIN {
        called["gpu__time_duration.sum"] = "ns"
        called["sm__cycles_active.max"] = "cycles"
        called["smsp__inst_executed.sum"] = "instructions"
        called["smsp__issue_active.avg.per_cycle_active"] = "issued_a_cycle"
        called["smsp__average_warp_latency_per_inst_issued.ratio"] = "cycles_an_instruction"
    }
    NF > 3 {
        metric = $(NF - 2)
        name = metric in called ? called[metric] : ""
        if (sub(/^smsp__average_warps_issue_stalled_/, "", metric) && sub(/_per_issue_active.*/, "", metric))
            name = metric
        value = $NF
        gsub(/[",]/, "", value)
        if (name == "" || value !~ /^[0-9.e+-]+$/)
            next
        if (!($1 in fields)) {
            match($0, /[a-z_]+_kernel/)
            launches[++count] = $1
            fields[$1] = "{\"kernel\": \"" substr($0, RSTART, RLENGTH) "\""
        }
        fields[$1] = fields[$1] ", \"" name "\": " value
    }
    END {
        for (i = 1; i <= count; i++)
            printf "%s\n    %s}", (i > 1 ? "," : ""), fields[launches[i]]
    }'
printf '\n  ]\n}\n'
