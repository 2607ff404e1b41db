"""Shows how an array in shared memory changes from barrier to barrier.

    build/cpu/08_align_blelloch --counts 3,1,7,0,4,1,6,3 --block-size 1 --kernel large --trace trace.json
    python3 docs/tools/tree_steps.py 0-7 trace.json

Prints words 0 to 7 of the traced block's dynamic shared memory after each block barrier before which one of them had changed,
as signed numbers; "-" where nothing was written yet, "?" where an atomic's result was never read.
"""
import json
import pathlib
import re
import sys

WORD_BYTES = 4
MAX_WORDS = 64
UNWRITTEN, UNKNOWN = "-", "?"


def parse_range(text):
    """The words "0-7" as a range."""
    match = re.fullmatch(r"(\d{1,5})-(\d{1,5})", text, re.A)
    words = range(int(match[1]), int(match[2]) + 1) if match else range(0)
    if not 1 <= len(words) <= MAX_WORDS:
        raise ValueError(f"words '{text}'; 0-7 are some, and {MAX_WORDS} the most")
    return words


def _pieces(event, begin, end):
    """The words between these bytes that the lanes of an event accessed: number, and value or None where that is not known."""
    for offset, value in zip(event["offset"], event["value"]):
        if offset is None or offset >= end or offset + event["bytes"] <= begin:
            continue
        if event["bytes"] % WORD_BYTES or offset % WORD_BYTES:
            raise ValueError("it has accesses to parts of these words")
        bits = None if value is None else int(value, 16)
        for piece in range(event["bytes"] // WORD_BYTES):
            at = offset + piece * WORD_BYTES
            if begin <= at < end:
                word = None if bits is None else (bits >> (8 * WORD_BYTES * piece)) & 0xFFFFFFFF
                yield (at - begin) // WORD_BYTES, word if word is None else word - ((word & 0x80000000) << 1)


def _follow(events, begin, count):
    """The words at every barrier and at the end: pairs of the barrier's number, None for the end, and a list of (content, number
    of the change that left it so)."""
    now = [(UNWRITTEN, 0)] * count
    steps = []
    for event in events:
        kind, shared = event.get("kind"), event.get("space") == "shared"
        if kind == "block_barrier":
            steps.append((event["barrier"], list(now)))
        elif kind in ("shared_store", "shared_load") or (kind == "atomic" and shared):
            for index, value in _pieces(event, begin, begin + count * WORD_BYTES):
                content, change = now[index]
                if kind != "shared_load":
                    known = kind == "shared_store" and value is not None
                    now[index] = (value if known else UNKNOWN, change + 1)
                elif value is not None and content == UNKNOWN:
                    # A load tells what atomics had left there: since when, the steps so far know too.
                    now[index] = (value, change)
                    for _, words in steps:
                        words[index] = now[index] if words[index][1] == change else words[index]
    return [*steps, (None, now)]


def _changed(words):
    """What makes two steps different: values; of what nobody knows, the number of the change."""
    return [word if word[0] == UNKNOWN else word[0] for word in words]


def steps(trace, words):
    """The lines that show the words of a range, from the path of a trace."""
    try:
        root = json.loads(pathlib.Path(trace).read_text())
        memory = root["dynamic_shared"]
        begin, end, events, truncated = memory["offset"], memory["bytes"] // WORD_BYTES, root["events"], root["truncated"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{trace}: it is no trace of a kernel") from None
    if truncated:
        raise ValueError(f"{trace}: the kernel did more than the trace holds")
    if words.stop > end:
        raise ValueError(f"{trace}: the kernel has {end} words of dynamic shared memory; "
                         f"{words.start} to {words.stop - 1} are wanted")
    try:
        followed = _follow(events, begin + words.start * WORD_BYTES, len(words))
    except ValueError as error:
        raise ValueError(f"{trace}: {error}") from None
    lines, last = [], [UNWRITTEN] * len(words)
    for barrier, content in followed:
        if _changed(content) != last:
            last = _changed(content)
            lines.append((f"barrier {barrier + 1}" if barrier is not None else "end", [str(word) for word, _ in content]))
    rows = [("word", [str(word) for word in words]), *lines]
    first = max(len(name) for name, _ in rows)
    width = max(len(text) for _, texts in [("", [str(words[-1])]), *lines] for text in texts)
    return [f"{name:<{first}} " + "".join(f"  {text:>{width}}" for text in texts) for name, texts in rows]


def main():
    if len(sys.argv) != 3:
        print("usage: tree_steps.py FIRST-LAST TRACE.json", file=sys.stderr)
        return 2
    try:
        print("\n".join(steps(sys.argv[2], parse_range(sys.argv[1]))), flush=True)
    except OSError as error:
        print(f"tree_steps: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"tree_steps: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
