"""Data for plots: recorded times and the simulator's counters of all chapters of an operator. Functions raise
ValueError if data are missing. Used by figures.py."""
import counters
import page_text
import provenance
import results
import times
from operators import OPERATORS


def _lines(operator, recorded):
    """Returns the lines of the chapters that have recorded runs, and the runs. A new chapter appears in the plots once
    its times are recorded."""
    names = [name
             for name in results.chapters(kernel=f"{operator}.*") if name in recorded or name == times.HOST_CHAPTER]
    return times.lines(f"{OPERATORS[operator].standard} {' '.join(names)}", recorded)


def _old(lines):
    labels = [line.label.partition(" (*")[0] for line in lines if line.old and line.kind in ("library", "chapter")]
    return f"Recorded from an older kernel: {', '.join(labels)}" if labels else ""


def time_lines(operator, recorded):
    """Returns times against numbers of tokens, with a line for each library, for each chapter and for the floor."""
    lines, runs = _lines(operator, recorded)
    return {"source": provenance.machines(runs), "old": _old(lines), "lines": [
        {"kind": line.kind, "label": line.label.replace("_", " "), "points": line.points} for line in lines]}


def _title(line):
    """Returns a line's label in the figure of all results, which for a chapter is the title of its page."""
    program = line.label.partition(" ")[0]
    page = f"chapters/{program}/README.md"
    return page_text.read_page(page, "").title if results.kernel_of(program) else line.label


def _row(line, few_and_many):
    us = [dict(line.points).get(tokens) for tokens in few_and_many]
    if None in us:
        raise ValueError(f"{line.label}: no time of {few_and_many[us.index(None)]} tokens in its rows")
    return {"label": _title(line), "us": us, "texts": list(map(times.format_us, us))}


def _without_slow(recorded, operator):
    """Returns the recorded runs except those of chapters that, like 11a, are too slow for the largest number of tokens
    in the operator's panel."""
    def ends_early(name):
        run = times.chapter_run(recorded, name) if name in results.chapters(kernel=f"{operator}.*") else None
        return run and run["rows"][-1]["num_tokens"] < OPERATORS[operator].panel[1][1]

    return {name: runs for name, runs in recorded.items() if not ends_early(name)}


def few_and_many(recorded):
    """Returns the times for one token and for many tokens, with a row for each library (for PyTorch, the faster mode),
    for each chapter and for the floor."""
    made = {name: _lines(name, _without_slow(recorded, name)) for name, operator in OPERATORS.items() if operator.panel}
    panels = {name: {"panel": OPERATORS[name].panel,
                     "rows": [_row(line, OPERATORS[name].panel[1]) for line in lines if line.label != "PyTorch eager"]}
              for name, (lines, _) in made.items()}
    runs = sum((runs for _, runs in made.values()), [])
    return {"source": provenance.machines(runs), "old": _old(sum((lines for lines, _ in made.values()), [])), "panels": panels}


def roofline(words, recorded):
    """Returns, for the layers of times.roofline(), operations per second against operations per byte, with both
    ceilings."""
    reading, products, made, source = times.roofline(words, recorded)
    return {"source": source, "old": _old(made), "reading": reading, "products": products, "lines": [
        {"kind": line.kind, "label": line.label.partition(" (")[0].replace("_", " "), "points": line.points}
        for line in made]}


def counter_panels(operator, build):
    """Returns the simulator's counters for each chapter, with a panel for each counter: the values and their texts."""
    names, per_token = results.chapters(kernel=f"{operator}.cu"), OPERATORS[operator].per_token
    reports = [counters.report(build, results.number_of(name)) for name in names]
    panels = []
    for name in OPERATORS[operator].counters.split():
        values = [counters.count(report, name, per_token=per_token) for report in reports]
        panels.append({"name": name, "label": counters.label(name), "values": [round(value, 6) for value in values],
                       "texts": [counters.format_number(value) for value in values]})
    source = (f"{'Per token' if per_token else 'In all'}, from the CPU simulator; "
              f"{counters.format_number(reports[0]['problem']['num_tokens'])} tokens of the router\u2019s data.")
    return {"chapters": [results.number_of(name) for name in names], "panels": panels, "source": source}
