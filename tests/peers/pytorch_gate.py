"""Times the PyTorch function, eager and compiled, on the problem that the chapters are timed on.

    python3 tests/peers/pytorch_gate.py --dtype f32 --format json | python3 docs/tools/record.py

The function is timed in four modes: eager or compiled with torch.compile for each size, and launched in a stream or
replayed from a CUDA graph. A sample is 20 calls, just as a graph in the chapters' programs is 20 launches. Every output
is compared with the eager function's before and after the timing. The launches of one call are counted. A mode that
fails is reported as null in the JSON, with the reason; the other modes still run. --device cpu is for testing the
script: it times eager calls but neither replays graphs nor counts launches.
"""
import argparse
import ctypes
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import shlex
import sys
import tempfile
import time

# Disables the caches so that compile_seconds is the time of a compilation, not of loading cached code.
os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
import numpy
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "chapters" / "01_cpu_baseline" / "grouped_topk.py"
sys.path.insert(0, str(SOURCE.parent))
from grouped_topk import grouped_topk

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
WEIGHT_TOLERANCE = {"f32": 1e-5, "f16": 2.0**-9, "bf16": 2.0**-6}
SIZES = [1, 16, 64, 512, 4096, 16384, 65536]
DEFAULTS = {"device": "cuda", "num_tokens": SIZES, "replays": 50, "seconds": 2.5}
CALLS_PER_SAMPLE = 20
WARM_UP_SAMPLES = 5
WAYS = ["eager_stream", "eager_graph", "compiled_stream", "compiled_graph"]
TRACED = {"kernel": "kernels", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}


def gate(logits, bias):
    return grouped_topk(logits, bias, topk=8, num_expert_group=8, topk_group=4, score="sigmoid", renormalize=True,
                        routed_scaling_factor=2.5)


def load_problem(num_tokens, options):
    """Returns the router's logits, with rows repeated as needed, and its bias."""
    folder = ROOT / "common" / "data" / "router"
    logits = torch.from_numpy(numpy.load(folder / "layer2_logits.npy"))
    rows = torch.arange(num_tokens) % logits.shape[0]
    bias = torch.from_numpy(numpy.load(folder / "layer2_bias.npy"))
    return logits[rows].to(DTYPES[options.dtype]).to(options.device), bias.to(options.device)


def load_checked_problem(num_tokens, options):
    problem = load_problem(num_tokens, options)
    return problem, Check(*problem, options)


def synchronize(options):
    if options.device == "cuda":
        torch.cuda.synchronize()


# --- checking ---


def rows_alike(found, expected, tolerance):
    """Checks, for each row, whether the experts agree and the weights differ by no more than the tolerance."""
    found_ids, found_order = found[1].sort(dim=-1)
    expected_ids, expected_order = expected[1].sort(dim=-1)
    found_weights, expected_weights = found[0].gather(1, found_order), expected[0].gather(1, expected_order)
    near = (found_weights - expected_weights).abs() <= tolerance * expected_weights.abs()
    return ((found_ids == expected_ids) & near).all(dim=-1)


class Check:
    """Compares an answer with the eager function's. Compiled code need not round intermediate tensors to f16 or bf16,
    so rows that match the answer to the same logits in f32 are also correct. Up to one row in twenty may match neither
    of these two answers."""

    def __init__(self, logits, bias, options):
        self.tolerance = WEIGHT_TOLERANCE[options.dtype]
        self.expected = [gate(logits, bias), gate(logits.float(), bias)]

    def __call__(self, found):
        alike = [rows_alike(found, expected, self.tolerance) for expected in self.expected]
        unlike = int((~(alike[0] | alike[1])).sum())
        if unlike > len(alike[0]) // 20:
            raise RuntimeError(f"{unlike} of {len(alike[0])} rows are not what the eager function gives")


# --- timing ---


def time_sample(run, options):
    """Returns the time of one sample in microseconds; on a GPU, it is measured with CUDA events."""
    if options.device == "cpu":
        start = time.perf_counter()
        run()
        return 1e6 * (time.perf_counter() - start)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    run()
    end.record()
    end.synchronize()
    return 1e3 * begin.elapsed_time(end)


