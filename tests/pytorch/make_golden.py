"""Makes the golden vectors in tests/golden: PyTorch's own answers to small gate problems.

    python3 tests/pytorch/make_golden.py OUT_DIR [--device cpu|cuda] [--dtype f32,f16,bf16]

OUT_DIR receives an archive for each type, such as f32.tar. Each archive has a folder for each case, with logits.npy,
bias.npy (if the case has one), topk_ids.npy, topk_weights.npy and `arguments`, the flags that give a chapter's program
the same problem; and `made_by`, the version of PyTorch and the device. PyTorch 1.13 has no f16 sigmoid, softmax or topk
on the CPU, so the f16 cases were made on a GPU.
"""
import argparse
import io
import pathlib
import sys
import tarfile

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


def add_file(archive, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def add_array(archive, name, tensor):
    array = tensor.detach().cpu()
    if array.dtype == torch.bfloat16:
        array = array.to(torch.float32)  # .npy has no bf16; the values are exact in f32
    content = io.BytesIO()
    numpy.save(content, array.numpy())
    add_file(archive, name, content.getvalue())


def add_case(archive, name, shape, form, dtype_name, device, generator):
    n, num_experts, num_expert_group, topk_group, topk = shape
    score, bias_type, renormalize, scale = form
    dtype = DTYPES[dtype_name]
    logits = (torch.randn(n, num_experts, generator=generator) * 1.5).to(dtype)
    bias = None
    if bias_type != "none":
        bias = (torch.randn(num_experts, generator=generator) * 0.1).to(torch.float32 if bias_type == "f32" else dtype)
    weights, ids = grouped_topk(logits.to(device), None if bias is None else bias.to(device), topk, num_expert_group,
                                topk_group, score, bool(renormalize), scale)
    add_array(archive, f"{name}/logits.npy", logits)
    if bias is not None:
        add_array(archive, f"{name}/bias.npy", bias)
    add_array(archive, f"{name}/topk_ids.npy", ids)
    add_array(archive, f"{name}/topk_weights.npy", weights)
    arguments = ["--num-expert-group", num_expert_group, "--topk-group", topk_group, "--topk", topk, "--dtype",
                 dtype_name, "--score", score, "--renormalize", renormalize, "--routed-scaling-factor", scale,
                 "--bias-dtype", "same" if bias_type == "same" else "f32"]
    add_file(archive, f"{name}/arguments", (" ".join(str(a) for a in arguments) + "\n").encode())


def make_archive(path, dtype_name, device):
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for s, shape in enumerate(SHAPES):
            for f, form in enumerate(FORMS):
                if form[1] == "same" and dtype_name == "f32":
                    continue
                add_case(archive, f"{dtype_name}_{shape[1]}_{form[0]}_bias_{form[1]}", shape, form, dtype_name, device,
                         torch.Generator().manual_seed(1000 * s + f))
        where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
        add_file(archive, "made_by", f"PyTorch {torch.__version__} on {where}\n".encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="f32,bf16")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for dtype_name in options.dtype.split(","):
        make_archive(options.out / f"{dtype_name}.tar", dtype_name, options.device)


if __name__ == "__main__":
    main()
