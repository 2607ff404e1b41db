"""Combines many mutants in one program, which is compiled once, for mutants.py. Each changed part of the program checks
which mutant is enabled.

An expression E that mutants 5 and 6 change becomes `(mutant_in(5, 6) ? mutant_in(5, 5) ? (E5) : (E6) : (E))`, and a
statement becomes a chain of ifs; line numbers do not change. The environment variable MUTANT is the number of the
enabled mutant; if it is not set, none is enabled. A change of a constant or a type cannot be chosen at run time, so
such a mutant needs its own program.
"""
import os
import pathlib
import re
import subprocess

CHOOSER = """
#include <stdbool.h>
#include <stdlib.h>

static int chosen;

__attribute__((constructor)) static void choose(void)
{
    const char *const number = getenv("MUTANT");

    chosen = number ? atoi(number) : 0;
}

bool mutant_in(int first, int last)
{
    return first <= chosen && chosen <= last;
}
"""
DECLARED = {".c": "_Bool mutant_in(int first, int last);", "": 'extern "C" bool mutant_in(int first, int last);'}
CONSTANT = re.compile(r"(static|constexpr|extern|enum|using|typedef|template|struct|if constexpr|__shared__)\b")
HEADER = re.compile(r"\s*(?:else\b|(?:case\b[^:]*|default\s*):|(?:if|for|while|switch) (?=\())")


def end_of(code, at):
    """Returns the position of the bracket that closes the bracket at `at`."""
    depth = 0
    for end in range(at, len(code)):
        depth += (code[end] in "([{") - (code[end] in ")]}")
        if depth == 0:
            return end
    raise ValueError(f"a bracket at {at} never closes")


def cuts(code, begin, end, separator):
    """Yields the positions of a separator between begin and end, except inside brackets that open after begin."""
    depth = 0
    for at in range(begin, end):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0 and code[at] == separator:
            yield at


def controls(code):
    """Yields (begin, end) of each condition, and of each of the three parts of a for statement."""
    for match in re.finditer(r"\b(if|while|switch|for) \(", code):
        end = end_of(code, match.end() - 1)
        if match[1] == "for":
            edges = [match.end() - 1, *cuts(code, match.end(), end, ";"), end]
            yield from ((first + 1, last) for first, last in zip(edges, edges[1:]))
        else:
            yield match.end(), end


def initializer(code, begin, end, span):
    """Returns the initializer in a declaration that contains the span, or None."""
    equals = [at for at in cuts(code, begin, span[0], "=") if code[at - 1] == code[at + 1] == " "]
    if not equals:
        return None
    commas = [at for at in cuts(code, equals[-1], end, ",") if at >= span[1]]
    start = equals[-1] + 1
    return None if any(cuts(code, start, span[0], ",")) else (start, commas[0] if commas else end)


def statement_start(code, begin):
    """Returns the position after the last ; { or } before `begin` outside of brackets."""
    depth = 0
    for at in range(begin - 1, -1, -1):
        depth = max(0, depth + (code[at] in ")]") - (code[at] in "(["))
        if depth == 0 and code[at] in ";{}":
            return at + 1
    return 0


def statement_end(code, end):
    """Returns the position of the next semicolon, or None if a block begins or ends before it."""
    for at in range(end, len(code)):
        if code[at] == ";":
            return at
        if code[at] in "{}":
            return None
    return None


def part_of(code, span, conditions, is_declaration):
    """Returns the part of the code that must be chosen as a unit to change the span, as (begin, end, whether it is a
    statement), or None if there is none."""
    for begin, end in conditions:
        if begin <= span[0] and span[1] <= end:
            if is_declaration(code[begin:end].strip() + ";"):
                part = initializer(code, begin, end, span)
                return part and (*part, False)
            return begin, end, False
    begin, end = statement_start(code, span[0]), statement_end(code, span[1])
    if end is None:
        return None
    while match := HEADER.match(code, begin):
        begin = end_of(code, match.end()) + 1 if match[0].endswith(" ") else match.end()
    begin += len(code[begin:end]) - len(code[begin:end].lstrip())
    if span[0] < begin or CONSTANT.match(code, begin):
        return None
    if code.startswith("return ", begin):
        return begin + len("return "), end, False
    if is_declaration(code[begin:end] + ";"):
        part = initializer(code, begin, end, span)
        return part and (*part, False)
    return begin, end + 1, True


