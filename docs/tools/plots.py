"""Draws plots for figures.py: recorded times, the simulator's counters, and the number of choices that each expert
gets. The data come from plot_data.py and choices.py."""
import math
import textwrap

from figure_style import COLOURS, boxes, canvas, lines, plot_area, write

# Colours and markers of the chapters' lines, the last chapter's first. Lines of other kinds are dashed.
LAST, *OTHERS = (("vermillion", "o", None, 3), ("orange", "s", None, 1.6), ("green", "^", None, 1.6),
                 ("sky", "o", None, 1.6),
                 ("purple", "D", None, 1.6), ("grey", "P", None, 1.6), ("ink", "p", None, 1.6))
KINDS = {"host": [("grey", "v", (5, 3), 1.6)], "library": [("ink", "x", (6, 2, 1.5, 2), 1.6), ("ink", "s", None, 1.6),
                     ("grey", "D", (2, 2), 1.6)],
         "floor": [("blue", "*", (1.5, 2.5), 1.6)]}


def _styles(kinds):
    """Returns the colour, marker, dashes and width of each line."""
    of_kind = {**KINDS, "chapter": [*OTHERS[:kinds.count("chapter") - 1], LAST]}
    return [of_kind[kind][kinds[:number].count(kind)] for number, kind in enumerate(kinds)]


def _apart(heights, gap):
    """Moves the heights so that neighbours are at least `gap` apart, each by as little as possible."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    moved = [heights[number] for number in order]
    for _ in range(200):
        for number in range(1, len(moved)):
            lack = max(0, gap - (moved[number] - moved[number - 1]))
            moved[number - 1] -= lack / 2
            moved[number] += lack / 2
    return [moved[order.index(number)] for number in range(len(heights))]


def _draw_line(ax, area, line, style, end, label_y, right):
    """Draws a line with its markers, and the line's name after its end."""
    colour, mark, dashes, width = style
    filled = width > 2 or (mark, colour) == ("s", "ink")
    look = {"marker": mark, "markersize": 6, "markeredgecolor": COLOURS[colour], "markeredgewidth": 1.2,
            "markerfacecolor": COLOURS[colour if filled else "card"], "clip_on": False}
    area.plot(*zip(*line["points"]), color=COLOURS[colour], linewidth=width, dashes=dashes or (None, None), **look)
    lines(ax, [(right + 5, end, right + 22, label_y)], colour)
    ax.plot([right + 28], [label_y], linestyle="none", **look)
    write(ax, right + 40, label_y + 4, line["label"], size=13, bold=width > 2)


def _wrapped(notes, width):
    """Wraps sentences into lines of at most `width` characters; each sentence starts on a new line."""
    return [line for note in notes for line in textwrap.wrap(note, width)]


def draw_times(data, title):
    left, top, right, bottom = 66, 44, 560, 424
    on_host = "".join(f", chapter {line['label'].partition(' ')[0]} on its CPU"
                      for line in data["lines"] if line["kind"] == "host")
    notes = _wrapped([f"{data['source']}. Medians; kernels are replayed from a CUDA graph{on_host}.", data["old"]], 115)
    ax = canvas(840, 486 + 18 * len(notes), title)
    every = [point for line in data["lines"] for point in line["points"]]
    least, most = min(us for _, us in every) * 0.8, max(us for _, us in every) * 1.25
    area = plot_area(ax, left, top, right, bottom, xscale="log", yscale="log", ylim=(least, most),
                     xlim=(min(tokens for tokens, _ in every), max(tokens for tokens, _ in every)))
    for axis, ticks in ((area.xaxis, [4 ** power for power in range(9)]),
                        (area.yaxis, [10 ** power for power in range(6) if least < 10 ** power < most])):
        axis.set_ticks(ticks, [f"{tick:,}" for tick in ticks])
    area.minorticks_off()
    area.grid(True)
    write(ax, (left + right) / 2, bottom + 38, "tokens", "center")
    ends = [bottom - math.log(line["points"][-1][1] / least) / math.log(most / least) * (bottom - top)
            for line in data["lines"]]
    styles = _styles([line["kind"] for line in data["lines"]])
    for line, style, end, label_y in zip(data["lines"], styles, ends, _apart(ends, 17)):
        _draw_line(ax, area, line, style, end, label_y, right)
    for number, text in enumerate(notes):
        write(ax, 14, 488 + 18 * number, text)
    return ax


