"""What all tools share: their arguments, how they end if something is wrong, and files as they read and write them."""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

# A value within a line, as tables.py writes it; not an example of one, in backquotes.
VALUE = re.compile(r"(?<!`)(<!-- value: (.*?) -->)(.*?)(<!-- end -->)")
MARKER = re.compile(r"\s*// \[([a-z0-9_]+)\]")


def parser(description, *flags, **options):
    """Parses a tool's arguments, which its description tells of: --FLAG, and --OPTION VALUE with a default."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in flags:
        made.add_argument(f"--{name}", action="store_true")
    for name, default in options.items():
        made.add_argument(f"--{name}", type=type(default), default=default)
    return made


def reason(error):
    """An OSError or ValueError in one line."""
    where = getattr(error, "filename", None) or "standard output"
    return f"{where}: {error.strerror}" if isinstance(error, OSError) else str(error)


def _drop_output():
    """Redirects a standard output that is full to /dev/null: Python flushes it again when it exits, and exits with
    120 if that fails."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def errors_in_one_line(tool, status=1):
    """Ends the tool with this status where something is wrong, and says what in one line, unless a program has."""
    try:
        if sys.stdout is None:
            raise ValueError("standard output: it is closed")
        yield
        sys.stdout.flush()  # here a full disk is still reported as the tool's error
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    except ImportError as error:
        message = f"{error.name} is missing: sh common/setup.sh docs installs it"
    except (OSError, ValueError) as error:
        message = reason(error)
    else:
        return
    print(f"{tool}: {message}", file=sys.stderr)
    _drop_output()
    sys.exit(status)


def write_whole(path, text):
    """Puts the text in the file's place, whole or not at all; its rights stay."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(text.encode())
        if path.exists():
            shutil.copymode(path, unfinished)
        unfinished.rename(path)
    except OSError as error:
        error.filename = path  # which people know, and not the one beside it
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def readmes():
    """The Markdown files that hold tables and show figures: README.md and all pages, but for the list of exercises,
    which tests/record_session.sh writes."""
    return [path for pattern in ("README.md", "chapters/*/*.md", "docs/pages/*.md", "common/data/*/README.md",
                                 "exercises/[0-9]*/README.md") for path in sorted(pathlib.Path().glob(pattern))]


def snippets(path):
    """For each line of a source file the innermost named snippet that holds it, "" if none does. A snippet goes from
    a line `// [name]` to the next one like it."""
    names, open_snippets = [], []
    for text in pathlib.Path(path).read_text().splitlines():
        marker = MARKER.fullmatch(text)
        if marker and open_snippets and open_snippets[-1] == marker[1]:
            open_snippets.pop()
        elif marker:
            open_snippets.append(marker[1])
        names.append(open_snippets[-1] if open_snippets else "")
    return names
