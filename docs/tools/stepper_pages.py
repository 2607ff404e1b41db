"""Generates pages on which a reader steps through a run of the warps of one block. Used by make_site.py.

A page holds the program's compressed trace, which docs/stepper/stepper.js plays back. The page adds what the trace
lacks: the arrays that the kernel writes, as far as the source lines name them, and a description of each step. Without
scripts, the page shows the list of steps and the source. It is either a page of the site or a separate HTML file in a
folder with stepper.js and stepper.css.
"""
import base64
import collections
import concurrent.futures
import functools
import gzip
import html
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import files
import results
import runs
import trace as traces
from trace import WORD_BYTES

# Neighbouring words of one array: `first` is the first word's index in the space, `start` its index in the array.
Region = collections.namedtuple("Region", "space name first count start", defaults=(0,))
SHARED = -2  # the space of shared memory; other spaces are allocation numbers
TEMPLATES = {
    ".md": '# {title}, step by step {{#stepper_{number}}}\n\n@htmlonly\n<link rel="stylesheet" href="stepper.css">\n'
           '<nav class="way" aria-label="Chapters"><a href="chapter_{number}.html">&larr; Chapter {number}</a></nav>\n'
           '{stepper}@endhtmlonly\n',
    ".html": '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
             '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
             '<title>{title}, step by step</title>\n<link rel="icon" href="data:,">\n'
             '<link rel="stylesheet" href="stepper.css">\n</head>\n<body class="stepper-page">\n'
             '<h1>{title}, step by step</h1>\n{stepper}</body>\n</html>\n'}
LOADS, STORES, ATOMIC = ("shared_load", "global_load", "copy_from"), ("shared_store", "global_store"), "atomic"
MBARRIER_BYTES = 8
FEW_LANES = 4  # the text lists the values of up to this many lanes
COPIES = ("copy_to", "copy_from")  # in the order of the call's arguments
BULK_COPIES = ("to", "bulk_copy")
TOGETHER = {"mma.m16n8k16": "multiply 16x16 by 16x8 numbers and add: each has four of the sums",
            "ldmatrix": "exchange what they read: each has its part of every matrix",
            "mma_sync": "multiply 16x16 by 16x16 numbers and add",
            "wgmma": "multiply, with three other warps, 64x16 by 16xN numbers and add: each warp has 16 rows of sums",
            "wgmma.fence": "order what they wrote before the products that follow",
            "wgmma.commit_group": "make a group of the products that they have issued",
            "wgmma.wait_group": "wait for groups of products"}


@functools.lru_cache(maxsize=None)
def _lines(path):
    return pathlib.Path(path).read_text().splitlines()


def _first_name(pattern, text):
    found = re.search(rf"(?<!\w)([A-Za-z_]\w*){pattern}", text)
    return found[1] if found else ""


def _follow_alias(lines, number, name):
    """Returns the array that the pointer of this name points into, if one of the 20 lines above sets it with
    `name = (type *)(array + ...`; otherwise returns the name."""
    for line in reversed(lines[max(0, number - 20):number - 1]):
        _, found, behind = line.partition(f"const {name} = (")
        if found and "*" in behind and _first_name(r" \+ ", behind):
            return _first_name(r" \+ ", behind)
    return name


def _argument_name(lines, number, call, index):
    """Returns the name with which one of the call's first two arguments begins, or "" if the line has no such
    call."""
    arguments = re.search(call + r"\((.*?),\s+(.*)", " ".join(lines[number - 1:number + 1]))
    return re.match(r"&?(?:\w+\.)*(\w*)", arguments[1 + index])[1] if arguments else ""


