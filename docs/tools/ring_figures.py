"""Draws the figures of chapters 16a and 16b for figures.py: the phases of a ring's barriers and a warpgroup's part of a
product."""
from figure_style import boxes, canvas, cell, lines, write


def _bar(ax, x, y, width, height, text, fill):
    boxes(ax, [(x, y, width, height)], fill, "grey")
    write(ax, x + width / 2, y + height / 2 + 4, text, "center")


def draw_phases(data, title):
    """Draws a row for each side, then a row for each barrier with its phases; time runs from left to right."""
    left, unit, row, top = 128, 96, 34, 58
    ax = canvas(left + unit * data["end"] + 60, top + row * (2 + 2 * data["stages"]) + 80, title)
    end, fills = left + unit * data["end"] + 36, ("light_blue", "light_orange")

    for number, (name, what) in enumerate((("copying warp", "copy"), ("multiplying", "multiply"))):
        write(ax, left - 12, top + row * number + 19, name, "right")
        for tile in data["rows"]:
            begin, after = tile[what]
            _bar(ax, left + unit * begin, top + row * number, unit * (after - begin), row - 8,
                 f"tile {tile['tile']}, stage {tile['stage']}", fills[tile["stage"]])
    for stage in range(data["stages"]):
        tiles = [tile for tile in data["rows"] if tile["stage"] == stage]
        for kind, what in enumerate(("copy", "multiply")):
            y = top + row * (2 + 2 * stage + kind) + 14
            ends = [tile[what][1] for tile in tiles]
            write(ax, left - 12, y + 19, f"{('filled', 'emptied')[kind]}[{stage}]", "right")
            for phase, (begin, after) in enumerate(zip([0, *ends], [*ends, None])):
                x = left + unit * begin
                to = end if after is None else left + unit * after
                _bar(ax, x, y, to - x, row - 8, f"phase {phase}" if to - x >= 60 else phase, "ground")
            lines(ax, [(left + unit * after, y - 3, left + unit * after, y + row - 5) for after in ends], "vermillion", 2)
    y = top + row * (2 + 2 * data["stages"]) + 40
    write(ax, 14, y, "Time runs from left to right. An orange line marks the end of a phase: of filled, when a tile has "
                     "been copied,")
    write(ax, 14, y + 18, "of emptied, when it has been multiplied. Tile 2 is copied into stage 0 once phase 0 of "
                          "emptied[0] has ended.")
    return ax


def draw_uses(data, title):
    """Draws a row for each round of a ring and a column for each stage, with the use of the stage in this round."""
    left, top, width, height = 92, 62, 114, 58
    ax = canvas(900, top + height * len(data["rounds"]) + 44, title)
    for stage in range(len(data["rounds"][0])):
        write(ax, left + width * (stage + 0.5) - 4, top - 10, f"stage {stage}", "center")
    for number, uses in enumerate(data["rounds"]):
        write(ax, left - 12, top + height * number + 29, f"round {number}", "right")
        for stage, (use, step, consumer) in enumerate(uses):
            what = "tokens" if consumer is None else f"weights of {consumer}"
            cell(ax, left + width * stage, top + height * number, width - 8, height - 8,
                 [f"use {use}: step {step}", what], "light_orange" if consumer is None else "light_blue")
    write(ax, 14, top + height * len(data["rounds"]) + 26, "Yellow: filled by the token warp. Blue: filled by the weight "
                                                           "warp, for the consumer with this number.")
    return ax


