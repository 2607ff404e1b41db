"""Data for the figures drawn from arrays that programs write: the gate's choices and align's list. Used by figures.py
and values.py."""
import ast
import collections
import functools
import itertools
import json
import math
import pathlib
import struct

ROUTER = pathlib.Path("common/data/router")
NUM_EXPERTS, GROUP, KEPT, TOPK, SCALE = 256, 32, 4, 8, 2.5
BUSIEST, WORDS = 5, 3
WORD_NAMES = {" ": "a space", "\n": "a newline", "<unk>": "a rare word"}
FORMATS = {"<i4": "i", "<i8": "q", "<f4": "f"}


def read_array(path):
    """Returns the shape and the elements, in order, of a .npy file of i32, i64 or f32. Raises ValueError with
    a one-line message if the file is not such an array."""
    try:
        content = pathlib.Path(path).read_bytes()
        start = 10 + struct.unpack("<H", content[8:10])[0]
        header = ast.literal_eval(content[10:start].decode("latin-1"))
        return header["shape"], struct.unpack(f"<{math.prod(header['shape'])}{FORMATS[header['descr']]}",
                                              content[start:])
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (KeyError, SyntaxError, TypeError, ValueError, struct.error) as error:
        raise ValueError(f"{path}: it is no array of i32, i64 or f32") from error


def _rows(path, columns, kind):
    """Returns the rows of an array [n, columns], or the only row of an array [columns]; `kind` is int or float, the
    type that its elements must have."""
    shape, elements = read_array(path)
    if shape[-1:] != (columns,) or len(shape) > 2 or not elements or not isinstance(elements[0], kind):
        raise ValueError(f"{path}: it must be {'f32' if kind is float else 'i32'}, {columns} in a row")
    return [elements[at:at + columns] for at in range(0, len(elements), columns)]


def _read_words():
    """Returns the words of the router data's text, one word per row of logits."""
    words = json.loads((ROUTER / "tokens.json").read_text())
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"{ROUTER}/tokens.json: it must be a list of words")
    return words


def _scores(logits):
    return [1 / (1 + math.exp(-logit)) for logit in logits]


def _groups(scores, bias):
    """Returns a token's choices (scores plus bias), the two best choices of each group, the better one first, and the
    kept groups."""
    choice = [value + of_expert for value, of_expert in zip(scores, bias)]
    best = [sorted(choice[first:first + GROUP], reverse=True)[:2] for first in range(0, NUM_EXPERTS, GROUP)]
    return choice, best, sorted(range(len(best)), key=lambda group: -sum(best[group]))[:KEPT]


