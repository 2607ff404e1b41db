"""Draws what tensor cores multiply and how a ring of stages is filled. The data come from kernel_steps.py."""
from figure_style import boxes, canvas, cell, lines, write


def _marked(ax, x, y, width, height):
    """Draws a thick outline around a cell."""
    lines(ax, [(x, y, x + width, y), (x + width, y, x + width, y + height), (x + width, y + height, x, y + height),
               (x, y + height, x, y)], "vermillion", 2.5)


def draw_fragments(data, title):
    left, top, width, wide, row, shown = 60, 66, 26, 36, 19, 5
    right, below = left + 16 * width + 70, top + 16 * row + 62
    ax = canvas(right + 8 * wide + 24, below + 16 * row + 34, title)
    tables = (  # a cell is `across` columns by `down` rows; the lane `shown` holds `names` in its cells, from the top
        (left, below, "A: weights, 16 rows by 16 k", data["a"], width, 2, 1,
         (("word 0",), ("word 2",), ("word 1",), ("word 3",)), (1, 2)),
        (right, top, "B: tokens, 16 k by 8", data["b"], wide, 1, 2, (("word", "0"), ("word", "1")), (2, 2)),
        (right, below, "D: sums, 16 rows by 8 tokens", data["d"], wide, 2, 1, (("sums 0, 1",), ("sums 2, 3",)), (1, 2)))
    for x, y, name, lanes, unit, across, down, names, example in tables:
        is_sums, names = name.startswith("D"), list(names)
        write(ax, x, y + 16 * row + 20 if is_sums else y - 26, name, bold=True)
        for column in range(len(lanes[0])):
            write(ax, x + (column + 0.5) * unit, y - 8, column, "center")
        for number in range(16):
            write(ax, x - 8, y + row * number + 14, number, "right")
        for number in range(0, 16, down):
            for column in range(0, len(lanes[0]), across):
                lane = lanes[number][column]
                cell(ax, x + column * unit, y + number * row, unit * across, row * down,
                     names.pop(0) if lane == shown else [lane], "light_blue" if lane == shown else "ground", "edge")
        _marked(ax, x + example[1] * unit, y + example[0] * row, unit * across, row * down)
    middle, column = below + 1.5 * row, right + 2.5 * wide
    lines(ax, [(left + 16 * width + 10, middle, right - 26, middle), (column, top + 16 * row + 6, column, below - 22)],
          "vermillion", 2, 9)
    write(ax, right - 44, middle - 10, "3", "center", bold=True)
    write(ax, column + 12, below - 32, "7, which lane 9 holds", bold=True)
    for number, text in enumerate((
            "A number is the lane that holds the cell: a word of two", "elements in A and B, two sums in D.",
            f"Blue: the cells of lane {shown}, with the names of its registers.", "",
            "Orange, an example: A is zero except for a 3 in row 1, k 2; B is", "zero except for a 7 in k 2, token 2. "
            "The instruction adds", "21 to the sum of row 1, token 2: sum 0 of lane 5.")):
        write(ax, 14, top + 20 + 20 * number, text)
    return ax


