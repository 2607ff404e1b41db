"""Checks chapter 18's operators on this machine's GPU with each binding, and measures the host's time for a call.

    python3 chapters/18_into_a_model/check.py [--binding ctypes|stable] [--device cuda|cpu] [--out FILE.json]

Prints one line per check: its name, then "ok", the error, or the reason for skipping it. Exits 1 if a check failed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "01_cpu_baseline")]

ROUTER = (8, 4, 8, True, 2.5)  # DeepSeek-V3's groups, kept groups, chosen experts, renormalize and scale
BLOCK_SIZE = 64


class LeftOut(Exception):
    """Raised with the reason why a check does not apply."""


def need(condition, reason):
    if not condition:
        raise LeftOut(reason)


# --- inputs and references --------------------------------------------------------------------------------------------

class Inputs:
    """A router's logits and a small layer on a device, generated from a seed."""

    def __init__(self, device, tokens, seed=1, hidden=256, size=128, experts=256):
        generator = torch.Generator().manual_seed(seed)

        def normal(*shape):
            return torch.randn(*shape, generator=generator)

        self.logits = normal(tokens, experts).to(device)
        self.bias = (normal(experts) * 0.1).to(device)
        self.hidden = normal(tokens, hidden).to(torch.bfloat16).to(device)
        self.w13 = (normal(experts, 2 * size, hidden) * hidden ** -0.5).to(torch.bfloat16).to(device)
        self.w2 = (normal(experts, hidden, size) * size ** -0.5).to(torch.bfloat16).to(device)

    def fill(self, other):
        """Overwrites these tokens with those of other inputs, in place."""
        self.logits.copy_(other.logits)
        self.hidden.copy_(other.hidden)


def chain(inputs):
    """Routes the tokens and computes their experts. Returns all results."""
    operators = torch.ops.moe_routing
    weights, ids, rows, owners, total = operators.route(inputs.logits, inputs.bias, *ROUTER, BLOCK_SIZE)
    output = operators.layer(inputs.hidden, inputs.w13, inputs.w2, ids, weights)
    return weights, ids, rows, owners, total, output


def expected_layer(inputs, ids, weights):
    """Computes the layer in f32, expert by expert, as the reference."""
    output = torch.zeros_like(inputs.hidden, dtype=torch.float32)
    for expert in ids.unique().tolist():
        token, choice = (ids == expert).nonzero(as_tuple=True)
        gate, up = (inputs.hidden[token].float() @ inputs.w13[expert].float().t()).chunk(2, dim=-1)
        product = (torch.nn.functional.silu(gate) * up) @ inputs.w2[expert].float().t()
        output.index_add_(0, token, product * weights[token, choice, None])
    return output


def same(results, expected, what):
    for number, (one, other) in enumerate(zip(results, expected)):
        if not torch.equal(one, other):
            raise AssertionError(f"{what}: result {number} differs")


# --- checks -----------------------------------------------------------------------------------------------------------

def check_results(device):
    from grouped_topk import grouped_topk
    for tokens in (1, 64, 300):
        inputs = Inputs(device, tokens)
        weights, ids, rows, owners, total, output = chain(inputs)
        their_weights, their_ids = grouped_topk(inputs.logits, inputs.bias, 8, 8, 4, "sigmoid", True, 2.5)
        equal = (ids == their_ids).all(dim=1)
        assert equal.float().mean() > 0.98, f"{tokens} tokens: ids of {(~equal).sum()} tokens differ from PyTorch's"
        torch.testing.assert_close(weights[equal], their_weights[equal], rtol=2e-6, atol=1e-6)
        apart = torch.ops.moe_routing.align(ids, 256, BLOCK_SIZE)
        same((rows, owners, total), apart, f"{tokens} tokens: route and align")
        listed = rows[rows < ids.numel()].long()
        assert torch.equal(listed.sort().values, torch.arange(ids.numel(), device=device)), "align lost a position"
        assert (ids.flatten()[listed].diff() >= 0).all(), "align's groups do not ascend"
        torch.testing.assert_close(output.float(), expected_layer(inputs, ids, weights), rtol=3e-2, atol=3e-2)


