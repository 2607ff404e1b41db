"""Writes recorded runs and the output of programs into Markdown files.

    python3 docs/tools/tables.py [--check] [--build build] [--results docs/results/h200] [FILE.md...]

Run it in the repository's root; without files it updates all pages. It writes the text between a marker and the line
<!-- end -->:

    <!-- times: f32 -->               recorded times, see times.py
    <!-- stages: times 12_a 64 -->    recorded times and traffic of several ranks, see stages.py
    <!-- chain: 17_a 1 16 -->         recorded times of a chain of kernels, see chains.py
    <!-- counters: 03 04 -->          counters of two chapters, see counters.py; a row for each marker that follows,
    <!-- row: shuffles: remark -->    with a counter and a remark
    <!-- tree: 0-7 PROGRAM ... -->    words 0 to 7 of dynamic shared memory at each barrier, when the program
                                      runs with these arguments, see tree_steps.py
    <!-- prints: COMMAND -->          the output of a shell command; for `ninja run`, its tables
    <!-- values: head | head -->      a table of values, see values.py; a row for each marker that follows, in which
    <!-- row: label | {VALUE} -->     they are in braces

A value within a line is <!-- value: VALUE -->14.5<!-- end -->; its text stays if its program is not built.
Any other table of numbers must have a reason above it: <!-- by hand: REASON -->.

--check writes nothing, and exits with 1 if the tool would change any text. The tool exits with 2 if a file cannot be
read or understood, if a program fails, or if programs are not built: then a line names the first, and no page is said
to be out of date, because values of such programs keep their text.
"""
import errno
import functools
import os
import pathlib
import re
import subprocess
import sys
import types

import chains
import counters
import files
import results
import runs
import stages
import times
import tree_steps
import values

TABLES = ("times", "stages", "chain", "counters", "tree", "prints", "values")
OF_THE_SITE = r"(words|not|results|fold|run)"  # see page_text.py and pages.py


class NotBuilt(ValueError):
    """A page runs a program that is not built."""

    def __init__(self, program, where):
        super().__init__(f"{where}: {program} is not built")
        self.program, self.where = program, where


def _parse_marker(line):
    """Returns a line's marker and its words, or (None, "") for a line without a marker. Raises ValueError for a comment
    that begins like a marker but is unknown."""
    if line == "<!-- end -->":
        return "end", ""
    match = re.fullmatch(rf"<!-- ({'|'.join(TABLES)}|row): (.*?) ?-->", line)
    if not match and re.match(rf"<!-- (?!{OF_THE_SITE}:)[^ :]*:", line) and not files.VALUE.match(line):
        raise ValueError(f"'{line[:60]}' is no marker; <!-- times: f32 -->, <!-- counters: 03 04 --> and "
                         "<!-- tree: 0-7 PROGRAM --> are some")
    return match.groups() if match else (None, "")


def _tree_lines(words, build):
    numbers, _, command = words.partition(" ")
    program, _, arguments = command.partition(" ")
    if not numbers:
        raise ValueError("a tree of nothing; 'tree: 0-7 PROGRAM' has words and a program")
    if not re.fullmatch(r"\w+", program, re.A):
        raise ValueError(f"'{command}' is no program and its arguments")
    wanted = tree_steps.parse_range(numbers)
    lines = tree_steps.steps(runs.trace(build, program, arguments), wanted)
    by = f"`build/cpu/{command} --trace trace.json` and `python3 docs/tools/tree_steps.py {numbers} trace.json`"
    return ["", "```", *lines, "```", "", f"Printed by {by}.", ""]


def _print_lines(command, build):
    if command == "ninja run":
        reports = [runs.report_path(build, chapter) for chapter in results.chapters()]
        words = [sys.executable, results.COMMON / "chapter_table.py", *reports]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    else:
        for program in re.findall(r"(?<!\S)build/cpu\w*/\w+", command):
            if not os.path.exists(program):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"{command}: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return ["", "```", *done.stdout.rstrip("\n").split("\n"), "```", ""]


