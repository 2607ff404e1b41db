"""The kernels of chapters 13c to 16b as PyTorch operators: `import moe_routing` defines torch.ops.moe_routing.

    gate(gating_output, correction_bias, num_expert_group, topk_group, topk, renormalize, routed_scaling_factor)
        -> topk_weights, topk_ids
    align(topk_ids, num_experts, block_size) -> sorted_token_ids, expert_ids, num_tokens_post_padded
    route(the gate's arguments, block_size) -> all five
    layer(hidden, w13, w2, topk_ids, topk_weights) -> output

CUDA tensors are passed to build/gpu/libmoe_routing.so, CPU tensors to the simulator, build/cpu/libmoe_routing.so. Calls
for CUDA tensors are bound by build/gpu/libmoe_routing_torch.so (binding.cpp) if that exists, else by ctypes;
MOE_ROUTING_BINDING=ctypes or stable chooses one.
"""
import ctypes
import functools
import os
import pathlib
import threading

import torch

BUILD = pathlib.Path(os.environ.get("MOE_ROUTING_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
DTYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2, torch.int32: 3, torch.int64: 4}  # moe_routing_dtype
FLOATS, IDS = (torch.float32, torch.float16, torch.bfloat16), (torch.int32, torch.int64)
MESSAGE_BYTES = 256

# [schemas]
GATE = ("Tensor gating_output, Tensor? correction_bias, int num_expert_group, int topk_group, int topk, "
        "bool renormalize, float routed_scaling_factor")
SCHEMAS = (
    f"gate({GATE}) -> (Tensor topk_weights, Tensor topk_ids)",
    "align(Tensor topk_ids, int num_experts, int block_size) -> "
    "(Tensor sorted_token_ids, Tensor expert_ids, Tensor num_tokens_post_padded)",
    f"route({GATE}, int block_size) -> (Tensor topk_weights, Tensor topk_ids, "
    "Tensor sorted_token_ids, Tensor expert_ids, Tensor num_tokens_post_padded)",
    "layer(Tensor hidden, Tensor w13, Tensor w2, Tensor topk_ids, Tensor topk_weights) -> Tensor",
)
# [schemas]


# --- problems ---------------------------------------------------------------------------------------------------------

class Gate(ctypes.Structure):
    """Mirrors struct moe_routing_gate_problem."""
    _fields_ = [("num_tokens", ctypes.c_int64)] + [(name, ctypes.c_int32) for name in (
        "num_experts", "num_expert_group", "topk_group", "topk", "dtype", "bias_dtype", "renormalize")] + [
            ("routed_scaling_factor", ctypes.c_float)]


class Align(ctypes.Structure):
    """Mirrors struct moe_routing_align_problem."""
    _fields_ = [("numel", ctypes.c_int64)] + [(name, ctypes.c_int32) for name in (
        "num_experts", "block_size", "dtype")]


class Layer(ctypes.Structure):
    """Mirrors struct moe_routing_layer_problem."""
    _fields_ = [("num_tokens", ctypes.c_int64)] + [(name, ctypes.c_int32) for name in (
        "hidden_size", "intermediate_size", "num_experts", "topk", "dtype")]


def load(device):
    """Loads the library for "cpu" or "gpu" and declares its functions."""
    path = BUILD / device / "libmoe_routing.so"
    if not path.exists():
        target = "build/cpu/libmoe_routing.so" if device == "cpu" else "gpu"
        raise RuntimeError(f"moe_routing: {path} is missing; `ninja {target}` makes it")
    library = ctypes.CDLL(str(path))
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    for name, tensors in (("gate", 4), ("align", 4), ("layer", 7)):
        getattr(library, f"moe_routing_{name}").argtypes = [pointer, integer, pointer] + [pointer] * tensors
        getattr(library, f"moe_routing_{name}_check").argtypes = [pointer, ctypes.c_char_p, ctypes.c_size_t]
    library.moe_routing_route.argtypes = [pointer, integer, integer, pointer] + [pointer] * 7
    library.moe_routing_capacity.argtypes, library.moe_routing_capacity.restype = [pointer], ctypes.c_int64
    library.moe_routing_layer_scratch.argtypes, library.moe_routing_layer_scratch.restype = [pointer], ctypes.c_size_t
    library.moe_routing_error.argtypes, library.moe_routing_error.restype = [integer], ctypes.c_char_p
    library.moe_routing_allocate.argtypes = [ctypes.POINTER(pointer), ctypes.c_size_t]
    library.moe_routing_copy.argtypes = [pointer, pointer, ctypes.c_size_t]
    library.moe_routing_free.argtypes = [pointer]
    return library


# [problem]
@functools.lru_cache(maxsize=4096)
def problem_of(library, kind, *fields):
    """Returns a problem that the library supports, cached by its fields, with its address and the lengths that follow
    from it. Raises a ValueError with the argument, its value and the allowed values."""
    structures = {"gate": Gate, "align": Align, "layer": Layer}
    problem = structures[kind](*fields)
    for (name, kind_of_field), value in zip(problem._fields_, fields):
        if kind_of_field is ctypes.c_int32 and getattr(problem, name) != value:
            raise ValueError(f"moe_routing: {name}: {value}, more than 32 bits")
    problem.address = ctypes.addressof(problem)
    message = ctypes.create_string_buffer(MESSAGE_BYTES)
    if getattr(library, f"moe_routing_{kind}_check")(problem.address, message, MESSAGE_BYTES):
        raise ValueError(f"moe_routing: {message.value.decode()}")
    if kind == "align":
        problem.capacity = library.moe_routing_capacity(problem.address)
    if kind == "layer":
        problem.scratch = library.moe_routing_layer_scratch(problem.address)
    return problem
# [problem]


# --- tensors ----------------------------------------------------------------------------------------------------------

# [check]
def check(name, tensor, dtypes, rank, device):
    """Raises a TypeError or ValueError that names the argument, unless the kernels can read the tensor."""
    if tensor.dtype not in dtypes:
        allowed = " or ".join(str(dtype) for dtype in dtypes)
        raise TypeError(f"moe_routing: {name}: {tensor.dtype}, not {allowed}")
    if tensor.dim() != rank:
        raise ValueError(f"moe_routing: {name}: {tensor.dim()} dimensions, not {rank}")
    if not tensor.is_contiguous():
        raise ValueError(f"moe_routing: {name}: strides {tuple(tensor.stride())} of shape {tuple(tensor.shape)}, "
                         "not contiguous")
    if tensor.device != device:
        raise ValueError(f"moe_routing: {name}: on {tensor.device}, not on {device}")
# [check]


def check_shape(name, tensor, *shape):
    if tuple(tensor.shape) != shape:
        raise ValueError(f"moe_routing: {name}: shape {tuple(tensor.shape)}, not {shape}")


def addresses_of(names, tensors):
    """Returns the addresses of inputs; None for an input that is None."""
    addresses = [None if tensor is None else tensor.data_ptr() for tensor in tensors]
    for name, address in zip(names, addresses):
        if address and address & 15:
            raise ValueError(f"moe_routing: {name}: address {address:#x}, not a multiple of 16 bytes")
    return addresses


def check_gate(gating_output, correction_bias):
    check("gating_output", gating_output, FLOATS, 2, gating_output.device)
    if correction_bias is not None:
        dtypes = (torch.float32,) if gating_output.dtype == torch.float32 else (torch.float32, gating_output.dtype)
        check("correction_bias", correction_bias, dtypes, 1, gating_output.device)
        check_shape("correction_bias", correction_bias, gating_output.shape[1])


def check_align(topk_ids):
    check("topk_ids", topk_ids, IDS, 2, topk_ids.device)


def check_layer(hidden, w13, w2, topk_ids, topk_weights):
    device, bf16 = hidden.device, (torch.bfloat16,)
    check("hidden", hidden, bf16, 2, device)
    check("w13", w13, bf16, 3, device)
    check("w2", w2, bf16, 3, device)
    check("topk_ids", topk_ids, IDS, 2, device)
    check("topk_weights", topk_weights, (torch.float32,), 2, device)
    num_experts, hidden_size, intermediate_size = w2.shape
    check_shape("w13", w13, num_experts, 2 * intermediate_size, hidden_size)
    check_shape("hidden", hidden, hidden.shape[0], hidden_size)
    check_shape("topk_ids", topk_ids, hidden.shape[0], topk_ids.shape[1])
    check_shape("topk_weights", topk_weights, *topk_ids.shape)


def empty(like, dtype, *shape):
    return like.new_empty(shape, dtype=dtype)  # faster than torch.empty with a device


# --- devices ----------------------------------------------------------------------------------------------------------

class Device:
    """A library and the way to call its functions: run(function, problem, further arguments, names of inputs, inputs,
    outputs and scratch memory)."""

    def __init__(self, name):
        self.library = load(name)

    def fail(self, error):
        raise RuntimeError(f"moe_routing: {self.library.moe_routing_error(error).decode()}")


# [cuda]
class Cuda(Device):
    """Launches on the current stream of the tensors' device."""

    def run(self, function, problem, more, names, inputs, outputs):
        addresses = addresses_of(names, inputs)
        addresses += [tensor.data_ptr() for tensor in outputs]
        index = outputs[0].get_device()
        error = function(problem.address, *more, index, current_stream(index), *addresses)
        if error:
            self.fail(error)


def current_stream(index):
    return torch._C._cuda_getCurrentRawStream(index)  # faster than torch.cuda.current_stream(index).cuda_stream
# [cuda]


class Simulator(Device):
    """Copies the tensors to the simulator's memory, runs the kernels there, and copies the outputs back."""

    lock = threading.Lock()

    def allocate(self, tensor):
        memory = ctypes.c_void_p()
        size = max(1, tensor.numel() * tensor.element_size())
        self.check(self.library.moe_routing_allocate(ctypes.byref(memory), size))
        return memory

    def copy(self, to, source, tensor):
        self.check(self.library.moe_routing_copy(to, source, tensor.numel() * tensor.element_size()))

    def check(self, error):
        if error:
            self.fail(error)

    def run(self, function, problem, more, names, inputs, outputs):
        copies = []
        with self.lock:
            try:
                for tensor, address in zip(inputs, addresses_of(names, inputs)):
                    copies.append(None if tensor is None else self.allocate(tensor))
                    if address:
                        self.copy(copies[-1], address, tensor)
                copies += [self.allocate(tensor) for tensor in outputs]
                self.check(function(problem.address, *more, 0, None, *copies))
                for tensor, memory in zip(outputs, copies[len(inputs):]):
                    if tensor.numel() > 0 and tensor.dtype != torch.uint8:  # scratch memory is not copied back
                        self.copy(tensor.data_ptr(), memory, tensor)
            finally:
                for memory in copies:
                    self.library.moe_routing_free(memory)


# --- operators --------------------------------------------------------------------------------------------------------

class Operators:
    """The four operators on one device."""

    def __init__(self, device):
        self.device, self.library = device, device.library

    def gate_problem(self, gating_output, correction_bias, groups, topk_group, topk, renormalize, scale):
        check_gate(gating_output, correction_bias)
        bias_dtype = -1 if correction_bias is None else DTYPES[correction_bias.dtype]
        return problem_of(self.library, "gate", *gating_output.shape, groups, topk_group, topk,
                          DTYPES[gating_output.dtype], bias_dtype, renormalize, scale)

    # [gate]
    def gate(self, gating_output, correction_bias, *arguments):
        problem = self.gate_problem(gating_output, correction_bias, *arguments)
        weights = empty(gating_output, torch.float32, problem.num_tokens, problem.topk)
        ids = empty(gating_output, torch.int32, problem.num_tokens, problem.topk)
        self.device.run(self.library.moe_routing_gate, problem, (), ("gating_output", "correction_bias"),
                        (gating_output, correction_bias), (weights, ids))
        return weights, ids
    # [gate]

    def lists(self, like, problem):
        return (empty(like, torch.int32, problem.capacity),
                empty(like, torch.int32, problem.capacity // problem.block_size), empty(like, torch.int32, 1))

    def align(self, topk_ids, num_experts, block_size):
        check_align(topk_ids)
        problem = problem_of(self.library, "align", topk_ids.numel(), num_experts, block_size, DTYPES[topk_ids.dtype])
        lists = self.lists(topk_ids, problem)
        self.device.run(self.library.moe_routing_align, problem, (), ("topk_ids",), (topk_ids,), lists)
        return lists

    def route(self, gating_output, correction_bias, groups, topk_group, topk, renormalize, scale, block_size):
        problem = self.gate_problem(gating_output, correction_bias, groups, topk_group, topk, renormalize, scale)
        align = problem_of(self.library, "align", problem.num_tokens * topk, problem.num_experts, block_size,
                           DTYPES[torch.int32])
        weights = empty(gating_output, torch.float32, problem.num_tokens, topk)
        ids = empty(gating_output, torch.int32, problem.num_tokens, topk)
        outputs = (weights, ids) + self.lists(gating_output, align)
        self.device.run(self.library.moe_routing_route, problem, (block_size,), ("gating_output", "correction_bias"),
                        (gating_output, correction_bias), outputs)
        return outputs

    def layer(self, hidden, w13, w2, topk_ids, topk_weights):
        check_layer(hidden, w13, w2, topk_ids, topk_weights)
        problem = problem_of(self.library, "layer", *hidden.shape, w2.shape[2], w2.shape[0], topk_ids.shape[1],
                             DTYPES[topk_ids.dtype])
        output = torch.empty_like(hidden)
        scratch = empty(hidden, torch.uint8, problem.scratch)
        self.device.run(self.library.moe_routing_layer, problem, (),
                        ("hidden", "w13", "w2", "topk_ids", "topk_weights"),
                        (hidden, w13, w2, topk_ids, topk_weights), (output, scratch))
        return output


# [meta]
class Meta:
    """Implementations whose outputs have only shapes and types, for torch.compile and tensors without memory."""

    @staticmethod
    def gate(gating_output, correction_bias, groups, topk_group, topk, renormalize, scale):
        check_gate(gating_output, correction_bias)
        shape = gating_output.shape[0], topk
        return empty(gating_output, torch.float32, *shape), empty(gating_output, torch.int32, *shape)

    @staticmethod
    def lists(like, numel, num_experts, block_size):
        rows = numel + num_experts * (block_size - 1)
        blocks = numel if numel < num_experts else (rows + block_size - 1) // block_size
        return (empty(like, torch.int32, blocks * block_size), empty(like, torch.int32, blocks),
                empty(like, torch.int32, 1))

    @staticmethod
    def align(topk_ids, num_experts, block_size):
        check_align(topk_ids)
        return Meta.lists(topk_ids, topk_ids.numel(), num_experts, block_size)
    # [meta]

    @staticmethod
    def route(gating_output, correction_bias, groups, topk_group, topk, renormalize, scale, block_size):
        chosen = Meta.gate(gating_output, correction_bias, groups, topk_group, topk, renormalize, scale)
        numel = gating_output.shape[0] * topk
        return chosen + Meta.lists(gating_output, numel, gating_output.shape[1], block_size)

    @staticmethod
    def layer(hidden, w13, w2, topk_ids, topk_weights):
        check_layer(hidden, w13, w2, topk_ids, topk_weights)
        return torch.empty_like(hidden)


# [register]
@functools.lru_cache(maxsize=None)
def operators_of(kind):
    """Loads a device's library, once."""
    return Operators({"CPU": lambda: Simulator("cpu"), "CUDA": lambda: Cuda("gpu")}[kind]())


def implementation(kind, name):
    """Returns an operator's implementation or, if its library has not been built, a function that raises an error."""
    if (BUILD / {"CPU": "cpu", "CUDA": "gpu"}[kind] / "libmoe_routing.so").exists():
        return getattr(operators_of(kind), name)
    return lambda *arguments: getattr(operators_of(kind), name)(*arguments)


def register():
    """Defines the operators. Returns the library object that keeps them defined, and the name of the CUDA binding."""
    library = torch.library.Library("moe_routing", "DEF")
    tags = {"tags": (torch.Tag.pt2_compliant_tag,)} if hasattr(getattr(torch, "Tag", None), "pt2_compliant_tag") else {}
    stable = BUILD / "gpu" / "libmoe_routing_torch.so"
    binding = os.environ.get("MOE_ROUTING_BINDING", "stable" if stable.exists() else "ctypes")
    if binding not in ("ctypes", "stable"):
        raise RuntimeError(f"moe_routing: MOE_ROUTING_BINDING: {binding!r}, not 'ctypes' or 'stable'")
    for schema in SCHEMAS:
        library.define(schema, **tags)
        name = schema.split("(")[0]
        library.impl(name, implementation("CPU", name), "CPU")
        if binding == "ctypes":
            library.impl(name, implementation("CUDA", name), "CUDA")
        if hasattr(torch.library, "register_fake"):
            torch.library.register_fake(f"moe_routing::{name}", getattr(Meta, name), lib=library)
        else:
            library.impl(name, getattr(Meta, name), "Meta")
            library.impl(name, getattr(Meta, name), "AutogradMeta")
    if binding == "stable":
        torch.ops.load_library(str(stable))
    return library, binding
# [register]


LIBRARY, BINDING = register()
