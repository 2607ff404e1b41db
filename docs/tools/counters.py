"""Counters: their labels, the counts from the simulator and from Nsight Compute, and Markdown tables of these counts.

The words of a table's marker request the table: "03 04"; "per token, 03 04"; "of align_kernel, 07 08";
"by num_experts, 08_e32 08_e128"; "64 lanes, 02 03"; "06:fill_kernel 06:scatter_kernel"; "03 machine:03".
"""
import functools
import pathlib
import re
import types

import provenance
import results
import runs

COUNTER_LIST = pathlib.Path(__file__).resolve().parents[2] / "common" / "simt" / "counter_list.h"
SUMS = {"global_requests": ("global load and store requests", "global_load_requests", "global_store_requests"),
        "global_sectors": ("global load and store sectors", "global_load_sectors", "global_store_sectors"),
        "shared_wavefronts": ("shared load and store wavefronts", "shared_load_wavefronts", "shared_store_wavefronts")}
GPU_ONLY = {"branches": "branch instructions", "instructions": "instructions run by a warp",
            "thread_instructions": "instructions run by a lane"}
OTHERWISE_ON_GPU = ("block_barriers", "warp_barriers")  # a GPU counts these in a different unit
NEVER_PER_TOKEN = ("launches",)
MANY_EXPERTS = "--kernel large --num-tokens 64 --dist uniform --num-experts {}"  # the arguments of 08_e32


@functools.lru_cache(maxsize=None)
def labels_by_name():
    """Returns the tables' labels for the simulator's counters, keyed by the counters' names, in the order of
    reports."""
    return dict(re.findall(r'^(?:RARE_)?COUNTER\((\w+), "([^"]*)", "[^"]*"\)$', COUNTER_LIST.read_text(), re.M))


@functools.lru_cache(maxsize=None)
def rare_names():
    """Returns the names of the simulator's counters that a report omits if they are 0."""
    return frozenset(re.findall(r"^RARE_COUNTER\((\w+)", COUNTER_LIST.read_text(), re.M))


def label(name):
    """Returns the tables' label for a counter, for a sum of two counters, or for a counter that only a GPU has."""
    labels = {sum_name: parts[0] for sum_name, parts in SUMS.items()} | GPU_ONLY | labels_by_name()
    if name not in labels:
        raise ValueError(f"'{name}' is no counter")
    return labels[name]


def format_number(number):
    """Formats a number with thousands separators if it is whole or large, else with three significant digits."""
    whole = number >= 99.95 or number == int(number)
    return f"{int(number + 0.5):,}" if whole else f"{number:#.3g}"


def run_of(name):
    """Returns the program and the arguments of a run. "08" is chapter 08, and "08_plain_tree" is another build of its
    kernel; either name may end in the number of experts, as in "08_e32", or of tokens, as in "08_t256"."""
    parts = re.fullmatch(r"(\d\d[a-z]?)(_\w+?)??(?:_e(\d+)|_t(\d+))?", name)
    if not parts:
        raise ValueError(f"'{name}' names no run; a run begins with its chapter's two digits, such as 06 or 13a")
    number, twin, experts, tokens = parts.groups(default="")
    chapters = results.chapters(number)
    if not chapters:
        raise ValueError(f"'{number}' is no chapter with a kernel")
    return chapters[0] + twin, MANY_EXPERTS.format(experts) if experts else f"--num-tokens {tokens}" if tokens else ""


def report(build, name, folder="cpu"):
    """Returns the report of the program in the build folder for a run named as in run_of(). Raises ValueError if the
    program's result was not verified."""
    program, arguments = run_of(name)
    chapter = results.chapter_of(program)
    made = runs.report(build, program, arguments, folder)
    if made.get("chapter") != chapter:
        raise ValueError(f'{program}: it reports "chapter" as "{made.get("chapter")}"; it must be "{chapter}"')
    if made.get("verified") is not True:
        raise ValueError(f"{program}: its result was not verified")
    return made


def count(report, name, kernel="", per_token=False):
    """Returns the value of a counter or of a sum in a report: for one kernel or all kernels, in total or per token."""
    kernels = {entry["name"]: entry["counters"] for entry in report.get("kernels", [])}
    counts = kernels.get(kernel) if kernel else report.get("counters")
    if counts is None:
        raise ValueError(f"{report['chapter']}: it has no counters of the kernel '{kernel}'")
    parts = SUMS[name][1:] if name in SUMS else (name,)
    counts = dict.fromkeys(rare_names(), 0) | counts
    missing = [part for part in parts if not isinstance(counts.get(part), (int, float))]
    if missing:
        raise ValueError(f'{report["chapter"]}: it has no counter "{missing[0]}"')
    num_tokens = report.get("problem", {}).get("num_tokens")
    if per_token and not num_tokens:
        raise ValueError(f'{report["chapter"]}: its problem has no "num_tokens"')
    return sum(counts[part] for part in parts) / (num_tokens if per_token and name not in NEVER_PER_TOKEN else 1)


