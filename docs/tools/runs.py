"""Runs the programs that the documentation shows, and provides their reports, traces, arrays and test results.

Each result is cached in BUILD/docs/runs and is regenerated only if the program is newer. Paths are relative to the
repository's root, in which the tools run. A run that fails raises ValueError with a one-line message.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

COUNTS = "--counts 3,1,7,0,4,1,6,3"
COUNTS_64 = ("--counts 2,2,1,3,4,1,1,1,0,3,5,2,0,2,5,5,3,2,1,1,2,2,0,7,2,2,2,1,2,2,7,3,"
             "1,6,3,7,3,5,2,1,2,4,2,1,5,2,0,2,6,2,5,2,3,3,6,2,3,4,1,2,2,2,0,1")
# A stepper cannot show the atomics of 14b's kernel; all but one of 17's kernels have steppers in their own chapters.
WITHOUT_STEPPER = ("14b_align_published_counts", "17_overlapping_launches")
STEPPED = {  # for each chapter's program: the arguments of the run that readers step through
    "02_warp_per_group": "--num-tokens 1",
    "03_divergence_free": "--num-tokens 1",
    "04_bitonic_sort": "--num-tokens 1",
    "05_fused_gate": "--num-tokens 4",
    "06_align_serial": f"{COUNTS} --block-size 4 --kernel large --trace-kernel align_kernel",
    "07_align_vector_pad": f"{COUNTS} --block-size 4 --kernel large",
    "08_align_blelloch": f"{COUNTS} --block-size 1 --kernel large",
    "09_align_warp_scan": f"{COUNTS_64} --block-size 1 --kernel large",
    "10_align_parallel_fill": f"{COUNTS} --block-size 4 --kernel small",
    "11a_moe_naive": "--num-tokens 2 --hidden-size 16 --intermediate-size 24 --num-experts 2 --topk 1 --dtype f32",
    "11b_moe_tiled": "--num-tokens 2 --hidden-size 8 --intermediate-size 4 --num-experts 2 --topk 1 --dtype f32 "
                     "--trace-kernel down_kernel",
    "11c_moe_tensor_cores": "--num-tokens 2 --hidden-size 64 --intermediate-size 64 --num-experts 2 --topk 1 "
                            "--dtype bf16",
    # Six steps, so that the ring is filled twice; w13[0, row, k] is (k // 128 + 1) / 8, so that a value shows its step.
    "11d_moe_async_ring": "--num-tokens 1 --hidden-size 768 --intermediate-size 64 --num-experts 1 --topk 1 "
                          "--dtype bf16 --w13 chapters/11d_moe_async_ring/weights_by_step.npy",
    "12_expert_parallel": "--num-tokens 2 --hidden-size 16 --intermediate-size 8 --num-experts 4 --topk 2 --dtype f32 "
                          "--trace-kernel sum_partial_kernel",
    "13a_gate_bound": "--num-tokens 1",
    "13b_gate_lane_per_group": "--num-tokens 4",  # a warp has four tokens
    "13c_gate_fewer_instructions_many": "--num-tokens 4",  # chapter 13c's own kernel for any number of tokens
    "14a_align_bit_ranks": "--counts 30,4 --block-size 8 --kernel small",  # so that one block writes the whole list
    "15_one_launch": "--num-tokens 1",  # a block has one token
    "16a_layer_bulk_copies": "--num-tokens 1 --hidden-size 128 --intermediate-size 64 --num-experts 1 --topk 1 "
                             "--dtype bf16",
    "16b_layer_warpgroup_products": "--num-tokens 1 --hidden-size 128 --intermediate-size 64 --num-experts 1 --topk 1 "
                                    "--dtype bf16",
}


def _make(build, program, arguments, options, suffix, folder="cpu"):
    """Returns the path of the file or folder that holds the result of one run. The program writes the result,
    completely or not at all, when it is run with these options, in which {} stands for the result's path. A report's
    file holds the program's output."""
    binary, name = pathlib.Path(build) / folder / program, pathlib.Path(program).name
    if folder == "cpu64":
        name += "_64"
    if arguments:
        name += "_" + hashlib.sha256(f"{program} {arguments}".encode()).hexdigest()[:8]
    kept = pathlib.Path(build) / "docs" / "runs" / (name + suffix)
    if kept.exists() and kept.stat().st_mtime_ns > binary.stat().st_mtime_ns:
        return kept
    shutil.rmtree(kept, ignore_errors=True)  # removes an older folder
    unfinished = kept.with_name(f".{os.getpid()}_{kept.name}")
    (unfinished if suffix == ".arrays" else kept.parent).mkdir(parents=True, exist_ok=True)
    command = [str(binary), *arguments.split(), *(word.format(unfinished) for word in options.split())]
    environment = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ValueError(f"{' '.join(command)}: {result.stderr.strip() or f'exit status {result.returncode}'}")
    if suffix.startswith(".report."):
        unfinished.write_text(result.stdout)
    os.utime(unfinished)
    try:
        unfinished.rename(kept)
    except OSError:  # another tool has made the folder in the meantime
        shutil.rmtree(unfinished)
    return kept


def report_path(build, program, arguments="", folder="cpu"):
    """Returns the path of the report that a program in the build's folder prints with --format json: without arguments
    the report that `ninja run` has stored, if it is newer than the program."""
    binary = pathlib.Path(build) / folder / program
    stored = binary.parent / "run" / f"{program}.json"
    if not arguments and stored.exists() and stored.stat().st_mtime_ns > binary.stat().st_mtime_ns:
        return stored
    return _make(build, program, arguments, "--format json", ".report.json", folder)


def report(build, program, arguments="", folder="cpu"):
    """Returns a program's report as a dictionary."""
    path = report_path(build, program, arguments, folder)
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{program}: its report is no JSON: {error}") from None


def passed(build, test):
    """Returns the number of tests in a test program, all of which must pass, or None if the program is not built."""
    if not (pathlib.Path(build) / "tests" / test).exists():
        return None
    said = _make(build, test, "", "", ".report.tap", "tests").read_text()
    return len(re.findall(r"^ok ", said, re.M))


def trace(build, program, arguments=None):
    """Returns the path of the trace that the program writes with these arguments or, by default, those in STEPPED."""
    return _make(build, program, STEPPED[program] if arguments is None else arguments, "--trace {}", ".trace.json")


def arrays(build, program, arguments=""):
    """Returns the folder with the .npy files that the program writes."""
    return _make(build, program, arguments, "--out {}", ".arrays")
