#!/bin/sh
# Compares the simulator's 16-bit types, and CUDA's types if its headers are installed, with recorded results.
. tests/tap.sh
program=tests/simt/small_float_types.cc

cat >"$scratch/expected" <<'END'
half double f0b90fec9fbf3c8c float d1903b31982f7b25 int c839c270f2aa42c6
bfloat16 double c233de80369bee52 float 7697b54954657025 int cef1c7c4cfa95f9a
half sums 625b68ea89910308 products a3209f4d752a9a4c order 4dc568e21688214f extremes 190ad233f0181886
bfloat16 sums e9e9b28b996f8a63 products ffcfd3e6f6b3e07a order 15984433e8e2764a extremes e031cd62adc72eb7
half modes aeb649009e196029 integers 43990fe3fe7d6b7e back 63dd6fb2b67aa87a limited 8a4a8d6ecb485efb
bfloat16 modes 475e1ce9b1f9ea94 integers 94ce9fc6458e3fd9 back fd9386f0d6e9d40c limited 57e85533eca89011
half pairs a7e6e8ee49ed2232 order e50863d86dd2707c
bfloat16 pairs 5e8a018fd8749598 order 9a17b495d21b0a5b
pairs 3e00 c080 1.5 -4.5 4 3fc0 c010 1.5 5.0625 4
END

fused='half fused: 0 wrong, not as when rounding twice
bfloat16 fused: 0 wrong, not as when rounding twice'

for compiler in g++ clang++; do
    if command -v $compiler >/dev/null; then
        succeeds "$compiler compiles without a warning" $compiler -std=c++17 -O1 -Wall -Wextra -Wpedantic -Werror \
            -Icommon/simt -Icommon "$program" -o "$scratch/ours" &&
            equal "$compiler: every function" "$(cat "$scratch/expected")" "$("$scratch/ours")" &&
            equal "$compiler: a product and a sum are rounded once" "$fused" "$("$scratch/ours" fused)"
    else
        skip $compiler "$compiler is not installed"
    fi
done

cuda=${CUDA_HOME:-/usr/local/cuda}/include
if [ -f "$cuda/cuda_bf16.h" ]; then
    succeeds "CUDA's headers compile" g++ -std=c++17 -O1 -I"$cuda" "$program" -o "$scratch/cuda" &&
        equal "CUDA's headers" "$(cat "$scratch/expected")" "$("$scratch/cuda")"
else
    skip "CUDA's headers" "no $cuda/cuda_bf16.h"
fi
for header in cuda_fp16.h cuda_bf16.h vector_types.h; do
    printf '#include "%s"\nint unused;\n' "$header" >"$scratch/a.c"
    succeeds "$header in C" gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Icommon/simt -Icommon -fsyntax-only \
        "$scratch/a.c"
done
finish
