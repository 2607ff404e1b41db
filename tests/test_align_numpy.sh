#!/bin/sh
# Compares align programs with NumPy on random problems, where a python3 on this machine has NumPy. TAP on stdout.
#
#   sh tests/test_align_numpy.sh PROGRAM...
set -u
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        exec "$python" "$(dirname "$0")/numpy/compare_align.py" "$@"
    fi
done
number=0
for program in "$@"; do
    number=$((number + 1))
    echo "ok $number - $(basename "$program") agrees with NumPy # SKIP no python3 here has NumPy (setup.sh checks)"
done
echo "1..$number"
