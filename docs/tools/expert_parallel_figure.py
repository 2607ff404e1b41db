"""Draws what each of chapter 12's ranks has, which ranks add their sums, and the arrays of an all-to-all. The data come
from expert_parallel_steps.py."""
from figure_style import boxes, canvas, cell, lines, write

ORDINALS = ("first", "second", "third", "fourth")


def _weights(ax, x, y, data, rank):
    """Draws w1 and w3, whose slices are rows, and w2, whose slices are columns, with the rank's slice in blue."""
    long, short, number = 72, 48, data["slices"]
    for place, name in enumerate(("w1", "w3")):
        at = x + (long + 14) * place
        boxes(ax, [(at, y, long, short)], "ground", "grey")
        boxes(ax, [(at, y + short / number * rank["slice"], long, short / number)], "light_blue", "grey")
        write(ax, at + long / 2, y + long + 16, name, "center")
    at = x + 2 * (long + 14)
    boxes(ax, [(at, y, short, long)], "ground", "grey")
    boxes(ax, [(at + short / number * rank["slice"], y, short / number, long)], "light_blue", "grey")
    write(ax, at + short / 2, y + long + 16, "w2", "center")


def draw_ranks(data, title):
    left, top, width, height, across, down = 14, 48, 280, 178, 180, 68
    tp, dp = data["tp"], len(data["ranks"]) // data["tp"]
    bottom = top + dp * height + (dp - 1) * down
    ax = canvas(left + tp * width + (tp - 1) * across + 14, bottom + 40, title)
    for number, rank in enumerate(data["ranks"]):
        x, y = left + number % tp * (width + across), top + number // tp * (height + down)
        boxes(ax, [(x, y, width, height)], "ground", "grey")
        write(ax, x + 14, y + 22, f"rank {number}", bold=True)
        write(ax, x + 14, y + 42, f"tokens {rank['first']} to {rank['first'] + rank['own'] - 1}")
        write(ax, x + 14, y + 60, f"{ORDINALS[rank['part']]} half of the experts; of each expert:")
        _weights(ax, x + 14, y + 72, data, rank)
        if number % tp + 1 < tp:
            middle = y + height / 2
            lines(ax, [(x + width + across / 2, middle, x + width + 8, middle),
                       (x + width + across / 2, middle, x + width + across - 8, middle)], "vermillion", 2, 9)
            write(ax, x + width + across / 2, middle - 28, "TP group: 3. all-reduce", "center")
            write(ax, x + width + across / 2, middle - 10, f"of {rank['own']} rows of sums", "center")
        if number // tp + 1 < dp:
            middle = x + 30
            lines(ax, [(middle, y + height + down / 2, middle, y + height + 6),
                       (middle, y + height + down / 2, middle, y + height + down - 6)], "blue", 2, 9)
            write(ax, middle + 14, y + height + down / 2 - 4, "DP group: 1. all-gather of tokens,")
            write(ax, middle + 14, y + height + down / 2 + 14, f"2. all-reduce of {data['tokens']} rows of sums")
    write(ax, 14, bottom + 24, "Blue: the slice of each of its experts' matrices that a rank stores: rows of w1 and w3, "
                               "columns of w2.")
    return ax


LEFT, CELL, GAP, COLOURS = 178, 72, 12, ("light_blue", "light_orange")


def _slots(ax, x, y, texts, groups, indices=False):
    """Draws an array's slots from left to right and returns the middle of each. `groups` are the slots' colours; None
    is white. If `indices` is true, there is a gap between two groups, and the slots' indices are below them."""
    middles = []
    for number, (text, group) in enumerate(zip(texts, groups)):
        left = x + CELL * number + GAP * indices * (len(set(groups[:number + 1])) - 1)
        cell(ax, left, y, CELL, 26, [text], "ground" if group is None else COLOURS[group])
        if indices:
            write(ax, left + CELL / 2, y + 41, f"index {number}", "center")
        middles.append(left + CELL / 2)
    return middles


def _arrows(ax, pairs, y, to, crossing=False):
    lines(ax, [(begin, y, end, to) for begin, end in pairs], "vermillion" if crossing else "grey", 2 if crossing else 1,
          9)


def _sum(terms):
    return " + ".join(map(str, terms)) + (f" = {sum(terms)}" if len(terms) > 1 else "")


