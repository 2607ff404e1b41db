"""Puts the kernels into a model and measures it: transformers' DeepseekV3ForCausalLM with one dense layer, two MoE
layers of DeepSeek-V3's shape, and random weights from a seed.

    python3 chapters/18_into_a_model/model.py [--out FILE.json]
      --experts NAME,...   eager, batched_mm, grouped_mm, ours; under torch.compile: compile, ours_compile
      --modes plain,graph  separate calls, or a CUDA graph of the step
      --batch N,...        numbers of sequences in a decode step (1,16,64)
      --prefill N          tokens of the prefill (4096); 0 skips it
      --quick              fewer repetitions; no torch.compile; 8 checked steps
      --tiny               a small model, to test this script in seconds

Checks come first: ours against eager, layer by layer and token by token. Prints one line per result; a configuration
that fails prints its error, and the others still run. Exits 1 if a check failed.
"""
import argparse
import contextlib
import inspect
import json
import pathlib
import re
import statistics
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import moe_routing

OURS = "moe_routing"
IMPLEMENTATIONS = {"eager": "eager", "batched_mm": "batched_mm", "grouped_mm": "grouped_mm", "ours": OURS,
                   "compile": "grouped_mm", "ours_compile": OURS}  # the last two run under torch.compile
ALIGN_KERNELS = r"\balign_\w*kernel"  # the kernels of chapters 14a and 14b
PROMPT = 64  # tokens before the first decode step
BF16_ERROR = 2.0 ** -8 / 3 ** 0.5  # largest root mean square relative error of rounding to bf16
TINY = {"hidden_size": 128, "intermediate_size": 256, "moe_intermediate_size": 64, "n_routed_experts": 16,
        "n_group": 4, "topk_group": 2, "num_experts_per_tok": 4, "num_attention_heads": 4, "num_key_value_heads": 4,
        "q_lora_rank": 32, "kv_lora_rank": 32, "qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 16}


# --- the model --------------------------------------------------------------------------------------------------------

# [experts]
def our_experts(self, hidden_states, top_k_index, top_k_weights):
    """Computes the experts of a MoE layer; transformers calls it through its ExpertsInterface."""
    return torch.ops.moe_routing.layer(hidden_states.contiguous(), self.gate_up_proj, self.down_proj,
                                       top_k_index.contiguous(), top_k_weights.float().contiguous())
# [experts]


# [router]
class OurRouter(torch.nn.Module):
    """A router that chooses experts with the weights and the bias of the router that it replaces."""

    def __init__(self, router, config, order):
        super().__init__()
        self.arguments = (config.n_group, config.topk_group, config.num_experts_per_tok, config.norm_topk_prob,
                          float(config.routed_scaling_factor))
        self.order = order  # the order of logits, weights and ids in the result
        self.register_buffer("weight", router.weight.detach().float())
        self.register_buffer("bias", router.e_score_correction_bias.detach().float())

    def forward(self, hidden_states):
        hidden_states = hidden_states.reshape(-1, hidden_states.shape[-1])
        logits = torch.nn.functional.linear(hidden_states.float(), self.weight)
        weights, ids = torch.ops.moe_routing.gate(logits, self.bias, *self.arguments)
        results = {"logits": logits, "weights": weights, "ids": ids}
        return tuple(results[name] for name in self.order)
# [router]


def router_results(router, hidden):
    """Calls one of transformers' routers. Returns its results by name, in their order."""
    results = router(hidden)
    if not isinstance(results, tuple):
        raise RuntimeError("the router returns logits alone: this script knows routers that return weights and ids, as "
                           "those of transformers 5.17")
    names = {}
    for one in results:
        if not one.is_floating_point():
            names["ids"] = one
        elif one.shape[-1] == router.weight.shape[0]:
            names["logits"] = one
        else:
            names["weights"] = one
    return names


class Model:
    """The model, and the implementation of its experts that it currently uses."""

    def __init__(self, options):
        from transformers import DeepseekV3Config, DeepseekV3ForCausalLM
        from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

        self.device = options.device
        self.config = DeepseekV3Config(num_hidden_layers=1 + options.layers, first_k_dense_replace=1, vocab_size=32000,
                                       **(TINY if options.tiny else {}))
        ALL_EXPERTS_FUNCTIONS.register(OURS, our_experts)
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.bfloat16)
        try:
            with torch.device(self.device) if options.device == "cuda" else contextlib.nullcontext():
                self.model = DeepseekV3ForCausalLM(self.config).to(self.device).eval().requires_grad_(False)
        finally:
            torch.set_default_dtype(before)
        self.fill(options.seed)
        self.layers = [layer.mlp for layer in self.model.model.layers if hasattr(layer.mlp, "experts")]
        self.routers = [layer.gate for layer in self.layers]
        self.compiled = None
        probe = torch.zeros(2, self.config.hidden_size, dtype=torch.bfloat16, device=self.device)
        order = tuple(router_results(self.routers[0], probe))
        self.our_routers = [OurRouter(router, self.config, order) for router in self.routers]
        self.use("grouped_mm")

    @torch.no_grad()
    def fill(self, seed):
        """Initialises every parameter from the seed, independently of the library's own initialisation."""
        generator = torch.Generator(device=self.device).manual_seed(seed)
        for parameter in self.model.parameters():
            if parameter.dim() == 1:
                parameter.fill_(1)
            else:
                for part in parameter if parameter.dim() == 3 else (parameter,):
                    part.normal_(0, 0.02, generator=generator)
        for module in self.model.modules():
            if hasattr(module, "e_score_correction_bias"):  # f32, whatever the model's type is
                before = module.e_score_correction_bias
                bias = torch.empty(before.shape, device=self.device).normal_(0, 0.05, generator=generator)
                is_parameter = isinstance(before, torch.nn.Parameter)
                module.e_score_correction_bias = torch.nn.Parameter(bias, requires_grad=False) if is_parameter else bias

    def use(self, name):
        """Switches to an implementation of the experts, and to our router if the implementation is ours."""
        implementation = IMPLEMENTATIONS[name]
        for module in self.model.modules():
            if hasattr(module, "config"):
                module.config._experts_implementation = implementation
        for layer, theirs, ours in zip(self.layers, self.routers, self.our_routers):
            layer.gate = ours if implementation == OURS else theirs
        self.name = name
        if name.endswith("compile") and self.compiled is None:
            from torch import _dynamo

            _dynamo.config.recompile_limit = 64  # each size and each implementation is compiled separately
            self.compiled = torch.compile(self.model, dynamic=False)

    def __call__(self, ids, **arguments):
        """Returns the logits of the last token of each sequence."""
        model = self.compiled if self.name.endswith("compile") else self.model
        return model(input_ids=ids, logits_to_keep=1, **arguments).logits[:, -1]


