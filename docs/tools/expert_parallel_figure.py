"""Draws what each of chapter 12's ranks has, and which ranks add their sums. The data come from
expert_parallel_steps.py."""
from figure_style import boxes, canvas, lines, write

ORDINALS = ("first", "second", "third", "fourth")


def _weights(ax, x, y, data, rank):
    """Draws w1 and w3, whose slices are rows, and w2, whose slices are columns, with the rank's slice in blue."""
    long, short, number = 72, 48, data["slices"]
    for place, name in enumerate(("w1", "w3")):
        at = x + (long + 14) * place
        boxes(ax, [(at, y, long, short)], "ground", "grey")
        boxes(ax, [(at, y + short / number * rank["slice"], long, short / number)], "light_blue", "grey")
        write(ax, at + long / 2, y + long + 16, name, "center")
    at = x + 2 * (long + 14)
    boxes(ax, [(at, y, short, long)], "ground", "grey")
    boxes(ax, [(at + short / number * rank["slice"], y, short / number, long)], "light_blue", "grey")
    write(ax, at + short / 2, y + long + 16, "w2", "center")


def draw_ranks(data, title):
    left, top, width, height, across, down = 14, 48, 280, 178, 180, 68
    tp, dp = data["tp"], len(data["ranks"]) // data["tp"]
    bottom = top + dp * height + (dp - 1) * down
    ax = canvas(left + tp * width + (tp - 1) * across + 14, bottom + 40, title)
    for number, rank in enumerate(data["ranks"]):
        x, y = left + number % tp * (width + across), top + number // tp * (height + down)
        boxes(ax, [(x, y, width, height)], "ground", "grey")
        write(ax, x + 14, y + 22, f"rank {number}", bold=True)
        write(ax, x + 14, y + 42, f"tokens {rank['first']} to {rank['first'] + rank['own'] - 1}")
        write(ax, x + 14, y + 60, f"{ORDINALS[rank['part']]} half of the experts; of each expert:")
        _weights(ax, x + 14, y + 72, data, rank)
        if number % tp + 1 < tp:
            middle = y + height / 2
            lines(ax, [(x + width + across / 2, middle, x + width + 8, middle),
                       (x + width + across / 2, middle, x + width + across - 8, middle)], "vermillion", 2, 9)
            write(ax, x + width + across / 2, middle - 28, "TP group: 3. all-reduce", "center")
            write(ax, x + width + across / 2, middle - 10, f"of {rank['own']} rows of sums", "center")
        if number // tp + 1 < dp:
            middle = x + 30
            lines(ax, [(middle, y + height + down / 2, middle, y + height + 6),
                       (middle, y + height + down / 2, middle, y + height + down - 6)], "blue", 2, 9)
            write(ax, middle + 14, y + height + down / 2 - 4, "DP group: 1. all-gather of tokens,")
            write(ax, middle + 14, y + height + down / 2 + 14, f"2. all-reduce of {data['tokens']} rows of sums")
    write(ax, 14, bottom + 24, "Blue: the slice of each of its experts' matrices that a rank stores: rows of w1 and w3, "
                               "columns of w2.")
    return ax
