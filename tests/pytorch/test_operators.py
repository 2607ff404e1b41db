# run: $b/cpu/libmoe_routing.so
# needs: numpy, torch
"""Tests chapter 18's operators on the CPU, where the simulator runs the kernels: results compared with PyTorch's,
output shapes for meta tensors, and rejection of invalid inputs."""
import os
import pathlib
import sys
import unittest

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["MOE_ROUTING_BUILD"] = str(pathlib.Path(sys.argv[1]).resolve().parents[1])
os.environ["MOE_ROUTING_BINDING"] = "ctypes"
sys.path[:0] = [str(ROOT / "chapters" / "18_into_a_model"), str(ROOT / "chapters" / "01_cpu_baseline")]
import moe_routing  # noqa: E402  importing it defines the operators
from grouped_topk import grouped_topk  # noqa: E402

F32, BF16 = torch.float32, torch.bfloat16
OPERATORS = torch.ops.moe_routing
ROUNDING = {F32: 2e-6, BF16: 1.6e-2}  # a few units in the last place, of a score and of a quotient
BF16_UNIT = 2.0 ** -8  # largest relative error of rounding to bf16


def logits_of(num_tokens, num_experts, dtype=F32, bias_dtype=F32, seed=1):
    generator = torch.Generator().manual_seed(seed)
    logits = (torch.randn(num_tokens, num_experts, generator=generator) * 1.5).to(dtype)
    bias = torch.randn(num_experts, generator=generator) * 0.1
    return logits, None if bias_dtype is None else bias.to(bias_dtype)


def ids_of(num_tokens, topk, num_experts, dtype=torch.int32, seed=1):
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.randperm(num_experts, generator=generator)[:topk] for _ in range(num_tokens)]
    return torch.stack(rows).to(dtype) if rows else torch.empty(0, topk, dtype=dtype)


