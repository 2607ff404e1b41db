"""Predicts the times of chapter 12's two paths with the alpha-beta model, also for rank counts that were not measured.

    python3 chapters/12_expert_parallel/model.py

A message takes ALPHA plus its size divided by the bandwidth; a rank sends one message at a time. With recursive
doubling, a rank sends log2 N messages in an all-gather and 2 log2 N in an all-reduce; in an all-to-all, it sends N - 1.
The constants come from all-reduces in f32 between two H200s, replayed from CUDA graphs. The program's recorded times
are longer, because its host waits for each collective to complete.
"""
import json
import math
import pathlib
import statistics

HIDDEN, TOPK, EXPERTS = 7168, 8, 256
ALPHA_US = 17.5 / 2                           # an all-reduce of up to 256 KB sends two messages and runs in 16 to 19 us
# bytes per us: NVLINK is measured with 256 MB; NETWORK assumes a 400 Gb/s port for each GPU
NVLINK, NETWORK = 301e3, 50e3               
ROW, CHOICES, SUM_ROW = 2 * HIDDEN, 8 * TOPK, 4 * HIDDEN

RECORD = pathlib.Path("docs/results/h200/12_expert_parallel.json")
# Number of calls per path. Broadcast: the arrays in one group call, and an all-reduce. All-to-all: the counts, the
# arrays in one group call, and the sums on the way back.
CALLS = {"broadcast": 2, "all-to-all": 3}   


def ranks_of_token(ranks):
    """Returns the average number of ranks that have any of a token's experts, if all choices are equally likely."""
    return ranks * (1 - math.comb(EXPERTS - EXPERTS // ranks, TOPK) / math.comb(EXPERTS, TOPK))


def broadcast_bytes(ranks, tokens):
    """Returns the number of bytes that a rank receives: all tokens except its own, once, and all sums except its own
    share, twice."""
    return tokens * (ranks - 1) / ranks * (ROW + CHOICES + 2 * SUM_ROW)


def all_to_all_bytes(ranks, tokens):
    """Returns the bytes that a rank receives: tokens for its experts, and its tokens' sums from the other ranks."""
    return tokens * ranks_of_token(ranks) / ranks * (ranks - 1) / ranks * (ROW + CHOICES + SUM_ROW)


def broadcast_us(ranks, tokens, bandwidth):
    return 3 * math.log2(ranks) * ALPHA_US + broadcast_bytes(ranks, tokens) / bandwidth


def all_to_all_us(ranks, tokens, bandwidth):
    """Returns the time of dispatch, of combine and of the preceding all-gather of counts, whose few bytes
    are neglected."""
    return (math.log2(ranks) + 2 * (ranks - 1)) * ALPHA_US + all_to_all_bytes(ranks, tokens) / bandwidth


def crossover(ranks, bandwidth, call_us=0):
    """Returns the smallest number of tokens, over all ranks, for which all-to-all is faster; 1 means that it is always
    faster. `call_us` is added to the model's time for each call of a collective."""
    latency = all_to_all_us(ranks, 0, bandwidth) - broadcast_us(ranks, 0, bandwidth)
    latency += (CALLS["all-to-all"] - CALLS["broadcast"]) * call_us
    return max(1, math.ceil(latency * bandwidth / (broadcast_bytes(ranks, 1) - all_to_all_bytes(ranks, 1))))


def recorded():
    """Returns the tokens, the path and the collectives' stages of each recorded run on two GPUs with whole experts."""
    runs = json.loads(RECORD.read_text()) if RECORD.exists() else []
    return [(run["problem"]["num_tokens"], run["dispatch"], [stage for stage in run["stages"] if stage["ranks"] == 2])
            for run in runs if (run["ranks"], run["dp"], run["ep"]) == (2, 2, 2)]


def compare_with_record():
    """Prints the model's and the recorded time of each run, the difference per call, and the bandwidth."""
    before, more = {}, []
    print("\n  path        tokens  model us  recorded us  more, each call   GB/s into each GPU, of what the row above has not")
    for tokens, path, stages in sorted(recorded(), key=lambda run: (run[1], run[0])):
        us = sum(stage["us"] for stage in stages)
        model = (broadcast_us if path == "broadcast" else all_to_all_us)(2, tokens, NVLINK)
        more.append((us - model) / CALLS[path])
        rates = [f"{stage['stage']} {(stage['bytes_over_the_bus'] - old['bytes_over_the_bus']) / 2e3 / (stage['us'] - old['us']):.0f}"
                 for stage, old in zip(stages, before.get(path, []))]
        print(f"  {path:10} {tokens:7,} {model:9,.0f} {us:12,.0f} {more[-1]:16.0f}   {', '.join(rates)}")
        before[path] = stages
    if more:
        call_us = statistics.median(more)
        print(f"  with {call_us:.0f} us more for each call, the median, all-to-all wins from {crossover(2, NVLINK, call_us):,} tokens")


def main():
    print("all-reduce of two ranks in the model, GB/s on the bus")
    for size in (1 << 20, 1 << 24, 1 << 28):
        print(f"{size >> 20:5} MB {size / (2 * ALPHA_US + size / NVLINK) / 1e3:6.0f}")
    compare_with_record()
    print("\n  GPUs  bandwidth  ranks/token  bytes: broadcast / all-to-all   us for 64 a GPU       us for 2,048 a GPU     crossover")
    for ranks in (2, 8, 64, 256):
        for name, bandwidth in (("NVLink", NVLINK), ("network", NETWORK)):
            times = [
                f"{broadcast_us(ranks, ranks * n, bandwidth):9,.0f} {all_to_all_us(ranks, ranks * n, bandwidth):9,.0f}"
                     for n in (64, 2048)]
            print(f"{ranks:6}  {name:9} {ranks_of_token(ranks):11.2f} "
                  f"{broadcast_bytes(ranks, 1) / all_to_all_bytes(ranks, 1):14.1f}              {times[0]}    {times[1]}"
                  f" {crossover(ranks, bandwidth):10,}")


if __name__ == "__main__":
    main()