def draw_handoff(data, title):
    """Draws a column for each warp, with what it does, and the arrivals between the columns as arrows; time runs from
    top to bottom."""
    names, pitch, row, top = data["lanes"], 900 // len(data["lanes"]), 62, 50
    rows = max(at for _, at, *_ in data["boxes"]) + 1
    middle = [pitch * (number + 0.5) for number in range(len(names))]
    half = min(pitch / 2 - 12, 118)
    ax = canvas(900, top + row * rows + 52, title)
    for x, name in zip(middle, names):
        write(ax, x, top + 10, name, "center", bold=True)
        lines(ax, [(x, top + 18, x, top + row * rows)], "edge")
    for lane, at, texts, fill in data["boxes"]:
        cell(ax, middle[lane] - half, top + 28 + row * at, 2 * half, 30, texts, fill)
    for at, barrier, start, ends, text in data["arrows"]:
        y = top + 14 + row * at
        lines(ax, [(middle[start], y, middle[end], y) for end in ends], "vermillion", 1.6, 9)
        if barrier:
            between = (middle[0] + middle[1]) / 2 if 0 in (start, *ends) else (middle[start] + middle[ends[0]]) / 2
            write(ax, between, y - 5, f"{barrier}: {text}", "center")
    write(ax, 14, top + row * rows + 34, data["note"])
    return ax


def draw_product_steps(data, title):
    """Draws a row for the warp, one for the tensor cores and one for each stage; time runs from left to right."""
    left, row, top, fills = 122, 36, 54, ("light_blue", "light_orange")
    unit = (900 - left - 24) / data["end"]
    ax = canvas(900, top + row * (2 + data["stages"]) + 62, title)
    for number, name in enumerate(("consumer warp", "tensor cores", *(f"stage {at}" for at in range(data["stages"])))):
        write(ax, left - 12, top + row * number + 19, name, "right")
    for step in data["rows"]:
        fill, (begin, end) = fills[step["step"] % 2], step["start"]
        _bar(ax, left + unit * begin, top, unit * (end - begin), row - 8, f"start {step['step']}", fill)
        begin, end = step["wait"]
        if end > begin:
            _bar(ax, left + unit * begin, top, unit * (end - begin), row - 8, f"wait for {step['step'] - 1}", "ground")
        begin, end = step["multiply"]
        _bar(ax, left + unit * begin, top + row, unit * (end - begin), row - 8, f"products of step {step['step']}", fill)
        y, begin, end = top + row * (2 + step["stage"]), step["start"][0], step["freed"]
        _bar(ax, left + unit * begin, y, unit * (end - begin), row - 8, f"read by step {step['step']}, then freed", fill)
        lines(ax, [(left + unit * end, y - 3, left + unit * end, y + row - 5)], "vermillion", 2)
    begin, end = data["last_wait"]
    _bar(ax, left + unit * begin, top, unit * (end - begin), row - 8, f"wait for {len(data['rows']) - 1}", "ground")
    foot = top + row * (2 + data["stages"]) + 22
    write(ax, 14, foot, "Time runs from left to right. An orange line: the warp arrives at emptied, because the products "
                        "that read the stage are complete.")
    write(ax, 14, foot + 18, "By then the tensor cores already have the next step's products. Simplified: every stage is "
                             "filled before its step.")
    return ax


def draw_roles(data, title):
    """Draws a row for the copies, and two rows for each consumer: what the warpgroup does, and its products on the
    tensor cores. A colour stands for a stage; time runs from left to right."""
    left, row, top, fills = 138, 36, 54, ("light_blue", "light_orange", "light_green", "light_vermillion")
    unit, consumers = (900 - left - 24) / data["end"], len(data["rows"][0]["consumers"])
    names = ["copies", *(name for number in range(consumers)
                         for name in (f"consumer {number}", f"products of {number}"))]
    ax = canvas(900, top + row * len(names) + 98, title)

    def part(span, at, text, fill):
        begin, end = span
        if end > begin:
            _bar(ax, left + unit * begin, top + row * at, unit * (end - begin), row - 8, text, fill)

    for at, name in enumerate(names):
        write(ax, left - 12, top + row * at + 19, name, "right")
    for step in data["rows"]:
        fill = fills[step["stage"]]
        part(step["copy"], 0, f"step {step['step']}", fill)
        for number, one in enumerate(step["consumers"]):
            part(one["start"], 1 + 2 * number, step["step"], fill)
            part(one["wait"], 1 + 2 * number, "wait", "ground")
            part(one["multiply"], 2 + 2 * number, f"step {step['step']}", fill)
    for number in range(consumers):
        part(data["last_waits"][number], 1 + 2 * number, "wait", "ground")
        at = [left + unit * step["consumers"][number]["freed"] for step in data["rows"]]
        y = top + row * (1 + 2 * number)
        lines(ax, [(x, y - 3, x, y + row - 5) for x in at], "vermillion", 2)
    foot, later = top + row * len(names) + 22, data["rows"][data["stages"]]
    beside = next(step for step in data["rows"] for one in step["consumers"]
                  if one["multiply"][0] < later["copy"][1] and one["multiply"][1] > later["copy"][0])
    for number, text in enumerate((
            "Time runs from left to right; a colour stands for a stage. Numbers: the consumer starts the products of this "
            "step.",
            f"Orange lines: it arrives at emptied for the step before; the last one, for step {data['rows'][-1]['step']}. "
            "When both consumers have arrived, the",
            f"stage is filled again: step {later['step']}'s copies go to stage {later['stage']} while the tensor cores "
            f"compute step {beside['step']}. The order is that of a run on",
            "the simulator; the times are assumed: 2 units for the copies of a step, 1 to start its products, 2 to compute "
            "those of one consumer.")):
        write(ax, 14, foot + 18 * number, text)
    return ax


