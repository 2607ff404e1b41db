"""Draws the figures of kernels' runs on the simulator for figures.py, from data of kernel_steps.py and choices.py."""
from figure_style import boxes, canvas, cell, lines, write
from trace import LANES, as_float, short_number

ROW, TOP = 17, 92  # the height of a lane's row, and where lane 0's row begins
BOTTOM = TOP + ROW * 32
LONG = 8  # the shortest distance at which a sort's lines cover each other


def _middle(lane):
    return TOP + ROW * lane + 8


def _lane_numbers(ax, x, heading="lane", numbers=LANES):
    """Writes a column of plain numbers, a row for each lane; x is their right edge."""
    write(ax, x, TOP - 7, heading, "right")
    for lane in LANES:
        write(ax, x, _middle(lane) + 4, numbers[lane], "right")


def _lane_cells(ax, x, width, texts, fills):
    """Draws a column of cells, a row for each lane, each with the background that `fills` names."""
    for fill in dict.fromkeys(fills):
        boxes(ax, [(x, TOP + ROW * lane, width, ROW - 2) for lane in LANES if fills[lane] == fill], fill, "grey")
    for lane in LANES:
        write(ax, x + width / 2, _middle(lane) + 4, texts[lane], "center")


def _arrows(ax, left, right, pairs, colour, width, head):
    """Draws, for each pair of lanes, an arrow from the cell that is read to the cell of the lane that reads it."""
    lines(ax, [(left + 1, _middle(read), right - 1, _middle(reader)) for read, reader in pairs], colour, width, head)


def _fills(data, step):
    """Returns the cells' background colours: in a sort, larger values are darker; otherwise, the best value among the
    lanes that exchange with each other is blue."""
    values, ids, together = [as_float(word) for word in data["values"][step]], data["ids"], data["lanes_together"]
    if data["sorts"]:
        return [f"rank_{sum(other < value for other in values) * 6 // 32}" for value in values]
    return ["rank_5" if ids[step][lane] == ids[-1][lane - lane % together] else "ground" for lane in LANES]


def _heading_rows(sorts):
    """Returns the baselines of the stages, the steps and their distances; only a sort has stages."""
    return (43, 57, 71) if sorts else (None, 48, 66)


def _draw_step(ax, data, step, left, right):
    """Draws the lines between two columns, with emphasis on lines that bring a lane a new value. In a sort's steps over
    long distances, whose lines would cover each other, only the first pair's lines are drawn in full."""
    distance, taken, sorts = data["distances"][step], data["taken"][step], data["sorts"]
    kept = [(lane if sorts else lane ^ distance, lane) for lane in LANES if not taken[lane]]
    taking = [lane for lane in LANES if taken[lane]]
    whole = [taking[0], taking[0] ^ distance] if sorts and distance >= LONG else taking
    _arrows(ax, left, right, kept, "pale", 0.8, 0 if sorts else 5)
    _arrows(ax, left, right, [(lane ^ distance, lane) for lane in whole], "vermillion", 1.5, 6)
    lines(ax, [(right - 9, _middle(lane), right - 1, _middle(lane)) for lane in taking if lane not in whole],
          "vermillion", 1.5, 6)
    begins = sorts and (step == 0 or distance > data["distances"][step - 1])
    stage_row, step_row, distance_row = _heading_rows(sorts)
    if begins:
        write(ax, (left + right) / 2, stage_row, distance.bit_length(), "center", bold=True)
    write(ax, (left + right) / 2, step_row, step + 1, "center", bold=begins)
    write(ax, (left + right) / 2, distance_row, f"^ {distance}", "center", bold=begins)


