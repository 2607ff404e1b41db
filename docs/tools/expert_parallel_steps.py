"""Data for the figure of chapter 12's ranks: what each rank has. Used by figures.py."""


def ranks(dp, tp, ep, tokens):
    """Returns each rank's tokens, its part of the experts and its slice of each, as common/harness/parallel/split.c
    divides them; `tokens` is the number of tokens of each of the `dp` TP groups of `tp` ranks."""
    slices = dp * tp // ep
    return {"tp": tp, "parts": ep, "slices": slices, "tokens": sum(tokens), "ranks": [
        {"first": sum(tokens[:rank // tp]), "own": tokens[rank // tp], "part": rank // slices, "slice": rank % slices}
        for rank in range(dp * tp)]}
