"""Recorded runs: docs/results/GPU/NAME.json lists the runs of a chapter and its variants, or of a program without a
chapter. Used by all tools that read or write times.

A run with times is the JSON object that `build/gpu/PROGRAM --bench --format json` prints, with "rows". Instead of
"rows", a run printed by tests/gpu/count_on_gpu.sh has "counters", a run printed by tests/gpu/figures.sh has "figures",
and a run of a layer on several ranks has "stages". A run's fields describe what was measured; find() selects runs by
these fields. Paths are relative to the repository's root, in which the tools run. Functions raise OSError, or
ValueError with a one-line message.
"""
import functools
import hashlib
import itertools
import json
import pathlib
import re
import subprocess

import files

FOLDER = pathlib.Path("docs/results/h200")
PEERS = {"cub_align": "tests/peers/cub_align.cu", "moe_peers": "tests/peers/moe_layers.py",
         "pytorch_gate": "chapters/01_cpu_baseline/grouped_topk.py",
         "pytorch_launches": "chapters/01_cpu_baseline/grouped_topk.py",
         "cycles": "tests/gpu/cycles.cu", "store_rate": "tests/gpu/store_rate.cu"}
# Maps the name of a run's list to a field that every entry of the list has.
KINDS = {"rows": "num_tokens", "counters": "counter", "figures": "figure", "stages": "stage"}
COMMON = pathlib.Path(__file__).resolve().parents[2] / "common"


def program_of(run):
    """Returns the name of the program that printed the run or whose counters the run has, or "" if the run does not
    name it."""
    command = run.get("command", "").split() or [""]
    return run.get("peer") or (run.get("chapter", "") if "counters" in run else pathlib.Path(command[0]).name)


ONLY_64_LANES = ("19_sixty_four_lanes",)  # its program is in cpu64, and it has no times


@functools.lru_cache(maxsize=None)
def kernel_of(chapter):
    """Returns the path of a chapter's kernel, OPERATOR.cu or, on the host, gate.c; returns None if there is no such
    chapter or if it uses other chapters' kernels."""
    folder = pathlib.Path("chapters", chapter)
    paths = [*folder.glob("*.cu"), *folder.glob("gate.c")] if re.fullmatch(r"\d\d[a-z]?_\w+", chapter) else []
    return next(iter(paths), None)


def number_of(name):
    """Returns the number of a chapter or an exercise, such as "02" or "11a": the part of its name before the first
    "_"."""
    return name.partition("_")[0]


def chapters(number="[0-9][0-9]*", kernel="*"):
    """Returns the names, in order, of the chapters whose number and kernel file match these patterns, such as "gate.*".
    Omits chapters that run only with 64 lanes, unless `number` is exactly the chapter's number."""
    names = sorted(path.name for path in pathlib.Path("chapters").glob(f"{number}_*"))
    return [name for name in names if kernel_of(name) and kernel_of(name).match(kernel)
            and (name not in ONLY_64_LANES or number == number_of(name))]


def variants(number="[0-9][0-9]*", kernel="*"):
    """Returns the variants of the matching chapters' kernels: the programs' names and the paths of the changes. A file
    WHAT_N.sed stands for WHAT_1.sed and so on; see common/variants.sh."""
    paths = [path for name in chapters(number, kernel)
             for path in sorted(pathlib.Path("chapters", name, "variants").glob("*"))]
    changes = [path.with_name(path.name.replace("_N.", f"_{value}.")) for path in paths
               for value in (path.read_text().split("\n")[0].split()[2:] if path.stem.endswith("_N") else [""])]
    return {f"{change.parts[1]}_{change.stem}": change for change in changes}


def chapter_of(program):
    """Returns the chapter whose kernel the program runs, or "" if there is none. For another build of a kernel or a
    changed kernel, this is the chapter whose name begins the program's name: 08_align_blelloch for
    08_align_blelloch_plain_tree."""
    while program and not kernel_of(program):
        program = program.rpartition("_")[0]
    return program


def source_of(program):
    """Returns the path of the source that the program measures, or None if there is none."""
    if program in PEERS:
        return pathlib.Path(PEERS[program]) if pathlib.Path(PEERS[program]).is_file() else None
    return variants(number_of(program)).get(program, kernel_of(chapter_of(program)))


