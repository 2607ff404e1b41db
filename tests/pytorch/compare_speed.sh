#!/bin/sh
# Runs compare_speed.py with a Python that has PyTorch: sh tests/pytorch/compare_speed.sh PROGRAM...
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import torch' 2>/dev/null; then
        exec "$python" "$(dirname "$0")/compare_speed.py" "$@"
    fi
done
echo 'no python3 here has PyTorch: sh common/setup.sh checks installs it' >&2
exit 1
