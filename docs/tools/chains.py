"""Recorded runs of a chain of kernels: tables of the time saved when each kernel overlaps the preceding one.

The words of a table's marker request the table:

    CHAPTER 1 16...     the chains of chapter 17's program, for these numbers of tokens
    CHAPTER all 1 16    only the time that all kernels together save in the chain with the layer
"""
import types

import provenance
import results

COLUMNS = {"alone": "alone_us", "without overlap": "plain_us", "overlapping": "overlapped_us", "saved": "saved_us"}
ALL_COLUMNS = {name: column for name, column in COLUMNS.items() if name != "alone"}
WITH_LAYER = "and the layer"  # the chain's name in a record


def parse(words, recorded):
    """Parses the words that request a table into .run, which may be None, .sizes, and .all."""
    chapter, *sizes = words.split() or [""]
    only_all = sizes[:1] == ["all"]
    sizes = sizes[only_all:]
    if getattr(results.kernel_of(chapter), "stem", None) != "decode" or not sizes or \
            not all(size.isdigit() for size in sizes):
        raise ValueError(f"a chain of '{words}'; 'chain: CHAPTER 1 16' has the chapter of a decoding step and numbers "
                         "of tokens")
    return types.SimpleNamespace(run=results.find(recorded, chapter), sizes=[int(size) for size in sizes],
                                 all=only_all)


def _chain_rows(rows, size):
    """Yields the table lines of the chains for this number of tokens: for each chain a heading, a row for each kernel,
    and a row for all kernels together."""
    for chain in dict.fromkeys(row["chain"] for row in rows):
        title = chain if "," in chain else f"router, gate, align, {chain}"
        yield f"| *{size:,} token{'s' * (size != 1)}: {title}* |" + " |" * len(COLUMNS)
        for row in rows:
            if row["chain"] == chain:
                yield f"| {row['kernel']} | {' | '.join(f'{row[name]:,.2f}' for name in COLUMNS.values())} |"


def saved(run, sizes):
    """Returns the microseconds that each kernel saves in the chain without the layer, their sum, and the time that all
    kernels save together, for these numbers of tokens."""
    groups = []
    for size in sizes:
        us = {row["kernel"]: row["saved_us"] for row in run["rows"]
              if row["num_tokens"] == size and row["chain"] != WITH_LAYER}
        every = us.pop("all")
        groups.append({"num_tokens": size, "bars": [*map(list, us.items()), ["sum of the three", sum(us.values())],
                                                    ["all three together", every]]})
    return {"groups": groups}


def _all_rows(rows, size):
    """Yields the table line of the chain with the layer for this number of tokens."""
    for row in rows:
        if (row["chain"], row["kernel"]) == (WITH_LAYER, "all"):
            yield f"| {size:,} | {' | '.join(f'{row[name]:,.2f}' for name in ALL_COLUMNS.values())} |"


def table(request):
    """Returns the table's lines, followed by the source of its numbers."""
    run, columns, first = request.run, ALL_COLUMNS if request.all else COLUMNS, "tokens" if request.all else "kernel"
    lines = ["", f"| {first} | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for size in request.sizes:
        rows = [row for row in run["rows"] if row["num_tokens"] == size] if run else []
        lines += (_all_rows if request.all else _chain_rows)(rows, size)
    old = "*Recorded from an older kernel.* " if run and results.is_old(run) else ""
    return [*lines, "", old + provenance.recorded([run]), ""]