@functools.lru_cache(maxsize=None)
def source_hash(path):
    """Returns the "kernel_source_sha256" that a program reports if it was built from this source or, if the path is a
    change, from the changed kernel."""
    script = [COMMON / "variants.sh", "--hash"] if path.parent.name == "variants" else [COMMON / "source_hash.sh"]
    if path.suffix == ".py" or not script[0].exists():  # without the lines that mark a snippet
        return hashlib.sha256(re.sub(rb"(?m)^# \[.*\n", b"", path.read_bytes())).hexdigest()
    done = subprocess.run(["sh", *script, path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"{path}: {done.stderr.strip()}")
    return done.stdout.split()[0]


def clear_caches():
    """Forgets the kernels and hashes that were read, after files or the current folder have changed."""
    kernel_of.cache_clear()
    source_hash.cache_clear()


def is_old(run):
    """Checks whether the measured source has changed since the run."""
    return run["kernel_source_sha256"] != source_hash(source_of(program_of(run)))


def _lacking(run):
    """Returns what a run lacks, as a list of phrases."""
    run = run if isinstance(run, dict) else {}
    lacking = [f'"{name}"' for name in ("command", "date", "kernel_source_sha256") if not isinstance(run.get(name), str)]
    values, key = next(((run[kind], key) for kind, key in KINDS.items() if kind in run), (None, ""))
    if not isinstance(values, list) or not values or not all(isinstance(at, dict) and key in at for at in values):
        lacking.append(f'{"and " if lacking else ""}a list "rows", "counters", "figures" or "stages"')
    return lacking


def check_run(run, stem, where):
    """Raises ValueError, with `where` at the start of its message, if the run is not valid in the file named `stem`."""
    if _lacking(run):
        raise ValueError(f"{where}: a run needs {', '.join(_lacking(run))}")
    program = program_of(run)
    if (chapter_of(program) or program) != stem:
        raise ValueError(f'{where}: a run of "{program}"; it must be of "{stem}"')
    counted = "gpu" in run and "cuda" in run and re.search(rf" {program} [1-9]\d*$", run["command"])
    if "counters" in run and not counted:
        raise ValueError(f'{where}: counters need "gpu", "cuda" and a command that ends with chapter and tokens')
    if not source_of(program):
        raise ValueError(f"{where}: {PEERS.get(program, f'chapters/{program}')}, which it measured, is gone")
    if run.get("chapter", stem) != stem:
        raise ValueError(f'{where}: "chapter" is "{run["chapter"]}"; it must be "{stem}"')


def read(path):
    """Reads and checks the runs in a file."""
    try:
        runs = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path}: {files.reading_error_text(error)}") from None
    if not isinstance(runs, list):
        raise ValueError(f"{path}: it is no list of runs")
    for run in runs:
        check_run(run, path.stem, path)
    return runs


def load(folder=FOLDER):
    """Returns all recorded runs: a list of runs for each program's name."""
    runs = [run for path in sorted(pathlib.Path(folder).iterdir()) if path.suffix == ".json" for run in read(path)]
    return {program: list(own) for program, own in itertools.groupby(sorted(runs, key=program_of), program_of)}


def _field_text(name, value):
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return f"    {json.dumps(name)}: [\n" + ",\n".join(f"      {json.dumps(row)}" for row in value) + "\n    ]"
    return f"    {json.dumps(name)}: {json.dumps(value)}"


def _place(run):
    """Returns a run's sort key within its file, which does not depend on when the run was recorded."""
    parts = re.split(r"(\d+)", run["command"])
    return program_of(run), "counters" in run, [int(part) if part.isdigit() else part for part in parts]


def write(path, runs):
    """Writes the runs of a file, with one field or row on each line."""
    objects = [",\n".join(_field_text(*field) for field in run.items()) for run in sorted(runs, key=_place)]
    files.write_whole(path, "[\n" + ",\n".join(f"  {{\n{text}\n  }}" for text in objects) + "\n]\n")


def field(run, name):
    """Returns a field of a run or of its problem, or None if neither has the field."""
    return run.get(name, run.get("problem", {}).get(name))


def find(results, program, **fields):
    """Returns the program's run with times whose fields have these values, or None. Example: find(results, "06_a",
    kernel="small", num_experts=64, num_tokens=16). With num_tokens, the run must have a row for this number of
    tokens."""
    size = fields.get("num_tokens")
    runs = [run for run in results.get(program, []) if "rows" in run and (size is None or row_of(run, size)) and
            all(name == "num_tokens" or field(run, name) == value for name, value in fields.items())]
    if len(runs) > 1:
        problem = ", ".join(f"{name} {value}" for name, value in fields.items() if value is not None)
        raise ValueError(f"{program}: {len(runs)} runs are recorded of {problem}")
    return runs[0] if runs else None


def find_counters(results, chapter):
    """Returns the chapter's Nsight Compute run, which has "counters": if there are several, the run with 2048 tokens;
    returns None if none is recorded."""
    runs = (run for run in results.get(chapter, []) if "counters" in run)
    return max(runs, key=lambda run: run["command"].endswith(" 2048"), default=None)


def row_of(run, num_tokens):
    """Returns the run's row for this number of tokens, or {} if there is none."""
    return next((row for row in run["rows"] if row["num_tokens"] == num_tokens), {}) if run else {}


def median(row, name):
    """Returns the median microseconds of a row's "here", "before", "eager_graph" and so on, which may also be a plain
    number; returns None if there is no time."""
    value = row.get(name)
    value = value.get("median_us") if isinstance(value, dict) else value
    return value if isinstance(value, (int, float)) and 0 < value < 1e12 else None
