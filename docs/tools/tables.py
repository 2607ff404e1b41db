"""Writes into Markdown files what is recorded and what programs print.

    python3 docs/tools/tables.py [--check] [--build build] [--results docs/results/h200] [FILE.md...]

In the repository's root; without files, in README.md and the chapters'. What it writes stands between a marker and the line
<!-- end -->:

    <!-- times: f32 -->               recorded times, see times.py
    <!-- counters: 03 04 -->          counters of two chapters, see counters.py. A row for each marker that follows:
    <!-- row: shuffles: remark -->    a counter, and what there is to say about it
    <!-- tree: 0-7 PROGRAM ... -->    what words 0 to 7 of dynamic shared memory hold at each barrier, when the program runs
                                      with these arguments, see tree_steps.py

--check writes nothing. Exits 1 if it finds something that is not as it would write it, 2 if a file cannot be read or
understood or a program fails.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys
import types

import counters
import results
import runs
import times
import tree_steps


# --- markers ---


def parse_marker(line):
    """A line's marker and its words; (None, "") for any other line. A comment whose first word ends with a colon must be known."""
    if line == "<!-- end -->":
        return "end", ""
    match = re.fullmatch(r"<!-- (times|counters|row|tree): (.*?) ?-->", line)
    if match:
        return match.groups()
    if re.match(r"<!-- [^ :]*:", line):
        raise ValueError(f"'{line[:60]}' is no marker; <!-- times: f32 -->, <!-- counters: 03 04 --> and "
                         "<!-- tree: 0-7 PROGRAM --> are some")
    return None, ""


def _parse_tree(words):
    first, _, command = words.partition(" ")
    if not first:
        raise ValueError("a tree of nothing; 'tree: 0-7 PROGRAM' has words and a program")
    program, _, arguments = command.partition(" ")
    if not re.fullmatch(r"\w+", program, re.A):
        raise ValueError(f"'{command}' is no program and its arguments")
    return types.SimpleNamespace(words=tree_steps.parse_range(first), program=program, arguments=arguments)


def _parse_table(kind, words, recorded):
    return {"times": lambda: times.parse(words, recorded), "counters": lambda: counters.parse(words),
            "tree": lambda: _parse_tree(words)}[kind]()


def _tree_lines(request, build):
    trace = runs.trace(build, request.program, request.arguments)
    command = f"build/cpu/{request.program} {request.arguments}".rstrip()
    return ["", "```", *tree_steps.steps(trace, request.words), "```", "", f"Printed by `{command} --trace trace.json` and "
            f"`python3 docs/tools/tree_steps.py {request.words.start}-{request.words.stop - 1} trace.json`.", ""]


# --- pages ---


def parse_page(path, text, recorded):
    """The page's lines, each table's old lines replaced by what is wanted there: .kind, .request, .rows, .line."""
    pieces, table = [], None
    for number, line in enumerate(text.split("\n"), 1):
        try:
            kind, words = parse_marker(line)
            table = _take_line(pieces, table, kind, words, line, number, recorded)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
    if table:
        raise ValueError(f"{path}:{table.line}: the table has no <!-- end -->")
    return pieces


def _take_line(pieces, table, kind, words, line, number, recorded):
    """Adds a line, or what it asks for; returns the table that is open behind it, or None."""
    if kind == "row":
        if not table or table.kind != "counters" or pieces[-1] is table:
            raise ValueError("a row must follow <!-- counters: ... --> or another row")
        table.rows.append(counters.parse_row(words))
        pieces.append(line)
        return table
    if kind == "end" and not table:
        raise ValueError("<!-- end --> of no table")
    if kind in ("times", "counters", "tree"):
        if table:
            raise ValueError("the table before has no <!-- end -->")
        pieces.append(line)
        return types.SimpleNamespace(kind=kind, request=_parse_table(kind, words, recorded), rows=[], line=number)
    if table and pieces[-1] is not table:
        pieces.append(table)
    if not table or kind == "end":
        pieces.append(line)
    return None if kind == "end" else table


def _write_table(table, build, recorded):
    if table.kind == "times":
        return times.table(table.request, recorded)
    if table.kind == "counters":
        return counters.table(table.request, table.rows, build, recorded)
    return _tree_lines(table.request, build)


def make_page(path, pieces, build, recorded):
    """The text that the page should have."""
    lines = []
    for piece in pieces:
        try:
            lines += [piece] if isinstance(piece, str) else _write_table(piece, build, recorded)
        except (ValueError, OSError, SystemExit) as error:
            raise ValueError(f"{path}:{piece.line}: {message_of(error)}") from None
    return "\n".join(lines)


def run_programs(pages, build):
    """Runs the programs that the pages' tables are of, several at once. What fails here fails again, and is named, in its table."""
    calls = set()
    for table in (piece for pieces in pages for piece in pieces if not isinstance(piece, str)):
        if table.kind == "tree":
            calls.add((runs.trace, (build, table.request.program, table.request.arguments)))
        for column in table.request.columns if table.kind == "counters" else []:
            if not column.machine:
                calls.add((runs.report, (build, *counters.run_of(column.name))))
    runs.side_by_side(sorted(calls, key=str))


# --- files ---


def message_of(error):
    """One line that says what is wrong."""
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return str(error)


def write_whole(path, text):
    """Puts the text in the file's place, whole or not at all; its rights stay."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(text.encode())
        shutil.copymode(path, unfinished)
        unfinished.rename(path)
    finally:
        unfinished.unlink(missing_ok=True)


def do_file(path, pieces, text, arguments, recorded):
    """Writes or checks a page; returns the exit status."""
    made = make_page(path, pieces, arguments.build, recorded)
    if made == text:
        return 0
    if not arguments.check:
        write_whole(path, made)
        return 0
    same = next(i for i, pair in enumerate(zip(text.split("\n") + [None], made.split("\n") + [None])) if pair[0] != pair[1])
    print(f"tables: {path}:{same + 1}: this is not what would be written now: ninja tables writes it anew", file=sys.stderr)
    return 1


def attempt(function, *arguments):
    """What the function returns, and the exit status: None and 2 if it fails, once it has said why."""
    try:
        return function(*arguments), 0
    except (ValueError, OSError, SystemExit) as error:
        print(f"tables: {message_of(error)}", file=sys.stderr)
        return None, 2


def read_page(path, recorded):
    """A page's text, and its pieces."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    return text, parse_page(path, text, recorded)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", default="build")
    parser.add_argument("--results", default=results.FOLDER)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    paths = arguments.files or [pathlib.Path("README.md"), *sorted(pathlib.Path("chapters").glob("*/README.md"))]
    recorded, status = attempt(results.load, arguments.results)
    if status:
        return status
    pages = [(path, *attempt(read_page, path, recorded)) for path in paths]
    try:
        run_programs([page[1] for _, page, failed in pages if not failed], arguments.build)
    except (ValueError, OSError, SystemExit):
        pass
    for path, page, failed in pages:
        outcome, failed_now = attempt(do_file, path, page[1], page[0], arguments, recorded) if page else (None, failed)
        status = max(status, failed_now, outcome or 0)
    return status


if __name__ == "__main__":
    sys.exit(main())