def array_name(event, side="bulk_copy"):
    """Returns the name of the array that the event's source line reads or writes, or "" if the line names none. A bulk
    copy reads one array and writes another, for which `side` is "to"."""
    lines, number, kind = _lines(event["file"]), event.get("line", 0), event["kind"]
    if not 1 <= number <= len(lines):
        return ""
    text = lines[number - 1].lstrip(" ")
    if kind in COPIES:
        return _argument_name(lines, number, "memcpy_async", COPIES.index(kind))
    if kind == "bulk_copy":
        return _argument_name(lines, number, r"bulk_copy\w*", BULK_COPIES.index(side))
    if kind == ATOMIC:
        text = text[max(0, text.find("atomicAdd(&")):]
    elif kind in LOADS:
        text = text[max(0, text.find(" = ")):]
    variable = re.match(r"[^ \[(=;]*?(?<!\w)([A-Za-z_]\w*) = ", text)
    if kind in STORES and variable and not text.startswith("*"):
        return variable[1]
    pointer = re.match(r"\*(?:\(\w+ \*\)\()?(?:\w+\.)*([A-Za-z_]\w*)?", text)
    name = pointer[1] or "" if pointer else _first_name(r"\[", text) or _first_name(r" \+ ", text)
    return _follow_alias(lines, number, name)


def _space(event, lane):
    return SHARED if traces.is_shared(event) else event["allocation"][lane]


