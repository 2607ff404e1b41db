"""Draws, for figures.py, which bytes of the weights a warp's requests read and which words blocks pass to each other.
The data come from kernel_steps.py and choices.py."""
from figure_style import boxes, canvas, cell, lines, write

SECTOR = 32  # bytes


def draw_requests(data, title):
    """Draws rows of weights, cut into sectors, with a blue stripe for each element that a lane reads."""
    left, row, top, rows = 88, data["row_height"], 66, data["num_rows"]
    sectors = data["row_bytes"] // SECTOR
    width = 720 // sectors
    ax = canvas(left + width * sectors + 14, top + row * rows + 50, title)
    for sector in range(sectors):
        write(ax, left + width * (sector + 0.5), top - 8, f"sector {sector}", "center")
    touched = {(at // data["row_bytes"], at % data["row_bytes"] // SECTOR) for at in data["offsets"]}
    for fill, wanted in (("ground", False), ("light_blue", True)):
        boxes(ax, [(left + width * sector, top + row * number, width, row - 2) for number in range(rows)
                   for sector in range(sectors) if ((number, sector) in touched) == wanted], fill, "edge")
    boxes(ax, [(left + at % data["row_bytes"] * width / SECTOR, top + row * (at // data["row_bytes"]),
                data["bytes"] * width / SECTOR - 1, row - 2) for at in data["offsets"]], "blue")
    for number in range(0, rows, data["label_every"]):
        write(ax, left - 10, top + row * number + row - 4, f"row {number}", "right")
    light = "Light blue: a sector of 32 bytes that must come from memory. Dark blue: the bytes of it that a lane reads."
    dark = "Dark blue: the bytes that a lane reads. Every byte of each sector that must come from memory is used."
    unused = len(data["offsets"]) * data["bytes"] < len(touched) * SECTOR
    write(ax, 14, top + row * rows + 22, light if unused else dark)
    write(ax, 14, top + row * rows + 39, f"{data['num_requests']} request{'s' * (data['num_requests'] > 1)} of 32 lanes: "
          f"{len(touched)} sectors, {len(data['offsets']) * data['bytes']} of {len(touched) * SECTOR} bytes used.")
    return ax


def draw_words(data, title):
    """Draws a row for each block, with time from left to right: its ids, its word, the other blocks' words, and one
    expert's count and slot."""
    top, row, height = 84, 92, 58
    columns = (("chooses", 76, 170), ("publishes", 262, 168), ("waits", 514, 96), ("counts", 626, 132),
               ("writes", 774, 112))
    ax = canvas(900, top + row * len(data["blocks"]) + 40, title)
    write(ax, 14, 50, "time")
    lines(ax, [(50, 46, 886, 46)], "grey", 1.2, 8)
    for name, x, _ in columns:
        write(ax, x, top - 10, name, bold=True)
    middles = [top + row * number + height / 2 for number in range(len(data["blocks"]))]
    sent = columns[1][1] + columns[1][2]
    for number, block in enumerate(data["blocks"]):
        y, fill = top + row * number, ("light_blue", "light_orange", "light_green")[number % 3]
        write(ax, 14, y + height / 2 + 5, f"block {number}", bold=True)
        half = len(block["ids"]) // 2
        texts = ([" ".join(map(str, block["ids"][:half])), " ".join(map(str, block["ids"][half:]))], [block["word"]],
                 [f"for {len(data['blocks']) - 1} words"],
                 [f"expert {data['expert']}:", f"{data['tokens']} tokens,", f"{block['earlier']} earlier"],
                 [f"position {block['position']}", f"in slot {block['slot']}"])
        for (_, x, width), lines_of_text in zip(columns, texts):
            cell(ax, x, y, width, height, lines_of_text, fill)
        lines(ax, [(sent + 2, middles[other], columns[2][1] - 3, middles[number] + 7 * (other - number))
                   for other in range(len(middles)) if other != number], "vermillion", 1.4, 7)
    write(ax, 14, top + row * len(data["blocks"]) + 16,
          f"Arrow: a word that a block polls until it is published. The last two columns show only expert "
          f"{data['expert']}.")
    return ax
