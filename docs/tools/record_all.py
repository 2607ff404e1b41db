"""Runs, on a GPU, every command whose results are in docs/results, and records the results.

    ninja && ninja gpu && python3 docs/tools/record_all.py [--counters] [--only WORD] [--list] [--results DIR]
    ninja gpu && python3 docs/tools/record_all.py --layer [--only WORD] [--list] [--results DIR]
    ninja gpu && python3 docs/tools/record_all.py --gpus [--only WORD] [--list] [--results DIR]
    ninja gpu && python3 docs/tools/record_all.py --overlap [--only WORD] [--list] [--results DIR]
    sh common/variants.sh build/gpu && python3 docs/tools/record_all.py --claims [--only WORD] [--list] [--results DIR]

Run it in the repository's root. --counters also counts with Nsight Compute, which needs ncu and permission to read the
GPU's counters. --layer instead runs the layer's chapters and the implementations with which they are compared, which
needs 40 GB of GPU memory; --gpus instead runs the layer on one GPU and on two, which needs NCCL; --overlap instead runs
launches that overlap, which needs compute capability 9.0 and, for the layer, 40 GB of memory; --claims instead runs the
commands, including ncu, whose results are compared in docs/pages/claims.md but on no chapter's page. --only runs only
the commands that contain the word; --list prints the commands; --results is docs/results by default. If a command
fails, the tool names it, runs the remaining commands, and exits with status 1.
"""
import pathlib
import subprocess
import sys
import time

import files
import record
import results

BLOCK_SIZES = [f"--block-size {size}" for size in (16, 64, 128)]
UNIFORM = "--block-size 64 --num-experts 256 --dist uniform"
FEW_TOKENS = [f"--num-tokens {tokens} --num-experts 64 --topk 8 --dist uniform --block-size 64 --kernel {kernel}"
              for tokens in (1, 16, 64, 120) for kernel in ("small", "large")]
DTYPES = ("--dtype f32", "--dtype f16", "--dtype bf16")
F32_ONLY = ("02_warp_per_group", "03_divergence_free", "04_bitonic_sort")
BUILT_OTHERWISE = ("08_align_blelloch_plain_tree", "10_align_parallel_fill_packed_offsets")
# No page shows a GPU's counters for these chapters, or times of their small kernel alone.
AT_THE_LIMIT = ("13a_gate_bound", "14a_align_bit_ranks", "14b_align_published_counts")
ONE_KERNEL = ("13c_gate_fewer_instructions_few", "13c_gate_fewer_instructions_many")
SUMS = [f"--num-tokens 1 --num-experts {experts} --dist uniform --kernel large" for experts in (128, 256, 512, 1024)]
FEW_PLACES = [f"--num-tokens {tokens} --capacity {tokens * 8 * 64}" for tokens in (1, 4, 16)]
WHOLE_LIST = ["--num-tokens 1 --capacity 16192"]  # as long as chapter 09's list, which has room for 256 experts
LAYER = ("--dist router", "--dist balanced")  # 22.5 GB of weights: DeepSeek-V3's shape
SPLITS = ("--gpus 1",
          *(f"--gpus 2 --ep {parts} --dispatch {path}" for parts in (2, 1) for path in ("broadcast", "all-to-all")),
          "--gpus 2 --tp 2")
OTHERS = ("sh tests/gpu/figures.sh cycles", "sh tests/gpu/figures.sh store_rate",
          "python3 tests/peers/pytorch_launches.py",
          *(f"sh tests/gpu/count_on_gpu.sh {waiting}" for waiting in (
              "05_fused_gate 1", "05_fused_gate 24", "07_align_vector_pad 65536", "08_align_blelloch 1",
              "09_align_warp_scan 1", "10_align_parallel_fill 65536", "13a_gate_bound 2048")))


def bench(programs, every_options):
    return [f"build/gpu/{program} {options} --bench --format json" for program in programs for options in every_options]


