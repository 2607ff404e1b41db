#!/bin/sh
# Compiles chapter 18's second binding against the headers of the installed PyTorch, which must be 2.9 or newer:
#
#   sh chapters/18_into_a_model/torch_binding.sh ARCH_STAMP binding.cpp OUT.so
#
# ARCH_STAMP is the stamp that common/nvcc.sh writes; libmoe_routing.so must be in the directory of OUT.so.
set -eu
stamp=$1
source=$2
out=$3
torch=$(sh common/python.sh torch -c 'import os, torch
if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < (2, 9):
    raise SystemExit(f"torch_binding.sh: PyTorch {torch.__version__} has no stable ABI; it comes with 2.9")
if torch.version.cuda is None:
    raise SystemExit("torch_binding.sh: this PyTorch is built without CUDA")
print(os.path.dirname(torch.__file__))')
folder=$(cd "$(dirname "$out")" && pwd)
sh common/nvcc.sh compile "$stamp" -shared -cudart none -std=c++20 -O2 -DUSE_CUDA \
    -Xcompiler -fPIC,-Wall,-Wextra -I"$torch/include" "$source" -o "$out" \
    -L"$folder" -lmoe_routing -L"$torch/lib" -ltorch_cuda -ltorch_cpu -lc10 \
    -Xlinker -rpath -Xlinker "$folder" -Xlinker -rpath -Xlinker "$torch/lib"
