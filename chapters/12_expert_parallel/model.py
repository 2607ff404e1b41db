"""What the alpha-beta model says of chapter 12's two paths, beyond the ranks that were measured.

    python3 chapters/12_expert_parallel/model.py

A message costs ALPHA and its bytes over the bandwidth; a rank sends one at a time. An all-gather by recursive doubling takes log2 N
messages, an all-reduce 2 log2 N, an all-to-all N - 1. The constants are of all-reduces in f32 between two H200s, as recorded.
"""
import math

HIDDEN, TOPK, EXPERTS = 7168, 8, 256
ALPHA_US = 17.5 / 2                           # an all-reduce up to 256 KB takes 16 to 19 us, two messages
NVLINK, NETWORK = 301e3, 50e3                 # bytes per us: recorded at 256 MB; and assumed, a network port of 400 Gb/s for each GPU
ROW, CHOICES, SUM_ROW = 2 * HIDDEN, 8 * TOPK, 4 * HIDDEN


def ranks_of_token(ranks):
    """How many ranks have an expert of a token, on average, if every choice of experts is as likely."""
    return ranks * (1 - math.comb(EXPERTS - EXPERTS // ranks, TOPK) / math.comb(EXPERTS, TOPK))


def broadcast_bytes(ranks, tokens):
    """What a rank receives: all tokens but its own, and twice all sums but its share."""
    return tokens * (ranks - 1) / ranks * (ROW + CHOICES + 2 * SUM_ROW)


def all_to_all_bytes(ranks, tokens):
    """What a rank receives: tokens for its experts, and the sums of its own tokens, but for its own part."""
    return tokens * ranks_of_token(ranks) / ranks * (ranks - 1) / ranks * (ROW + CHOICES + SUM_ROW)


def broadcast_us(ranks, tokens, bandwidth):
    return 3 * math.log2(ranks) * ALPHA_US + broadcast_bytes(ranks, tokens) / bandwidth


def all_to_all_us(ranks, tokens, bandwidth):
    """Dispatch and combine; before them the counts, few enough to be gathered."""
    return (math.log2(ranks) + 2 * (ranks - 1)) * ALPHA_US + all_to_all_bytes(ranks, tokens) / bandwidth


def crossover(ranks, bandwidth):
    """Tokens in all from which on all-to-all is faster; 1: always."""
    latency = all_to_all_us(ranks, 0, bandwidth) - broadcast_us(ranks, 0, bandwidth)
    return max(1, math.ceil(latency * bandwidth / (broadcast_bytes(ranks, 1) - all_to_all_bytes(ranks, 1))))


def main():
    print("model against record: all-reduce of two ranks, GB/s on the bus")
    for size in (1 << 20, 1 << 24, 1 << 28):
        print(f"{size >> 20:5} MB {size / (2 * ALPHA_US + size / NVLINK) / 1e3:6.0f}")
    print("\n  GPUs  bandwidth  ranks/token  bytes: broadcast / all-to-all   us for 64 a GPU       us for 2,048 a GPU     crossover")
    for ranks in (2, 8, 64, 256):
        for name, bandwidth in (("NVLink", NVLINK), ("network", NETWORK)):
            times = [f"{broadcast_us(ranks, ranks * n, bandwidth):9,.0f} {all_to_all_us(ranks, ranks * n, bandwidth):9,.0f}"
                     for n in (64, 2048)]
            print(f"{ranks:6}  {name:9} {ranks_of_token(ranks):11.2f} "
                  f"{broadcast_bytes(ranks, 1) / all_to_all_bytes(ranks, 1):14.1f}              {times[0]}    {times[1]}"
                  f" {crossover(ranks, bandwidth):10,}")


if __name__ == "__main__":
    main()
