"""Data for the figures that show kernels step by step, from the kernels' traces. Used by figures.py and tree_steps.py.

Each function takes traces as trace.read() returns them, and returns lists and dictionaries of strings and integers. It
raises ValueError with a one-line message if the kernel did not do what the figure is meant to show.
"""
import pathlib

import files
import trace as traces
from trace import LANES, WORD_BYTES

UNWRITTEN, UNKNOWN = "-", "?"


def _snippets(trace):
    """Returns, for each event, the name of the snippet of the kernel's source that contains its line, or ""."""
    names = dict(enumerate(files.snippets(trace["source"]), 1))
    return [names.get(event.get("line"), "") if event["file"] == trace["source"] else "" for event in trace["events"]]


def _distance(event):
    """Returns the distance between the lanes that a full-warp shuffle exchanges, or 0 if the event is not an
    exchange."""
    if event["kind"] != "shuffle" or event["operation"] != "__shfl_xor_sync" or len(event["active"]) < 32:
        return 0
    distance = event["from"][0]
    return distance if event["from"] == [lane ^ distance for lane in LANES] else 0


def _exchanges(trace, snippet, first_distance, steps, warp):
    """Returns the pair of shuffles (of the value and of the id) in each step of one warp's exchange in the snippet, and
    the warp's later events. The exchange is the first, of the given warp or of any, in which at least 16 lanes have a
    value above -infinity, which excludes the exchange that ranks the 8 groups."""
    where, events = f"in snippet [{snippet}]", trace["events"]
    first = next((number for number, (event, name) in enumerate(zip(events, _snippets(trace)))
                  if name == snippet and _distance(event) == first_distance and warp in (None, event["warp"]) and
                  sum(traces.as_float(word) > float("-inf") for word in event["in"]) >= 16), None)
    if first is None:
        raise ValueError(f"{trace['source']}: no exchange over {first_distance} lanes {where}")
    events = [event for event in events[first:] if event["warp"] == events[first]["warp"]]
    pairs = list(zip(events[0:2 * steps:2], events[1:2 * steps:2]))
    done = [_distance(value) == _distance(id_) > 0 and value["line"] == events[0]["line"] for value, id_ in pairs]
    if done != [True] * steps:
        raise ValueError(
            f"{trace['source']}: {steps} exchanges are wanted {where}; there are {[*done, False].index(False)}")
    return pairs, events[2 * steps:]


def _takes_last(value, id_, following):
    """Returns, for each lane, whether it keeps the value that it read in the last step. `following` is the shuffle
    after a sort, which shows each lane's final value, or None."""
    if following:
        return [after != before for after, before in zip(following.get("in", value["in"]), value["in"])]
    return [(traces.as_float(value["out"][lane]), -id_["out"][lane]) >
            (traces.as_float(value["in"][lane]), -id_["in"][lane])
            for lane in LANES]


def _is_stored(ids, events, lanes_together):
    """Checks whether all lanes that exchange with each other hold the same best candidate, whose id the warp stores in
    shared memory within its next four events."""
    firsts = LANES[::lanes_together]
    return (all(ids[lane] == ids[lane - lane % lanes_together] for lane in LANES) and
            any(event["kind"] == "shared_store" and all(event["value"][lane] == ids[lane] for lane in firsts)
                for event in events[:4]))


def _is_sorted(values, ids, events):
    """Checks whether the lanes hold the same set of ids as before, in descending order of value, and whether the next
    shuffle reads the sorted values."""
    floats = [traces.as_float(word) for word in values[-1]]
    return (events and events[0].get("in") == values[-1] and floats == sorted(floats, reverse=True)
            and set(ids[-1]) == set(ids[0]))