def aligned(ids, num_experts, block_size):
    """Returns the expected list: each expert's positions in ascending order, padded to whole blocks."""
    flat, rows, owners = ids.flatten().tolist(), [], []
    for expert in range(num_experts):
        own = [i for i, e in enumerate(flat) if e == expert]
        blocks = -(-len(own) // block_size)
        rows += own + [len(flat)] * (blocks * block_size - len(own))
        owners += [expert] * blocks
    total = len(rows)
    if len(flat) < num_experts:
        blocks = len(flat)
    else:
        blocks = -(-(len(flat) + num_experts * (block_size - 1)) // block_size)
    return rows + [len(flat)] * (blocks * block_size - total), owners + [-1] * (blocks - len(owners)), total


def layer_of(hidden, w13, w2, ids, weights):
    """Returns the layer's output in double precision, and a bound on the error from rounding to bf16 and summing in
    f32."""
    h, w13, w2 = hidden.double(), w13.double(), w2.double()
    size = w2.shape[2]
    f32_unit = (hidden.shape[1] + size + 64) * 2.0 ** -23
    output, error = torch.zeros_like(h), torch.zeros_like(h)
    for token in range(len(h)):
        for expert, weight in zip(ids[token].tolist(), weights[token].double().tolist()):
            sums, sizes = w13[expert] @ h[token], w13[expert].abs() @ h[token].abs()
            gate, up = sums[:size], sums[size:]
            inner = torch.nn.functional.silu(gate) * up
            inner_error = inner.abs() * BF16_UNIT + f32_unit * (sizes[:size] * up.abs() + gate.abs() * sizes[size:] + 1)
            outer = w2[expert] @ inner
            outer_error = w2[expert].abs() @ inner_error + outer.abs() * BF16_UNIT
            output[token] += weight * outer
            error[token] += abs(weight) * outer_error
    return output, 1.02 * (error + output.abs() * BF16_UNIT)


class Gate(unittest.TestCase):
    def test_against_pytorch(self):
        for shape in ((3, 256, 8, 4, 8), (9, 128, 4, 2, 4), (5, 160, 8, 3, 6), (1000, 256, 8, 4, 8)):
            for dtype, bias_dtype in ((F32, F32), (F32, None), (BF16, F32), (BF16, BF16)):
                with self.subTest(shape=shape, dtype=dtype, bias=bias_dtype):
                    tokens, experts, groups, topk_group, topk = shape
                    logits, bias = logits_of(tokens, experts, dtype, bias_dtype)
                    theirs, their_ids = grouped_topk(logits, bias, topk, groups, topk_group, "sigmoid", True, 2.5)
                    weights, ids = OPERATORS.gate(logits, bias, groups, topk_group, topk, True, 2.5)
                    same = (ids == their_ids).all(dim=1)
                    self.assertEqual((weights.dtype, ids.dtype), (F32, torch.int32))
                    self.assertGreater(same.float().mean(), 0.98 if dtype == F32 or bias_dtype == F32 else 0.2)
                    torch.testing.assert_close(weights[same], theirs[same], rtol=ROUNDING[dtype], atol=1e-6)

    def test_no_tokens(self):
        weights, ids = OPERATORS.gate(*logits_of(0, 256), 8, 4, 8, True, 2.5)
        self.assertEqual((weights.shape, ids.shape), ((0, 8), (0, 8)))


class Align(unittest.TestCase):
    def test_lists(self):
        for tokens, topk, experts, block, dtype in ((1, 8, 256, 64, torch.int32), (70, 8, 256, 16, torch.int64),
                                                    (40, 4, 12, 7, torch.int32), (0, 8, 256, 64, torch.int32),
                                                    (700, 8, 64, 32, torch.int64)):
            with self.subTest(tokens=tokens, experts=experts, block=block):
                ids = ids_of(tokens, topk, experts, dtype)
                rows, owners, total = OPERATORS.align(ids, experts, block)
                self.assertEqual((rows.tolist(), owners.tolist(), total.item()), aligned(ids, experts, block))

    def test_ids_of_no_expert_are_skipped(self):
        ids = torch.tensor([[3, -1, 9], [0, 3, 8]], dtype=torch.int32)
        rows, owners, total = OPERATORS.align(ids, 8, 2)
        self.assertEqual((rows.tolist(), owners.tolist(), total.item()), aligned(ids, 8, 2))


class Route(unittest.TestCase):
    def test_is_gate_and_align(self):
        for tokens in (1, 5, 40, 300):
            for dtype in (F32, BF16):
                with self.subTest(tokens=tokens, dtype=dtype):
                    logits, bias = logits_of(tokens, 256, dtype)
                    weights, ids = OPERATORS.gate(logits, bias, 8, 4, 8, True, 2.5)
                    apart = (weights, ids) + tuple(OPERATORS.align(ids, 256, 32))
                    for one, other in zip(OPERATORS.route(logits, bias, 8, 4, 8, True, 2.5, 32), apart):
                        torch.testing.assert_close(one, other, rtol=2e-6, atol=0)


class Layer(unittest.TestCase):
    def check(self, tokens, hidden_size, size, experts, topk, id_dtype):
        generator = torch.Generator().manual_seed(tokens)
        hidden = torch.randn(tokens, hidden_size, generator=generator).to(BF16)
        w13 = (torch.randn(experts, 2 * size, hidden_size, generator=generator) * hidden_size ** -0.5).to(BF16)
        w2 = (torch.randn(experts, hidden_size, size, generator=generator) * size ** -0.5).to(BF16)
        ids, weights = ids_of(tokens, topk, experts, id_dtype), torch.rand(tokens, topk, generator=generator)
        output = OPERATORS.layer(hidden, w13, w2, ids, weights)
        expected, error = layer_of(hidden, w13, w2, ids, weights)
        self.assertEqual((output.dtype, output.shape), (BF16, hidden.shape))
        self.assertTrue(((output.double() - expected).abs() <= error).all())

    def test_against_double_precision(self):
        for case in ((5, 256, 128, 16, 4, torch.int32), (1, 128, 64, 8, 2, torch.int64),
                     (48, 128, 64, 4, 2, torch.int32), (3, 80, 48, 6, 3, torch.int32)):
            with self.subTest(case=case):
                self.check(*case)

    def test_no_tokens(self):
        self.check(0, 128, 64, 8, 2, torch.int32)


class WithoutMemory(unittest.TestCase):
    def test_shapes_and_types(self):
        for tokens in (0, 1, 20, 300):
            with self.subTest(tokens=tokens):
                logits, bias = logits_of(tokens, 256, BF16)
                arguments = (8, 4, 8, True, 2.5, 48)
                real = OPERATORS.route(logits, bias, *arguments)
                meta = OPERATORS.route(logits.to("meta"), bias.to("meta"), *arguments)
                self.assertEqual([(t.shape, t.dtype) for t in meta], [(t.shape, t.dtype) for t in real])
                self.assertTrue(all(t.is_meta for t in meta))

    def test_align_and_layer(self):
        ids = ids_of(6, 2, 4).to("meta")
        self.assertEqual([t.shape[0] for t in OPERATORS.align(ids, 4, 3)], [21, 7, 1])
        output = OPERATORS.layer(torch.empty(6, 64, dtype=BF16, device="meta"),
                                 torch.empty(4, 64, 64, dtype=BF16, device="meta"),
                                 torch.empty(4, 64, 32, dtype=BF16, device="meta"), ids, ids.float())
        self.assertEqual((output.shape, output.dtype), ((6, 64), BF16))


class Rejected(unittest.TestCase):
    def rejects(self, error, message, call, *arguments):
        with self.subTest(message=message):
            with self.assertRaises(error) as caught:
                call(*arguments)
            self.assertEqual(str(caught.exception).splitlines()[0], f"moe_routing: {message}")

    def test_gate(self):
        logits, bias = logits_of(4, 256)
        rest = (8, 4, 8, True, 2.5)
        for call in (OPERATORS.gate, lambda *arguments: OPERATORS.route(*arguments, 64)):
            self.rejects(TypeError,
                         "gating_output: torch.float64, not torch.float32 or torch.float16 or torch.bfloat16", call,
                         logits.double(), bias, *rest)
            self.rejects(ValueError, "gating_output: 1 dimensions, not 2", call, logits[0], bias, *rest)
            self.rejects(ValueError, "gating_output: strides (1, 4) of shape (4, 256), not contiguous", call,
                         logits.t().contiguous().t(), bias, *rest)
            self.rejects(TypeError, "correction_bias: torch.bfloat16, not torch.float32", call, logits, bias.to(BF16),
                         *rest)
            self.rejects(ValueError, "correction_bias: shape (255,), not (256,)", call, logits, bias[:255], *rest)
            self.rejects(ValueError, "correction_bias: on meta, not on cpu", call, logits, bias.to("meta"), *rest)
            self.rejects(ValueError, "num_expert_group: 12, not a power of two", call, logits, bias, 12, *rest[1:])
            self.rejects(ValueError, "topk_group: 9, not 1 to 8", call, logits, bias, 8, 9, *rest[2:])
            self.rejects(ValueError, "topk_group: 4294967300, more than 32 bits", call, logits, bias, 8, 2 ** 32 + 4,
                         *rest[2:])
            self.rejects(ValueError, "topk: 33, not 1 to 32", call, logits, bias, 8, 4, 33, True, 2.5)
            self.rejects(ValueError, "routed_scaling_factor: inf, not a finite number", call, logits, bias, 8, 4, 8,
                         True, float("inf"))

    def test_alignment(self):
        shifted = torch.empty(4 * 256 + 1)[1:].view(4, 256)
        with self.assertRaisesRegex(ValueError, "gating_output: address 0x[0-9a-f]+, not a multiple of 16 bytes"):
            OPERATORS.gate(shifted, None, 8, 4, 8, True, 2.5)

    def test_align(self):
        ids = ids_of(4, 8, 256)
        self.rejects(TypeError, "topk_ids: torch.float32, not torch.int32 or torch.int64", OPERATORS.align, ids.float(),
                     256, 64)
        self.rejects(ValueError, "num_experts: 2049, not 1 to 2048", OPERATORS.align, ids, 2049, 64)
        self.rejects(ValueError, "block_size: 0, not 1 to 524287", OPERATORS.align, ids, 256, 0)

    def test_layer(self):
        hidden, w13, w2 = (torch.zeros(shape, dtype=BF16) for shape in ((2, 128), (8, 128, 128), (8, 128, 64)))
        ids, weights, layer = ids_of(2, 2, 8), torch.ones(2, 2), OPERATORS.layer
        self.rejects(TypeError, "hidden: torch.float32, not torch.bfloat16", layer, hidden.float(), w13, w2, ids,
                     weights)
        self.rejects(ValueError, "w13: shape (8, 64, 128), not (8, 128, 128)", layer, hidden, w13[:, :64].contiguous(),
                     w2, ids, weights)
        self.rejects(ValueError, "w2: strides (8192, 1, 128) of shape (8, 128, 64), not contiguous", layer, hidden, w13,
                     w2.transpose(1, 2).contiguous().transpose(1, 2), ids, weights)
        self.rejects(ValueError, "topk_ids: shape (1, 2), not (2, 2)", layer, hidden, w13, w2, ids[:1], weights)
        self.rejects(ValueError, "topk_weights: shape (2, 1), not (2, 2)", layer, hidden, w13, w2, ids,
                     weights[:, :1].contiguous())
        self.rejects(ValueError, "topk_ids: ids of a token: 9, not 1 to 8", layer, hidden, w13, w2,
                     torch.zeros(2, 9, dtype=torch.int32), torch.ones(2, 9))


if __name__ == "__main__":
    unittest.main()
