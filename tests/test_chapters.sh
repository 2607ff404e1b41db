#!/bin/sh
# Runs chapter programs over a grid of shapes, types and distributions; each run must verify itself. TAP on stdout.
#
#   sh tests/test_chapters.sh build/cpu/02_warp_per_group...     (or build/gpu/...)
#
# A shape that a chapter says it does not support (exit 2, naming the flag) is skipped and counted.
set -u
[ $# -gt 0 ] || { echo "usage: $0 PROGRAM..." >&2; exit 2; }
. "$(dirname "$0")/tap.sh"

shapes='--num-experts=256 --num-expert-group=8 --topk-group=4 --topk=8
--num-experts=256 --num-expert-group=16 --topk-group=4 --topk=8
--num-experts=128 --num-expert-group=4 --topk-group=2 --topk=6
--num-experts=160 --num-expert-group=8 --topk-group=3 --topk=6
--num-experts=384 --num-expert-group=16 --topk-group=5 --topk=7
--num-experts=32 --num-expert-group=1 --topk-group=1 --topk=32
--num-experts=6 --num-expert-group=3 --topk-group=3 --topk=1
--num-experts=1024 --num-expert-group=32 --topk-group=32 --topk=32'
forms='--score=sigmoid --bias=random --bias-dtype=f32
--score=sigmoid --bias=random --bias-dtype=same
--score=softmax --bias=none
--score=none --bias=none --renormalize=0'
dists='normal uniform zipf ties equal extreme nan'
