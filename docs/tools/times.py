"""Recorded times: tables in Markdown, and the numbers in plots and on the pages about one chapter.

The words of a table's marker request times:

    f32 [CHAPTER...]                    the gate (f32, f16 or bf16), the chapters and PyTorch
    align 64 [uniform] [exact | slots 512] [CHAPTER...]   align with that block size, for the router's choices or
                                        uniform ids, with the padded length that these ids need or with 512 slots
    moe [balanced] [CHAPTER...]         the layer of DeepSeek-V3's shape, for the router's choices or balanced ids
    ceilings [balanced] CHAPTER...      the shares of the read bandwidth and of cuBLAS's rate that the same layers reach
    routing f32 CHAPTER...              gate and align together (f32, f16 or bf16), the chapter and its baseline
    small 64 CHAPTER...                 align with 64 experts and few tokens: a chapter's small and large kernel
    f32 overlap CHAPTER...              launches that overlap and the same launches without overlap; "overlap" follows
                                        the type or the block size of gate, align or routing

Without chapters the table has all recorded chapters. CHAPTER may also be another build of a chapter's kernel:
08_align_blelloch_plain_tree.
"""
import re
import types

import provenance
import results
from operators import OPERATORS

SMALL_SIZES = (1, 16, 64, 120)
HOST_CHAPTER = "01_cpu_baseline"  # its times are in the next chapter's run
WITHOUT_NUMBER = {"align": "times of align without a block size; 'align 64' has one",
                  "small": "times of the small kernel; 'small 64 CHAPTER' has experts and a chapter",
                  "ceilings": "ceilings of nothing; 'ceilings CHAPTER' has a chapter"}
CEILINGS = {"bytes": (1, 16, 64), "operations": (4096, 16384)}  # numbers of tokens at which each rate limits a layer
OLD_KERNEL = " (*recorded from an older kernel*)"


def format_us(us):
    """Formats a time with three significant digits, or as "-" if there is none."""
    if us is None:
        return "-"
    if us < 99.95:
        return f"{us:#.3g}"
    unit = 10 ** max(0, len(f"{us:.0f}") - 3)
    return f"{int(us / unit + 0.5) * unit:,}"


def _operator_of(program):
    return getattr(results.kernel_of(results.chapter_of(program)), "stem", None)


def parse(words, recorded):
    """Parses the words that request times. Returns .operator, .fields of the runs, .chapters in the course's order,
    .small, .ceilings and .overlap."""
    first, *rest = words.split() or [""]
    request = types.SimpleNamespace(operator="align", small=first == "small", ceilings=first == "ceilings",
                                    overlap=False)
    known = {run.get("distribution") for runs in recorded.values() for run in runs}
    number = first in WITHOUT_NUMBER and rest and re.fullmatch("[1-9][0-9]{0,5}", rest[0]) and int(rest.pop(0))
    if first in ("f32", "f16", "bf16"):
        request.operator, request.fields = "gate", {"dtype": first, "distribution": "router"}
    elif first == "routing" and rest[:1] and rest[0] in ("f32", "f16", "bf16"):
        request.operator, request.fields = "routing", {"dtype": rest.pop(0), "distribution": "router"}
    elif first == "moe" or (first == "ceilings" and rest):
        dist = rest.pop(0) if rest and rest[0] in known | {"balanced"} else "router"
        request.operator = "moe"
        request.fields = {"distribution": dist, "hidden_size": 7168, "intermediate_size": 2048, "dtype": "bf16"}
    elif first == "align" and number:
        dist = rest.pop(0) if rest and rest[0] in known else "router"
        room = rest.pop(0) if rest[:1] == ["exact"] else None
        slots = None
        if rest[:1] == ["slots"] and re.fullmatch("[1-9][0-9]{0,9}", "".join(rest[1:2])):
            slots, rest = int(rest[1]), rest[2:]
        request.fields = {"block_size": number, "distribution": dist, "kernel": "auto", "room": room, "capacity": slots}
    elif first == "small" and number and rest:
        request.fields = {"block_size": 64, "num_experts": number, "distribution": "uniform"}
    else:
        raise ValueError(
            WITHOUT_NUMBER.get(first, f"times of '{first}'; it must be f32, f16, bf16, align, moe, routing or small"))
    if rest[:1] == ["overlap"] and request.operator != "moe" and not request.small:
        request.overlap = bool(rest.pop(0))
        if not rest:
            raise ValueError(f"times of '{words}' without a chapter; '{words} CHAPTER' has one")
    request.fields["overlap"] = request.overlap or None
    for name in rest:
        if _operator_of(name) != request.operator:
            raise ValueError(
                f"'{name}' is no chapter with a{'n' * (request.operator[0] in 'aeiou')} {request.operator}")
    request.chapters = sorted(rest, key=results.number_of)
    request.fields["cache"] = "warm"
    return request


