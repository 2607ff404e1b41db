"""Draws the figure of chapter 19: the halves of waves that work in each phase."""
from figure_style import boxes, canvas, cell, write

LEFT, WIDTH, GAP, HEIGHT, PITCH, TOP, BETWEEN = 170, 78, 18, 30, 38, 82, 46


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
    ax = canvas(LEFT + len(data["chapters"][0][1][0][1]) * WIDTH + 4 * GAP, height, title)
    for name, rows in data["chapters"]:
        y = _draw_chapter(ax, y, name, rows) + BETWEEN
    return ax
