"""Prints the recorded times of chapter 18 as text tables, and provides the data of its figure of a step:

    python3 docs/tools/model_times.py calls     the host time of a call, recorded by check.py
    python3 docs/tools/model_times.py steps     a decode step and the prefill, recorded by model.py
    python3 docs/tools/model_times.py spread    how much single decode steps of a graph vary, recorded by model.py
    python3 docs/tools/model_times.py others    the same for two further implementations of the experts
    python3 docs/tools/model_times.py parts     where a step's GPU time goes, recorded by model.py
    python3 docs/tools/model_times.py gains     shares and speed-ups, computed from the parts
    python3 docs/tools/model_times.py layers    the estimate for 61 layers, computed from the parts

The records are docs/results/model/calls.json and model.json, which these scripts write with --out. Missing values are
shown as "-".
"""
import json
import pathlib
import sys

FOLDER = pathlib.Path("docs/results/model")
OPERATORS = ("torch.empty", "torch.add", "gate", "align", "route", "layer")
NAMES = {"grouped_mm": "grouped_mm", "ours": "ours",
         "compile": "grouped_mm, torch.compile", "ours_compile": "ours, torch.compile"}
SPEED_UPS = {"ours": ("grouped_mm", "speed-up"), "ours_compile": ("compile", "speed-up, torch.compile")}
OTHER_NAMES = {"eager": "eager", "batched_mm": "batched_mm"}
PARTS = ("gate", "align", "experts", "attention", "rest")
BATCHES = (1, 16, 64)
LAYERS, MOE_LAYERS = 3, 2  # of the measured model
ALL_LAYERS, ALL_MOE_LAYERS = 61, 58  # of DeepSeek-V3


def read(name):
    path = FOLDER / name
    return json.loads(path.read_text()) if path.exists() else None


def format_number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def table(head, rows):
    """Returns the table's lines, with the first column left-aligned and the others right-aligned."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in [head, *rows]]


def calls():
    records = {record["binding"]: record.get("host_us", {}) for record in read("calls.json") or ()}
    return table(["host time per call, us", *OPERATORS],
                 [[title, *(format_number(records.get(binding, {}).get(name), 2) for name in OPERATORS)]
                  for binding, title in (("ctypes", "ctypes"), ("stable", "stable ABI"))])


def step_table(names=None):
    """Returns the table of the implementations in `names`, by default those in NAMES. Below each of ours, a row has its
    speed-up, the quotient of the unrounded times."""
    record = read("model.json") or {"steps": (), "prefill": ()}
    times = {(one["experts"], one["mode"], one["batch"]): one.get("ms") for one in record["steps"]}
    times.update({(one["experts"], "prefill", 1): one.get("ms") for one in record["prefill"]})
    columns = [(mode, batch) for mode in ("plain", "graph") for batch in BATCHES] + [("prefill", 1)]
    head = [f"{'calls' if mode == 'plain' else mode} {batch}" for mode, batch in columns[:-1]]
    rows = []
    for name, title in (names or NAMES).items():
        ours = [times.get((name, *column)) for column in columns]
        rows.append([title, *(format_number(ms, 2) for ms in ours[:-1]), format_number(ours[-1], 1)])
        if name in SPEED_UPS:
            baseline, text = SPEED_UPS[name]
            theirs = [times.get((baseline, *column)) for column in columns]
            rows.append([text, *(format_number(one / other if one and other else None, 2)
                                 for one, other in zip(theirs, ours))])
    return table(["time, ms", *head, "prefill"], rows)


def others():
    return step_table(OTHER_NAMES)


def spread():
    """Returns the table of the 10th and 90th percentiles of the times of a step replayed as a graph."""
    record = read("model.json") or {"steps": ()}
    times = {(one["experts"], one["batch"]): one for one in record["steps"] if one["mode"] == "graph" and "ms" in one}
    ranges = [[f"{times[name, batch]['p10']:.2f} to {times[name, batch]['p90']:.2f}" if (name, batch) in times else "-"
               for batch in BATCHES] for name in ("grouped_mm", "ours")]
    return table(["p10 to p90, ms", *(f"graph {batch}" for batch in BATCHES)],
                 [[name, *row] for name, row in zip(("grouped_mm", "ours"), ranges)])


def part_rows():
    """Returns the recorded parts as [(batch, experts, {part: us})]."""
    record = read("model.json") or {"parts": ()}
    return [(one["parts_of"], one["experts"], one["parts"]) for one in record["parts"] if "parts" in one]


def parts():
    """Returns the table of a step's parts, with their sum and the time of the step as a graph, which is another run."""
    known = {(batch, name): us for batch, name, us in part_rows()}
    rows = []
    for batch in BATCHES:
        for name in ("grouped_mm", "ours"):
            us = known.get((batch, name), {})
            ms = [us[part] / 1000 if part in us else None for part in PARTS]
            total = None if None in ms else sum(ms)
            rows.append([f"{NAMES[name]}, {batch}", *(format_number(one, 3) for one in ms),
                         *(format_number(one, 2) for one in (total, step_ms(name, "graph", batch)))])
    return table(["time per step, ms", *PARTS, "sum", "graph"], rows)


