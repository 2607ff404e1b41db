"""Draws the figures of chapters 14a and 14b for figures.py, from data of choices.py and kernel_steps.py."""
from figure_style import boxes, canvas, cell, lines, write


def draw_bit_table(data, title):
    left, pitch, width, row, top = 150, 38, 35, 26, 64
    experts, colours = data["experts"], ("blue", "orange", "green", "vermillion")
    table, foot = top + row + 34, top + row + 34 + (row + 4) * len(data["rows"])
    ax = canvas(left + pitch * len(experts) + 96, foot + 96, title)
    for y, name in ((top - 8, "position in topk_ids"), (top + 18, "topk_ids: the expert"), (foot + 30, "rank"),
                    (foot + 62, "slot = first slot + rank")):
        write(ax, 14, y, name)
    write(ax, left + pitch * len(experts) + 6, table - 8, "first slot")
    for number, expert in enumerate(data["rows"]):
        y = table + (row + 4) * number
        write(ax, 14, y + 18, f"bits of expert {number}")
        write(ax, left + pitch * len(experts) + 30, y + 18, expert["begin"])
        for position, bit in enumerate(expert["bits"]):
            cell(ax, left + pitch * position, y, width, row, [bit],
                 f"light_{colours[number % 4]}" if bit else "ground", colours[number % 4] if bit else "pale", bold=bit)
    for position, expert in enumerate(experts):
        x, colour = left + pitch * position, colours[expert % 4]
        write(ax, x + width / 2, top - 8, position, "center")
        cell(ax, x, top, width, row, [expert], f"light_{colour}", colour)
        write(ax, x + width / 2, foot + 30, data["ranks"][position], "center")
        cell(ax, x, foot + 44, width, row, [data["slots"][position]], f"light_{colour}", colour)
    write(ax, 14, foot + 86, "Rank: the number of bits of value 1 left of the id's own bit, in its expert's bit row.")
    return ax


def draw_opened_blocks(data, title):
    left, pitch, width, height, colours = 208, 112, 100, 28, ("blue", "orange", "green", "vermillion")
    ids, size, numel, top, table = data["ids"], data["block_size"], data["numel"], 44, 92
    ax = canvas(left + pitch * len(ids) + 8, 402, title)
    for number, name in enumerate(("its id's expert", "its rank", f"a multiple of {size}? Then it opens",
                                   "writers of earlier row blocks", "so the thread block writes")):
        write(ax, 14, table + 36 * number + 19, name)
    write(ax, 14, top + 34, "thread block = position")
    foot = table + 36 * 5 + 62
    for own, one in enumerate(ids):
        x, colour = left + pitch * own, colours[one["expert"] % 4]
        middle, target = x + width / 2, left + pitch * one["block"] + width / 2
        write(ax, middle, top + 34, own, "center", bold=True)
        cell(ax, x, table, width, height, [f"expert {one['expert']}"], f"light_{colour}", colour)
        write(ax, middle, table + 36 + 19, one["rank"], "center")
        write(ax, middle, table + 72 + 19, "yes" if one["opens"] else "no", "center", bold=True)
        write(ax, middle, table + 108 + 19, ", ".join(map(str, one["before"])) or "none", "center")
        cell(ax, x, table + 144, width, height, [f"row block {one['block']}"],
             f"light_{colour}" if one["opens"] else "ground", colour if one["opens"] else "pale")
        lines(ax, [(middle, table + 144 + height + 2, target, foot - 6)], "grey", 1.3, 7)
        for row, position in enumerate(one["rows"]):
            pad = position == numel
            cell(ax, target - width / 2 + width / size * row, foot, width / size - 2, height,
                 ["pad" if pad else position], "ground" if pad else f"light_{colour}", "pale" if pad else colour,
                 bold=not pad)
        write(ax, target, foot + 46, f"expert_ids: {one['expert'] if one['opens'] else -1}", "center")
    write(ax, 14, foot + 19, "the list, in the order of its slots")
    return ax


def _draw_set(ax, x, y, rows, num_rows, data):
    """Draws one set of count rows, each with its written bit and its counts; one that is not written has zeros."""
    for block in range(num_rows):
        here = rows[block] if block < len(rows) else None
        write(ax, x, y + 28 * block + 18, f"block {block}")
        cell(ax, x + 54, y + 28 * block, 26, 24, [1 if here else 0], "light_vermillion" if here else "ground",
             "vermillion" if here else "pale", bold=bool(here))
        for expert in range(data["experts"]):
            cell(ax, x + 84 + 30 * expert, y + 28 * block, 28, 24, [here[expert] if here else 0],
                 "light_blue" if here else "ground", "blue" if here else "pale")


def draw_published_rows(data, title):
    first, second = data["launches"]
    width = 84 + 30 * data["experts"] + 40
    ax = canvas(14 + width * 3 + 10, 106 + 2 * (28 * len(first) + 44) + 30, title)
    heads = ("before launch 1", f"after launch 1: {data['numels'][0]} ids", f"after launch 2: {data['numels'][1]} ids")
    for column, (head, sets) in enumerate(zip(heads, (([], []), ([], first), (second, [])))):
        x, previous = 14 + width * column, ("0", f"{len(first)} words, set 1", f"{len(second)} words, set 0")[column]
        write(ax, x, 52, head, bold=True)
        write(ax, x, 72, f"previous: {previous}")
        for number, rows in enumerate(sets):
            y = 106 + (28 * len(first) + 44) * number
            write(ax, x, y - 8, f"set {number}: written bit, then counts")
            _draw_set(ax, x, y, rows, len(first), data)
    write(ax, 14, 106 + 2 * (28 * len(first) + 44) - 6,
          "Launch 2 writes set 0, which it finds cleared, and clears the count rows of launch 1 in set 1.")
    write(ax, 14, 106 + 2 * (28 * len(first) + 44) + 12,
          "Simplified: with four experts a count row is drawn as one word; the kernel's have at least 64 words.")
    return ax


