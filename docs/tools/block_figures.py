"""Draws, for figures.py, how the warps and blocks of chapters 09 and 10 divide their work. The data come from
kernel_steps.py and from a report."""
from figure_style import boxes, canvas, cell, lines, write

SHOWN = 8  # lanes of each warp in the figure of the scan; the scan of the others adds nothing to their counts of 0
ROW, WIDTH = 24, 36


def _column(ax, x, top, texts, fills):
    for lane, (text, fill) in enumerate(zip(texts, fills)):
        cell(ax, x, top + ROW * lane, WIDTH, ROW - 3, [text], fill)


def _middle(top, lane):
    return top + ROW * lane + (ROW - 3) / 2


def _draw_warp_scan(ax, top, warp, scan):
    """Draws a warp's counts and its sums after each of three steps; returns the right edge of the last column."""
    write(ax, 14, _middle(top, 0) + 5, f"warp {warp}", bold=True)
    for lane in range(SHOWN):
        write(ax, 110, _middle(top, lane) + 5, f"lane {lane}", "right")
    x = 120
    for step, gap in enumerate((30, 40, 54)):
        _column(ax, x, top, scan[step][:SHOWN], ["ground"] * SHOWN)
        lines(ax, [(x + WIDTH + 1, _middle(top, lane - (1 << step)), x + WIDTH + gap - 1, _middle(top, lane))
                   for lane in range(1 << step, SHOWN)], "vermillion", 1.2, 6)
        x += WIDTH + gap
    _column(ax, x, top, scan[len(scan) // 2][:SHOWN], ["ground"] * (SHOWN - 1) + ["rank_5"])
    return x + WIDTH


def draw_scan(data, title):
    """Draws the two levels of a scan, with time from left to right and a vertical line for each barrier."""
    tops = (92, 92 + ROW * SHOWN + 22)
    bottom = tops[1] + ROW * SHOWN
    ax = canvas(902, bottom + 50, title)
    total, first, before, second, own, begin, third = 408, 488, 522, 598, 634, 742, 804
    for x, name in ((120, "counts"), (total - 18, "warp_sums"), (before - 18, "warp_sums"), (own - 24, "lane_prefix"),
                    (begin - 16, "first slots")):
        write(ax, x, 84, name, bold=True)
    for step, x in enumerate((171, 242, 325)):
        write(ax, x, 52, "from", "center")
        write(ax, x, 67, f"{1 << step} below", "center")
    for number, x in enumerate((first, second, third), 1):
        lines(ax, [(x, 58, x, bottom + 4)], "ink", 2.5)
        write(ax, x, 52, f"barrier {number}", "center", bold=True)
    last = SHOWN - 1
    for warp, top in enumerate(tops):
        scan, y = data["scans"][warp], _middle(top, last)
        edge = _draw_warp_scan(ax, top, warp, scan)
        lines(ax, [(edge + 1, y, total - 1, y)], "vermillion", 1.2, 6)
        cell(ax, total, top + ROW * last, WIDTH, ROW - 3, [data["sums"][warp]], "rank_5")
        cell(ax, before, top + ROW * last, WIDTH, ROW - 3, [data["before"][warp]], "light_orange")
        _column(ax, own, top, [to_here - count for to_here, count in zip(scan[-1][:SHOWN], scan[0])],
                ["ground"] * SHOWN)
        _column(ax, begin, top, data["begins"][warp][:SHOWN], ["light_blue"] * SHOWN)
        for lane in range(SHOWN):
            write(ax, (own + WIDTH + begin) / 2, _middle(top, lane) + 5, f"+ {data['before'][warp]} =", "center")
    lines(ax, [(total + WIDTH + 1, _middle(tops[0], last), before - 1, _middle(tops[1], last))], "grey", 1.2, 6)
    write(ax, before + WIDTH / 2, tops[0] + ROW * SHOWN + 12, "none before", "center")
    for number, text in enumerate(("not needed:", "no warp", "follows")):
        write(ax, total + 25, tops[1] + ROW * last - 36 + 15 * number, text, "center")
    for x, y, texts in ((before, 2, ("warp 0", "scans the", "totals")),
                        (third + 12, 3, ("any thread", "may now", "read any", "first slot"))):
        for number, text in enumerate(texts):
            write(ax, x, _middle(tops[0], y) + 16 * number, text)
    write(ax, 14, bottom + 24, "Each warp is drawn with only 8 of its 32 lanes. In this run, the other lanes' counts "
                               "are 0, so lane 7's sum is the warp's total.")
    write(ax, 14, bottom + 41, "lane_prefix: the sum in the column before barrier 1, minus the lane's own count.")
    return ax


def _bar(ax, x, y, width, text, fill):
    cell(ax, x, y, width, 26, [text], fill)


def draw_fill(data, title):
    """Draws which block does what in chapters 09 and 10, with time from left to right."""
    ax = canvas(852, 308, title)
    left, fill = 96, 160
    pads, ids = f"write {data['slots']:,} pads", f"{data['scatter_blocks']} blocks scatter"
    for name, y, blocks, shift in (("Chapter 09", 58, 1, fill + 4), ("Chapter 10", 142, data["blocks"], 0)):
        write(ax, 14, y, name, bold=True)
        boundary = left + shift + 130 + 70 + 186 + 6
        for block in range(blocks):
            write(ax, 14, y + 30 + 32 * block, f"block {block}")
            if block:
                _bar(ax, left, y + 12 + 32 * block, fill / (blocks - 1), "write pads", "light_blue")
                write(ax, left + fill / (blocks - 1) + 10, y + 30 + 32 * block, "return")
        if shift:
            _bar(ax, left, y + 12, fill, pads, "light_blue")
        x = left + shift
        for text, width, colour in (("count the ids", 130, "light_orange"), ("scan", 70, "light_green"),
                                    ("write offsets and expert_ids", 186, "light_vermillion")):
            _bar(ax, x, y + 12, width - 4, text, colour)
            x += width
        lines(ax, [(boundary, y - 10, boundary, y + 12 + 32 * blocks)], "ink", 2.5)
        write(ax, boundary + 8, y, "the launch ends")
        _bar(ax, boundary + 12, y + 12, 180, ids, "rank_1")
    write(ax, 14, 278, f"Chapter 10: the filling blocks write {pads[6:]} to sorted_token_ids. Block 0 "
                       "does not touch this array, so no block waits for another.")
    write(ax, 14, 295, "The second launch (scatter_kernel) overwrites pads, so it must start after all of them are "
                       "written. Lengths are not to scale.")
    return ax