def parse(words):
    """Parses the words that request counters. Returns .columns, .per_token, .folder, .kernel and .by, of which the last
    two may be empty."""
    *modes, columns = words.split(",")
    request = types.SimpleNamespace(per_token=False, folder="cpu", kernel="", by="", columns=[])
    for mode in map(str.strip, modes):
        match = re.fullmatch(r"(?P<per_token>per token)|(?P<lanes>64 lanes)|(?:of (?P<kernel>\w+))|(?:by (?P<by>\w+))",
                             mode, re.A)
        if not match:
            raise ValueError(f"counters '{mode}'; 'per token', '64 lanes', 'of KERNEL' and 'by NUMBER' are known")
        vars(request).update({name: word for name, word in match.groupdict().items() if word and name != "lanes"})
        request.folder = "cpu64" if match["lanes"] else request.folder
    for word in columns.split():
        match = re.fullmatch(r"(machine:)?(\d\d\w*)|(\d\d\w*):(\w+)", word, re.A)
        if not match:
            raise ValueError(f"a column '{word}'; 03, 06:fill_kernel and machine:03 are some")
        column = types.SimpleNamespace(machine=bool(match[1]), name=match[2] or match[3], kernel=match[4] or "")
        request.columns.append(column)
    if not request.columns:
        raise ValueError("counters of nothing; 'counters: 03 04' is of two chapters")
    if (request.kernel or request.by) and any(column.machine for column in request.columns):
        raise ValueError("a GPU's counters are of all kernels of one problem: no 'of' and no 'by'")
    return request


def parse_row(words):
    """Parses the words that request a row: its counter and its remark, as in "shuffles: remark"."""
    name, _, remark = words.partition(":")
    label(name)
    if "|" in remark:
        raise ValueError("a remark with a '|', which would end the table's cell")
    return name, remark.strip()


def _read_column(build, recorded, column, folder):
    """Sets a column's .report, which has the counts, and its .run, which names their source: the same report or, for a
    GPU's column, the recorded run."""
    if not column.machine:
        column.run = column.report = report(build, column.name, folder)
        return
    chapter, _ = run_of(column.name)
    column.run = results.find_counters(recorded, chapter)
    if not column.run:
        raise ValueError(f"what Nsight Compute counts of {chapter} is not recorded")
    column.report = {"chapter": f"the GPU's counters of {chapter}",
                     "counters": {entry["counter"]: entry.get("gpu") for entry in column.run["counters"]},
                     "problem": {"num_tokens": int(column.run["command"].split()[-1])}}


def _heading(request, column, one_run):
    parts = []
    if any(other.machine for other in request.columns):
        parts.append("machine" if column.machine else "source")
    if request.by:
        parts.append(format_number(column.run["problem"].get(request.by, 0)))
    elif not column.kernel or not one_run:
        parts.append(re.sub(r"_t\d+$", "", column.name).replace("_", ", ", 1).replace("_", " "))
    if column.kernel:
        parts.append(f"`{column.kernel}`")
    return ", ".join(parts) + (" *(an older kernel)*" if column.machine and results.is_old(column.run) else "")


def _cell(request, column, name):
    if name in GPU_ONLY and not column.machine:
        return ""
    if name in OTHERWISE_ON_GPU and column.machine:
        raise ValueError(f"a GPU counts {name} once for each warp: it has no column beside the simulator's")
    value = count(column.report, name, column.kernel or request.kernel, request.per_token)
    return f" {format_number(value)}" + (" in all" if request.per_token and name in NEVER_PER_TOKEN else "")


def _sources(request, one_run):
    """Returns the lines that name the sources of the simulator's and the GPU's counters."""
    reports = [column.run for column in request.columns if not column.machine]
    machines = [column.run for column in request.columns if column.machine]
    lines = []
    if reports:
        subject = ("The *source* counts" if machines else "These counts") + (" per token" if request.per_token else "")
        subject += f" of `{request.kernel}`" if request.kernel else ""
        lines.append(provenance.describe_simulated_runs(reports, not one_run and not request.by, bool(request.by),
                                                        subject))
    if machines:
        lines.append(provenance.recorded(machines, subject="The *machine* counts, made by Nsight Compute,"))
    return lines


def table(request, rows, build, recorded):
    """Returns the table's lines, a row for each counter and remark, followed by the sources of its numbers."""
    if not rows:
        raise ValueError("counters without rows; <!-- row: shuffles --> is one")
    for column in request.columns:
        _read_column(build, recorded, column, request.folder)
    one_run = len({column.name for column in request.columns}) == 1
    remarks = any(remark for _, remark in rows)
    corner = request.by.removeprefix("num_").replace("_", " ") or "counter"
    headings = "".join(f" {_heading(request, column, one_run)} |" for column in request.columns)
    lines = ["", f"| {corner} |{headings}" + (" remark |" if remarks else ""),
             "|---|" + "---:|" * len(request.columns) + ("---|" if remarks else "")]
    for name, remark in rows:
        cells = "".join(f"{_cell(request, column, name)} |" for column in request.columns)
        lines.append(f"| {label(name)} |{cells}" + (f" {remark} |" if remark else " |" if remarks else ""))
    return [*lines, "", *_sources(request, one_run), ""]
