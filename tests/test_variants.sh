#!/bin/sh
# Checks that every variant that is used to measure claims gives correct results. On a GPU, measure_claims.sh verifies
# each variant on all problems of --check-all before the variant is timed.
#
# run in all: $b/cpu/variants/*
set -u
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/operators.sh"
case $(operator_of "$1") in
gate) inputs='nan ties normal extreme' ;;
align) inputs='invalid uniform one balanced' ;;
moe)
    succeeds "$1 verifies the problems of --check-corners" "$1" --check-corners
    finish
    ;;
esac
succeeds "$1 verifies the real router's data" "$1" --num-tokens 300
for dist in $inputs; do
    succeeds "$1 verifies $dist" "$1" --num-tokens 70 --num-experts 128 --dist "$dist"
done
finish