def exchange(trace, snippet, first_distance, steps, lanes_together=32, sorts=False, warp=None):
    """Returns the values and ids of a warp's 32 lanes before each step of a butterfly or a sort and after the last
    step, the distance of each step, and the lanes that take a new value in that step. Raises ValueError if the kernel
    does not use the result afterwards."""
    pairs, rest = _exchanges(trace, snippet, first_distance, steps, warp)
    taken_last = _takes_last(*pairs[-1], rest[0] if sorts and rest else None)
    values, ids = ([pair[part]["in"] for pair in pairs] +
                   [[pairs[-1][part]["out" if taken_last[lane] else "in"][lane] for lane in LANES]]
                   for part in range(2))
    if not (_is_sorted(values, ids, rest) if sorts else _is_stored(ids[-1], rest, lanes_together)):
        raise ValueError(
            f"{trace['source']}: the kernel goes on with another result than that of the exchanges in [{snippet}]")
    return {"lanes_together": lanes_together, "sorts": sorts, "distances": [_distance(value) for value, _ in pairs],
            "values": values, "ids": ids,
            "taken": [[before != after for before, after in zip(*two)] for two in zip(ids, ids[1:])]}


def split(before, after, warp=None):
    """Returns which lanes take a new candidate in each step of the butterfly; they must be the same in both
    chapters."""
    taken = [exchange(trace, "warp_best", 16, 5, warp=warp)["taken"] for trace in (before, after)]
    if taken[0] != taken[1]:
        raise ValueError(f"{before['source']} and {after['source']}: they do not take the same")
    return {"taken": taken[0]}


def _next_event(events, kind):
    return next((event for event in events if event["kind"] == kind), None)


def _warp_scan(events):
    """Returns the values before each of the warp's next five shuffles and after the last, or None if these shuffles are
    not a scan."""
    values = []
    for step in range(5):
        event = _next_event(events, "shuffle")
        read = [lane - (1 << step) if lane >= 1 << step else lane for lane in LANES]
        if not event or (event["operation"], event["from"], len(event["active"])) != ("__shfl_up_sync", read, 32):
            return None
        values.append(event["in"])
        last = [event["in"][lane] + (event["out"][lane] if lane != read[lane] else 0) for lane in LANES]
    return values + [last]


def _before(scan):
    """Returns the exclusive sums of a scan: each lane's inclusive sum minus its own value."""
    return [to_here - own for to_here, own in zip(scan[-1], scan[0])]


def two_level_scan(trace):
    """Returns the scan of 64 counts by two warps: each warp's values step by step, the warps' sums, and the exclusive
    sums of the warps and of the counts, as the kernel stores them."""
    of_warp = [iter([event for event in trace["events"] if event["warp"] == warp]) for warp in range(2)]
    scans = [_warp_scan(events) for events in of_warp]
    stores = [_next_event(events, "shared_store") for events in of_warp]
    sums, before = _warp_scan(of_warp[0]), _next_event(of_warp[0], "shared_store")
    begins = [_next_event(events, "shared_store") for events in of_warp]
    if None not in (*scans, *stores, sums, before, *begins):
        expected = [[_before(sums)[warp] + value for value in _before(scans[warp])] for warp in range(2)]
        if (all(store["active"] == [31] and store["value"][31] == scan[-1][31] for store, scan in zip(stores, scans))
                and before["value"][:2] == _before(sums)[:2] and [begin["value"] for begin in begins] == expected):
            return {"scans": scans, "sums": sums[0][:2], "before": before["value"][:2], "begins": expected}
    raise ValueError(f"{trace['source']}: its first two warps do not add up in two levels of five shuffles")