def step_ms(experts, mode, batch):
    """Returns the recorded time of a decode step in milliseconds, or None if there is no record."""
    record = read("model.json") or {"steps": ()}
    found = [one.get("ms") for one in record["steps"]
             if (one["experts"], one["mode"], one["batch"]) == (experts, mode, batch)]
    return found[0] if found else None


def all_layers(us):
    """Estimates the time of a step through all layers on one GPU, in microseconds, from the parts of the measured
    model's step. Returns two estimates, because the record does not break `rest` down: in one, `rest` takes as long as in
    the measured model, which is a lower bound; in the other, all of it belongs to the MoE layers."""
    moe = ALL_MOE_LAYERS / MOE_LAYERS
    known = us["attention"] * ALL_LAYERS / LAYERS + moe * (us["gate"] + us["align"] + us["experts"])
    return known + us["rest"], known + moe * us["rest"]


def format_range(values, digits):
    """Formats two numbers as "lower to higher", or as a single number if they are equal when rounded."""
    texts = [format_number(value, digits) for value in sorted(values)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def experts_and_align_us(us):
    """Returns the combined time of experts and align, because grouped_mm's experts include its sort."""
    return us["experts"] + us["align"]


def parts_by_batch():
    """Returns, for each number of sequences, the parts of grouped_mm's step and of ours, or None without a record."""
    known = {(batch, name): us for batch, name, us in part_rows()}
    pairs = {batch: (known.get((batch, "grouped_mm")), known.get((batch, "ours"))) for batch in BATCHES}
    return {batch: pair if all(pair) else None for batch, pair in pairs.items()}


def columns(head, titles, cells_of):
    """Returns a table with a column for each number of sequences, whose cells are cells_of(grouped_mm's parts, ours)."""
    cells = [cells_of(*pair) if pair else ["-"] * len(titles) for pair in parts_by_batch().values()]
    return table([head, *map(str, BATCHES)], [list(row) for row in zip(titles, *cells)])


def gains():
    """Compares the course's kernels with grouped_mm, part by part."""
    def cells_of(theirs, ours):
        step = sum(theirs.values())
        return [format_number(100 * theirs["experts"] / step, 1),
                format_number(experts_and_align_us(theirs) / experts_and_align_us(ours), 2),
                format_number(100 * (theirs["experts"] - experts_and_align_us(ours)) / step, 1),
                format_number(100 * (theirs["gate"] - ours["gate"]) / step, 1),
                format_number(step / sum(ours.values()), 2)]

    return columns("sequences", ("experts, % of grouped_mm's step", "speed-up of the experts",
                                 "the experts save, % of that step", "the gate saves, % of that step",
                                 "speed-up of the step, from the sums of all kernels"), cells_of)


def layers():
    """Estimates the step of the full model."""
    def cells_of(theirs, ours):
        full, our_full = all_layers(theirs), all_layers(ours)
        gate = theirs["gate"] * ALL_MOE_LAYERS / MOE_LAYERS
        return [format_range([one / other for one, other in zip(full, our_full)], 2),
                format_range([100 * gate / one for one in full], 1)]

    return columns("sequences", ("61 layers: speed-up of the step", "61 layers: gate, % of grouped_mm's step"), cells_of)


def bars():
    """Returns the data of the figure: for each number of sequences, the parts of grouped_mm's step and of ours as
    fractions of grouped_mm's step. Align is a part of the experts, as it is in grouped_mm."""
    groups = []
    for batch, pair in parts_by_batch().items():
        whole, rows = sum(pair[0].values()), []
        for name, us in zip(("grouped_mm", "ours"), pair):
            parts_us = (us["gate"], experts_and_align_us(us), us["attention"], us["rest"])
            faster = "" if name == "grouped_mm" else f", {whole / sum(us.values()):.2f} times as fast"
            rows.append({"label": name, "parts": [round(part / whole, 4) for part in parts_us],
                         "text": f"{sum(us.values()) / 1000:.2f} ms{faster}"})
        groups.append({"label": f"{batch} sequence{'s' * (batch > 1)}", "rows": rows})
    return {"parts": ["gate", "experts (with align)", "attention", "rest"], "groups": groups}


def main():
    tables = {"calls": calls, "steps": step_table, "spread": spread, "others": others, "parts": parts, "gains": gains,
              "layers": layers}
    if len(sys.argv) != 2 or sys.argv[1] not in tables:
        given = " ".join(sys.argv[1:]) or "nothing"
        print(f"model_times.py: {given}; it must be {', '.join(list(tables)[:-1])} or layers", file=sys.stderr)
        return 2
    if not FOLDER.is_dir():
        print(f"model_times.py: {FOLDER}: not found here; run it in the repository's root", file=sys.stderr)
        return 1
    print("\n".join(tables[sys.argv[1]]()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
