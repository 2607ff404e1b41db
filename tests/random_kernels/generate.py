"""Writes a CUDA file of random kernels: python3 tests/random_kernels/generate.py --seed S --first N --count C >FILE.cu

A kernel depends only on the seed and its number; --only N is the same as --first N --count 1. Every kernel is correct
and deterministic: it has no race, no undefined behaviour and no result that depends on the order of execution. run.c
runs the kernels; tests/gpu/compare_random_kernels.sh compares the results of a GPU with the simulator's.

Lanes that may have diverged exchange values only through collectives whose mask is known: a vote before each branch
gives the masks of its sides. A `Scope` describes what the statements at a point in the kernel may do.
"""
from __future__ import annotations

import argparse
import dataclasses
import random
import re

from expressions import CONSTANTS, DOUBLES, FLOATS, HOLE, NAMES, TEMPLATES, types_in

SHAPES = [(32, 1, 1), (64, 1, 1), (96, 1, 1), (128, 1, 1), (16, 4, 1), (8, 4, 2), (4, 4, 4), (33, 1, 1), (20, 1, 1),
          (7, 3, 2), (5, 5, 1), (50, 1, 1), (31, 3, 1), (1, 1, 1), (3, 2, 11), (100, 1, 1)]
GRIDS = [(1, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 2, 2), (1, 5, 1)]
SIMPLE = re.compile(r"[\w.]+(\([^()]*\))?$")

