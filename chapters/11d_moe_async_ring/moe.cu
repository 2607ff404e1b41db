/**
 * @file moe.cu
 * @brief Chapter 11d: a ring of asynchronous copies.
 *
 * Before: a block copies a step's elements, waits for the copies, multiplies, and waits again.
 * Now:    copies for later steps are in flight while the current step is multiplied; chunks are swizzled; one template
 *         covers every tile size. Blocks that need the same weights get neighbouring indices.
 * Watch:  one barrier per step instead of two; all copies asynchronous; no bank conflicts, although no row in the ring
 *         is padded.
 */
#include "harness/moe/moe.h"
#include "kernels/dtype.cuh"
#include "kernels/tensor_core.cuh"

#include <cuda_pipeline.h>
#include <limits.h>

// [constants]
typedef __nv_bfloat16 bf16;

enum { WARP_SIZE = 32, SUM_THREADS = 256 };
enum { MMA_ROWS = 16, MMA_TOKENS = 8, MMA_K = 16 };     /* per instruction: 16 rows of weights by 8 tokens, k = 16 */
enum { PAIR_TOKENS = 2 * MMA_TOKENS };                  /* one ldmatrix loads the tokens of two instructions */
enum { CHUNK = 16 / sizeof(bf16), SWIZZLE_CHUNKS = 8 }; /* elements in a chunk; neighbouring chunks that are permuted */
#ifndef MAX_SHARED_BYTES
#define MAX_SHARED_BYTES INT_MAX /* limit on a block's shared memory, even if the device has more */
#endif
static const unsigned FULL_MASK = 0xffffffffu;
// [constants]

// [tile]
/**
 * The tile of a thread block: WEIGHT_ROWS rows of weights and TOKENS tokens, all of one expert. Its ROW_WARPS x
 * TOKEN_WARPS warps each compute ROW_TILES x 16 rows for PAIRS x 16 tokens. Shared memory holds a ring of as many
 * stages as fit in RING_KB. A stage has a row for every row of weights and every token: K_STEP elements in
 * CHUNKS_PER_ROW chunks.
 */
template <int ROW_WARPS_, int TOKEN_WARPS_, int ROW_TILES_, int PAIRS_, int CHUNKS_PER_ROW_, int RING_KB_,
          int BLOCKS_PER_SM_>
struct tile {
    static constexpr int ROW_WARPS = ROW_WARPS_, TOKEN_WARPS = TOKEN_WARPS_, ROW_TILES = ROW_TILES_, PAIRS = PAIRS_;
    static constexpr int CHUNKS_PER_ROW = CHUNKS_PER_ROW_, RING_BYTES = RING_KB_ * 1024, BLOCKS_PER_SM = BLOCKS_PER_SM_;
    static constexpr int THREADS = ROW_WARPS * TOKEN_WARPS * WARP_SIZE, ROWS_PER_PASS = THREADS / CHUNKS_PER_ROW;
    static constexpr int WEIGHT_ROWS = ROW_WARPS * ROW_TILES * MMA_ROWS, TOKENS = TOKEN_WARPS * PAIRS * PAIR_TOKENS;
    static constexpr int WEIGHT_COPIES = WEIGHT_ROWS / ROWS_PER_PASS,
                         TOKEN_COPIES = TOKENS / ROWS_PER_PASS; /* per thread */
    static constexpr int K_STEP = CHUNKS_PER_ROW * CHUNK, K_PARTS = K_STEP / MMA_K;
    static constexpr int STAGE_ELEMENTS = (WEIGHT_ROWS + TOKENS) * K_STEP;
    static constexpr int STAGES = RING_BYTES / (STAGE_ELEMENTS * (int)sizeof(bf16));
    typedef tile<ROW_WARPS, TOKEN_WARPS, ROW_TILES, PAIRS - 1, CHUNKS_PER_ROW, RING_KB_, BLOCKS_PER_SM> narrower;
    static_assert(ROWS_PER_PASS % 16 == 0 && TOKENS % ROWS_PER_PASS == 0, "a thread's rows are equally far apart");
};
// [tile]

// [tiles]
/*
 * The parameters: warps along the rows, and along the tokens; groups of 16 rows, and pairs, of each warp; chunks in a
 * row of a stage; KiB of the ring; blocks per multiprocessor.
 */
typedef tile<8, 1, 1, 1, 16, 108, 2> few_tokens; /* 128 by 16: small enough for two blocks per multiprocessor */
typedef tile<4, 2, 4, 6, 8, 224, 1> many_tokens; /* 256 by 192: 192 sums per thread, the most that fit into registers */
// [tiles]

