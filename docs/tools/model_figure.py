"""Draws the parts of a decode step of chapter 18's model, for figures.py. The data come from model_times.py."""
from figure_style import boxes, canvas, lines, write

LEFT, RIGHT, TOP, PITCH, HEIGHT = 118, 618, 74, 32, 26
COLOURS = ("light_vermillion", "light_orange", "light_blue", "rank_1")  # of the parts
NARROW = 0.05  # the smallest fraction whose percentage fits into its box


def draw_step(data, title):
    """Draws two bars for each number of sequences, as fractions of the upper one. The line after the lower bar is
    the time saved."""
    height = TOP + sum(26 + PITCH * len(group["rows"]) for group in data["groups"]) + 44
    ax, x, y = canvas(840, height, title), 14, TOP
    for name, colour in zip(data["parts"], COLOURS):
        boxes(ax, [(x, 42, 14, 14)], colour, "grey")
        write(ax, x + 20, 54, name, size=13)
        x += 50 + 7.5 * len(name)
    for group in data["groups"]:
        write(ax, 14, y + 16, group["label"], size=13, bold=True)
        y += 24
        for row in group["rows"]:
            x = LEFT
            for part, colour in zip(row["parts"], COLOURS):
                width = part * (RIGHT - LEFT)
                boxes(ax, [(x, y, width, HEIGHT)], colour, "grey")
                if part >= NARROW:
                    write(ax, x + width / 2, y + HEIGHT / 2 + 5, f"{100 * part:.0f} %", "center")
                x += width
            lines(ax, [(x, y + HEIGHT / 2, RIGHT, y + HEIGHT / 2)] if RIGHT - x > 1 else [], "pale", 1.5)
            write(ax, LEFT - 10, y + 18, row["label"], "right", size=13)
            write(ax, RIGHT + 12, y + 18, row["text"], size=13)
            y += PITCH
        y += 2
    write(ax, 14, y + 20, "Percentages are of grouped_mm's step with the same number of sequences. GPU times of the "
          "kernels, recorded on an H200.")
    return ax
