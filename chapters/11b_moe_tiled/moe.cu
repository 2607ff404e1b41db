/**
 * @file moe.cu
 * @brief Chapter 11b: tiles in shared memory, several outputs per thread.
 *
 * Before: every thread reads an entire row of weights, so 32 lanes read 32 rows simultaneously.
 * Now:    a block copies a tile of tokens and a tile of weights to shared memory, with neighbouring lanes copying
 *         neighbouring elements; each thread then computes several outputs from the tiles.
 * Watch:  fewer global-memory sectors, more shared-memory requests; pads are multiplied like tokens.
 */
#include "harness/moe/moe.h"
#include "kernels/dtype.cuh"

// [constants]
enum { THREADS_PER_ROW = 16, THREADS_PER_COLUMN = 8, THREADS = THREADS_PER_ROW * THREADS_PER_COLUMN };
enum { TILE_COLUMNS = 64, COLUMNS_PER_THREAD = TILE_COLUMNS / THREADS_PER_ROW }; /* columns per tile, and per thread */
enum { SMALL_TILE_ROWS = 16, LARGE_TILE_ROWS = 64 }; /* slots of sorted_token_ids in a tile */
enum { K_STEP = 32 };
// [constants]

// [store]
/** Stores a value in the array's type: f32 unchanged, bf16 rounded to nearest. */
static __device__ __forceinline__ void store(float *to, float value)
{
    *to = value;
}

static __device__ __forceinline__ void store(__nv_bfloat16 *to, float value)
{
    *to = __float2bfloat16_rn(value);
}
// [store]

// [silu]
/** Returns x * sigmoid(x). */
static __device__ float silu(float x)
{
    return x / (1.0f + expf(-x));
}
// [silu]

// [tile]
/**
 * K_STEP elements of each of COUNT list entries, transposed: tile[k][row], where `row` is the entry's index in the
 * list. One word of padding at the end of each tile[k] puts an entry's elements, which lanes store simultaneously, into
 * different banks.
 */
template <int COUNT>
using Tile = float[K_STEP][COUNT + 1];

/**
 * Copies elements first_k to first_k + K_STEP - 1 of the COUNT rows of `from` whose numbers are in `list`. Each row has
 * `length` elements. For the row number -1, zeros are stored.
 */
template <int COUNT, typename T>
static __device__ void load_tile(Tile<COUNT> &tile, const T *from, const int *list, int length, int first_k)
{
    for (int i = threadIdx.x; i < COUNT * K_STEP; i += THREADS) {
        const int row = i / K_STEP, k = i % K_STEP;
        const bool exists = list[row] >= 0 && first_k + k < length;

        tile[k][row] = exists ? to_float(from[(int64_t)list[row] * length + first_k + k]) : 0.0f;
    }
}
// [tile]

// [multiply]
/** Adds the products of a tile of inputs (rows of tokens or of the intermediate) and weights to this thread's sums. */
template <int TILE_ROWS>
static __device__ void multiply(float (&sums)[TILE_ROWS / THREADS_PER_COLUMN][COLUMNS_PER_THREAD],
                                const Tile<TILE_ROWS> &inputs, const Tile<TILE_COLUMNS> &weights)
{
    const int row = threadIdx.x / THREADS_PER_ROW, column = threadIdx.x % THREADS_PER_ROW;

    for (int k = 0; k < K_STEP; k++) {
        float weight[COLUMNS_PER_THREAD];

#pragma unroll
        for (int c = 0; c < COLUMNS_PER_THREAD; c++)
            weight[c] = weights[k][column + c * THREADS_PER_ROW];
#pragma unroll
        for (int r = 0; r < TILE_ROWS / THREADS_PER_COLUMN; r++) {
            const float x = inputs[k][row + r * THREADS_PER_COLUMN];

#pragma unroll
            for (int c = 0; c < COLUMNS_PER_THREAD; c++)
                sums[r][c] += x * weight[c];
        }
    }
}
// [multiply]

// [rows]
/**
 * Finds the position of each row of a tile (-1 for a pad) and the row of weights of each column (-1 past the last).
 * Returns whether the tile has any positions; an expert's pads follow its positions.
 */
