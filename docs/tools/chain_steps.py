"""Data for two of chapter 17's figures: its example chain of kernels, computed from the rules for wait and trigger.
Used by figures.py."""

FIRST, START, LOADS, WORK = 20, 4, 3, 10  # time units: the first kernel; another kernel's start, loads, other work


WAYS = {"none": "one after the other", "after": "overlapping: B triggers after its wait",
        "before": "overlapping: B triggers before its wait"}


def timelines(names, *ways):
    """Returns the timelines of a chain of these kernels: each kernel's parts as [what, begin, end]. Ways are "none",
    without overlap, and "after" and "before", where each kernel starts when the preceding kernel triggers, after or
    right before its wait. The first kernel triggers when it begins; a wait returns when the preceding kernel has ended.
    """
    made = []
    for way in ways:
        rows, triggered, ended = [{"kernel": names[0], "parts": [["work", 0, FIRST]]}], 0, FIRST
        for name in names[1:]:
            begin = ended if way == "none" else triggered
            ready = begin + START + LOADS
            waited = max(ready, ended)
            parts = [["start", begin, begin + START], ["loads", begin + START, ready], ["wait", ready, waited],
                     ["work", waited, waited + WORK]]
            rows.append({"kernel": name, "parts": [part for part in parts if part[1] < part[2]]})
            triggered, ended = ready if way == "before" else waited, waited + WORK
        made.append({"label": WAYS[way], "rows": rows, "end": ended})
    return {"timelines": made}
