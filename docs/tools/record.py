"""Records the runs that programs have printed: adds them to docs/results/GPU/NAME.json.

    build/gpu/02_warp_per_group --bench --format json | python3 docs/tools/record.py
    python3 docs/tools/record.py [FILE...]

Run it in the repository's root. The input is any number of runs, one after the other, in JSON, as printed by programs
with `--bench --format json`, by tests/peers/pytorch_gate.py --format json, by tests/gpu/count_on_gpu.sh and, on GPUs,
by chapter 12 with --format json. A run replaces a recorded run of the same command or of the same problem. The folder
is named after the GPU, for example h200. record_all.py runs and records everything.
"""
import json
import pathlib
import re
import sys

import files
import results

PIPED = ("a run is what PROGRAM --bench --format json prints: build/gpu/PROGRAM (build/cpu/01_cpu_baseline for "
         "chapter 01) --bench --format json | python3 docs/tools/record.py")


def gpu_of(run):
    """Returns the name of the folder for a GPU: "h200" for "NVIDIA H200"."""
    name = str(run.get("device") or run.get("gpu") or "unknown").lower()
    return re.sub(r"[^a-z0-9]+", "_", name.removeprefix("nvidia ")).strip("_")


def _problem(run):
    """Returns the fields that identify what a run measured, whatever its command was."""
    fields = [results.program_of(run)] + [results.field(run, name)
                                          for name in ("problem", "distribution", "seed", "cache")]
    return fields, [row["num_tokens"] for row in run.get("rows", [])]


def record(text, folder=results.FOLDER.parent):
    """Adds each run in a text to its file in a folder of results; returns a line for each run."""
    decoder, said, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        begin = re.compile(r"\s*").match(text, at).end()
        if text[begin] != "{":  # a table, whose first number would be JSON
            where = json.JSONDecodeError("", text, begin)
            raise ValueError(f"line {where.lineno}, column {where.colno}: this is not JSON, or not a JSON object; "
                             f"{PIPED}")
        run, at = decoder.raw_decode(text, begin)
        if "stages" in run:  # a run on a GPU, which has no such counters
            run = {name: value for name, value in run.items() if name not in ("counters", "kernels")}
        program = results.program_of(run)
        stem = results.chapter_of(program) or program
        if run.get("device") == "CPU simulator":
            raise ValueError(f"{program}: a run on the CPU simulator, without measurements; only measured runs on a GPU are "
                             f"recorded: build/gpu/{program} --bench --format json | python3 docs/tools/record.py")
        results.check_run(run, stem, program or "the text")
        path = pathlib.Path(folder) / gpu_of(run) / f"{stem}.json"
        others = [old for old in (results.read(path) if path.exists() else []) if old["command"] != run["command"] and
                  ("rows" not in old or _problem(old) != _problem(run))]
        results.write(path, [*others, run])
        said.append(f"recorded in {path}: {run['command']}")
    return said


@files.errors_in_one_line("record")
def main():
    parser = files.parser(__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", default=["/dev/stdin"])
    for name in parser.parse_args().files:
        try:
            text = sys.stdin.read() if name == "/dev/stdin" and sys.stdin else pathlib.Path(name).read_text()
            if not text.strip():
                raise ValueError("there is no run in it")
            print("\n".join(record(text)))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"{name}: {files.reading_error_text(error)}; {PIPED}") from None
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None


if __name__ == "__main__":
    main()
