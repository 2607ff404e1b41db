# run in all:
# needs: numpy, torch
"""Tests pytorch_gate.py on a CPU: its measurements, its reports, the inputs that it rejects, and its rows when a way
of calling the function fails. Prints TAP."""
import argparse
import io
import json
import pathlib
import subprocess
import sys
import types
from contextlib import redirect_stderr, redirect_stdout

import torch

import pytorch_gate

SCRIPT = pathlib.Path(pytorch_gate.__file__)
OPTIONS = argparse.Namespace(device="cpu", dtype="f32", num_tokens=[3], replays=2, seconds=0.01)


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def with_compile(function):
    """Returns the row measured with torch.compile replaced by this function."""
    kept = {name: getattr(torch, name) for name in ("compile", "_dynamo") if hasattr(torch, name)}
    torch.compile, torch._dynamo = function, types.SimpleNamespace(reset=lambda: None)
    try:
        with redirect_stderr(io.StringIO()):
            return pytorch_gate.measure(OPTIONS)[0][0]
    finally:
        for name in ("compile", "_dynamo"):
            setattr(torch, name, kept[name]) if name in kept else delattr(torch, name)


def refused(found, check):
    try:
        check(found)
    except RuntimeError:
        return True
    return False


FEW = ("--device", "cpu", "--num-tokens", "1", "3000", "--replays", "2", "--seconds", "0.01")


