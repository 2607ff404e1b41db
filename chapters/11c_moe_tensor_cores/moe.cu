/**
 * @file moe.cu
 * @brief Chapter 11c: a warp multiplies matrices on tensor cores.
 *
 * Before: each thread multiplies pairs of numbers that it reads from shared memory.
 * Now:    each warp multiplies a 16 x 16 matrix by a 16 x 8 matrix in one instruction, mma; ldmatrix loads the
 *         fragments that the warp's lanes hold. One template covers both products.
 * Watch:  fewer shared-memory requests and wavefronts; each copy still waits for global memory.
 */
#include "harness/moe/moe.h"
#include "kernels/dtype.cuh"
#include "kernels/tensor_core.cuh"

// [constants]
typedef __nv_bfloat16 bf16;

enum { WARP_SIZE = 32, SUM_THREADS = 256 };
enum { MMA_ROWS = 16, MMA_TOKENS = 8, MMA_K = 16 }; /* per instruction: 16 rows of weights by 8 tokens, k = 16 */
enum { PAIR_TOKENS = 2 * MMA_TOKENS };              /* one ldmatrix loads the tokens of two instructions */
enum { CHUNK = 16 / sizeof(bf16) };                 /* elements in a 16-byte chunk */
// [constants]

// [tile]
/**
 * The tile of a thread block: WEIGHT_ROWS rows of weights and TOKENS tokens, all of one expert. Each warp computes 16
 * rows for all tokens. In shared memory, the stage has a row for every row of weights and every token: K_STEP elements
 * in CHUNKS_PER_ROW chunks, followed by an unused chunk that puts the same chunk of neighbouring rows into different
 * banks.
 */
struct Tile {
    static constexpr int WARPS = 8, CHUNKS_PER_ROW = 16, THREADS = WARPS * WARP_SIZE,
                         ROWS_PER_PASS = THREADS / CHUNKS_PER_ROW;
    static constexpr int WEIGHT_ROWS = WARPS * MMA_ROWS, TOKENS = PAIR_TOKENS;
    static constexpr int WEIGHT_COPIES = WEIGHT_ROWS / ROWS_PER_PASS; /* per thread, plus one copy of tokens */
    static constexpr int K_STEP = CHUNKS_PER_ROW * CHUNK, K_PARTS = K_STEP / MMA_K, ROW_PITCH = K_STEP + CHUNK;
    static constexpr int STAGE_ELEMENTS = (WEIGHT_ROWS + TOKENS) * ROW_PITCH;
    static_assert(TOKENS == ROWS_PER_PASS, "a thread copies one chunk of tokens");
};
// [tile]

// [source]
/** One thread's share of the copies: per step, a chunk of every ROWS_PER_PASS-th row of weights and of one token. */
struct source {
    const bf16 *weights, *tokens; /* addresses of the next chunk in the thread's first row, and in token 0 */
    size_t weights_stride;        /* distance, in elements, between the thread's rows */
    int length, remaining, rows;  /* elements in a row, and from this chunk on; stage rows with weights */
    int token_row;                /* -1: a pad, copied as zeros */
};
// [source]

// [copy_step]
/**
 * Copies the next K_STEP elements of every row and token to shared memory. Pads, rows past the last and elements past
 * a row's end become zeros. All loads are in flight before the first store, which waits only for the first load.
 */
