"""Times PyTorch's and Triton's implementations of the layer in DeepSeek-V3's shape, on the problem of chapters 11a to
11d.

    python3 tests/peers/moe_peers.py --dist router --format json | python3 docs/tools/record.py

PyTorch's loop over the experts runs in a stream; PyTorch's grouped product and a Triton kernel run in CUDA graphs: see
moe_layers.py. For each size, the fastest of Triton's configurations is reported. Tokens and weights are random; experts
are the router's choices or generated as --dist says. All outputs are compared with each other, and a few of their rows
with rows computed in f32. A graph has 20 calls, or one call if a call takes more than 5 ms, and is replayed for
--seconds, like the chapters' graphs. An implementation that fails is null in the JSON, with the reason. --device cpu
and small sizes are for testing the script: calls are timed, but without graphs and without Triton.
"""
import argparse
import datetime
import functools
import hashlib
import json
import pathlib
import platform
import shlex
import sys

import torch

import moe_layers
import pytorch_gate

SIZES = [1, 16, 64, 4096, 16384]
DEFAULTS = {"device": "cuda", "dist": "router", "num_tokens": SIZES, "hidden_size": 7168, "intermediate_size": 2048,
            "replays": 50, "seconds": 1.0}
NUM_EXPERTS, TOPK, SEED = 256, 8, 1
SLOW_US = 5000
WAYS = ("loop_stream", "grouped_graph", "triton_graph")
# Rounding to bf16 changes a value by at most 2^-8 of its magnitude. The values between the products, each expert's
# output and the running sum of the eight outputs are rounded.
TOLERANCE = 2.0**-6
SWIGLU_MEAN_SQUARE = 0.36


# --- the problem ---


def choose(num_tokens, options):
    """Returns topk_ids and topk_weights [n, topk]."""
    generator = torch.Generator().manual_seed(SEED)
    if options.dist == "router":
        problem = argparse.Namespace(dtype="f32", device="cpu")
        weights, ids = pytorch_gate.gate(*pytorch_gate.load_problem(num_tokens, problem))
        return ids, weights
    if options.dist == "balanced":  # cycles through the experts in one random order
        experts = torch.randperm(NUM_EXPERTS, generator=generator)
        ids = experts[torch.arange(num_tokens * TOPK) % NUM_EXPERTS].view(num_tokens, TOPK)
        ids = ids[torch.randperm(num_tokens, generator=generator)]
    else:
        ids = torch.rand(num_tokens, NUM_EXPERTS, generator=generator).topk(TOPK, dim=-1)[1]
    weights = 0.25 + torch.rand(num_tokens, TOPK, generator=generator)
    return ids.to(torch.int32), weights / weights.sum(dim=-1, keepdim=True)


def random_array(shape, variance, options):
    """Returns uniform random numbers with this variance; arrays such as w13 and w2 are filled one expert at a time."""
    array = torch.empty(shape, dtype=torch.bfloat16, device=options.device)
    bound = (3 * variance) ** 0.5
    for part in array if len(shape) == 3 else [array]:
        part.uniform_(-bound, bound)
    return array


def make_weights(options):
    """Returns w13 and w2, scaled so that a layer's output is about as large as its input."""
    hidden_size, intermediate_size = options.hidden_size, options.intermediate_size
    return (random_array((NUM_EXPERTS, 2 * intermediate_size, hidden_size), 1 / hidden_size, options),
            random_array((NUM_EXPERTS, hidden_size, intermediate_size), 1 / (SWIGLU_MEAN_SQUARE * intermediate_size),
                         options))


def make_layer(num_tokens, weights, options):
    ids, topk_weights = choose(num_tokens, options)
    hidden = random_array((num_tokens, options.hidden_size), 1.0, options)
    return moe_layers.Layer(hidden, *weights, ids.to(options.device), topk_weights.to(options.device))


def work(layer):
    """Returns the operations that any implementation must perform and the bytes that it must move: the weights of the
    experts that have tokens, the tokens and the outputs."""
    expert = layer.w13[0].numel() + layer.w2[0].numel()
    used = int((layer.counts > 0).sum())
    return {"operations": 2 * layer.order.numel() * expert, "bytes": 2 * (used * expert + 2 * layer.hidden.numel())}


# --- checking ---


def distance(found, expected):
    """Returns the largest norm of the difference between two rows, relative to the norm of the expected row."""
    found, expected = found.float(), expected.float()
    return float(((found - expected).norm(dim=-1) / expected.norm(dim=-1)).max())


def expected_row(layer, token):
    """Returns a token's output in f32, without intermediate rounding."""
    row = torch.zeros(layer.hidden.shape[1], device=layer.hidden.device)
    for expert, weight in zip(layer.topk_ids[token].tolist(), layer.topk_weights[token]):
        gate, up = (layer.w13[expert].float() @ layer.hidden[token].float()).chunk(2)
        row += weight * (layer.w2[expert].float() @ (torch.nn.functional.silu(gate) * up))
    return row


