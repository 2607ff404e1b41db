"""Draws the figures of chapters 13a to 13c for figures.py, from data of choices.py."""
from choices import GROUP, KEPT, TOPK
from figure_style import COLOURS, boxes, canvas, cell, lines, write

LANE_COLOURS = ("blue", "orange", "green", "vermillion")  # for a token's kept groups


def _dots(ax, points, colour, size=6, ring=False):
    """Draws dots, or rings, of one style at points (x, y)."""
    if points:
        ax.plot(*zip(*points), linestyle="none", marker="o", markersize=size, clip_on=False,
                markerfacecolor="none" if ring else COLOURS[colour], markeredgecolor=COLOURS[colour],
                markeredgewidth=1.3 if ring else 0)


def _looks(data):
    """Returns, for each style, its name, its experts and their legend, with the most prominent style last."""
    chosen = {expert for expert, rank in zip(data["candidates"], data["ranks"]) if rank < TOPK}
    inside = {expert for expert in range(len(data["choice"])) if expert // GROUP in data["stay"]}
    passing = set(data["candidates"])
    return (("pale", set(range(len(data["choice"]))) - inside, "its group is dropped"),
            ("sky", inside - passing, "its group is kept, below the bound"),
            ("green", passing - chosen, "candidate, not chosen"),
            ("vermillion", chosen, "candidate, chosen: the number is its rank"))


def _draw_rows(ax, data, at, left, right, top, pitch):
    """Draws the groups' rows with their dots; `at` has the position of each expert's dot."""
    for group in range(len(data["choice"]) // GROUP):
        y, stays = top + pitch * group, group in data["stay"]
        boxes(ax, [(left, y, right - left, pitch - 4)], "ground", "edge")
        write(ax, 14, y + 17, f"group {group}", bold=stays)
        write(ax, 14, y + 33, "kept" if stays else "dropped")
    for look, experts, _ in _looks(data):
        _dots(ax, [at[expert] for expert in sorted(experts)], look)
    _dots(ax, [at[expert] for expert in data["second"]], "ink", 11, ring=True)
    for expert, rank in zip(data["candidates"], data["ranks"]):
        if rank < TOPK:
            write(ax, at[expert][0], at[expert][1] - 9, rank, "center", bold=True)


def draw_bound(data, title):
    """Draws a row for each group with a dot for each expert, the bound as a line and, below, the chosen experts in the
    order of their ranks."""
    left, right, top, pitch, num_groups = 88, 686, 66, 44, len(data["choice"]) // GROUP
    low, high, foot = min(data["choice"]) - 0.03, max(data["choice"]) + 0.03, top + pitch * num_groups
    ax = canvas(700, foot + 192, title)

    def place(choice):
        return left + (choice - low) * (right - left) / (high - low)

    at = [(place(choice), top + pitch * (expert // GROUP) + 14 + expert % GROUP * 22 / (GROUP - 1))
          for expert, choice in enumerate(data["choice"])]
    _draw_rows(ax, data, at, left, right, top, pitch)
    lines(ax, [(place(data["bound"]), top - 6, place(data["bound"]), foot - 2)], "ink", 1.6)
    write(ax, place(data["bound"]), top - 12, f"bound: {data['bound']:.3f}", "center", bold=True)
    write(ax, 14, foot + 15, "score + bias")
    for tenth in range(-(-int(low * 10) // 2) * 2 + 2, int(high * 10) + 1, 2):
        lines(ax, [(place(tenth / 10), foot - 3, place(tenth / 10), foot + 2)], "grey")
        write(ax, place(tenth / 10), foot + 15, f"{tenth / 10:.1f}", "center")
    x, y = 20, foot + 36
    for look, _, said in _looks(data):
        _dots(ax, [(x, y)], look)
        write(ax, x + 9, y + 4, said)
        x, y = (x + 160, y) if x == 20 else (20, y + 20)
    _dots(ax, [(464, foot + 36)], "ink", 11, ring=True)
    write(ax, 474, foot + 40, "second best of a kept group")
    width = (right - 14) / TOPK
    for rank in range(TOPK):
        expert = data["candidates"][data["ranks"].index(rank)]
        write(ax, 14 + width * (rank + 0.5), foot + 88, f"rank {rank}", "center")
        cell(ax, 14 + width * rank, foot + 96, width - 5, 44,
             [f"expert {expert}", f"{data['choice'][expert]:.3f}"], "light_vermillion", "vermillion")
    write(ax, 14, foot + 160, f"Row {data['row']} of the router's data, whose token is {data['word']}. In each group, "
                              "the first expert is at the top.")
    write(ax, 14, foot + 178, "A candidate's rank is the number of candidates that are larger.")
    return ax


def _draw_vote(ax, bits, first, column, left, y, width):
    """Draws a vote as a row for each of its four groups; a set bit has a colour, which differs in the marked column."""
    for lane, bit in enumerate(bits):
        group = lane % 8
        colour = "pale" if not bit else "vermillion" if group == column else "blue"
        cell(ax, left + width * group, y + 26 * (lane // 8), width - 4, 23, [f"{lane}: {bit}"],
             f"light_{colour}" if bit else "ground", colour, bold=bool(bit))
    for row in range(4):
        write(ax, 14, y + 26 * row + 16, f"does group {first + row} rank before it?")


def draw_votes(data, title, column=1):
    """Draws two votes as rows of eight lanes, the column of one group marked, and below them each group's rank."""
    left, width, top = 206, 61, 104
    second, foot = top + 164, top + 304
    ax = canvas(left + 8 * width + 10, foot + 118, title)
    write(ax, 14, top - 54, "assigned group")
    write(ax, 14, top - 37, "its score")
    for group, (score, rank) in enumerate(zip(data["scores"], data["ranks"])):
        x = left + width * (group + 0.5) - 2
        write(ax, x, top - 54, group, "center", bold=True)
        write(ax, x, top - 37, f"{score:.3f}", "center")
        for y, bits in (top, data["votes"][0]), (second, data["votes"][1]):
            write(ax, x, y + 26 * 4 + 16, sum(bits[group::8]), "center")
        write(ax, x, foot + 14, rank, "center", bold=True)
        write(ax, x, foot + 31, "kept" if rank < KEPT else "dropped", "center")
    for number, y in enumerate((top, second)):
        _draw_vote(ax, data["votes"][number], 4 * number, column, left, y, width)
        write(ax, 14, y - 10, ("first vote", "second vote")[number] + ", lane: bit", bold=True)
        write(ax, 14, y + 26 * 4 + 16, "__popc: bits set in a column")
    write(ax, 14, foot + 14, "rank: the sum of both", bold=True)
    x, high, low = left + width * column - 4, top - 70, foot + 38
    lines(ax, [(x, high, x + width + 4, high), (x + width + 4, high, x + width + 4, low), (x + width + 4, low, x, low),
               (x, low, x, high)], "vermillion", 1.5)
    bits = data["votes"][0]
    lane = max(lane for lane in range(column, 32, 8) if bits[lane])
    write(ax, 14, foot + 64, f"{lane}: 1 in the first vote: lane {lane} finds that group {lane // 8} ranks before "
                             f"group {column}, so bit {lane} of the vote is 1.")
    write(ax, 14, foot + 84, f"The framed column has bits {column}, {column + 8}, {column + 16} and {column + 24} of "
                             f"each vote. In the first vote, >> {column} moves them to bits 0, 8, 16")
    write(ax, 14, foot + 102, "and 24, & 0x01010101 clears all other bits, and __popc counts the bits that are still "
                              f"set: {sum(bits[column::8])}.")
    return ax


def draw_lanes(data, title):
    """Draws 32 lanes in a row with their counts, and below them each token's list."""
    left, top, list_top, row, cells = 96, 64, 206, 82, 45
    num_groups, longest = len(data["tokens"][0]["counts"]), max(len(token["ranks"]) for token in data["tokens"])
    width = (cells * longest + 3) / len(data["tokens"])  # the width of a token's lanes
    pitch = (width - 6) / num_groups
    ax = canvas(left + cells * longest + 12, list_top + row * len(data["tokens"]) + 22, title)
    for number, name in enumerate(("lane", "group", "candidates", "end")):
        write(ax, 14, top + 16 + 24 * number, name, bold=number > 1)
    write(ax, left - 10, list_top - 12, "position", "right")
    for position in range(longest):
        write(ax, left + cells * (position + 0.5), list_top - 12, position, "center")
    for number, token in enumerate(data["tokens"]):
        colours = dict(zip(token["stay"], LANE_COLOURS))
        first = left + width * number
        write(ax, first + pitch * num_groups / 2, top - 8, f"token {number}", "center", bold=True)
        for group, (count, end) in enumerate(zip(token["counts"], token["ends"])):
            x, colour = first + pitch * group, colours.get(group)
            for line, text in enumerate((number * num_groups + group, group)):
                write(ax, x + pitch / 2, top + 16 + 24 * line, text, "center")
            for line, text in enumerate((count, end), 2):
                cell(ax, x, top + 24 * line, pitch - 1.5, 22, [text], f"light_{colour}" if colour else "ground",
                     colour or "pale")
        _draw_list(ax, token, number * num_groups, colours, left, list_top + row * number, cells)
        write(ax, 14, list_top + row * number + 13, f"token {number}", bold=True)
        write(ax, left - 10, list_top + row * number + 13, "id", "right")
        write(ax, left - 10, list_top + row * number + 33, "rank", "right")
        write(ax, 14, list_top + row * number + 62, "written by")
    write(ax, 14, list_top + row * len(data["tokens"]) + 6,
          "A lane writes positions end - candidates to end - 1. Cells without colour are not chosen (rank 8 or "
          "higher).")
    return ax


def _draw_list(ax, token, first_lane, colours, left, y, width):
    """Draws a token's list: ids, ranks, and below them the lanes that wrote them."""
    for position, (expert, rank) in enumerate(zip(token["candidates"], token["ranks"])):
        colour = colours[expert // GROUP]
        boxes(ax, [(left + width * position, y - 4, width - 3, 44)],
              f"light_{colour}" if rank < TOPK else "ground", colour)
        write(ax, left + width * (position + 0.5) - 1.5, y + 13, expert, "center")
        write(ax, left + width * (position + 0.5) - 1.5, y + 33, rank, "center", bold=rank < TOPK)
    for group, colour in colours.items():
        x, end = (left + width * (token["ends"][group] - back) for back in (token["counts"][group], 0))
        lines(ax, [(x + 1, y + 46, end - 4, y + 46)], colour, 2.5)
        write(ax, (x + end - 3) / 2, y + 62, f"lane {first_lane + group}", "center")


def _bits(ax, columns, y, bits, marked):
    """Draws a row of bits; bits that equal `marked` belong to candidates."""
    for x, bit in zip(columns, bits):
        cell(ax, x, y, 16, 22, [bit], "light_blue" if bit == marked else "ground", "blue" if bit == marked else "pale",
             bold=bit == marked)


def draw_mask(data, title):
    """Draws a lane's choices minus the bound as bars, the sign bit below each, the two halves as they fill, and the
    ids."""
    left, pitch, base, unit, gap = 104, 18, 124, 280, 8
    columns = [left + pitch * e + gap * (e >= GROUP // 2) for e in range(GROUP)]
    signs, fill = base + 128, base + 194
    out = fill + 26 * len(data["steps"]) + 12
    ax = canvas(columns[-1] + pitch + 12, out + 164, title)
    for name, wanted in (("pale", 1), ("blue", 0)):
        boxes(ax, [(x + 3, base - max(value, 0) * unit, pitch - 7, abs(value) * unit)
                   for x, value, below in zip(columns, data["difference"], data["below"]) if below == wanted], name)
    lines(ax, [(left, base, columns[-1] + pitch, base)], "ink", 1.5)
    for y, name in ((base - 4, "choice minus"), (base + 12, f"bound ({data['bound']:.3f})"), (signs - 14, "e"),
                    (signs + 14, "sign bit"), (out + 16, "inverted"), (out + 79, "ids listed")):
        write(ax, 14, y, name)
    for half, name in enumerate(("first_half, last 16 bits: e = 0 to 15", "second_half, last 16 bits: e = 16 to 31")):
        write(ax, columns[half * GROUP // 2] + pitch * GROUP / 4, fill - 12, name, "center", bold=True)
    for e, x in enumerate(columns):
        write(ax, x + pitch / 2 - 1, signs - 14, e, "center")
    _bits(ax, columns, signs - 2, data["below"], 0)
    _bits(ax, columns, out, [1 - bit for bit in data["below"]], 1)
    for number, halves in enumerate(data["steps"]):
        write(ax, 14, fill + 26 * number + 16, f"after {len(halves[0])} step" + "s" * (len(halves[0]) > 1))
        for half, bits in enumerate(halves):
            empty = GROUP // 2 - len(bits)
            boxes(ax, [(x, fill + 26 * number, pitch - 2, 22)
                       for x in columns[half * GROUP // 2:half * GROUP // 2 + empty]], "ground", "grid")
            _bits(ax, columns[half * GROUP // 2 + empty:], fill + 26 * number, bits, 0)
    for number, expert in enumerate(data["listed"]):
        x = left + 48 * number
        lines(ax, [(columns[expert % GROUP] + pitch / 2 - 1, out + 24, x + 21, out + 59)], "blue", 1.3)
        cell(ax, x, out + 62, 42, 26, [expert], "light_blue", "blue")
    write(ax, left + 48 * len(data["listed"]) + 4, out + 79,
          f"at positions {data['position']} to {data['position'] + len(data['listed']) - 1} of the token's list")
    write(ax, 14, out + 112, f"Group {data['group']} of row {data['row']} of the router's data. The mask is ~(first_half "
                             f"<< 16 | second_half) = {data['mask']}.")
    write(ax, 14, out + 130, "A step shifts both halves to the left and puts a sign at the right end. An empty box is "
                             "a bit that is still 0.")
    write(ax, 14, out + 148, "Each step moves the signs one column left; after 16 steps each is below its own bar.")
    return ax