def time_samples(run, options):
    """Returns the median, p10 and p90 of a call's time, over as many samples as fit into --seconds, but at least 10 and
    at most --replays."""
    for _ in range(WARM_UP_SAMPLES):
        took = time_sample(run, options)
    count = max(min(10, options.replays), min(options.replays, int(1e6 * options.seconds / took)))
    times = sorted(time_sample(run, options) / CALLS_PER_SAMPLE for _ in range(count))
    return {"median_us": round(times[count // 2], 4), "p10_us": round(times[count // 10], 4),
            "p90_us": round(times[count - 1 - count // 10], 4)}


def time_in_stream(function, problem, check, options):
    def run():
        for _ in range(CALLS_PER_SAMPLE):
            function(*problem)

    check(function(*problem))
    timing = time_samples(run, options)
    check(function(*problem))
    return timing


def capture(function, problem):
    """Returns a graph of calls and the tensors that hold the last call's output."""
    graph = torch.cuda.CUDAGraph()
    function(*problem)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(CALLS_PER_SAMPLE):
            output = function(*problem)
    return graph, output


def time_in_graph(function, problem, check, options):
    if options.device == "cpu":
        raise RuntimeError("a CPU has no CUDA graphs")
    graph, output = capture(function, problem)

    def check_replay():
        for tensor in output:
            tensor.fill_(-1)
        graph.replay()
        check(output)

    check_replay()
    timing = time_samples(graph.replay, options)
    check_replay()
    return timing


def compile_gate(problem, options):
    """Returns the compiled function and the time of its first call in seconds."""
    if not hasattr(torch, "compile"):
        raise RuntimeError(f"PyTorch {torch.__version__} has no torch.compile")
    torch._dynamo.reset()
    compiled = torch.compile(gate, dynamic=False)
    start = time.perf_counter()
    compiled(*problem)
    synchronize(options)
    return compiled, round(time.perf_counter() - start, 2)


# --- launches ---


def trace_call(function, problem):
    """Returns the events of one call from the file that the profiler exports, because the profiler's Python lists also
    contain launches under other names."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                            torch.profiler.ProfilerActivity.CUDA]) as profile:
        function(*problem)
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        return json.loads(path.read_text())["traceEvents"]


def count_launches(function, problem, options):
    if options.device == "cpu":
        raise RuntimeError("a CPU launches nothing")
    trace_call(function, problem)  # the profiler's first trace may lack what ran during its start-up
    counts = dict.fromkeys(TRACED.values(), 0)
    for event in trace_call(function, problem):
        if event.get("cat") in TRACED:
            counts[TRACED[event["cat"]]] += 1
    if sum(counts.values()) == 0:
        raise RuntimeError("the profiler saw no launch")
    return counts


def sum_up_launches(counts):
    """Returns the smallest and the largest number of launches per call over all sizes, with the kinds of launches of
    the largest, or None if nothing was counted."""
    if not counts:
        return None
    most = max(counts, key=lambda count: sum(count.values()))
    return {"least": min(sum(count.values()) for count in counts), "most": sum(most.values()), **most}


# --- the sweep ---


def attempt(row, name, function, *arguments):
    """Stores the function's result in the row, or None and the reason if the function fails."""
    try:
        row[name] = function(*arguments)
    except Exception as error:  # any exception that PyTorch raises becomes the row's reason
        first_line = (str(error).strip() or "no reason given").splitlines()[0]
        row[name] = None
        row.setdefault("reasons", {})[name] = f"{type(error).__name__}: {first_line}"[:300]
    return row[name]


def measure_size(num_tokens, launches, options):
    row = {"num_tokens": num_tokens, "compile_seconds": None}
    functions = {"eager": gate}
    loaded = attempt(row, "problem", load_checked_problem, num_tokens, options)
    del row["problem"]
    if not loaded:
        return row | dict.fromkeys(WAYS)
    problem, check = loaded
    compiled = attempt(row, "compile_seconds", compile_gate, problem, options)
    if compiled:
        functions["compiled"], row["compile_seconds"] = compiled
    for way in ("eager", "compiled"):
        if way not in functions:
            row[f"{way}_stream"] = row[f"{way}_graph"] = None
            continue
        attempt(row, f"{way}_stream", time_in_stream, functions[way], problem, check, options)
        attempt(row, f"{way}_graph", time_in_graph, functions[way], problem, check, options)
        counts = attempt(row, f"{way}_launches", count_launches, functions[way], problem, options)
        if counts:
            launches[way].append(counts)
    return row


def measure(options):
    rows, launches = [], {"eager": [], "compiled": []}
    for num_tokens in options.num_tokens:
        rows.append(measure_size(num_tokens, launches, options))
        print(f"measured {num_tokens} tokens", file=sys.stderr)
    return rows, {way: sum_up_launches(counts) for way, counts in launches.items()}


# --- the report ---


def driver_version():
    """Returns the CUDA version that the driver supports, formatted as in the chapters' programs."""
    version = ctypes.c_int(0)
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except OSError:
        return ""
    return f"CUDA {version.value // 1000}.{version.value % 1000 // 10}"


def repeating_command(options):
    """Returns the command that repeats this measurement, without the output format, which does not affect the
    figures."""
    command = ["python3", "tests/peers/pytorch_gate.py", "--dtype", options.dtype]
    for name in ("device", "num_tokens", "replays", "seconds"):
        value = getattr(options, name)
        if value != DEFAULTS[name]:
            values = value if isinstance(value, list) else [value]
            command += [f"--{name.replace('_', '-')}", *map(str, values)]
    return shlex.join(command)


def source_hash():
    """Returns the hash of the measured function, without the lines that mark snippets."""
    return hashlib.sha256(re.sub(rb"(?m)^# \[.*\n", b"", SOURCE.read_bytes())).hexdigest()


def describe(options):
    gpu = options.device == "cuda"
    return {
        "peer": "pytorch_gate",
        "device": torch.cuda.get_device_name() if gpu else platform.machine(),
        "driver": driver_version() if gpu else "",
        "toolkit": f"CUDA {torch.version.cuda}" if gpu else "",
        "torch": torch.__version__,
        "command": repeating_command(options),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "kernel_source_sha256": source_hash(),
        "distribution": "router",
        "cache": "warm",
        "problem": {"num_experts": 256, "num_expert_group": 8, "topk_group": 4, "topk": 8, "dtype": options.dtype,
                    "score": "sigmoid", "bias": "f32"},
        "calls_per_sample": CALLS_PER_SAMPLE,
    }


def print_table(report):
    print(f"PyTorch {report['torch']} on {report['device']}, {report['problem']['dtype']}: microseconds a call, median")
    print(f"{'tokens':>8}" + "".join(f"{way.replace('_', ' '):>17}" for way in WAYS) + f"{'compiling, s':>14}")
    for row in report["rows"]:
        times = "".join(f"{row[way]['median_us']:17.2f}" if row[way] else f"{'-':>17}" for way in WAYS)
        seconds = row["compile_seconds"]
        print(f"{row['num_tokens']:8}{times}{'-' if seconds is None else seconds:>14}")
    for way, launches in report["launches"].items():
        print(f"launches of a call, {way}: " + ("not counted" if launches is None else json.dumps(launches)))
    reasons = {reason: name for row in report["rows"] for name, reason in row.get("reasons", {}).items()}
    for reason, name in reasons.items():
        print(f"no {name}: {reason}")


# --- the command line ---


def positive(convert):
    def parse(text):
        value = convert(text)
        if not 0 < value <= 1 << 20:
            raise ValueError
        return value

    parse.__name__ = "number above 0, up to 2^20,"  # argparse puts this name into its message
    return parse


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    parser.add_argument("--device", choices=("cuda", "cpu"))
    parser.add_argument("--num-tokens", type=positive(int), nargs="+")
    parser.add_argument("--replays", type=positive(int))
    parser.add_argument("--seconds", type=positive(float), help="the most for the samples of one figure")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.set_defaults(**DEFAULTS)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch sees no GPU; --device cpu tries the script out")
    return options


def main():
    options = parse_options()
    with torch.no_grad():
        if options.device == "cuda":
            with torch.cuda.stream(torch.cuda.Stream()):
                rows, launches = measure(options)
        else:
            rows, launches = measure(options)
    report = {**describe(options), "launches": launches, "rows": rows}
    print(json.dumps(report, indent=1)) if options.format == "json" else print_table(report)


if __name__ == "__main__":
    main()
