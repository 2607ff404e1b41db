"""Recorded runs of a chain of kernels: tables of the time saved when each kernel overlaps the preceding one.

The words of a table's marker request the table:

    CHAPTER 1 16...     the chains of chapter 17's program, for these numbers of tokens
"""
import types

import provenance
import results

COLUMNS = {"alone": "alone_us", "without overlap": "plain_us", "overlapping": "overlapped_us", "saved": "saved_us"}


def parse(words, recorded):
    """Parses the words that request a table into .run, which may be None, and .sizes."""
    chapter, *sizes = words.split() or [""]
    if getattr(results.kernel_of(chapter), "stem", None) != "decode" or not sizes or \
            not all(size.isdigit() for size in sizes):
        raise ValueError(f"a chain of '{words}'; 'chain: CHAPTER 1 16' has the chapter of a decoding step and numbers "
                         "of tokens")
    return types.SimpleNamespace(run=results.find(recorded, chapter), sizes=[int(size) for size in sizes])


def _chain_rows(rows, size):
    """Yields the table lines of the chains for this number of tokens: for each chain a heading, a row for each kernel,
    and a row for all kernels together."""
    for chain in dict.fromkeys(row["chain"] for row in rows):
        title = chain if "," in chain else f"router, gate, align, {chain}"
        yield f"| *{size:,} token{'s' * (size != 1)}: {title}* |" + " |" * len(COLUMNS)
        for row in rows:
            if row["chain"] == chain:
                yield f"| {row['kernel']} | {' | '.join(f'{row[name]:,.2f}' for name in COLUMNS.values())} |"


def table(request):
    """Returns the table's lines, followed by the source of its numbers."""
    run = request.run
    lines = ["", f"| kernel | {' | '.join(COLUMNS)} |", "|---|" + "---:|" * len(COLUMNS)]
    for size in request.sizes:
        lines += _chain_rows([row for row in run["rows"] if row["num_tokens"] == size] if run else [], size)
    old = "*Recorded from an older kernel.* " if run and results.is_old(run) else ""
    return [*lines, "", old + provenance.recorded([run]), ""]
