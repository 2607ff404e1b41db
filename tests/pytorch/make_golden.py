"""Makes the golden vectors in tests/golden: PyTorch's own answers to small gate problems.

    python3 tests/pytorch/make_golden.py OUT_DIR [--device cpu|cuda] [--dtype f32,f16,bf16]

Each case is a folder: logits.npy, bias.npy (if it has one), topk_ids.npy, topk_weights.npy, and `arguments`, the flags
that put the same problem to a chapter's program. PyTorch 1.13 has no f16 sigmoid, softmax or topk on the CPU, so the
f16 cases were made on a GPU. `made_by` in OUT_DIR says what made what.
"""
import argparse
import pathlib
import sys

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "chapters" / "01_cpu_baseline"))
from grouped_topk import grouped_topk

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}

# tokens, experts, groups, kept groups, chosen experts
SHAPES = [(12, 256, 8, 4, 8), (9, 160, 8, 3, 6), (7, 64, 1, 1, 6), (5, 128, 4, 2, 8)]

# score, bias type, renormalise, scale
FORMS = [("sigmoid", "f32", 1, 2.5), ("sigmoid", "none", 1, 1.0), ("softmax", "none", 0, 16.0),
         ("softmax", "f32", 1, 1.0), ("none", "none", 0, 1.0), ("sigmoid", "same", 1, 2.5)]


def save(path, tensor):
    array = tensor.detach().cpu()
    if array.dtype == torch.bfloat16:
        array = array.to(torch.float32)  # .npy has no bf16; the values are exact in f32
    numpy.save(path, array.numpy())


def make_case(folder, shape, form, dtype_name, device, generator):
    n, num_experts, num_expert_group, topk_group, topk = shape
    score, bias_type, renormalize, scale = form
    dtype = DTYPES[dtype_name]
    logits = (torch.randn(n, num_experts, generator=generator) * 1.5).to(dtype)
    bias = None
    if bias_type != "none":
        bias = (torch.randn(num_experts, generator=generator) * 0.1).to(torch.float32 if bias_type == "f32" else dtype)
    weights, ids = grouped_topk(logits.to(device), None if bias is None else bias.to(device), topk, num_expert_group,
                                topk_group, score, bool(renormalize), scale)
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / "logits.npy", logits)
    if bias is not None:
        save(folder / "bias.npy", bias)
    save(folder / "topk_ids.npy", ids)
    save(folder / "topk_weights.npy", weights)
    arguments = ["--num-expert-group", num_expert_group, "--topk-group", topk_group, "--topk", topk, "--dtype",
                 dtype_name, "--score", score, "--renormalize", renormalize, "--routed-scaling-factor", scale,
                 "--bias-dtype", "same" if bias_type == "same" else "f32"]
    (folder / "arguments").write_text(" ".join(str(a) for a in arguments) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="f32,bf16")
    options = parser.parse_args()
    for dtype_name in options.dtype.split(","):
        for s, shape in enumerate(SHAPES):
            for f, form in enumerate(FORMS):
                if form[1] == "same" and dtype_name == "f32":
                    continue
                generator = torch.Generator().manual_seed(1000 * s + f)
                make_case(options.out / f"{dtype_name}_{shape[1]}_{form[0]}_bias_{form[1]}", shape, form, dtype_name,
                          options.device, generator)
        where = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
        (options.out / f"made_by_{dtype_name}").write_text(f"PyTorch {torch.__version__} on {where}\n")


if __name__ == "__main__":
    main()