def _chapter_run(runs, name):
    """Returns the run that has the chapter's times, and their column in its rows."""
    if name != HOST_CHAPTER:
        return runs.get(name), "here"
    return next((run for run in runs.values() if run.get("before") == HOST_CHAPTER), None), "before"


def _read_runs(request, recorded):
    """Returns the library's run or None; (name, run or None, column) for each requested chapter, or for all chapters if
    none is named (other builds of kernels only if named); and the run that has the floor."""
    operator = OPERATORS[request.operator]
    names = [name for name in recorded if _operator_of(name) == request.operator and
             (name in request.chapters or results.chapter_of(name) == name)]
    found = {name: results.find(recorded, name, **request.fields) for name in names}
    runs = {name: run for name, run in found.items() if run}
    wanted = request.chapters or [HOST_CHAPTER] * bool(_chapter_run(runs, HOST_CHAPTER)[0]) + list(runs)
    chapters = [(name, *_chapter_run(runs, name)) for name in wanted]
    # Chapters that move the same bytes share one floor. Align's chapters move fewer bytes for a shorter list, so the
    # last chapter's floor is used.
    last = None if operator.one_floor else next((run for _, run, _ in reversed(chapters) if run), None)
    return results.find(recorded, operator.library, **request.fields), chapters, last or next(iter(runs.values()), None)


def host_words(run):
    """Returns how the host ran the chapter with which the run is compared, such as "up to 16 threads"."""
    threads = (run or {}).get("host_threads")
    return f"{'up to ' * (threads > 1)}{threads} thread{'s' * (threads > 1)}" if threads else "on the host"


def _library_label(operator, run, way):
    name = operator.library_name
    if way == "here" or way in operator.words:
        return operator.words.get(way, name)
    form, place = way.split("_")
    counted = ((run or {}).get("launches") or {}).get(form) or {}
    least, most = counted.get("least"), counted.get("most")
    launches = f" ({least if least == most else f'{least} to {most}'} launches)" if least else ""
    return f"{name}, {form}, in a {place}{launches}"


def _library_rows(request, run):
    """Returns the label and the column of each of the library's rows or, if chapters are named, only of the row that is
    most comparable with theirs."""
    if request.overlap:
        return []  # the library's kernels are not launched with overlap
    operator, old = OPERATORS[request.operator], run and results.is_old(run)
    remark = f" (*recorded from an older {results.source_of(results.program_of(run)).name}*)" if old else ""
    ways = operator.plotted[:1] if request.chapters and not request.ceilings else operator.columns
    return [(_library_label(operator, run, way) + remark, way) for way in ways]


def _chapter_label(run, name):
    if name == HOST_CHAPTER:
        return f"{name}, {host_words(run)}"
    return name + ", overlapping" * bool(run and results.field(run, "overlap")) + (OLD_KERNEL if run and results.is_old(run) else "")


def _compared_with(request, chapters):
    """Returns the label, the run and the column of each baseline. Overlapping launches are compared with each chapter's
    launches without overlap; otherwise, if the operator has no library, the last chapter's run has a baseline."""
    if request.overlap:
        first = {results.chapter_of(name): run for name, run, _ in reversed(chapters)}
        return [(f"{name}, without overlap", run, "before") for name, run in sorted(first.items())]
    if OPERATORS[request.operator].library or not chapters:
        return []
    _, run, _ = chapters[-1]
    return [((run or {}).get("before", "before"), run, "before")]


def _floor_run(request, recorded, floor, num_tokens):
    """Returns the run that has the floor of so many tokens: `floor` or, if it has no such row and the operator's
    chapters share one floor, the run of the first chapter that has one."""
    names = [name for name in recorded if OPERATORS[request.operator].one_floor and
             _operator_of(name) == request.operator and results.chapter_of(name) == name]
    runs = [floor, *(results.find(recorded, name, **request.fields) for name in names)]
    return next((run for run in runs if results.median(results.row_of(run, num_tokens), "floor_us") is not None), floor)