# Statements for a full warp: {m} is the mask, {U} a variable of type u, {T} and {t} a type that can be shuffled,
# {width} a power of two, {n} a constant below 32, {new} a number that no other statement uses.
FULL_COLLECTIVES = """
    {T} = __shfl_sync({m}, {t}, (int){u}, {width});
    {T} = __shfl_sync({m}, {t}, {n});
    {T} = __shfl_up_sync({m}, {t}, {n}, {width});
    {T} = __shfl_up_sync({m}, {t}, {u} & 31u);
    {T} = __shfl_down_sync({m}, {t}, {n}, {width});
    {T} = __shfl_down_sync({m}, {t}, {u} & 31u);
    {T} = __shfl_xor_sync({m}, {t}, {n});
    {T} = __shfl_xor_sync({m}, {t}, {n}, {width});
    {T} = __shfl_xor_sync({m}, {t}, (int)({u} & 31u), {width});
    for (unsigned k{new} = 16; k{new} > 0; k{new} /= 2)@    {V} {op}= __shfl_xor_sync({m}, {V}, (int)k{new});
    for (unsigned k{new} = 16; k{new} > 0; k{new} >>= 1)@    {F} = bounded_or({F} + __shfl_down_sync({m}, {F}, k{new}), {f});
    for (unsigned k{new} = 1; k{new} < 32; k{new} *= 2) {@    const unsigned t{new} = __shfl_up_sync({m}, {U}, k{new});@    {U} += lane >= k{new} ? t{new} : 0u;@}
"""
# The same statements for a warp with missing lanes: each lane reads a lane that is in the mask.
PART_COLLECTIVES = """
    {T} = __shfl_sync({m}, {t}, (int)first_lane_from({m} & segment_mask(lane, {width}), {u}), {width});
    {T} = __shfl_sync({m}, {t}, __ffs((int){m}) - 1);
    {T} = __shfl_up_sync({m}, {t}, distance_down({m} & segment_mask(lane, {width}), lane), {width});
    {T} = __shfl_down_sync({m}, {t}, distance_up({m}, lane));
    {T} = __shfl_xor_sync({m}, {t}, (int)(lane ^ first_lane_from({m} & segment_mask(lane, {width}), {u})), {width});
    for (unsigned k{new} = {m}; k{new} != 0u; k{new} &= k{new} - 1u)@    {U} {op}= __shfl_sync({m}, {v}, __ffs((int)k{new}) - 1);
"""
ALL_COLLECTIVES = """
    {U} = __ballot_sync({m}, {c});
    {U} ^= __ballot_sync({m}, {c});
    {I} = __any_sync({m}, {c}) + {i} % 2;
    {U} = __all_sync({m}, {c}) ? {v} : {v};
    {U} = __match_any_sync({m}, {u} & 3u);
    {U} = __match_any_sync({m}, {w} % 3ull);
    {U} = __match_any_sync({m}, bits_of({f}));
    {U} += __match_any_sync({m}, {i} % 4);
    int all{new};@{U} ^= __match_all_sync({m}, {u} & 1u, &all{new}) + (unsigned)all{new};
    int all{new};@{U} += __match_all_sync({m}, {u} >> 31, &all{new}) ^ (unsigned)all{new};
    {U} = __reduce_add_sync({m}, {u});
    {U} = __reduce_min_sync({m}, {u});
    {U} = __reduce_max_sync({m}, {u});
    {U} = __reduce_and_sync({m}, {u});
    {U} ^= __reduce_or_sync({m}, {u} & 0x10101u);
    {U} = __reduce_xor_sync({m}, {u});
    {I} = __reduce_add_sync({m}, {i});
    {I} = __reduce_min_sync({m}, {i});
    {I} = __reduce_max_sync({m}, {i});
    lanes[tid] = {u};@__syncwarp({m});@{U} = lanes[(tid & ~31u) + first_lane_from({m}, {u})];@__syncwarp({m});
"""
# Atomics that all threads execute; the final results do not depend on the order, because only one kind of operation
# updates each word.
SHARED_RESULTS = """
    atomicMin(&sums[{n} & 3], {u});
    atomicMin((int *)&sums[4 + ({n} & 3)], {i});
    atomicAnd(&sums[8 + ({n} & 3)], {u} | {u});
    atomicMin((unsigned long long *)&sums[12 + ({n} & 2)], {w});
    atomicMax(&sums[16 + ({u} & 3u)], {u});
    atomicMax((int *)&sums[20 + ({u} & 3u)], {i});
    atomicOr(&sums[24 + ({u} & 3u)], {u} & {u} & {u});
    atomicXor(&sums[28 + ({u} & 7u)], {u});
    atomicAdd(&sums[36 + ({u} & 7u)], {u});
    atomicSub(&sums[36 + ({u} & 7u)], {u});
    atomicAdd((int *)&sums[44 + ({u} & 3u)], {i});
    atomicAdd((unsigned long long *)&sums[48 + ({u} & 2u)], {w});
    atomicMax((long long *)&sums[52 + ({u} & 2u)], {l});
    atomicXor((unsigned long long *)&sums[56 + ({u} & 2u)], {w});
    atomicInc(&sums[60 + ({u} & 1u)], 12u);
    atomicDec(&sums[62 + ({u} & 1u)], 1000u);
    atomicAdd((float *)&sums[64 + ({u} & 3u)], (float)({u} & 15u));
    atomicAdd((double *)&sums[68 + ({u} & 2u)], (double)({u} & 1023u));
    atomicAdd(&sums[74], atomicAdd(&sums[72 + {n} % 2], 1u) * 0x9e3779b9u);
    atomicXor(&sums[75], 1u << (atomicAdd_system(&sums[76], 1u) & 31u));
"""
OWN_RESULTS = """
    own[{u} & 3u] = {u};
    ((unsigned char *)own)[{u} & 15u] = (unsigned char){u};
    local[{u} & 7u] = {u};
    local[{n} % 8] ^= {u};
    {U} = atomicExch(&own[{u} & 3u], {u});
    {U} = atomicCAS(&own[{u} & 3u], {u} & 15u, {u});
    {U} = atomicAdd(&own[{u} & 3u], {u});
    {U} = atomicInc(&own[{u} & 3u], {u});
    {I} = atomicMax((int *)&own[{u} & 3u], {i});
    {U} ^= atomicAnd(&own[{u} & 3u], {u});
    *(uint2 *)&own[{u} & 2u] = make_uint2({u}, {u});
"""
# Statements that all threads of a block execute together.
BLOCK_STATEMENTS = """
    block_words[tid] = {u};@__syncthreads();@{U} = block_words[{u} % THREADS];@__syncthreads();
    block_words[(tid + {n}) % THREADS] = {u};@__syncthreads();@{U} ^= block_words[THREADS - 1 - tid];@__syncthreads();
    block_reals[tid] = {f};@__syncthreads();@{F} = block_reals[{u} % THREADS] + block_reals[(tid + 1) % THREADS];@__syncthreads();
    block_bytes[tid] = (unsigned char){u};@__syncthreads();@{U} += block_bytes[{u} % THREADS] * 0x101u;@__syncthreads();
    block_pairs[tid] = {w};@__syncthreads();@{U} = (unsigned)(block_pairs[{u} % THREADS] >> {n});@__syncthreads();
    block_square[tid % 8][tid / 8] = {i};@__syncthreads();@{I} = block_square[{u} % THREADS % 8][0] - block_square[tid % 8][tid / 8];@__syncthreads();
    exchange[thread] = {u};@__syncthreads();@{U} = exchange[thread - tid + {u} % THREADS];@__syncthreads();
    dynamic[tid] = {u};@dynamic[THREADS + tid] = {u};@__syncthreads();@{U} = dynamic[{u} % (2 * THREADS)];@__syncthreads();
    for (unsigned k{new} = tid; k{new} < 8; k{new} += THREADS)@    counts[k{new}] = {u};@__syncthreads();@atomicAdd(&counts[{u} & 7u], {u});@__syncthreads();@{U} = counts[{u} & 7u];@__syncthreads();
    for (unsigned k{new} = tid; k{new} < 8; k{new} += THREADS)@    counts[k{new}] = 0u;@__syncthreads();@atomicMax_block(&counts[{u} & 7u], {u});@__syncthreads();@{U} ^= counts[{u} & 7u];@__syncthreads();
    block_words[tid] = {u};@for (unsigned k{new} = 128; k{new} > 0; k{new} /= 2) {@    __syncthreads();@    if (tid < k{new} && tid + k{new} < THREADS)@        block_words[tid] {op}= block_words[tid + k{new}];@}@__syncthreads();@{U} {op}= block_words[0];@__syncthreads();
    block_words[tid] = {u};@__syncthreads();@for (unsigned k{new} = 1; k{new} < THREADS; k{new} *= 2) {@    const unsigned t{new} = tid >= k{new} ? block_words[tid - k{new}] : 0u;@    __syncthreads();@    block_words[tid] += t{new};@    __syncthreads();@}@{U} = block_words[tid];@__syncthreads();
    {U} = (unsigned)__syncthreads_count({c});
    {I} = __syncthreads_and({c}) ? {i} : {i};
    {U} += __syncthreads_or({c}) ? 1u : {u};
"""
SHARED_ARRAYS = {
    "lanes": "unsigned lanes[(THREADS + 31) / 32 * 32]",
    "block_words": "unsigned block_words[THREADS]",
    "block_reals": "float block_reals[THREADS]",
    "block_bytes": "unsigned char block_bytes[THREADS]",
    "block_pairs": "unsigned long long block_pairs[THREADS]",
    "block_square": "int block_square[8][(THREADS + 7) / 8]",
    "counts": "unsigned counts[8]",
}


