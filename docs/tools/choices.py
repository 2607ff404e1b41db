"""What the gate chooses and how align lines it up: the data of the figures drawn from arrays that programs write."""
import collections
import json
import math
import pathlib

import npy

ROUTER = pathlib.Path("common/data/router")
GROUP, KEPT, TOPK, SCALE = 32, 4, 8, 2.5
BUSIEST, WORDS = 5, 3


def _rows(path, columns, kind):
    """The rows of an array [n, columns], or the single one of [columns], of whole numbers (int) or floats."""
    shape, elements = npy.read(path)
    if shape[-1:] != (columns,) or len(shape) > 2 or not elements or not isinstance(elements[0], kind):
        raise ValueError(f"{path}: it must be {'f32' if kind is float else 'i32'}, {columns} in a row")
    return [elements[at:at + columns] for at in range(0, len(elements), columns)]


def read_words(rows):
    """The words that the rows of the router's data are of."""
    path = ROUTER / "tokens.json"
    words = json.loads(path.read_text())
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"{path}: it must be a list of words")
    if len(words) < rows:
        raise ValueError(f"{path}: it has {len(words)} words for {rows} rows")
    return words


# --- one token through the gate -----------------------------------------------------------------------------------------

def flow(directory):
    """The last token of a gate's answer, with what each step made of it, calculated once more: the answer must be the same."""
    directory = pathlib.Path(directory)
    ids = _rows(directory / "topk_ids.npy", TOPK, int)
    weights = _rows(directory / "topk_weights.npy", TOPK, float)
    row = len(ids) - 1
    logits, bias = (_rows(ROUTER / f"layer2_{name}.npy", 256, float) for name in ("logits", "bias"))
    if len(weights) != len(ids) or row >= len(logits):
        raise ValueError(f"{directory}: its arrays are not of as many tokens as the router's data has")
    score = [1 / (1 + math.exp(-logit)) for logit in logits[row]]
    choice = [value + of_expert for value, of_expert in zip(score, bias[0])]
    best = [sorted(range(first, first + GROUP), key=lambda expert: -choice[expert])[:2] for first in range(0, 256, GROUP)]
    sums = [choice[first] + choice[second] for first, second in best]
    stay = sorted(range(len(best)), key=lambda group: -sums[group])[:KEPT]
    chosen = sorted((expert for expert in range(256) if expert // GROUP in stay), key=lambda expert: -choice[expert])[:TOPK]
    total = sum(score[expert] for expert in chosen)
    if list(ids[row]) != chosen or any(abs(weight - SCALE * score[expert] / total) > 1e-5
                                       for weight, expert in zip(weights[row], chosen)):
        raise ValueError(f"{directory}: its last row is not what the router's scores give")
    return {"word": read_words(len(ids))[row], "row": row, "choice": [round(value, 5) for value in choice],
            "groups": [{"sum": f"{total_of_group:.3f}", "best": of_group, "stays": group in stay}
                       for group, (total_of_group, of_group) in enumerate(zip(sums, best))],
            "chosen": [{"expert": expert, "score": f"{score[expert]:.3f}", "weight": f"{weight:.3f}"}
                       for expert, weight in zip(chosen, weights[row])]}


# --- choices lined up in blocks -----------------------------------------------------------------------------------------

def blocks(directory):
    """Align's arrays, and the expert at each position of topk_ids, as the block that holds the position says."""
    names = ("sorted_token_ids", "expert_ids", "num_tokens_post_padded")
    sorted_ids, expert_ids, (padded, *_) = (npy.read(pathlib.Path(directory) / f"{name}.npy")[1] for name in names)
    numel, block_size = max(sorted_ids), len(sorted_ids) // len(expert_ids)
    expert_of = {position: expert_ids[place // block_size] for place, position in enumerate(sorted_ids) if position < numel}
    places = [position for position in sorted_ids if position < numel]
    if len(sorted_ids) != block_size * len(expert_ids) or sorted(places) != list(range(numel)) or max(expert_ids) > 3:
        raise ValueError(f"{directory}: the arrays are not those of one align with few experts")
    return {"numel": numel, "num_places": len(sorted_ids), "sorted_token_ids": sorted_ids, "expert_ids": expert_ids, "num_tokens_post_padded": padded,
            "block_size": block_size, "experts": [expert_of[position] for position in range(numel)]}


# --- how many choices each expert gets ----------------------------------------------------------------------------------

def _shown(word):
    """A word as a reader can see it."""
    return {" ": "a space", "\n": "an end of line", "<unk>": "a rare word"}.get(word, f'"{word}"')


def load(directory):
    """How many choices each expert gets in a gate's answer, the busiest first, and the words that the busiest get most often."""
    shape, ids = npy.read(pathlib.Path(directory) / "topk_ids.npy")
    if len(shape) != 2 or not ids or not isinstance(ids[0], int):
        raise ValueError(f"{directory}/topk_ids.npy: it must be [tokens, topk] of i32")
    words = read_words(shape[0])
    if len(words) != shape[0]:
        raise ValueError(f"{ROUTER / 'tokens.json'}: it has {len(words)} words for {shape[0]} rows")
    choices, total = collections.Counter(ids), collections.Counter(words)
    num_experts = -(-(max(ids) + 1) // GROUP) * GROUP  # the last experts may have got nothing
    experts = sorted(range(num_experts), key=lambda expert: -choices[expert])
    busiest = []
    for expert in experts[:BUSIEST]:
        sent = collections.Counter(words[place // shape[1]] for place, id_ in enumerate(ids) if id_ == expert)
        order = sorted(sent, key=lambda word: (-sent[word], words.index(word)))[:WORDS]
        said = ", ".join(f"{_shown(word)} {sent[word]} of {total[word]}" for word in order)
        busiest.append({"expert": expert, "choices": choices[expert], "words": said})
    return {"num_tokens": shape[0], "numel": len(ids), "num_experts": num_experts, "mean": len(ids) / num_experts,
            "experts": experts,
            "choices": [choices[expert] for expert in experts], "busiest": busiest,
            "idle": [expert for expert in range(num_experts) if choices[expert] == 0]}
