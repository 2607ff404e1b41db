"""Data for the figure of chapter 13a's votes, from the kernel's trace. Used by figures.py."""
import files
import trace as traces


def group_votes(trace):
    """Returns chapter 13a's ranking of a token's groups by the first warp: each group's score and rank, and for each
    vote the bits of its 32 lanes, of which bit i * 8 + g tells whether the vote's group i ranks before group g."""
    name, kept = trace["source"], 4
    lines = {number for number, snippet in enumerate(files.snippets(name), 1) if snippet == "few_bound"}
    events = [event for event in trace["events"]
              if event["warp"] == 0 and event["file"] == name and event.get("line") in lines]
    votes = [event["in"] for event in events if event.get("operation") == "__ballot_sync"]
    loads = [event for event in events if event["kind"] == "shared_load"]
    if len(votes) != 3 or not loads:
        raise ValueError(f"{name}: three votes and the groups' scores are wanted in snippet [few_bound]")
    ranks = [sum(sum(vote[group::8]) for vote in votes[:2]) for group in range(8)]
    if votes[2][:8] != [int(rank < kept) for rank in ranks]:
        raise ValueError(f"{name}: the last vote is not of the {kept} groups with the lowest ranks")
    return {"scores": [round(traces.as_float(word), 3) for word in loads[0]["value"][:8]], "ranks": ranks,
            "votes": votes[:2]}