def shared_arrays(program):
    """Returns the __shared__ arrays of a program from its symbol table: the simulator keeps them in thread-local
    storage."""
    symbols = subprocess.run(["readelf", "-sWC", program], capture_output=True, text=True, check=True).stdout
    found = re.findall(r": ([0-9a-f]+) +(\w+) TLS .*?(\w+)$", symbols, re.M)
    return [Region(SHARED, name, int(offset, 16) // WORD_BYTES, int(size, 0) // WORD_BYTES)
            for offset, size, name in found if not name.startswith("simt_")]


def dynamic_array(trace):
    """Returns a list with the array that spans the dynamic shared memory, or [] unless the source has exactly one."""
    names = re.findall(r"extern __shared__ [^;]*?(\w+)\[\];", "\n".join(_lines(trace["source"])))
    offset, size = (trace["dynamic_shared"].get(name, 0) // WORD_BYTES for name in ("offset", "bytes"))
    return [Region(SHARED, names[0], offset, size)] if len(names) == 1 and size else []


def _words(event, lane):
    """Returns the indices of the words that a lane accesses."""
    first = event["offset"][lane] // WORD_BYTES
    return range(first, first + math.ceil(event["bytes"] / WORD_BYTES))


def _copied_words(trace):
    """Returns, for each word of shared memory that a bulk copy writes and a lane reads, a bulk copy that writes it."""
    events, copies = trace["events"], {}
    for event in (event for event in events if event["kind"] == "bulk_copy"):
        for lane in event["active"]:
            first = event["to"][lane] // WORD_BYTES
            copies.update(dict.fromkeys(range(first, first + event["copied"][lane] // WORD_BYTES), event))
    loads = [event for event in events if event["kind"] == "shared_load"]
    loaded = {word for event in loads for lane in event["active"] for word in _words(event, lane)}
    return {word: event for word, event in copies.items() if word in loaded}


def find_regions(trace, arrays):
    """Returns the regions that are written during a trace, in address order. A region consists of neighbouring words in
    one of these arrays or, otherwise, of neighbouring words whose first writers name the same array. An allocation is
    one array. Words that bulk copies write are included only if lanes read them, because a warpgroup's operands are too
    large to be shown."""
    writers = {(SHARED, word): event for word, event in _copied_words(trace).items()}
    arrays = arrays + dynamic_array(trace)
    for event in trace["events"]:
        if event["kind"] in (*STORES, ATOMIC, "copy_to"):
            for lane in event["active"]:
                for word in _words(event, lane):
                    writers.setdefault((_space(event, lane), word), event)
    regions = []
    for space, word in sorted(writers):
        last = regions[-1] if regions and regions[-1].space == space else None
        array = next((one for one in arrays if one.space == space and 0 <= word - one.first < one.count), None)
        writer = writers[space, word]
        name = array.name if array else last.name if last and space != SHARED else array_name(writer, "to")
        if last and last.name == name and last.first + last.count == word:
            regions[-1] = last._replace(count=last.count + 1)
        else:
            regions.append(Region(space, name, word, 1, word - array.first if array else 0))
    return regions


def _lanes(event):
    active = event["active"]
    return f"lane {active[0]}" if len(active) == 1 else "all lanes" if len(active) == 32 else f"{len(active)} lanes"


def _shuffle_text(event):
    """Describes a shuffle by the rule for the lane that each lane reads, if one rule holds for all lanes; otherwise
    states only that each lane reads another lane."""
    active, source = event["active"], event["from"]
    apart, below = active[0] ^ source[active[0]], active[-1] - source[active[-1]]
    if all(source[lane] == source[active[0]] for lane in active):
        how = f"lane {source[active[0]]}"
    elif all(source[lane] == lane ^ apart for lane in active):
        how = f"lane ^ {apart}"
    elif below > 0 and all(source[lane] in (lane - below, lane) for lane in active):
        how = f"lane - {below} where there is one"
    else:
        how = "another lane each"
    return f"{_lanes(event)} read {how} ({event['operation']})"


def mbarrier_names(trace):
    """Returns the name of each mbarrier, keyed by its offset in shared memory: the name in the line that initialises
    it, with the index if it is in an array."""
    names, first = {}, {}
    for event in trace["events"]:
        if event.get("operation") == "init":
            line = _lines(event["file"])[event.get("line", 0) - 1]
            found = re.search(r"mbarrier_init\(&?(?:\w+(?:\.|->))*(\w+)(\[)?", line)
            for lane in event["active"] if found else []:
                offset = event["offset"][lane]
                first[found[1]] = min(offset, first.get(found[1], offset))
                names[offset] = found.groups()
    return {offset: f"{name}[{(offset - first[name]) // MBARRIER_BYTES}]" if bracket else name
            for offset, (name, bracket) in names.items()}


def _numbers(event, column):
    """Returns, as text, the number that all lanes have in a column, or the lowest and the highest number."""
    numbers = [event[column][lane] for lane in event["active"]]
    return f"{min(numbers):,}" if min(numbers) == max(numbers) else f"{min(numbers):,} to {max(numbers):,}"


def _mbarrier_text(event, names):
    """Describes an operation of lanes on an mbarrier; `names` has the mbarriers' names, keyed by their offsets."""
    operation, one = event["operation"], len(event["active"]) == 1
    offsets = list(dict.fromkeys(event["offset"][lane] for lane in event["active"]))
    called = [f'"{names[offset]}"' if offset in names else f"at word {offset // WORD_BYTES} of shared memory"
              for offset in offsets[:FEW_LANES]] + ["..."] * (len(offsets) > FEW_LANES)
    where = f"mbarrier{'s' if len(offsets) > 1 else ''} {', '.join(called)}"
    if operation == "init":
        arrivals = _numbers(event, "arrivals")
        return f"{_lanes(event)} initialise{'s' if one else ''} {where} for {arrivals} arrival{'s' * (arrivals != '1')}"
    phase = _numbers(event, "phase")
    if operation == "wait" and phase == "-1":
        return f"{_lanes(event)} pass{'es' if one else ''} {where} without waiting: there is no phase before phase 0"
    if operation == "wait":
        return f"{_lanes(event)} {'has' if one else 'have'} waited for phase {phase} of {where}"
    what = {"arrive": "", "arrive_copies": f" when {'its' if one else 'their'} copies have come"}.get(operation)
    if what is None:
        what = f" and announce{'s' if one else ''} {_numbers(event, 'announced')} bytes"
    return f"{_lanes(event)} arrive{'s' if one else ''} at {where}{what} (phase {phase})"


def _region_name(regions, space, offset):
    """Returns the name of the region that contains a byte, or "" if none does."""
    word = offset // WORD_BYTES
    return next((region.name for region in regions
                 if region.space == space and 0 <= word - region.first < region.count), "")


def _bulk_copy_text(regions, event):
    one, lane = len(event["active"]) == 1, event["active"][0]
    source = _region_name(regions, event["allocation"][lane], event["offset"][lane]) or array_name(event)
    what = "starts a bulk copy" if one else "start bulk copies"
    text = f"{_lanes(event)} {what} of {_numbers(event, 'copied')} bytes{'' if one else ' each'}"
    for word, name in (("from", source), ("to", array_name(event, "to"))):
        text += f' {word} "{name}"' if name else ""
    return text


def _access_text(regions, event, dtype):
    kind, active = event["kind"], event["active"]
    one, few = len(active) == 1, len(active) <= FEW_LANES
    name = _region_name(regions, _space(event, active[0]), event["offset"][active[0]]) or array_name(event)
    verb = {ATOMIC: "adds to" if one else "add to", **dict.fromkeys(LOADS, "reads" if one else "read"),
            "copy_from": "asks for a copy of" if one else "ask for a copy of",
            "copy_to": "will find it in" if one else "will find them in"}.get(kind, "writes" if one else "write")
    what = f'"{name}"' if name else "what lies"
    text = f"{_lanes(event)} {verb} {what} in {'shared' if traces.is_shared(event) else 'global'} memory"
    if event["bytes"] == 0:  # the copy reads nothing and only writes zeros
        return f"{_lanes(event)} {'asks' if one else 'ask'} for zeros"
    if event["bytes"] > WORD_BYTES:
        text += f", {event['bytes'] // WORD_BYTES} words each"
    values = [event["value"][lane] for lane in active if few and event["value"][lane] is not None]
    text += f": {', '.join(traces.word_text(event, value, 0, dtype) for value in values)}" if values else ""
    if kind == ATOMIC and few:
        text += " was there before" if one else " were there before"
    return text


def step_text(trace, regions, event, dtype, mbarriers):
    """Describes an event in one line; `mbarriers` has the mbarriers' names, keyed by their offsets."""
    kind = event["kind"]
    if kind == "shuffle":
        return _shuffle_text(event)
    if kind == "vote":
        return f"{_lanes(event)} vote ({event['operation']})"
    if kind in ("mma", "matrix_memory"):
        return f"{_lanes(event)} {TOGETHER.get(event['operation'], 'work on matrices together')} ({event['operation']})"
    if kind == "warp_barrier":
        return f"{_lanes(event)} of the warp meet"
    if kind == "block_barrier":
        return f"barrier {event['barrier'] + 1}: all threads{'' if trace['warps'] == 1 else ' of all warps'} have come"
    if kind == "mbarrier":
        return _mbarrier_text(event, mbarriers)
    if kind == "bulk_copy":
        return _bulk_copy_text(regions, event)
    if kind == "return":
        return f"{_lanes(event)} {'is' if len(event['active']) == 1 else 'are'} done"
    return _access_text(regions, event, dtype)


def steps_in_words(trace, regions, dtype=None):
    """Returns a line for each step. A block barrier, which the trace has once per warp, gets only one line."""
    barriers, texts, mbarriers = 0, [], mbarrier_names(trace)
    for event in trace["events"]:
        is_barrier = event["kind"] == "block_barrier"
        if is_barrier and event["barrier"] < barriers:
            continue
        barriers = event["barrier"] + 1 if is_barrier else barriers
        warp = "" if is_barrier else f"warp {event['warp']}, "
        line = f"line {event['line']}: " if event.get("line") else ""
        texts.append(warp + line + step_text(trace, regions, event, dtype, mbarriers))
    return texts


def _steps_html(texts):
    """Returns the descriptions of the steps as items of a list; consecutive equal steps are one item with a count."""
    lines = []
    for text, equal in itertools.groupby(texts):
        times, text = len(list(equal)), html.escape(text, quote=False)
        lines.append(f"<li>{text}</li>\n" if times == 1 else
                     f'<li data-times="{times}">{text}<i>, {times} times</i></li>\n')
    return "".join(lines)


def _file_html(path):
    lines = "".join(f"<span>{html.escape(line)}</span>\n" for line in _lines(path))
    return (f'<div class="stepper-file"><p><code>{html.escape(path)}</code></p>\n'
            f'<pre class="stepper-source" tabindex="0">{lines}</pre></div>\n')


def kernel_name(trace):
    """Returns the kernel's name. A trace of a cooperative launch has the name of the launching call instead; the
    function then returns the name of the last kernel above the line of the first event in the kernel's source."""
    name = trace["kernel"].partition("<")[0]
    if not name.startswith("cudaLaunch"):
        return name
    first = next(event["line"] for event in trace["events"] if event["file"] == trace["source"] and event.get("line"))
    above = "\n".join(_lines(trace["source"])[:first])
    found = re.findall(r"__global__ void(?: __launch_bounds__\((?:[^()]|\([^()]*\))*\))?\s+(\w+)\(", above)
    if not found:
        raise ValueError(f"{trace['source']}: no kernel above line {first}")
    return found[-1]


def stepper_html(path, command, arrays):
    """Returns the stepper for a trace; it shows the command that produced the trace."""
    trace, dtype = traces.read(path), (re.findall(r"--dtype (\w+)", command) or ["f32"])[-1]
    regions = find_regions(trace, arrays)
    files = dict.fromkeys([trace["source"], *(event["file"] for event in trace["events"])])
    steps = _steps_html(steps_in_words(trace, regions, dtype))
    packed = base64.b64encode(gzip.compress(pathlib.Path(path).read_bytes(), mtime=0)).decode()
    return ('<section class="stepper" data-dtype="' + dtype + '" aria-label="A run, step by step">\n'
            '<p>What the warps of one block did when this ran, kernel '
            f'<code>{html.escape(kernel_name(trace))}</code>:</p>\n'
            f'<pre class="stepper-command" tabindex="0">{html.escape(command)}</pre>\n'
            '<div class="stepper-view"></div>\n'
            '<details class="stepper-list" open>\n<summary>All steps as text</summary>\n'
            f'<ol tabindex="0">\n{steps}</ol>\n</details>\n'
            f'<div class="stepper-files">\n{"".join(map(_file_html, files))}</div>\n'
            f'<script type="application/json" class="stepper-regions">{json.dumps(regions)}</script>\n'
            f'<script type="application/gzip" class="stepper-trace">\n{textwrap.fill(packed, 120)}\n</script>\n'
            f'</section>\n<script src="stepper.js"></script>\n')


def write_pages(build, suffix=".md"):
    """Returns the site's stepper pages, keyed by the names of their files, or, with the suffix ".html", the same pages
    as separate HTML files."""
    pages = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = list(pool.map(functools.partial(runs.trace, build), runs.STEPPED))
    for path, (program, arguments) in zip(paths, runs.STEPPED.items()):
        number = results.number_of(program)
        stepper = stepper_html(path, f"build/cpu/{program} {arguments} --trace trace.json",
                               shared_arrays(pathlib.Path(build) / "cpu" / program))
        names = {"number": number, "title": f"Chapter {number}"}
        pages[f"stepper_{number}{suffix}"] = TEMPLATES[suffix].format(**names, stepper=stepper)
    return pages


@files.errors_in_one_line("stepper_pages", status=2)
def main():
    """Makes the HTML file of one trace, with its script and style."""
    if len(sys.argv) != 5:
        raise ValueError("usage: stepper_pages.py TRACE.json PAGE.html TITLE COMMAND")
    path, page, title, command = sys.argv[1:]
    pathlib.Path(page).write_text(TEMPLATES[".html"].format(title=title, stepper=stepper_html(path, command, [])))
    for asset in ("stepper.js", "stepper.css"):
        shutil.copy(f"docs/stepper/{asset}", pathlib.Path(page).parent)


if __name__ == "__main__":
    main()