template <int TILE_ROWS>
static __device__ bool find_rows(const moe_problem &problem, const moe_buffers &buffers, int num_columns,
                                 int (&positions)[TILE_ROWS], int (&columns)[TILE_COLUMNS])
{
    const int first = blockIdx.x * TILE_ROWS, num_positions = (int)(problem.num_tokens * problem.topk);

    for (int r = threadIdx.x; r < TILE_ROWS; r += THREADS) {
        const int position = buffers.sorted_token_ids[first + r];

        positions[r] = position < num_positions ? position : -1;
    }
    for (int c = threadIdx.x; c < TILE_COLUMNS; c += THREADS) {
        const int column = blockIdx.y * TILE_COLUMNS + c;

        columns[c] = column < num_columns ? column : -1;
    }
    __syncthreads();
    return positions[0] >= 0;
}
// [rows]

// [gate_up]
/**
 * Computes the first product: a position's row of the intermediate has silu(gate[i]) * up[i], where gate[i] is the sum
 * of w1[i][k] * x[k] over k, and up[i] that of w3[i][k] * x[k]. In w13, w1's rows precede w3's. Grid: x is a tile of
 * TILE_ROWS slots of sorted_token_ids, y a tile of TILE_COLUMNS consecutive values of i.
 */
template <int TILE_ROWS, typename T>
static __global__ void __launch_bounds__(THREADS) gate_up_kernel(moe_problem problem, moe_buffers buffers)
{
    __shared__ int positions[TILE_ROWS], tokens[TILE_ROWS], columns[TILE_COLUMNS];
    __shared__ Tile<TILE_ROWS> hidden;
    __shared__ Tile<TILE_COLUMNS> gate_weights, up_weights;
    const int hidden_size = problem.hidden_size, intermediate_size = problem.intermediate_size;
    const int64_t expert = buffers.expert_ids[blockIdx.x * TILE_ROWS / problem.block_size];
    const T *const gate_rows = (const T *)buffers.w13 + expert * 2 * intermediate_size * hidden_size;
    const T *const up_rows = gate_rows + (int64_t)intermediate_size * hidden_size;
    float gate[TILE_ROWS / THREADS_PER_COLUMN][COLUMNS_PER_THREAD] = {},
                           up[TILE_ROWS / THREADS_PER_COLUMN][COLUMNS_PER_THREAD] = {};

    if (expert < 0 || !find_rows(problem, buffers, intermediate_size, positions, columns))
        return; /* the whole block returns, so no thread is missing at a barrier below */
    for (int r = threadIdx.x; r < TILE_ROWS; r += THREADS)
        tokens[r] = positions[r] < 0 ? -1 : positions[r] / problem.topk;
    __syncthreads();
    // [gate_up]

    // [gate_up_sum]
    for (int k = 0; k < hidden_size; k += K_STEP) {
        load_tile<TILE_ROWS>(hidden, (const T *)buffers.hidden, tokens, hidden_size, k);
        load_tile<TILE_COLUMNS>(gate_weights, gate_rows, columns, hidden_size, k);
        load_tile<TILE_COLUMNS>(up_weights, up_rows, columns, hidden_size, k);
        __syncthreads(); /* all threads have stored their elements of the tiles */
        multiply<TILE_ROWS>(gate, hidden, gate_weights);
        multiply<TILE_ROWS>(up, hidden, up_weights);
        __syncthreads(); /* all threads have read the tiles */
    }
    // [gate_up_sum]

    // [gate_up_store]
#pragma unroll
    for (int r = 0; r < TILE_ROWS / THREADS_PER_COLUMN; r++)
#pragma unroll
        for (int c = 0; c < COLUMNS_PER_THREAD; c++) {
            const int position = positions[threadIdx.x / THREADS_PER_ROW + r * THREADS_PER_COLUMN];
            const int column = columns[threadIdx.x % THREADS_PER_ROW + c * THREADS_PER_ROW];

            if (position >= 0 && column >= 0)
                store((T *)buffers.intermediate + (int64_t)position * intermediate_size + column,
                      silu(gate[r][c]) * up[r][c]);
        }
    // [gate_up_store]
}

// [down]
/**
 * Computes the second product: a position's row of partial has the position's weight times the sum of w2[i][k] * a[k]
 * over k, where a is the position's row of the intermediate. Grid: x is a tile of TILE_ROWS slots of sorted_token_ids,
 * y a tile of TILE_COLUMNS consecutive values of i.
 */