def draw_quarters(data, title):
    left, top, width, height, gap, shown = 96, 92, 166, 92, 112, 21
    right = left + 2 * width + gap
    ax = canvas(right + 2 * width + 14, top + 2 * height + 62, title)
    for x, name, what, matrices in ((left, "Weights: 16 rows by 16 k", "row", data["weights"]),
                                    (right, "Tokens: 16 tokens by 16 k", "token", data["tokens"])):
        write(ax, x, top - 34, name, bold=True)
        for half in range(2):
            write(ax, x + (half + 0.5) * width, top - 10, f"k {8 * half} to {8 * half + 7}", "center")
            write(ax, x - 10, top + (half + 0.5) * height + 4, f"{what}s {8 * half} to {8 * half + 7}", "right")
        for number, (row, k) in enumerate(matrices):
            at, y, word = x + k // 8 * width, top + row // 8 * height, k + shown % 4 * 2
            cell(ax, at, y, width, height, [
                f"matrix {number}: word {number}", f"addresses: lanes {8 * number} to {8 * number + 7}",
                f"lane {shown} receives", f"{what} {row + shown // 4}, k {word} and {word + 1}"],
                 "light_blue" if number == shown // 8 else "ground", bold=True)
    for line, text in enumerate((
            f"Each lane supplies one address and receives one word of each matrix. Blue: lane {shown}'s address.",
            "The weights' words are A. The tokens' words 0 and 1 are B of the first mma, words 2 and 3 are B of the "
            "second.")):
        write(ax, 14, top + 2 * height + 26 + 18 * line, text)
    return ax


def draw_copies(data, title):
    left, top, width, height, shown = 128, 92, 48, 26, 176
    threads, copies = data["threads"], data["copies"]
    bottom, fills = top + height * len(copies), {"w1": "light_blue", "w3": "light_orange", "token": "light_green"}
    column, per_row = threads.index(shown), threads[1] - threads[0]
    ax = canvas(left + width * len(threads) + 14, bottom + 64, title)
    write(ax, left - 12, top - 30, f"first of {per_row} threads", "right")
    for number, thread in enumerate(threads):
        write(ax, left + (number + 0.5) * width, top - 30, thread, "center")
    write(ax, 40, top - 8, "copy", "right")
    write(ax, left - 12, top - 8, "stage rows", "right")
    for number, copied in enumerate(copies):
        first = number * len(threads)
        write(ax, 40, top + height * number + 18, number, "right")
        write(ax, left - 12, top + height * number + 18, f"{first} to {first + len(threads) - 1}", "right")
        for place, (array, row) in enumerate(copied):
            cell(ax, left + place * width, top + number * height, width, height,
                 [f"slot {row}" if array == "token" else f"{array} {row}"], fills[array], "edge")
    _marked(ax, left + column * width, top, width, bottom - top)
    rows_of_thread = [column + len(threads) * number for number in range(len(copies))]
    for line, text in enumerate((
            "A cell is a row of the stage, with the row of w1 or w3 that it holds, or the slot of the token. Warp w "
            "multiplies the weights of copy w.",
            f"Orange: stage rows {rows_of_thread[0]}, {rows_of_thread[1]}, ..., {rows_of_thread[-1]}. Threads {shown} to "
            f"{shown + per_row - 1} copy them, each thread one of the {per_row} chunks of every row.")):
        write(ax, 14, bottom + 26 + 20 * line, text)
    return ax


def draw_ring(data, title):
    left, width, row, top, done = 76, 38, 44, 66, data["done"]
    bottom, at = top + row * data["stages"], {(what, step): i for i, (what, step, _) in enumerate(done)}
    ax = canvas(left + width * len(done) + 14, bottom + 84, title)
    for stage in range(data["stages"]):
        write(ax, 14, top + row * stage + 23, f"stage {stage}")
        lines(ax, [(left, top + row * stage + 18, left + width * len(done), top + row * stage + 18)], "grid")
    for number, (what, step, stage) in enumerate(done):
        x, y = left + width * number, top + row * stage
        if what == "wait":
            lines(ax, [(x + width / 2, top - 10, x + width / 2, bottom)], "ink", 2)
            write(ax, x + width / 2, top - 16, step, "center")
        elif what == "copy":
            boxes(ax, [(x + width, y + 13, width * (at["wait", step] - number - 0.5), 10)], "pale")
        if what != "wait":
            cell(ax, x, y, width, 36, [step], "light_blue" if what == "copy" else "light_orange")
    for x, fill, height, words in ((14, "light_blue", 12, "copies of a step are started"),
                                   (260, "pale", 8, "they are under way"), (430, "light_orange", 12, "multiplied")):
        boxes(ax, [(x, bottom + 18 + (12 - height) / 2, 14, height)], fill)
        write(ax, x + 20, bottom + 28, words)
    lines(ax, [(557, bottom + 16, 557, bottom + 32)], "ink", 2)
    write(ax, 570, bottom + 28, "wait, then barrier")
    write(ax, 14, bottom + 52, "From left to right: what warp 0 does. Numbers are steps. Each operation is drawn one cell "
                               "wide, however long it takes.")
    return ax


def draw_chunks(data, title):
    left, row, top, shown = 74, 26, 92, 5
    indices = len(data["rows"][0])
    width = 752 // indices
    ax = canvas(left + indices * width + 14, top + 8 * row + 66, title)
    write(ax, left - 12, top - 32, "index", "right")
    write(ax, left - 12, top - 12, "banks", "right")
    for index in range(indices):
        write(ax, left + (index + 0.5) * width, top - 32, index, "center")
        write(ax, left + (index + 0.5) * width, top - 12, f"{4 * index % 32}-{4 * index % 32 + 3}", "center")
    for number, chunks in enumerate(data["rows"]):
        write(ax, left - 12, top + row * number + 17, f"row {number}", "right")
        for fill, wanted in (("ground", False), ("light_blue", True)):
            boxes(ax, [(left + index * width, top + row * number, width, row - 3) for index in range(indices)
                       if (chunks[index] == shown) == wanted], fill, "edge")
        for index, chunk in enumerate(chunks):
            write(ax, left + (index + 0.5) * width, top + row * number + 17, chunk, "center", bold=chunk == shown)
    for line, text in enumerate((
            f"A cell is a chunk of 16 bytes, with its number before the permutation. Blue: chunk {shown} of each row.",
            "ldmatrix reads these eight chunks at once, from eight different groups of four banks.")):
        write(ax, 14, top + 8 * row + 24 + 20 * line, text)
    return ax


def draw_warp_tiles(data, title):
    left, top, wide, high = 128, 76, 56, 56
    columns = sorted({tuple(warp["tokens"]) for warp in data["warps"]})
    bands = sorted({tuple(warp["rows"]) for warp in data["warps"]})
    ax = canvas(left + data["tokens"] // 16 * wide + 14, top + len(bands) * high + 66, title)
    write(ax, left - 12, top - 10, "first token", "right")
    for pair in range(data["tokens"] // 16):
        write(ax, left + (pair + 0.5) * wide, top - 10, 16 * pair, "center")
    for band, rows in enumerate(bands):
        write(ax, left - 12, top + (band + 0.5) * high + 4, f"rows {rows[0]} to {rows[-1]}", "right")
    for number, warp in enumerate(data["warps"]):
        fill = ("light_blue", "light_orange")[columns.index(tuple(warp["tokens"]))]
        for token in warp["tokens"][::16]:
            cell(ax, left + token // 16 * wide, top + bands.index(tuple(warp["rows"])) * high, wide, high,
                 [f"warp {number}"], fill)
    for line, text in enumerate((
            f"A cell: {len(bands[0])} rows of weights by a pair, 16 tokens. A colour is a column of warps; the columns' "
            "pairs alternate.", "The next narrower tile omits the last pair of each column, 32 tokens in all.")):
        write(ax, 14, top + len(bands) * high + 26 + 20 * line, text)
    return ax
