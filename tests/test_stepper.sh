#!/bin/sh
# The pages that play a run, in a browser: sh tests/test_stepper.sh build/docs/stepper. TAP on stdout.
set -u
exec python3 "$(dirname "$0")/test_stepper.py" "$1"