def parts_of(code, spans, is_declaration):
    """Returns {part: numbers of the spans}; no part is inside another."""
    conditions = list(controls(code))
    found = {number: part_of(code, span, conditions, is_declaration) for number, span in spans.items()}
    parts = {part for part in found.values() if part}
    outermost = {part: min(other for other in parts if other[0] <= part[0] and part[1] <= other[1]) for part in parts}
    result = {}
    for number, part in found.items():
        if part:
            result.setdefault(outermost[part], []).append(number)
    return result


def chosen_text(text, code, part, variants, numbers):
    """Returns the part's text with a choice among its variants; `numbers` holds the numbers of the first and the last
    mutant."""
    begin, end, is_statement = part
    asked = [f"mutant_in({number}, {number})" for number in range(numbers[0], numbers[1] + 1)]
    lines = [" ".join((code[begin:first] + new + code[last:end]).split()) for first, last, new in variants]
    if is_statement:
        return (f"{{ if (mutant_in({numbers[0]}, {numbers[1]})) {{ "
                + " ".join(f"if ({ask}) {{ {line} }}" for ask, line in zip(asked, lines))
                + f" }} else {{ {text[begin:end]} }} }}")
    choice = "".join(f"{ask} ? ({line}) : " for ask, line in zip(asked, lines[:-1])) + f"({lines[-1]})"
    return f"(mutant_in({numbers[0]}, {numbers[1]}) ? {choice} : ({text[begin:end]}))"


class File:
    """A source file and the mutants that can be in one program, by the parts that they change."""

    def __init__(self, path, code, mutants, is_declaration):
        self.path, self.code, self.text = path, code, pathlib.Path(path).read_text()
        spans = {number: mutant.span[:2] for number, mutant in enumerate(mutants)}
        self.parts = {part: [mutants[number] for number in numbers]
                      for part, numbers in parts_of(code, spans, is_declaration).items()
                      if '"' not in self.text[part[0]:part[1]]}

    def lines_of(self, part):
        return range(self.text.count("\n", 0, part[0]) + 1, self.text.count("\n", 0, part[1]) + 2)

    def leave_out(self, lines):
        """Removes the parts that are in these lines; returns whether there were any."""
        wrong = [part for part in self.parts if lines.intersection(self.lines_of(part))]
        for part in wrong:
            del self.parts[part]
        return bool(wrong)

    def with_mutants(self, numbers):
        """Returns the file's text with all its mutants, and adds their numbers to `numbers`."""
        pieces, at = [], 0
        for part, mutants in sorted(self.parts.items(), key=lambda item: item[0][0]):
            first = len(numbers) + 1
            numbers.update({mutant: first + i for i, mutant in enumerate(mutants)})
            spans = [mutant.span for mutant in mutants]
            pieces += [self.text[at:part[0]], chosen_text(self.text, self.code, part, spans, (first, len(numbers)))]
            at = part[1]
        declared = DECLARED.get(pathlib.Path(self.path).suffix, DECLARED[""])
        return f"{declared} " + "".join(pieces) + self.text[at:]


def lines_with_errors(said, name, marks):
    """Returns the numbers of the file's lines for which the compiler printed a message of one of these kinds."""
    return {int(line) for line in re.findall(rf"{re.escape(name)}:(\d+):\d+: +(?:{marks})", said)}


def build(chapter, files, folder):
    """Builds {folder}/program with the mutants of all files, except those that do not compile. Returns the number of
    each mutant in it."""
    chapter.copy(folder)
    (folder / "chosen.c").write_text(CHOOSER)
    subprocess.run(["gcc", "-O2", "-c", folder / "chosen.c", "-o", folder / "chosen.o"], check=True)
    while True:
        numbers = {}
        for file in files:
            chapter.write_copy(file.path, file.with_mutants(numbers), folder)
        done, said = chapter.compile(folder, chapter.commands, f"{folder}/chosen.o")
        if done:
            return numbers
        # The compiler reports an error in a template at the template's line and adds the line of the instantiation.
        if not any(any([file.leave_out(lines_with_errors(said, os.path.basename(file.path), marks)) for file in files])
                   for marks in ("error|note", "required from")):
            raise RuntimeError(said)
