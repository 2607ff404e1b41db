"""Prints the recorded times of chapter 18, as tables of text:

    python3 docs/tools/model_times.py calls     what a call costs the host, recorded by check.py
    python3 docs/tools/model_times.py steps     a decode step and the prefill, recorded by model.py
    python3 docs/tools/model_times.py parts     where a step's GPU time goes, recorded by model.py

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


def read(name):
    path = FOLDER / name
    return json.loads(path.read_text()) if path.exists() else None


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def table(head, rows):
    """Returns lines with the first column flush left, the others flush right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in [head, *rows]]


def calls():
    records = {record["binding"]: record.get("host_us", {}) for record in read("calls.json") or ()}
    return table(["host us a call", *OPERATORS],
                 [[title, *(number(records.get(binding, {}).get(name), 2) for name in OPERATORS)]
                  for binding, title in (("ctypes", "ctypes"), ("stable", "stable ABI"))])


def steps():
    record = read("model.json") or {"steps": (), "prefill": ()}
    times = {(one["experts"], one["mode"], one["batch"]): one.get("ms") for one in record["steps"]}
    prefill = {one["experts"]: one.get("ms") for one in record["prefill"]}
    columns = [(mode, batch) for mode in ("plain", "graph") for batch in BATCHES]
    head = [f"{'calls' if mode == 'plain' else mode} {batch}" for mode, batch in columns]
    return table(["ms", *head, "prefill"],
                 [[title, *(number(times.get((name, *column)), 2) for column in columns), number(prefill.get(name), 1)]
                  for name, title in NAMES.items()])


def part_rows():
    """Returns the recorded parts as [(batch, experts, {part: us})]."""
    record = read("model.json") or {"parts": ()}
    return [(one["parts_of"], one["experts"], one["parts"]) for one in record["parts"] if "parts" in one]


def parts():
    known = {(batch, name): us for batch, name, us in part_rows()}
    return table(["us a step", *PARTS],
                 [[f"{NAMES[name]}, {batch}", *(number(known.get((batch, name), {}).get(part), 1) for part in PARTS)]
                  for batch in BATCHES for name in ("grouped_mm", "ours")])


def main():
    tables = {"calls": calls, "steps": steps, "parts": parts}
    if len(sys.argv) != 2 or sys.argv[1] not in tables:
        given = " ".join(sys.argv[1:]) or "nothing"
        print(f"model_times.py: {given}; it must be calls, steps or parts", file=sys.stderr)
        return 2
    print("\n".join(tables[sys.argv[1]]()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