// [tiles_99]
/* Tiles for GPUs with 99 KiB of shared memory per block: 128 by 16 and 256 by 96, with two stages each. */
typedef tile<8, 1, 1, 1, 16, 72, 1> few_tokens_99;
typedef tile<4, 2, 4, 3, 8, 88, 1> many_tokens_99;
// [tiles_99]

// [swizzle]
/**
 * Returns the offset, in elements, of a chunk of a row of the stage. A row covers all 32 banks once or twice, so chunks
 * with the same index in 8 rows, which ldmatrix reads together, would be in the same 4 banks. Chunk c of row r is
 * therefore stored at index c ^ r % 8 of its row, which differs for each of the 8 rows.
 */
template <typename Tile>
static __device__ unsigned swizzled_offset(int stage_row, int chunk)
{
    return stage_row * Tile::K_STEP + (chunk ^ stage_row % SWIZZLE_CHUNKS) * CHUNK;
}
// [swizzle]

// [source]
/** One thread's share of the copies: per stage, a chunk of every ROWS_PER_PASS-th row of weights and of tokens. */
template <typename Tile>
struct source {
    const bf16 *weights, *tokens;       /* addresses of the next chunk in the thread's first row, and in token 0 */
    size_t weights_stride;              /* distance, in elements, between the thread's rows */
    int length, remaining, rows;        /* elements in a row, and from this chunk on; stage rows with weights */
    int token_rows[Tile::TOKEN_COPIES]; /* -1: a pad, copied as zeros */
};

/**
 * Starts copying the next K_STEP elements of every row; the copies are complete once this thread has waited for them.
 * Pads, rows past the last and elements past a row's end become zeros.
 */
template <typename Tile>
static __device__ __forceinline__ void copy_step(source<Tile> &from, bf16 *stage)
{
    bf16 *const to = stage +
                     swizzled_offset<Tile>(threadIdx.x / Tile::CHUNKS_PER_ROW, threadIdx.x % Tile::CHUNKS_PER_ROW);
    /* A multiple of 64, so the ROWS_PER_PASS rows that are copied together all exist or none do. */
    const int rows = from.remaining > 0 ? from.rows : 0;

#pragma unroll
    for (int i = 0; i < Tile::WEIGHT_COPIES; i++)
        __pipeline_memcpy_async(to + i * Tile::ROWS_PER_PASS * Tile::K_STEP, from.weights + i * from.weights_stride, 16,
                                i * Tile::ROWS_PER_PASS < rows ? 0 : 16);
#pragma unroll
    for (int i = 0; i < Tile::TOKEN_COPIES; i++)
        __pipeline_memcpy_async(to + (Tile::WEIGHT_ROWS + i * Tile::ROWS_PER_PASS) * Tile::K_STEP,
                                from.tokens + (int64_t)from.token_rows[i] * from.length, 16,
                                from.token_rows[i] >= 0 && from.remaining > 0 ? 0 : 16);
    from.weights += Tile::K_STEP;
    from.tokens += Tile::K_STEP;
    from.remaining -= Tile::K_STEP;
}
// [source]

// [fragments]
template <typename Tile>
static __device__ __forceinline__ void load_weights(uint32_t (&weights)[Tile::ROW_TILES][4], const bf16 *fragment_row)
{
#pragma unroll
    for (int i = 0; i < Tile::ROW_TILES; i++)
        ldmatrix_x4(weights[i], fragment_row + i * MMA_ROWS * Tile::K_STEP);
}

/** Multiplies all of this warp's rows by the PAIR_TOKENS tokens of one pair. */
template <typename Tile>
static __device__ __forceinline__ void multiply(float (&sums)[Tile::ROW_TILES][2 * Tile::PAIRS][4], int pair,
                                                const uint32_t (&weights)[Tile::ROW_TILES][4],
                                                const uint32_t (&tokens)[4])
{
#pragma unroll
    for (int i = 0; i < Tile::ROW_TILES; i++) {
        mma_m16n8k16_bf16(sums[i][2 * pair], weights[i], tokens);
        mma_m16n8k16_bf16(sums[i][2 * pair + 1], weights[i], tokens + 2);
    }
}
// [fragments]

// [multiply_stage]
/**
 * Multiplies a stage's elements. weights_offset and tokens_offset are the offsets of this lane's first chunks.
 * Fragments alternate between two sets of registers: the next are loaded while the current ones are multiplied.
 */
