"""Data for the figures of the start page and of the primer that need no run: three tokens on their way through the gate,
align and the layer, and the sectors and banks that a warp's requests touch. Used by figures.py."""
import math


# A logit for each token (row) and expert (column).
LOGITS = ((0.1, 1.9, 1.2, -0.5), (-0.3, 0.8, 0.4, 1.6), (1.1, 0.2, 2.0, 0.3))
TOPK, BLOCK_SIZE = 2, 2
LANES, BANKS, WORD, SECTOR = 32, 32, 4, 32  # a word and a sector in bytes


def routing():
    """Returns, for the tokens of LOGITS: the logits; each token's experts and weights, the best first; the slots of
    align's list as [expert, token], with None for padding."""
    experts = [sorted(range(len(row)), key=lambda expert, row=row: -row[expert])[:TOPK] for row in LOGITS]
    chosen = []
    for row, own in zip(LOGITS, experts):
        scores = [1 / (1 + math.exp(-row[expert])) for expert in own]
        chosen.append([[expert, f"{score / sum(scores):.2f}"] for expert, score in zip(own, scores)])
    slots = []
    for expert in range(len(LOGITS[0])):
        tokens = [token for token, own in enumerate(experts) if expert in own]
        tokens += [None] * (-len(tokens) % BLOCK_SIZE)
        slots += [[expert, token] for token in tokens]
    return {"logits": LOGITS, "chosen": chosen, "slots": slots, "block_size": BLOCK_SIZE}


def sectors(*strides):
    """Returns, for each stride, the bytes at which the 32 lanes of a load begin to read, and the sectors that they
    touch."""
    panels = []
    for stride in strides:
        offsets = [lane * stride * WORD for lane in range(LANES)]
        panels.append({"stride": stride, "offsets": offsets, "sectors": sorted({at // SECTOR for at in offsets})})
    return {"word": WORD, "sector": SECTOR, "panels": panels}


def banks(*strides):
    """Returns, for each stride, the words that the 32 lanes of a request read from shared memory, and the number of
    wavefronts: the largest number of these words in one bank."""
    panels = []
    for stride in strides:
        words = [lane * stride for lane in range(LANES)]
        in_bank = [len({word for word in words if word % BANKS == bank}) for bank in range(BANKS)]
        panels.append({"stride": stride, "words": words, "wavefronts": max(in_bank)})
    return {"banks": BANKS, "rows": max(word for panel in panels for word in panel["words"]) // BANKS + 1,
            "panels": panels}
