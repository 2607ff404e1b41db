"""Draws, for figures.py, the start page's example and the primer's sectors and banks. The data come from
introduction_examples.py."""
from figure_style import boxes, canvas, cell, lines, write

EXPERTS = ("light_blue", "light_orange", "light_green", "light_vermillion")  # a colour for each expert


def _headings(ax, columns):
    for x, name, words in columns:
        write(ax, x, 58, name, bold=True)
        write(ax, x, 75, words)


def draw_routing(data, title):
    """Draws, from left to right, the logits, the chosen experts with their weights, the list with its padding, the
    experts' matrices and the sums."""
    logits, gate, slot, matrices, sums = 70, 282, 452, 562, 728
    top, row, height = 112, 26, 24
    num_slots, size = len(data["slots"]), data["block_size"]
    block = row * size + 14
    bottom = top + block * (num_slots // size)
    pitch = (bottom - top) / len(data["logits"])
    ax = canvas(910, bottom + 14, title)
    _headings(ax, ((logits, "Logits", "one for each expert"), (gate, "Gate", "two experts, weights"),
                   (slot, "Align", "two-row blocks"),
                   (matrices, "Layer", "products, by expert"), (sums, "", "weighted sums, by token")))
    write(ax, logits - 8, top - 10, "expert", "right")
    for expert in range(len(data["logits"][0])):
        write(ax, logits + 46 * expert + 22, top - 10, expert, "center")
    middle = [top + pitch * (token + 0.5) - 6 for token in range(len(data["logits"]))]
    where = {}
    for number, (expert, token) in enumerate(data["slots"]):
        where[expert, token] = top + block * (number // size) + row * (number % size) + height / 2
    for token, (own, chosen) in enumerate(zip(data["logits"], data["chosen"])):
        write(ax, 14, middle[token] + 5, f"token {token}", bold=True)
        experts = [expert for expert, _ in chosen]
        for expert, logit in enumerate(own):
            cell(ax, logits + 46 * expert, middle[token] - 12, 44, height, [f"{logit:.1f}".replace("-", "\u2212")],
                 EXPERTS[expert] if expert in experts else "ground")
        for at, (expert, weight) in enumerate(chosen):
            y = middle[token] - 13 + 26 * at
            cell(ax, gate, y - 11, 102, 22, [f"expert {expert}: {weight}"], EXPERTS[expert])
            lines(ax, [(gate + 104, y, slot - 4, where[expert, token])], "grey", 1.2, 8)
            lines(ax, [(matrices + 84, where[expert, token], sums - 4, middle[token] + 10 * (2 * at - 1))], "grey",
                  1.2, 8)
        cell(ax, sums, middle[token] - 28, 168, 56, [f"token {token}:"] + [
            f"{'+ ' if at else ''}{weight} x expert {expert}'s row" for at, (expert, weight) in enumerate(chosen)],
             bold=True)
    for number, (expert, token) in enumerate(data["slots"]):
        y = where[expert, token] - height / 2
        cell(ax, slot, y, 84, height, ["padding" if token is None else f"token {token}"],
             "ground" if token is None else EXPERTS[expert])
        if number % size == 0:
            cell(ax, matrices, y, 82, row * size - 2, [f"expert {expert}'s", "matrices"], EXPERTS[expert])
            lines(ax, [(slot + 86, y + row * size / 2 - 1, matrices - 2, y + row * size / 2 - 1)], "grey", 1.2, 8)
    return ax


def draw_sectors(data, title):
    """Draws, for each stride, the memory in sectors, with a dark stripe for each number that a lane reads."""
    left, width, height, pitch = 14, 27, 30, 84
    count = 1 + max(sector for panel in data["panels"] for sector in panel["sectors"])
    ax = canvas(left * 2 + width * count, 46 + pitch * len(data["panels"]) + 30, title)
    for number, panel in enumerate(data["panels"]):
        y, touched = 74 + pitch * number, panel["sectors"]
        read, moved = len(panel["offsets"]) * data["word"], len(touched) * data["sector"]
        write(ax, left, y - 10, f"stride {panel['stride']}: {len(touched)} sectors, {read} of {moved:,} bytes used",
              bold=True)
        for fill, wanted in (("ground", False), ("light_blue", True)):
            boxes(ax, [(left + width * sector, y, width, height) for sector in range(count)
                       if (sector in touched) == wanted], fill, "edge")
        scale = width / data["sector"]
        boxes(ax, [(left + at * scale + 0.5, y + 1, data["word"] * scale - 1, height - 2) for at in panel["offsets"]],
              "blue")
        for sector in range(0, count, 4):
            write(ax, left + width * (sector + 0.5), y + height + 16, sector, "center")
    write(ax, left, ax.get_ylim()[0] - 12, "A box is a sector of 32 bytes, numbered below. Light blue: it is transferred. "
          "Dark blue: 4 bytes that a lane reads.")
    return ax


def draw_banks(data, title):
    """Draws, for each stride, shared memory in rows of one word per bank, with the words that the lanes read."""
    left, top, size, gap = 14, 104, 6, 28
    width = size * data["banks"]
    height = size * data["rows"]
    ax = canvas(left * 2 + (width + gap) * len(data["panels"]) - gap, top + height + 50, title)
    for number, panel in enumerate(data["panels"]):
        x, count = left + (width + gap) * number, panel["wavefronts"]
        write(ax, x, 56, f"values[{panel['stride']} * i]" if panel["stride"] > 1 else "values[i]", bold=True)
        write(ax, x, 74, f"{count} wavefront{'s' * (count > 1)}")
        write(ax, x, top - 6, 0)
        write(ax, x + width, top - 6, data["banks"] - 1, "right")
        write(ax, x + width / 2, top - 6, "bank", "center")
        boxes(ax, [(x, top, width, height)], "ground", "edge")
        lines(ax, [(x + 4 * size * at, top, x + 4 * size * at, top + height) for at in range(1, data["banks"] // 4)]
              + [(x, top + 4 * size * at, x + width, top + 4 * size * at) for at in range(1, data["rows"] // 4)], "grid")
        boxes(ax, [(x + size * (word % data["banks"]), top + size * (word // data["banks"]), size - 1, size - 1)
                   for word in panel["words"]], "blue")
    write(ax, left, top + height + 22, "A row is 32 neighbouring words, one in each bank; a column is a bank. Blue: the "
          "32 words that lanes i = 0 to 31 read.")
    write(ax, left, top + height + 39, "The number of wavefronts is the number of blue words in the fullest column.")
    return ax