static __device__ __forceinline__ void copy_step(source &from, bf16 *stage)
{
    bf16 *const to = stage + threadIdx.x / Tile::CHUNKS_PER_ROW * Tile::ROW_PITCH +
                     threadIdx.x % Tile::CHUNKS_PER_ROW * CHUNK;
    const int rows = from.remaining > 0 ? from.rows : 0; /* a multiple of 64, and therefore of ROWS_PER_PASS */
    uint4 weights[Tile::WEIGHT_COPIES], token = make_uint4(0, 0, 0, 0);

#pragma unroll
    for (int i = 0; i < Tile::WEIGHT_COPIES; i++)
        weights[i] = i * Tile::ROWS_PER_PASS < rows ? *(const uint4 *)(from.weights + i * from.weights_stride)
                                                    : make_uint4(0, 0, 0, 0);
    if (from.token_row >= 0 && from.remaining > 0)
        token = *(const uint4 *)(from.tokens + (int64_t)from.token_row * from.length);
#pragma unroll
    for (int i = 0; i < Tile::WEIGHT_COPIES; i++)
        *(uint4 *)(to + i * Tile::ROWS_PER_PASS * Tile::ROW_PITCH) = weights[i];
    *(uint4 *)(to + Tile::WEIGHT_ROWS * Tile::ROW_PITCH) = token;
    from.weights += Tile::K_STEP;
    from.tokens += Tile::K_STEP;
    from.remaining -= Tile::K_STEP;
}
// [copy_step]

// [fragments]
/** Multiplies a stage's elements. weights_offset and tokens_offset are the offsets of this lane's first chunks. */
static __device__ __forceinline__ void multiply_stage(float (&sums)[2][4], const bf16 *stage, unsigned weights_offset,
                                                      unsigned tokens_offset)
{
#pragma unroll
    for (int k = 0; k < Tile::K_PARTS; k++) {
        uint32_t weights[4], tokens[4];

        ldmatrix_x4(weights, stage + weights_offset + k * MMA_K);
        ldmatrix_x4(tokens, stage + tokens_offset + k * MMA_K);
        mma_m16n8k16_bf16(sums[0], weights, tokens);
        mma_m16n8k16_bf16(sums[1], weights, tokens + 2);
    }
}
// [fragments]

// [accumulate]
/** Computes the dot products of a warp's rows with its tokens, over the full length of the rows. */
static __device__ __forceinline__ void accumulate(float (&sums)[2][4], source &from, bf16 *stage)
{
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const unsigned weights_offset = (warp * MMA_ROWS + lane % 16) * Tile::ROW_PITCH + lane / 16 * CHUNK;
    const unsigned tokens_offset = (Tile::WEIGHT_ROWS + lane / 16 * 8 + lane % 8) * Tile::ROW_PITCH +
                                   lane / 8 % 2 * CHUNK;
    const int steps = (from.length + Tile::K_STEP - 1) / Tile::K_STEP;

    for (int step = 0; step < steps; step++) {
        copy_step(from, stage);
        __syncthreads(); /* all threads have stored their chunks */
        multiply_stage(sums, stage, weights_offset, tokens_offset);
        __syncthreads(); /* no warp reads the stage any more */
    }
}
// [accumulate]

// [stage_results]
/** Returns x * sigmoid(x), with fast division and exp: their errors are far smaller than bf16's rounding error. */
static __device__ float silu(float x)
{
    return __fdividef(x, 1.0f + __expf(-x));
}

/**
 * Writes a warp's results to shared memory, one row per token, so that they can be stored in chunks of 16 bytes. In the
 * first product, a warp's 16 rows are 8 rows of w1 and the 8 rows of w3 for the same elements, so each thread has both
 * factors of an element.
 */
template <bool GATE_UP>
static __device__ void stage_results(const float (&sums)[2][4], const int *positions, int count,
                                     const float *topk_weights, bf16 *results, int pitch)
{
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    // [stage_results]

    // [results]
#pragma unroll
    for (int column = 0; column < 4; column++) {
        const int half = column / 2, token = half * MMA_TOKENS + lane % 4 * 2 + column % 2;
        const float weight = !GATE_UP && token < count ? topk_weights[positions[token]] : 0.0f;
        const float upper = sums[half][column % 2], lower = sums[half][2 + column % 2];
        bf16 *const to = results + token * pitch + warp * (GATE_UP ? 8 : 16) + lane / 4;

        to[0] = __float2bfloat16_rn(GATE_UP ? silu(upper) * lower : weight * upper);
        if (!GATE_UP)
            to[8] = __float2bfloat16_rn(weight * lower);
    }
    // [results]
}

