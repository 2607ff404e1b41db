"""Redraws the files docs/figures/*.svg that are out of date from the programs' traces and arrays and the recorded runs:

    python3 docs/tools/figures.py [--build build]            draws; needs matplotlib
    python3 docs/tools/figures.py --check [--build build]    names files that are not up to date; exits 1 if there
                                                             are any

The build folder has the programs in cpu/. --figures DIR puts the figures into another folder.

A figure's file contains a hash of its data, of the code that draws it and of the file itself. The check therefore needs
no matplotlib, and it accepts files that another version of matplotlib has written.
"""
import functools
import hashlib
import importlib
import json
import pathlib
import re
import sys

import block_steps
import chain_steps
import chains
import choices
import expert_parallel_steps
import files
import introduction_examples
import kernel_steps
import latency
import layer_steps
import model_times
import plot_data
import results
import ring_steps
import role_steps
import runs
import stages
import stages_of_a_block
import trace
import vote_steps
import wave_steps
from operators import OPERATORS

FOUR_TOKENS = "--num-tokens 4"
XML = ("--num-tokens 1 --logits chapters/02_warp_per_group/xml_logits.npy "
       "--bias common/data/router/layer2_bias.npy")  # chapter 01's token
FIVE_IDS = "--counts 1,1,3 --block-size 2 --capacity 10"
SIXTEEN_IDS = "--counts 5,3,6,2 --block-size 4"
WEIGHTS = ("--num-tokens 1 --num-experts 1 --topk 1 --hidden-size 64 --intermediate-size 32 --dtype bf16 "
           "--trace-kernel gate_up_kernel")
TWO_WARPS = f"--counts 3,1,7,0,4,1,6,3{',0' * 24},1,6,3,7,3,5,2,1{',0' * 24}"
TILE = ("--num-tokens 16 --num-experts 1 --topk 1 --hidden-size 64 --intermediate-size 64 --dtype bf16 --block-size 16 "
        "--trace-kernel gate_up_kernel")
# Chapter 11a's worked example: experts 0 and 2 with w1, w3 and w2.
ONE_TOKEN = {"x": [1, 2], "chosen": [(0, 0.75), (2, 0.25)],
             "experts": {0: ([[2, -1]], [[1, 1]], [[1], [2]]), 2: ([[0, 1]], [[1, 0]], [[2], [4]])}}
PADS = "--counts 1,1,1,1,1,1,1,1 --block-size 32 --kernel large"


def _traced(find, *wanted, **more):
    """Returns a function that computes a figure's data as find(TRACE..., **more). Each trace comes from a run of a
    program with the given arguments or, without arguments, from the run that readers step through."""
    return lambda build: find(*(trace.read(runs.trace(build, *run.split(" ", 1))) for run in wanted), **more)