def _bounded(logits, bias):
    """Returns a token's choices, the two best choices of each group, the kept groups in ascending order, chapter 13a's
    bound, and the experts that pass the bound, in ascending order."""
    choice, best, stay = _groups(_scores(logits), bias)
    bound = min(best[group][1] for group in stay)
    return choice, best, sorted(stay), bound, [expert for expert in range(NUM_EXPERTS)
                                               if expert // GROUP in stay and choice[expert] >= bound]


@functools.lru_cache(maxsize=None)
def candidates():
    """Returns, in ascending order, the numbers of experts that pass chapter 13a's bound, one for each token of the
    router's data. The bound is the lowest of the second-best choices of the kept groups."""
    logits, bias = (_rows(ROUTER / f"layer2_{name}.npy", NUM_EXPERTS, float) for name in ("logits", "bias"))
    return sorted(len(_bounded(row, bias[0])[-1]) for row in logits)


def kept_lists(row):
    """Returns, for one row of the router's data, its word, its kept groups, the best one first, and for each of them
    the ranks of its eight best experts among those of all kept groups, from 1."""
    logits, bias = (_rows(ROUTER / f"layer2_{name}.npy", NUM_EXPERTS, float) for name in ("logits", "bias"))
    choice, _, kept = _groups(_scores(logits[row]), bias[0])
    best = [sorted(range(GROUP * group, GROUP * (group + 1)), key=lambda expert: -choice[expert])[:TOPK]
            for group in kept]
    in_order = sorted((expert for experts in best for expert in experts), key=lambda expert: -choice[expert])
    return _read_words()[row], kept, [[in_order.index(expert) + 1 for expert in experts] for experts in best]


def last_token_steps(directory):
    """Returns the last token of a gate's output with the result of each step, recomputed from the router's data.
    Raises ValueError if the gate's output differs."""
    ids, weights = (_rows(pathlib.Path(directory) / f"{name}.npy", TOPK, kind)
                    for name, kind in (("topk_ids", int), ("topk_weights", float)))
    logits, bias = (_rows(ROUTER / f"layer2_{name}.npy", NUM_EXPERTS, float) for name in ("logits", "bias"))
    words, row = _read_words(), len(ids) - 1
    if len(weights) != len(ids) or len(ids) > min(len(logits), len(words)):
        raise ValueError(f"{directory}: its arrays are not of as many tokens as the router's data has")
    score = _scores(logits[row])
    choice, best_two, stay = _groups(score, bias[0])

    def best(experts, count):
        return sorted(experts, key=lambda expert: -choice[expert])[:count]

    groups = [best(range(first, first + GROUP), 2) for first in range(0, NUM_EXPERTS, GROUP)]
    sums = list(map(sum, best_two))
    chosen = best([expert for expert in range(NUM_EXPERTS) if expert // GROUP in stay], TOPK)
    expected = [SCALE * score[expert] / sum(score[other] for other in chosen) for expert in chosen]
    if list(ids[row]) != chosen or any(abs(weight - other) > 1e-5 for weight, other in zip(weights[row], expected)):
        raise ValueError(f"{directory}: its last row is not what the router's scores give")
    return {"word": words[row], "row": row, "choice": [round(value, 5) for value in choice],
            "groups": [{"sum": f"{total:.3f}", "best": two, "stays": group in stay}
                       for group, (total, two) in enumerate(zip(sums, groups))],
            "chosen": [{"expert": expert, "choice": f"{choice[expert]:.3f}", "score": f"{score[expert]:.3f}",
                        "weight": f"{weight:.3f}"}
                       for expert, weight in zip(chosen, weights[row])]}


def bounded_tokens(directory):
    """Returns the tokens of a gate's output with the results of the steps of chapters 13a to 13c: the kept groups and
    their second-best experts, the bound, the candidates in ascending order and their ranks. Raises ValueError if the
    gate's output has different ids."""
    ids = _rows(pathlib.Path(directory) / "topk_ids.npy", TOPK, int)
    logits, bias = (_rows(ROUTER / f"layer2_{name}.npy", NUM_EXPERTS, float) for name in ("logits", "bias"))
    tokens = []
    for row, word, chosen in zip(logits, _read_words(), ids):
        choice, best, stay, bound, passing = _bounded(row, bias[0])
        ranked = sorted(passing, key=lambda expert: -choice[expert])
        if ranked[:TOPK] != list(chosen):
            raise ValueError(f"{directory}: a row is not what the router's scores give")
        tokens.append({
            "word": WORD_NAMES.get(word, f'"{word}"'), "choice": [round(value, 5) for value in choice], "stay": stay,
            "second": [choice.index(best[group][1], group * GROUP) for group in stay], "bound": round(bound, 5),
            "candidates": passing, "ranks": [ranked.index(expert) for expert in passing]})
    return tokens


def bounded_token(directory, row):
    """Returns the entry of bounded_tokens() for this row, with the row's index and the number of its candidates."""
    token = bounded_tokens(directory)[row]
    return {**token, "row": row, "num_candidates": len(token["candidates"])}


def lanes(directory):
    """Returns the tokens of chapter 13b's first warp. Adds, for each lane of a token, its number of candidates and the
    position in the token's list at which they end."""
    tokens = bounded_tokens(directory)
    for token in tokens:
        groups = [expert // GROUP for expert in token["candidates"]]
        token["counts"] = [groups.count(group) for group in range(NUM_EXPERTS // GROUP)]
        token["ends"] = list(itertools.accumulate(token["counts"]))
    return {"tokens": tokens}


def mask(directory, row, group):
    """Returns the values from which the lane of a kept group builds its mask in chapter 13c: the sign bit of each
    choice minus the bound, the halves of the mask after 1, 2, 4, 8 and 16 steps, and the ids that the lane lists."""
    token, first = bounded_tokens(directory)[row], group * GROUP
    if group not in token["stay"]:
        raise ValueError(f"{directory}: group {group} of row {row} does not stay")
    below = [int(first + e not in token["candidates"]) for e in range(GROUP)]
    steps = [[half[:step] for half in (below[:GROUP // 2], below[GROUP // 2:])] for step in (1, 2, 4, 8, GROUP // 2)]
    listed = [expert for expert in token["candidates"] if expert // GROUP == group]
    passing = int("".join(str(1 - bit) for bit in below), 2)
    return {"group": group, "row": row, "lane": row * NUM_EXPERTS // GROUP + group, "word": token["word"],
            "bound": token["bound"], "below": below, "steps": steps, "mask": f"0x{passing:08x}", "listed": listed,
            "difference": [round(token["choice"][first + e] - token["bound"], 5) for e in range(GROUP)],
            "position": token["candidates"].index(listed[0])}


def blocks(directory):
    """Returns align's arrays and, for each position in topk_ids, the expert of the block that holds the position."""
    names = ("sorted_token_ids", "expert_ids", "num_tokens_post_padded")
    sorted_ids, expert_ids, (padded, *_) = (read_array(pathlib.Path(directory) / f"{name}.npy")[1] for name in names)
    numel, block_size = max(sorted_ids), len(sorted_ids) // len(expert_ids)
    expert_of = {position: expert_ids[place // block_size]
                 for place, position in enumerate(sorted_ids) if position < numel}
    positions = sorted(position for position in sorted_ids if position < numel)
    if len(sorted_ids) != block_size * len(expert_ids) or positions != list(range(numel)) or max(expert_ids) > 3:
        raise ValueError(f"{directory}: the arrays are not those of one align with few experts")
    return {"numel": numel, "sorted_token_ids": sorted_ids, "expert_ids": expert_ids, "num_tokens_post_padded": padded,
            "block_size": block_size, "experts": [expert_of[position] for position in positions]}


def bit_table(directory):
    """Returns the bit table from which chapter 14a computes the slots: for each expert, the bits of its positions and
    the first slot of its group; for each position, its rank, which is the number of its expert's bits that are set
    below it. Raises ValueError if sorted_token_ids has a position in a slot other than the computed one."""
    data = blocks(directory)
    experts, size, begin, rows = data["experts"], data["block_size"], 0, []
    for expert in range(max(experts) + 1):
        bits = [int(own == expert) for own in experts]
        rows.append({"bits": bits, "begin": begin})
        begin += -(-sum(bits) // size) * size
    ranks = [sum(rows[expert]["bits"][:position]) for position, expert in enumerate(experts)]
    slots = [rows[expert]["begin"] + rank for expert, rank in zip(experts, ranks)]
    if [data["sorted_token_ids"][slot] for slot in slots] != list(range(len(experts))):
        raise ValueError(f"{directory}: sorted_token_ids is not in the order of the ranks")
    return {"experts": experts, "block_size": size, "rows": rows, "ranks": ranks, "slots": slots}


def opened_blocks(directory):
    """Returns, for each id of an align of few ids, what its thread block in chapter 14a computes: its rank, whether it
    opens a row block, the thread blocks that write earlier row blocks, and the index and the contents of the row block
    that the thread block writes. Raises ValueError if the list has other contents."""
    data = blocks(directory)
    experts, size, numel = data["experts"], data["block_size"], data["numel"]
    ranks = [experts[:position].count(expert) for position, expert in enumerate(experts)]
    openers = [position for position in range(numel) if ranks[position] % size == 0]
    found = []
    for own, expert in enumerate(experts):
        opens = own in openers
        before = ([position for position in openers if (experts[position], position) < (expert, own)] if opens else
                  [*openers, *(position for position in range(own) if position not in openers)])
        same = [position for position in range(own, numel) if experts[position] == expert][:size]
        rows = same + [numel] * (size - len(same)) if opens else [numel] * size
        found.append({"expert": expert, "rank": ranks[own], "opens": opens, "before": before, "rows": rows,
                      "block": len(before)})
    listed = [row for block in sorted(found, key=lambda block: block["block"]) for row in block["rows"]]
    if listed != list(data["sorted_token_ids"]):
        raise ValueError(f"{directory}: sorted_token_ids does not hold what the thread blocks write")
    return {"block_size": size, "numel": numel, "ids": found}


def published_rows(directory, part, later):
    """Returns the count rows that chapter 14b's blocks publish for these ids, with `part` ids per block, and the count
    rows of a later launch with the first `later` ids."""
    experts = blocks(directory)["experts"]
    launches = [[[ids[at:at + part].count(expert) for expert in range(max(experts) + 1)]
                 for at in range(0, len(ids), part)] for ids in (experts, experts[:later])]
    return {"experts": max(experts) + 1, "part": part, "numels": [len(experts), later], "launches": launches}


def block_slots(directory, part, own):
    """Returns how a block of chapter 14b, with `part` ids per block, computes the slots of its ids: all blocks' count
    rows; for each expert, the sums over all blocks and over earlier blocks, the group's first slot, and the slot of the
    block's first id; and the block's ids in order and sorted by expert, with their positions and slots."""
    data, rows = bit_table(directory), published_rows(directory, part, part)["launches"][0]
    earlier = [sum(column) for column in zip(*rows[:own], [0] * len(rows[0]))]
    first = [row["begin"] for row in data["rows"]]
    ids = [[position, data["experts"][position], data["slots"][position]]
           for position in range(part * own, part * (own + 1))]
    return {"rows": rows, "own": own, "all": [sum(column) for column in zip(*rows)], "first": first, "earlier": earlier,
            "begins": [slot + before for slot, before in zip(first, earlier)], "ids": ids,
            "sorted": sorted(ids, key=lambda one: one[1])}


def load(directory):
    """Returns how often each expert is chosen in a gate's output, the busiest expert first, and the words that the
    busiest experts receive most often."""
    shape, ids = read_array(pathlib.Path(directory) / "topk_ids.npy")
    if len(shape) != 2 or not ids or not isinstance(ids[0], int):
        raise ValueError(f"{directory}/topk_ids.npy: it must be [tokens, topk] of i32")
    words = _read_words()
    if len(words) != shape[0]:
        raise ValueError(f"{ROUTER}/tokens.json: it has {len(words)} words for {shape[0]} rows")
    choices, total, busiest = collections.Counter(ids), collections.Counter(words), []
    num_experts = -(-(max(ids) + 1) // GROUP) * GROUP  # the last experts may not have been chosen
    experts = sorted(range(num_experts), key=lambda expert: -choices[expert])
    for expert in experts[:BUSIEST]:
        sent = collections.Counter(words[place // shape[1]] for place, id_ in enumerate(ids) if id_ == expert)
        often = sorted(sent, key=lambda word: (-sent[word], words.index(word)))[:WORDS]
        said = [WORD_NAMES.get(word, f'"{word}"') + f" {sent[word]} of {total[word]}" for word in often]
        busiest.append({"expert": expert, "choices": choices[expert], "words": ", ".join(said)})
    return {"num_tokens": shape[0], "numel": len(ids), "num_experts": num_experts, "mean": len(ids) / num_experts,
            "experts": experts, "choices": [choices[expert] for expert in experts], "busiest": busiest,
            "idle": [expert for expert in range(num_experts) if choices[expert] == 0]}


def published_words(directory):
    """Returns the words that chapter 15's blocks publish, computed from the ids in the gate's output. For the expert
    chosen by most tokens, each block has the position, the slot and the number of earlier tokens that chose it."""
    folder = pathlib.Path(directory)
    (num_tokens, topk), ids = read_array(folder / "topk_ids.npy")
    slots = read_array(folder / "sorted_token_ids.npy")[1]
    rows = [ids[at:at + topk] for at in range(0, num_tokens * topk, topk)]
    chosen = collections.Counter(ids)
    expert = min(chosen, key=lambda id_: (-chosen[id_], id_))
    if chosen[expert] != num_tokens:
        raise ValueError(f"{directory}: no expert is chosen by all {num_tokens} tokens")
    if set(range(len(ids))) - set(slots):
        raise ValueError(f"{directory}: a position is not in the list")
    blocks_of_ids = [{"ids": list(row), "word": f"0x{int.from_bytes(bytes(row), 'little'):016x}", "earlier": number,
                      "position": number * topk + row.index(expert),
                      "slot": slots.index(number * topk + row.index(expert))} for number, row in enumerate(rows)]
    first = blocks_of_ids[0]["slot"]
    if [block["slot"] for block in blocks_of_ids] != list(range(first, first + num_tokens)):
        raise ValueError(f"{directory}: the positions of expert {expert} do not follow one another in the list")
    return {"expert": expert, "tokens": num_tokens, "blocks": blocks_of_ids}
