"""Draws the figures of chapter 16 for figures.py: the phases of a ring's barriers and a warpgroup's part of a
product."""
from figure_style import boxes, canvas, lines, write


def _bar(ax, x, y, width, height, text, fill):
    boxes(ax, [(x, y, width, height)], fill, "grey")
    write(ax, x + width / 2, y + height / 2 + 4, text, "center")


def draw_phases(data, title):
    """Draws a row for each side, then a row for each barrier with its phases; time runs from left to right."""
    left, unit, row, top = 128, 84, 34, 58
    ax = canvas(left + unit * data["end"] + 60, top + row * (2 + 2 * data["stages"]) + 62, title)
    end, fills = left + unit * data["end"] + 36, ("light_blue", "light_orange")

    for number, (name, what) in enumerate((("copying warp", "copy"), ("multiplying", "multiply"))):
        write(ax, left - 12, top + row * number + 19, name, "right")
        for tile in data["rows"]:
            begin, after = tile[what]
            _bar(ax, left + unit * begin, top + row * number, unit * (after - begin), row - 8,
                 f"tile {tile['tile']} in {tile['stage']}", fills[tile["stage"]])
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
                if after is not None:
                    lines(ax, [(to, y - 3, to, y + row - 5)], "vermillion", 2)
    write(ax, 14, top + row * (2 + 2 * data["stages"]) + 40,
          "Time runs from left to right. A red line marks the end of a phase, for which the other side waits.")
    return ax


def draw_product(data, title):
    """Draws the result, 64 rows by N columns with 16 rows per warp, and beside it 8 columns of one warp's rows, lane by
    lane."""
    left, top, high, wide = 74, 66, 76, 150
    cells, width, row = data["cells"], 56, 19
    right = left + wide + 96
    ax = canvas(right + 8 * width + 16, top + 16 * row + 62, title)

    write(ax, left + wide / 2, top - 12, f"{data['columns']} columns: tokens", "center")
    for warp in range(4):
        own = warp == data["warp"]
        _bar(ax, left, top + high * warp, wide, high - 4, f"warp {warp}", "light_orange" if own else "ground")
        write(ax, left - 8, top + high * warp + 38, f"{16 * warp} to {16 * warp + 15}", "right")
    y = top + high * data["warp"]
    boxes(ax, [(left, y, 20, high - 4)], "light_blue", "grey")
    lines(ax, [(left + 20, y, right, top), (left + 20, y + high - 4, right, top + 16 * row - 3)], "grey")
    for column in range(8):
        write(ax, right + width * (column + 0.5), top - 12, f"col. {column}", "center")
    for number, line in enumerate(cells):
        write(ax, right - 8, top + row * number + 14, number, "right")
        for column, (lane, index) in enumerate(line):
            fill = "light_blue" if lane == cells[0][0][0] else "ground"
            boxes(ax, [(right + width * column, top + row * number, width - 2, row - 2)], fill, "edge")
            write(ax, right + width * (column + 0.5) - 1, top + row * number + 13, f"{lane}: d{index}", "center")
    write(ax, 14, top + 16 * row + 26, "Each cell: the lane that holds the sum, and which of the lane's four numbers in "
                                       "these 8 columns it is.")
    write(ax, 14, top + 16 * row + 44, f"Blue: lane 0. Every further 8 columns add 4 numbers to each lane, "
                                       f"{data['sums']} in all.")
    return ax
