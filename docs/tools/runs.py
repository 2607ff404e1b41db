"""Runs of the chapters' programs that the documentation shows: reports, traces and arrays.

Each is kept in BUILD/docs/runs and made again only when the program is newer. Paths are relative to the repository's root,
in which the tools run.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess


def _name(program, arguments):
    words = program + (" " + arguments if arguments else "")
    return f"{program}_{hashlib.sha256(words.encode()).hexdigest()[:8]}" if arguments else program


def _is_current(kept, program):
    return kept.exists() and kept.stat().st_mtime_ns > program.stat().st_mtime_ns


def _make(build, program, arguments, suffix, command_of):
    """The file or folder of one run, made by the words that command_of(path) adds to the command, whole or not at all."""
    binary = pathlib.Path(build) / "cpu" / program
    kept = pathlib.Path(build) / "docs" / "runs" / (_name(program, arguments) + suffix)
    if _is_current(kept, binary):
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    unfinished = kept.with_name(f".{os.getpid()}_{kept.name}")
    command = [str(binary), *arguments.split(), *command_of(unfinished)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {result.stderr.strip() or f'exit status {result.returncode}'}")
    if suffix == ".report.json":
        unfinished.write_text(result.stdout)
    if kept.is_dir():
        shutil.rmtree(kept)
    os.utime(unfinished)
    unfinished.rename(kept)
    return kept


def report(build, program, arguments=""):
    """What the program reports with --format json, as a dictionary."""
    path = _make(build, program, arguments, ".report.json", lambda _: ["--format", "json"])
    return json.loads(path.read_text())


def trace(build, program, arguments):
    """The path of the trace that the program writes."""
    return _make(build, program, arguments, ".trace.json", lambda path: ["--trace", str(path)])


def arrays(build, program, arguments=""):
    """The folder with the .npy files that the program writes."""

    def command_of(path):
        path.mkdir(parents=True, exist_ok=True)
        return ["--out", str(path)]

    return _make(build, program, arguments, ".arrays", command_of)


def side_by_side(calls):
    """Makes the calls, pairs of a function of this file and its arguments, as many at once as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [future.result() for future in [pool.submit(function, *arguments) for function, arguments in calls]]
