# run: $b/cpu/01_cpu_baseline $b/tests/pytorch/check_answer
# needs: numpy, torch
"""Compares a chapter program's answers to random gate problems with PyTorch's. Prints TAP.

    python3 tests/pytorch/test_answers.py PROGRAM CHECK_ANSWER [--count N] [--seed S] [--device cpu|cuda]

Each answer must pass the checker on its own. Rows with the same ids must also have the same weights, up to rounding in
the type. In f32, almost all rows must have the same ids, but experts whose choices are nearly equal may replace
each other.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "chapters" / "01_cpu_baseline"))
from grouped_topk import grouped_topk

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
REFUSED = "refused"
ROUNDING = {"f32": 2e-6, "f16": 2e-3, "bf16": 1.6e-2}  # a few units in the last place, of a score and of a quotient


def random_problem(rng, device):
    group_size, groups, shared = rng.randint(2, 40), rng.randint(1, 16), 0
    topk_group = rng.randint(1, groups)
    topk = rng.randint(1, min(16, topk_group * group_size))
    dtypes = ["f32", "bf16"] + (["f16"] if device == "cuda" else [])  # PyTorch 1.13 has no f16 sigmoid on the CPU
    score = rng.choice(["sigmoid", "softmax", "none"])
    if rng.random() < 0.3:  # DeepSeek-V3's shape, for which chapters 13a to 13c have kernels
        group_size, groups, topk_group, topk, score, shared = 32, 8, 4, 8, "sigmoid", rng.randint(0, 2)
    return {"num_tokens": rng.randint(1, 60), "num_experts": group_size * groups, "num_expert_group": groups,
            "topk_group": topk_group, "topk": topk, "dtype": rng.choice(dtypes), "score": score,
            "bias": rng.choice(["none", "f32", "same"]), "renormalize": rng.randint(0, 1),
            "scale": rng.choice([1.0, 2.5, 16.0]), "shared": shared, "later": rng.randint(0, 1) if shared else 0}


def flags(problem, folder):
    bias = ["--bias", "none" if problem["bias"] == "none" else str(folder / "bias.npy"), "--bias-dtype",
            "same" if problem["bias"] == "same" else "f32"]
    return ["--logits", str(folder / "logits.npy"), "--num-expert-group", str(problem["num_expert_group"]),
            "--topk-group", str(problem["topk_group"]), "--topk", str(problem["topk"]), "--dtype", problem["dtype"],
            "--score", problem["score"], "--renormalize", str(problem["renormalize"]), "--routed-scaling-factor",
            str(problem["scale"]), "--num-fused-shared-experts", str(problem["shared"]), "--scale-later",
            str(problem["later"])] + bias


def save(path, tensor):
    tensor = tensor.cpu()
    numpy.save(path, (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy())


def with_shared_experts(problem, weights, ids):
    """Appends the shared experts to the chosen experts, then renormalises and scales all weights if the problem
    requires it. `weights` are in the logits' type, neither renormalised nor scaled."""
    total = weights.sum(dim=-1, keepdim=True)
    numbers = torch.arange(problem["num_experts"], problem["num_experts"] + problem["shared"], dtype=ids.dtype)
    weights = torch.cat([weights, (total / problem["scale"]).expand(-1, problem["shared"])], dim=-1)
    ids = torch.cat([ids, numbers.to(ids.device).expand(len(ids), -1)], dim=-1)
    if problem["renormalize"]:
        weights = weights / total
    return weights.to(torch.float32) * (1.0 if problem["later"] else problem["scale"]), ids


