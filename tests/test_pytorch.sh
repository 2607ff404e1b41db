#!/bin/sh
# Compares chapter 01 with PyTorch on random problems, where a python3 on this machine has PyTorch. TAP on stdout.
#
#   sh tests/test_pytorch.sh PROGRAM CHECK_ANSWER
set -u
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import torch, numpy' 2>/dev/null; then
        exec "$python" "$(dirname "$0")/pytorch/compare_answers.py" "$@"
    fi
done
echo "ok 1 - chapter 01 agrees with PyTorch on random problems # SKIP no python3 here has PyTorch (setup.sh checks)"
echo "1..1"
