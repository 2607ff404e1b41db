"""Prints the recorded times of chapter 18 as text tables:

    python3 docs/tools/model_times.py calls     the host time of a call, recorded by check.py
    python3 docs/tools/model_times.py steps     a decode step and the prefill, recorded by model.py
    python3 docs/tools/model_times.py parts     where a step's GPU time goes, recorded by model.py
    python3 docs/tools/model_times.py gains     shares and speed-ups, computed from the parts; an estimate for 61 layers

The records are docs/results/model/calls.json and model.json, which these scripts write with --out. Missing values are
shown as "-".
"""
import json
import pathlib
import sys

FOLDER = pathlib.Path("docs/results/model")
OPERATORS = ("torch.empty", "torch.add", "gate", "align", "route", "layer")
NAMES = {"eager": "eager", "batched_mm": "batched_mm", "grouped_mm": "grouped_mm", "ours": "ours",
         "compile": "grouped_mm, torch.compile", "ours_compile": "ours, torch.compile"}
PARTS = ("gate", "align", "experts", "attention", "rest")
BATCHES = (1, 16, 64)
LAYERS, MOE_LAYERS = 3, 2  # of the measured model
ALL_LAYERS, ALL_MOE_LAYERS = 61, 58  # of DeepSeek-V3


def read(name):
    path = FOLDER / name
    return json.loads(path.read_text()) if path.exists() else None


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def table(head, rows):
    """Returns the table's lines, with the first column left-aligned and the others right-aligned."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in [head, *rows]]


def calls():
    records = {record["binding"]: record.get("host_us", {}) for record in read("calls.json") or ()}
    return table(["host time per call, us", *OPERATORS],
                 [[title, *(number(records.get(binding, {}).get(name), 2) for name in OPERATORS)]
                  for binding, title in (("ctypes", "ctypes"), ("stable", "stable ABI"))])


def steps():
    record = read("model.json") or {"steps": (), "prefill": ()}
    times = {(one["experts"], one["mode"], one["batch"]): one.get("ms") for one in record["steps"]}
    prefill = {one["experts"]: one.get("ms") for one in record["prefill"]}
    columns = [(mode, batch) for mode in ("plain", "graph") for batch in BATCHES]
    head = [f"{'calls' if mode == 'plain' else mode} {batch}" for mode, batch in columns]
    return table(["time, ms", *head, "prefill"],
                 [[title, *(number(times.get((name, *column)), 2) for column in columns), number(prefill.get(name), 1)]
                  for name, title in NAMES.items()])


def part_rows():
    """Returns the recorded parts as [(batch, experts, {part: us})]."""
    record = read("model.json") or {"parts": ()}
    return [(one["parts_of"], one["experts"], one["parts"]) for one in record["parts"] if "parts" in one]


def parts():
    known = {(batch, name): us for batch, name, us in part_rows()}
    return table(["time per step, us", *PARTS],
                 [[f"{NAMES[name]}, {batch}", *(number(known.get((batch, name), {}).get(part), 1) for part in PARTS)]
                  for batch in BATCHES for name in ("grouped_mm", "ours")])


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


def span(values, digits):
    """Formats two numbers as "lower to higher", or as a single number if they are equal when rounded."""
    texts = [number(value, digits) for value in sorted(values)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def with_align(us):
    """Returns the combined time of experts and align, because grouped_mm's experts include its sort."""
    return us["experts"] + us["align"]


def gains():
    """Compares the course's kernels with grouped_mm, part by part, with a column for each number of sequences."""
    known, columns = {(batch, name): us for batch, name, us in part_rows()}, []
    for batch in BATCHES:
        theirs, ours = known.get((batch, "grouped_mm")), known.get((batch, "ours"))
        if not theirs or not ours:
            columns.append(["-"] * 6)
            continue
        step, full, our_full = sum(theirs.values()), all_layers(theirs), all_layers(ours)
        gate = theirs["gate"] * ALL_MOE_LAYERS / MOE_LAYERS
        columns.append([number(100 * theirs["experts"] / step, 1), number(with_align(theirs) / with_align(ours), 2),
                        number(step / sum(ours.values()), 2), number(100 * theirs["gate"] / step, 1),
                        span([one / other for one, other in zip(full, our_full)], 2),
                        span([100 * gate / one for one in full], 1)])
    titles = ("experts, % of grouped_mm's step", "experts with align: times as fast", "step, times as fast",
              "gate, % of grouped_mm's step", "61 layers: step, times as fast", "61 layers: gate, % of the step")
    return table(["computed from the parts", *map(str, BATCHES)], [list(row) for row in zip(titles, *columns)])


def main():
    tables = {"calls": calls, "steps": steps, "parts": parts, "gains": gains}
    if len(sys.argv) != 2 or sys.argv[1] not in tables:
        given = " ".join(sys.argv[1:]) or "nothing"
        print(f"model_times.py: {given}; it must be calls, steps, parts or gains", file=sys.stderr)
        return 2
    print("\n".join(tables[sys.argv[1]]()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
