"""Shows how an array in shared memory changes from barrier to barrier.

    build/cpu/08_align_blelloch --counts 3,1,7,0,4,1,6,3 --block-size 1 --kernel large --trace trace.json
    python3 docs/tools/tree_steps.py 0-7 trace.json

Prints words 0 to 7 of the traced block's dynamic shared memory, as signed numbers, after each block barrier, if at
least one of them has changed since the previous barrier, with the name of the source's snippet that the barrier ends; "-" is a word that has not been written yet, "?" the result of
an atomic that was never read.
"""
import re
import sys

import files
import kernel_steps
import trace as traces

MAX_WORDS = 64


def parse_range(text):
    """Returns the range of words that a text such as "0-7" names."""
    match = re.fullmatch(r"(\d{1,5})-(\d{1,5})", text, re.A)
    words = range(int(match[1]), int(match[2]) + 1) if match else range(0)
    if not 1 <= len(words) <= MAX_WORDS:
        raise ValueError(f"'{text}' is no range of words: FIRST-LAST, as in 0-7, with at most {MAX_WORDS} words")
    return words


def steps(path, words):
    """Returns the lines that show the words of a range in the trace at this path."""
    trace = traces.read(path)
    size = trace["dynamic_shared"]["bytes"] // traces.WORD_BYTES
    if words.stop > size:
        raise ValueError(
            f"{path}: {trace['kernel']}, which is traced, has {size} words of dynamic shared memory; {words.start} to "
            f"{words.stop - 1} are wanted; PROGRAM --trace-kernel NAME traces another kernel")
    try:
        before, *moments = kernel_steps.words_at_barriers(trace, words.start, len(words))
        snippets = kernel_steps.snippets_before_barriers(trace)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    rows = [("word", [str(word) for word in words])]
    for number, (moment, snippet) in enumerate(zip(moments, snippets), 1):
        if any(now != old and (now[0] != old[0] or now[0] == kernel_steps.UNKNOWN) for now, old in zip(moment, before)):
            name = f"barrier {number}" if number < len(moments) else "end"
            rows.append((f"{name}, {snippet}" if snippet else name, [str(content) for content, _ in moment]))
        before = moment
    first = max(len(name) for name, _ in rows)
    width = max(len(text) for _, texts in rows for text in texts)
    return [f"{name:<{first}} " + "".join(f"  {text:>{width}}" for text in texts) for name, texts in rows]


@files.errors_in_one_line("tree_steps", status=2, in_root=False)
def main():
    if len(sys.argv) != 3:
        raise ValueError("usage: tree_steps.py FIRST-LAST TRACE.json")
    print("\n".join(steps(sys.argv[2], parse_range(sys.argv[1]))), flush=True)


if __name__ == "__main__":
    main()
