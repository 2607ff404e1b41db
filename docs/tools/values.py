"""Values in a page's text and in its own tables, from programs' reports and recorded runs. Used by tables.py.

A value is a Python expression and its format: per_token("05", "shuffles"):.1f. Without a format, a time has three
significant digits, and any other number has thousands separators or three significant digits. The expression may use:

    count("06", "launches")          a counter of the chapter's run in total, or, with "06:fill_kernel", of one kernel;
    per_token("05", "shuffles")      counters.py lists the names of runs
    report("13", "num_tokens")       a number that the chapter's program reports
    us("f32 05_fused_gate", 512)     recorded microseconds of the one chapter that these words, as in times.py, name,
    us("f32", 1, "eager_graph")      or of one of the library's implementations
    floor_us("align 64 07_align_vector_pad", 512)
                                     the floor in the table of times of these words
    step_us("ours", 16)              recorded microseconds of chapter 18's decode step as a graph, with these experts
                                     and this number of sequences
    figure("store_rate", "NAME")     a figure of a recorded run
    nsight("05_fused_gate", 24, "gate_kernel", "not_selected")
                                     Nsight Compute's count of a kernel with this many tokens
    candidates(0.9)                  the largest number of experts that pass chapter 13a's bound in 90 % of the tokens
    passed("simt/test_valid")        the number of tests in build/tests/simt/test_valid, all of which must pass
    round, min, max, sum             Python's own
"""
import math
import re

import choices
import counters
import model_times
import results
import runs
import times

PIECE = re.compile(r"\{([^{}]*)\}")


class _Time(float):
    """Recorded microseconds, formatted as in tables of times."""


class Values:
    """The names that expressions may use. The recorded runs that were read are in .used."""

    def __init__(self, build, recorded):
        self.build, self.recorded, self.used = build, recorded, []
        own = (self.count, self.per_token, self.report, self.us, self.floor_us, self.step_us, self.figure,
               self.nsight, self.candidates, self.passed)
        self.names = {function.__name__: function for function in (*own, round, min, max, sum)}

    def count(self, run, counter, per_token=False):
        name, _, kernel = run.partition(":")
        return counters.count(counters.report(self.build, name), counter, kernel, per_token)

    def per_token(self, run, counter):
        return self.count(run, counter, True)

    def report(self, run, name):
        value = results.field(counters.report(self.build, run), name)
        if not isinstance(value, (int, float)):
            raise ValueError(f"'{run}' reports no number '{name}'")
        return value

    def us(self, words, num_tokens, column="here"):
        run, us = times.median(words, num_tokens, self.recorded, column)
        self.used.append(run)
        return _Time(us)

    def floor_us(self, words, num_tokens):
        run, us = times.floor(words, num_tokens, self.recorded)
        self.used.append(run)
        return _Time(us)

    @staticmethod
    def step_us(experts, batch):
        milliseconds = model_times.step_ms(experts, "graph", batch)
        if milliseconds is None:
            raise ValueError(f"no step of {batch} sequences is recorded of '{experts}'")
        return _Time(1000 * milliseconds)

    def figure(self, program, name):
        for run in self.recorded.get(program, []):
            for entry in run.get("figures", []):
                if entry["figure"] == name:
                    self.used.append(run)
                    return entry["value"]
        raise ValueError(f"no figure '{name}' is recorded of '{program}'")

    def nsight(self, chapter, num_tokens, kernel, name):
        for run in self.recorded.get(chapter, []):
            for entry in run.get("kernels", []) if run["command"].endswith(f" {num_tokens}") else []:
                if entry["kernel"] == kernel and name in entry:
                    self.used.append(run)
                    return entry[name]
        raise ValueError(f"no '{name}' of {kernel} with {num_tokens} tokens is recorded of '{chapter}'")

    @staticmethod
    def candidates(part):
        counts = choices.candidates()
        return counts[math.ceil(part * len(counts)) - 1]

    def passed(self, test):
        return runs.passed(self.build, test)

    def text(self, words):
        """Returns the text of the value of "EXPRESSION" or "EXPRESSION:FORMAT", or None if its program is not built."""
        expression, _, form = re.fullmatch(r"(.*?)(:([#,.\w%+]*))?", words, re.S).groups(default="")
        try:
            # Pages are as trusted as the tools, so evaluating their expressions is safe.
            value = eval(expression.strip(), {**self.names, "__builtins__": {}})
            if form or value is None:
                return None if value is None else format(value, form)
        except (ArithmeticError, AttributeError, LookupError, NameError, SyntaxError, TypeError, ValueError) as error:
            raise ValueError(f"the value '{words}': {error}") from None
        return times.format_us(value) if isinstance(value, _Time) else counters.format_number(value)

    def table(self, head, rows):
        """Returns a table's lines from its head and rows, whose cells are separated by "|" and may have values in
        braces."""
        cells = [cell.strip() for cell in head.split("|")]
        texts = [[PIECE.sub(lambda piece: self.text(piece[1]) or "-", cell.strip()) for cell in row.split("|")]
                 for row in rows]
        if any(len(row) != len(cells) for row in texts):
            raise ValueError(f"a row of another number of cells than the head's {len(cells)}")
        numbers = [at > 0 and all(re.fullmatch(r"[-+~]?\d[^:]*|-?", row[at]) for row in texts)
                   for at in range(len(cells))]
        lines = ["|" + "".join(f" {text}".rstrip() + " |" for text in row) for row in [cells, *texts]]
        lines[1:1] = ["|" + "".join("---:|" if number else "---|" for number in numbers)]
        old = any(run and results.is_old(run) for run in self.used)
        return ["", *lines, ""] + (["*Some of these times were recorded from an older kernel.*", ""] if old else [])
