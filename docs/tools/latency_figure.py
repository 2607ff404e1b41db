"""Draws the primer's figure of a scheduler that hides latency for figures.py, from data of latency.py."""
from figure_style import boxes, canvas, cell, write

CELL, ROW, LEFT, TOP = 24, 24, 92, 78  # the width of a cycle, the height of a warp's row, the first cell's position


def _draw_warp(ax, y, warp, issued, data):
    write(ax, LEFT - 8, y + 16, f"warp {warp}", "right")
    for number, cycle in enumerate(issued):
        waits = min(data["latency"], data["cycles"] - cycle) - 1
        if waits > 0:
            boxes(ax, [(LEFT + CELL * (cycle + 1), y + 8, CELL * waits - 2, 8)], "grid")
        cell(ax, LEFT + CELL * cycle, y, CELL - 2, ROW - 4, [number], "light_blue")


def draw_latency(data, title):
    """Draws panels one below the other: a row for each warp, a column for each cycle."""
    rows = sum(len(panel["warps"]) for panel in data["panels"])
    ax = canvas(LEFT + CELL * data["cycles"] + 150, TOP + ROW * rows + 22 * len(data["panels"]) + 12, title)
    write(ax, 14, 47, f"A number: the warp's instruction of this number is issued. Grey: for {data['latency'] - 1} cycles, "
                      "the warp waits for its result.")
    write(ax, LEFT - 8, TOP - 8, "cycle", "right")
    for cycle in range(0, data["cycles"], 4):
        write(ax, LEFT + CELL * cycle + CELL / 2 - 1, TOP - 8, cycle, "center")
    y = TOP
    for panel in data["panels"]:
        for warp, issued in enumerate(panel["warps"]):
            _draw_warp(ax, y, warp, issued, data)
            y += ROW
        write(ax, LEFT + CELL * data["cycles"] + 10, y - ROW * len(panel["warps"]) / 2 + 4,
              f"issues in {panel['issued']} of {data['cycles']}", bold=True)
        y += 22
    return ax
