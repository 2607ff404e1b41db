"""What kernels did, step by step, from their traces: the data of the figures that show it.

Each function takes traces as trace.read() gives them and returns lists and dictionaries of texts and whole numbers. ValueError,
in one line, where the kernel did not do what the figure is to show.
"""
import trace as traces

LANES = traces.LANES


# --- exchanges: butterflies and sorts -----------------------------------------------------------------------------------

def _distance(event):
    """How far a whole warp's exchange reaches; 0 if it is none."""
    if event["kind"] != "shuffle" or event["operation"] != "__shfl_xor_sync" or len(event["active"]) < 32:
        return 0
    distance = event["from"][0]
    return distance if event["from"] == [lane ^ distance for lane in LANES] else 0


def _exchanges(trace, snippet, first_distance, steps):
    """The value's and the id's shuffle of each step that one warp takes in the snippet, and the warp's events after them."""
    events = trace["events"]
    first = next((number for number, event in enumerate(events)
                  if event["snippet"] == snippet and _distance(event) == first_distance), None)
    if first is None:
        raise ValueError(f"{trace['source']}: no exchange over {first_distance} lanes in snippet [{snippet}]")
    of_warp = [event for event in events[first:] if event["warp"] == events[first]["warp"]]
    pairs = list(zip(of_warp[0:2 * steps:2], of_warp[1:2 * steps:2]))
    done = [value["line"] == of_warp[0]["line"] and _distance(value) and _distance(value) == _distance(id_)
            for value, id_ in pairs] + [False]
    if done.index(False) < steps:
        raise ValueError(f"{trace['source']}: {steps} exchanges are wanted in snippet [{snippet}]; there are "
                         f"{done.index(False)}")
    return pairs, of_warp[2 * steps:]


def _is_better(value, id_, other_value, other_id):
    return (traces.as_float(other_value), -other_id) > (traces.as_float(value), -id_)


def _is_stored(ids, events, lanes_together):
    """All lanes that exchange hold one best, whose id the warp stores in shared memory soon."""
    firsts = LANES[::lanes_together]
    return (all(ids[lane] == ids[lane - lane % lanes_together] for lane in LANES) and
            any(event["kind"] == "shared_store" and all(event["value"][lane] == ids[lane] for lane in firsts)
                for event in events[:4]))


def exchange(trace, snippet, first_distance, steps, lanes_together=32, sorts=False):
    """Values and ids of a warp's 32 lanes before each step of a butterfly or a sort and after the last, how far each step
    reaches, and which lanes it gives something new. The kernel must go on with the result."""
    pairs, rest = _exchanges(trace, snippet, first_distance, steps)
    values, ids = [pair[0]["in"] for pair in pairs], [pair[1]["in"] for pair in pairs]
    value, id_ = pairs[-1]
    if sorts and rest:  # the next shuffle shows what every lane ended with
        takes = [rest[0].get("in", value["in"])[lane] != value["in"][lane] for lane in LANES]
    else:
        takes = [_is_better(value["in"][lane], id_["in"][lane], value["out"][lane], id_["out"][lane]) for lane in LANES]
    values.append([value["out" if takes[lane] else "in"][lane] for lane in LANES])
    ids.append([id_["out" if takes[lane] else "in"][lane] for lane in LANES])
    floats = [traces.as_float(word) for word in values[-1]]
    if sorts:
        good = (rest and rest[0].get("in") == values[-1] and floats == sorted(floats, reverse=True)
                and set(ids[-1]) == set(ids[0]))
    else:
        good = _is_stored(ids[-1], rest, lanes_together)
    if not good:
        raise ValueError(f"{trace['source']}: the kernel goes on with another result than that of the exchanges in "
                         f"[{snippet}]")
    return {"distances": [_distance(value) for value, _ in pairs], "values": values, "ids": ids,
            "taken": [[before != after for before, after in zip(ids[step], ids[step + 1])] for step in range(steps)]}


