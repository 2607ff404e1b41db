"""Data for the figures of chapter 19: which halves of a block's waves work in each phase of chapters 03 and 19, for one
token with eight groups, and how a wave merges the lists of a token's kept groups. Used by figures.py."""

NUM_HALVES = 8
WAVE, LIST = 64, 8
EMPTY = WAVE + 1  # ranks below all candidates


def phases(word, kept):
    """Returns, for each chapter, its phases of a token as [name, texts], where `texts` has the text in the box of each half of a
    wave, or of each wave if its halves work together; the text is None if the half is idle. `kept` lists the kept
    groups, the best one first."""
    group_of_half = [f"group {group}" for group in range(NUM_HALVES)]
    rows_03 = [["scores of the groups", group_of_half],
               ["ranks of the groups", ["in rounds"] + [None] * (NUM_HALVES - 1)],
               ["rounds of the kept groups",
                [text if group in kept else None for group, text in enumerate(group_of_half)]],
               ["merge of the lists", ["4 lanes"] + [None] * (NUM_HALVES - 1)]]
    rows_19 = [["scores of the groups", group_of_half],
               ["ranks of the groups", ["one vote"] * (NUM_HALVES // 2)],
               ["rounds of the kept groups", [f"group {group}" for group in kept] + [None] * (NUM_HALVES - len(kept))],
               ["merge of the lists", ["32 lanes"] + [None] * (NUM_HALVES - 1)]]
    return {"word": word, "kept": kept, "chapters": [["chapter 03", rows_03], ["chapter 19", rows_19]]}


def merge(word, kept, lists, example):
    """Returns the ranks in a wave's lanes before and after each level of chapter 19's merge, with the number that is
    combined with a lane's number by xor; None in the lane of an empty list. `lists` has the ranks of each kept group's
    candidates, the best one first. `example` is a lane whose first exchange is shown."""
    lanes = [rank for ranks in lists for rank in ranks]
    lanes += [EMPTY] * (WAVE - len(lanes))
    rows, distance = [{"xor": None, "distance": None, "lanes": lanes}], LIST
    while distance < WAVE:
        lanes = [min(rank, lanes[lane ^ (distance + LIST - 1)]) for lane, rank in enumerate(lanes)]
        offset = LIST // 2
        while offset > 0:
            lanes = [(max if lane & offset else min)(rank, lanes[lane ^ offset]) for lane, rank in enumerate(lanes)]
            offset //= 2
        rows.append({"xor": distance + LIST - 1, "distance": distance, "lanes": lanes})
        distance *= 2
    for row in rows:
        row["lanes"] = [None if rank == EMPTY else rank for rank in row["lanes"]]
    return {"word": word, "kept": kept, "rows": rows, "example": [example, example ^ rows[1]["xor"]]}