# For each figure: its title, with {} for fields of its data; the drawing function, as MODULE.NAME; and the function
# that computes its data from the build folder. A figure's description is its alternative text in the Markdown file that
# shows the figure.
FIGURES = {
    "01_flow": ('One token through the gate: the word "{word}", row {row} of the data', "trace_figures.draw_flow",
                lambda build: choices.last_token_steps(runs.arrays(build, "01_cpu_baseline", "--num-tokens 6"))),
    "02_butterfly": ('The word "XML", group 5: the best of 32 experts in five steps', "trace_figures.draw_exchange",
                     _traced(kernel_steps.exchange, f"02_warp_per_group {XML}", snippet="warp_best", first_distance=16,
                             steps=5, warp=5)),
    "03_split": ('The word "XML", group 5: which lanes execute the assignment in the source',
                 "trace_figures.draw_split",
                 _traced(kernel_steps.split, f"02_warp_per_group {XML}", f"03_divergence_free {XML}", warp=5)),
    "04_bitonic": ("A warp sorts 32 values in 15 steps", "trace_figures.draw_exchange", _traced(
        kernel_steps.exchange, "04_bitonic_sort", snippet="compare_exchange", first_distance=1, steps=15, sorts=True)),
    "05_tokens": ("Four tokens share a warp: eight lanes and three steps each", "trace_figures.draw_exchange", _traced(
        kernel_steps.exchange, "05_fused_gate", snippet="token_best", first_distance=4, steps=3, lanes_together=8)),
    "05_load": ("The first two loads of a token's eight lanes", "trace_figures.draw_own_loads",
                _traced(kernel_steps.own_loads, f"05_fused_gate {FOUR_TOKENS}", count=2, lanes=8)),
    "06_blocks": ("{numel} ids, by expert, in blocks of {block_size} rows", "trace_figures.draw_blocks",
                  lambda build: choices.blocks(
                      runs.arrays(build, "06_align_serial", "--counts 4,1,5,3 --block-size 3"))),
    "06_waiting": ("One thread adds up the counts while 1,023 wait", "trace_figures.draw_timeline", _traced(
        kernel_steps.timeline, "06_align_serial --num-tokens 128 --kernel large --trace-kernel align_kernel")),
    "07_stores": ("The same pads, 4 and 16 bytes at a time", "trace_figures.draw_stores", _traced(
        kernel_steps.stores, f"06_align_serial {PADS} --trace-kernel fill_kernel", f"07_align_vector_pad {PADS}")),
    "08_tree": ("An exclusive scan: up the tree and down again", "trace_figures.draw_tree",
                _traced(kernel_steps.tree, "08_align_blelloch")),
    "09_scan": ("The sum before each expert: a scan in each of two warps, then a scan of their totals",
                "block_figures.draw_scan",
                _traced(kernel_steps.two_level_scan, f"09_align_warp_scan {TWO_WARPS} --block-size 1 --kernel large")),
    "10_parallel_fill": ("Block 0 counts while the other blocks write pads", "block_figures.draw_fill",
                         lambda build: block_steps.launched_blocks(runs.report(build, "10_align_parallel_fill"))),
    "10_small_kernel": ("Eight warps fill while one counts", "trace_figures.draw_timeline", _traced(
        kernel_steps.timeline, f"10_align_parallel_fill {runs.COUNTS} --block-size 512 --kernel small")),
    "11c_fragments": ("Which lane holds which elements of mma.m16n8k16", "tensor_figures.draw_fragments",
                      _traced(kernel_steps.fragments, "11c_moe_tensor_cores")),
    "11c_quarters": ("The four matrices of an ldmatrix", "tensor_figures.draw_quarters",
                     _traced(kernel_steps.quarters, "11c_moe_tensor_cores")),
    "11c_copies": ("The first product: what a block copies, and which threads copy it", "tensor_figures.draw_copies",
                   _traced(kernel_steps.stage_row_copies, "11c_moe_tensor_cores --num-tokens 16 --num-experts 1 "
                           "--topk 1 --hidden-size 128 --intermediate-size 64 --block-size 16", pitch_bytes=272,
                           row_bytes=256, rows_of_w1=64)),
    "11d_ring": ("Six steps through a ring of three stages", "tensor_figures.draw_ring",
                 _traced(kernel_steps.ring, "11d_moe_async_ring", stages=3)),
    "11d_chunks": ("Where the chunks of 8 stage rows are stored", "tensor_figures.draw_chunks", _traced(
        kernel_steps.swizzled_chunks, "11d_moe_async_ring --num-tokens 2 --num-experts 2 --topk 1 --hidden-size 128 "
        "--intermediate-size 64", per_row=16)),
    "11d_tile": ("The large tile: {rows} rows of weights by {tokens} tokens, 8 warps", "tensor_figures.draw_warp_tiles",
                 _traced(kernel_steps.warp_tiles, "11d_moe_async_ring --num-tokens 192 --num-experts 1 --topk 1 "
                         "--hidden-size 64 --intermediate-size 128 --block-size 192", row_bytes=128, rows=256)),
    "12_ranks": ("Four ranks, 22 tokens: --dp 2 --tp 2 --ep 2", "expert_parallel_figure.draw_ranks",
                 lambda _: expert_parallel_steps.ranks(2, 2, 2, [5, 17])),
    "12_all_to_all": ("The all-to-all path: two ranks, three tokens", "expert_parallel_figure.draw_all_to_all",
                      lambda _: expert_parallel_steps.all_to_all([2, 1], 4, [(0, 1), (1, 3), (2, 3)],
                                                                 [(5, 1), (2, 4), (3, 6)])),
    "16a_ring": ("One ring for tokens and weights: five uses per step", "ring_figures.draw_uses",
                 lambda _: ring_steps.uses(7, 4, 3)),
    "16a_phases": ("Two stages, three tiles: the phases of the four barriers", "ring_figures.draw_phases",
                   lambda _: ring_steps.phases(2, 3)),
    "16a_work_tile": ("How one work tile passes between the warps of a block", "ring_figures.draw_handoff",
                  lambda _: ring_steps.work_tile_handoff(4)),
    "16a_stage": ("How one stage passes between a copying warp and the consumers", "ring_figures.draw_handoff",
                  lambda _: ring_steps.stage_handoff(4, 1)),
    "16b_steps": ("Five steps of a consumer warp: start a step, wait for the step before",
                  "ring_figures.draw_product_steps", lambda _: ring_steps.product_steps(4, 5)),
    "16b_roles": ("Six steps of a tile: copies, two consumers, and their products", "ring_figures.draw_roles",
                  _traced(role_steps.roles, "16b_layer_warpgroup_products --num-tokens 16 --hidden-size 384 "
                          "--intermediate-size 128 --num-experts 1 --topk 1 --dtype bf16 --block-size 192")),
    "16b_product": ("How a warpgroup holds a product of 64 rows", "ring_figures.draw_product",
                    lambda _: ring_steps.product_layout(32, 29, 13)),
    "13a_bound": ("One token's 256 experts: {num_candidates} candidates, eight chosen", "gate_figures.draw_bound",
                  lambda build: choices.bounded_token(runs.arrays(build, "13a_gate_bound", FOUR_TOKENS), row=2)),
    "13a_ranks": ("Two votes rank a token's eight groups", "gate_figures.draw_votes",
                  _traced(vote_steps.group_votes, f"13a_gate_bound {FOUR_TOKENS}")),
    "13b_lanes": ("One warp, four tokens: from counts to lists and ranks", "gate_figures.draw_lanes",
                  lambda build: choices.lanes(runs.arrays(build, "13b_gate_lane_per_group", FOUR_TOKENS))),
    "13c_mask": ("Lane {lane}: 32 choices, their signs, and the mask", "gate_figures.draw_mask",
                 lambda build: choices.mask(
                     runs.arrays(build, "13c_gate_fewer_instructions_many", FOUR_TOKENS), row=2, group=5)),
    "14a_bit_table": ("Sixteen ids: a bit row for each expert, and the ranks", "align_figures.draw_bit_table",
                      lambda build: choices.bit_table(runs.arrays(build, "14a_align_bit_ranks", SIXTEEN_IDS))),
    "14a_five_ids": ("Five ids: each thread block writes one row block of two rows", "align_figures.draw_opened_blocks",
                     lambda build: choices.opened_blocks(runs.arrays(build, "14a_align_bit_ranks", FIVE_IDS))),
    "14b_rows": ("Two launches and two sets of count rows", "align_figures.draw_published_rows",
                 lambda build: choices.published_rows(
                     runs.arrays(build, "14a_align_bit_ranks", SIXTEEN_IDS), part=4, later=8)),
    "14b_slots": ("Block {own}: from its ids to their slots", "align_figures.draw_block_slots",
                  lambda build: choices.block_slots(
                      runs.arrays(build, "14a_align_bit_ranks", SIXTEEN_IDS), part=4, own=2)),
    "14b_blocks": ("Two blocks sort while their counts are on their way", "align_figures.draw_blocks_over_time",
                   lambda _: stages_of_a_block.stage_cycles("14b_align_published_counts")),
    "11a_sectors": ("Chapter 11a: one request for weights, by 32 lanes", "layer_figures.draw_requests", _traced(
        kernel_steps.weight_requests, f"11a_moe_naive {WEIGHTS}", row_bytes=128, num_requests=1, label_every=4,
        row_height=10)),
    "11a_token": ("One token through the three kernels", "token_figures.draw_token",
                  lambda _: layer_steps.one_token(**ONE_TOKEN)),
    "11b_tile": ("The first product: a tile of {rows} tokens by {columns} rows of weights", "token_figures.draw_tile",
                 _traced(layer_steps.own_sums, f"11b_moe_tiled {TILE}", rows=16, columns=64, thread=21, steps=224)),
    "15_words": ("Three blocks, three words: a block for each token", "layer_figures.draw_words",
                 lambda build: choices.published_words(
                     runs.arrays(build, "15_one_launch", "--num-tokens 3 --block-size 4"))),
    "17_overlap": ("Three kernels: one after the other, and overlapping", "chain_figure.draw_chain",
                   lambda _: chain_steps.timelines("ABC", "none", "after")),
    "17_trigger": ("When B triggers, and when C starts", "chain_figure.draw_chain",
                   lambda _: chain_steps.timelines("ABC", "after", "before")),
    "18_call": ("Four paths of a Python call; three of them reach a kernel", "call_figure.draw_call", lambda _: {}),
    "19_waves": ('The token "{word}" keeps groups {kept[0]}, {kept[1]}, {kept[2]} and {kept[3]}: which halves of the waves work',
                 "wave_figure.draw_waves", lambda _: wave_steps.phases(*choices.kept_lists(5)[:2])),
    "19_merge": ('The token "{word}": 32 lanes merge the lists of four kept groups', "wave_figure.draw_merge",
                 lambda _: wave_steps.merge(*choices.kept_lists(5), example=5)),
    "routing_example": ("Three tokens, four experts: the gate chooses two experts for each token",
                        "introduction_figures.draw_routing", lambda _: introduction_examples.routing()),
    "primer_sectors": ("The 32 lanes of a warp load one int each", "introduction_figures.draw_sectors",
                       lambda _: introduction_examples.sectors(1, 8)),
    "primer_banks": ("32 lanes read shared memory, one word each", "introduction_figures.draw_banks",
                     lambda _: introduction_examples.banks(1, 2, 32, 33)),
    "primer_latency": ("One scheduler: the more warps, the fewer empty cycles", "latency_figure.draw_latency",
                       lambda _: latency.panels(1, 4, 6)),
    "results": ("What the chapters gain, in microseconds per call", "plots.draw_results",
                lambda _: plot_data.few_and_many(results.load())),
    "expert_load": ("{numel:,} choices of {num_experts} experts: how many each gets", "plots.draw_load",
                    lambda build: choices.load(runs.arrays(build, "05_fused_gate"))),
}
for _name, _operator in ((name, operator) for name, operator in OPERATORS.items() if operator.titles):
    FIGURES[f"{_name}_times"] = (_operator.titles[0], "plots.draw_times",
                                 lambda _, name=_name: plot_data.time_lines(name, results.load()))
    FIGURES[f"{_name}_counters"] = (_operator.titles[1], "plots.draw_counters",
                                    functools.partial(plot_data.counter_panels, _name))
