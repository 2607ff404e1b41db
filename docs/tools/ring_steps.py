"""Data for the figures of chapters 16a and 16b, computed from the rules of its barriers and products. Used by figures.py."""


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


def uses(stages, consumers, rounds):
    """Returns the uses of a ring's stages, one row per round: for each use its number, its step, and the consumer whose
    weights it holds, or None if it holds tokens."""
    each = consumers + 1
    return {"rounds": [[[use, use // each, use % each - 1 if use % each else None]
                        for use in range(stages * number, stages * (number + 1))] for number in range(rounds)]}


def work_tile_handoff(consumers, warp_size=32):
    """Returns how one work tile passes between the warps of chapter 16a, from top to bottom: for each warp what it does
    in which row, and the arrivals between rows."""
    read = warp_size * (1 + consumers)
    return {
        "lanes": ["weight warp", "token warp", f"{consumers} consumer warps"],
        "boxes": [[0, 0, ["writes the work tile"], "light_blue"],
                  [0, 1, ["copies the tile's weights"], "ground"],
                  [1, 1, ["adds positions and their number"], "light_blue"],
                  [1, 2, ["reads the work tile"], "light_orange"], [2, 2, ["read the work tile"], "light_orange"],
                  [1, 3, ["copies the rows of the tokens"], "ground"], [2, 3, ["multiply, store the results"], "ground"],
                  [0, 4, ["overwrites the work tile"], "light_blue"]],
        "arrows": [[1, "tile_ready", 0, [1], "1 arrival"], [2, "positions_ready", 1, [2], f"{warp_size} arrivals"],
                   [3, "tile_released", 1, [0], f"{warp_size} arrivals"],
                   [4, "tile_released", 2, [0], f"{warp_size * consumers} arrivals, {read} in all"]],
        "note": "Time runs from top to bottom. Blue: writes the work tile. Yellow: reads it. The token warp waits on "
                "positions_ready as well."}


def stage_handoff(consumers, owner):
    """Returns how one stage with the weights of consumer `owner` passes between a copying warp and the consumers."""
    others = [number for number in range(consumers) if number != owner]
    return {
        "lanes": ["copying warp", *(f"consumer {number}" for number in range(consumers))],
        "boxes": [[0, 0, ["starts the copies"], "light_blue"], [1 + owner, 1, ["multiplies"], "light_orange"],
                  *([1 + number, 1, ["waits, arrives"], "ground"] for number in others),
                  [0, 2.9, ["copies again"], "light_blue"]],
        "arrows": [[1, "filled", 0, list(range(1, consumers + 1)), "1 arrival + bytes"],
                   *([2 + 0.3 * at, "emptied" * (at == 0), 1 + number, [0], f"{consumers} arrivals" * (at == 0)]
                     for at, number in enumerate([*others, owner]))],
        "note": f"Time runs from top to bottom. The stage holds the weights of consumer {owner}, but all consumers wait "
                "on filled and arrive at emptied."}


def product_steps(stages, steps, start=1, product=3):
    """Returns the schedule of chapter 16b's multiply() when all stages are filled in time: for each step its stage, when
    the warp starts the products, when it waits until those of the previous step are complete, when the tensor cores
    multiply, and when the stage is freed. To start a step's products takes `start` units of time, to compute them
    `product` units."""
    rows, now, computed = [], 0, 0
    for step in range(steps):
        started = now + start
        begin = max(started, computed)
        previous, computed = computed, begin + product
        waited = max(started, previous)
        if step:
            rows[-1]["freed"] = waited
        rows.append({"step": step, "stage": step % stages, "start": [now, started], "wait": [started, waited],
                     "multiply": [begin, computed]})
        now = waited
    rows[-1]["freed"] = computed
    return {"stages": stages, "rows": rows, "last_wait": [now, computed], "end": computed}


def product_layout(columns, row, column):
    """Returns which lane of a warp holds each sum in the warp's 16 rows and 8 of the columns, and the sum's index
    within the lane, as warpgroup_product.cuh describes for wgmma. The warp and the 8 columns are those of the sum in
    this row and column."""
    cells, first = [[None] * 8 for _ in range(16)], column // 8 * 4
    for lane in range(32):
        for number in range(4):
            cells[lane // 4 + number // 2 * 8][lane % 4 * 2 + number % 2] = [lane, first + number]
    return {"columns": columns, "row": row, "column": column, "cells": cells, "sums": columns // 2}
