"""Times the PyTorch function and a host program on the same problems, with one thread each. Prints the ratio of their
times.

    python3 tests/pytorch/compare_speed.py build/cpu/01_cpu_baseline
"""
import json
import os
import pathlib
import subprocess
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "chapters" / "01_cpu_baseline"))
from grouped_topk import grouped_topk


def median_us(function):
    for _ in range(10):
        function()
    times = []
    deadline = time.perf_counter() + 1.5
    while len(times) < 15 or (time.perf_counter() < deadline and len(times) < 5000):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e6 * sorted(times)[len(times) // 2]


def pytorch_us(num_tokens):
    logits, bias = torch.randn(num_tokens, 256), torch.randn(256) * 0.1
    with torch.no_grad():
        return median_us(lambda: grouped_topk(logits, bias, 8, 8, 4, "sigmoid", True, 2.5))


def program_us(program, num_tokens):
    command = [program, "--bench", "--num-tokens", str(num_tokens), "--dist", "normal", "--format", "json"]
    out = subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
    return json.loads(out)["rows"][0]["here"]["median_us"]


def main():
    torch.set_num_threads(1)
    print(f"one thread each, f32, 256 experts in 8 groups, top 8 of 4; PyTorch {torch.__version__}")
    print(f"{'tokens':>8} {'PyTorch us':>12} {'program us':>12} {'ratio':>8}")
    for num_tokens in (1, 16, 256, 2048):
        theirs, ours = pytorch_us(num_tokens), program_us(sys.argv[1], num_tokens)
        print(f"{num_tokens:8} {theirs:12.2f} {ours:12.2f} {theirs / ours:8.1f}")


if __name__ == "__main__":
    main()
