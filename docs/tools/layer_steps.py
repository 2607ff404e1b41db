"""Data for two figures of chapters 11a and 11b: one token through the layer, computed from the layer's formulas, and
the sums of a thread in a tile, from a trace. Used by figures.py."""
import math

LANES_PER_ROW = 16  # neighbouring lanes that compute neighbouring columns


def _expert(x, w1, w3, w2):
    """Returns an expert's intermediate row and its result for a token x."""
    gates, ups = ([sum(w * v for w, v in zip(row, x)) for row in rows] for rows in (w1, w3))
    inner = [gate / (1 + math.exp(-gate)) * up for gate, up in zip(gates, ups)]
    return inner, [sum(w * v for w, v in zip(row, inner)) for row in w2]


def one_token(x, experts, chosen):
    """Returns the rows that the three kernels write for token 0, as texts. `experts` has w1, w3 and w2 of each expert,
    and `chosen` has pairs of an expert and its weight."""
    rows, output = [], [0.0] * len(x)
    for position, (expert, weight) in enumerate(chosen):
        inner, result = _expert(x, *experts[expert])
        partial = [weight * value for value in result]
        output = [total + value for total, value in zip(output, partial)]
        rows.append({"position": position, "token": position // len(chosen), "expert": expert, "weight": f"{weight:g}",
                     "intermediate": _text(inner), "partial": _text(partial)})
    return {"x": _text(x), "topk": len(chosen), "rows": rows, "output": _text(output)}


def _text(values):
    texts = [f"{value:.2f}".rstrip("0").rstrip(".") for value in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def own_sums(trace, rows, columns, thread, steps):
    """Returns the (row, column) of each sum that a thread stores from its tile, and the sums that the neighbouring
    lanes of its row store first. Raises ValueError if the threads do not store each sum of the tile once."""
    stores = [event for event in trace["events"] if event["kind"] == "global_store"]
    first, stored = min(min(event["offset"][lane] for lane in event["active"]) for event in stores), {}
    for event in stores:
        for lane in event["active"]:
            cell = divmod((event["offset"][lane] - first) // event["bytes"], columns)
            stored.setdefault(32 * event["warp"] + lane, []).append(list(cell))
    if sorted(sum(stored.values(), [])) != [[row, column] for row in range(rows) for column in range(columns)]:
        raise ValueError(f"{trace['source']}: {trace['kernel']} does not store {rows} x {columns} sums once each")
    begin = thread // LANES_PER_ROW * LANES_PER_ROW
    return {"rows": rows, "columns": columns, "thread": thread, "steps": steps, "own": stored[thread],
            "together": [stored[lane][0] for lane in range(begin, begin + LANES_PER_ROW)]}
