"""What the figures of chapter 16 show, worked out by the rules of its barriers and products."""


def phases(stages, tiles):
    """A ring between one copying and one multiplying warp: for each tile its stage, its round, the parities that both
    sides name, and when it is filled and emptied; times are steps in which a stage is filled, or multiplied.

    A wait for a parity returns when the barrier's current phase has the other one.
    """
    filled, emptied = [[] for _ in range(stages)], [[] for _ in range(stages)]  # when each phase of a barrier ended
    rows, copied, multiplied = [], 0, 0
    for tile in range(tiles):
        stage, turn = tile % stages, tile // stages
        free = emptied[stage][turn - 1] if turn else 0
        begin = max(copied, free)
        copied = begin + 1
        filled[stage].append(copied)
        start = max(multiplied, filled[stage][turn])
        multiplied = start + 2
        emptied[stage].append(multiplied)
        rows.append({"tile": tile, "stage": stage, "round": turn, "filled_parity": turn % 2,
                     "emptied_parity": turn % 2 ^ 1, "copy": [begin, copied], "multiply": [start, multiplied]})
    return {"stages": stages, "rows": rows, "end": multiplied}


def product_layout(columns, shown_warp=0):
    """Which lane of a warp has each sum of its 16 rows and of 8 of the columns, and which of its numbers it is: as
    warpgroup_product.cuh says of wgmma."""
    cells = [[None] * 8 for _ in range(16)]
    for lane in range(32):
        for number in range(4):
            cells[lane // 4 + number // 2 * 8][lane % 4 * 2 + number % 2] = [lane, number]
    return {"columns": columns, "warp": shown_warp, "cells": cells, "sums": columns // 2}
