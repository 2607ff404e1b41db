#!/bin/sh
# Checks for an NVIDIA GPU, so that a target whose tests all need one fails before they run.
#
#   sh tests/gpu/find_gpu.sh
#
# Prints one line and exits with 1 if there is no GPU. A container may have the GPU's device but no nvidia-smi. Devices
# are in $DEVICES, by default /dev.
set -u
[ -n "$(nvidia-smi --list-gpus 2>/dev/null)" ] && exit
for device in "${DEVICES:-/dev}"/nvidia[0-9]* "${DEVICES:-/dev}/dxg"; do
    [ ! -e "$device" ] || exit 0
done
echo 'no GPU here; ninja test runs on the CPU' >&2
exit 1