def check_opcheck(device):
    need(hasattr(torch.library, "opcheck"), f"PyTorch {torch.__version__} has no torch.library.opcheck")
    inputs, operators = Inputs(device, 16), torch.ops.moe_routing
    weights, ids = operators.gate(inputs.logits, inputs.bias, *ROUTER)
    for operator, arguments in ((operators.gate, (inputs.logits, inputs.bias, *ROUTER)),
                                (operators.gate, (inputs.logits, None, *ROUTER)),
                                (operators.align, (ids, 256, BLOCK_SIZE)),
                                (operators.route, (inputs.logits, inputs.bias, *ROUTER, BLOCK_SIZE)),
                                (operators.layer, (inputs.hidden, inputs.w13, inputs.w2, ids, weights))):
        torch.library.opcheck(operator.default, arguments)


def check_compile(device):
    need(hasattr(torch, "compile"), f"PyTorch {torch.__version__} has no torch.compile")

    def model(logits, bias, hidden, w13, w2):
        weights, ids = torch.ops.moe_routing.gate(logits * 1.0, bias, *ROUTER)
        return torch.ops.moe_routing.layer(hidden, w13, w2, ids, weights) + hidden

    compiled = torch.compile(model, fullgraph=True)
    for tokens in (16, 17, 40):  # the second size makes the shape dynamic
        inputs = Inputs(device, tokens)
        arguments = (inputs.logits, inputs.bias, inputs.hidden, inputs.w13, inputs.w2)
        torch.testing.assert_close(compiled(*arguments), model(*arguments), rtol=2e-2, atol=2e-2)


def captured(inputs, stream=None):
    """Captures the chain as a CUDA graph. Returns the graph and its results."""
    chain(inputs)  # the workspaces are allocated outside the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        results = chain(inputs)
    return graph, results


def check_graph(device):
    need(device == "cuda", "needs a GPU")
    for tokens in (1, 64, 600):
        inputs = Inputs(device, tokens)
        graph, results = captured(inputs)
        for seed in (2, 3):
            inputs.fill(Inputs(device, tokens, seed))
            graph.replay()
            torch.cuda.synchronize()
            same(results, chain(inputs), f"{tokens} tokens, seed {seed}")


def check_streams(device):
    """Checks two streams that run at the same time, then two graphs captured on one stream and replayed on two."""
    need(device == "cuda", "needs a GPU")
    inputs = [Inputs(device, 64, 4), Inputs(device, 64, 5)]
    expected = [[result.clone() for result in chain(one)] for one in inputs]
    torch.cuda.synchronize()
    streams, results = [torch.cuda.Stream(), torch.cuda.Stream()], [None, None]
    for _ in range(200):
        for i, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                results[i] = chain(inputs[i])
    torch.cuda.synchronize()
    for i in (0, 1):
        same(results[i], expected[i], f"stream {i}")
    capture_stream = torch.cuda.Stream()
    graphs = [captured(one, capture_stream) for one in inputs]
    for _ in range(200):
        for i, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                graphs[i][0].replay()
    torch.cuda.synchronize()
    for i in (0, 1):
        same(graphs[i][1], expected[i], f"graph {i}")


def check_other_device(device):
    need(device == "cuda" and torch.cuda.device_count() > 1, "needs two GPUs")
    inputs = Inputs("cuda:1", 16)
    results = [result.cpu() for result in chain(inputs)]  # here the current device is 0
    same(results, [result.cpu() for result in chain(Inputs("cuda:0", 16))], "the second GPU")


def check_errors(device):
    inputs, operators = Inputs(device, 4), torch.ops.moe_routing
    rest = (inputs.w13, inputs.w2, torch.zeros(4, 8, dtype=torch.int32, device=device), torch.ones(4, 8, device=device))
    wrong = ((operators.gate, (inputs.logits.double(), None, *ROUTER), "gating_output"),
             (operators.gate, (inputs.logits.t(), None, *ROUTER), "gating_output"),
             (operators.gate, (inputs.logits, inputs.bias[:9], *ROUTER), "correction_bias"),
             (operators.gate, (inputs.logits, None, 7, *ROUTER[1:]), "num_expert_group"),
             (operators.align, (inputs.logits, 256, 64), "topk_ids"),
             (operators.align, (rest[2], 256, 0), "block_size"),
             (operators.layer, (inputs.hidden.float(), *rest), "hidden"),
             (operators.layer, (inputs.hidden, inputs.w2, *rest[1:]), "w13"))
    for operator, arguments, name in wrong:
        try:
            operator(*arguments)
        except (TypeError, ValueError) as error:
            assert name in str(error), f"{name}: the message is {str(error).splitlines()[0]!r}"
        except RuntimeError as error:
            raise AssertionError(f"{name}: a RuntimeError, {str(error).splitlines()[0]!r}") from error
        else:
            raise AssertionError(f"{name}: accepted")


