"""Functions that all tools share: parsing arguments, ending the tool after an error, reading and writing files."""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# A value within a line, as tables.py writes it. An example in backquotes does not match.
VALUE = re.compile(r"(?<!`)(<!-- value: (.*?) -->)(.*?)(<!-- end -->)")
MARKER = re.compile(r"\s*// \[([a-z0-9_]+)\]")


def parser(description, *flags, **options):
    """Returns a parser for a tool's arguments: --FLAG, and --OPTION VALUE with a default. The description is the help
    text."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   allow_abbrev=False)
    for name in flags:
        made.add_argument(f"--{name}", action="store_true")
    for name, default in options.items():
        made.add_argument(f"--{name}", type=type(default), default=default)
    return made


def error_text(error):
    """Returns the message of an OSError or ValueError as one line."""
    where = getattr(error, "filename", None) or "standard output"
    return f"{where}: {error.strerror}" if isinstance(error, OSError) else str(error)


def reading_error_text(error):
    """Returns what is wrong with a file that could not be read as text or as JSON, in words that name neither."""
    if isinstance(error, UnicodeDecodeError):
        return "this is not text"
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: this is not JSON"
    return str(error)


def _drop_output():
    """Redirects standard output to /dev/null if its disk is full, because Python flushes standard output again when it
    exits, and exits with status 120 if that fails."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def errors_in_one_line(tool, status=1, in_root=True):
    """Ends the tool after an error with this status and a one-line message. If a program that the tool ran has failed,
    it has already printed its own error, and the tool ends with the program's status. If the tool must run `in_root`,
    the repository's root, and does not, the message says so."""
    try:
        if sys.stdout is None:
            raise ValueError("standard output: it is closed")
        yield
        sys.stdout.flush()  # so that a full disk is still reported here as the tool's error
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    except ImportError as error:
        message = f"{error.name} is missing: sh common/setup.sh docs installs it"
    except (OSError, ValueError) as error:
        outside = in_root and not pathlib.Path("chapters").is_dir()
        message = error_text(error) + ("; run it in the repository's root" if outside else "")
    else:
        return
    print(f"{tool}: {message}", file=sys.stderr)
    _drop_output()
    sys.exit(status)


def write_whole(path, text):
    """Replaces the file's text atomically, and preserves the file's permissions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(text.encode())
        if path.exists():
            shutil.copymode(path, unfinished)
        unfinished.rename(path)
    except OSError as error:
        error.filename = path  # the name that the user knows, not that of the temporary file
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def readmes():
    """Returns the Markdown files that may have tables and figures: README.md and all pages, except the list of
    exercises, which tests/record_session.sh writes."""
    return [path for pattern in ("README.md", "chapters/*/*.md", "docs/pages/*.md", "common/data/*/README.md",
                                 "exercises/[0-9]*/README.md") for path in sorted(pathlib.Path().glob(pattern))]


def snippets(path):
    """Returns, for each line of a source file, the name of the innermost snippet that contains the line, or "". A
    snippet extends from a line `// [name]` to the next line with the same name."""
    names, open_snippets = [], []
    for text in pathlib.Path(path).read_text().splitlines():
        marker = MARKER.fullmatch(text)
        if marker and open_snippets and open_snippets[-1] == marker[1]:
            open_snippets.pop()
        elif marker:
            open_snippets.append(marker[1])
        names.append(open_snippets[-1] if open_snippets else "")
    return names
