"""Draws the figures of chapters 14a and 14b for figures.py, from data of choices.py and kernel_steps.py."""
from figure_style import boxes, canvas, cell, lines, write


def draw_bit_table(data, title):
    left, pitch, width, row, top = 150, 38, 35, 26, 64
    experts, colours = data["experts"], ("blue", "orange", "green", "vermillion")
    table, foot = top + row + 34, top + row + 34 + (row + 4) * len(data["rows"])
    ax = canvas(left + pitch * len(experts) + 96, foot + 96, title)
    for y, name in ((top - 8, "position in topk_ids"), (top + 18, "topk_ids: the expert"), (foot + 30, "rank"),
                    (foot + 62, "slot = first slot + rank")):
        write(ax, 14, y, name)
    write(ax, left + pitch * len(experts) + 6, table - 8, "first slot")
    for number, expert in enumerate(data["rows"]):
        y = table + (row + 4) * number
        write(ax, 14, y + 18, f"bits of expert {number}")
        write(ax, left + pitch * len(experts) + 30, y + 18, expert["begin"])
        for position, bit in enumerate(expert["bits"]):
            cell(ax, left + pitch * position, y, width, row, [bit],
                 f"light_{colours[number % 4]}" if bit else "ground", colours[number % 4] if bit else "pale", bold=bit)
    for position, expert in enumerate(experts):
        x, colour = left + pitch * position, colours[expert % 4]
        write(ax, x + width / 2, top - 8, position, "center")
        cell(ax, x, top, width, row, [expert], f"light_{colour}", colour)
        write(ax, x + width / 2, foot + 30, data["ranks"][position], "center")
        cell(ax, x, foot + 44, width, row, [data["slots"][position]], f"light_{colour}", colour)
    write(ax, 14, foot + 86, "Rank: the number of bits of value 1 left of the id's own bit, in its expert's row.")
    return ax


def _draw_set(ax, x, y, rows, num_rows, data):
    """Draws one set of rows, each with its written bit and its counts; a row that is not written has zeros."""
    for block in range(num_rows):
        here = rows[block] if block < len(rows) else None
        write(ax, x, y + 28 * block + 18, f"row {block}")
        cell(ax, x + 48, y + 28 * block, 26, 24, [1 if here else 0], "light_vermillion" if here else "ground",
             "vermillion" if here else "pale", bold=bool(here))
        for expert in range(data["experts"]):
            cell(ax, x + 78 + 30 * expert, y + 28 * block, 28, 24, [here[expert] if here else 0],
                 "light_blue" if here else "ground", "blue" if here else "pale")


def draw_published_rows(data, title):
    first, second = data["launches"]
    width = 78 + 30 * data["experts"] + 40
    ax = canvas(14 + width * 3 + 10, 106 + 2 * (28 * len(first) + 44) + 12, title)
    heads = ("before launch 1", f"after launch 1: {data['numels'][0]} ids", f"after launch 2: {data['numels'][1]} ids")
    for column, (head, sets) in enumerate(zip(heads, (([], []), ([], first), (second, [])))):
        x, last = 14 + width * column, ("0", f"{len(first)} words, set 1", f"{len(second)} words, set 0")[column]
        write(ax, x, 52, head, bold=True)
        write(ax, x, 72, f"last: {last}")
        for number, rows in enumerate(sets):
            y = 106 + (28 * len(first) + 44) * number
            write(ax, x, y - 8, f"set {number}: written bit, then counts")
            _draw_set(ax, x, y, rows, len(first), data)
    write(ax, 14, 106 + 2 * (28 * len(first) + 44) - 6,
          "Launch 2 writes set 0, which it finds cleared, and clears the rows of launch 1 in set 1.")
    return ax


STAGES = (("read and mark", "blue"), ("publish", "vermillion"), ("sort in shared memory", "green"),
          ("poll and add", "orange"), ("write the list", "purple"))


def draw_blocks_over_time(data, title):
    left, row, top, space = 84, 34, 84, 700
    delays, lengths = data["delays"], data["lengths"]
    ready = [delay + sum(lengths[:2]) for delay in delays]
    ends = [max(max(ready), delay + sum(lengths[:3])) + sum(lengths[3:]) for delay in delays]
    unit, foot = space / max(ends), top + row * len(delays)
    ax = canvas(left + space + 24, foot + 88, title)
    lines(ax, [(left + max(ready) * unit, top - 12, left + max(ready) * unit, foot + 2)], "ink", 1.5)
    write(ax, left + max(ready) * unit, top - 18, "the last row is published", "center")
    for block, delay in enumerate(delays):
        x, y = left + delay * unit, top + row * block
        write(ax, 14, y + 17, f"block {block}")
        for number, (length, (_, colour)) in enumerate(zip(lengths, STAGES)):
            wait = max(0, left + max(ready) * unit - x) if number == 3 else 0
            boxes(ax, [(x, y + 9, wait, 4)], "edge")
            boxes(ax, [(x + wait, y, length * unit, 22)], colour)
            x += wait + length * unit
    x = 14
    for name, colour in STAGES:
        boxes(ax, [(x, foot + 18, 14, 12)], colour)
        write(ax, x + 20, foot + 28, name)
        x += 44 + 7.2 * len(name)
    write(ax, 14, foot + 54, "Thin line: the block polls for rows that are not published yet.")
    write(ax, 14, foot + 72, "A stage's length is the number of memory accesses that warp 0 makes in it, not a time; "
                             "blocks start one after another.")
    return ax