def split(before, after):
    """Which lanes take a new candidate in each step of the butterfly of two chapters, the same in both."""
    taken = [exchange(trace, "warp_best", 16, 5)["taken"] for trace in (before, after)]
    if taken[0] != taken[1]:
        raise ValueError(f"{before['source']} and {after['source']}: they do not take the same")
    return {"taken": taken[0]}


# --- a scan of two levels -----------------------------------------------------------------------------------------------

def _next_event(events, kind):
    return next((event for event in events if event["kind"] == kind), None)


def _warp_scan(events):
    """The warp's next five shuffles: the values before each and after the last; None if they are no scan."""
    values = []
    for step in range(5):
        event = _next_event(events, "shuffle")
        if (not event or event["operation"] != "__shfl_up_sync" or len(event["active"]) < 32
                or event["from"] != [lane - (1 << step) if lane >= 1 << step else lane for lane in LANES]):
            return None
        values.append(event["in"])
        last = [event["in"][lane] + (event["out"][lane] if event["from"][lane] != lane else 0) for lane in LANES]
    return values + [last]


def _before(scan):
    """What lies before each lane."""
    return [to_here - own for to_here, own in zip(scan[-1], scan[0])]


def two_level_scan(trace):
    """The scan of 64 counts by two warps: each warp's values step by step, the warps' sums, what lies before each warp and
    before each count, as the kernel stores it."""
    of_warp = [iter([event for event in trace["events"] if event["warp"] == warp]) for warp in range(2)]
    scans = [_warp_scan(events) for events in of_warp]
    stores = [_next_event(events, "shared_store") for events in of_warp]
    sums = _warp_scan(of_warp[0])
    before = _next_event(of_warp[0], "shared_store")
    begins = [_next_event(events, "shared_store") for events in of_warp]
    if None not in (*scans, *stores, sums, before, *begins):
        expected = [[_before(sums)[warp] + value for value in _before(scans[warp])] for warp in range(2)]
        if (all(store["active"] == [31] and store["value"][31] == scan[-1][31] for store, scan in zip(stores, scans))
                and before["value"][:2] == _before(sums)[:2] and [begin["value"] for begin in begins] == expected):
            return {"scans": scans, "sums": sums[0][:2], "before": before["value"][:2], "begins": expected}
    raise ValueError(f"{trace['source']}: its first two warps do not add up in two levels of five shuffles")


# --- a tree in shared memory --------------------------------------------------------------------------------------------

def _intervals(trace):
    """The accesses to shared memory between the block's barriers."""
    intervals = [[]]
    for event in trace["events"]:
        if event["kind"] == "block_barrier" and event["barrier"] == len(intervals) - 1:
            intervals.append([])
        elif event["kind"].startswith("shared_") or event.get("space") == "shared":
            intervals[-1].append(event)
    return intervals


def _sources(read, word, value):
    """The words that the value was made of, of those that the lane has read: two whose sum it is, or one that it equals."""
    words = sorted(read)
    for number, a in enumerate(words):
        for b in words[number + 1:]:
            if read[a] + read[b] == value:
                return [a, b]
    same = [a for a in words if read[a] == value]
    return [next((a for a in reversed(same) if a != word), same[0])] if same else []


