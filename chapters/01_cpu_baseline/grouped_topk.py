"""The gate as PyTorch states it. Every chapter agrees with this function; gate.c beside it is the same, line by line.

gating_output [n, E] is f32, f16 or bf16; correction_bias [E] is f32, of the same type, or None. Groups are contiguous:
expert e is in group e // (E // num_expert_group). Every intermediate tensor has the type PyTorch gives it (bf16 scores
plus an f32 bias are f32); the scale comes after the conversion to f32. Runs under PyTorch 1.13 and later.
"""
import torch


# [grouped_topk]
def grouped_topk(gating_output, correction_bias, topk, num_expert_group, topk_group, score="sigmoid", renormalize=True,
                 routed_scaling_factor=1.0):
    n, num_experts = gating_output.shape
    if score == "sigmoid":
        scores = gating_output.sigmoid()
    elif score == "softmax":
        scores = gating_output.softmax(dim=-1)
    else:
        scores = gating_output
    choice = scores if correction_bias is None else scores + correction_bias.unsqueeze(0)

    grouped = choice.view(n, num_expert_group, -1)
    group_scores = grouped.amax(dim=-1) if correction_bias is None else grouped.topk(2, dim=-1)[0].sum(dim=-1)
    kept = group_scores.topk(topk_group, dim=-1)[1]
    mask = torch.zeros_like(group_scores).scatter_(1, kept, 1).bool()
    mask = mask.unsqueeze(-1).expand(n, num_expert_group, num_experts // num_expert_group).reshape(n, -1)

    topk_ids = choice.masked_fill(~mask, float("-inf")).topk(topk, dim=-1, sorted=True)[1]
    topk_weights = scores.gather(1, topk_ids)
    if renormalize:
        topk_weights = topk_weights / topk_weights.sum(dim=-1, keepdim=True)
    return topk_weights.to(torch.float32) * routed_scaling_factor, topk_ids.to(torch.int32)
# [grouped_topk]
