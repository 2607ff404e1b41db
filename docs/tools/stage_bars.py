"""Draws the times of a layer's stages on several ranks as fractions of its time on one rank, for figures.py. The data
come from stages.py."""
from figure_style import boxes, canvas, lines, write

COLOURS = ("orange", "grey", "sky", "pale", "vermillion", "purple")  # of the stages, in the order of stages.COLUMNS


def draw_scaling(data, title):
    left, right, top, pitch = 168, 640, 78, 22
    ax, y, x = canvas(840, 96 + top + sum(30 + pitch * len(group["rows"]) for group in data["groups"]), title), top, 14
    for name, colour in zip(data["stages"], COLOURS):
        boxes(ax, [(x, 42, 12, 12)], colour)
        write(ax, x + 18, 53, name, size=13)
        x += 36 + 7.5 * len(name)
    for group in data["groups"]:
        write(ax, 14, y + 14, group["label"], size=13, bold=True)
        y += 22
        lines(ax, [(x, y, x, y + pitch * len(group["rows"]))
                   for x in (left + (right - left) * part / 4 for part in range(5))], "grid")
        for row in group["rows"]:
            x = left
            for part, colour in zip(row["parts"], COLOURS):
                boxes(ax, [(x, y + 3, part * (right - left), pitch - 6)] if part > 0 else [], colour)
                x += part * (right - left)
            write(ax, left - 10, y + 16, row["label"], "right", size=13)
            write(ax, x + 8, y + 16, row["text"], size=13)
            y += pitch
        y += 8
    for part in range(5):
        write(ax, left + (right - left) * part / 4, y + 10, f"{part / 4:g}", "center")
    write(ax, (left + right) / 2, y + 32, "of one GPU's time", "center", size=13)
    write(ax, 14, y + 62, data["source"])
    return ax
