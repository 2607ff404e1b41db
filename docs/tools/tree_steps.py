"""Shows how an array in shared memory changes from barrier to barrier.

    build/cpu/08_align_blelloch --counts 3,1,7,0,4,1,6,3 --block-size 1 --kernel large --trace trace.json
    python3 docs/tools/tree_steps.py 0-7 trace.json

Prints words 0 to 7 of the traced block's dynamic shared memory after each block barrier before which one of them
had changed, as signed numbers; "-" where nothing was written yet, "?" where an atomic's result was never read.
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


def _accesses(event, begin, count):
    """The words that the event's lanes accessed, of so many from a byte on: index, and value or None if unknown."""
    for offset, value in zip(event["offset"], event["value"]):
        if offset is None or offset >= begin + count * WORD_BYTES or offset + event["bytes"] <= begin:
            continue
        if event["bytes"] % WORD_BYTES or offset % WORD_BYTES:
            raise ValueError("it has accesses to parts of these words")
        for piece in range(event["bytes"] // WORD_BYTES):
            index = (offset - begin) // WORD_BYTES + piece
            word = None if value is None else (int(value, 16) >> (8 * WORD_BYTES * piece)) & 0xFFFFFFFF
            if 0 <= index < count:
                yield index, word - ((word & 0x80000000) << 1) if word else word


def _follow(events, begin, count):
    """The words at every barrier and at the end: what the step is called, and for each word a pair of what it holds
    and the number of the change that left it so."""
    now, steps = [(UNWRITTEN, 0)] * count, []
    for event in events:
        kind = event.get("kind")
        if kind == "block_barrier":
            steps.append((f"barrier {event['barrier'] + 1}", list(now)))
        if kind not in ("shared_store", "shared_load") and (kind, event.get("space")) != ("atomic", "shared"):
            continue
        for index, value in _accesses(event, begin, count):
            content, change = now[index]
            if kind != "shared_load":
                now[index] = (value if kind == "shared_store" and value is not None else UNKNOWN, change + 1)
            elif value is not None and content == UNKNOWN:
                # A load tells what atomics had left there: since when, the steps so far know too.
                now[index] = (value, change)
                for _, words in steps:
                    words[index] = now[index] if words[index][1] == change else words[index]
    return [*steps, ("end", now)]


def _lines(root, words):
    memory = root["dynamic_shared"]
    size, begin = memory["bytes"] // WORD_BYTES, memory["offset"] + words.start * WORD_BYTES
    if root["truncated"]:
        raise ValueError("the kernel did more than the trace holds")
    if words.stop > size:
        raise ValueError(f"the kernel has {size} words of dynamic shared memory; {words.start} to {words.stop - 1} "
                         "are wanted")
    rows, last = [], [UNWRITTEN] * len(words)
    for name, pairs in _follow(root["events"], begin, len(words)):
        differs_by = [pair if pair[0] == UNKNOWN else pair[0] for pair in pairs]
        if differs_by != last:
            rows.append((name, [str(content) for content, _ in pairs]))
        last = differs_by
    rows.insert(0, ("word", [str(word) for word in words]))
    first = max(len(name) for name, _ in rows)
    width = max(len(text) for _, texts in rows for text in texts)
    return [f"{name:<{first}} " + "".join(f"  {text:>{width}}" for text in texts) for name, texts in rows]


def steps(trace, words):
    """The lines that show the words of a range, from the path of a trace."""
    try:
        return _lines(json.loads(pathlib.Path(trace).read_text()), words)
    except (json.JSONDecodeError, KeyError, TypeError):
        raise ValueError(f"{trace}: it is no trace of a kernel") from None
    except ValueError as error:
        raise ValueError(f"{trace}: {error}") from None


def main():
    try:
        if len(sys.argv) != 3:
            raise ValueError("usage: tree_steps.py FIRST-LAST TRACE.json")
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