def statements_of(text):
    return [line.strip() for line in text.strip().splitlines()]


FULL_COLLECTIVES, PART_COLLECTIVES, ALL_COLLECTIVES, SHARED_RESULTS, OWN_RESULTS, BLOCK_STATEMENTS = map(
    statements_of,
    (FULL_COLLECTIVES, PART_COLLECTIVES, ALL_COLLECTIVES, SHARED_RESULTS, OWN_RESULTS, BLOCK_STATEMENTS))


@dataclasses.dataclass(frozen=True)
class Scope:
    """The state at a point in a kernel: the variables, the mask of the lanes that reach it together (None: not known),
    whether these lanes are the whole warp, whether all threads of the block reach it, and the nesting depth."""
    variables: dict
    mask: str | None
    is_full: bool
    is_block: bool
    depth: int = 0
    loops: int = 0
    in_function: bool = False


class Kernel:
    """Builds the text of one kernel."""

    def __init__(self, seed, number):
        self.random = random.Random(seed << 32 | number)
        self.number = number
        self.lines = []
        self.indent = 1
        self.names = 0
        self.functions = []
        self.block = self.pick(SHAPES)
        self.grid = self.pick(GRIDS)
        self.threads = self.block[0] * self.block[1] * self.block[2]

    def below(self, limit):
        return int(self.random.random() * limit)  # the only method whose numbers are the same in every Python

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, list):
        return list[self.below(len(list))]

    def new(self):
        self.names += 1
        return self.names

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    # --- expressions ---

    def fits(self, template, scope):
        types = types_in(template) & set(NAMES)
        local = scope.in_function and re.search(r"\b(own|local|table|tid|lanes|words|reals)\b", template)
        return types <= scope.variables.keys() and not local

    def leaf(self, type, scope):
        if type == "c":
            return f"({self.leaf('u', scope)} & {1 << self.below(5)}u) != 0u"
        if type == "u" and not scope.in_function and self.chance(20):
            return self.pick(["tid", "lane", "blockIdx.x", "threadIdx.x", "thread"])
        return self.pick(CONSTANTS[type] if self.chance(15) else scope.variables[type])

    def expression(self, type, scope, depth):
        if depth <= 0:
            text = self.leaf(type, scope)
        else:
            template = self.pick(TEMPLATES[type])
            while not self.fits(template, scope):
                template = self.pick(TEMPLATES[type])
            text = HOLE.sub(lambda hole: self.expression(hole[1], scope, depth - 1 - self.below(2)), template)
            if SIMPLE.match(template):
                return text
        return text if SIMPLE.match(text) else f"({text})"

    def value(self, type, scope):
        return self.expression(type, scope, 1 + self.below(2))

    # --- statements ---

    def filled(self, template, scope):
        """Writes the lines of a statement."""
        shuffled = self.pick([type for type in scope.variables if type != "c"])
        words = {"m": scope.mask, "n": str(self.below(32)), "width": str(self.pick([2, 4, 8, 16, 32, 32])),
                 "new": str(self.new()), "op": self.pick(["+", "^", "|", "&", "*"]),
                 "T": self.pick(scope.variables[shuffled]), "V": self.pick(scope.variables["u"])}

        def fill(hole):
            name = hole[1]
            if name in words:
                return words[name]
            if name.isupper():
                words[name] = self.pick(scope.variables[name.lower()])
                return words[name]
            if name == "t":
                return self.value(shuffled, scope)
            return self.value("u" if name == "v" else name, scope)

        for line in template.split("@"):
            self.line(HOLE.sub(fill, line))

    def one_of(self, templates, scope):
        template = self.pick(templates)
        while not self.fits(template, scope):
            template = self.pick(templates)
        self.filled(template, scope)

    def assignment(self, scope):
        type = self.pick([type for type in scope.variables if type != "c"])
        variable = self.pick(scope.variables[type])
        value = self.expression(type, scope, 2 + self.below(2))
        if type in "fd" and self.chance(60):
            value = f"bounded_or({value}, {self.leaf(type, scope)})"
        self.line(f"{variable} = {value};")

    def body(self, scope, most=2):
        self.indent += 1
        for _ in range(1 + self.below(most)):
            self.statement(scope)
        self.indent -= 1

    def inner(self, scope, **changes):
        return dataclasses.replace(scope, depth=scope.depth + 1, **changes)

    def branch(self, scope):
        """Writes an if statement. In most cases a vote precedes the branch, so that the mask of each side is known."""
        name = self.new()
        voted = scope.mask and self.chance(75)
        then_mask = else_mask = None
        self.line(f"const bool c{name} = {self.expression('c', scope, 2)};")
        if voted:
            then_mask, else_mask = f"m{name}", f"n{name}"
            self.line(f"const unsigned m{name} = __ballot_sync({scope.mask}, c{name});")
        self.line(f"if (c{name}) {{")
        self.body(self.inner(scope, mask=then_mask, is_full=False, is_block=False))
        if self.chance(60):
            self.line("} else {")
            if voted:
                self.line(f"    const unsigned n{name} = {scope.mask} & ~m{name};")
                self.line(f"    {self.pick(scope.variables['u'])} += (unsigned)__popc(n{name});")
            self.body(self.inner(scope, mask=else_mask, is_full=False, is_block=False))
        self.line("}")

    def uniform_branch(self, scope):
        """Writes an if statement in which all threads of a block, or all lanes of each warp, take the same side."""
        by_warp = self.chance(40)
        if by_warp:
            condition = f"(tid / 32 & 1u) == {self.below(2)}u"
        else:
            condition = self.pick([f"(words[{self.below(1024)}] & 1u) != 0u", "(blockIdx.x & 1u) != 0u",
                                   f"__syncthreads_or({self.value('c', scope)})", "gridDim.y > 1u"])
        inside = self.inner(scope, is_block=not by_warp)
        self.line(f"if ({condition}) {{")
        self.body(inside)
        if self.chance(50):
            self.line("} else {")
            self.body(inside)
        self.line("}")

    def choice(self, scope):
        """Writes a switch statement; if the mask is known, so is the mask of each case."""
        name = self.new()
        mask = None
        self.line(f"const unsigned s{name} = {self.value('u', scope)} & 3u;")
        if scope.mask:
            mask = f"m{name}"
            self.line(f"const unsigned m{name} = __match_any_sync({scope.mask}, s{name});")
        self.line(f"switch (s{name}) {{")
        for case in range(2 + self.below(2)):
            self.line(f"case {case}: {{")
            self.body(self.inner(scope, mask=mask, is_full=False, is_block=False))
            falls = mask is None and self.chance(30)
            self.line("}" if falls else "    break;")
            if not falls:
                self.line("}")
        self.line("default: {")
        self.body(self.inner(scope, mask=mask, is_full=False, is_block=False))
        self.line("}")
        self.line("}")

    def uniform_loop(self, scope):
        """Writes a loop with the same number of iterations in all threads that reach it."""
        name = self.new()
        limit = f"{2 + self.below(3)}u" if scope.in_function else f"(words[{self.below(1024)}] & 3u)"
        self.line(f"for (unsigned k{name} = 0; k{name} < {limit}; k{name}++) {{")
        self.body(self.inner(scope, loops=scope.loops + 1))
        self.line(f"    {self.pick(scope.variables['u'])} ^= k{name};")
        self.line("}")

    def loop(self, scope):
        """Writes a loop with a different number of iterations in each lane, without collectives."""
        name = self.new()
        count = f"({self.value('u', scope)} & {self.pick([3, 7])}u)"
        inside = self.inner(scope, mask=None, is_full=False, is_block=False, loops=scope.loops + 1)
        kind = self.below(3)
        self.line([f"for (unsigned k{name} = 0; k{name} < {count}; k{name}++) {{", f"unsigned k{name} = {count};",
                   f"unsigned k{name} = {count};"][kind])
        if kind == 1:
            self.line(f"while (k{name} > 0 && {self.value('c', scope)}) {{")
            self.line(f"    k{name}--;")
        elif kind == 2:
            self.line("do {")
        self.body(inside)
        if self.chance(50):
            self.line(f"    if ({self.value('c', scope)})")
            self.line(f"        {self.pick(['break', 'break', 'continue'])};")
            self.body(inside, 1)
        self.line(f"}} while (k{name}-- > 0);" if kind == 2 else "}")

    def voted_loop(self, scope):
        """Writes a loop that lanes leave at different times; a vote gives the mask of the lanes that remain."""
        name = self.new()
        mask = f"m{name}"
        self.line(f"unsigned {mask} = {scope.mask};")
        self.line(f"for (unsigned k{name} = {self.value('u', scope)} & 3u;; k{name}--) {{")
        self.line(f"    const bool c{name} = k{name} > 0u;")
        self.line(f"    {mask} = __ballot_sync({mask}, c{name});")
        self.line(f"    if (!c{name})")
        self.line("        break;")
        inside = self.inner(scope, mask=mask, is_full=False, is_block=False, loops=scope.loops + 1)
        self.body(inside)
        if self.chance(40):
            leaves = f"b{name}"
            self.line(f"    const bool {leaves} = {self.value('c', scope)};")
            self.line(f"    {mask} = __ballot_sync({mask}, !{leaves});")
            self.line(f"    if ({leaves})")
            self.line("        break;")
            self.body(inside, 1)
        self.line("}")

    def multiply_atomically(self, scope):
        """Writes a compare-and-swap loop with a commutative operation, whose order does not matter."""
        name = self.new()
        word = f"&sums[{77 + self.below(3)}]"
        value = self.value("u", scope)
        self.line(f"unsigned o{name} = 0u;")
        self.line(f"for (unsigned e{name} = 1u; e{name} != o{name};) {{")
        self.line(f"    e{name} = o{name};")
        self.line(f"    o{name} = atomicCAS({word}, e{name}, e{name} ^ ({value} | 1u));")
        self.line("}")

    def call(self, scope):
        """Writes a device function and a call to it; the function has collectives if the mask is known."""
        name = f"f{self.number}_{self.new()}"
        has_mask = scope.mask is not None
        outer, self.lines, indent, self.indent = self.lines, [], self.indent, 1
        variables = {type: [f"x{type}"] for type in ("u", "i", "f")} | {"c": []}
        qualifier = self.pick(["__noinline__", "__forceinline__", ""])
        self.lines.append(f"static __device__ {qualifier} unsigned {name}(unsigned mask, unsigned lane, unsigned xu, "
                          "int xi, float xf)\n{")
        self.line("(void)mask, (void)lane;")
        inside = Scope(variables, "mask" if has_mask else None, False, False, scope.depth + 1, scope.loops, True)
        for _ in range(2 + self.below(2)):
            self.statement(inside)
        if self.chance(40):
            self.line(f"if ({self.value('c', inside)})")
            self.line(f"    return {self.value('u', inside)};")
            self.statement(dataclasses.replace(inside, mask=None))
        self.line("return xu ^ (unsigned)xi ^ bits_of(xf);")
        self.functions.append("\n".join(self.lines + ["}", ""]))
        self.lines, self.indent = outer, indent
        arguments = ", ".join([scope.mask or "0u", "lane"] + [self.value(type, scope) for type in "uif"])
        self.line(f"{self.pick(scope.variables['u'])} = {name}({arguments});")

    def statement(self, scope):
        may_nest = scope.depth < 3
        may_loop = may_nest and scope.loops < 2
        kinds = [(30, self.assignment)]
        if not scope.in_function:
            kinds += [(8, lambda scope: self.one_of(SHARED_RESULTS, scope)),
                      (8, lambda scope: self.one_of(OWN_RESULTS, scope))]
            if scope.loops < 2:
                kinds += [(1, self.multiply_atomically)]
        if scope.mask:
            own = FULL_COLLECTIVES if scope.is_full else PART_COLLECTIVES
            kinds += [(12, lambda scope: self.one_of(own, scope)),
                      (12, lambda scope: self.one_of(ALL_COLLECTIVES, scope))]
        if scope.is_block:
            kinds += [(14, lambda scope: self.one_of(BLOCK_STATEMENTS, scope))]
            if may_nest:
                kinds += [(5, self.uniform_branch)]
        if may_nest:
            kinds += [(10, self.branch), (3, self.choice)]
        if may_loop:
            kinds += [(3, self.uniform_loop), (4, self.loop)]
            if scope.mask:
                kinds += [(5, self.voted_loop)]
        if may_nest and not scope.in_function:
            kinds += [(4, self.call)]
        ticket = self.below(sum(weight for weight, _ in kinds))
        for weight, kind in kinds:
            ticket -= weight
            if ticket < 0:
                kind(scope)
                return

    # --- the kernel ---

    def variables(self):
        counts = {"c": 0, "u": 3, "i": 2, "f": 2}
        for type, percent in {"w": 50, "l": 30, "d": 35, "h": 20, "b": 20}.items():
            if self.chance(percent):
                counts[type] = 1
        return {type: [f"{type}{i}" for i in range(count)] for type, count in counts.items()}

    def beginning(self, variables):
        self.line(f"const unsigned tid = threadIdx.x + {self.block[0]} * (threadIdx.y + {self.block[1]} * threadIdx.z);")
        self.line(f"const unsigned thread = {self.threads} * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * "
                  "blockIdx.z)) + tid;")
        self.line("const unsigned lane = tid & 31u;")
        self.line("unsigned *const own = all_own + 4 * thread;")
        self.line("unsigned local[8];")
        self.line("for (int i = 0; i < 8; i++)")
        self.line("    local[i] = words[(thread * 8 + i) & 1023u];")
        loads = {"u": "words[{0} & 1023u]", "i": "(int)words[{0} & 1023u]", "f": "reals[{0} & 255u]",
                 "w": "(unsigned long long)words[{0} & 1023u] * thread", "l": "(long long)(int)words[{0} & 1023u] * 7",
                 "d": "(double)reals[{0} & 255u]", "h": "__float2half_rn(reals[{0} & 255u])",
                 "b": "__float2bfloat16_rn(reals[{0} & 255u])"}
        for type, names in variables.items():
            for name in names:
                index = f"(thread * {1 + self.below(9)} + {self.below(1024)})"
                self.line(f"{NAMES[type]} {name} = {loads[type].format(index)};")

    def masks(self, variables):
        """Writes the definition of the mask of the warp's lanes and returns the scope; in some kernels, some threads
        return here."""
        whole = self.threads % 32 == 0
        self.line("const unsigned m0 = " + ("0xffffffffu;" if whole else
                  f"(tid | 31u) < {self.threads} ? 0xffffffffu : (1u << {self.threads % 32}) - 1u;"))
        scope = Scope(variables, "m0", whole, True)
        if self.chance(25):
            self.line(f"const bool stays = {self.value('c', scope)} || (thread & 3u) == 1u;")
            self.line("const unsigned m = __ballot_sync(m0, stays);")
            self.line("if (!stays)")
            self.line("    return;")
            return Scope(variables, "m", False, False)
        return scope

    def end(self, variables):
        forms = {"u": ["{0}"], "i": ["(unsigned){0}"], "w": ["(unsigned){0}", "(unsigned)({0} >> 32)"],
                 "l": ["(unsigned){0}", "(unsigned)({0} >> 32)"], "f": ["bits_of({0})"],
                 "d": ["(unsigned)bits_of({0})", "(unsigned)(bits_of({0}) >> 32)"], "h": ["bits_of({0})"],
                 "b": ["bits_of({0})"]}
        outputs = [form.format(name) for type, names in variables.items() for name in names for form in forms[type]]
        outputs.append("local[0] ^ local[1] * 3u ^ local[2] * 5u ^ local[3] * 7u")
        for i, output in enumerate(outputs):
            self.line(f"out[{len(outputs)} * thread + {i}] = {output};")
        return len(outputs)

    def text(self):
        """Returns the kernel's text and its entry in the list of kernels."""
        variables = self.variables()
        self.beginning(variables)
        scope = self.masks(variables)
        for _ in range(3 + self.below(6)):
            self.statement(scope)
        outputs = self.end(variables)
        body = "\n".join(self.lines).replace("THREADS", str(self.threads))
        shared = [f"    __shared__ {array};".replace("THREADS", str(self.threads))
                  for name, array in SHARED_ARRAYS.items() if re.search(rf"\b{name}\b", body)]
        if "dynamic[" in body:
            shared.append("    extern __shared__ unsigned dynamic[];")
        dynamic = 8 * self.threads if "dynamic[" in body else 0
        grid, block = (f"dim3({', '.join(map(str, shape))})" for shape in (self.grid, self.block))
        name = f"kernel_{self.number}"
        text = "\n".join([
            *self.functions,
            f"static __global__ void {name}(const unsigned *words, const float *reals, unsigned *sums, unsigned *all_own, "
            "unsigned *exchange, unsigned *out)", "{", *shared, body, "}", "",
            f"static void launch_{self.number}(const struct kernel_arguments *a)", "{",
            f"    {name}<<<{grid}, {block}, {dynamic}>>>(a->words, a->reals, a->sums, a->own, a->exchange, a->out);", "}", ""])
        blocks = self.grid[0] * self.grid[1] * self.grid[2]
        return text, f"    {{{self.number}, {blocks}, {self.threads}, {outputs}, launch_{self.number}}},"