CHECKS = (check_results, check_opcheck, check_compile, check_graph, check_streams, check_other_device, check_errors)


# --- time -------------------------------------------------------------------------------------------------------------

def host_us(call, device, calls=100, rounds=30):
    """Returns the median time that the host spends in a call. Synchronises often enough that the queue never fills."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
        if device == "cuda":
            torch.cuda.synchronize()
    return statistics.median(times)


def measure(device):
    """Returns the host's microseconds per call of each operator, and of two PyTorch calls for comparison."""
    inputs, operators = Inputs(device, 1), torch.ops.moe_routing
    weights, ids = operators.gate(inputs.logits, inputs.bias, *ROUTER)
    calls = {
        "torch.empty": lambda: torch.empty(8, device=device),
        "torch.add": lambda: torch.add(inputs.bias, inputs.bias),
        "gate": lambda: operators.gate.default(inputs.logits, inputs.bias, *ROUTER),
        "align": lambda: operators.align.default(ids, 256, BLOCK_SIZE),
        "route": lambda: operators.route.default(inputs.logits, inputs.bias, *ROUTER, BLOCK_SIZE),
        "layer": lambda: operators.layer.default(inputs.hidden, inputs.w13, inputs.w2, ids, weights),
    }
    rounds = {"calls": 1, "rounds": 3} if device == "cpu" else {}
    return {name: host_us(call, device, **rounds) for name, call in calls.items()}


def run_checks(binding, device):
    os.environ["MOE_ROUTING_BINDING"] = binding
    record = {"binding": binding, "device": device, "torch": torch.__version__, "checks": {}}
    try:
        import moe_routing  # noqa: F401
    except Exception as error:  # of any kind, because the other binding must still be checked
        record["checks"]["import"] = f"failed: {type(error).__name__}: {str(error).splitlines()[0]}"
        print(f"{binding:8} {'import':14} {record['checks']['import']}", flush=True)
        return record
    for check in CHECKS:
        try:
            check(device)
            result = "ok"
        except LeftOut as reason:
            result = f"left out: {reason}"
        except Exception as error:
            result = f"failed: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        name = check.__name__[len("check_"):]
        record["checks"][name] = result
        print(f"{binding:8} {name:14} {result}", flush=True)
    try:
        record["host_us"] = measure(device)
        print(f"{binding:8} {'host us':14} " + ", ".join(f"{name} {us:.2f}" for name, us in record["host_us"].items()),
              flush=True)
    except Exception as error:
        record["checks"]["host us"] = f"failed: {type(error).__name__}: {str(error).splitlines()[0]}"
        print(f"{binding:8} {'host us':14} {record['checks']['host us']}", flush=True)
    return record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binding", choices=("ctypes", "stable"))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("check.py: PyTorch sees no GPU; --device cpu checks the operators on the simulator", file=sys.stderr)
        return 3
    if options.binding:
        records = [run_checks(options.binding, options.device)]
    else:  # one process per binding, because operators are registered once per process
        records = []
        for binding in ("ctypes", "stable") if options.device == "cuda" else ("ctypes",):
            out = pathlib.Path(f"/tmp/moe_routing_check_{os.getpid()}_{binding}.json")
            command = [sys.executable, str(HERE), "--binding", binding, "--device", options.device, "--out", str(out)]
            subprocess.run(command, check=False)
            records += json.loads(out.read_text()) if out.exists() else [
                {"binding": binding, "checks": {"process": "failed: it ended without a result"}}]
            out.unlink(missing_ok=True)
    if options.out:
        options.out.write_text(json.dumps(records, indent=1) + "\n")
    return any(result.startswith("failed") for record in records for result in record["checks"].values())


if __name__ == "__main__":
    sys.exit(main())