template <typename Tile>
static __device__ __forceinline__ void multiply_stage(float (&sums)[Tile::ROW_TILES][2 * Tile::PAIRS][4],
                                                      const bf16 *stage, unsigned weights_offset,
                                                      unsigned tokens_offset)
{
    constexpr int PAIR_STRIDE = Tile::TOKEN_WARPS * PAIR_TOKENS * Tile::K_STEP;
    uint32_t weights[2][Tile::ROW_TILES][4], tokens[2][4];

    load_weights<Tile>(weights[0], stage + weights_offset);
    ldmatrix_x4(tokens[0], stage + tokens_offset);
#pragma unroll
    for (int i = 0; i < Tile::K_PARTS * Tile::PAIRS; i++) {
        const int k = i / Tile::PAIRS, pair = i % Tile::PAIRS;
        const int next_k = (i + 1) / Tile::PAIRS, next_pair = (i + 1) % Tile::PAIRS;

        if (pair == 0 && k + 1 < Tile::K_PARTS)
            load_weights<Tile>(weights[(k + 1) % 2], stage + (weights_offset ^ (k + 1) * MMA_K));
        if (next_k < Tile::K_PARTS)
            ldmatrix_x4(tokens[(i + 1) % 2], stage + (tokens_offset ^ next_k * MMA_K) + next_pair * PAIR_STRIDE);
        multiply<Tile>(sums, pair, weights[k % 2], tokens[i % 2]);
    }
}
// [multiply_stage]