def draw_product(data, title):
    """Draws the result, 64 rows by N columns with 16 rows per warp, and beside it 8 columns of one warp's rows, lane by
    lane, with one sum marked."""
    left, top, high, wide = 112, 66, 76, 120
    cells, width, row = data["cells"], 62, 19
    right, warp_shown, first = left + wide + 124, data["row"] // 16, data["column"] // 8 * 8
    ax = canvas(right + 8 * width + 16, top + 16 * row + 62, title)
    own_row, own_column = data["row"] % 16, data["column"] % 8

    write(ax, left + wide / 2, top - 12, f"{data['columns']} columns: tokens", "center")
    for warp in range(4):
        y = top + high * warp
        boxes(ax, [(left, y, wide, high - 4)], "light_orange" if warp == warp_shown else "ground", "grey")
        write(ax, left - 8, y + 30, f"warp {warp}", "right", bold=warp == warp_shown)
        write(ax, left - 8, y + 48, f"rows {16 * warp} to {16 * warp + 15}", "right")
    y, x, part = top + high * warp_shown, left + wide * first / data["columns"], wide * 8 / data["columns"]
    boxes(ax, [(x, y, part, high - 4)], "light_blue", "grey")
    bracket, bottom = right - 38, top + 16 * row - 2
    lines(ax, [(x + part, y, bracket, top), (x + part, y + high - 4, bracket, bottom), (bracket, top, bracket, bottom)],
          "grey")
    for column in range(8):
        write(ax, right + width * (column + 0.5), top - 12, f"col. {first + column}", "center")
    for number, line in enumerate(cells):
        write(ax, right - 8, top + row * number + 14, 16 * warp_shown + number, "right")
        for column, (lane, index) in enumerate(line):
            fill = "light_blue" if lane == cells[own_row][own_column][0] else "ground"
            boxes(ax, [(right + width * column, top + row * number, width - 2, row - 2)], fill, "edge")
            write(ax, right + width * (column + 0.5) - 1, top + row * number + 13, f"{lane}: d[{index}]", "center",
                  bold=(number, column) == (own_row, own_column))
    x, y = right + width * own_column - 1, top + row * own_row - 1
    lines(ax, [(x, y, x + width, y), (x, y + row, x + width, y + row), (x, y, x, y + row),
               (x + width, y, x + width, y + row)], "vermillion", 2)
    lane, index = cells[own_row][own_column]
    write(ax, 14, top + 16 * row + 26, f"Each cell on the right: the lane that holds the sum, and the sum's index among "
                                       f"the lane's {data['sums']} sums, d[0] to d[{data['sums'] - 1}].")
    write(ax, 14, top + 16 * row + 44, f"Blue on the right: lane {lane}. Orange frame: row {data['row']}, column "
                                       f"{data['column']}, which is d[{index}] of lane {lane} in warp {warp_shown}.")
    return ax
