"""Data for the figure of chapter 16b's roles: the order in which the warps of a block copy and multiply, from a kernel's
trace, and times for it under simple assumptions. Used by figures.py."""

COPY, START, PRODUCT = 2, 1, 2  # assumed units of time: the copies of a step, to start its products, to compute them
WARPGROUP = 4  # warps


def _column(event, name):
    """Returns the value that all active lanes of an event have."""
    return next(value for value in event[name] if value is not None)


def ring_barriers(trace):
    """Returns the ring's barriers as {offset: (kind, stage)}, and the arrivals that a phase of each kind needs."""
    begun = [event for event in trace["events"] if event.get("operation") == "init"]
    arrivals = [_column(event, "arrivals") for event in begun]
    kinds = arrivals[:2]  # of filled[0] and emptied[0]
    stages = next((at // 2 for at in range(0, len(begun), 2) if arrivals[at:at + 2] != kinds), len(begun) // 2)
    return {_column(event, "offset"): (("filled", "emptied")[at % 2], at // 2)
            for at, event in enumerate(begun[:2 * stages])}, dict(zip(("filled", "emptied"), kinds))


def _uses(trace):
    """Returns what each warp does at the ring's barriers, in order, as {warp: [(operation, kind, stage, phase)]}, and the
    number of wgmma instructions after each of a warp's waits on filled, as {warp: [number]}."""
    barriers, arrivals = ring_barriers(trace)
    done, products = {}, {}
    for event in trace["events"]:
        if event["kind"] == "mma":
            products[event["warp"]][-1] += 1
        elif event["kind"] == "mbarrier" and event["operation"] != "init" and _column(event, "offset") in barriers:
            at = barriers[_column(event, "offset")]
            done.setdefault(event["warp"], []).append((event["operation"], *at, _column(event, "phase")))
            if (event["operation"], at[0]) == ("wait", "filled"):
                products.setdefault(event["warp"], []).append(0)
    return done, products, arrivals


def _order(trace):
    """Returns the number of stages and of steps, and the number of consumers. Raises ValueError unless each copying
    warp waits on emptied and then arrives at filled, step by step, and each consumer warp waits on filled, multiplies,
    and arrives at emptied one step late."""
    done, products, arrivals = _uses(trace)
    stages = 1 + max(stage for one in done.values() for _, _, stage, _ in one)
    steps = len(next(iter(products.values())))
    at = [(step % stages, step // stages) for step in range(steps)]
    free = [("arrive", "emptied", *one) for one in at]
    consumer = [("wait", "filled", *at[0])]
    for step in range(1, steps):
        consumer += [("wait", "filled", *at[step]), free[step - 1]]
    consumer.append(free[-1])
    copies = {how: [one for stage, turn in at for one in (("wait", "emptied", stage, turn - 1),
                                                          (how, "filled", stage, turn))]
              for how in ("arrive_expect", "arrive_copies")}
    numbers = {how: sum(one == expected for one in done.values()) for how, expected in copies.items()}
    if (numbers["arrive_expect"] + 32 * numbers["arrive_copies"] != arrivals["filled"] or
            len(products) != arrivals["emptied"] or len(done) != len(products) + sum(numbers.values()) or
            any(done[warp] != consumer or len(set(found)) != 1 for warp, found in products.items())):
        raise ValueError(f"{trace['source']}: its warps do not pass stages on as chapter 16b describes")
    return stages, steps, len(products) // WARPGROUP


def roles(trace):
    """Returns, for each step of a tile, its stage and the times when its weights and tokens are copied, and when each
    consumer starts its products, waits for those of the step before, and frees that step's stage. The order is the
    trace's. Copies of different steps follow one another, and so do products, of all consumers."""
    stages, steps, consumers = _order(trace)
    rows, copied, computed = [], 0, 0
    now, before = [0] * consumers, [None] * consumers
    for step in range(steps):
        freed = max(one["freed"] for one in rows[step - stages]["consumers"]) if step >= stages else 0
        begin = max(copied, freed)
        copied = begin + COPY
        row = {"step": step, "stage": step % stages, "freed": freed, "copy": [begin, copied], "consumers": []}
        for number in range(consumers):
            start = max(now[number], copied)
            begin = max(start + START, computed)
            computed = begin + PRODUCT
            waited = max(start + START, before[number] or 0)
            if step:
                rows[-1]["consumers"][number]["freed"] = waited
            row["consumers"].append({"start": [start, start + START], "wait": [start + START, waited],
                                     "multiply": [begin, computed]})
            now[number], before[number] = waited, computed
        rows.append(row)
    for number in range(consumers):
        rows[-1]["consumers"][number]["freed"] = before[number]
    return {"stages": stages, "rows": rows, "last_waits": list(map(list, zip(now, before))), "end": computed}
