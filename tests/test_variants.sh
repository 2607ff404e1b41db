#!/bin/sh
# Every variant is right, as right as its chapter: what claims are measured with computes the same.
#
# run: $b/cpu/variants/*
set -u
. "$(dirname "$0")/tap.sh"
succeeds "$1 verifies every problem to try" "$1" --check-all
finish
