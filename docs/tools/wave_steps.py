"""Data for the figure of chapter 19: which halves of a block's waves work in each phase of chapters 03 and 19, for one
token with eight groups. Used by figures.py."""

NUM_HALVES = 8


def phases(kept):
    """Returns, for each chapter, its phases as [name, texts], where `texts` has the text in the box of each half of a
    wave, or of each wave if its halves work together; the text is None if the half is idle. `kept` lists the kept
    groups, the best one first."""
    group_of_half = [f"group {group}" for group in range(NUM_HALVES)]
    rows_03 = [["scores of the groups", group_of_half],
               ["ranks of the groups", ["in rounds"] + [None] * (NUM_HALVES - 1)],
               ["rounds of a group", [text if group in kept else None for group, text in enumerate(group_of_half)]],
               ["merge of the lists", ["4 lanes"] + [None] * (NUM_HALVES - 1)]]
    rows_19 = [["scores of the groups", group_of_half],
               ["ranks of the groups", ["one vote"] * (NUM_HALVES // 2)],
               ["rounds of a group", [f"group {group}" for group in kept] + [None] * (NUM_HALVES - len(kept))],
               ["merge of the lists", ["32 lanes"] + [None] * (NUM_HALVES - 1)]]
    return {"kept": kept, "chapters": [["chapter 03", rows_03], ["chapter 19", rows_19]]}