def draw_roofline(data, title):
    left, top, right, bottom = 66, 44, 560, 424
    notes = _wrapped([f"{data['source']}.", "One mark per number of tokens; more tokens mean more operations per byte.",
                      data["old"]], 115)
    ax = canvas(840, 486 + 18 * len(notes), title)
    every = [point for line in data["lines"] for point in line["points"]]
    low, high = min(x for x, _ in every) / 1.5, max(max(x for x, _ in every),
                                                    2 * data["products"] / data["reading"]) * 1.5
    least, most = min(rate for _, rate in every) / 1.5, data["products"] * 2
    area = plot_area(ax, left, top, right, bottom, xscale="log", yscale="log", xlim=(low, high), ylim=(least, most))
    corner = data["products"] / data["reading"]
    area.plot([low, corner, high], [low * data["reading"], data["products"], data["products"]], color=COLOURS["blue"],
              linewidth=2, dashes=(1.5, 2.5))
    area.xaxis.set_ticks([10 ** power for power in range(5) if low < 10 ** power < high],
                         [f"{10 ** power:,}" for power in range(5) if low < 10 ** power < high])
    area.yaxis.set_ticks([10 ** power for power in range(9, 16) if least < 10 ** power < most],
                         [f"{10 ** power / 1e12:g}" for power in range(9, 16) if least < 10 ** power < most])
    area.minorticks_off()
    area.grid(True)
    write(ax, left, top - 4, "tera-operations per second")
    write(ax, (left + right) / 2, bottom + 38, "operations per byte that must be moved", "center")
    write(ax, left + 12, top + 16, f"Dotted: memory is read at {data['reading'] / 1e9:,.0f} GB/s,")
    write(ax, left + 12, top + 32, f"cuBLAS: at least {data['products'] / 1e12:,.0f} tera-operations per second")
    ends = [bottom - math.log(line["points"][-1][1] / least) / math.log(most / least) * (bottom - top)
            for line in data["lines"]]
    styles = _styles([line["kind"] for line in data["lines"]])
    for line, style, end, label_y in zip(data["lines"], styles, ends, _apart(ends, 17)):
        _draw_line(ax, area, line, style, end, label_y, right)
    for number, text in enumerate(notes):
        write(ax, 14, 488 + 18 * number, text)
    return ax


def draw_results(data, _):
    """Draws panels one below the other, narrow and with large text, so that they fit the width of a phone."""
    panels, pitch, left, right = list(data["panels"].values()), 32, 178, 464
    notes = [data["source"], "Floor: an empty kernel, or moving all bytes, whichever takes longer.", *textwrap.wrap(data["old"], 60)[::-1]]
    ax, y = canvas(472, 40 + sum(46 + pitch * len(panel["rows"]) for panel in panels) + 18 * len(notes)), 46
    for panel in panels:
        (name, few_and_many, (low, high), ticks), rows = panel["panel"], panel["rows"]
        write(ax, 14, y, f"{name}, microseconds", size=16, bold=True)
        for tick in ticks:
            x, foot = left + math.log(tick / low) / math.log(high / low) * (right - left), y + 8 + pitch * len(rows)
            lines(ax, [(x, y + 20, x, foot)], "grid")
            write(ax, x, foot + 14, f"{tick:,}", "center")
        for number, row in enumerate(rows):
            row_y = y + 32 + pitch * number
            few, many = (left + math.log(us / low) / math.log(high / low) * (right - left) for us in row["us"])
            if number == 0:
                apart = max(0, 76 - (many - few)) / 2
                for x, tokens in zip((few - apart, many + apart), few_and_many):
                    write(ax, x, y + 12, f"{tokens:,} token{'s' * (tokens > 1)}", "center", size=13)
            lines(ax, [(few, row_y, many, row_y)], "edge", 4)
            hidden = many - few < 6  # then the square is larger, so that it is visible behind the circle
            for x, mark, size, colour in ((many, "s", 13 if hidden else 9, "vermillion"), (few, "o", 9, "blue")):
                ax.plot([x], [row_y], marker=mark, markersize=size, color=COLOURS[colour], markeredgewidth=0)
            label = textwrap.wrap(row["label"], 23)
            for at, words in enumerate(label):
                write(ax, 166, row_y + 5 + 13 * at - 6 * (len(label) - 1), words, "right", size=14 - len(label))
            write(ax, few - (12 if hidden else 8), row_y + 5, row["texts"][0], "right", size=13)
            write(ax, many + (12 if hidden else 8), row_y + 5, row["texts"][1], size=13)
        y += 46 + pitch * len(rows)
    for number, note in enumerate(notes):
        write(ax, 14, ax.get_ylim()[0] - 16 - 18 * number, note)
    return ax


