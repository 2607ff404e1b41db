"""The data of plots: recorded times, and what the simulator counts, of all chapters of an operator. ValueError if any lack."""
import pathlib

import counters
import results
import times

FEW, MANY = 1, 65536
TIMES = {"gate": "f32", "align": "align 64"}
PANELS = {"gate": ("shuffles", "block_barriers", "divergent_branches", "shared_wavefronts", "shared_conflicts",
                   "global_sectors"),
          "align": ("block_barriers", "shuffles", "divergent_branches", "global_store_requests", "global_sectors",
                    "shared_wavefronts")}
PER_TOKEN = ("gate",)


def _chapters(operator):
    names = sorted(path.name for path in pathlib.Path("chapters").iterdir())
    return [name for name in names if results.kernel_of(name) and results.kernel_of(name).stem == operator]


def _lines(operator, recorded):
    """Of the chapters that have recorded runs: a new one is in the plots once its times are taken."""
    names = [name for name in _chapters(operator) if name in recorded or name == times.HOST_CHAPTER]
    return times.lines(f"{TIMES[operator]} {' '.join(names)}", recorded)


def _old(lines):
    labels = [line.label for line in lines if line.old and line.kind in ("library", "chapter")]
    return f"Recorded from an older kernel: {', '.join(labels)}" if labels else ""


def time_lines(operator, recorded):
    """Times against tokens, a line for each library, chapter and the floor."""
    lines, source = _lines(operator, recorded)
    return {"source": source, "old": _old(lines), "lines": [
        {"kind": line.kind, "label": line.label.replace("_", " "), "points": line.points} for line in lines]}


def _row(line):
    points = dict(line.points)
    if FEW not in points or MANY not in points:
        raise ValueError(f"{line.label}: no time of {FEW if FEW not in points else MANY} tokens in its rows")
    return {"label": line.label.replace("_", " "), "us": [points[FEW], points[MANY]],
            "texts": [times.format_us(points[FEW]), times.format_us(points[MANY])]}


def few_and_many(recorded):
    """The time for one token and for many, a row for each library (of PyTorch's forms the faster), chapter and the floor."""
    gate, align = _lines("gate", recorded), _lines("align", recorded)
    rows = {operator: [_row(line) for line in lines if line.label != "PyTorch eager"]
            for operator, (lines, _) in (("gate", gate), ("align", align))}
    return {"source": gate[1], "old": _old(gate[0] + align[0]), "rows": rows}


def counter_panels(operator, build):
    """What the simulator counts in each chapter, a panel for each counter: the values and how they read."""
    names = [name for name in _chapters(operator) if results.kernel_of(name).suffix == ".cu"]
    reports = [counters.report(build, name[:2]) for name in names]
    tokens = [report["problem"]["num_tokens"] for report in reports]
    if operator in PER_TOKEN and not all(tokens):
        raise ValueError(f"counters of {operator}: per token of no tokens")
    panels = []
    for name in PANELS[operator]:
        values = [counters.count(report, name) / (of_report if operator in PER_TOKEN else 1)
                  for report, of_report in zip(reports, tokens)]
        panels.append({"name": name, "label": counters.label(name), "values": [round(value, 6) for value in values],
                       "texts": [counters.format_number(value) for value in values]})
    source = (f"{'Per token' if operator in PER_TOKEN else 'In all'}, from the CPU simulator; "
              f"{counters.format_number(tokens[0])} tokens of the router\u2019s data.")
    return {"chapters": [name[:2] for name in names], "panels": panels, "source": source}