def tree(trace, count=8):
    """The steps of sums up and down a tree in the first `count` words of dynamic shared memory: after each barrier the words'
    values, the words that each new value was made of, and a value kept elsewhere."""
    begin = trace["dynamic_shared"]["offset"]
    if trace["dynamic_shared"]["bytes"] < 4 * count:
        raise ValueError(f"{trace['source']}: it has no {count} words of dynamic shared memory")
    now, first, steps = [None] * count, None, []
    for events in _intervals(trace):
        before, made_of, aside, read = list(now), {}, None, {}
        for event in events:
            for lane in event["active"]:
                word, odd = divmod(event["offset"][lane] - begin, 4)
                value = traces.as_int(event["value"][lane] & 0xffffffff)
                of_lane = read.setdefault((event["warp"], lane), {})
                if odd or not 0 <= word < count:
                    aside = value if event["kind"] == "shared_store" else aside
                elif event["kind"] == "shared_load":
                    if now[word] is None:
                        before[word] = now[word] = value
                    of_lane[word] = value
                elif event["kind"] == "shared_store":
                    made_of[word] = _sources(of_lane, word, value)
                    now[word] = value
                else:  # an atomic leaves a word unknown until it is read
                    now[word] = None
        if made_of and (steps or any(len(words) == 2 for words in made_of.values())):
            first = first or before
            steps.append({"values": list(now), "aside": aside,
                          "made_of": {str(word): words for word, words in made_of.items() if words != [word]}})
    if not steps:
        raise ValueError(f"{trace['source']}: no word becomes the sum of two")
    return {"first": first, "steps": steps}


# --- who waits for whom -------------------------------------------------------------------------------------------------

def timeline(trace):
    """What each warp does between the block's barriers: runs of operations [snippet, lanes that take part, how many].
    Neighbouring warps that do the same are one row."""
    work = [[[]] for _ in range(trace["warps"])]
    for event in trace["events"]:
        intervals = work[event["warp"]]
        if event["kind"] == "block_barrier":
            intervals.append([])
        elif event["kind"] != "return":
            operation = [event["snippet"], len(event["active"])]
            if intervals[-1] and intervals[-1][-1][:2] == operation:
                intervals[-1][-1][2] += 1
            else:
                intervals[-1].append(operation + [1])
    busy = max((number + 1 for intervals in work for number, runs in enumerate(intervals) if runs), default=0)
    if busy == 0:
        raise ValueError(f"{trace['source']}: no warp does anything")
    rows = []
    for warp, intervals in enumerate(work):
        intervals = (intervals + [[]] * busy)[:busy]
        if rows and rows[-1]["intervals"] == intervals:
            rows[-1]["last"] = warp
        else:
            rows.append({"first": warp, "last": warp, "intervals": intervals})
    snippets = dict.fromkeys(event["snippet"] for event in trace["events"]
                             if event["kind"] not in ("block_barrier", "return"))
    return {"snippets": list(snippets), "rows": rows,
            "longest": [max(sum(run[2] for run in row["intervals"][i]) for row in rows) for i in range(busy)]}


# --- stores that fill a list --------------------------------------------------------------------------------------------

def _list_stores(trace):
    """The requests that fill what the first store to global memory goes to: the warp, a lane's bytes, where each lane writes."""
    all_stores = [event for event in trace["events"] if event["kind"] == "global_store" and event["lanes"] & 1]
    stores = [event for event in all_stores if event["allocation"][0] == all_stores[0]["allocation"][0]]
    begin = stores[0]["offset"][0] if stores else 0
    requests = [{"warp": event["warp"], "bytes": event["bytes"],
                 "offsets": [event["offset"][lane] - begin for lane in event["active"]]} for event in stores]
    written = sorted(at + byte for request in requests for at in request["offsets"] for byte in range(request["bytes"]))
    if not written or written != list(range(len(written))) or len(written) % 32 or len(written) > 1024:
        raise ValueError(f"{trace['source']}: {trace['kernel']} does not fill a list of whole sectors, 32 at most, once "
                         "from end to end")
    return requests, len(written)


def stores(before, after):
    """The requests by which two chapters fill the same list."""
    (requests_before, size), (requests_after, size_after) = _list_stores(before), _list_stores(after)
    if size != size_after:
        raise ValueError(f"the lists have {size} and {size_after} bytes; they must have as many")
    return {"num_sectors": size // 32, "requests": [len(requests_before), len(requests_after)], "before": requests_before, "after": requests_after}
