"""Adds what programs printed to the recorded runs, docs/results/GPU/PROGRAM.json.

    build/gpu/02_warp_per_group --bench --format json | python3 docs/tools/record.py
    python3 docs/tools/record.py [--results docs/results] [FILE...]

In the repository's root. The JSON is what `--bench --format json`, tests/peers/pytorch_gate.py --format json and
tests/gpu/count_on_gpu.sh print, one after the other in as many files. A run takes the place of one with the same command or
of the same problem. The folder is named for the GPU: h200. docs/tools/record_all.py runs and records everything.
"""
import argparse
import json
import pathlib
import re
import sys

import results


def parse_runs(text):
    """The JSON objects that stand in a text one after the other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, re.compile(r"\s*").match(text, at).end())
        found.append(value)
    return found


def gpu_of(run):
    """The name of a GPU's folder: "h200" for "NVIDIA H200"."""
    name = str(run.get("device") or run.get("gpu") or "unknown").lower()
    return re.sub(r"[^a-z0-9]+", "_", name.removeprefix("nvidia ")).strip("_")


def _problem(run):
    """What a run measures, whatever its command looks like."""
    if "counters" in run:
        return "counters", run["command"]
    sizes = [row["num_tokens"] for row in run["rows"]]
    return [results.field(run, name) for name in ("problem", "distribution", "seed", "cache")], sizes


def record(run, folder, where="run"):
    """Puts a run into its file in a folder of results; returns the file's path."""
    if not isinstance(run, dict):
        raise ValueError(f"{where}: it is no JSON object")
    program = results.program_of(run)
    results.check_run(run, program, where)
    path = pathlib.Path(folder) / gpu_of(run) / f"{program}.json"
    others = [old for old in (results.read(path) if path.exists() else [])
              if old["command"] != run["command"] and _problem(old) != _problem(run)]
    results.write(path, [*others, run])
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=results.FOLDER.parent)
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    for name in arguments.files or ["standard input"]:
        try:
            text = pathlib.Path(name).read_text() if arguments.files else sys.stdin.read()
            for run in parse_runs(text):
                print(f"recorded in {record(run, arguments.results, name)}: {run['command']}")
        except OSError as error:
            sys.exit(f"record: {error.filename}: {error.strerror}")
        except ValueError as error:
            sys.exit(f"record: {error if str(error).startswith(name) else f'{name}: {error}'}")


if __name__ == "__main__":
    main()