class Check:
    """Checks an output: a few rows against rows computed in f32, all rows against the first output that passed."""

    def __init__(self, layer):
        self.tokens = sorted({0, len(layer.hidden) // 2, len(layer.hidden) - 1})
        self.rows = torch.stack([expected_row(layer, token) for token in self.tokens])
        self.first = None

    def __call__(self, found):
        far = distance(found[self.tokens], self.rows)
        if not far <= TOLERANCE:
            raise RuntimeError(f"a row is off by {far:.3g} of its length; {TOLERANCE:.3g} is allowed")
        if self.first is None:
            self.first = found.clone()
        far = distance(found, self.first)
        if not far <= 2 * TOLERANCE:
            raise RuntimeError(f"two ways differ by {far:.3g} of a row's length; {2 * TOLERANCE:.3g} is allowed")


# --- timing ---


def time_samples(run, calls, options):
    """Returns the median, p10 and p90 of a call's time, over as many samples as fit into --seconds, but at least 3 and
    at most --replays."""
    pytorch_gate.time_sample(run, options)
    took = pytorch_gate.time_sample(run, options)
    count = max(3, min(options.replays, int(1e6 * options.seconds / took)))
    times = sorted(pytorch_gate.time_sample(run, options) / calls for _ in range(count))
    return {"median_us": round(times[count // 2], 4), "p10_us": round(times[count // 10], 4),
            "p90_us": round(times[count - 1 - count // 10], 4)}


def time_in_stream(function, layer, check, options):
    check(function(layer))
    timing = time_samples(lambda: function(layer), 1, options)
    check(function(layer))
    return timing


def time_in_graph(function, layer, check, options):
    if options.device == "cpu":
        check(function(layer))
        raise RuntimeError("a CPU has no CUDA graphs")
    check(function(layer))
    calls = 1 if pytorch_gate.time_sample(lambda: function(layer), options) > SLOW_US else 20
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            output = function(layer)
    timing = time_samples(graph.replay, calls, options)
    output.fill_(float("nan"))
    graph.replay()
    check(output)
    return timing


def time_triton(row, layer, check, options):
    """Returns the time of the fastest configuration and stores this configuration in the row."""
    best, reason = None, None
    for configuration in moe_layers.configurations(layer):
        function = functools.partial(moe_layers.triton_layer, configuration=configuration)
        try:
            timing = time_in_graph(function, layer, check, options)
        except Exception as error:  # for example, too little shared memory
            reason = error
            continue
        if best is None or timing["median_us"] < best["median_us"]:
            best, row["triton_configuration"] = timing, list(configuration)
    if best is None:
        raise reason
    return best


def measure_size(num_tokens, weights, options):
    layer = make_layer(num_tokens, weights, options)
    row = {"num_tokens": num_tokens, **work(layer)}
    check = Check(layer)
    pytorch_gate.attempt(row, "loop_stream", time_in_stream, moe_layers.loop, layer, check, options)
    pytorch_gate.attempt(row, "grouped_graph", time_in_graph, moe_layers.grouped, layer, check, options)
    pytorch_gate.attempt(row, "triton_graph", time_triton, row, layer, check, options)
    if options.device == "cuda":
        torch.cuda.empty_cache()
    print(f"measured {num_tokens} tokens", file=sys.stderr)
    return row


# --- the report ---


def repeating_command(options):
    command = ["python3", "tests/peers/moe_peers.py", "--dist", options.dist]
    for name, default in DEFAULTS.items():
        value = getattr(options, name)
        if value != default and name != "dist":
            command += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, list) else [value])]
    return shlex.join(command)


def describe(options):
    gpu = options.device == "cuda"
    return {
        "peer": "moe_peers",
        "device": torch.cuda.get_device_name() if gpu else platform.machine(),
        "driver": pytorch_gate.driver_version() if gpu else "",
        "toolkit": f"CUDA {torch.version.cuda}" if gpu else "",
        "torch": torch.__version__,
        "triton": moe_layers.triton.__version__ if moe_layers.triton else "",
        "command": repeating_command(options),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "kernel_source_sha256": hashlib.sha256(pathlib.Path(moe_layers.__file__).read_bytes()).hexdigest(),
        "distribution": options.dist,
        "seed": SEED,
        "cache": "warm",
        "problem": {"hidden_size": options.hidden_size, "intermediate_size": options.intermediate_size,
                    "num_experts": NUM_EXPERTS, "topk": TOPK, "dtype": "bf16"},
    }


def print_table(report):
    print(f"PyTorch {report['torch']} on {report['device']}, bf16, experts: {report['distribution']}: microseconds, median")
    print(f"{'tokens':>8}" + "".join(f"{way.replace('_', ' '):>17}" for way in WAYS))
    for row in report["rows"]:
        times = "".join(f"{row[way]['median_us']:17.2f}" if row[way] else f"{'-':>17}" for way in WAYS)
        print(f"{row['num_tokens']:8}{times}  {row.get('triton_configuration', '')}")
    for reason, way in {reason: way for row in report["rows"]
                        for way, reason in row.get("reasons", {}).items()}.items():
        print(f"no {way}: {reason}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"))
    parser.add_argument("--dist", choices=("router", "balanced", "uniform"))
    parser.add_argument("--num-tokens", type=pytorch_gate.positive(int), nargs="+")
    parser.add_argument("--hidden-size", type=pytorch_gate.positive(int))
    parser.add_argument("--intermediate-size", type=pytorch_gate.positive(int))
    parser.add_argument("--replays", type=pytorch_gate.positive(int))
    parser.add_argument("--seconds", type=pytorch_gate.positive(float), help="the most for the samples of one figure")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.set_defaults(**DEFAULTS)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch sees no GPU; --device cpu and small sizes try the script out")
    return options


def main():
    options = parse_options()
    torch.manual_seed(SEED)
    with torch.no_grad():
        weights = make_weights(options)
        rows = [measure_size(num_tokens, weights, options) for num_tokens in options.num_tokens]
    report = {**describe(options), "rows": rows}
    print(json.dumps(report, indent=1)) if options.format == "json" else print_table(report)


if __name__ == "__main__":
    main()
