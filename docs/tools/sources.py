"""A source file's lines, and the named snippets they stand in: from a line `// [name]` to the next one like it."""
import pathlib
import re

MARKER = re.compile(r"\s*// \[([a-z0-9_]+)\]")


def lines_and_snippets(path):
    """A pair for each line of the file: its text, and the innermost snippet that holds it ("" if none does)."""
    pairs, open_snippets = [], []
    for text in pathlib.Path(path).read_text().splitlines():
        marker = MARKER.fullmatch(text)
        if marker and open_snippets and open_snippets[-1] == marker[1]:
            open_snippets.pop()
        elif marker:
            open_snippets.append(marker[1])
        pairs.append((text, open_snippets[-1] if open_snippets else ""))
    return pairs


def snippet_of(pairs, line):
    """The snippet that holds a line, counted from 1; "" where there is none or no such line."""
    return pairs[line - 1][1] if 1 <= line <= len(pairs) else ""
