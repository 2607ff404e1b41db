# run in all:
# needs: numpy, torch
"""Tests moe_peers.py on a CPU: the layers agree, wrong layers are rejected, and the report is complete."""
import argparse
import json
import pathlib
import subprocess
import sys
import unittest

import torch

import moe_layers
import moe_peers

SCRIPT = pathlib.Path(moe_peers.__file__)
OPTIONS = argparse.Namespace(device="cpu", dist="uniform", hidden_size=128, intermediate_size=64, replays=3,
                             seconds=0.01)
FEW = ("--device", "cpu", "--num-tokens", "1", "5", "--hidden-size", "128", "--intermediate-size", "64", "--replays",
       "3",
       "--seconds", "0.01")


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def layer_of(num_tokens, dist="uniform"):
    options = argparse.Namespace(**{**vars(OPTIONS), "dist": dist})
    return moe_peers.make_layer(num_tokens, moe_peers.make_weights(options), options)


def multiply_groups(rows, weights, offs):
    """Multiplies groups of rows like grouped_mm."""
    begins = [0, *offs.tolist()]
    return torch.cat([rows[begin:end] @ weight for begin, end, weight in zip(begins, begins[1:], weights)])


def refused(check, output):
    try:
        check(output)
    except RuntimeError:
        return True
    return False


class Peers(unittest.TestCase):
    def test_the_loop_and_grouped_products_agree(self):
        kept, moe_layers.grouped_mm = moe_layers.grouped_mm, lambda: multiply_groups
        try:
            for dist in ("router", "balanced", "uniform"):
                layer = layer_of(9, dist)
                check = moe_peers.Check(layer)
                check(moe_layers.loop(layer))
                check(moe_layers.grouped(layer))
        finally:
            moe_layers.grouped_mm = kept

    def test_wrong_layers_are_rejected(self):
        layer = layer_of(9)
        right = moe_layers.loop(layer)
        for change in ("w13", "w2", "topk_weights"):
            changed, check = layer_of(1), moe_peers.Check(layer)
            vars(changed).update(vars(layer))
            kept = getattr(layer, change)
            setattr(changed, change, {  # w3's rows before w1's; the neighbouring expert's weights; no routing weights
                "w13": torch.cat(kept.chunk(2, dim=1)[::-1], dim=1), "w2": kept.roll(1, 0),
                "topk_weights": torch.ones_like(kept)}[change])
            assert refused(check, moe_layers.loop(changed)), change
        check = moe_peers.Check(layer)
        assert not refused(check, right)
        other = right.clone()
        other[2] = right[3]  # not one of the rows that are compared with f32
        assert refused(check, other) and refused(check, right * float("nan"))

    def test_blocks_hold_every_position_once(self):
        for num_tokens, size in ((1, 16), (9, 16), (300, 64)):
            layer = layer_of(num_tokens)
            sorted_token_ids, expert_ids, num_tokens_post_padded = layer.blocks_of(size)
            numel, ids = layer.order.numel(), layer.topk_ids.flatten()
            assert len(sorted_token_ids) == len(expert_ids) * size >= int(num_tokens_post_padded)
            real = sorted_token_ids[sorted_token_ids < numel]
            assert torch.equal(real.sort()[0], torch.arange(numel, dtype=torch.int32))
            for block, expert in zip(sorted_token_ids.view(-1, size), expert_ids.tolist()):
                assert (ids[block[block < numel].long()] == expert).all()
            assert (expert_ids >= 0).sum() * size == int(num_tokens_post_padded)

    def test_routings_are_what_they_say(self):
        ids, weights = moe_peers.choose(64, argparse.Namespace(dist="balanced"))
        assert torch.equal(torch.bincount(ids.flatten().long()), torch.full((256,), 2))
        ids, weights = moe_peers.choose(64, argparse.Namespace(dist="uniform"))
        assert all(len(set(row.tolist())) == 8 for row in ids) and torch.allclose(weights.sum(-1), torch.ones(64))

    def test_work_is_that_of_the_experts_used(self):
        work = moe_peers.work(layer_of(1))
        assert work == {"operations": 2 * 8 * 3 * 128 * 64, "bytes": 8 * 3 * 128 * 64 * 2 + 2 * 128 * 2}, work

    def test_reports_as_json(self):
        done = run(*FEW, "--format", "json", "--dist", "balanced")
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert [row["num_tokens"] for row in report["rows"]] == [1, 5] and len(report["kernel_source_sha256"]) == 64
        assert report["command"] == "python3 tests/peers/moe_peers.py --dist balanced " + " ".join(FEW)
        for row in report["rows"]:
            assert 0 < row["loop_stream"]["p10_us"] <= row["loop_stream"]["median_us"] <= row["loop_stream"]["p90_us"]
            assert row["triton_graph"] is None and row["grouped_graph"] is None and len(row["reasons"]) == 2

    def test_refuses_bad_arguments(self):
        for arguments in (["--dist", "zipf"], ["--num-tokens", "0"], ["--hidden-size", "x"], ["--format", "xml"]):
            done = run("--device", "cpu", *arguments)
            assert done.returncode == 2 and "error: " in done.stderr and "Traceback" not in done.stderr, arguments
