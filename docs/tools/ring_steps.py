"""Data for the figures of chapter 16, computed from the rules of its barriers and products. Used by figures.py."""


def phases(stages, tiles):
    """Returns the schedule of a ring between a copying and a multiplying warp: for each tile its stage, its round, the
    parities that both sides wait on, and when it is copied and multiplied. A copy takes 1 unit of time, a product 2.

    A wait on a parity returns when the barrier's current phase has the other parity.
    """
    filled, emptied = [[] for _ in range(stages)], [[] for _ in range(stages)]  # end times of each barrier's phases
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
    """Returns which lane of a warp holds each sum in the warp's 16 rows and 8 of the columns, and the sum's index
    within the lane, as warpgroup_product.cuh describes for wgmma."""
    cells = [[None] * 8 for _ in range(16)]
    for lane in range(32):
        for number in range(4):
            cells[lane // 4 + number // 2 * 8][lane % 4 * 2 + number % 2] = [lane, number]
    return {"columns": columns, "warp": shown_warp, "cells": cells, "sums": columns // 2}
