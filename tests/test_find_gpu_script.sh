#!/bin/sh
# Tests tests/gpu/find_gpu.sh with a stub nvidia-smi and an empty folder of devices.
. tests/tap.sh
mkdir "$scratch/bin" "$scratch/dev"
ln -s "$(command -v sh)" "$scratch/bin/sh"

# find_gpu: prints the script's exit status and output
find_gpu() {
    said=$(PATH=$scratch/bin DEVICES=$scratch/dev sh tests/gpu/find_gpu.sh 2>&1)
    echo "$? $said"
}
# nvidia_smi BODY: makes the stub
nvidia_smi() {
    printf '#!%s\n%s\n' "$(command -v sh)" "$1" >"$scratch/bin/nvidia-smi"
    chmod +x "$scratch/bin/nvidia-smi"
}
none='1 no GPU here; ninja test runs on the CPU'

equal 'no nvidia-smi and no device' "$none" "$(find_gpu)"
nvidia_smi 'echo "No devices were found" >&2; exit 6'
equal 'an nvidia-smi that finds none' "$none" "$(find_gpu)"
: >"$scratch/dev/nvidiactl"
equal 'the device of the driver is not that of a GPU' "$none" "$(find_gpu)"
: >"$scratch/dev/nvidia0"
equal 'a device' '0 ' "$(find_gpu)"
rm "$scratch/dev/nvidia0"
: >"$scratch/dev/dxg"
equal "a device of Windows' subsystem" '0 ' "$(find_gpu)"
rm "$scratch/dev/dxg"
nvidia_smi 'echo "GPU 0: NVIDIA H200"'
equal 'a GPU' '0 ' "$(find_gpu)"

for target in test-gpu test-learn-gpu sanitize-gpu; do
    matches "ninja $target checks for one" '*sh tests/gpu/find_gpu.sh*' "$(ninja -t commands $target)"
done
finish
