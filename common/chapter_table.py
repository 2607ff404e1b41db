"""Prints one table of the chapters' counters per operator, with the change from the previous chapter.

    python3 common/chapter_table.py FILE.json...

Each FILE is the output of a chapter's program with --format json. Exits 1 if a chapter is not verified, 2 if a file
cannot be read.
"""
import collections
import json
import sys

# One table per operator. field: a field of the operator's problem; a report is in the last table whose field it has;
# per_token: whether counters are divided by the number of tokens; columns: the columns, each the sum of one or more
# counters; notes: lines below the table, in which {name} is replaced with a number from note_numbers().
Table = collections.namedtuple("Table", "field per_token columns notes")
SECTORS = ("global_load_sectors", "global_store_sectors")
WAVEFRONTS = ("shared_load_wavefronts", "shared_store_wavefronts")
TABLES = (
    Table("score", True, {
        "shuffles": ("shuffles",), "votes": ("votes",), "barriers": ("block_barriers",),
        "divergent": ("divergent_branches",),
        "sectors": SECTORS, "wavefronts": WAVEFRONTS, "conflicts": ("shared_conflicts",),
        "atomics": ("atomic_requests",)}, """\
Counters are per token, from the CPU simulator; launches are in all. divergent: divergent branches;
sectors: 32-byte pieces of global memory; wavefronts: passes over the shared memory banks, conflicts: those
beyond the least possible; lanes: the share at work. A chapter that computes on the host has no counters.
"""),
    Table("block_size", False, {
        "barriers": ("block_barriers",), "shuffles": ("shuffles",), "atomics": ("atomic_requests",),
        "atom conf": ("atomic_conflicts",), "divergent": ("divergent_branches",), "stores": ("global_store_requests",),
        "sectors": SECTORS, "wavefronts": WAVEFRONTS, "conflicts": ("shared_conflicts",)}, """\
Counters are in all. atom conf: atomics of a warp that wait for another of it at the same address; stores: requests
to global memory, of a warp each; the rest as above.
Input: {numel} ids of {num_experts} experts, {num_tokens_post_padded} slots in whole blocks of {block_size}; \
expert {busiest_expert} is the busiest, with {ids} ids.
"""),
    Table("routing_block_size", False, {
        "votes": ("votes",), "barriers": ("block_barriers",), "shuffles": ("shuffles",),
        "divergent": ("divergent_branches",),
        "sectors": SECTORS, "wavefronts": WAVEFRONTS, "conflicts": ("shared_conflicts",),
        "atomics": ("atomic_requests",)}, """\
Counters are in all; votes: with reductions of a warp; the rest as above.
Input: {num_tokens} tokens, each to {topk} of {num_experts} experts, {dtype}; {num_tokens_post_padded} slots in whole blocks of \
{routing_block_size}.
"""),
    Table("hidden_size", False, {
        "barriers": ("block_barriers",), "loads": ("global_load_requests",), "sectors": SECTORS,
        "shared": ("shared_load_requests", "shared_store_requests"), "wavefronts": WAVEFRONTS,
        "conflicts": ("shared_conflicts",), "divergent": ("divergent_branches",)}, """\
Counters are in all. loads: requests to global memory, of a warp each; shared: those to shared memory; the rest as above.
Input: {num_tokens} tokens of {hidden_size}, each to {topk} of {num_experts} experts of {intermediate_size}, {dtype}; \
{megabytes} MB to move, {millions} million operations.
"""))


def read_report(path):
    """Reads a chapter's report. Returns its fields, with those of the problem and the counters among them."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
            return {**report, **report["problem"], **report["counters"]} | {"chapter": report["chapter"]}
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError):
        pass
    raise ValueError(f"{path}: no report in it; a chapter's program with --format json prints one")


def figures(table, report):
    """Returns each column's value, or None if the report has none of the column's counters."""
    divisor = report.get("num_tokens") if table.per_token else 1
    counts = [[report[name] for name in names if name in report] for names in table.columns.values()]
    return [sum(values) / (divisor or 1) if values else None for values in counts]


def cells(table, texts):
    """Formats texts, or the headings themselves, in columns as wide as the headings."""
    return "".join(f" {text:>{max(9, len(heading))}}" for heading, text in zip(table.columns, texts))


def figures_line(table, report, width):
    """Formats the line with a chapter's counters; its name is in a column of this width."""
    digits, possible = 2 if table.per_token else 0, report.get("lanes_possible")
    texts = ["-" if figure is None else f"{figure:.{digits}f}" for figure in figures(table, report)]
    lanes = f"{100 * report['lanes_active'] / possible:.1f}%" if possible else "-"
    return (f"{report['chapter']:{width}} {'yes' if report['verified'] else 'NO':8} {report.get('launches', '-'):>8}"
            f"{cells(table, texts)} {lanes:>7}")


def changes_line(table, report, before, width):
    """Formats the change from the previous chapter: in percent, or as a difference if the previous value was 0."""
    digits, texts = 2 if table.per_token else 0, []
    for now, then in zip(figures(table, report), figures(table, before)):
        if now is None or then is None or now == then:
            texts.append("" if now is None or then is None else "=")
        else:
            texts.append(f"{100 * (now - then) / then:+.1f}%" if then else f"{now:+.{digits}f}")
    return f"{'  against the last':{width + 18}}" + cells(table, texts)


def note_numbers(report):
    """Returns the report's fields as the programs' own reports show them: 16,384 ids, 1.601 MB."""
    fields = {**report, **report.get("load", {}), "numel": report.get("num_tokens", 0) * report.get("topk", 0)}
    texts = {name: f"{value:,}" if isinstance(value, int) else value for name, value in fields.items()}
    for name, field in (("megabytes", "bytes"), ("millions", "operations")):
        texts[name] = f"{1e-6 * report.get(field, 0):.4g}"
    return collections.defaultdict(str, texts)


def text_of(table, reports):
    """Returns the operator's table, or "" if none of the reports is in it."""
    own = [report for report in reports if [other for other in TABLES if other.field in report][-1:] == [table]]
    by_name = {report["chapter"]: report for report in reports}
    if not own:
        return ""
    width = max(len(report["chapter"]) for report in own)
    lines = [f"{'chapter':{width}} verified launches{cells(table, table.columns)} {'lanes':>7}"]
    for report in own:
        before = by_name.get(report.get("before"), {})
        lines.append(figures_line(table, report, width))
        lines += [changes_line(table, report, before, width)] if "launches" in before else []
    return "\n".join(line.rstrip() for line in lines) + "\n\n" + table.notes.format_map(note_numbers(own[0]))


def main():
    if len(sys.argv) < 2:
        raise ValueError("usage: chapter_table.py FILE.json...")
    reports = [read_report(path) for path in sys.argv[1:]]
    texts = [text_of(table, reports) for table in TABLES]
    try:
        with open(1, "w", encoding="utf-8", closefd=False) as out:
            out.write("\n".join(filter(None, texts)))
    except OSError:
        raise ValueError("standard output: cannot be written") from None
    return 0 if all(report["verified"] for report in reports) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as error:
        print(f"chapter_table: {error}", file=sys.stderr)
        sys.exit(2)