template <int TILE_ROWS, typename T>
static __global__ void __launch_bounds__(THREADS) down_kernel(moe_problem problem, moe_buffers buffers)
{
    __shared__ int positions[TILE_ROWS], columns[TILE_COLUMNS];
    __shared__ Tile<TILE_ROWS> intermediate;
    __shared__ Tile<TILE_COLUMNS> weights;
    const int hidden_size = problem.hidden_size, intermediate_size = problem.intermediate_size;
    const int64_t expert = buffers.expert_ids[blockIdx.x * TILE_ROWS / problem.block_size];
    const T *const rows = (const T *)buffers.w2 + expert * hidden_size * intermediate_size;
    float sums[TILE_ROWS / THREADS_PER_COLUMN][COLUMNS_PER_THREAD] = {};

    if (!find_rows(problem, buffers, hidden_size, positions, columns))
        return;
    // [down]

    // [write_zeros]
    const int k_end = expert < 0 ? 0 : intermediate_size; /* the sums for an expert on another GPU stay 0 */
    // [write_zeros]

    // [down_sum]
    for (int k = 0; k < k_end; k += K_STEP) {
        load_tile<TILE_ROWS>(intermediate, (const T *)buffers.intermediate, positions, intermediate_size, k);
        load_tile<TILE_COLUMNS>(weights, rows, columns, intermediate_size, k);
        __syncthreads();
        multiply<TILE_ROWS>(sums, intermediate, weights);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < TILE_ROWS / THREADS_PER_COLUMN; r++)
#pragma unroll
        for (int c = 0; c < COLUMNS_PER_THREAD; c++) {
            const int position = positions[threadIdx.x / THREADS_PER_ROW + r * THREADS_PER_COLUMN];
            const int column = columns[threadIdx.x % THREADS_PER_ROW + c * THREADS_PER_ROW];

            if (position >= 0 && column >= 0)
                store((T *)buffers.partial + (int64_t)position * hidden_size + column,
                      buffers.topk_weights[position] * sums[r][c]);
        }
    // [down_sum]
}

// [moe_sum]
/** Adds up a token's topk rows of `partial`. Grid: x is a token, y a group of THREADS of its elements. */
template <typename T>
static __global__ void moe_sum_kernel(moe_problem problem, moe_buffers buffers)
{
    const int64_t hidden_size = problem.hidden_size, token = blockIdx.x;
    const int i = blockIdx.y * THREADS + threadIdx.x;
    const T *const partial = (const T *)buffers.partial + token * problem.topk * hidden_size + i;
    float sum = 0.0f;

    if (i >= hidden_size)
        return;
    for (int k = 0; k < problem.topk; k++)
        sum += to_float(partial[k * hidden_size]);
    store((T *)buffers.output + token * hidden_size + i, sum);
}
// [moe_sum]

static unsigned ceil_div(int64_t count, int size)
{
    return (unsigned)((count + size - 1) / size);
}

// [launch_tiles]
template <int TILE_ROWS, typename T>
static cudaError_t launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    const unsigned tiles = (unsigned)(problem->capacity / TILE_ROWS), tokens = (unsigned)problem->num_tokens;

    gate_up_kernel<TILE_ROWS, T>
        <<<dim3(tiles, ceil_div(problem->intermediate_size, TILE_COLUMNS)), THREADS, 0, stream>>>(*problem, *buffers);
    if (cudaPeekAtLastError() == cudaSuccess) /* otherwise the intermediate has not been written */
        down_kernel<TILE_ROWS, T>
            <<<dim3(tiles, ceil_div(problem->hidden_size, TILE_COLUMNS)), THREADS, 0, stream>>>(*problem, *buffers);
    if (cudaPeekAtLastError() == cudaSuccess)
        moe_sum_kernel<T>
            <<<dim3(tokens, ceil_div(problem->hidden_size, THREADS)), THREADS, 0, stream>>>(*problem, *buffers);
    return cudaGetLastError();
}
// [launch_tiles]

// [launch]
template <typename T>
static cudaError_t launch_for_block_size(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    return problem->block_size % LARGE_TILE_ROWS == 0 ? launch<LARGE_TILE_ROWS, T>(problem, buffers, stream)
                                                      : launch<SMALL_TILE_ROWS, T>(problem, buffers, stream);
}
// [launch]

// [moe_launch]
cudaError_t moe_launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    return problem->dtype == DTYPE_BF16 ? launch_for_block_size<__nv_bfloat16>(problem, buffers, stream)
                                        : launch_for_block_size<float>(problem, buffers, stream);
}
// [moe_launch]
