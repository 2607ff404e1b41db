# run: $b/cpu/11[ab]_*
# needs: numpy
"""Compares the programs' outputs of random layers with NumPy's. Prints TAP.

    python3 tests/numpy/test_moe.py PROGRAM... [--count N] [--seed S]

NumPy computes in f64. An f32 output may differ from NumPy's by a hundred-thousandth of the largest output, a bf16
output by a fiftieth; wrong computations differ by more.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy

ALLOWED = {"f32": 1e-5, "bf16": 0.02}


def random_layer(rng):
    tokens, hidden, intermediate = (int(rng.integers(1, most)) for most in (40, 100, 70))
    experts, topk = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    layer = {"hidden": rng.standard_normal((tokens, hidden)),
             "w13": rng.standard_normal((experts, 2 * intermediate, hidden)) / hidden ** 0.5,
             "w2": rng.standard_normal((experts, hidden, intermediate)) / intermediate ** 0.5,
             "topk_weights": rng.uniform(-0.5, 1.0, (tokens, topk))}
    layer = {name: array.astype(numpy.float32) for name, array in layer.items()}
    layer["topk_ids"] = rng.integers(0, experts, (tokens, topk)).astype(rng.choice([numpy.int32, numpy.int64]))
    layer["expert_map"] = random_map(rng, experts)
    return layer


def random_map(rng, experts):
    num_local = int(rng.integers(0, experts + 1))
    expert_map = numpy.full(experts, -1, numpy.int32)
    expert_map[rng.choice(experts, num_local, replace=False)] = rng.permutation(num_local)
    return expert_map


def round_to(array, dtype):
    """Rounds an array to bf16 (to nearest, ties to even) or just converts it to f32."""
    if dtype == "f32":
        return array.astype(numpy.float32)
    bits = array.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)


def ask_numpy(layer, dtype):
    hidden, w13, w2 = (round_to(layer[name], dtype).astype(float) for name in ("hidden", "w13", "w2"))
    output = numpy.zeros(hidden.shape)
    for token, (ids, weights) in enumerate(zip(layer["topk_ids"], layer["topk_weights"])):
        for expert, weight in zip(ids, weights):
            if layer["expert_map"][expert] < 0:
                continue
            gate, up = numpy.split(w13[expert] @ hidden[token], 2)
            output[token] += weight * (w2[expert] @ (gate / (1 + numpy.exp(-gate)) * up))
    return output


def ask_program(program, layer, dtype, folder):
    for name, array in layer.items():
        numpy.save(folder / f"{name}.npy", array)
    command = [program, "--dtype", dtype, "--out", str(folder)]
    for name in layer:
        command += [f"--{name.replace('_', '-')}", str(folder / f"{name}.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip()}", None
    return "", numpy.load(folder / "output.npy")


def compare(program, layer, dtype, folder):
    """Returns the difference between the program's and NumPy's outputs as a message, or "" if they agree."""
    reason, got = ask_program(program, layer, dtype, folder)
    if reason:
        return reason
    expected = ask_numpy(layer, dtype)
    if got.dtype != numpy.float32 or got.shape != expected.shape:
        return f"output.npy is {got.dtype} {got.shape}"
    off, most = numpy.abs(got - expected).max(), ALLOWED[dtype] * max(1.0, numpy.abs(expected).max())
    return "" if off <= most else f"off by {off:.3g}; {most:.3g} is allowed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, number, failed = numpy.random.default_rng(options.seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.count):
            layer = random_layer(rng)
            for program in options.programs:
                for dtype in ALLOWED:
                    number += 1
                    reason = compare(program, layer, dtype, pathlib.Path(folder))
                    shape = f"{layer['hidden'].shape}, {layer['w13'].shape}, top {layer['topk_ids'].shape[1]}"
                    print(f"{'not ' if reason else ''}ok {number} - {pathlib.Path(program).name}, {dtype}: {shape}")
                    print(f"# {reason}" if reason else "", end="\n" if reason else "")
                    failed += reason != ""
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
