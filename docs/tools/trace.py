"""Reads and checks a kernel's trace, which a program writes with --trace FILE."""
import json
import math
import pathlib
import re
import struct

import files

LANES = range(32)
KINDS = ("shuffle", "vote", "warp_barrier", "block_barrier", "shared_load", "shared_store", "global_load",
         "global_store",
         "atomic", "copy_from", "copy_to", "bulk_copy", "mbarrier", "matrix_memory", "mma", "return")
WORDS = ("value", "in", "out")
NUMBERS = ("from", "allocation", "offset", "to", "copied", "phase", "arrivals", "announced", "parity")
WORD_BYTES = 4


def _cell(column, cell):
    """Returns a column's entry for an active lane: an integer, or the bits of a word, or None if the bits are
    unknown."""
    if column in NUMBERS:
        if not isinstance(cell, int) or not -1 <= cell < (32 if column == "from" else 10**15):
            raise ValueError(cell)
        return cell
    if cell is None and column != "out":
        return None
    if not cell.startswith("0x") or len(cell) > 34:
        raise ValueError(cell)
    return int(cell[2:], 16)


def _check_event(event):
    """Converts the event's columns to lists of integers, with None for inactive lanes. Raises ValueError if the event
    is not valid."""
    mask = event["lanes"]
    if event["kind"] not in KINDS or not 1 <= mask < 1 << 32 or not 0 <= event["warp"] < 32:
        raise ValueError(event["kind"])
    event["active"] = [lane for lane in LANES if mask >> lane & 1]
    for column in set(WORDS + NUMBERS) & set(event):
        event[column] = [_cell(column, event[column][lane]) if mask >> lane & 1 else None for lane in LANES]
    if event["kind"] == "shuffle":
        event["from"] = [lane if source in (None, -1) else source for lane, source in enumerate(event["from"])]
        if any(event["out"][lane] != event["in"][event["from"][lane]] for lane in event["active"]):
            raise ValueError("a lane receives a value that no lane brought")


def _json_error_text(error):
    """Returns what is wrong with a file that is not JSON, in words that name neither; a copy is often incomplete."""
    if isinstance(error, json.JSONDecodeError) and (error.msg.startswith("Unterminated string") or
                                                    re.fullmatch(r"\s*|[a-z-]{1,5}", error.doc[error.pos:])):
        return f"not valid JSON: it ends at byte {len(error.doc.encode())}, within a value (is it complete?)"
    return files.reading_error_text(error)


def read(path):
    """Returns the trace in the file. Its columns hold integers (the bits of a value form one integer), each event has a
    list of its active lanes, "active", and its source file, "file", and "warps" is the number of warps.

    Raises ValueError with a one-line message that names the file if the file is not the trace of a complete kernel, and
    OSError if it cannot be read.
    """
    try:
        text = pathlib.Path(path).read_text()
        trace = json.loads(text)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: {_json_error_text(error)}") from None
    try:
        trace["warps"] = -(-math.prod(trace["block"]) // 32)
        truncated, _ = trace["truncated"], trace["dynamic_shared"]["bytes"]
        if not trace["events"]:
            raise KeyError("events")
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{path}: valid JSON, but no trace of a kernel; PROGRAM --trace=FILE.json writes one") from None
    if truncated:
        raise ValueError(f"{path}: the kernel did more than the trace holds")
    for number, event in enumerate(trace["events"]):
        try:
            event.setdefault("file", trace.get("source"))
            _check_event(event)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}: event {number} is none that a trace has") from error
    return trace


def is_shared(event):
    """Checks whether the event is an access to shared memory."""
    return event["kind"].startswith("shared_") or event["kind"] == "copy_to" or event.get("space") == "shared"


def intervals(trace):
    """Returns the accesses to shared memory before, between and after the block's barriers."""
    found = [[]]
    for event in trace["events"]:
        if event["kind"] == "block_barrier" and event["barrier"] == len(found) - 1:
            found.append([])
        elif is_shared(event):
            found[-1].append(event)
    return found


def as_float(word):
    """Returns the f32 that has these bits."""
    return struct.unpack("<f", struct.pack("<I", word))[0]


def as_int(word):
    """Returns the signed 32-bit integer that has these bits."""
    return struct.unpack("<i", struct.pack("<I", word))[0]


def number_text(word):
    """Formats 32 bits as their most likely type: a float of ordinary magnitude, infinity, or an integer. The trace
    contains no types, but a small integer has no exponent bits set, and a float of ordinary magnitude has some."""
    value = as_float(word)
    return f"{value:.4g}" if 1e-9 <= abs(value) < 1e9 or math.isinf(value) else str(as_int(word))


def has_halves(event, dtype):
    """Checks whether an access, in a run with this dtype, is to bf16 elements: to one element or to a chunk of
    eight."""
    return dtype == "bf16" and event.get("bytes") in (2, 16)


def word_text(event, value, word, dtype):
    """Formats a word that a lane read or wrote, in a run with this dtype, as a number or as two bf16 elements."""
    bits = value >> 32 * word & 0xffffffff
    if not has_halves(event, dtype):
        return number_text(bits)
    halves = [bits & 0xffff, bits >> 16][:event["bytes"] // 2]
    return " ".join(f"{as_float(half << 16) + 0.0:.4g}" for half in halves)


def short_number(word):
    """Formats a word in at most four characters if its magnitude is ordinary: .634, 1.03, -inf. Integers are printed in
    full."""
    value = as_float(word)
    if 1e-5 <= abs(value) < 1:
        return "-" * (value < 0) + f"{abs(value):.3f}".lstrip("0")[:4]
    if 1 <= abs(value) < 100:
        return f"{value:.2f}"
    return number_text(word)
