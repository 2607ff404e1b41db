"""Expressions of random kernels: for each type, the operations whose results CUDA defines to the last bit.

A template's placeholder, such as {u}, stands for an expression of that type: c (a condition), u (unsigned), i (int), w
(unsigned long long), l (long long), f (float), d (double), h (__half), b (__nv_bfloat16). Signed sums are computed as
unsigned, so that they cannot overflow; divisors are odd; a NaN's sign is never observed (see values.h).

nvcc 13 evaluates some expressions differently from the GPU, so no template produces these. nvcc assumes that signed
__mul24(), __dp2a() and __dp4a() do not overflow, and it folds the constant expressions ceil(1e100) and fminf(0.0f,
-0.0f) to -0x1p63 and +0. Floating-point constants are therefore read from memory.
"""
import re

NAMES = {"u": "unsigned", "i": "int", "w": "unsigned long long", "l": "long long", "f": "float", "d": "double",
         "h": "__half", "b": "__nv_bfloat16"}
HOLE = re.compile(r"\{(\w+)\}")

TEMPLATES = {
    "c": """
        ({u} & 1u) != 0u
        {u} < {u}
        {u} == {u}
        ({u} & 7u) > ({u} & 7u)
        {i} < {i}
        {i} >= {i}
        {i} != {i}
        {w} <= {w}
        {l} < {l}
        {f} < {f}
        {f} >= {f}
        {f} == {f}
        {f} != {f}
        !({f} > {f})
        isnan({f})
        isinf({f})
        signbit(not_nan({f}))
        {d} < {d}
        {d} >= {d}
        isnan({d})
        {c} && {c}
        {c} || {c}
        !({c})
        ({c}) != ({c})
        __hlt({h}, {h})
        __hge({h}, {h})
        __hne({h}, {h})
        __hequ({h}, {h})
        __hisnan({h})
        __hlt({b}, {b})
        __hle({b}, {b})
        __hgtu({b}, {b})
        __hne({b}, {b})
    """,
    "u": """
        {u} + {u}
        {u} + {u}
        {u} - {u}
        {u} * {u}
        {u} & {u}
        {u} | {u}
        {u} ^ {u}
        {u} ^ {u}
        ~{u}
        {u} / ({u} | 1u)
        {u} % ({u} | 1u)
        {u} % 7u
        {u} << ({u} & 31u)
        {u} >> ({u} & 31u)
        ({c}) ? {u} : {u}
        ({c}) ? {u} : {u}
        (unsigned)({c})
        words[{u} & 1023u]
        words[{u} & 1023u]
        __ldg(&words[{u} & 1023u])
        ((const uint2 *)words)[{u} & 511u].y
        ((const uint4 *)words)[{u} & 255u].z
        (unsigned)((const unsigned char *)words)[{u} & 4095u]
        (unsigned)((const unsigned short *)words)[{u} & 2047u]
        table[{u} & 15u]
        own[{u} & 3u]
        local[{u} & 7u]
        (unsigned){i}
        (unsigned){w}
        (unsigned)({w} >> 32)
        bits_of({f})
        bits_of({f})
        bits_of({h})
        bits_of({b})
        (unsigned)__popc({u})
        (unsigned)__popcll({w})
        (unsigned)__clz({i})
        (unsigned)__clzll({l})
        (unsigned)__ffs({i})
        (unsigned)__ffsll({l})
        __brev({u})
        __byte_perm({u}, {u}, {u})
        __funnelshift_l({u}, {u}, {u})
        __funnelshift_r({u}, {u}, {u})
        __funnelshift_lc({u}, {u}, {u} & 63u)
        __funnelshift_rc({u}, {u}, {u} & 63u)
        __umulhi({u}, {u})
        __umul24({u}, {u})
        __usad({u}, {u}, {u})
        __sad({i}, {i}, {u})
        __uhadd({u}, {u})
        __urhadd({u}, {u})
        __dp4a({u}, {u}, {u})
        __dp2a_lo({u}, {u}, {u})
        __dp2a_hi({u}, {u}, {u})
        min({u}, {u})
        max({u}, {u})
        umin({u}, {u})
        __vadd2({u}, {u})
        __vsub4({u}, {u})
        __vavgu4({u}, {u})
        __vavgs2({u}, {u})
        __vmaxs2({u}, {u})
        __vminu4({u}, {u})
        __vabsdiffu4({u}, {u})
        __vabsdiffs2({u}, {u})
        __vcmpgts4({u}, {u})
        __vcmpeq2({u}, {u})
        __vsetltu4({u}, {u})
        __float2uint_rn({f})
        __float2uint_rz({f})
        __float2uint_ru({f})
        (unsigned)fminf(fmaxf({f}, 0.0f), 1e9f)
        __double2uint_rn({d})
        __double2uint_rd({d})
        __half2uint_rz({h})
        __bfloat162uint_rn({b})
    """,
    "i": """
        (int)((unsigned){i} + (unsigned){i})
        (int)((unsigned){i} - (unsigned){i})
        (int)((unsigned){i} * (unsigned){i})
        {i} & {i}
        {i} ^ {i}
        {i} >> ({u} & 31u)
        ({i} >> 1) / ({i} | 1)
        ({i} >> 1) % ({i} | 1)
        {i} / 10
        {i} % 8
        (int)({u} << ({u} & 31u))
        ({c}) ? {i} : {i}
        (int){u}
        (int)words[{u} & 1023u]
        (int)((const signed char *)words)[{u} & 4095u]
        (int)((const short *)words)[{u} & 2047u]
        (int){l}
        (int)bits_of({f})
        min({i}, {i})
        max({i}, {i})
        abs({i} | 1)
        __mulhi({i}, {i})
        __mul24({i} >> 16, {i} >> 16)
        __hadd({i}, {i})
        __rhadd({i}, {i})
        __dp4a((int){u}, (int){u}, {i} >> 1)
        __dp2a_hi((int){u}, (int){u}, {i} >> 1)
        __popc({u}) - __clz({i})
        __float2int_rn({f})
        __float2int_rz({f})
        __float2int_rd({f})
        __float2int_ru({f})
        (int)fminf(fmaxf(not_nan({f}), -1e9f), 1e9f)
        ilogbf(fminf(fmaxf(fabsf(not_nan({f})), 1e-9f), 1e9f))
        __double2int_rn({d})
        __double2int_rz({d})
        __double2hiint(double_of(bits_of({d})))
        __half2int_rn({h})
        __bfloat162int_rz({b})
    """,
    "w": """
        {w} + {w}
        {w} - {w}
        {w} * {w}
        {w} ^ {w}
        {w} & {w}
        {w} / ({w} | 1ull)
        {w} % ({w} | 1ull)
        {w} / ({u} | 1u)
        {w} << ({u} & 63u)
        {w} >> ({u} & 63u)
        ({c}) ? {w} : {w}
        (unsigned long long){u} * {u}
        (unsigned long long){u} << 32 | {u}
        (unsigned long long){i}
        (unsigned long long){l}
        ((const unsigned long long *)words)[{u} & 511u]
        bits_of({d})
        __brevll({w})
        __umul64hi({w}, {w})
        min({w}, {w})
        max({w}, {w})
        __float2ull_rn({f})
        __float2ull_rz({f})
        __double2ull_rn({d})
        __double2ull_ru({d})
    """,
    "l": """
        (long long)((unsigned long long){l} + (unsigned long long){l})
        (long long)((unsigned long long){l} * (unsigned long long){l})
        (long long){w}
        (long long){i} * {i}
        ({l} >> 1) / ({l} | 1ll)
        ({l} >> 1) % ({i} | 1)
        {l} >> ({u} & 63u)
        ({c}) ? {l} : {l}
        min({l}, {l})
        max({l}, {l})
        __mul64hi({l}, {l})
        __float2ll_rn({f})
        __float2ll_rd({f})
        __double2ll_rz({d})
        __double2ll_rn({d})
    """,
    "f": """
        {f} + {f}
        {f} + {f}
        {f} - {f}
        {f} * {f}
        {f} * {f}
        {f} / {f}
        -{f}
        reals[{u} & 255u]
        reals[{u} & 255u]
        ((const float2 *)reals)[{u} & 127u].x
        ((const float4 *)reals)[{u} & 63u].w
        ({c}) ? {f} : {f}
        bounded_or({f}, {f})
        fmaf({f}, {f}, {f})
        fmaf({f}, {f}, {f})
        sqrtf({f})
        sqrtf(fabsf({f}))
        fabsf({f})
        fminf({f}, {f})
        fmaxf({f}, {f})
        fdimf({f}, {f})
        copysignf({f}, not_nan({f}))
        floorf({f})
        ceilf({f})
        truncf({f})
        rintf({f})
        roundf({f})
        fmodf({f}, {f})
        remainderf(bounded_or({f}, 1.0f), {f})
        ldexpf({f}, (int)({u} & 63u) - 32)
        nextafterf({f}, {f})
        __saturatef({f})
        __fadd_rz({f}, {f})
        __fsub_rd({f}, {f})
        __fadd_ru({f}, {f})
        __fmul_rz({f}, {f})
        __fmul_ru({f}, {f})
        __fmaf_rd({f}, {f}, {f})
        __fmaf_rz({f}, {f}, {f})
        __fdiv_rn({f}, {f})
        __fdiv_rz({f}, {f})
        __fdiv_ru({f}, {f})
        __frcp_rn({f})
        __frcp_rd({f})
        __fsqrt_rz({f})
        __fsqrt_ru({f})
        float_of({u})
        (float){u}
        (float){i}
        (float){w}
        (float){l}
        __uint2float_rz({u})
        __int2float_ru({i})
        __ull2float_rd({w})
        __ll2float_rz({l})
        (float){d}
        __double2float_rz({d})
        __double2float_ru({d})
        __half2float({h})
        __bfloat162float({b})
    """,
    "d": """
        {d} + {d}
        {d} - {d}
        {d} * {d}
        {d} / {d}
        -{d}
        (double){f}
        (double){f}
        (double){i}
        (double){u}
        (double){w}
        (double){l}
        ({c}) ? {d} : {d}
        bounded_or({d}, {d})
        fma({d}, {d}, {d})
        sqrt({d})
        fabs({d})
        fmin({d}, {d})
        fmax({d}, {d})
        copysign({d}, not_nan({d}))
        floor({d})
        ceil({d})
        trunc({d})
        rint({d})
        __dadd_rz({d}, {d})
        __dmul_ru({d}, {d})
        __fma_rd({d}, {d}, {d})
        __ddiv_rz({d}, {d})
        __dsqrt_rd({d})
        __ull2double_rz({w})
        __ll2double_ru({l})
        double_of({w})
    """,
    "h": """
        __hadd_rn({h}, {h})
        __hsub_rn({h}, {h})
        __hmul_rn({h}, {h})
        __hadd_sat({h}, {h})
        __hfma({h}, {h}, {h})
        __hfma_relu({h}, {h}, {h})
        __hfma_sat({h}, {h}, {h})
        __hneg({h})
        __habs({h})
        __hmax({h}, {h})
        __hmin({h}, {h})
        __hmax_nan({h}, {h})
        hfloor({h})
        hrint({h})
        ({c}) ? {h} : {h}
        half_of({u})
        __float2half_rn({f})
        __float2half_rn({f})
        __float2half_rz({f})
        __float2half_ru({f})
        __int2half_rn({i})
        __uint2half_rd({u})
        __double2half({d})
    """,
    "b": """
        __hadd_rn({b}, {b})
        __hsub_rn({b}, {b})
        __hmul_rn({b}, {b})
        __hfma({b}, {b}, {b})
        __hfma_relu({b}, {b}, {b})
        __hneg({b})
        __habs({b})
        __hmax({b}, {b})
        __hmin({b}, {b})
        __hmin_nan({b}, {b})
        ({c}) ? {b} : {b}
        bfloat16_of({u})
        __float2bfloat16_rn({f})
        __float2bfloat16_rn({f})
        __float2bfloat16_rz({f})
        __float2bfloat16_rd({f})
        __int2bfloat16_rn({i})
        __double2bfloat16({d})
    """,
}
TEMPLATES = {type: [line.strip() for line in lines.strip().splitlines()] for type, lines in TEMPLATES.items()}