def _sweep_table(request, recorded):
    library, chapters, floor = _read_runs(request, recorded)
    sizes = OPERATORS[request.operator].sizes
    rows = [(label, [library] * len(sizes), column) for label, column in _library_rows(request, library)]
    rows += [(_chapter_label(run, name), [run] * len(sizes), column) for name, run, column in chapters]
    rows[:0] = [(label, [run] * len(sizes), column) for label, run, column in _compared_with(request, chapters)]
    floors = [_floor_run(request, recorded, floor, size) for size in sizes]
    rows.append(("floor", floors, "floor_us"))
    return sizes, rows, provenance.recorded([*floors, *(run for _, run, _ in chapters), library])


def _small_table(request, recorded):
    rows, used = [], []
    for name, kernel in ((name, kernel) for name in request.chapters for kernel in ("small", "large")):
        fields = {**request.fields, "kernel": kernel}
        runs = [results.find(recorded, name, **fields, num_tokens=size) for size in SMALL_SIZES]
        old = OLD_KERNEL if any(run and results.is_old(run) for run in runs) else ""
        rows.append((f"{name}, {kernel} kernel{old}", runs, "here"))
        used += runs
    return SMALL_SIZES, rows, provenance.recorded(used, only_first_command=True)


def _layers(request, recorded):
    """Returns the rows (label, run, column) of the library's implementations and of the chapters, and the last
    chapter's run, whose ceilings are used."""
    library, chapters, _ = _read_runs(request, recorded)
    rows = [(label, library, way) for label, way in _library_rows(request, library)]
    return rows + [(_chapter_label(run, name), run, "here") for name, run, _ in chapters], chapters[-1][1]


def _ceiling(run, num_tokens, work):
    """Returns the recorded ceiling of the device for this kind of work, per second, or None if it is not recorded."""
    if work == "bytes":
        return ((run or {}).get("floor") or {}).get("read_bytes_per_second")
    return results.row_of(run, num_tokens).get("cublas_operations_per_second")


def _rate(row, work, column):
    us = results.median(row, column)
    return row[work] / (1e-6 * us) if us and work in row else None


def _fraction(row, best, num_tokens, work):
    """Returns the fraction of the ceiling in the run `best` that a row (label, run, column) reaches, or "-"."""
    _, run, column = row
    rate, ceiling = _rate(results.row_of(run, num_tokens), work, column), _ceiling(best, num_tokens, work)
    return f"{rate / ceiling:.2f}" if rate and ceiling else "-"


def _ceilings_table(request, recorded):
    rows, best = _layers(request, recorded)
    columns = [(size, "*bandwidth*" if work == "bytes" else "*cuBLAS*",
                [_fraction(row, best, size, work) for row in rows])
               for work, of_work in CEILINGS.items() for size in of_work]
    columns = [column for column in columns if set(column[2]) != {"-"}] or columns
    lines = ["", f"| tokens | {' | '.join(f'{size:,}' for size, _, _ in columns)} |", "|---|" + "---:|" * len(columns),
             f"| *fraction of* | {' | '.join(ceiling for _, ceiling, _ in columns)} |"]
    lines += [f"| {label} | {' | '.join(cells[row] for _, _, cells in columns)} |"
              for row, (label, _, _) in enumerate(rows)]
    reading = _ceiling(best, 1, "bytes")
    products = [_ceiling(best, size, "operations") for size in CEILINGS["operations"]]
    words = [f"The read bandwidth is {1e-9 * reading:,.0f} GB/s."] if reading else []
    if all(products):
        rates = [f"{1e-12 * rate:.0f} TFLOP/s ({size:,} tokens)"
                 for size, rate in zip(CEILINGS["operations"], products)]
        words.append(f"cuBLAS, timed in runs as long as {request.chapters[-1].partition('_')[0]}'s, reaches "
                     f"{provenance.join(rates)}.")
    used = list({id(run): run for _, run, _ in reversed(rows)}.values())
    return [*lines, "", " ".join([*words, provenance.recorded(used)]), ""]


