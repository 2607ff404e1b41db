"""Creates a small course (chapters, recorded runs, programs and pages) in its own folder for testing docs/tools."""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "tools"))

import results  # noqa: E402
import tables  # noqa: E402

RESULTS = pathlib.Path("docs/results/h200")
ANY_MARKER = ("<!-- times: f32 -->, <!-- counters: 03 04 --> and <!-- tree: 0-7 PROGRAM --> are some")


def build_folder():
    """Returns the folder of the built programs, relative to the repository's root: the test's argument if that is such
    a folder, otherwise `build`."""
    given = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "")
    return os.path.relpath(given.resolve() if (given / "cpu").is_dir() else ROOT / "build", ROOT)


def python_with(module):
    """Returns the command of a Python that has the module, or [] if no installed python3 has it."""
    command = ["sh", str(ROOT / "common" / "python.sh"), module]
    return command if subprocess.run([*command, "-c", ""], capture_output=True, check=False).returncode == 0 else []


def own_words(text):
    """Returns the number of words of prose in a page: without listings, tables, folded text and what tools write."""
    text = re.sub(r"<!-- (?:times|counters|stages|chain|tree)\b[^>]*-->.*?<!-- end -->", "", text, flags=re.S)
    return len(re.sub(r"<!--.*?-->|^```.*?^```|<details>.*?</details>|^ *[|\\@#<].*?$|\]\([^)]*\)", "", text,
                      flags=re.M | re.S).split())


def write(path, text, mode=None):
    """Writes a file after making its folders."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if mode:
        path.chmod(mode)


def program(name, *reports, trace=None, status=0):
    """Writes build/cpu/NAME, a program that prints these reports and writes the `trace`, if one is given, to the file
    that --trace specifies."""
    lines = ["#!/bin/sh"]
    if trace is not None:
        lines += ['while [ "$1" != --trace ]; do shift; done', "cat >\"$2\" <<'END'", json.dumps(trace), "END"]
    for report in reports:
        lines += ["cat <<'END'", json.dumps(report), "END"]
    write(f"build/cpu/{name}", "\n".join([*lines, f"exit {status}", ""]), 0o755)


def access(kind, size, offsets, values, space="shared"):
    """Returns a trace event: an access by the lanes of warp 0 whose offset is not None."""
    lanes = sum(1 << lane for lane, offset in enumerate(offsets) if offset is not None)
    others = [None] * (32 - len(offsets))
    return {"kind": kind, "warp": 0, "lanes": lanes, "space": space, "bytes": size, "offset": offsets + others,
            "value": values + others}


def barrier(number):
    """Returns the events of a block barrier that two warps reach."""
    return [{"kind": "block_barrier", "warp": warp, "lanes": 0xffffffff, "barrier": number} for warp in range(2)]


def trace(events, offset, size):
    """Returns a trace with these events, from a launch with `size` bytes of dynamic shared memory at `offset`."""
    return {"kernel": "k", "block": [64, 1, 1], "dynamic_shared": {"offset": offset, "bytes": size}, "truncated": False,
            "events": events}


def call(main, *arguments, stdin=""):
    """Runs a tool's main(). Returns its exit status and its output on both streams."""
    said, kept = io.StringIO(), (sys.argv, sys.stdin)
    sys.argv, sys.stdin = ["tool", *map(str, arguments)], io.StringIO(stdin)
    results.clear_caches()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = main() or 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
        said.write("" if isinstance(error.code, int) else str(error.code))
    finally:
        sys.argv, sys.stdin = kept
    return status, said.getvalue().strip()


class Course(unittest.TestCase):
    """Base class for tests; each test runs in its own folder, which contains the files that make_course() writes."""

    maxDiff = None

    def setUp(self):
        kept = os.getcwd()
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.addCleanup(os.chdir, kept)
        os.chdir(folder)
        results.clear_caches()
        self.make_course()

    def make_course(self):
        """Writes the files that the tests need; subclasses override it."""

    def page(self, *lines):
        """Writes a.md with these lines."""
        write("a.md", "\n".join([*lines, ""]))

    def written(self):
        """Returns the lines of a.md that are neither markers nor empty."""
        return [line for line in pathlib.Path("a.md").read_text().split("\n") if line and not line.startswith("<!--")]

    def row(self, start):
        """Returns the first line of written() that begins with this text, or None."""
        return next((line for line in self.written() if line.startswith(start)), None)

    def tables(self, *arguments):
        """Runs tables.py with these arguments, or on a.md if there are none."""
        return call(tables.main, *(arguments or ["a.md"]))

    def writes(self, *lines):
        """Writes these lines and an end marker to a.md and generates the page's tables; --check must then find nothing
        to change. Returns written()."""
        self.page(*lines, "<!-- end -->")
        self.assertEqual(self.tables(), (0, ""))
        self.assertEqual(self.tables("--check", "a.md"), (0, ""))
        return self.written()

    def refuses(self, message, *lines):
        """Checks that tables.py rejects these lines with exit status 2 and `message`, and leaves a.md as it was."""
        with self.subTest(message):
            self.page(*lines)
            before = pathlib.Path("a.md").read_text()
            self.assertEqual(self.tables(), (2, f"tables: {message}"))
            self.assertEqual(pathlib.Path("a.md").read_text(), before)