def main():
    parser = argparse.ArgumentParser(description="Writes a CUDA file of random kernels to standard output.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first kernel")
    parser.add_argument("--count", type=int, default=1, help="how many kernels")
    parser.add_argument("--only", type=int, help="the number of the only kernel")
    options = parser.parse_args()
    first, count = (options.first, options.count) if options.only is None else (options.only, 1)

    kernels = [Kernel(options.seed, number).text() for number in range(first, first + count)]
    print(f"/* python3 tests/random_kernels/generate.py --seed {options.seed} --first {first} --count {count} */")
    print('#include "random_kernels/kernels.h"\n#include "random_kernels/values.h"\n')
    print("static __constant__ unsigned table[16] = {1, 2, 3, 0x80000000u, 7, 0xffffffffu, 100, 31,\n"
          "                                          9, 0x7fffffffu, 5, 64, 0x12345678u, 0, 1000003, 0xaaaaaaaau};")
    print(f"static __constant__ float some_floats[] = {{{', '.join(FLOATS)}}};")
    print(f"static __constant__ double some_doubles[] = {{{', '.join(DOUBLES)}}};\n")
    for text, _ in kernels:
        print(text)
    print(f"const unsigned long long random_kernels_seed = {options.seed};")
    print(f"const unsigned num_random_kernels = {count};")
    print("const struct random_kernel random_kernels[] = {")
    for _, entry in kernels:
        print(entry)
    print("};")


if __name__ == "__main__":
    main()
