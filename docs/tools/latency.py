"""A model of one warp scheduler, for the primer's figure of how warps hide each other's latency."""

LATENCY, CYCLES = 6, 24  # cycles from an instruction to the next, which needs its result; cycles of a run


def schedule(num_warps, latency=LATENCY, cycles=CYCLES):
    """Returns, for each warp, the cycles in which its instructions are issued. Each instruction of a warp needs the
    result of the previous one. In each cycle, the scheduler issues one instruction from the first ready warp in
    round-robin order."""
    ready, issued, turn = [0] * num_warps, [[] for _ in range(num_warps)], 0
    for cycle in range(cycles):
        for warp in [(turn + i) % num_warps for i in range(num_warps)]:
            if ready[warp] <= cycle:
                issued[warp].append(cycle)
                ready[warp] = cycle + latency
                turn = (warp + 1) % num_warps
                break
    return issued


def panels(*numbers):
    """Runs the model with each number of warps in `numbers`, and counts the cycles in which an instruction is
    issued."""
    runs = [schedule(number) for number in numbers]
    return {"latency": LATENCY, "cycles": CYCLES,
            "panels": [{"warps": run, "issued": sum(map(len, run))} for run in runs]}
