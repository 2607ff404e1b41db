#!/bin/sh
# Whether docs/figures holds the pictures that the tool makes now: sh docs/check_figures.sh BUILD/docs/figures/*.svg
# Says which one does not, and what to do; exits 1.
set -eu
status=0
for made in "$@"; do
    committed=docs/figures/$(basename "$made")
    if ! cmp -s "$made" "$committed"; then
        echo "$committed: not what the programs and docs/trace_figure.c make now; run ninja figures" >&2
        status=1
    fi
done
exit $status