def claims():
    """Returns every command whose run is compared in docs/pages/claims.md but not on any chapter's page."""
    gate, align, moe = ([f"variants/{name}" for name in results.variants(kernel=kernel)]
                        for kernel in ("gate.cu", "align.cu", "moe.cu"))
    pads = [program for program in align if "/07" in program]
    exact = ["06_align_serial", "07_align_vector_pad", "cub_align", *pads]
    return [*bench(gate, ["--dtype f32"]), *bench(pads, BLOCK_SIZES),
            *bench(exact, [f"{options} --room exact" for options in BLOCK_SIZES]),
            *bench([program for program in align if program not in pads], [BLOCK_SIZES[1], *FEW_TOKENS]),
            *bench(["06_align_serial", "08_align_blelloch", "09_align_warp_scan"], SUMS),
            *bench(["09_align_warp_scan"], FEW_PLACES), *bench(BUILT_OTHERWISE[1:], WHOLE_LIST),
            *bench(moe, LAYER[:1]), *OTHERS]


def layer():
    """Returns every command that runs the layer: the chapters' programs and the implementations with which they are
    compared."""
    return [*(line for name in results.chapters(kernel="moe.cu")
              for line in bench([name], LAYER)),
            *(f"python3 tests/peers/moe_peers.py {dist} --format json" for dist in LAYER)]


def gpus():
    """Returns every command that runs a layer on several GPUs, or on one GPU for comparison."""
    return [f"build/gpu/{program} {split} --num-tokens {tokens} --format json"
            for program in results.chapters(kernel="parallel.cu") for tokens in (64, 4096, 16384) for split in SPLITS]


def overlap():
    """Returns every command that runs overlapping launches."""
    gate = "13c_gate_fewer_instructions"
    return [*bench([gate, f"{gate}_trigger_first"], [f"{DTYPES[0]} --overlap 1"]),
            *bench(["14b_align_published_counts"], [f"{BLOCK_SIZES[1]} --overlap 1"]),
            *bench(["15_one_launch"], [f"{DTYPES[0]} --overlap 1"]),
            *(f"build/gpu/{program} --bench --format json" for program in results.chapters(kernel="decode.cu"))]


def commands(counters):
    """Returns every command whose run is recorded."""
    gate, align = results.chapters(kernel="gate.cu"), results.chapters(kernel="align.cu")
    return [*(line for name in gate for line in bench([name], DTYPES[:1] if name in F32_ONLY else DTYPES)),
            *bench(results.chapters(kernel="routing.cu"), DTYPES), *bench(ONE_KERNEL, DTYPES[:1]),
            *bench([*align, "cub_align"], [*BLOCK_SIZES, UNIFORM]), *bench(BUILT_OTHERWISE, [BLOCK_SIZES[1], UNIFORM]),
            *bench([name for name in align if name not in AT_THE_LIMIT], FEW_TOKENS),
            *(f"python3 tests/peers/pytorch_gate.py {dtype} --format json" for dtype in DTYPES),
            *(f"sh tests/gpu/count_on_gpu.sh {chapter} 2048" for chapter in [*gate, *align]
              if counters and chapter not in AT_THE_LIMIT)]


def run(command, folder):
    """Runs a command and records its output. Returns the error, or "" if there was none."""
    try:
        done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return "" if record.record(done.stdout, folder) else "it printed nothing"
    except OSError as error:
        return files.error_text(error)
    except ValueError as error:
        return files.reading_error_text(error)


@files.errors_in_one_line("record_all")
def main():
    arguments = files.parser(__doc__, "counters", "claims", "layer", "gpus", "overlap", "list", only="",
                             results=results.FOLDER.parent).parse_args()
    every = (claims() if arguments.claims else layer() if arguments.layer else gpus() if arguments.gpus else
             overlap() if arguments.overlap else commands(arguments.counters))
    wanted = [command for command in every if arguments.only in command]
    if not wanted:
        raise ValueError(f"--only {arguments.only}: no command contains it; --list prints the commands")
    programs = [pathlib.Path(command.split()[0]) for command in wanted if command.startswith("build/gpu/")]
    if programs and not arguments.list and not any(program.exists() for program in programs):
        raise ValueError("build/gpu has none of these programs; run ninja gpu first")
    failed = 0
    for number, command in enumerate(wanted, 1):
        began = time.monotonic()
        reason = "" if arguments.list else run(command, arguments.results)
        failed += reason != ""
        took = "" if arguments.list else f"{number}/{len(wanted)} {time.monotonic() - began:5.1f} s  "
        print(took + command + (f": {reason}" if reason else ""), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
