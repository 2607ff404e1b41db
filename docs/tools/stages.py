"""Recorded runs of a layer on several ranks: tables of the times of its stages, and of the bytes that collectives move.

The words of a table's marker request the table, with the program's CHAPTER and numbers of tokens:

    times CHAPTER 64 4096...      microseconds of the stages, a row for each way to divide the layer; with `only` and
                                  labels of rows, separated by `;`, at the end: only these rows
    traffic CHAPTER 64 4096...    bytes and bandwidths of the collectives, for runs with each expert whole on one rank
"""
import types

import provenance
import results
import times

# The columns of the table of times: the name of each, all-to-all's stages in parentheses, and the stages it covers.
COLUMNS = {"broadcast (dispatch)": ("broadcast", "dispatch"), "align": ("align",), "experts": ("experts",),
           "sum": ("sum",), "reduce (combine)": ("reduce DP", "reduce TP", "combine"),
           "round (add, gather TP)": ("round", "add", "gather TP")}


def parse(words, recorded):
    """Parses the words that request a table. Returns .what and .runs: the runs for each number of tokens, the run on
    one rank first, then the others in the order of their labels."""
    request, _, labels = words.partition(" only ")
    shown = [name.strip() for name in labels.split(";") if name.strip()]
    what, chapter, *sizes = [*request.split(), "", ""]
    sizes = [int(size) for size in sizes if size.isdigit()]
    if what not in ("times", "traffic") or not sizes or not results.kernel_of(chapter):
        raise ValueError(f"stages of '{words}'; 'times CHAPTER 64' and 'traffic CHAPTER 64' are some")
    runs = [run for run in recorded.get(chapter, []) if "stages" in run]
    unknown = set(shown) - {label(run) for run in runs}
    if unknown:
        raise ValueError(f"stages of '{words}': no run is recorded of {', '.join(sorted(unknown))}")
    runs = [run for run in runs if not shown or label(run) in shown]
    found = {size: sorted((run for run in runs if results.field(run, "num_tokens") == size),
                          key=lambda run: (run["ranks"], run["tp"], -run["ep"], run["dispatch"] != "broadcast"))
             for size in sizes}
    return types.SimpleNamespace(what=what, runs=found)


def label(run):
    """Returns how a run divides the layer, in words."""
    if run["ranks"] == 1:
        return "one GPU"
    of_experts = f"EP {run['ep']}" if run["ep"] > 1 else "slices"
    return f"{of_experts}, {run['dispatch']}" if run["dp"] > 1 else f"TP {run['tp']}, {of_experts}"


def _columns(run):
    """Returns the microseconds of each of COLUMNS."""
    return [sum(stage["us"] for stage in run["stages"] if stage["stage"] in names) for names in COLUMNS.values()]


def _alone(runs):
    """Returns the time of all stages on one rank in microseconds, or None if it is not recorded."""
    return next((sum(_columns(run)) for run in runs if run["ranks"] == 1), None)


def _times_rows(runs):
    alone = _alone(runs)
    for run in runs:
        columns, old = _columns(run), times.OLD_KERNEL if results.is_old(run) else ""
        gain = f"{alone / sum(columns):.2f}" if alone else "-"
        yield f"| {label(run)}{old} | {' | '.join(times.format_us(us) for us in [*columns, sum(columns)])} | {gain} |"


def _traffic_rows(runs):
    for run in runs:
        for stage in run["stages"] if run["ep"] == run["ranks"] else []:
            if stage["ranks"] > 1:
                yield (f"| {label(run)} | {stage['stage']} | {stage['bytes']:,} | {stage['bytes_over_the_bus']:,} | "
                       f"{times.format_us(stage['us'])} | {stage['algorithm_gb_per_s']:.1f} | {stage['bus_gb_per_s']:.1f} |")


def table(request):
    """Returns the table's lines, followed by the source of its numbers."""
    if request.what == "times":
        heads, rows = ["", *COLUMNS, "all", "speed-up over one GPU"], _times_rows
    else:
        heads, rows = ["", "stage", "bytes", "over the bus", "us", "alg GB/s", "bus GB/s"], _traffic_rows
    left = 1 if request.what == "times" else 2
    lines = ["", f"| {' | '.join(heads)} |", "|" + "---|" * left + "---:|" * (len(heads) - left)]
    for size, runs in request.runs.items():
        lines += [f"| *{size:,} tokens* |" + " |" * (len(heads) - 1), *rows(runs)]
    used = [run for runs in request.runs.values() for run in runs if run["ranks"] > 1 or request.what == "times"]
    return [*lines, "", provenance.recorded(used, only_first_command=True), ""]


def scaling(words, recorded):
    """Returns a figure's data: the time of each stage as a fraction of one rank's time, for each number of tokens and
    each way to divide the layer."""
    request = parse(words, recorded)
    groups = []
    for size, runs in request.runs.items():
        alone = _alone(runs)
        if not alone:
            raise ValueError(f"stages of '{words}': no run of {size} tokens on one GPU is recorded")
        rows = [{"label": label(run) + " (older kernel)" * results.is_old(run),
                 "parts": [round(us / alone, 4) for us in _columns(run)],
                 "text": f"{times.format_us(sum(_columns(run)))} us"} for run in runs]
        groups.append({"label": f"{size:,} tokens", "rows": rows})
    used = [run for runs in request.runs.values() for run in runs]
    return {"stages": list(COLUMNS), "groups": groups,
            "source": f"{provenance.machines(used)}. Medians of each stage, of the slowest GPU."}