def draw_exchange(data, title):
    """Draws a butterfly or a sort: lanes in rows, steps from left to right."""
    sorts, together, width = data["sorts"], data["lanes_together"], 31 if data["sorts"] else 42
    gaps = {1: 13, 2: 15, 4: 17, 8: 22, 16: 34}
    if not sorts:
        gaps = dict.fromkeys(gaps, 90 if together == 32 else 110)
    left = 90 if together == 32 else 154
    columns = [left + 8]
    for distance in data["distances"]:
        columns.append(columns[-1] + width + gaps[distance])
    end = columns[-1] + width
    ax = canvas(end + 56, BOTTOM + 32, title)
    stage_row, step_row, distance_row = _heading_rows(sorts)
    if sorts:
        write(ax, 14, stage_row, "stage", bold=True)
    write(ax, 14, step_row, "step")
    write(ax, 14, distance_row, "reads lane")
    write(ax, columns[0], TOP - 7, "score + bias")
    write(ax, end, TOP - 7, "sorted" if sorts else "the best", "right")
    _lane_numbers(ax, left - 50)
    for x, step in (left, 0), (end + 46, -1):
        _lane_numbers(ax, x, "expert", ["-" if id_ == 0x7fffffff else id_ for id_ in data["ids"][step]])
    for step, x in enumerate(columns):
        _lane_cells(ax, x, width, list(map(short_number, data["values"][step])), _fills(data, step))
        if x != columns[-1]:
            _draw_step(ax, data, step, x + width, columns[step + 1])
    for lane in LANES[::together] if together < 32 else ():
        write(ax, 14, _middle(lane) + ROW * (together // 2) - 4, f"token {lane // together}", bold=True)
        lines(ax, [(14, TOP + ROW * lane - 1, end + 46, TOP + ROW * lane - 1)] if lane else [], "ink", 1.5)
    takes = "Orange: the lane takes its partner's value; if the partner is 8 or 16 lanes away, only one pair's lines " \
            "are drawn in full. Grey: it keeps its own."
    better = "Thick orange line: the lane takes the value that it reads. Thin grey line: it keeps its own. " \
             "Blue: the best."
    write(ax, 14, BOTTOM + 18, takes if sorts else better)
    return ax


def draw_own_loads(data, title):
    """Draws a row of logits for each lane, cut into sectors, with the bytes that the lane's first loads read."""
    left, top, row, sector, gap, sectors = 148, 94, 24, 168, 6, 4
    lanes, size = len(data["offsets"][0]), sector / 32
    ax = canvas(left + (sector + gap) * sectors + 8, top + row * lanes + 50, title)
    looks = ("light_blue", "blue"), ("light_orange", "orange")
    write(ax, 14, 50, "A box is a sector of the token's row, with its number.")
    for number in range(sectors):
        x = left + (sector + gap) * number
        write(ax, x, top - 9, 8 * number)
        write(ax, x + sector, top - 9, 8 * number + 7, "right")
    write(ax, left - 14, top - 9, "expert of the group", "right")
    for lane in range(lanes):
        y = top + row * lane
        first = data["offsets"][0][lane] // 128 * sectors
        write(ax, left - 14, y + 15, f"lane {lane}: group {lane}", "right")
        boxes(ax, [(left + (sector + gap) * number, y, sector, row - 4) for number in range(sectors)], "ground", "edge")
        for number in range(1, sectors):
            write(ax, left + (sector + gap) * number + sector / 2, y + 15, first + number, "center")
        for load, (offsets, look) in enumerate(zip(data["offsets"], looks)):
            at = offsets[lane] % 128
            cell(ax, left + (sector + gap) * (at // 32) + at % 32 * size, y, data["bytes"] * size, row - 4,
                 [f"{first}: load {load}"], *look)
    write(ax, 14, top + row * lanes + 22,
          f"Load 0 of a warp touches {data['sectors']} sectors, one for each of its 32 lanes, and uses half of each.")
    write(ax, 14, top + row * lanes + 39,
          "Load 1 touches the same sectors and uses the other halves. Six more loads read the other three sectors of each lane.")
    return ax


def draw_split(data, title):
    ax = canvas(852, BOTTOM + 32, title)
    _lane_numbers(ax, 42)
    for left, heading, part in ((52, "Chapter 02: if (other ranks higher) mine = other;", True),
                                (460, "Chapter 03: mine = take ? other : mine;", False)):
        write(ax, left, 50, heading, bold=True)
        for step, taken in enumerate(data["taken"]):
            x, runs = left + 76 * step, [took or not part for took in taken]
            write(ax, x + 35, TOP - 23, f"step {step + 1}", "center")
            write(ax, x + 35, TOP - 7, f"{sum(runs)} active", "center")
            _lane_cells(ax, x, 70, ["new" if taken[lane] else "own" if runs[lane] else "" for lane in LANES],
                        ["light_blue" if runs[lane] else "ground" for lane in LANES])
    write(ax, 14, BOTTOM + 18,
          "Blue: the lane executes the assignment; it then holds its partner's candidate (new) or its own. Empty: the "
          "lane waits.")
    return ax


def _draw_nodes(ax, row, nodes):
    """Draws one level's nodes, (middle, value, word), each with the number of its word below it."""
    for middle, value, word in nodes:
        cell(ax, middle - 20, row, 40, 26, [value], "light_blue", bold=True)
        write(ax, middle, row + 40, f"[{word}]", "center")


def draw_tree(data, title):
    """Draws both sweeps side by side, each as a tree with its leaves at the bottom."""
    pitch, top, gap, steps = 44, 84, 78, data["steps"]
    count, depth = len(data["first"]), len(steps) // 2
    ups = [data["first"], *(step["values"] for step in steps[:depth - 1]), [steps[depth - 1]["aside"]] * count]
    downs = [step["values"] for step in steps[depth - 1:]]
    up, down = 76, 76 + pitch * count + 30
    ax = canvas(down + pitch * count + 72, top + gap * depth + 106, title)

    def levels(left, values):
        """Returns the nodes (middle, value, word) of each level, from the leaves up."""
        return [[(left + pitch * (word + 1 - 2 ** level / 2), values[level][word], word)
                 for word in range(2 ** level - 1, count, 2 ** level)] for level in range(depth + 1)]

    trees = levels(up, ups), levels(down, downs[::-1])
    rows = [top + gap * (depth - level) for level in range(depth + 1)]
    write(ax, up, 52, "Up-sweep: sums of the leaves below a node", bold=True)
    write(ax, down, 52, "Down-sweep: sums of the leaves before a node", bold=True)
    for level, row in enumerate(rows):
        write(ax, 14, row + 18, f"up {level}" if level else "counts", bold=True)
        _draw_nodes(ax, row, trees[0][level])
        for number, (middle, _, _) in enumerate(trees[0][level] if level < depth else ()):
            parent, side = trees[0][level + 1][number // 2][0], number % 2 * 2 - 1
            lines(ax, [(middle, row - 1, parent + 14 * side, rows[level + 1] + 28)], "vermillion", 1.6, 7)
    ends = trees[0][depth][0][0] + 22, trees[1][depth][0][0] - 22
    lines(ax, [(ends[0], top + 13, ends[1], top + 13)], "grey", 1.2, 7)
    write(ax, sum(ends) / 2, top + 7, f"{ups[depth][0]} is saved as the total, and the root becomes 0", "center")
    for level in range(depth, -1, -1):
        row, step = rows[level], depth - level
        _draw_nodes(ax, row, trees[1][level])
        write(ax, down + pitch * count + 12, row + 18, f"down {step}" if step else "", bold=True)
        for number, (middle, value, _) in enumerate(trees[1][level] if step else ()):
            parent, above, _ = trees[1][level + 1][number // 2]
            side, start = number % 2 * 2 - 1, rows[level + 1] + 27
            lines(ax, [(parent + 14 * side, start, middle, row - 2)], "vermillion" if side > 0 else "blue", 1.6, 7)
            if side > 0:
                write(ax, (parent + 14 + middle) / 2 + 7, (start + row) / 2 - 3, f"+ {value - above}")
    for number, line in enumerate((
            "[3]: the node is stored in word 3, the word of its last leaf. Up 2: step 2 of the up-sweep; a barrier ends it.",
            "Up: two orange arrows meet at the sum of two children. Down, blue: the left child gets its parent's value.",
            "Down, orange: the right child gets its parent's value plus its left neighbour's sum from the up-sweep.")):
        write(ax, 14, top + gap * depth + 64 + 17 * number, line)
    return ax


def _draw_warps(ax, y, intervals, begins, unit, longest, colours):
    """Draws the operations of one row's warps, with their number as width and their active lanes as height, and the
    waits."""
    for i, runs in enumerate(intervals):
        x = begins[i] + 4
        for snippet, active, count in runs:
            height = max(3, active * 20 / 32)
            boxes(ax, [(x, y + 20 - height, count * unit - (unit > 4), height)], colours[snippet])
            x += count * unit
        barrier = begins[i + 1] - 4
        if i + 1 < len(intervals) and sum(run[2] for run in runs) < longest[i]:  # the others wait for this one
            boxes(ax, [(x, y + 17, barrier - x, 3)], "edge")
            write(ax, (x + barrier) / 2, y + 14, "waits" if barrier - x >= 40 else "", "center")


# What a listing is called below a timeline, if its tag does not say what the code does.
LEGENDS = {"clear": "clear the counters", "scan": "add up", "small_count": "count",
           "small_columns": "add up columns", "small_offsets": "offsets", "small_scatter": "scatter"}


def draw_timeline(data, title):
    left, space, room, row, top, longest = 112, 726, 16, 26, 82, data["longest"]
    unit, bottom = min(22, (space - room * len(longest)) / sum(longest)), top + row * len(data["rows"])
    begins = [left + sum(longest[:i]) * unit + room * i for i in range(len(longest) + 1)]
    ax, x = canvas(left + space + 14, bottom + 78, title), 14
    colours = dict(zip(data["snippets"], ("blue", "orange", "green", "vermillion", "purple", "sky", "grey")))
    write(ax, 14, top - 20, "barrier" if len(longest) > 1 else "", bold=True)
    for i, barrier in enumerate(begins[1:-1], 1):
        lines(ax, [(barrier, top - 14, barrier, bottom + 4)], "ink", 2)
        write(ax, barrier, top - 20, i, "center", bold=True)
    for number, warps in enumerate(data["rows"]):
        several = f"s {warps['first']} to {warps['last']}" if warps["first"] < warps["last"] else f" {warps['first']}"
        write(ax, 14, top + row * number + 15, f"warp{several}")
        _draw_warps(ax, top + row * number, warps["intervals"], begins, unit, longest, colours)
    for snippet, colour in colours.items():
        name = LEGENDS.get(snippet, snippet) or "outside snippets"
        boxes(ax, [(x, bottom + 18, 14, 12)], colour)
        write(ax, x + 20, bottom + 28, name)
        x += 44 + 8 * len(name)
    boxes(ax, [(x, bottom + 25, 14, 3)], "edge")
    write(ax, x + 20, bottom + 28, "wait at a barrier")
    write(ax, 14, bottom + 50,
          "A bar is a sequence of shared or global accesses, atomics or shuffles. Its height is the number of lanes, of 32, "
          "that take part.")
    write(ax, 14, bottom + 67, "A bar's length is a number of instructions, not a time.")
    return ax


def draw_stores(data, title):
    left, width, pitch, y, sectors = 76, 24, 22, 56, data["num_sectors"]
    ax = canvas(left + width * sectors + 14, 150 + pitch * (len(data["before"]) + len(data["after"])), title)
    for chapter, requests in (("Chapter 06", data["before"]), ("Chapter 07", data["after"])):
        size = requests[0]["bytes"]
        write(ax, 14, y, f"{chapter}: {size} bytes per lane, {len(requests)} requests, {sectors} sectors", bold=True)
        y += 12
        for request in requests:
            write(ax, 14, y + 13, f"warp {request['warp']}")
            boxes(ax, [(left + width * sector, y, width, 18) for sector in range(sectors)], "ground", "edge")
            for first, fill in ((0, "blue"), (1, "light_blue")):
                boxes(ax, [(left + at * width / 32, y + 2, size * width / 32, 14)
                           for at in request["offsets"][first::2]], fill)
            y += pitch
        y += 28
    write(ax, 14, y - 6,
          "Each row is one request of a warp, and each cell is a sector of 32 bytes. Each stripe, dark or light, is "
          "written by one lane.")
    return ax


def draw_blocks(data, title):
    pitch, width, row, top, places, padded = 33, 29, 26, 64, 184, data["num_tokens_post_padded"]
    experts, sorted_ids, size = data["experts"], data["sorted_token_ids"], data["block_size"]
    lefts = [144 + pitch * place for place in range(len(sorted_ids))]
    first, colours = 144 + pitch * (len(sorted_ids) - len(experts)) / 2, ("blue", "orange", "green", "vermillion")
    ax = canvas(lefts[-1] + pitch + 12, places + row + 92, title)
    for y, name in ((top - 6, "position in topk_ids"), (top + 18, "topk_ids: the expert"),
                    (places + 18, "sorted_token_ids"),
                    (places + row + 30, "expert_ids"),
                    (places + row + 80, f"White: a pad. It holds {len(experts)}, one more than the last position.")):
        write(ax, 14, y, name)
    for position, expert in enumerate(experts):
        x, colour = first + pitch * position, colours[expert]
        write(ax, x + width / 2, top - 6, position, "center")
        lines(ax, [(x + width / 2, top + row + 2, lefts[sorted_ids.index(position)] + width / 2, places - 3)], colour,
              1.8)
        cell(ax, x, top, width, row, [expert], f"light_{colour}", colour)
    for x, position in zip(lefts, sorted_ids):
        colour = colours[experts[position]] if position < len(experts) else ""
        cell(ax, x, places, width, row, [position], f"light_{colour}" if colour else "ground", colour or "pale")
    for block, expert in enumerate(data["expert_ids"]):
        x, end, y, used = lefts[block * size], lefts[
            (block + 1) * size - 1] + width, places + row + 9, block * size < padded
        lines(ax, [(x, y - 5, x, y), (x, y, end, y), (end, y, end, y - 5)], "ink")
        write(ax, (x + end) / 2, y + 21, expert if used else f"{expert} (not used)", "center", bold=used)
    end = lefts[padded - 1] + (pitch + width) / 2
    lines(ax, [(end, places - 8, end, places + row + 44)], "ink", 2)
    write(ax, end, places + row + 60, f"num_tokens_post_padded = {padded}", "center")
    return ax


def _draw_groups(ax, data, left, pitch, width, base, top):
    """Draws the groups' bars on the line `base` and their boxes at `top`. Returns the x of each expert's bar."""
    chosen, groups = [choice["expert"] for choice in data["chosen"]], data["groups"]
    at = [left + pitch * (expert // 32) + (expert % 32 + 0.5) * width / 32 for expert in range(256)]
    looks = ["vermillion" if expert in chosen else "sky" if groups[expert // 32]["stays"] else "pale"
             for expert in range(256)]
    for look in ("pale", "sky", "vermillion"):
        heights = [110 * choice / max(data["choice"]) if look == of_bar else 0
                   for choice, of_bar in zip(data["choice"], looks)]
        boxes(ax, [(x - 1.3, base - height, 2.6, height) for x, height in zip(at, heights) if height], look)
    for number, group in enumerate(groups):
        x, stays = left + pitch * number, group["stays"]
        lines(ax, [(x, base + 1, x + width, base + 1)], "ink")
        lines(ax, [(at[expert], base + 3, x + width / 2, top - 2) for expert in group["best"]],
              "blue" if stays else "grey", 1.4 if stays else 0.8)
        cell(ax, x, top, width, 56, [f"group {number}", group["sum"], "kept" if stays else "dropped"],
             "light_blue" if stays else "ground", "blue" if stays else "pale", bold=stays)
    return at


def draw_flow(data, title):
    left, pitch, width, groups, top = 14, 104, 96, 216, 366
    ax = canvas(852, top + 126, title)
    at = _draw_groups(ax, data, left, pitch, width, 172, groups)
    write(ax, left, 48, "256 experts in 8 groups. The height of a bar is the expert's choice: its score + bias.")
    write(ax, left, groups + 74, "A group's score is the sum of its two best.")
    for place, choice in enumerate(data["chosen"]):
        x = left + pitch * place
        lines(ax, [(at[choice["expert"]], groups + 58, x + width / 2, top - 3)], "vermillion", 1.4)
        cell(ax, x, top, width, 72,
             [f"expert {choice['expert']}", *(f"{name} {choice[name]}" for name in ("choice", "score", "weight"))],
             "light_vermillion", "vermillion", bold=True)
    write(ax, left, top + 94, "The 8 experts of the kept groups with the largest choices, largest first.")
    write(ax, left, top + 111, "A weight is the score (without the bias) / the 8 scores' sum * 2.5.")
    return ax