def ask_pytorch(problem, folder, seed, device):
    generator = torch.Generator().manual_seed(seed)
    dtype = DTYPES[problem["dtype"]]
    logits = (torch.randn(problem["num_tokens"], problem["num_experts"], generator=generator) * 2).to(dtype)
    bias = None
    if problem["bias"] != "none":
        bias = (torch.randn(problem["num_experts"], generator=generator) * 0.1)
        bias = bias.to(dtype if problem["bias"] == "same" else torch.float32)
        save(folder / "bias.npy", bias)
        bias = bias.to(device)
    save(folder / "logits.npy", logits)
    shared = problem["shared"] > 0
    renormalize, scale = bool(problem["renormalize"]) and not shared, 1.0 if shared else problem["scale"]
    weights, ids = grouped_topk(logits.to(device), bias, problem["topk"], problem["num_expert_group"],
                                problem["topk_group"], problem["score"], renormalize, scale)
    if shared:
        weights, ids = with_shared_experts(problem, weights.to(dtype), ids)
    (folder / "pytorch").mkdir()
    save(folder / "pytorch" / "topk_ids.npy", ids)
    save(folder / "pytorch" / "topk_weights.npy", weights)
    return ids.cpu().numpy(), weights.cpu().numpy(), exact_choices(problem, logits, bias)


def exact_choices(problem, logits, bias):
    """Returns the values by which experts are ranked, in double precision."""
    choices = {"sigmoid": torch.sigmoid, "softmax": lambda row: torch.softmax(row, -1), "none": lambda row: row}[
        problem["score"]](logits.double())
    return (choices if bias is None else choices + bias.cpu().double()).numpy()


def run(command, may_refuse=False):
    """Returns "" if the command succeeds, REFUSED if it exits with 2 because it does not support the problem and
    `may_refuse` is true, or otherwise the reason for the failure."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2 and may_refuse:
        return REFUSED
    return "" if done.returncode == 0 else (done.stderr.strip() or f"exit {done.returncode}")


def compare(problem, ids, weights, their_ids, their_weights, choices):
    """Returns the difference between two answers as a message, or "" if they agree. Rows with the same ids must have
    the same weights. In f32, a few rows may have different ids, and experts whose choices are nearly equal may replace
    each other; in 16-bit types, any row may have different ids."""
    same = (ids == their_ids).all(axis=1)
    last_bits = 0 if problem["bias"] == "none" else 1e-7  # error of the sum, which may be close to 0
    chosen = (numpy.take_along_axis(choices, row[:, :problem["topk"]], 1) for row in (ids, their_ids))
    tied = numpy.isclose(*chosen, rtol=2e-6, atol=last_bits).all(axis=1)
    if problem["renormalize"] and problem["score"] == "none":
        return ""  # a sum of positive and negative logits can be arbitrarily small, and its quotients arbitrarily large
    close = numpy.isclose(weights, their_weights, rtol=ROUNDING[problem["dtype"]], atol=1e-6).all(axis=1)
    if not close[same].all():
        return f"weights of row {int(numpy.argmax(same & ~close))} differ"
    if problem["dtype"] == "f32" and tied.mean() < 0.98:
        return f"only {tied.mean():.1%} of the rows have PyTorch's ids"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("check_answer")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    failed = 0
    print(f"# PyTorch {torch.__version__} on {options.device}, --seed {options.seed}")
    for i in range(1, options.count + 1):
        problem = random_problem(rng, options.device)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            theirs = ask_pytorch(problem, folder, options.seed + i, options.device)
            why = run([options.check_answer, str(folder / "pytorch")] + flags(problem, folder))
            why = "PyTorch's answer was refused: " + why if why else run(
                [options.program, "--out", str(folder / "ours")] + flags(problem, folder), problem["shared"])
            if why == REFUSED:
                why = ""  # the checker accepts PyTorch's answer; this program gives none
            elif not why:
                why = compare(problem, numpy.load(folder / "ours" / "topk_ids.npy"),
                              numpy.load(folder / "ours" / "topk_weights.npy"), *theirs)
        print(f"{'not ok' if why else 'ok'} {i} - {' '.join(f'{k}={v}' for k, v in problem.items())}")
        if why:
            failed += 1
            print(f"# {why}")
    print(f"1..{options.count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
