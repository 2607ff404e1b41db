"""The layer as others compute it: PyTorch with a loop over the experts, PyTorch's grouped product, and a kernel of Triton.

Each takes a Layer and returns the output [n, H]. The order of rows by expert, which the chapters' kernels are given too,
is part of the Layer. bf16, sums in f32. Triton is needed for the last only.
"""
import torch
from torch.nn.functional import linear, silu

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None


class Layer:
    """hidden [n, H], w13 [E, 2I, H] (the gate's rows, then up's), w2 [E, H, I], topk_ids and topk_weights [n, topk]; and
    the positions of topk_ids by expert: order, and where each expert's end."""

    def __init__(self, hidden, w13, w2, topk_ids, topk_weights):
        self.hidden, self.w13, self.w2, self.topk_ids, self.topk_weights = hidden, w13, w2, topk_ids, topk_weights
        self.num_experts, self.topk = len(w13), topk_ids.shape[1]
        self.counts = torch.bincount(topk_ids.flatten().long(), minlength=self.num_experts)
        self.ends = self.counts.cumsum(0).to(torch.int32)
        self.order = topk_ids.flatten().argsort(stable=True)
        self.blocks = {}  # by size

    def blocks_of(self, size):
        """sorted_token_ids and expert_ids of blocks of so many rows, as many as there may be, and the places in use."""
        if size not in self.blocks:
            numel, device = self.order.numel(), self.order.device
            padded = (self.counts + size - 1) // size * size
            capacity = min(numel + self.num_experts * (size - 1), numel * size)
            capacity = (capacity + size - 1) // size * size
            sorted_token_ids = torch.full((capacity,), numel, dtype=torch.int32, device=device)
            shift = (padded.cumsum(0) - padded) - (self.counts.cumsum(0) - self.counts)
            places = torch.arange(numel, device=device) + shift.repeat_interleave(self.counts)
            sorted_token_ids[places] = self.order.to(torch.int32)
            expert_ids = torch.full((capacity // size,), -1, dtype=torch.int32, device=device)
            owners = torch.arange(self.num_experts, device=device).repeat_interleave(padded // size)
            expert_ids[:len(owners)] = owners.to(torch.int32)
            self.blocks[size] = sorted_token_ids, expert_ids, padded.sum().to(torch.int32).reshape(1)
        return self.blocks[size]


def loop(layer):
    """An expert after the other, each with its tokens."""
    output = torch.zeros_like(layer.hidden)
    for expert in layer.topk_ids.unique().tolist():
        token, k = torch.where(layer.topk_ids == expert)
        gate, up = linear(layer.hidden[token], layer.w13[expert]).chunk(2, dim=-1)
        rows = linear(silu(gate) * up, layer.w2[expert]) * layer.topk_weights[token, k, None]
        output.index_add_(0, token, rows.to(output.dtype))
    return output


# --- grouped products ---


def grouped_mm():
    """PyTorch's product of groups of rows, each with its own matrix; its name has changed."""
    for module, name in ((torch.nn.functional, "grouped_mm"), (torch, "_grouped_mm")):
        if hasattr(module, name):
            return getattr(module, name)
    raise RuntimeError(f"PyTorch {torch.__version__} has no grouped_mm")


def grouped(layer):
    """Rows gathered in the order of their experts, two grouped products, and back."""
    multiply = grouped_mm()
    gate, up = multiply(layer.hidden[layer.order // layer.topk], layer.w13.transpose(1, 2), offs=layer.ends).chunk(2, -1)
    rows = multiply(silu(gate) * up, layer.w2.transpose(1, 2), offs=layer.ends)
    partial = torch.empty_like(rows)
    partial[layer.order] = (rows * layer.topk_weights.flatten()[layer.order, None]).to(rows.dtype)
    return partial.view(*layer.topk_ids.shape, -1).sum(1)


# --- Triton ---

# Rows, outputs and elements of k in a tile; warps; tiles under way; blocks of rows that share weights while they are in L2.
FEW_ROWS = [(16, 64, 128, 4, 4, 1), (16, 64, 128, 4, 3, 1), (16, 128, 64, 4, 4, 1), (16, 128, 128, 8, 3, 1)]
MANY_ROWS = [(64, 128, 64, 4, 4, 16), (128, 128, 64, 8, 3, 16), (128, 128, 64, 8, 4, 16)]


def configurations(layer):
    """Those worth trying."""
    return FEW_ROWS if layer.order.numel() < 32 * layer.num_experts else MANY_ROWS


if triton:
    @triton.jit
    def product_kernel(rows, weights, result, sorted_token_ids, expert_ids, num_tokens_post_padded, topk_weights,
                       num_positions, outputs, length, positions_of_a_row,
                       FIRST: tl.constexpr, ROWS: tl.constexpr, OUTPUTS: tl.constexpr, K: tl.constexpr,
                       SHARING: tl.constexpr):
        """FIRST: result = silu(rows w1) * (rows w3), where w13 has w1's rows before w3's; else result = weight * (rows w2).
        A program computes OUTPUTS outputs of the ROWS positions of a block. Programs of SHARING blocks that need the same
        weights are neighbours."""
        blocks_of_outputs = outputs // OUTPUTS
        blocks_of_rows = tl.num_programs(0) // blocks_of_outputs
        inside = tl.program_id(0) % (SHARING * blocks_of_outputs)
        first_block = tl.program_id(0) // (SHARING * blocks_of_outputs) * SHARING
        sharing = tl.minimum(blocks_of_rows - first_block, SHARING)
        block = first_block + inside % sharing
        if block * ROWS >= tl.load(num_tokens_post_padded):
            return
        positions = tl.load(sorted_token_ids + block * ROWS + tl.arange(0, ROWS)).to(tl.int64)
        real = positions < num_positions
        expert = tl.load(expert_ids + block).to(tl.int64)
        output = inside // sharing * OUTPUTS + tl.arange(0, OUTPUTS)
        k = tl.arange(0, K)
        row_at = rows + (positions // positions_of_a_row)[:, None] * length + k[None, :]
        expert_rows = outputs * 2 if FIRST else outputs
        weight_at = weights + (expert * expert_rows + output)[None, :] * length + k[:, None]
        sums = tl.zeros((ROWS, OUTPUTS), tl.float32)
        up_sums = tl.zeros((ROWS, OUTPUTS), tl.float32)
        for start in range(0, length, K):
            tile = tl.load(row_at + start, mask=real[:, None], other=0.0)
            sums = tl.dot(tile, tl.load(weight_at + start), sums)
            if FIRST:
                up_sums = tl.dot(tile, tl.load(weight_at + start + outputs * length), up_sums)
        if FIRST:
            sums = sums * tl.sigmoid(sums) * up_sums
        else:
            sums = sums * tl.load(topk_weights + positions, mask=real, other=0.0)[:, None]
        tl.store(result + positions[:, None] * outputs + output[None, :], sums.to(result.dtype.element_ty),
                 mask=real[:, None])


def triton_layer(layer, configuration):
    """Two products over sorted_token_ids, and the sum over topk."""
    if not triton:
        raise RuntimeError("this Python has no Triton")
    rows, outputs, k, warps, stages, sharing = configuration
    blocks = layer.blocks_of(rows)
    num_positions, hidden_size, intermediate_size = layer.order.numel(), layer.hidden.shape[1], layer.w2.shape[2]
    if hidden_size % max(outputs, k) or intermediate_size % max(outputs, k):
        raise RuntimeError(f"sizes that are no multiples of {max(outputs, k)}")
    intermediate = layer.hidden.new_empty(num_positions, intermediate_size)
    partial = layer.hidden.new_empty(num_positions, hidden_size)
    for first, source, weights, result, positions_of_a_row in (
            (True, layer.hidden, layer.w13, intermediate, layer.topk), (False, intermediate, layer.w2, partial, 1)):
        grid = (len(blocks[1]) * (result.shape[1] // outputs),)
        product_kernel[grid](source, weights, result, *blocks, layer.topk_weights, num_positions, result.shape[1],
                             source.shape[1], positions_of_a_row, FIRST=first, ROWS=rows, OUTPUTS=outputs, K=k,
                             SHARING=sharing, num_warps=warps, num_stages=stages)
    return partial.view(*layer.topk_ids.shape, hidden_size).sum(1)