if (results.FOLDER / "16b_layer_warpgroup_products.json").exists():  # the figure needs recorded times
    FIGURES["layer_roofline"] = (
        "The layer below its ceilings: 1 to 16,384 tokens", "plots.draw_roofline",
        lambda _: plot_data.roofline("ceilings " + " ".join(
            name for name in results.chapters(kernel="moe.cu") if (results.FOLDER / f"{name}.json").exists()),
                                     results.load()))
if (results.FOLDER / "17_overlapping_launches.json").exists():
    FIGURES["17_saved"] = ("Microseconds that overlap saves in the three short kernels", "chain_figure.draw_saved",
                           lambda _: chains.saved(results.find(results.load(), "17_overlapping_launches"), [1, 16]))
if (model_times.FOLDER / "model.json").exists():
    FIGURES["18_step"] = ("Where a decode step's time goes: PyTorch's grouped_mm and our operators",
                          "model_figure.draw_step", lambda _: model_times.bars())
if (results.FOLDER / "12_expert_parallel.json").exists():
    FIGURES["12_scaling"] = ("The layer on two GPUs, by stage", "stage_bars.draw_scaling",
                             lambda _: stages.scaling("times 12_expert_parallel 64 4096 16384", results.load()))


def _what_it_shows(name):
    """Returns a figure's alternative text from the Markdown file that shows the figure. Raises ValueError if no README
    shows the figure."""
    for page in files.readmes():
        found = re.search(rf"^!\[(.+)\]\(\S*docs/figures/{name}\.svg\)$", page.read_text(), re.M)
        if found:
            return found[1]
    raise ValueError(f"{name}.svg: no README shows it: ![what it shows](docs/figures/{name}.svg)")


