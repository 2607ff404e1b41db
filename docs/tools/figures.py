"""Draws docs/figures/*.svg, those that are not up to date, from what programs do and what is recorded:

    python3 docs/tools/figures.py [--build build]            draws; needs matplotlib
    python3 docs/tools/figures.py --check [--build build]    names those that are not up to date; exits 1 if there are any

A figure holds a hash of its data and of the code that draws it, and one of itself. So the check needs no matplotlib, and it does
not matter that another version of matplotlib would write another file.
"""
import argparse
import functools
import hashlib
import importlib
import json
import pathlib
import re
import sys

import choices
import kernel_steps
import plot_data
import results
import runs
import trace

COUNTS = "--counts 3,1,7,0,4,1,6,3"
COUNTS_64 = ("--counts 2,2,1,3,4,1,1,1,0,3,5,2,0,2,5,5,3,2,1,1,2,2,0,7,2,2,2,1,2,2,7,3,"
             "1,6,3,7,3,5,2,1,2,4,2,1,5,2,0,2,6,2,5,2,3,3,6,2,3,4,1,2,2,2,0,1")
PADS = "--counts 1,1,1,1,1,1,1,1 --block-size 32 --kernel large"


def _trace(program, arguments):
    return lambda build: trace.read(runs.trace(build, program, arguments))


def _arrays(program, arguments=""):
    return lambda build: runs.arrays(build, program, arguments)


def _recorded(_):
    return results.load()


def _exchange(*arguments, **more):
    return lambda of_kernel: kernel_steps.exchange(of_kernel, *arguments, **more)


def _build(build):
    return build


# A figure's name: its title, in which {} are of its data; the function, MODULE.NAME, that draws it; the one that finds its data in
# what it is made of, and those that make that from the build. What it shows is said where the Markdown shows it.
FIGURES = {
    "01_flow": ('One token through the gate: the word "{word}", row {row} of the data', "trace_figures.draw_flow",
                choices.flow, _arrays("01_cpu_baseline", "--num-tokens 6")),
    "02_butterfly": ("The best of 32 experts in five steps", "trace_figures.draw_butterfly",
                     _exchange("warp_best", 16, 5), _trace("02_warp_per_group", "--num-tokens 1")),
    "03_split": ("Where a warp's lanes part, and where they do not", "trace_figures.draw_split", kernel_steps.split,
                 _trace("02_warp_per_group", "--num-tokens 1"), _trace("03_divergence_free", "--num-tokens 1")),
    "04_bitonic": ("A warp sorts 32 values in 15 steps", "trace_figures.draw_bitonic",
                   _exchange("compare_exchange", 1, 15, sorts=True), _trace("04_bitonic_sort", "--num-tokens 1")),
    "05_tokens": ("Four tokens share a warp: eight lanes and three steps each", "trace_figures.draw_tokens",
                  _exchange("token_best", 4, 3, lanes_together=8), _trace("05_fused_gate", "--num-tokens 4")),
    "06_blocks": ("{numel} choices lined up in blocks of {block_size}", "trace_figures.draw_blocks", choices.blocks,
                  _arrays("06_align_serial", "--counts 4,1,5,3 --block-size 3")),
    "06_waiting": ("One thread adds up; 1,023 wait", "trace_figures.draw_timeline", kernel_steps.timeline,
                   _trace("06_align_serial", "--num-tokens 128 --kernel large --trace-kernel align_kernel")),
    "07_stores": ("The same pads, 4 and 16 bytes at a time", "trace_figures.draw_stores", kernel_steps.stores,
                  _trace("06_align_serial", f"{PADS} --trace-kernel fill_kernel"), _trace("07_align_vector_pad", PADS)),
    "08_tree": ("Sums of what lies before: up a tree and down again", "trace_figures.draw_tree", kernel_steps.tree,
                _trace("08_align_blelloch", f"{COUNTS} --block-size 1 --kernel large")),
    "09_scan": ("What lies before each of 64 experts: two warps, then their sums", "trace_figures.draw_scan",
                kernel_steps.two_level_scan, _trace("09_align_warp_scan", f"{COUNTS_64} --block-size 1 --kernel large")),
    "10_parallel_fill": ("Eight warps fill while one counts", "trace_figures.draw_timeline", kernel_steps.timeline,
                         _trace("10_align_parallel_fill", f"{COUNTS} --block-size 512 --kernel small")),
    "results": ("What the chapters gain, in microseconds per call", "plots.draw_results", plot_data.few_and_many, _recorded),
    "gate_times": ("The gate: microseconds per call", "plots.draw_gate_times",
                   functools.partial(plot_data.time_lines, "gate"), _recorded),
    "align_times": ("Align, blocks of 64: microseconds per call", "plots.draw_times",
                    functools.partial(plot_data.time_lines, "align"), _recorded),
    "gate_counters": ("The gate: what a token costs", "plots.draw_counters",
                      functools.partial(plot_data.counter_panels, "gate"), _build),
    "align_counters": ("Align: what a call costs", "plots.draw_counters",
                       functools.partial(plot_data.counter_panels, "align"), _build),
    "expert_load": ("{numel:,} choices of {num_experts} experts: how many each gets", "plots.draw_load", choices.load,
                    _arrays("05_fused_gate")),
}