// [accumulate]
/** Computes the dot products of a warp's rows with its tokens, over the full length of the rows. */
template <typename Tile>
static __device__ __forceinline__ void accumulate(float (&sums)[Tile::ROW_TILES][2 * Tile::PAIRS][4],
                                                  source<Tile> &from, bf16 *ring)
{
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const int first_row = warp % Tile::ROW_WARPS * Tile::ROW_TILES * MMA_ROWS;
    const int first_token = Tile::WEIGHT_ROWS + warp / Tile::ROW_WARPS * PAIR_TOKENS;
    const unsigned weights_offset = swizzled_offset<Tile>(first_row + lane % 16, lane / 16);
    const unsigned tokens_offset = swizzled_offset<Tile>(first_token + lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const int steps = (from.length + Tile::K_STEP - 1) / Tile::K_STEP;

    for (int s = 0; s < Tile::STAGES - 1; s++) {
        if (s < steps)
            copy_step<Tile>(from, ring + s * Tile::STAGE_ELEMENTS);
        __pipeline_commit(); /* one group per step, empty past the last step, so that the wait can count groups */
    }
    for (int step = 0; step < steps; step++) {
        __pipeline_wait_prior(Tile::STAGES - 2);
        __syncthreads(); /* the stage is visible to all threads, and all have finished with the previous one */
        if (step + Tile::STAGES - 1 < steps)
            copy_step<Tile>(from, ring + (step + Tile::STAGES - 1) % Tile::STAGES * Tile::STAGE_ELEMENTS);
        __pipeline_commit();
        multiply_stage<Tile>(sums, ring + step % Tile::STAGES * Tile::STAGE_ELEMENTS, weights_offset, tokens_offset);
    }
}
// [accumulate]

// [results]
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
template <bool GATE_UP, typename Tile>
static __device__ void stage_results(const float (&sums)[Tile::ROW_TILES][2 * Tile::PAIRS][4], const int *positions,
                                     int count, const float *topk_weights, bf16 *results, int pitch)
{
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;

#pragma unroll
    for (int column = 0; column < 4 * Tile::PAIRS; column++) {
        const int pair = column / 4 * Tile::TOKEN_WARPS + warp / Tile::ROW_WARPS, half = column / 2;
        const int token = pair * PAIR_TOKENS + half % 2 * MMA_TOKENS + lane % 4 * 2 + column % 2;
        const float weight = !GATE_UP && token < count ? topk_weights[positions[token]] : 0.0f;

#pragma unroll
        for (int i = 0; i < Tile::ROW_TILES; i++) {
            const int row_tile = warp % Tile::ROW_WARPS * Tile::ROW_TILES + i;
            const float upper = sums[i][half][column % 2], lower = sums[i][half][2 + column % 2];
            bf16 *const to = results + token * pitch + row_tile * (GATE_UP ? 8 : 16) + lane / 4;

            to[0] = __float2bfloat16_rn(GATE_UP ? silu(upper) * lower : weight * upper);
            if (!GATE_UP)
                to[8] = __float2bfloat16_rn(weight * lower);
        }
    }
}
// [results]

// [order]
/** A thread block's share of the work: its block of tokens, the first element of its results, and its expert. */
struct work_tile {
    int token_block, first_output, expert;
};

/**
 * Returns this block's share of the work. Thread blocks usually start in index order; those that need the same rows of
 * weights get neighbouring indices, so that all but the first find these rows in L2. Each warp examines 32 blocks of
 * tokens. Each entry of expert_ids covers token_blocks_per_id blocks of tokens.
 */
static __device__ work_tile find_tile(const int *expert_ids, int width, int outputs, int token_blocks_per_id)
{
    const int lane = threadIdx.x % WARP_SIZE, row_blocks = (width + outputs - 1) / outputs;
    const int block = blockIdx.x / row_blocks, window = block / WARP_SIZE * WARP_SIZE;
    const bool exists = window + lane < (int)gridDim.x / row_blocks;
    const int expert_here = exists ? expert_ids[(window + lane) / token_blocks_per_id] : -1;
    const int expert = __shfl_sync(FULL_MASK, expert_here, block % WARP_SIZE);
    const unsigned same = __ballot_sync(FULL_MASK, expert_here == expert);
    const int first = window + __ffs((int)same) - 1, i = (int)blockIdx.x - first * row_blocks;

    if (expert < 0) /* such an expert's blocks read no weights, so their order does not matter */
        return work_tile{block, (int)blockIdx.x % row_blocks * outputs, expert};
    return work_tile{first + i % __popc(same), i / __popc(same) * outputs, expert};
}
// [order]

// [rows]
/**
 * Returns the addresses from which this thread copies. If GATE_UP, the tile's rows of weights alternate: 8 rows of
 * w1, then the 8 rows of w3 for the same elements of the result, and so on.
 */
template <bool GATE_UP, typename Tile>
static __device__ source<Tile> find_source(const moe_problem &problem, const moe_buffers &buffers, work_tile tile,
                                           const int *positions, int count)
{
    const int width = GATE_UP ? problem.intermediate_size : problem.hidden_size; /* elements in a row of the result */
    const int length = GATE_UP ? problem.hidden_size : problem.intermediate_size;
    const int row = threadIdx.x / Tile::CHUNKS_PER_ROW, chunk = threadIdx.x % Tile::CHUNKS_PER_ROW;
    const int64_t first_row = tile.expert * (int64_t)(GATE_UP ? 2 * width : width) + tile.first_output;
    source<Tile> from;

    from.length = length;
    from.remaining = length - chunk * CHUNK;
    from.rows = (GATE_UP ? 2 : 1) * (width - tile.first_output);
    from.weights = (const bf16 *)(GATE_UP ? buffers.w13 : buffers.w2) + chunk * CHUNK +
                   (first_row + (GATE_UP ? row / 16 * 8 + row % 8 + row / 8 % 2 * width : row)) * length;
    from.weights_stride = (size_t)(GATE_UP ? Tile::ROWS_PER_PASS / 2 : Tile::ROWS_PER_PASS) * length;
    from.tokens = (const bf16 *)(GATE_UP ? buffers.hidden : buffers.intermediate) + chunk * CHUNK;
#pragma unroll
    for (int i = 0; i < Tile::TOKEN_COPIES; i++) {
        const int token = row + i * Tile::ROWS_PER_PASS;

        from.token_rows[i] = token >= count ? -1 : GATE_UP ? positions[token] / problem.topk : positions[token];
    }
    return from;
}
// [rows]

// [narrower]
/** Computes and stores this block's share of the result, in the narrowest tile that can hold its tokens. */
template <bool GATE_UP, typename Tile>
static __device__ void compute(const moe_problem &problem, const moe_buffers &buffers, work_tile tile,
                               const int *positions, int count, bf16 *ring)
{
    if constexpr (Tile::PAIRS > 1)
        if (count <= Tile::narrower::TOKENS)
            return compute<GATE_UP, typename Tile::narrower>(problem, buffers, tile, positions, count, ring);
    // [narrower]

    // [compute]
    constexpr int OUTPUTS = Tile::WEIGHT_ROWS / (GATE_UP ? 2 : 1),
                  PITCH = OUTPUTS + CHUNK; /* rows begin 4 banks apart */
    const int width = GATE_UP ? problem.intermediate_size : problem.hidden_size;
    bf16 *const result = (bf16 *)(GATE_UP ? buffers.intermediate : buffers.partial) + tile.first_output;
    source<Tile> from = find_source<GATE_UP, Tile>(problem, buffers, tile, positions, count);
    float sums[Tile::ROW_TILES][2 * Tile::PAIRS][4] = {};

    if (tile.expert >= 0) /* else the sums stay 0: the expert is on another GPU, and its rows are zeros */
        accumulate<Tile>(sums, from, ring);
    __syncthreads(); /* no reads or copies remain (the last groups are empty), so the ring can hold the results */
    stage_results<GATE_UP, Tile>(sums, positions, count, buffers.topk_weights, ring, PITCH);
    __syncthreads();
    for (int i = threadIdx.x; i < count * (OUTPUTS / CHUNK); i += Tile::THREADS) {
        const int token = i / (OUTPUTS / CHUNK), output = i % (OUTPUTS / CHUNK) * CHUNK;

        if (tile.first_output + output < width)
            *(uint4 *)(result + (int64_t)positions[token] * width + output) = *(const uint4 *)(ring + token * PITCH +
                                                                                               output);
    }
    // [compute]
}

// [product]
/**
 * If GATE_UP, computes the first product, silu(gate[i]) * up[i] (in w13, w1's rows precede w3's); otherwise the second
 * product, times the choice's weight, as partial.
 *
 * Grid: one block for each tile of Tile::TOKENS entries of sorted_token_ids by Tile::WEIGHT_ROWS rows.
 */
template <bool GATE_UP, typename Tile>
static __global__ void __launch_bounds__(Tile::THREADS, Tile::BLOCKS_PER_SM)
    product_kernel(moe_problem problem, moe_buffers buffers)
{
    extern __shared__ __align__(128)
        bf16 ring[]; /* [STAGES][WEIGHT_ROWS + TOKENS][K_STEP]; then results, [TOKENS][PITCH] */
    __shared__ int positions[Tile::TOKENS];
    const int num_positions = (int)(problem.num_tokens * problem.topk), thread = threadIdx.x;
    const work_tile tile = find_tile(buffers.expert_ids, GATE_UP ? problem.intermediate_size : problem.hidden_size,
                                     GATE_UP ? Tile::WEIGHT_ROWS / 2 : Tile::WEIGHT_ROWS,
                                     problem.block_size / Tile::TOKENS);

    if (thread < Tile::TOKENS)
        positions[thread] = buffers.sorted_token_ids[(int64_t)tile.token_block * Tile::TOKENS + thread];
    /* Pads come last, so only the first `count` entries are positions. */
    const int count = __syncthreads_count(thread < Tile::TOKENS && positions[thread] < num_positions);

    if (count == 0 || (GATE_UP && tile.expert < 0))
        return; /* the whole block returns */
    compute<GATE_UP, Tile>(problem, buffers, tile, positions, count, ring);
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
template <bool GATE_UP, typename Tile>
static cudaError_t launch_product(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    constexpr int OUTPUTS = GATE_UP ? Tile::WEIGHT_ROWS / 2 : Tile::WEIGHT_ROWS;
    const int width = GATE_UP ? problem->intermediate_size : problem->hidden_size;
    const unsigned blocks = (unsigned)(problem->capacity / Tile::TOKENS * ((width + OUTPUTS - 1) / OUTPUTS));
    const cudaError_t status = cudaFuncSetAttribute(product_kernel<GATE_UP, Tile>,
                                                    cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::RING_BYTES);

    if (status != cudaSuccess)
        return status;
    product_kernel<GATE_UP, Tile><<<blocks, Tile::THREADS, Tile::RING_BYTES, stream>>>(*problem, *buffers);
    return cudaGetLastError();
}

template <typename Tile>
static cudaError_t launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    const int64_t sum_threads = problem->num_tokens * (problem->hidden_size / CHUNK);
    cudaError_t status = launch_product<true, Tile>(problem, buffers, stream);

    if (status == cudaSuccess)
        status = launch_product<false, Tile>(problem, buffers, stream);
    if (status != cudaSuccess)
        return status;
    moe_sum_kernel<<<(unsigned)((sum_threads + SUM_THREADS - 1) / SUM_THREADS), SUM_THREADS, 0, stream>>>(*problem,
                                                                                                          *buffers);
    return cudaGetLastError();
}

/**
 * Launches the layer with tiles of type `Tile`, or with `Smaller` if the ring of `Tile` does not fit in a block's
 * shared memory.
 */
template <typename Tile, typename Smaller>
static cudaError_t launch_what_fits(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    const int positions_bytes = Tile::TOKENS * (int)sizeof(int);
    int device, bytes;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (status != cudaSuccess)
        return status;
    return (bytes < MAX_SHARED_BYTES ? bytes : MAX_SHARED_BYTES) < Tile::RING_BYTES + positions_bytes
               ? launch<Smaller>(problem, buffers, stream)
               : launch<Tile>(problem, buffers, stream);
}

cudaError_t moe_launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    if (problem->block_size % many_tokens::TOKENS == 0)
        return launch_what_fits<many_tokens, many_tokens_99>(problem, buffers, stream);
    return launch_what_fits<few_tokens, few_tokens_99>(problem, buffers, stream);
}
// [launch]
