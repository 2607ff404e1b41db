"""Draws the figures of chapter 17: timelines of a chain of kernels, and the time that overlap saves. The data come from
chain_steps.py and chains.py."""
from figure_style import boxes, canvas, lines, write

UNIT, ROW, LEFT, TOP = 11, 34, 34, 76  # a unit of time, the height of a kernel's row, the position of the first row
COLOURS = {"start": "light_vermillion", "loads": "light_blue", "wait": "ground", "work": "light_green"}
LEGEND = {"start": "start", "loads": "loads before the wait", "wait": "waiting", "work": "the rest"}


def _draw_rows(ax, y, timeline):
    """Draws a row for each kernel and a line where a wait returns."""
    for number, row in enumerate(timeline["rows"]):
        top = y + ROW * number
        write(ax, 14, top + 18, row["kernel"], size=13, bold=True)
        for what, begin, end in row["parts"]:
            boxes(ax, [(LEFT + UNIT * begin, top, UNIT * (end - begin), ROW - 8)], COLOURS[what], "grey")
            if what == "wait":
                x = LEFT + UNIT * end
                lines(ax, [(x, top - 8, x, top + ROW - 4)], "vermillion", 2)
        write(ax, LEFT + UNIT * row["parts"][-1][2] + 6, top + 18, row["parts"][-1][2], size=13)


def draw_chain(data, title):
    """Draws the timelines of the chain, one below the other; time runs from left to right."""
    longest = max(timeline["end"] for timeline in data["timelines"])
    height = TOP + sum(52 + ROW * len(timeline["rows"]) for timeline in data["timelines"]) + 8
    ax, x, y = canvas(max(LEFT + UNIT * longest + 46, 640), height, title), 14, TOP
    for what, text in LEGEND.items():
        boxes(ax, [(x, 42, 14, 12)], COLOURS[what], "grey")
        write(ax, x + 20, 53, text, size=13)
        x += 44 + 7.2 * len(text)
    for timeline in data["timelines"]:
        write(ax, 14, y + 20, timeline["label"], size=13, bold=True)
        _draw_rows(ax, y + 32, timeline)
        y += 46 + ROW * len(timeline["rows"])
    write(ax, 14, y + 10, "An orange line marks the time at which a wait returns, because the kernel above has ended.",
          size=13)
    return ax


def draw_saved(data, title):
    """Draws, for each number of tokens, a bar for the time that each kernel saves, for their sum, and for all kernels
    together."""
    left, row, top, scale = 150, 26, 62, 400
    ax, y = canvas(760, top + sum(34 + row * len(group["bars"]) for group in data["groups"]) + 30, title), top
    for group in data["groups"]:
        write(ax, 14, y + 8, f"{group['num_tokens']:,} token{'s' * (group['num_tokens'] != 1)}", size=13, bold=True)
        for number, (name, us) in enumerate(group["bars"]):
            at = y + 16 + row * number
            fill = {"all three together": "light_vermillion", "sum of the three": "ground"}.get(name, "light_blue")
            write(ax, left - 10, at + 16, name, "right", size=13)
            boxes(ax, [(left, at, scale * us, row - 6)], fill, "grey")
            write(ax, left + scale * us + 8, at + 16, f"{us:.2f} us", size=13)
        y += 34 + row * len(group["bars"])
    write(ax, 14, y + 8, "Blue: only this kernel overlaps the previous one. Light orange: all three kernels do.",
          size=13)
    return ax
