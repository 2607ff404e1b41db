"""Measures the time of each operator in the PyTorch function for several numbers of tokens and experts, and counts the
work of masked_fill's kernel.

    python3 tests/peers/pytorch_launches.py | python3 docs/tools/record.py

Prints JSON in the form of docs/results. A row has each operator's microseconds per call from PyTorch's profiler: the
sum over the operator's launches, averaged over 20 calls. "masked_fill" has Nsight Compute's counts of the kernel that
fills, for 4,096 tokens and 256 experts; it is null, with the reason, if ncu is missing. --device cpu is for testing the
script, with CPU times.
"""
import argparse
import csv
import datetime
import json
import platform
import subprocess
import sys

import torch

import pytorch_gate

CALLS = 20
GROUPS = 8
SHAPES = [(num_tokens, num_experts) for num_tokens in (1, 4096) for num_experts in (256, 1024, 4096)]
METRICS = {"branches": "smsp__sass_branch_targets.sum",
           "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum",
           "instructions": "smsp__inst_executed.sum", "thread_instructions": "smsp__thread_inst_executed.sum",
           "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
           "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
           "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}


def make_problem(num_tokens, num_experts, device):
    generator = torch.Generator().manual_seed(1)
    made = torch.randn(num_tokens, num_experts, generator=generator), torch.randn(num_experts, generator=generator)
    return [tensor.to(device) for tensor in made]


def operator_times(num_tokens, num_experts, device):
    """Returns the microseconds per call of each operator that the function calls, in the order of their first calls."""
    problem = make_problem(num_tokens, num_experts, device)
    for _ in range(3):
        pytorch_gate.gate(*problem)
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
        torch.cuda.synchronize()
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(CALLS):
            pytorch_gate.gate(*problem)
        if device == "cuda":
            torch.cuda.synchronize()
    times, own = {}, "self_cpu_time_total" if device == "cpu" else "self_device_time_total"
    for event in profile.events():
        if event.name.startswith("aten::"):
            times[event.name[6:]] = times.get(event.name[6:], 0.0) + getattr(event, own) / CALLS
    if not any(times.values()):
        raise RuntimeError("the profiler saw no launch")
    return {name: round(took, 3) for name, took in times.items() if took > 0}


def fill_once(device):
    """Runs the fill that Nsight Compute profiles."""
    scores, _ = make_problem(4096, 256, device)
    group = torch.arange(256, device=device) // (256 // GROUPS)
    mask = (group + torch.arange(4096, device=device).unsqueeze(1)) % GROUPS < GROUPS // 2
    for _ in range(2):
        scores.masked_fill(mask, float("-inf"))


def count_masked_fill():
    """Returns the METRICS of the second fill and the kernel's name."""
    command = ["ncu", "--clock-control", "none", "--kernel-name-base", "demangled", "--kernel-name",
               "regex:masked_fill",
               "--launch-skip", "1", "--launch-count", "1", "--metrics", ",".join(METRICS.values()), "--print-units",
               "base",
               "--csv", sys.executable, __file__, "--fill-once"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    if done.returncode != 0 or not rows:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip() or "ncu counted nothing").splitlines()[-1])
    values = {row["Metric Name"]: float(row["Metric Value"].replace(",", "")) for row in rows}
    return {"kernel": rows[0]["Kernel Name"][:300], **{name: values.get(metric) for name, metric in METRICS.items()}}


def describe(device):
    gpu = device == "cuda"
    return {
        "peer": "pytorch_launches",
        "device": torch.cuda.get_device_name() if gpu else platform.machine(),
        "toolkit": f"CUDA {torch.version.cuda}" if gpu else "",
        "torch": torch.__version__,
        "command": "python3 tests/peers/pytorch_launches.py" + ("" if gpu else " --device cpu"),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "kernel_source_sha256": pytorch_gate.source_hash(),
        "distribution": "normal",
        "problem": {"num_expert_group": GROUPS, "topk_group": 4, "topk": 8, "dtype": "f32"},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--fill-once", action="store_true", help="only what Nsight Compute looks at")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch sees no GPU; --device cpu tries the script out")
    if options.fill_once:
        return fill_once(options.device)
    report = {**describe(options.device), "masked_fill": None}
    try:
        report["masked_fill"] = count_masked_fill()
    except (OSError, RuntimeError) as error:
        report["reason"] = f"{type(error).__name__}: {error}"
    report["rows"] = [{"num_tokens": num_tokens, "num_experts": num_experts,
                       "us": operator_times(num_tokens, num_experts, options.device)}
                      for num_tokens, num_experts in SHAPES]
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