# --- decoding ---------------------------------------------------------------------------------------------------------

class Decoder:
    """A batch of sequences after a prompt. Runs their next decode step as a call of the model or as a CUDA graph."""

    def __init__(self, model, prompts, steps):
        from transformers import StaticCache

        self.model, self.length = model, prompts.shape[1]
        self.cache = StaticCache(config=model.config, max_cache_len=self.length + steps + 8)
        self.ids = torch.zeros(len(prompts), 1, dtype=torch.long, device=prompts.device)
        self.position = torch.zeros(1, dtype=torch.long, device=prompts.device)
        self.takes_position = "cache_position" in inspect.signature(model.model.forward).parameters
        self.graph = None
        name = model.name
        model.use("grouped_mm")  # so that every implementation decodes with the same keys and values
        extra = {"cache_position": torch.arange(self.length, device=prompts.device)} if self.takes_position else {}
        self.first = model(prompts, past_key_values=self.cache, use_cache=True, **extra).float()
        model.use(name)
        self.rewind()

    def rewind(self):
        """Rewinds to the end of the prompt. Later keys stay in the cache, but the mask hides them."""
        self.position.fill_(self.length)
        for layer in self.cache.layers:
            if torch.is_tensor(getattr(layer, "cumulative_length", None)):
                layer.cumulative_length.fill_(self.length)

    def call(self):
        extra = {"cache_position": self.position} if self.takes_position else {}
        logits = self.model(self.ids, past_key_values=self.cache, use_cache=True, **extra)
        self.position += 1
        return logits

    def capture(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.call()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.logits = self.call()
        self.rewind()

    def step(self):
        if self.graph is None:
            return self.call()
        self.graph.replay()
        return self.logits


def prompts_of(model, batch, length=PROMPT):
    generator = torch.Generator().manual_seed(batch)
    return torch.randint(2, model.config.vocab_size, (batch, length), generator=generator).to(model.device)


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def milliseconds(call, device, warm, times):
    """Times calls one by one. Returns the median, the 10th and the 90th percentile."""
    for _ in range(warm):
        call()
    measured = []
    for _ in range(times):
        synchronize(device)
        start = time.perf_counter()
        call()
        synchronize(device)
        measured.append(1e3 * (time.perf_counter() - start))
    measured.sort()
    last = len(measured) - 1
    return {"ms": statistics.median(measured), "p10": measured[last // 10], "p90": measured[-(last // 10) - 1]}


# --- checks -----------------------------------------------------------------------------------------------------------

def difference(one, other):
    """Returns the root mean square of the difference, relative to that of `other`."""
    return ((one.float() - other.float()).pow(2).mean() / other.float().pow(2).mean()).sqrt().item()


def layer_error(topk):
    """Returns the expected root mean square error of independent roundings: eager rounds five results of an expert and
    each of topk sums, ours three results in all."""
    return BF16_ERROR * (5 + topk + 3) ** 0.5


def layer_inputs(model, prompts):
    """Returns the input of each MoE layer when the model with eager experts reads the prompts."""
    inputs, hooks = [], []
    model.use("eager")
    for layer in model.layers:
        hooks.append(layer.register_forward_pre_hook(lambda module, arguments: inputs.append(arguments[0].clone())))
    try:
        model(prompts, use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    return inputs


def check_layers(model, options):
    """Checks each MoE layer on the same input: the chosen experts and the output, against eager's."""
    result = {"tokens": 0, "ties": 0, "outputs differ": 0.0}
    for number, hidden in enumerate(layer_inputs(model, prompts_of(model, 2))):
        layer, flat = model.layers[number], hidden.reshape(-1, hidden.shape[-1])
        theirs, ours = (router_results(router, flat) for router in (model.routers[number], model.our_routers[number]))
        choices = theirs["logits"].sigmoid() + model.our_routers[number].bias
        chosen = [choices.gather(1, one["ids"].long()).sort(dim=1).values for one in (theirs, ours)]
        same = (theirs["ids"].sort(dim=1).values == ours["ids"].long().sort(dim=1).values).all(dim=1)
        wrong = ~(same | torch.isclose(*chosen, rtol=0, atol=1e-6).all(dim=1))
        assert not wrong.any(), f"layer {number}: {int(wrong.sum())} tokens have other experts"
        weights = [one["weights"].float().sort(dim=1).values[same] for one in (theirs, ours)]
        torch.testing.assert_close(*weights, rtol=1e-2, atol=1e-5)  # theirs may have been rounded to bf16
        outputs = {}
        for name in ("eager", "ours"):
            model.use(name)
            outputs[name] = layer(hidden)
        error, allowed = difference(outputs["ours"], outputs["eager"]), layer_error(model.config.num_experts_per_tok)
        assert error < allowed, f"layer {number}: outputs differ by {error:.4f} of their size; allowed {allowed:.4f}"
        result = {"tokens": result["tokens"] + len(same), "ties": result["ties"] + int((~same).sum()),
                  "outputs differ": max(result["outputs differ"], error)}
    return result


def decode(model, name, mode, prompts, tokens, steps):
    """Returns the logits of decode steps and the tokens chosen from them. A step reads the given token or, if none is
    given, the one chosen last."""
    model.use(name)
    decoder = Decoder(model, prompts, steps)
    if mode == "graph":
        decoder.capture()
    logits, chosen = [], [decoder.first.argmax(dim=-1)]
    for step in range(steps):
        decoder.ids[:, 0] = chosen[-1] if tokens is None else tokens[step]
        logits.append(decoder.step().float().clone())
        chosen.append(logits[-1].argmax(dim=-1))
    return torch.stack(logits), torch.stack(chosen)


def check_tokens(model, options):
    """Checks decode steps that read eager's tokens: the logits must be about as close to eager's as grouped_mm's."""
    steps, prompts = options.steps, prompts_of(model, 4)
    expected, tokens = decode(model, "eager", "plain", prompts, None, steps)
    result = {"steps": tokens[1:].numel()}
    for name, mode in (("grouped_mm", "plain"), ("ours", "plain"), ("ours", "graph")):
        if mode == "graph" and model.device != "cuda":
            continue
        logits, next_tokens = decode(model, name, mode, prompts, tokens, steps)
        result[f"{name} {mode}: logits differ"] = difference(logits, expected)
        result[f"{name} {mode}: other tokens"] = int((next_tokens[1:] != tokens[1:]).sum())
        _, alone = decode(model, name, mode, prompts, None, steps)
        result[f"{name} {mode}: equal sequences of {len(prompts)}"] = int((alone == tokens).all(dim=0).sum())
    allowed = max(layer_error(model.config.num_experts_per_tok), 2 * result["grouped_mm plain: logits differ"])
    for name, value in result.items():
        assert not name.endswith("logits differ") or value <= allowed, f"{name} by {value:.4f}; {allowed:.4f} allowed"
    return result


CHECKS = {"layers": check_layers, "tokens": check_tokens}


# --- time -------------------------------------------------------------------------------------------------------------

def measure_step(model, name, mode, batch, options):
    times = 3 if options.quick else 20
    model.use(name)
    decoder = Decoder(model, prompts_of(model, batch), 3 * times + 16)
    if mode == "graph":
        if name == "eager":
            raise RuntimeError("eager experts wait for the GPU, which a capture does not allow")
        decoder.capture()
    return milliseconds(decoder.step, model.device, 3, times)


def measure_prefill(model, name, options):
    model.use(name)
    prompts = prompts_of(model, 1, options.prefill)
    return milliseconds(lambda: model(prompts, use_cache=False), model.device, 2, 3 if options.quick else 7)


@contextlib.contextmanager
def marked(model):
    """Labels the launches of each part of the layers with the part's name, for the profiler."""
    def mark(module, name):
        original = module.forward

        def forward(*arguments, **more):
            with torch.profiler.record_function(f"part {name}"):
                return original(*arguments, **more)
        module.forward = forward
        return module

    changed = []
    for layer in model.model.model.layers:
        changed.append(mark(layer.self_attn, "attention"))
        if hasattr(layer.mlp, "experts"):
            changed += [mark(layer.mlp.gate, "gate"), mark(layer.mlp.experts, "experts")]
    try:
        yield
    finally:
        for module in changed:
            del module.forward


def profile_step(model, name, batch):
    """Returns the GPU microseconds of a decode step by part: gate (with the router's product), align, experts,
    attention, rest. Only ours has a separate align."""
    from torch.profiler import ProfilerActivity, profile

    model.use(name)
    decoder, steps = Decoder(model, prompts_of(model, batch), 32), 5
    for _ in range(3):
        decoder.step()
    torch.cuda.synchronize()
    with marked(model), profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(steps):
            decoder.step()
        torch.cuda.synchronize()
    parts = dict.fromkeys(("gate", "align", "experts", "attention"), 0.0)
    kernels = {}
    for event in profiler.events():
        on_device = event.device_type == torch.autograd.DeviceType.CUDA
        if event.name.startswith("part "):
            if not on_device:
                parts[event.name[len("part "):]] += getattr(event, "device_time_total", 0.0) / steps
        elif on_device:
            time_us = getattr(event, "self_device_time_total", None)
            time_us = event.time_range.elapsed_us() if not time_us else time_us
            kernels[event.name] = kernels.get(event.name, 0.0) + time_us / steps
    parts["align"] = sum(us for kernel, us in kernels.items() if re.search(ALIGN_KERNELS, kernel))
    parts["experts"] -= parts["align"]
    parts["rest"] = sum(kernels.values()) - sum(parts.values())
    return {"parts": parts, "kernels": dict(sorted(kernels.items(), key=lambda item: -item[1])[:24])}


# --- the run ----------------------------------------------------------------------------------------------------------

def save(record):
    """Writes the results so far, because a run may be ended early."""
    if record["arguments"]["out"] != "None":
        pathlib.Path(record["arguments"]["out"]).write_text(json.dumps(record, indent=1) + "\n")


def attempt(record, part, what, call):
    """Runs one configuration and saves the record. An error prints one line, and the next configuration still runs."""
    try:
        result = call()
    except Exception as error:
        result = {"failed": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"}
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    record[part].append({**what, **result})
    save(record)
    name = " ".join(str(value) for value in what.values())
    if "ms" in result:
        text = f"{result['ms']:.3f} ms ({result['p10']:.3f} to {result['p90']:.3f})"
    elif "parts" in result:
        text = ", ".join(f"{part} {us:.1f}" for part, us in result["parts"].items()) + " us"
    else:
        numbers = ", ".join(f"{key} {value:.5f}" if isinstance(value, float) else f"{key} {value}"
                            for key, value in result.items())
        text = result.get("failed") or f"ok: {numbers}"
    print(f"{name:36} {text}", flush=True)


def run(model, options, record):
    for name in options.checks:
        attempt(record, "checks", {"check": name}, lambda: CHECKS[name](model, options))
    for batch in options.batch:
        for name in options.experts:
            for mode in options.modes:
                attempt(record, "steps", {"experts": name, "mode": mode, "batch": batch},
                        lambda: measure_step(model, name, mode, batch, options))
    for name in options.experts if options.prefill else ():
        attempt(record, "prefill", {"prefill": options.prefill, "experts": name},
                lambda: measure_prefill(model, name, options))
    for batch in options.batch if options.profile else ():
        for name in (name for name in options.experts if name in ("grouped_mm", "ours")):
            attempt(record, "parts", {"parts_of": batch, "experts": name}, lambda: profile_step(model, name, batch))


def words(allowed):
    def parse(text):
        chosen = text.split(",") if text else []
        for one in chosen:
            if one not in allowed:
                raise argparse.ArgumentTypeError(f"{one!r}; it must be of {', '.join(allowed)}")
        return chosen
    return parse


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experts", type=words(tuple(IMPLEMENTATIONS)))
    parser.add_argument("--modes", type=words(("plain", "graph")))
    parser.add_argument("--checks", type=words(tuple(CHECKS)), default=list(CHECKS))
    parser.add_argument("--batch", type=lambda text: [int(one) for one in text.split(",") if one], default=[1, 16, 64])
    parser.add_argument("--prefill", type=int, default=4096)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--layers", type=int, default=2, help="MoE layers; each has 22.5 GB")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", type=int, choices=(0, 1))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args(arguments)
    on_gpu = options.device == "cuda"
    if options.experts is None:
        options.experts = [name for name in IMPLEMENTATIONS
                           if not name.endswith("compile") or (on_gpu and not options.quick)]
    if options.modes is None:
        options.modes = ["plain", "graph"] if on_gpu else ["plain"]
    if options.steps is None:
        options.steps = 8 if options.quick else 64
    if options.profile is None:
        options.profile = int(on_gpu)
    return options


def main(arguments=None):
    options = options_of(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("model.py: PyTorch sees no GPU; --device cpu --tiny tries this script on the simulator", file=sys.stderr)
        return 3
    import transformers

    record = {"torch": torch.__version__, "transformers": transformers.__version__, "binding": moe_routing.BINDING,
              "gpu": torch.cuda.get_device_name() if options.device == "cuda" else "CPU simulator",
              "arguments": {name: value if isinstance(value, (int, str, list)) else str(value)
                            for name, value in vars(options).items()},
              "checks": [], "steps": [], "prefill": [], "parts": []}
    print(f"{record['gpu']}, PyTorch {record['torch']}, transformers {record['transformers']}, "
          f"{record['binding']} binding", flush=True)
    with torch.no_grad():
        run(Model(options), options, record)
    return int(any("failed" in check for check in record["checks"]))


if __name__ == "__main__":
    sys.exit(main())
