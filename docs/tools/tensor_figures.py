"""Draws what tensor cores multiply and how a ring of stages is filled. The data come from kernel_steps.py."""
from figure_style import boxes, canvas, cell, lines, write


def draw_fragments(data, title):
    left, top, width, row, shown = 60, 82, 26, 19, 5
    right, below = left + 16 * width + 70, top + 16 * row + 62
    ax = canvas(right + 8 * width + 24, below + 16 * row + 74, title)
    for x, y, name, lanes in ((left, below, "A: weights, 16 rows by 16 k", data["a"]),
                              (right, top, "B: tokens, 16 k by 8", data["b"]),
                              (right, below, "D: sums, 16 rows by 8 tokens", data["d"])):
        write(ax, x, y - 26, name, bold=True)
        across = 1 if name.startswith("B") else 2  # neighbouring cells of one lane
        for column in range(len(lanes[0])):
            write(ax, x + (column + 0.5) * width, y - 8, column, "center")
        for number in range(16):
            write(ax, x - 8, y + row * number + 14, number, "right")
        places = [(lanes[number][column], x + column * width, y + number * row, width * across, row)
                  for number in range(16) for column in range(0, len(lanes[0]), across)]
        for fill in ("ground", "light_blue"):
            boxes(ax, [place for lane, *place in places if (lane == shown) == (fill == "light_blue")], fill, "edge")
        for lane, at, height, wide, _ in places:
            write(ax, at + wide / 2, height + 14, lane, "center", bold=lane == shown)
    write(ax, 14, below + 16 * row + 34, "A number is the lane that holds the element; a cell of A or D is two "
                                         "neighbouring elements of a row.")
    write(ax, 14, below + 16 * row + 54, f"Blue cells are the fragments of lane {shown}: 8 elements of A, 4 elements "
                                         "of B and 4 sums.")
    return ax


def draw_ring(data, title):
    left, width, row, top, done = 76, 38, 44, 66, data["done"]
    bottom, at = top + row * data["stages"], {(what, step): i for i, (what, step, _) in enumerate(done)}
    ax = canvas(left + width * len(done) + 14, bottom + 84, title)
    for stage in range(data["stages"]):
        write(ax, 14, top + row * stage + 23, f"stage {stage}")
        lines(ax, [(left, top + row * stage + 18, left + width * len(done), top + row * stage + 18)], "grid")
    for number, (what, step, stage) in enumerate(done):
        x, y = left + width * number, top + row * stage
        if what == "wait":
            lines(ax, [(x + width / 2, top - 10, x + width / 2, bottom)], "ink", 2)
            write(ax, x + width / 2, top - 16, step, "center")
        elif what == "copy":
            boxes(ax, [(x + width, y + 13, width * (at["wait", step] - number - 0.5), 10)], "pale")
        if what != "wait":
            cell(ax, x, y, width, 36, [step], "light_blue" if what == "copy" else "light_orange")
    for x, fill, height, words in ((14, "light_blue", 12, "copies of a step are started"),
                                   (260, "pale", 8, "they are under way"), (430, "light_orange", 12, "multiplied")):
        boxes(ax, [(x, bottom + 18 + (12 - height) / 2, 14, height)], fill)
        write(ax, x + 20, bottom + 28, words)
    lines(ax, [(557, bottom + 16, 557, bottom + 32)], "ink", 2)
    write(ax, 570, bottom + 28, "wait, then barrier")
    write(ax, 14, bottom + 52, "From left to right: what warp 0 does. Numbers are steps. Each operation is one cell "
                               "wide, whatever its time.")
    return ax


def draw_chunks(data, title):
    left, width, row, top, shown = 88, 62, 26, 84, 2
    ax = canvas(left + 8 * width + 14, top + 8 * row + 46, title)
    for place in range(8):
        write(ax, left + (place + 0.5) * width, top - 10, f"{4 * place} to {4 * place + 3}", "center")
    write(ax, left - 12, top - 10, "banks", "right")
    for number, line in enumerate(data["lines"]):
        write(ax, left - 12, top + row * number + 17, f"row {number}", "right")
        for fill, wanted in (("ground", False), ("light_blue", True)):
            boxes(ax, [(left + place * width, top + row * number, width, row - 3) for place in range(8)
                       if (line[place] == shown) == wanted], fill, "edge")
        for place, piece in enumerate(line):
            write(ax, left + (place + 0.5) * width, top + row * number + 17, piece, "center", bold=piece == shown)
    write(ax, 14, top + 8 * row + 22, "A cell is a chunk, 16 bytes. ldmatrix reads one chunk of all 8 rows at once, "
                                      f"here chunk {shown}.")
    return ax
