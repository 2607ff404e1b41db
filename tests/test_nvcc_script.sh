#!/bin/sh
# Tests common/nvcc.sh with stubs of nvcc and nvidia-smi: for which architecture the script compiles, and its errors.
. tests/tap.sh
stamp=$scratch/arch
bin=$scratch/bin
toolkit=$scratch/toolkit
mkdir -p "$bin" "$toolkit/bin" "$scratch/none"
for tool in sh cat sed expr sort; do
    ln -s "$(command -v $tool)" "$bin/$tool"
done

# fake PATH BODY: makes a command
fake() {
    printf '#!%s\n%s\n' "$(command -v sh)" "$2" >"$1"
    chmod +x "$1"
}

# fake_nvcc PATH RELEASE: makes an nvcc that prints its arguments
fake_nvcc() {
    fake "$1" "case \$1 in --version) echo 'Cuda compilation tools, release $2, V$2.1' ;; *) echo $2: \"\$@\" ;; esac"
}

# nvcc ARGUMENT...: runs the script without a GPU and with the stubs as the only CUDA; prints its exit status and output
nvcc() {
    said=$(PATH=$bin CUDA_DEFAULT=$default CUDA_HOME=$home GPU_ARCH=$gpu sh common/nvcc.sh "$@" 2>&1)
    echo "$? $said"
}
default=$scratch/none
home=
gpu=
notice='nvcc.sh: no GPU here: compiling for sm_90; GPU_ARCH=sm_NN chooses another'
from=https://developer.nvidia.com/cuda-downloads

missing="nvcc.sh: nvcc is missing: install the CUDA Toolkit, 12 or newer, from $from"
equal 'no nvcc' "1 $missing" "$(nvcc arch "$stamp")"
succeeds 'no nvcc: no stamp' [ ! -e "$stamp" ]
echo sm_90 >"$stamp"
equal 'no nvcc to compile with' "1 $missing" "$(nvcc compile "$stamp" -c a.cu)"
home=$scratch/none
equal 'none in CUDA_HOME either' "1 $missing" "$(nvcc compile "$stamp" -c a.cu)"
home=
rm "$stamp"

fake_nvcc "$bin/nvcc" 11.8
equal 'an old nvcc' "1 nvcc.sh: $bin/nvcc is of CUDA 11: install 12 or newer from $from" "$(nvcc arch "$stamp")"
fake "$bin/nvcc" 'echo what?'
equal 'an odd nvcc' "1 nvcc.sh: $bin/nvcc is of CUDA (no release): install 12 or newer from $from" \
    "$(nvcc arch "$stamp")"

fake_nvcc "$bin/nvcc" 12.0
equal 'no GPU' "0 $notice" "$(nvcc arch "$stamp")"
equal 'no GPU: sm_90' sm_90 "$(cat "$stamp")"
equal 'said once' '0 ' "$(nvcc arch "$stamp")"
equal 'compile, for all that the GPU has' '0 12.0: -gencode arch=compute_90a,code=sm_90a -c a b.cu' \
    "$(nvcc compile "$stamp" -c 'a b.cu')"

touch -d '2001-01-01' "$stamp"
before=$(ls -l --time-style=full-iso "$stamp")
nvcc arch "$stamp" >/dev/null
equal 'the stamp of the same architecture stays' "$before" "$(ls -l --time-style=full-iso "$stamp")"
gpu=sm_80
nvcc arch "$stamp" >/dev/null
succeeds 'that of another does not' [ "$before" != "$(ls -l --time-style=full-iso "$stamp")" ]
equal 'GPU_ARCH' sm_80 "$(cat "$stamp")"

gpu=sm_90a
equal 'GPU_ARCH with features of one generation' '0 ' "$(nvcc arch "$stamp")"
equal 'they need their own code' '0 12.0: -gencode arch=compute_90a,code=sm_90a x.cu' "$(nvcc compile "$stamp" x.cu)"
gpu=sm_120
equal 'three digits' '0 sm_120' "$(nvcc arch "$stamp")$(cat "$stamp")"
gpu=every
equal 'every architecture' '0 every' "$(ARCHITECTURES='sm_75 sm_90' nvcc arch "$stamp")$(cat "$stamp")"
equal "warnings are errors" \
    "0 12.0: -Werror all-warnings x.cu -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90a,code=sm_90a" \
    "$(ARCHITECTURES='sm_75 sm_90' nvcc compile "$stamp" x.cu)"
for gpu in 90 sm_9 compute_90 sm_90b sm_90aa sm_1200 'sm_90 -x' native; do
    equal "GPU_ARCH=$gpu" \
        "2 nvcc.sh: GPU_ARCH=$gpu: it must be sm_ and the compute capability, such as sm_90" \
        "$(nvcc arch "$stamp")"