def draw_all_to_all(data, title):
    """Draws a column for each rank and a row for each array of the all-to-all path, with an arrow for each row and each
    sum that is copied or sent."""
    starts = [LEFT, LEFT + 4 * CELL + 64]
    names = {"RANK_SENT_COUNTS": 72, "RANK_OWN_HIDDEN": 112, "RANK_SENT_ROWS": 180, "RANK_HIDDEN": 284,
             "RANK_SUMS": 346, "RANK_SENT_SUMS": 434, "RANK_SUM_ROWS": 528, "RANK_OWN_RESULT": 586}
    ax = canvas(starts[1] + 2 * CELL + 46, 656, title)
    more = {"RANK_SENT_COUNTS": "for rank 0, for rank 1", "RANK_OWN_HIDDEN": "own tokens",
            "RANK_SENT_ROWS": "indices of own tokens", "RANK_HIDDEN": "tokens received", "RANK_SUMS": "sums of results",
            "RANK_SENT_SUMS": "sums received", "RANK_SUM_ROWS": "indices above, -1: none"}
    for name, y in names.items():
        write(ax, 14, y + (11 if name in more else 18), name)
        write(ax, 14, y + 26, more.get(name, ""))
    for stage, y in (("dispatch: pack", 164), ("dispatch: send", 256), ("align, experts, sum", 333), ("combine", 408),
                     ("add", 508)):
        write(ax, 14, y, stage, bold=True)
    at = []
    for number, (rank, x) in enumerate(zip(data["ranks"], starts)):
        to = [needing for _, needing in rank["rows"]]
        write(ax, x, 58, f"rank {number}", bold=True)
        _slots(ax, x, names["RANK_SENT_COUNTS"], rank["counts"], range(len(data["ranks"])))
        at.append({
            "own": _slots(ax, x, names["RANK_OWN_HIDDEN"], [f"token {t}" for t in rank["own"]],
                          [None] * len(rank["own"])),
            "sent": _slots(ax, x, names["RANK_SENT_ROWS"], [t for t, _ in rank["rows"]], to, True),
            "received": _slots(ax, x, names["RANK_HIDDEN"], [f"token {t}" for t, _ in rank["received"]],
                               [number] * len(rank["received"])),
            "sums": _slots(ax, x, names["RANK_SUMS"], [_sum(terms) for _, terms in rank["received"]],
                           [number] * len(rank["received"])),
            "back": _slots(ax, x, names["RANK_SENT_SUMS"], rank["sent_sums"], to, True)})
        _arrows(ax, [(at[-1]["own"][t], middle) for (t, _), middle in zip(rank["rows"], at[-1]["sent"])],
                names["RANK_OWN_HIDDEN"] + 28, names["RANK_SENT_ROWS"] - 3)
        _arrows(ax, [(middle, middle) for middle in at[-1]["received"]], names["RANK_HIDDEN"] + 28,
                names["RANK_SUMS"] - 3)
        for t, sum_rows in enumerate(rank["sum_rows"]):
            left = x + (2 * CELL + GAP) * t
            middles = _slots(ax, left, names["RANK_SUM_ROWS"], sum_rows, range(len(sum_rows)))
            used = [(at[-1]["back"][row], middle) for row, middle in zip(sum_rows, middles) if row >= 0]
            _arrows(ax, used, names["RANK_SENT_SUMS"] + 46, names["RANK_SUM_ROWS"] - 3)
            _arrows(ax, [(middle, middle) for _, middle in used], names["RANK_SUM_ROWS"] + 28,
                    names["RANK_OWN_RESULT"] - 3)
            cell(ax, left, names["RANK_OWN_RESULT"], 2 * CELL, 26,
                 [f"token {rank['own'][t]}: {_sum([rank['sent_sums'][row] for row in sum_rows if row >= 0])}"])
    for crossing in (False, True):
        sent, back = [], []
        for source, rank in enumerate(data["ranks"]):
            for row, (t, to) in enumerate(rank["rows"]):
                slot = [token for token, _ in data["ranks"][to]["received"]].index(rank["own"][t])
                if (source != to) == crossing:
                    sent.append((at[source]["sent"][row], at[to]["received"][slot]))
                    back.append((at[to]["sums"][slot], at[source]["back"][row]))
        _arrows(ax, sent, names["RANK_SENT_ROWS"] + 46, names["RANK_HIDDEN"] - 3, crossing)
        _arrows(ax, back, names["RANK_SUMS"] + 28, names["RANK_SENT_SUMS"] - 3, crossing)
    write(ax, 14, 640, "Blue: for the experts of rank 0; yellow: for those of rank 1. Thick arrows: sent from one rank "
                       "to the other.")
    return ax
