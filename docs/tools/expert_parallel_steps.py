"""Data for the figures of chapter 12: what each rank has, and the arrays of an all-to-all. Used by figures.py."""


def ranks(dp, tp, ep, tokens):
    """Returns each rank's tokens, its part of the experts and its slice of each, as common/harness/parallel/split.c
    divides them; `tokens` is the number of tokens of each of the `dp` TP groups of `tp` ranks."""
    slices = dp * tp // ep
    return {"tp": tp, "parts": ep, "slices": slices, "tokens": sum(tokens), "ranks": [
        {"first": sum(tokens[:rank // tp]), "own": tokens[rank // tp], "part": rank // slices, "slice": rank % slices}
        for rank in range(dp * tp)]}


def all_to_all(tokens, num_experts, choices, results):
    """Returns each rank's arrays on the all-to-all path. Rank r has tokens[r] tokens and an equal part of the experts;
    token t chooses the experts choices[t], whose results for it are results[t].

    The rows are listed as list_rows in common/harness/parallel/arrays.c lists them, and a received row is (token, the
    terms of its sum)."""
    size, first = len(tokens), 0
    all_ranks = []
    for own in tokens:
        rank = {"own": list(range(first, first + own)), "rows": [], "counts": [],
                "sum_rows": [[-1] * size for _ in range(own)], "received": [], "sent_sums": []}
        for to in range(size):
            for t in range(own):
                if any(expert * size // num_experts == to for expert in choices[first + t]):
                    rank["sum_rows"][t][to] = len(rank["rows"])
                    rank["rows"].append((t, to))
            rank["counts"].append(sum(needing == to for _, needing in rank["rows"]))
        all_ranks.append(rank)
        first += own
    for number, rank in enumerate(all_ranks):
        for source in all_ranks:
            for t, to in source["rows"]:
                if to == number:
                    token = source["own"][t]
                    rank["received"].append((token, [
                        result for expert, result in zip(choices[token], results[token])
                        if expert * size // num_experts == number]))
    for number, rank in enumerate(all_ranks):  # a sum returns to the index of its row
        rank["sent_sums"] = [sum(dict(all_ranks[to]["received"])[rank["own"][t]]) for t, to in rank["rows"]]
    return {"ranks": all_ranks}