def draw_counters(data, title):
    """Draws small multiples: a panel for each counter, with a bar for each chapter and its value above the bar. A
    value that would touch the one to its left is written a line higher."""
    ax, pitch = canvas(840, 480, title), 250 / len(data["chapters"])
    for number, panel in enumerate(data["panels"]):
        left, base, scale = 24 + 272 * (number % 3), 204 + 208 * (number // 3), 112 / (max(panel["values"]) or 1)
        write(ax, left, base - 148, panel["label"], size=13)
        before, height = "", 0
        bars = [(left + pitch * (bar + 0.15), base - value * scale, pitch * 0.7, value * scale)
                for bar, value in enumerate(panel["values"])]
        boxes(ax, [bar for bar in bars if bar[3] > 0], "sky")
        lines(ax, [(left, base, left + 250, base)], "grey")
        for (x, y, width, _), text, chapter in zip(bars, panel["texts"], data["chapters"]):
            touches = (len(before) + len(text)) * 3.2 > pitch and abs(y - 6 - height) < 12
            before, height = text, y - (20 if touches else 6)
            write(ax, x + width / 2, height, text, "center")
            write(ax, x + width / 2, base + 19, chapter, "center", size=13)
    write(ax, 14, 464, data["source"])
    return ax


def _write_busiest(ax, data, left, pitch, top, place):
    """Writes the words of the busiest experts and connects each to the top of the expert's bar, place(rank,
    choices)."""
    write(ax, left, top + 16, "The words that each of the busiest experts gets most often, and out of how many:",
          size=13, bold=True)
    for rank, expert in enumerate(data["busiest"]):
        y = top + 16 + pitch * (rank + 1)
        lines(ax, [(*place(rank + 1.5, expert["choices"]), left - 6, y - 4)], "vermillion")
        write(ax, left, y, f"expert {expert['expert']}, {expert['choices']}: {expert['words']}", size=13)


def draw_load(data, title):
    left, top, right, bottom, count, idle = 58, 50, 824, 404, data["num_experts"], data["idle"]
    ax, highest, busy = canvas(840, 500, title), -(-max(data["choices"]) // 100) * 100, len(data["busiest"])
    area = plot_area(ax, left, top, right, bottom, xlim=(0.5, count + 0.5), ylim=(0, highest),
                     xticks=[1, *range(32, count + 1, 32)], yticks=range(0, highest + 1, 100))
    area.grid(axis="y")

    def place(rank, choices):
        return left + (rank - 0.5) / count * (right - left), bottom - choices / highest * (bottom - top)

    for fill, first, end in (("vermillion", 0, busy), ("sky", busy, count - len(idle))):
        edges = [rank + 0.5 for rank in range(first, end + 1)]
        area.stairs(data["choices"][first:end], edges, fill=True, color=COLOURS[fill], linewidth=0)
    area.plot([0.5, count + 0.5], [data["mean"]] * 2, color=COLOURS["ink"], linewidth=1.4, dashes=(4, 3))
    x, y = place(count * 0.85, data["mean"])
    write(ax, x, y + 15, f"an even share: {data['mean']:g}", "right", size=13)
    write(ax, (left + right) / 2, bottom + 38, "experts, the busiest first", "center", size=13)
    _write_busiest(ax, data, place(29, 0)[0], (bottom - top) / 16, top, place)  # between the lines of the grid
    if idle:
        start, middle = place(count - len(idle) + 1, 0)[0], place(count - len(idle) / 2 + 1, 0)[0]
        boxes(ax, [(start - 1.5, bottom - 5, right - start + 1.5, 5)], "purple")
        lines(ax, [(middle, bottom - 92, middle, bottom - 9)], "purple", 1.4, 8)
        write(ax, right, bottom - 100, ", ".join(map(str, idle)), "right")
    least = f"The least busy: expert {data['experts'][-1]}, with {data['choices'][-1]} choices"
    write(ax, right, bottom - 118, f"{len(idle)} experts get none:" if idle else least, "right", size=13)
    write(ax, 14, 468,
          f"Each word chooses 8 experts. The text is {data['num_tokens']:,} words of xmlrpc/client.py, from the "
          "library of Python 3.11.")
    write(ax, 14, 486,
          "A rare word is not among the 8,192 that the model knows. A word that occurs several times may choose "
          "different experts each time.")
    return ax