def _accesses(event, begin, count):
    """Yields (lane, word, value) for each of the event's accesses to the `count` words that start at byte `begin`; an
    unknown value is None."""
    for lane in event["active"]:
        offset, value = event["offset"][lane] - begin, event["value"][lane]
        if -event["bytes"] < offset < count * WORD_BYTES:
            if event["bytes"] % WORD_BYTES or offset % WORD_BYTES:
                raise ValueError("it has accesses to parts of these words")
            for piece in range(event["bytes"] // WORD_BYTES):
                if 0 <= offset // WORD_BYTES + piece < count:
                    yield lane, offset // WORD_BYTES + piece, value and traces.as_int(value >> 32 * piece & 0xffffffff)


def words_at_barriers(trace, first, count):
    """Returns words of dynamic shared memory at the beginning, at every barrier and at the end. Each word is a pair:
    its content, which may be UNWRITTEN or UNKNOWN, and the number of writes to it so far."""
    now = [(UNWRITTEN, 0)] * count
    moments = [list(now)]
    for events in traces.intervals(trace):
        for event in events:
            for _, word, value in _accesses(event, trace["dynamic_shared"]["offset"] + first * WORD_BYTES, count):
                content, writes = now[word]
                if event["kind"] != "shared_load":
                    is_known = event["kind"] == "shared_store" and value is not None
                    now[word] = (value if is_known else UNKNOWN, writes + 1)
                elif value is not None and content == UNKNOWN:  # a load reveals the result of earlier atomics
                    now[word] = (value, writes)
                    for words in moments:
                        words[word] = now[word] if words[word][1] == writes else words[word]
        moments.append(list(now))
    return moments


def snippets_before_barriers(trace):
    """Returns, for each interval between barriers, the name of the snippet of the interval's last access to shared
    memory, or "". A trace whose source file is not given or does not exist has no snippets."""
    if not pathlib.Path(trace.get("source", "")).is_file():
        return ["" for _ in traces.intervals(trace)]
    names = {id(event): name for event, name in zip(trace["events"], _snippets(trace))}
    return [names[id(events[-1])] if events else "" for events in traces.intervals(trace)]


def _sources(read, word, value):
    """Returns the words, among those that the lane has read, from which it computed the value: two words whose sum is
    the value, or one word that equals it."""
    pairs = [[a, b] for a in sorted(read) for b in sorted(read) if a < b and read[a] + read[b] == value]
    same = sorted((a for a in read if read[a] == value), key=lambda a: (a == word, -a))
    return pairs[0] if pairs else same[:1]


def _follow_interval(events, begin, count):
    """Returns, for one interval between barriers, the sources of each word's new value, and a value stored outside
    these words with its sources."""
    made_of, aside, aside_of, read = {}, None, [], {}
    for event in events:
        accesses = list(_accesses(event, begin, count))
        for lane, word, value in accesses:
            of_lane = read.setdefault((event["warp"], lane), {})
            if event["kind"] == "shared_load":
                of_lane[word] = value
            elif event["kind"] == "shared_store":
                made_of[word] = _sources(of_lane, word, value)
        if event["kind"] == "shared_store" and not accesses:
            lane = event["active"][-1]
            aside = traces.as_int(event["value"][lane] & 0xffffffff)
            aside_of = _sources(read.get((event["warp"], lane), {}), None, aside)
    return made_of, aside, aside_of


def tree(trace, count=8):
    """Returns the steps of the up-sweep and the down-sweep of a tree in the first `count` words of dynamic shared
    memory: after each barrier the words' values, the words from which each new value was computed, and a value stored
    elsewhere with the words from which it was computed."""
    if trace["dynamic_shared"]["bytes"] < WORD_BYTES * count:
        raise ValueError(f"{trace['source']}: it has no {count} words of dynamic shared memory")
    values, first, steps = [[value for value, _ in words] for words in words_at_barriers(trace, 0, count)], None, []
    for number, events in enumerate(traces.intervals(trace), 1):
        made_of, aside, aside_of = _follow_interval(events, trace["dynamic_shared"]["offset"], count)
        if made_of and (steps or any(len(words) == 2 for words in made_of.values())):
            first = first or values[number - 1]
            steps.append({"values": values[number], "aside": aside, "aside_of": aside_of,
                          "made_of": {word: words for word, words in made_of.items() if words != [word]}})
    if not steps:
        raise ValueError(f"{trace['source']}: no word becomes the sum of two")
    return {"first": first, "steps": steps}


def timeline(trace):
    """Returns the operations of each warp between the block's barriers, as runs [snippet, active lanes, operations].
    Neighbouring warps with the same operations share a row."""
    work, snippets, rows = [[[]] for _ in range(trace["warps"])], {}, []
    for event, snippet in zip(trace["events"], _snippets(trace)):
        if snippet == "count" and event["kind"] == "shared_store":
            snippet = "clear"
        intervals = work[event["warp"]]
        if event["kind"] == "block_barrier":
            intervals.append([])
        elif event["kind"] != "return":
            if not intervals[-1] or intervals[-1][-1][:2] != [snippet, len(event["active"])]:
                intervals[-1].append([snippet, len(event["active"]), 0])
            intervals[-1][-1][2] += 1
            snippets[snippet] = True
    busy = max(number + 1 if any(intervals[number:]) else 0 for intervals in work for number in range(len(intervals)))
    if busy == 0:
        raise ValueError(f"{trace['source']}: no warp does anything")
    for warp, intervals in enumerate(work):
        intervals = (intervals + [[]] * busy)[:busy]
        if rows and rows[-1]["intervals"] == intervals:
            rows[-1]["last"] = warp
        else:
            rows.append({"first": warp, "last": warp, "intervals": intervals})
    longest = [max(sum(run[2] for run in row["intervals"][number]) for row in rows) for number in range(busy)]
    return {"snippets": list(snippets), "rows": rows, "longest": longest}


def _list_stores(trace):
    """Returns the requests that fill the list that the first store to global memory writes to, and the list's size in
    bytes."""
    stores = [event for event in trace["events"] if event["kind"] == "global_store" and event["lanes"] & 1]
    stores = [event for event in stores if event["allocation"][0] == stores[0]["allocation"][0]]
    requests = [{"warp": event["warp"], "bytes": event["bytes"],
                 "offsets": [event["offset"][lane] - stores[0]["offset"][0] for lane in event["active"]]}
                for event in stores]
    written = sorted(at + byte for request in requests for at in request["offsets"] for byte in range(request["bytes"]))
    if not written or written != list(range(len(written))) or len(written) % 32 or len(written) > 1024:
        raise ValueError(
            f"{trace['source']}: {trace['kernel']} does not fill a list of whole sectors, 32 at most, once from "
                         "end to end")
    return requests, len(written)


def stores(before, after):
    """Returns the requests with which two chapters fill the same list."""
    (requests_before, size), (requests_after, size_after) = _list_stores(before), _list_stores(after)
    if size != size_after:
        raise ValueError(f"the lists have {size} and {size_after} bytes; they must have as many")
    return {"num_sectors": size // 32, "before": requests_before, "after": requests_after}


def swizzled_chunks(trace, per_row):
    """Returns which 16-byte chunk is at each index of the first 8 rows that lanes copy asynchronously. A row has
    `per_row` chunks and is copied by as many lanes."""
    found = [[None] * per_row for _ in range(8)]
    for event in trace["events"]:
        if event["kind"] == "copy_to" and event["bytes"] == 16:
            for lane in event["active"]:
                row, index = divmod((event["offset"][lane] - trace["dynamic_shared"]["offset"]) // 16, per_row)
                if row < 8:
                    found[row][index] = lane % per_row
    if any(sorted(row, key=str) != sorted(range(per_row), key=str) for row in found):
        raise ValueError(f"{trace['source']}: {trace['kernel']} does not copy {per_row} chunks of a row by {per_row} "
                         "lanes")
    return {"rows": found}


def _fragment_loads(trace, warp):
    """Returns the offsets of each ldmatrix of a warp, in order."""
    return [event["offset"] for event, name in zip(trace["events"], _snippets(trace))
            if (event["warp"], event["kind"]) == (warp, "shared_load") and name in ("fragments", "multiply_stage")]


def quarters(trace):
    """Returns the first row and the first k of each matrix that an ldmatrix of weights, and one of tokens, loads.
    Raises ValueError if 8 lanes in order do not supply the addresses of 8 rows in order."""
    loads, found = _fragment_loads(trace, 0)[:2], {}
    line = loads[0][1] - loads[0][0]
    for name, offsets in zip(("weights", "tokens"), loads):
        places = [divmod(offset - offsets[0], line) for offset in offsets]
        if any(place != (places[lane - lane % 8][0] + lane % 8, places[lane - lane % 8][1])
               for lane, place in enumerate(places)):
            raise ValueError(f"{trace['source']}: {trace['kernel']} loads its matrices otherwise")
        found[name] = [[row, at // 2] for row, at in places[::8]]
    return found


def stage_row_copies(trace, pitch_bytes, row_bytes, rows_of_w1):
    """Returns what each row of the stage holds, as "w1", "w3" or "token" and an index of a row: a list of stage rows
    for each copy that a thread makes, and the first thread of each group that copies a row. Rows of the stage begin
    `pitch_bytes` apart, a row in global memory has `row_bytes`, and `rows_of_w1` rows of w1 precede those of w3."""
    loads, stores, per_row = {}, {}, row_bytes // 16
    for event, name in zip(trace["events"], _snippets(trace)):
        if name == "copy_step" and event["bytes"] == 16 and event["kind"] in ("global_load", "shared_store"):
            for lane in event["active"]:
                thread = event["warp"] * len(LANES) + lane
                if event["kind"] == "global_load":
                    loads.setdefault(thread, []).append((event["allocation"][lane], event["offset"][lane]))
                else:
                    stores.setdefault(thread, []).append(event["offset"][lane])
    if not loads or any(len(loads[thread]) != len(stores.get(thread, [])) for thread in loads):
        raise ValueError(f"{trace['source']}: {trace['kernel']} does not store each chunk that it copies")
    weights, tokens = loads[0][0][0], loads[0][-1][0]
    first = {array: min(at for share in loads.values() for other, at in share if other == array)
             for array in (weights, tokens)}
    begin, found = min(stores[0]), {}
    for thread, share in loads.items():
        for (array, at), to in zip(share, stores[thread]):
            row = (at - first[array]) // row_bytes
            holds = ("token", row) if array == tokens else ("w3", row - rows_of_w1) if row >= rows_of_w1 else ("w1", row)
            found.setdefault((to - begin) // pitch_bytes, set()).add((*holds, thread - thread % per_row))
    threads = list(range(0, len(loads), per_row))
    if sorted(found) != list(range(len(found))) or any(
            [first for *_, first in held] != [threads[number % len(threads)]] for number, held in found.items()):
        raise ValueError(f"{trace['source']}: {trace['kernel']} does not copy a row by {per_row} neighbouring threads")
    rows = [list(*found[number])[:2] for number in range(len(found))]
    return {"threads": threads, "copies": [rows[at:at + len(threads)] for at in range(0, len(rows), len(threads))]}


def warp_tiles(trace, row_bytes, rows):
    """Returns the rows of weights and the tokens of which each warp of a block loads fragments. A stage has `rows` rows
    of weights, then the tokens, of `row_bytes` bytes each."""
    begin, found = trace["dynamic_shared"]["offset"], []
    for warp in sorted({event["warp"] for event in trace["events"]}):
        lines = sorted({(offset - begin) // row_bytes for load in _fragment_loads(trace, warp) for offset in load})
        found.append({"rows": [line for line in lines if line < rows],
                      "tokens": [line - rows for line in lines if line >= rows]})
    if not all(len(warp["rows"]) == len(found[0]["rows"]) > 0 and len(warp["tokens"]) == len(found[0]["tokens"]) > 0
               for warp in found):
        raise ValueError(f"{trace['source']}: {trace['kernel']} divides its tile otherwise")
    return {"warps": found, "rows": rows, "tokens": sum(len(warp["tokens"]) for warp in found) * len(
        found[0]["rows"]) // rows}


def fragments(trace):
    """Returns the lane that holds each element of the matrices in a product: the factors a[row][k] and b[k][token], and
    the sums d[row][token]. Raises ValueError if warp 0 loads or stores the fragments in another layout."""
    held = {"a": [[row % 8 * 4 + k % 8 // 2 for k in range(16)] for row in range(16)],
            "b": [[token * 4 + k % 8 // 2 for token in range(8)] for k in range(16)],
            "d": [[row % 8 * 4 + token // 2 for token in range(8)] for row in range(16)]}
    events = [(event, name) for event, name in zip(trace["events"], _snippets(trace)) if event["warp"] == 0]
    loads = _fragment_loads(trace, 0)[:2]
    stores = [event["offset"] for event, name in events if (event["kind"], name) == ("shared_store", "results")][:2]
    if len(loads) < 2 or len(stores) < 2:
        raise ValueError(f"{trace['source']}: {trace['kernel']} multiplies no matrices")
    line, pitch = loads[0][1] - loads[0][0], stores[0][1] - stores[0][0]  # pitch: between pairs of tokens
    rows = ([loads[0][0] + lane % 16 * line + lane // 16 * 16 for lane in LANES],
            [loads[1][0] + (lane // 16 * 8 + lane % 8) * line + lane // 8 % 2 * 16 for lane in LANES])
    places = {stores[0][0] + token // 2 * pitch + token % 2 * (stores[1][0] - stores[0][0]) + row * 2: lanes[token]
              for row, lanes in enumerate(held["d"][:8]) for token in range(8)}
    if list(rows) != loads or places != {store[lane]: lane for store in stores for lane in LANES}:
        raise ValueError(f"{trace['source']}: {trace['kernel']} has its fragments otherwise")
    return held


def ring(trace, stages):
    """Returns warp 0's operations on a ring of stages, in order, as [what, step, stage], where `what` is "copy", "wait"
    or "multiply"."""
    begin, size = trace["dynamic_shared"]["offset"], trace["dynamic_shared"]["bytes"] // stages
    done, steps = [], {"copy": 0, "wait": 0, "multiply": 0}
    wanted = {("copy_to", "source"): "copy", ("block_barrier", "accumulate"): "wait",
              ("shared_load", "fragments"): "multiply", ("shared_load", "multiply_stage"): "multiply"}
    for event, name in zip(trace["events"], _snippets(trace)):
        what = wanted.get((event["kind"], name))
        if event["warp"] or not what:
            continue
        stage = None if what == "wait" else (event["offset"][event["active"][0]] - begin) // size
        if what == "wait" or not done or (done[-1][0], done[-1][2]) != (what, stage):
            done.append([what, steps[what], steps["wait"] % stages if what == "wait" else stage])
            steps[what] += 1
    if len(set(steps.values())) > 1 or any(step % stages != stage for _, step, stage in done):
        raise ValueError(f"{trace['source']}: {trace['kernel']} does not go round a ring of {stages} stages")
    return {"done": done, "stages": stages}


def own_loads(trace, count, lanes):
    """Returns the first `count` loads from global memory with 16 bytes per lane by warp 0: the byte offsets at which
    the first `lanes` lanes read, counted from lane 0's first."""
    events = [event for event in trace["events"] if event["kind"] == "global_load" and event["bytes"] == 16 and
              event["warp"] == 0 and len(event["active"]) == len(LANES)][:count]
    if len(events) < count:
        raise ValueError(f"{trace['source']}: warp 0 has {len(events)} loads of 16 bytes per lane, not {count}")
    sectors = [{at // 32 for at in event["offset"]} for event in events]
    if sectors != sectors[:1] * count:
        raise ValueError(f"{trace['source']}: warp 0's first {count} loads of 16 bytes per lane touch different "
                         "sectors")
    return {"offsets": [[at - events[0]["offset"][0] for at in event["offset"][:lanes]] for event in events],
            "sectors": len(sectors[0]), "bytes": events[0]["bytes"]}


def weight_requests(trace, row_bytes, num_requests, label_every, row_height):
    """Returns the first request for weights by each of the first `num_requests` warps: the byte offsets at which lanes
    read, counted from the first row. The weights are the second array that is read from global memory with one element
    per lane."""
    loads = [event for event in trace["events"] if event["kind"] == "global_load" and event["bytes"] < WORD_BYTES]
    weights = next((event["allocation"][0] for event in loads
                    if event["allocation"][0] != loads[0]["allocation"][0]), None)
    first = {}
    for event in loads:
        if len(event["active"]) == len(LANES) and event["allocation"][0] == weights:
            first.setdefault(event["warp"], event)
    events = [first[warp] for warp in sorted(first)][:num_requests]
    if len(events) < num_requests:
        raise ValueError(f"{trace['source']}: {len(events)} of {num_requests} warps read weights with all lanes")
    base = min(min(event["offset"]) for event in events)
    offsets = sorted(at - base for event in events for at in event["offset"])
    return {"row_bytes": row_bytes, "num_rows": offsets[-1] // row_bytes + 1, "offsets": offsets,
            "bytes": events[0]["bytes"], "num_requests": num_requests, "label_every": label_every,
            "row_height": row_height}