def draw_block_slots(data, title):
    """Draws a table of counts and slots with a column for each expert, and beside it one block's ids: in order, sorted
    by expert, and in their slots."""
    left, wide, row, top, right, pitch = 226, 46, 32, 78, 510, 96
    own, experts, ids = data["own"], len(data["all"]), data["ids"]
    table = [*((f"count row of block {block}", counts, "light_blue" if block == own else "light_orange" if block < own
                else "ground") for block, counts in enumerate(data["rows"])),
             ("sum of all count rows", data["all"], "ground"), ("first slot of the group", data["first"], "ground"),
             ("+ sum of earlier count rows", data["earlier"], "light_orange"),
             (f"= slot of block {own}'s first id", data["begins"], "light_green")]
    ax = canvas(900, top + row * len(table) + 50, title)
    for expert in range(experts):
        write(ax, left + wide * (expert + 0.5) - 2, top - 10, expert, "center", bold=True)
    write(ax, left - 12, top - 10, "expert", "right")
    for number, (name, values, fill) in enumerate(table):
        write(ax, left - 12, top + row * number + 18, name, "right")
        for expert, value in enumerate(values):
            cell(ax, left + wide * expert, top + row * number, wide - 4, row - 6, [value], fill)
    middle = [right + pitch * (number + 0.5) for number in range(len(ids))]
    heights = [top + row * line for line in (own, own + 2.5, len(table) - 1)]
    write(ax, right + 4, heights[0] - 10, f"block {own}'s ids, by position", bold=True)
    write(ax, right - 8, heights[1] + 18, "sorted", "right", bold=True)
    for number, (position, expert, _) in enumerate(ids):
        cell(ax, middle[number] - 44, heights[0], 88, row - 6, [f"{position}: expert {expert}"], "light_blue")
        to = data["sorted"].index(ids[number])
        lines(ax, [(middle[number], heights[0] + row - 4, middle[to], heights[1] - 3)], "grey", 1.3, 7)
    for number, (position, expert, slot) in enumerate(data["sorted"]):
        cell(ax, middle[number] - 44, heights[1], 88, row - 6, [f"{position}: expert {expert}"], "light_blue")
        lines(ax, [(middle[number], heights[1] + row - 4, middle[number], heights[2] - 3)], "grey", 1.3, 7)
        cell(ax, middle[number] - 44, heights[2], 88, row - 6, [f"slot {slot}"], "light_green")
    edge = left + wide * experts
    lines(ax, [(right - 6, heights[0] + row / 2 - 3, edge + 2, heights[0] + row / 2 - 3)], "vermillion", 1.6, 9)
    write(ax, (edge + right) / 2 - 2, heights[0] + row / 2 - 9, "count", "center")
    lines(ax, [(edge + 2, heights[2] + row / 2 - 3, right - 6, heights[2] + row / 2 - 3)], "vermillion", 1.6, 9)
    write(ax, 14, top + row * len(table) + 28,
          f"Yellow: blocks before block {own}. An expert's later ids in the block get the next slots. "
          f"\"{ids[0][0]}: expert {ids[0][1]}\": the id at position {ids[0][0]}.")
    return ax


# For each part of the figure's bar: the first words of the stages in the lab notes that belong to it, and its colour.
PARTS = {"read, mark and add up the bits": (("until the ids", "the sums of the bits"), "blue"),
         "sort in shared memory": (("sorting",), "green"), "poll": (("until all count rows",), "grey"),
         "add up the count rows and write the list": (("adding up", "the groups' first", "writing", "pads"), "purple")}


def draw_blocks_over_time(data, title):
    left, row, top, space = 92, 84, 92, 780
    lengths = [sum(cycles for name, cycles in data["stages"].items() if name.startswith(begins))
               for begins, _ in PARTS.values()]
    published, arrived = lengths[0], sum(lengths[:3])
    unit, foot = space / sum(lengths), top + 2 * row
    ax = canvas(left + space + 20, foot + 76, title)
    for at, name in (published, "both publish their counts"), (arrived, "all counts have arrived"):
        x = left + at * unit
        lines(ax, [(x, top - 18, x, foot - 20)], "ink", 1.2)
        write(ax, x, top - 24, name, "center")
    write(ax, left + (published + arrived) / 2 * unit, top - 24, f"{arrived - published:,} cycles", "center", bold=True)
    for block in range(2):
        x, y = left, top + row * block
        write(ax, 14, y + 17, f"block {block}")
        for length, (_, colour) in zip(lengths, PARTS.values()):
            boxes(ax, [(x, y, length * unit, 24)], colour)
            x += length * unit
    middle = (left + published * unit, left + arrived * unit)
    lines(ax, [(middle[0] + 2, top + 26, middle[1] - 3, top + row - 3),
               (middle[0] + 2, top + row - 2, middle[1] - 3, top + 27)], "vermillion", 1.6, 8)
    x = 14
    for name, (_, colour) in PARTS.items():
        boxes(ax, [(x, foot, 14, 12)], colour)
        write(ax, x + 20, foot + 10, name)
        x += 44 + 7.0 * len(name)
    write(ax, 14, foot + 38, "Arrows: the counts of one block on their way to the other; meanwhile both blocks sort.")
    write(ax, 14, foot + 56, "Schematic: one block's cycles, measured for 4,096 tokens (lab notes), drawn for "
                             "two blocks that start together.")
    return ax
