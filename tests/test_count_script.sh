#!/bin/sh
# Tests tests/gpu/count_on_gpu.sh with a stub ncu: which metrics the script requests, and the JSON that it makes from
# ncu's output.
. tests/tap.sh
bin=$scratch/bin
mkdir "$bin"

# fake COMMAND BODY: makes a stub of a command
fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}
fake nvidia-smi 'echo "NVIDIA H200"; echo "NVIDIA H200"'
fake nvcc 'echo "Cuda compilation tools, release 13.0, V13.0.88"'
mkdir "$scratch/few"
for tool in sh dirname cat; do
    ln -s "$(command -v $tool)" "$scratch/few/$tool"
done
# count ARGUMENT...: prints the script's exit status and output if there is no ncu
count() {
    said=$(PATH=$scratch/few sh tests/gpu/count_on_gpu.sh "$@" 2>&1)
    echo "$? $said"
}
equal 'no chapter' \
    '2 count_on_gpu.sh: which chapter? For example: sh tests/gpu/count_on_gpu.sh 02_warp_per_group' "$(count)"
equal 'no ncu' '1 count_on_gpu.sh: ncu is missing: it comes with the CUDA Toolkit, as part of Nsight Compute' \
    "$(count 02_warp_per_group)"

# The stub ncu prints two launches.
fake ncu 'echo "$*" >"'"$scratch"'/asked"
id=0
for sum in 1,000 24; do
    echo "\"$id\",\"void gate_kernel<float>(gate_problem, int)\",\"smsp__inst_executed.sum\",\"inst\",\"$sum\""
    echo "\"$id\",\"void gate_kernel<float>(gate_problem, int)\",\"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio\",\"inst\",\"3.$id\""
    id=$((id + 1))
    echo "\"0\",\"gate_kernel\",\"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\",\"request\",\"$sum\""
    echo "\"0\",\"gate_kernel\",\"sass__inst_executed_per_opcode\",\"inst\",\"2,000 (SHFL: 1,100; BAR: $sum; SHFLX: 7)\""
done'

PATH=$bin:$PATH sh tests/gpu/count_on_gpu.sh 02_warp_per_group 3 >"$scratch/counted.json"
equal 'it ends well' 0 $?
matches 'kernels of the operator, as many launches as the simulator had' \
    '*--kernel-name regex:^(gate_kernel)$ --launch-count 1 *build/gpu/02_warp_per_group --num-tokens 3' \
        "$(cat "$scratch/asked")"

# field EXPRESSION: prints the value of a Python expression evaluated on the JSON
field() {
    python3 -c "import json, sys; run = json.load(open(sys.argv[1])); print($1)" "$scratch/counted.json"
}
# counted COUNTER: prints the simulator's and the GPU's counts
counted() {
    field "*[(at['simulator'], at['gpu']) for at in run['counters'] if at['counter'] == '$1']"
}
simulated=$(build/cpu/02_warp_per_group --num-tokens 3 --format json)
# simulator COUNTER: prints the simulator's count
simulator() {
    echo "$simulated" | python3 -c "import json, sys; print(json.load(sys.stdin)['counters']['$1'])"
}

equal 'the fields' 'chapter gpu cuda date kernel_source_sha256 command counters kernels' "$(field '*run')"
equal 'what was run' 'sh tests/gpu/count_on_gpu.sh 02_warp_per_group 3' "$(field 'run["command"]')"
equal 'on what' '02_warp_per_group, NVIDIA H200, 13.0' "$(field '", ".join((run["chapter"], run["gpu"], run["cuda"]))')"
equal 'of which kernel' "$(sh common/source_hash.sh chapters/02_warp_per_group/gate.cu)" \
    "$(field 'run["kernel_source_sha256"]')"
equal 'the sum of the launches' "($(simulator global_load_requests), 1024)" "$(counted global_load_requests)"
equal 'what the GPU did not count' "($(simulator shared_load_requests), None)" "$(counted shared_load_requests)"
equal 'what the simulator does not count' '(None, 1024)' "$(counted instructions)"
equal 'instructions of one kind' "($(simulator shuffles), 2200)" "$(counted shuffles)"
equal 'of another kind' "($(simulator block_barriers), 1024)" "$(counted block_barriers)"
equal 'of a kind that there is none of' '(0, 0)' "$(counted votes)"
equal 'all of them' 16 "$(field 'len(run["counters"])')"
equal 'what warps of each launch wait for' 'gate_kernel 1000 3.0 gate_kernel 24 3.1' \
    "$(field '*(word for at in run["kernels"] for word in at.values())')"
finish
