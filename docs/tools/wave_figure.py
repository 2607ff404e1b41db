"""Draws the figures of chapter 19: the halves of waves that work in each phase, and the merge of lists."""
from figure_style import boxes, canvas, cell, lines, write

LEFT, WIDTH, GAP, HEIGHT, PITCH, TOP, BETWEEN = 196, 78, 18, 30, 38, 82, 46


def _x(half):
    """Returns the left end of a half's boxes; the two halves of a wave are side by side."""
    return LEFT + half * WIDTH + half // 2 * GAP


def _draw_chapter(ax, y, name, rows):
    """Draws a chapter's phases from y on; returns the y at which they end."""
    write(ax, 14, y - 12, name, bold=True)
    num_halves = len(rows[0][1])
    for wave in range(num_halves // 2):
        write(ax, _x(2 * wave) + WIDTH, y - 12, f"wave {wave}", "center")
    for phase, halves in rows:
        write(ax, 14, y + HEIGHT / 2 + 5, phase)
        of_box = num_halves // len(halves)
        for box, text in enumerate(halves):
            if text is None:
                boxes(ax, [(_x(of_box * box), y, of_box * WIDTH, HEIGHT)], "ground", "edge")
            else:
                cell(ax, _x(of_box * box), y, of_box * WIDTH, HEIGHT, [text], "light_green")
        y += PITCH
    return y


def draw_waves(data, title):
    """Draws a row of boxes for each phase; the box of an idle half is empty."""
    y, height = TOP, TOP + sum(len(rows) * PITCH + BETWEEN for _, rows in data["chapters"]) - BETWEEN + 8
    ax = canvas(LEFT + len(data["chapters"][0][1][0][1]) * WIDTH + 4 * GAP, height + 22, title)
    write(ax, 14, height + 8, "Green: the half of the wave works. White: it is idle.")
    for name, rows in data["chapters"]:
        y = _draw_chapter(ax, y, name, rows) + BETWEEN
    return ax


LANE, LIST, LIST_GAP, MERGE_TOP, LEVEL = 21, 8, 22, 84, 112
OTHER_HALF = 120  # the width of the box for lanes 32 to 63
COLOURS = ("light_green", "light_orange", "light_blue", "light_vermillion")  # of the kept groups


def _list_x(number):
    return 14 + number * (LIST * LANE + LIST_GAP)


def _centre(number):
    """Returns the x of a list's centre; the lists of lanes 32 to 63 share a box."""
    return _list_x(number) + LIST * LANE / 2 if number < len(COLOURS) else _list_x(len(COLOURS)) + OTHER_HALF / 2


def _draw_example(ax, data):
    """Frames the candidates of two lanes that the first step compares, and connects them."""
    left, right = sorted(_list_x(lane // LIST) + lane % LIST * LANE for lane in data["example"])
    y, below = MERGE_TOP + HEIGHT, MERGE_TOP + HEIGHT + 14
    for x in (left, right):
        lines(ax, [(x, MERGE_TOP, x + LANE, MERGE_TOP), (x, y, x + LANE, y), (x, MERGE_TOP, x, y),
                   (x + LANE, MERGE_TOP, x + LANE, y)], "vermillion", 2)
    left, right = left + LANE / 2, right + LANE / 2
    lines(ax, [(left, y, left, below), (left, below, right, below), (right, y, right, below)], "vermillion", 1.6)


def draw_merge(data, title):
    """Draws the lists before and after each level. Lines lead from the two lists that a level merges to the result,
    which both receive; a candidate keeps the colour of its group."""
    height = MERGE_TOP + LEVEL * (len(data["rows"]) - 1) + HEIGHT + 62
    ax, colour_of = canvas(_list_x(len(COLOURS)) + OTHER_HALF + 14, height, title), {}
    for number, group in enumerate(data["kept"]):
        for rank in data["rows"][0]["lanes"][LIST * number:LIST * (number + 1)]:
            colour_of[rank] = COLOURS[number]
        write(ax, _centre(number), MERGE_TOP - 30, f"list {number}: group {group}", "center", bold=True)
        write(ax, _centre(number), MERGE_TOP - 12, f"lanes {LIST * number} to {LIST * number + LIST - 1}", "center")
    write(ax, _centre(len(COLOURS)), MERGE_TOP - 12, "lanes 32 to 63", "center")
    for level, row in enumerate(data["rows"]):
        y = MERGE_TOP + LEVEL * level
        if level:
            step = row["distance"] // LIST
            lines(ax, [(_centre(start), y - LEVEL + HEIGHT + 3, _centre(number), y - 30)
                       for number in range(len(COLOURS)) for start in (number, number ^ step)], "grey", 1.2)
            write(ax, 14, y - 10, f"level {level}: compare with lane xor {row['xor']}, keep the better candidate, then sort "
                  "in three steps", bold=True)
        for lane, rank in enumerate(row["lanes"][:LIST * len(COLOURS)]):
            cell(ax, _list_x(lane // LIST) + lane % LIST * LANE, y, LANE, HEIGHT, [rank], colour_of[rank])
        of_others = "empty lists" if row["lanes"][-1] is None else "the same eight"
        cell(ax, _list_x(len(COLOURS)), y, OTHER_HALF, HEIGHT, [of_others],
             "ground" if row["lanes"][-1] is None else "rank_1")
    _draw_example(ax, data)
    write(ax, 14, height - 36, "A number is a candidate's rank among all 32; its colour is that of its group.")
    lane, other = data["example"]
    mine, others = (data["rows"][0]["lanes"][at] for at in data["example"])
    write(ax, 14, height - 18, f"Orange frames: in the first step of level 1, lanes {lane} and {lane} xor "
          f"{lane ^ other} = {other} compare ranks {mine} and {others}; both keep {min(mine, others)}.")
    return ax