def read_data(name, build):
    """Returns a figure's data, with its title and its description."""
    title, _, make = FIGURES[name]
    data = json.loads(json.dumps(make(build)))
    return {**data, "title": title.format(**data), "description": _what_it_shows(name)}


def _mark(name, data, svg):
    """Returns the line that holds the hash of a figure's data, of the code that draws the figure (without comments) and
    of its SVG."""
    parts = [json.dumps(data, sort_keys=True), svg]
    for module in (FIGURES[name][1].split(".")[0], "figure_style"):
        lines = pathlib.Path(__file__).with_name(f"{module}.py").read_text().splitlines()
        parts += [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    hashed = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return f"<!-- {hashed} -->\n"


def fault(path, name, data):
    """Returns the reason why the figure in the file is out of date, or "" if it is up to date."""
    if not path.exists():
        return "it is missing"
    text = path.read_text()
    marks = re.findall(r"<!-- \w+ -->\n", text)
    good = len(marks) == 1 and marks[0] == _mark(name, data, text.replace(marks[0], ""))
    return "" if good else "not what docs/tools draws of today's data"


def draw(path, name, data):
    """Draws a figure and writes its file atomically."""
    module, function = FIGURES[name][1].split(".")
    ax = getattr(importlib.import_module(module), function)(data, data["title"])
    svg = importlib.import_module("figure_style").svg(ax, data["title"], data["description"])
    files.write_whole(path, svg.replace("\n", "\n" + _mark(name, data, svg), 1))


@files.errors_in_one_line("figures")
def main():
    options = files.parser(__doc__, "check", build="build", figures=pathlib.Path("docs/figures")).parse_args()
    status = 0
    for name in FIGURES:
        path, data = options.figures / f"{name}.svg", read_data(name, options.build)
        wrong = fault(path, name, data)
        if wrong and options.check:
            print(f"{path}: {wrong}; ninja figures draws it", file=sys.stderr)
            status = 1
        elif wrong:
            draw(path, name, data)
    return status


if __name__ == "__main__":
    sys.exit(main())
