"""Data for the figure of chapter 10: the blocks of both launches, from a report. Used by figures.py."""


def launched_blocks(report):
    """Returns the number of slots and the number of blocks of the counting launch and of the scatter's launch."""
    blocks = {kernel["name"]: kernel["counters"]["blocks"] for kernel in report["kernels"]}
    return {"slots": report["problem"]["capacity"], "blocks": blocks["align_kernel"],
            "scatter_blocks": blocks["scatter_kernel"]}