def reports_as_json():
    done = run(*FEW, "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [row["num_tokens"] for row in report["rows"]] == [1, 3000]
    assert len(report["kernel_source_sha256"]) == 64
    assert report["command"] == ("python3 tests/peers/pytorch_gate.py --dtype f32 --device cpu --num-tokens 1 3000 "
                                 "--replays 2 --seconds 0.01")
    for row in report["rows"]:
        timing = row["eager_stream"]
        assert 0 < timing["p10_us"] <= timing["median_us"] <= timing["p90_us"]
        assert row["eager_graph"] is None and "graphs" in row["reasons"]["eager_graph"]
    assert report["launches"]["eager"] is None and report["problem"]["dtype"] == "f32"


def reports_as_a_table():
    done = run(*FEW)
    assert done.returncode == 0, done.stderr
    assert "no eager_graph: " in done.stdout and done.stdout.splitlines()[2].split()[0] == "1"


def refuses_bad_arguments():
    for arguments in (["--dtype", "f64"], ["--num-tokens", "0"], ["--num-tokens", "x"], ["--replays", "0"],
                      ["--format", "xml"]):
        done = run("--device", "cpu", *arguments)
        assert done.returncode == 2 and "error: " in done.stderr and "Traceback" not in done.stderr, arguments


def needs_a_gpu_or_says_so():
    if not torch.cuda.is_available():
        done = run()
        assert done.returncode == 2 and done.stderr.endswith("PyTorch sees no GPU; --device cpu tries the script out\n")


def repeats_the_routers_rows():
    logits, bias = pytorch_gate.load_problem(2050, OPTIONS)
    assert logits.shape == (2050, 256) and bias.shape == (256,) and torch.equal(logits[:2], logits[2048:])
    half = argparse.Namespace(**{**vars(OPTIONS), "dtype": "bf16"})
    logits, bias = pytorch_gate.load_problem(2, half)
    assert logits.dtype == torch.bfloat16 and bias.dtype == torch.float32


def checks_outputs():
    logits, bias = pytorch_gate.load_problem(40, OPTIONS)
    check = pytorch_gate.Check(logits, bias, OPTIONS)
    weights, ids = pytorch_gate.gate(logits, bias)
    assert not refused((weights, ids), check)
    assert not refused((weights.flip(1), ids.flip(1)), check), "order is free"
    assert refused((weights, ids.flip(1)), check), "weights of other experts"
    assert refused((weights * 1.001, ids), check) and refused((weights * float("nan"), ids), check)
    assert refused((weights.fill_(-1), ids.fill_(-1)), check), "poison"


def checks_what_is_not_rounded():
    half = argparse.Namespace(**{**vars(OPTIONS), "dtype": "bf16"})
    logits, bias = pytorch_gate.load_problem(2048, half)
    unlike = (pytorch_gate.gate(logits.float(), bias)[1] != pytorch_gate.gate(logits, bias)[1]).any(dim=-1)
    assert unlike.any(), "this test would test nothing"
    check = pytorch_gate.Check(logits[unlike], bias, half)
    assert not refused(pytorch_gate.gate(logits[unlike], bias), check)
    assert not refused(pytorch_gate.gate(logits[unlike].float(), bias), check)


def lets_one_row_in_twenty_differ():
    logits, bias = pytorch_gate.load_problem(40, OPTIONS)
    check = pytorch_gate.Check(logits, bias, OPTIONS)
    weights, ids = pytorch_gate.gate(logits, bias)
    ids[:2, 0] = -1
    assert not refused((weights, ids), check)
    ids[2, 0] = -1
    assert refused((weights, ids), check)


def sums_up_times():
    kept, times = pytorch_gate.time_sample, iter([20e6] * 5 + [20.0 * i for i in range(50, 0, -1)])
    pytorch_gate.time_sample = lambda run, options: next(times)
    try:
        short = argparse.Namespace(**{**vars(OPTIONS), "replays": 50, "seconds": 1000.0})
        timing = pytorch_gate.time_samples(None, short)
    finally:
        pytorch_gate.time_sample = kept
    assert timing == {"median_us": 26.0, "p10_us": 6.0, "p90_us": 45.0}, timing


def takes_fewer_samples_of_long_ones():
    kept, taken = pytorch_gate.time_sample, []
    pytorch_gate.time_sample = lambda run, options: taken.append(1) or 1e5
    try:
        for seconds, count in ((100.0, 50), (3.0, 30), (0.1, 10)):
            taken.clear()
            pytorch_gate.time_samples(None, argparse.Namespace(**{**vars(OPTIONS), "replays": 50, "seconds": seconds}))
            assert len(taken) == pytorch_gate.WARM_UP_SAMPLES + count, (seconds, len(taken))
    finally:
        pytorch_gate.time_sample = kept


def times_what_is_compiled():
    row = with_compile(lambda function, dynamic: function)
    assert row["compiled_stream"]["median_us"] > 0 and row["compile_seconds"] >= 0
    assert row["compiled_graph"] is None and "graphs" in row["reasons"]["compiled_graph"]


def goes_on_when_compiling_fails():
    def fails(function, dynamic):
        raise ValueError("first\nsecond")

    row = with_compile(fails)
    assert row["eager_stream"] and row["compiled_stream"] is None and row["compile_seconds"] is None
    assert row["reasons"]["compile_seconds"] == "ValueError: first"


def goes_on_when_compiled_code_is_wrong():
    row = with_compile(lambda function, dynamic: lambda *problem: [part + 1 for part in function(*problem)])
    assert row["eager_stream"] and row["compiled_stream"] is None
    assert row["reasons"]["compiled_stream"] == "RuntimeError: 3 of 3 rows are not what the eager function gives"


def goes_on_when_the_eager_function_fails():
    kept = pytorch_gate.gate
    pytorch_gate.gate = lambda logits, bias: 1 / 0
    try:
        with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
            rows, launches = pytorch_gate.measure(OPTIONS)
            pytorch_gate.print_table({"torch": "", "rows": rows, "launches": launches, "problem": {"dtype": ""},
                                      "device": ""})
    finally:
        pytorch_gate.gate = kept
    assert rows[0]["eager_stream"] is None and "ZeroDivisionError" in rows[0]["reasons"]["problem"]


def counts_launches():
    few, many = {"kernels": 3, "memcpy": 0, "memset": 1}, {"kernels": 5, "memcpy": 1, "memset": 0}
    assert pytorch_gate.sum_up_launches([many, few]) == {"least": 4, "most": 6, **many}
    assert pytorch_gate.sum_up_launches([]) is None
    kept = pytorch_gate.trace_call
    pytorch_gate.trace_call = lambda function, problem: [
        {"cat": "kernel"}, {"cat": "gpu_memset"}, {"cat": "cuda_runtime"}, {"cat": "gpu_user_annotation"}, {}]
    try:
        counts = pytorch_gate.count_launches(None, None, argparse.Namespace(device="cuda"))
    finally:
        pytorch_gate.trace_call = kept
    assert counts == {"kernels": 1, "memcpy": 0, "memset": 1}


TESTS = [reports_as_json, reports_as_a_table, refuses_bad_arguments, needs_a_gpu_or_says_so, repeats_the_routers_rows,
         checks_outputs,
         checks_what_is_not_rounded, lets_one_row_in_twenty_differ, sums_up_times, takes_fewer_samples_of_long_ones,
         times_what_is_compiled, goes_on_when_compiling_fails, goes_on_when_compiled_code_is_wrong,
         goes_on_when_the_eager_function_fails, counts_launches]


def main():
    failed = 0
    print(f"1..{len(TESTS)}")
    for number, test in enumerate(TESTS, 1):
        try:
            test()
            print(f"ok {number} - {test.__name__.replace('_', ' ')}")
        except Exception as error:
            failed += 1
            print(f"not ok {number} - {test.__name__.replace('_', ' ')}")
            print(f"# {type(error).__name__} in line {error.__traceback__.tb_next.tb_lineno}: {error}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