def roofline(words, recorded):
    """Returns, for the layers that the words name: the two ceilings; for each layer .kind ("library" or "chapter"),
    .label, .old and .points, ascending pairs (operations per byte, operations per second); and their source, as
    text."""
    request = parse(words, recorded)
    rows, best = _layers(request, recorded)
    products = [row["cublas_operations_per_second"]
                for row in (best or {}).get("rows", []) if "cublas_operations_per_second" in row]
    if not products or None in [run for _, run, _ in rows]:
        raise ValueError(f"times of '{words}' have no roofline: a run or its ceilings are not recorded")
    made = [types.SimpleNamespace(
        kind="chapter" if column == "here" else "library", label=label, old=results.is_old(run),
        points=sorted([row["operations"] / row["bytes"], _rate(row, "operations", column)] for row in run["rows"]
                      if _rate(row, "operations", column))) for label, run, column in rows]
    return _ceiling(best, 1, "bytes"), min(products), made, provenance.machines([run for _, run, _ in reversed(rows)])


def table(request, recorded):
    """Returns the table's lines, followed by the source of its numbers."""
    if request.ceilings:
        return _ceilings_table(request, recorded)
    sizes, rows, source = (_small_table if request.small else _sweep_table)(request, recorded)
    lines = ["", f"| tokens | {' | '.join(f'{size:,}' for size in sizes)} |", "|---|" + "---:|" * len(sizes)]
    for label, runs, column in rows:
        cells = [format_us(results.median(results.row_of(run, size), column)) for run, size in zip(runs, sizes)]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    missing = [label for label, runs, _ in rows if not any(runs)]
    return [*lines, "", source, *(f"Not recorded yet: {label}." for label in missing), ""]


def _points(run, label, column):
    if not run:
        raise ValueError(f"{label}: nothing is recorded of it")
    pairs = [(row["num_tokens"], results.median(row, column)) for row in run["rows"]]
    points = [pair for pair in pairs if pair[1] is not None]
    tokens = [pair[0] for pair in points]
    if len(points) < 2 or tokens != sorted(set(tokens)):
        raise ValueError(f'{label}: its rows need two times of "{column}" or more, and tokens that ascend')
    return points


def lines(words, recorded):
    """Returns the lines of a plot, for the chapters that the words name (at least one), and the runs that the lines
    show. Each line has .kind ("library", "host", "chapter" or "floor"), .label, .old and .points, ascending pairs of
    tokens and microseconds."""
    request = parse(words, recorded)
    if request.small or not request.chapters:
        raise ValueError(f"times of '{words}' have no lines; 'align 64 CHAPTER...' has")
    library, chapters, floor = _read_runs(request, recorded)
    operator = OPERATORS[request.operator]
    wanted = [("library", operator.library_name + ("" if way == "here" else f" {way.split('_')[0]}"), library, way)
              for way in operator.plotted]
    wanted += [("host" if chapter[0] == HOST_CHAPTER else "chapter", *chapter) for chapter in chapters]
    wanted[:0] = [("library", *row) for row in _compared_with(request, chapters)]
    wanted.append(("floor", "floor", floor, "floor_us"))
    return [types.SimpleNamespace(kind=kind, label=label, points=_points(run, label, column), old=results.is_old(run))
            for kind, label, run, column in wanted], [run for run in (*(run for _, run, _ in chapters), library) if run]


def median(words, num_tokens, recorded, column="here"):
    """Returns the run and the median microseconds of the one chapter that the words name or, if they name none, of the
    library."""
    request = parse(words, recorded)
    library, chapters, _ = _read_runs(request, recorded)
    run, column = chapters[0][1:] if request.chapters else (library, column)
    us = results.median(results.row_of(run, num_tokens), column)
    if us is None:
        raise ValueError(f"no time of {num_tokens:,} tokens is recorded of '{words}'")
    return run, us


def floor(words, num_tokens, recorded):
    """Returns the run and its floor in microseconds: the row *floor* of the table of these words."""
    run = _read_runs(parse(words, recorded), recorded)[2]
    us = results.median(results.row_of(run, num_tokens), "floor_us")
    if us is None:
        raise ValueError(f"no floor of {num_tokens:,} tokens is recorded of '{words}'")
    return run, us


def few_and_many(chapter):
    """Returns the token counts whose times the lists of chapters show, or None if the chapter's kernel does not belong
    to an operator."""
    operator = OPERATORS.get(_operator_of(chapter))
    return operator and operator.few_and_many


def chapter_run(recorded, chapter):
    """Returns the run that represents a chapter (f32, blocks of 64 or DeepSeek-V3's layer, with router data), or None
    if it is not recorded. Its rows have "here" and, for the previous chapter, "before": see results.row_of(), median()
    and is_old()."""
    operator = OPERATORS.get(_operator_of(chapter))
    return results.find(recorded, chapter, **parse(operator.standard, recorded).fields) if operator else None