// [place]
/** A thread block's share of the work: its block of tokens, the first element of its results, and its expert. */
struct work_tile {
    int token_block, first_output, expert;
};
// [place]

// [rows]
/**
 * Returns the addresses from which this thread copies. If GATE_UP, the tile's rows of weights alternate: 8 rows of
 * w1, then the 8 rows of w3 for the same elements of the result, and so on.
 */
template <bool GATE_UP>
static __device__ source find_source(const moe_problem &problem, const moe_buffers &buffers, work_tile tile,
                                     const int *positions, int count)
{
    const int width = GATE_UP ? problem.intermediate_size : problem.hidden_size; /* elements in a row of the result */
    const int length = GATE_UP ? problem.hidden_size : problem.intermediate_size;
    const int row = threadIdx.x / Tile::CHUNKS_PER_ROW, chunk = threadIdx.x % Tile::CHUNKS_PER_ROW;
    const int64_t first_row = tile.expert * (int64_t)(GATE_UP ? 2 * width : width) + tile.first_output;
    source from;

    from.length = length;
    from.remaining = length - chunk * CHUNK;
    from.rows = (GATE_UP ? 2 : 1) * (width - tile.first_output);
    from.weights = (const bf16 *)(GATE_UP ? buffers.w13 : buffers.w2) + chunk * CHUNK +
                   (first_row + (GATE_UP ? row % 8 + row / 8 * width : row)) * length;
    from.weights_stride = (size_t)(GATE_UP ? Tile::ROWS_PER_PASS / 2 : Tile::ROWS_PER_PASS) * length;
    from.tokens = (const bf16 *)(GATE_UP ? buffers.hidden : buffers.intermediate) + chunk * CHUNK;
    from.token_row = row >= count ? -1 : GATE_UP ? positions[row] / problem.topk : positions[row];
    return from;
}
// [rows]

// [compute]
/** Computes and stores this block's share of the result. */
template <bool GATE_UP>
static __device__ void compute(const moe_problem &problem, const moe_buffers &buffers, work_tile tile,
                               const int *positions, int count, bf16 *stage)
{
    constexpr int OUTPUTS = Tile::WEIGHT_ROWS / (GATE_UP ? 2 : 1),
                  PITCH = OUTPUTS + CHUNK; /* rows begin 4 banks apart */
    const int width = GATE_UP ? problem.intermediate_size : problem.hidden_size;
    bf16 *const result = (bf16 *)(GATE_UP ? buffers.intermediate : buffers.partial) + tile.first_output;
    source from = find_source<GATE_UP>(problem, buffers, tile, positions, count);
    float sums[2][4] = {};

    if (tile.expert >= 0) /* else the sums stay 0: the expert is on another GPU, and its rows are zeros */
        accumulate(sums, from, stage);
    stage_results<GATE_UP>(sums, positions, count, buffers.topk_weights, stage, PITCH);
    __syncthreads();
    for (int i = threadIdx.x; i < count * (OUTPUTS / CHUNK); i += Tile::THREADS) {
        const int token = i / (OUTPUTS / CHUNK), output = i % (OUTPUTS / CHUNK) * CHUNK;

        if (tile.first_output + output < width)
            *(uint4 *)(result + (int64_t)positions[token] * width + output) = *(const uint4 *)(stage + token * PITCH +
                                                                                               output);
    }
}
// [compute]

// [product]
/**
 * If GATE_UP, computes the first product, silu(gate[i]) * up[i] (in w13, w1's rows precede w3's); otherwise the second
 * product, times the choice's weight, as partial.
 *
 * Grid: x is a tile of Tile::TOKENS slots of sorted_token_ids, y a tile of Tile::WEIGHT_ROWS rows.
 */
