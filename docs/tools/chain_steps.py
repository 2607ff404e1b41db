"""Data for chapter 17's figure: its example chain of kernels, computed from the rules for wait and trigger. Used by
figures.py."""

FIRST, START, LOADS, WORK = 20, 4, 3, 10  # time units: the first kernel; another kernel's start, loads, other work


def timelines(names):
    """Returns the timelines of a chain of these kernels without and with overlap: each kernel's parts as [what, begin,
    end]. With overlap, a kernel starts when the preceding kernel triggers.

    The first kernel triggers when it begins; the other kernels trigger when their wait returns, that is, when the
    preceding kernel has ended.
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