done
mv "$bin/nvcc" "$scratch/nvcc"
fake "$bin/nvcc" "case \$1 in --version) echo 'release 12.9,' ;; *) echo 'sm_50 sm_70 sm_120 sm_75 sm_90 sm_90a' | sed 's/ /\n/g' ;; esac"
all="$bin/nvcc compiles for: sm_75 sm_90 sm_90a sm_120"
equal "GPU_ARCH=sm_999, for which nvcc has nothing" "2 nvcc.sh: GPU_ARCH=sm_999: $all" "$(gpu=sm_999 && nvcc arch "$stamp")"
for gpu in sm_70 sm_61; do
    equal "GPU_ARCH=$gpu, which the course does not support" \
        "2 nvcc.sh: GPU_ARCH=$gpu: the course needs sm_75 (Turing) or newer; $all" "$(nvcc arch "$stamp")"
done
for gpu in sm_75 sm_90a every; do
    equal "GPU_ARCH=$gpu, for which nvcc compiles" "0 $gpu" "$(nvcc arch "$stamp")$(cat "$stamp")"
done
gpu=
fake "$bin/nvidia-smi" 'echo 13.0'
equal 'a GPU that is too new for nvcc' \
    "2 nvcc.sh: sm_130: $all" "$(nvcc arch "$stamp")"
mv "$scratch/nvcc" "$bin/nvcc"

fake "$bin/nvidia-smi" 'printf "10.3\n9.0\n"'
equal 'the first GPU' '0 sm_103' "$(nvcc arch "$stamp")$(cat "$stamp")"
gpu=sm_90
equal 'GPU_ARCH before the GPU' '0 sm_90' "$(nvcc arch "$stamp")$(cat "$stamp")"
gpu=
fake "$bin/nvidia-smi" 'echo "Field \"compute_cap\" is not a valid field to query."; exit 6'
echo sm_75 >"$stamp"
equal 'an nvidia-smi that fails' "0 $notice" "$(nvcc arch "$stamp")"

fake_nvcc "$toolkit/bin/nvcc" 13.1
home=$toolkit
equal 'CUDA_HOME comes before PATH' '0 13.1: -gencode arch=compute_90a,code=sm_90a x.cu' "$(nvcc compile "$stamp" x.cu)"
home=
default=$toolkit
equal 'PATH comes before /usr/local/cuda' '0 12.0: -gencode arch=compute_90a,code=sm_90a x.cu' \
    "$(nvcc compile "$stamp" x.cu)"
rm "$bin/nvcc"
equal '/usr/local/cuda comes last' '0 13.1: -gencode arch=compute_90a,code=sm_90a x.cu' "$(nvcc compile "$stamp" x.cu)"
fake "$toolkit/bin/nvcc" 'case $1 in --version) echo "release 12.4," ;; *) exit 7 ;; esac'
equal "nvcc's exit status" '7 ' "$(nvcc compile "$stamp" x.cu)"

fake_nvcc "$bin/nvcc" 12.8
all=
for arch in 75 80 86 89 90a 120; do
    all="$all -gencode arch=compute_$arch,code=sm_$arch"
done
equal 'every architecture' "0 12.8: -c x.cu$all" "$(nvcc every -c x.cu)"
equal 'some architectures' '0 12.8: -c x.cu -gencode arch=compute_75,code=sm_75' \
    "$(ARCHITECTURES=sm_75 && export ARCHITECTURES && nvcc every -c x.cu)"
rm "$bin/nvcc"

usage='nvcc.sh: usage: nvcc.sh arch STAMP, nvcc.sh compile STAMP ARGS..., or nvcc.sh every ARGS...'
equal 'no command' "2 $usage" "$(nvcc)"
equal 'another command' "2 $usage" "$(nvcc link)"
equal 'no stamp' '2 nvcc.sh: usage: nvcc.sh arch STAMP' "$(nvcc arch)"
equal 'nothing to compile for every architecture' '2 nvcc.sh: usage: nvcc.sh every ARGS...' "$(nvcc every)"
equal 'nothing to compile' '2 nvcc.sh: usage: nvcc.sh compile STAMP ARGS...' "$(nvcc compile "$stamp")"

unset -f nvcc
real=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -n "$real" ]; then
    cat >"$scratch/a.cu" <<'END'
__global__ void add(const float *a, const float *b, float *sum, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

void launch(const float *a, const float *b, float *sum, int n)
{
    add<<<(n + 255) / 256, 256>>>(a, b, sum, n);
}
END
    for arch in sm_90 sm_90a; do
        GPU_ARCH=$arch sh common/nvcc.sh arch "$stamp"
        output=$(sh common/nvcc.sh compile "$stamp" -std=c++17 -O3 -lineinfo -Xcompiler -Wall,-Wextra -c \
            "$scratch/a.cu" -o "$scratch/a.o" 2>&1)
        equal "the real nvcc compiles for $arch without a warning" '0 ' "$? $output"
    done
else
    skip 'the real nvcc compiles' 'no nvcc here'
fi

finish