def _parse_table(kind, words, line, build, recorded):
    """Returns an incomplete table: .make() returns its lines once its .rows are known."""
    rows = []
    if kind == "times":
        make = functools.partial(times.table, times.parse(words, recorded), recorded)
    elif kind == "stages":
        make = functools.partial(stages.table, stages.parse(words, recorded))
    elif kind == "chain":
        make = functools.partial(chains.table, chains.parse(words, recorded))
    elif kind == "prints":
        make = functools.partial(_print_lines, words, build)
    elif kind == "values":
        make = functools.partial(values.Values(build, recorded).table, words, rows)
    elif kind == "counters":
        make = functools.partial(counters.table, counters.parse(words), rows, build, recorded)
    else:
        make = functools.partial(_tree_lines, words, build)
    return types.SimpleNamespace(kind=kind, make=make, rows=rows, line=line, written=False)


def _check_place(kind, table):
    """Raises ValueError if the marker is not allowed at its position, inside or outside a table."""
    if kind in TABLES and table:
        raise ValueError("the table before has no <!-- end -->")
    if kind == "end" and not table:
        raise ValueError("<!-- end --> of no table")
    if kind == "row" and (not table or table.kind not in ("counters", "values") or table.written):
        raise ValueError("a row must follow <!-- counters: ... -->, <!-- values: ... --> or another row")


def _write_values(line, known):
    """Returns the line with its values updated."""
    line, found = files.VALUE.subn(lambda value: value[1] + (known.text(value[2]) or value[3]) + value[4], line)
    if len(re.findall("(?<!`)<!-- value:", line)) != found:
        raise ValueError("a value without its <!-- end --> in the same line")
    return line


def make_page(path, text, build, recorded):
    """Returns the text that a page should have: its own, with its tables and values updated."""
    made, table, at, known = [], None, 0, values.Values(build, recorded)
    try:
        for at, line in enumerate(text.split("\n"), 1):
            kind, words = _parse_marker(line)
            _check_place(kind, table)
            if kind == "row":
                table.rows.append(counters.parse_row(words) if table.kind == "counters" else words)
            elif table and not table.written:
                line_here, at = at, table.line
                made += table.make()
                at, table.written = line_here, True
            if not table or kind in ("row", "end"):
                made.append(_write_values(line, known))
            if kind in TABLES:
                table = _parse_table(kind, words, at, build, recorded)
            table = None if kind == "end" else table
        if table:
            at = table.line
            raise ValueError("the table has no <!-- end -->")
    except (OSError, ValueError) as error:
        program = str(getattr(error, "filename", None))
        if isinstance(error, FileNotFoundError) and program.startswith(f"{build}/cpu"):
            raise NotBuilt(program, f"{path}:{at}") from None
        raise ValueError(f"{path}:{at}: {files.error_text(error)}") from None
    return "\n".join(made)


def do_file(path, check, build, recorded):
    """Writes or checks a page; returns its first difference from the text that it should have, or None."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    made = make_page(path, text, build, recorded)
    if made != text and not check:
        files.write_whole(path, made)
    elif made != text:
        same = os.path.commonprefix([text.split("\n"), made.split("\n")])
        return f"{path}:{len(same) + 1}: this is not what would be written now: ninja tables writes it anew"
    return None


@files.errors_in_one_line("tables", status=2)
def main():
    parser = files.parser(__doc__, "check", build="build", results=results.FOLDER)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    worst, recorded, old, not_built = 0, results.load(arguments.results), [], []
    for path in arguments.files or files.readmes():
        try:
            problem = do_file(path, arguments.check, arguments.build, recorded)
            old += [problem] if problem else []
        except NotBuilt as error:
            not_built.append(error)
        except (OSError, ValueError) as error:
            print(f"tables: {files.error_text(error)}", file=sys.stderr)
            worst = 2
    if not_built:
        first, pages = not_built[0], "1 page runs a program" if len(not_built) == 1 else (
            f"{len(not_built)} pages run programs")
        print(f"tables: {pages} not built yet (first: {first.program}, for {first.where}); "
              "try: ninja docs, which builds them and then the site", file=sys.stderr)
        return 2
    for problem in old:
        print(f"tables: {problem}", file=sys.stderr)
    return max(worst, 1 if old else 0)


if __name__ == "__main__":
    sys.exit(main())
