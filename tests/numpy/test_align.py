# run: $b/cpu/*_align_*
# needs: numpy
"""Compares the programs' answers to random align problems with NumPy's. Prints TAP.

    python3 tests/numpy/test_align.py PROGRAM... [--count N] [--seed S]

num_tokens_post_padded and expert_ids must be equal element by element. sorted_token_ids must be equal after the
positions of each expert have been sorted, because a program may leave them in any order.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy


def random_problem(rng):
    num_experts = int(rng.choice([1, 2, 7, 64, 160, 256, 300]))
    shape = [(int(rng.integers(0, 3000)),), (int(rng.integers(0, 400)), int(rng.integers(1, 9)))][rng.integers(2)]
    ids = rng.choice([numpy.int32, numpy.int64])
    low, high = [(0, num_experts), (-2, num_experts + 2)][rng.integers(2)]
    topk_ids = rng.integers(low, high, shape).astype(ids)
    if ids == numpy.int64 and low < 0:  # makes some ids invalid whose low 32 bits still name experts
        topk_ids += rng.choice([0, 0, 0, 1, -5], shape) << 32
    return {"num_experts": num_experts, "block_size": int(rng.choice([1, 3, 16, 64, 128])), "topk_ids": topk_ids,
            "expert_map": random_map(rng, num_experts) if rng.integers(2) else None}


def random_map(rng, num_experts):
    num_local = int(rng.integers(0, num_experts + 1))
    expert_map = numpy.full(num_experts, -1, rng.choice([numpy.int32, numpy.int64]))
    expert_map[rng.choice(num_experts, num_local, replace=False)] = rng.permutation(num_local)
    return expert_map


def ask_numpy(problem, capacity):
    ids = problem["topk_ids"].reshape(-1)
    num_experts, block_size = problem["num_experts"], problem["block_size"]
    expert_map = numpy.arange(num_experts) if problem["expert_map"] is None else problem["expert_map"]
    sorted_token_ids = numpy.full(capacity, ids.size)
    expert_ids = numpy.full(capacity // block_size, -1)
    blocks = 0
    for expert in range(num_experts):
        positions = numpy.flatnonzero(ids == expert)
        begin = blocks * block_size
        sorted_token_ids[begin:begin + positions.size] = positions
        needed = -(-positions.size // block_size)
        expert_ids[blocks:blocks + needed] = expert_map[expert]
        blocks += needed
    return sorted_token_ids, expert_ids, blocks * block_size


def ask_program(program, problem, folder):
    numpy.save(folder / "topk_ids.npy", problem["topk_ids"])
    flags = ["--topk-ids", str(folder / "topk_ids.npy"), "--num-experts", str(problem["num_experts"]), "--block-size",
             str(problem["block_size"]), "--out", str(folder)]
    if problem["expert_map"] is not None:
        numpy.save(folder / "expert_map.npy", problem["expert_map"])
        flags += ["--expert-map", str(folder / "expert_map.npy")]
    run = subprocess.run([program] + flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if run.returncode != 0:
        return "exit %d: %s" % (run.returncode, run.stderr.split("\n")[0])
    return [numpy.load(folder / (name + ".npy"))
            for name in ("sorted_token_ids", "expert_ids", "num_tokens_post_padded")]


def in_order(sorted_token_ids, topk_ids, num_experts):
    """Sorts each expert's run of positions into ascending order and leaves everything else unchanged."""
    ids = numpy.append(topk_ids.reshape(-1), num_experts)  # the expert of a pad
    experts = ids[numpy.clip(sorted_token_ids, 0, ids.size - 1)]
    ordered = sorted_token_ids.copy()
    ends = numpy.flatnonzero(numpy.diff(experts)) + 1
    for run in numpy.split(numpy.arange(ordered.size), ends):
        ordered[run] = numpy.sort(ordered[run])
    return ordered


def difference(name, expected, got):
    if expected.shape != got.shape:
        return "%s: shape %s, NumPy has %s" % (name, got.shape, expected.shape)
    wrong = numpy.flatnonzero(expected != got)
    return "" if wrong.size == 0 else "%s[%d]: %d, NumPy has %d" % (name, wrong[0], got[wrong[0]], expected[wrong[0]])


def compare(problem, answer):
    if isinstance(answer, str):
        return answer
    sorted_token_ids, expert_ids, total = answer
    right_sorted, right_experts, right_total = ask_numpy(problem, sorted_token_ids.size)
    return (difference("num_tokens_post_padded", numpy.array([right_total]), total.reshape(-1))
            or difference("expert_ids", right_experts, expert_ids)
            or difference("sorted_token_ids", right_sorted,
                          in_order(sorted_token_ids, problem["topk_ids"], problem["num_experts"])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    failed = 0
    for number, program in enumerate(arguments.programs, 1):
        rng = numpy.random.default_rng(arguments.seed)
        reasons = []
        for _ in range(arguments.count):
            problem = random_problem(rng)
            with tempfile.TemporaryDirectory() as folder:
                reason = compare(problem, ask_program(program, problem, pathlib.Path(folder)))
            if reason:
                reasons.append("%d ids of %d experts, blocks of %d, %s: %s" % (
                    problem["topk_ids"].size, problem["num_experts"], problem["block_size"],
                    problem["topk_ids"].dtype, reason))
        name = "%s agrees with NumPy on %d problems" % (pathlib.Path(program).name, arguments.count)
        print("%sok %d - %s" % ("not " if reasons else "", number, name))
        for reason in reasons[:5]:
            print("# " + reason)
        failed += bool(reasons)
    print("1..%d" % len(arguments.programs))
    return 1 if failed else 0


sys.exit(main())