template <bool GATE_UP>
static __global__ void __launch_bounds__(Tile::THREADS) product_kernel(moe_problem problem, moe_buffers buffers)
{
    __shared__ __align__(128)
        bf16 stage[Tile::STAGE_ELEMENTS]; /* [WEIGHT_ROWS + TOKENS][ROW_PITCH]; then the results, [TOKENS][PITCH] */
    __shared__ int positions[Tile::TOKENS];
    const int num_positions = (int)(problem.num_tokens * problem.topk), thread = threadIdx.x;
    const work_tile tile = {(int)blockIdx.x, (int)blockIdx.y * (GATE_UP ? Tile::WEIGHT_ROWS / 2 : Tile::WEIGHT_ROWS),
                            buffers.expert_ids[blockIdx.x * Tile::TOKENS / problem.block_size]};

    if (thread < Tile::TOKENS)
        positions[thread] = buffers.sorted_token_ids[(int64_t)tile.token_block * Tile::TOKENS + thread];
    /* Pads come last, so only the first `count` slots hold positions. */
    const int count = __syncthreads_count(thread < Tile::TOKENS && positions[thread] < num_positions);

    if (count == 0 || (GATE_UP && tile.expert < 0))
        return; /* the whole block returns */
    compute<GATE_UP>(problem, buffers, tile, positions, count, stage);
}
// [product]

// [moe_sum]
/** Packs two values as bf16 into one word, `low` in the lower half. */
static __device__ unsigned pack(float low, float high)
{
    const unsigned upper = __bfloat16_as_ushort(__float2bfloat16_rn(high));

    return upper << 16 | __bfloat16_as_ushort(__float2bfloat16_rn(low));
}

/** Adds up the results of a token's topk experts. Grid: one thread per CHUNK elements of a token. */
static __global__ void moe_sum_kernel(moe_problem problem, moe_buffers buffers)
{
    const int64_t i = (int64_t)blockIdx.x * SUM_THREADS + threadIdx.x;
    const int chunks = problem.hidden_size / CHUNK;
    const int4 *const partial = (const int4 *)buffers.partial + i / chunks * problem.topk * chunks + i % chunks;
    float sums[CHUNK] = {};

    if (i >= problem.num_tokens * chunks)
        return;
#pragma unroll 8
    for (int k = 0; k < problem.topk; k++) {
        const int4 word = partial[(int64_t)k * chunks];

#pragma unroll
        for (int e = 0; e < CHUNK; e++)
            sums[e] += unpack(word, (const bf16 *)NULL, e);
    }
    ((uint4 *)buffers.output)[i] = make_uint4(pack(sums[0], sums[1]), pack(sums[2], sums[3]), pack(sums[4], sums[5]),
                                              pack(sums[6], sums[7]));
}
// [moe_sum]

// [launch]
template <bool GATE_UP>
static cudaError_t launch_product(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    constexpr int OUTPUTS = GATE_UP ? Tile::WEIGHT_ROWS / 2 : Tile::WEIGHT_ROWS;
    const int width = GATE_UP ? problem->intermediate_size : problem->hidden_size;
    const dim3 blocks((unsigned)(problem->capacity / Tile::TOKENS), (unsigned)((width + OUTPUTS - 1) / OUTPUTS));

    product_kernel<GATE_UP><<<blocks, Tile::THREADS, 0, stream>>>(*problem, *buffers);
    return cudaGetLastError();
}

cudaError_t moe_launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    const int64_t sum_threads = problem->num_tokens * (problem->hidden_size / CHUNK);
    cudaError_t status = launch_product<true>(problem, buffers, stream);

    if (status == cudaSuccess)
        status = launch_product<false>(problem, buffers, stream);
    if (status != cudaSuccess)
        return status;
    moe_sum_kernel<<<(unsigned)((sum_threads + SUM_THREADS - 1) / SUM_THREADS), SUM_THREADS, 0, stream>>>(*problem,
                                                                                                          *buffers);
    return cudaGetLastError();
}
// [launch]
