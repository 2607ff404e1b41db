"""Draws two figures of chapters 11a and 11b for figures.py, from data of layer_steps.py: the rows that the kernels
write for one token, and a tile of sums."""
from figure_style import boxes, canvas, cell, lines, write


def draw_token(data, title):
    """Draws the rows that the three kernels write for one token, with a row of the figure for each position."""
    columns = (("slot", 14, 116), ("hidden", 222, 84), ("intermediate", 414, 92), ("partial", 612, 112),
               ("output", 776, 112))
    top, row, height = 92, 84, 46
    middles = [top + row * number + height / 2 for number in range(len(data["rows"]))]
    middle = sum(middles) / len(middles)
    ax = canvas(902, top + row * len(middles) + 36, title)
    for (name, x, width) in columns:
        write(ax, x + width / 2, 80, name, "center", bold=True)
    for name, left in (("gate_up_kernel", 1), ("down_kernel", 2), ("moe_sum_kernel", 3)):
        write(ax, (columns[left][1] + columns[left][2] + columns[left + 1][1]) / 2, 54, name, "center")
    (_, slot, slot_width), (_, hidden, hidden_width), (_, inner, inner_width), (_, partial, partial_width), (
        _, output, output_width) = columns
    cell(ax, hidden, middle - height / 2, hidden_width, height, ["row 0", data["x"]], "light_blue")
    cell(ax, output, middle - height / 2, output_width, height, ["row 0", data["output"]], "light_blue")
    for step, y in zip(data["rows"], middles):
        number, fill = step["position"], ("light_orange", "light_green")[step["position"] % 2]
        cell(ax, slot, y - height / 2, slot_width, height, [f"position {number}", f"of expert {step['expert']}"], fill)
        cell(ax, inner, y - height / 2, inner_width, height, [f"row {number}", step["intermediate"]], fill)
        cell(ax, partial, y - height / 2, partial_width, height, [f"row {number}", step["partial"]], fill)
        side = -12 if y < middle else 22
        write(ax, slot + slot_width + 6, y + side, f"{number} / {data['topk']} = {step['token']}")
        write(ax, inner - 6, y + side, "w1, w3", "right")
        write(ax, (inner + inner_width + partial) / 2, y - 24, "times w2,", "center")
        write(ax, (inner + inner_width + partial) / 2, y - 9, f"times {step['weight']}", "center")
        lines(ax, [(slot + slot_width + 2, y, hidden - 3, middle + (y - middle) / 4),
                   (hidden + hidden_width + 2, middle + (y - middle) / 4, inner - 3, y),
                   (inner + inner_width + 2, y, partial - 3, y),
                   (partial + partial_width + 2, y, output - 3, middle + (y - middle) / 4)], "vermillion", 1.4, 7)
    write(ax, 14, top + row * len(middles) + 18,
          f"A position divided by topk ({data['topk']}) is the token's row. The weights are those of the position's "
          "expert; each position has its own row in both arrays.")
    return ax


def draw_tile(data, title):
    """Draws a tile of sums with the tiles of tokens and weights from which it is computed, in steps of k, and marks the
    sums of one thread."""
    rows, columns, last = data["rows"], data["columns"], data["steps"] - 1
    left, top, width, height, behind = 300, 244, 8, 12, 7
    right, bottom = left + width * columns, top + height * rows
    ax = canvas(right + 34, bottom + 94, title)
    own_rows, own_columns = sorted({row for row, _ in data["own"]}), sorted({column for _, column in data["own"]})
    write(ax, 14, 52, "In each step of k, the block")
    for number, text in enumerate(("copies 32 elements of every row", "to shared memory,",
                                   "waits at a barrier, multiplies,", "and waits at a second barrier.")):
        write(ax, 14, 69 + 17 * number, text)
    for number, (x, y, name) in enumerate(((14, 84, 0), (90, 122, 1), (206, 190, last))):
        fill = "light_blue" if number == 0 else "ground"
        boxes(ax, [(left + behind, y - behind, width * columns, 32)], fill, "grey")
        boxes(ax, [(left, y, width * columns, 32)], fill, "grey")
        boxes(ax, [(x, top, 70, height * rows)], fill, "grey")
        if number == 0:
            boxes(ax, [(left + width * column, y, width, 32) for column in own_columns], "light_vermillion")
            boxes(ax, [(x, top + height * row, 70, height) for row in own_rows], "light_vermillion")
        write(ax, x + 35, top + height * 5, f"step {name}", "center")
        write(ax, (left + right) / 2, y + 20, f"step {name}", "center")
    write(ax, 183, top + height * rows / 2, "\u2026", "center", size=15)
    write(ax, (left + right) / 2, 174, "\u2026", "center", size=15)
    write(ax, left, 66, "64 rows of w1, drawn as columns; behind them, w3", bold=True)
    lines(ax, [(left - 10, 84, left - 10, 222)], "ink", 1.2, 8)
    write(ax, left - 16, 160, "k", "right", bold=True)
    write(ax, 14, top - 26, f"{rows} tokens", bold=True)
    lines(ax, [(14, top - 12, 276, top - 12)], "ink", 1.2, 8)
    write(ax, 150, top - 18, "k", "center", bold=True)
    boxes(ax, [(left + behind, top - behind, width * columns, height * rows)], "ground", "grey")
    boxes(ax, [(left, top, width * columns, height * rows)], "ground", "grey")
    lines(ax, [(left + width * column, top, left + width * column, bottom) for column in range(1, columns)] +
          [(left, top + height * row, right, top + height * row) for row in range(1, rows)], "grid", 0.8)
    for cells, fill in ((data["together"], "light_green"), (data["own"], "vermillion")):
        boxes(ax, [(left + width * column, top + height * row, width, height) for row, column in cells], fill, "grey")
    for row in own_rows:
        write(ax, left - 6, top + height * row + 11, row, "right")
    for column in own_columns:
        write(ax, left + width * (column + 0.5), bottom + 16, column, "center")
    write(ax, 14, bottom + 42, f"{rows} x {columns} sums of gate; behind them, those of up. Orange: the sums of thread "
          f"{data['thread']}, and the rows that it multiplies.")
    write(ax, 14, bottom + 60, "Blue: the elements that are in shared memory during step 0; no other step's are there.")
    write(ax, 14, bottom + 78, f"Green: the sums that 16 neighbouring lanes compute together, so they read 16 "
          "neighbouring words of a tile of weights.")
    return ax
