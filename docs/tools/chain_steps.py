"""Data of chapter 17's figure: its example of a chain of kernels, computed by the rules for wait and trigger. Used by
figures.py."""

FIRST, START, LOADS, WORK = 20, 4, 3, 10  # time units: the first kernel; another kernel's start, loads, other work


def timelines(names):
    """Returns the chain of these kernels without and with overlap: for each kernel its parts, as [what, begin, end].

    With overlap, a kernel starts when the kernel before it triggers. The first kernel triggers when it begins, the
    others when their wait returns, that is, when the kernel before them has ended.
    """
    made = []
    for overlap in (False, True):
        rows, triggered, ended = [{"kernel": names[0], "parts": [["work", 0, FIRST]]}], 0, FIRST
        for name in names[1:]:
            begin = triggered if overlap else ended
            ready = begin + START + LOADS
            waited = max(ready, ended)
            parts = [["start", begin, begin + START], ["loads", begin + START, ready], ["wait", ready, waited],
                     ["work", waited, waited + WORK]]
            rows.append({"kernel": name, "parts": [part for part in parts if part[1] < part[2]]})
            triggered, ended = waited, waited + WORK
        made.append({"overlap": overlap, "rows": rows, "end": ended})
    return {"timelines": made}