FLOATS = "0.0f -0.0f 1.0f -1.5f 0.1f 3.0f 16777216.0f 1e-40f 1e30f".split()
DOUBLES = "0.0 1.0 -0.1 3.0 1e-310 1e100".split()

CONSTANTS = {
    "u": "0u 1u 2u 3u 5u 31u 32u 255u 0x80000000u 0xffffffffu 0x9e3779b9u 0x00ff00ffu".split(),
    "i": "0 1 -1 2 -7 100 0x7fffffff (-0x7fffffff-1)".split(),
    "w": "0ull 1ull 0xffffffffull 0x9e3779b97f4a7c15ull 0x8000000000000000ull".split(),
    "l": "0ll -1ll 3ll -1000000007ll 0x7fffffffffffffffll".split(),
    "f": [f"some_floats[{i}]" for i in range(len(FLOATS))],
    "d": [f"some_doubles[{i}]" for i in range(len(DOUBLES))],
    "h": ["half_of(0x3c00u)", "half_of(0x8001u)", "half_of(0x7bffu)"],
    "b": ["bfloat16_of(0x3f80u)", "bfloat16_of(0xbf9au)", "bfloat16_of(0x0001u)"],
}


def types_in(template):
    """Returns the set of types of a template's placeholders."""
    return set(HOLE.findall(template))