def _shown(name):
    """What a figure shows, in the words that stand for it in the Markdown."""
    pages = [pathlib.Path("README.md"), *sorted(pathlib.Path("chapters").glob("*/README.md"))]
    found = re.search(rf"^!\[(.+)\]\(\S*docs/figures/{name}\.svg\)$", "\n".join(page.read_text() for page in pages), re.M)
    if not found:
        raise ValueError(f"{name}.svg: no README shows it: ![what it shows](docs/figures/{name}.svg)")
    return found[1]


def read_data(name, build):
    """A figure's data, with its title and its description."""
    title, _, find, *makers = FIGURES[name]
    data = json.loads(json.dumps(find(*(make(build) for make in makers))))
    return {**data, "title": title.format(**data), "description": _shown(name)}


def drawn_from(name, data):
    """The hash of a figure's data and of the code that draws it, comments aside."""
    code = []
    for module in (FIGURES[name][1].split(".")[0], "figure_style"):
        text = pathlib.Path(__file__).with_name(f"{module}.py").read_text()
        code += [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return hashlib.sha256(json.dumps([data, code], sort_keys=True).encode()).hexdigest()


def fault(path, wanted):
    """What is wrong with a figure whose drawn_from() must be `wanted`; "" if nothing is."""
    if not path.exists():
        return "it is missing"
    text = path.read_text()
    hashes = re.search(r"<!-- drawn from (\w+), itself (\w+) -->\n", text)
    if not hashes or hashes[1] != wanted:
        return "not of today's data, or drawn by other code"
    if hashes[2] != hashlib.sha256(text.replace(hashes[0], "").encode()).hexdigest():
        return "not as it was drawn"
    return ""


def draw(path, name, data):
    """Draws a figure and writes it with its hashes, whole or not at all."""
    module, function = FIGURES[name][1].split(".")
    ax = getattr(importlib.import_module(module), function)(data, data["title"])
    text = importlib.import_module("figure_style").svg(ax, data["title"], data["description"])
    hashes = f"<!-- drawn from {drawn_from(name, data)}, itself {hashlib.sha256(text.encode()).hexdigest()} -->\n"
    unfinished = path.with_name(f".{path.name}")
    unfinished.write_text(text.replace("\n", f"\n{hashes}", 1))
    unfinished.rename(path)


def main(arguments):
    """Does what the command line asks for; returns the exit status."""
    parser = argparse.ArgumentParser(description="Draws docs/figures/*.svg, those that are not up to date.")
    parser.add_argument("--check", action="store_true", help="name those that are not up to date, and draw nothing")
    parser.add_argument("--build", default="build", help="the build's folder, with the programs in cpu/")
    parser.add_argument("--figures", type=pathlib.Path, default=pathlib.Path("docs/figures"), help="the figures' folder")
    options = parser.parse_args(arguments)
    status = 0
    for name in FIGURES:
        path, data = options.figures / f"{name}.svg", read_data(name, options.build)
        wrong = fault(path, drawn_from(name, data))
        if wrong and options.check:
            print(f"{path}: {wrong}; ninja figures draws it", file=sys.stderr)
            status = 1
        elif wrong:
            draw(path, name, data)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ModuleNotFoundError as missing:
        sys.exit(f"figures: {missing.name} is missing: sh common/setup.sh docs installs it")
    except (OSError, ValueError) as problem:
        sys.exit(f"figures: {problem}")
