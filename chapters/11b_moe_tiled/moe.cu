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
enum { COLUMN_THREADS = 16, ROW_THREADS = 8, THREADS = COLUMN_THREADS * ROW_THREADS };
enum { COLUMNS = 64, OWN_COLUMNS = COLUMNS / COLUMN_THREADS }; /* columns per tile, and per thread */
enum { FEW_ROWS = 16, MANY_ROWS = 64 };                        /* slots of sorted_token_ids in a tile */
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
 * K_STEP elements of each of ROWS rows, transposed: tile[k][row]. One word of padding at the end of each tile[k] puts
 * the elements of a row, which lanes store simultaneously, into different banks.
 */
template <int ROWS>
using Tile = float[K_STEP][ROWS + 1];

/**
 * Copies elements first_k to first_k + K_STEP - 1 of the given rows, each of which has `length` elements. For row index
 * -1, zeros are stored.
 */
template <int ROWS, typename T>
static __device__ void load_tile(Tile<ROWS> &tile, const T *from, const int *rows, int length, int first_k)
{
    for (int i = threadIdx.x; i < ROWS * K_STEP; i += THREADS) {
        const int row = i / K_STEP, k = i % K_STEP;
        const bool exists = rows[row] >= 0 && first_k + k < length;

        tile[k][row] = exists ? to_float(from[(int64_t)rows[row] * length + first_k + k]) : 0.0f;
    }
}
// [tile]

// [multiply]
/** Adds the products of a tile of tokens and a tile of weights to this thread's sums. */
template <int ROWS>
static __device__ void multiply(float (&sums)[ROWS / ROW_THREADS][OWN_COLUMNS], const Tile<ROWS> &tokens,
                                const Tile<COLUMNS> &weights)
{
    const int row = threadIdx.x / COLUMN_THREADS, column = threadIdx.x % COLUMN_THREADS;

    for (int k = 0; k < K_STEP; k++) {
        float own[OWN_COLUMNS];

#pragma unroll
        for (int c = 0; c < OWN_COLUMNS; c++)
            own[c] = weights[k][column + c * COLUMN_THREADS];
#pragma unroll
        for (int r = 0; r < ROWS / ROW_THREADS; r++) {
            const float token = tokens[k][row + r * ROW_THREADS];

#pragma unroll
            for (int c = 0; c < OWN_COLUMNS; c++)
                sums[r][c] += token * own[c];
        }
    }
}
// [multiply]

// [rows]
/**
 * Finds the position of each row of a tile (-1 for a pad) and the row of weights of each column (-1 past the last).
 * Returns whether the tile has any positions; an expert's pads follow its positions.
 */
template <int ROWS>
static __device__ bool find_rows(const moe_problem &problem, const moe_buffers &buffers, int num_columns,
                                 int (&positions)[ROWS], int (&columns)[COLUMNS])
{
    const int first = blockIdx.x * ROWS, num_positions = (int)(problem.num_tokens * problem.topk);

    for (int r = threadIdx.x; r < ROWS; r += THREADS) {
        const int position = buffers.sorted_token_ids[first + r];

        positions[r] = position < num_positions ? position : -1;
    }
    for (int c = threadIdx.x; c < COLUMNS; c += THREADS) {
        const int column = blockIdx.y * COLUMNS + c;

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
 * ROWS slots of sorted_token_ids, y a tile of COLUMNS elements i.
 */
template <int ROWS, typename T>
static __global__ void __launch_bounds__(THREADS) gate_up_kernel(moe_problem problem, moe_buffers buffers)
{
    __shared__ int positions[ROWS], tokens[ROWS], columns[COLUMNS];
    __shared__ Tile<ROWS> hidden;
    __shared__ Tile<COLUMNS> gate_weights, up_weights;
    const int hidden_size = problem.hidden_size, intermediate_size = problem.intermediate_size;
    const int64_t expert = buffers.expert_ids[blockIdx.x * ROWS / problem.block_size];
    const T *const gate_rows = (const T *)buffers.w13 + expert * 2 * intermediate_size * hidden_size;
    const T *const up_rows = gate_rows + (int64_t)intermediate_size * hidden_size;
    float gate[ROWS / ROW_THREADS][OWN_COLUMNS] = {}, up[ROWS / ROW_THREADS][OWN_COLUMNS] = {};

    if (expert < 0 || !find_rows(problem, buffers, intermediate_size, positions, columns))
        return; /* the whole block returns, so no thread is missing at a barrier below */
    for (int r = threadIdx.x; r < ROWS; r += THREADS)
        tokens[r] = positions[r] < 0 ? -1 : positions[r] / problem.topk;
    __syncthreads();
    // [gate_up]

    // [gate_up_sum]
    for (int k = 0; k < hidden_size; k += K_STEP) {
        load_tile<ROWS>(hidden, (const T *)buffers.hidden, tokens, hidden_size, k);
        load_tile<COLUMNS>(gate_weights, gate_rows, columns, hidden_size, k);
        load_tile<COLUMNS>(up_weights, up_rows, columns, hidden_size, k);
        __syncthreads(); /* all threads have stored their elements of the tiles */
        multiply<ROWS>(gate, hidden, gate_weights);
        multiply<ROWS>(up, hidden, up_weights);
        __syncthreads(); /* all threads have read the tiles */
    }
    // [gate_up_sum]

    // [gate_up_store]
#pragma unroll
    for (int r = 0; r < ROWS / ROW_THREADS; r++)
#pragma unroll
        for (int c = 0; c < OWN_COLUMNS; c++) {
            const int position = positions[threadIdx.x / COLUMN_THREADS + r * ROW_THREADS];
            const int column = columns[threadIdx.x % COLUMN_THREADS + c * COLUMN_THREADS];

            if (position >= 0 && column >= 0)
                store((T *)buffers.intermediate + (int64_t)position * intermediate_size + column,
                      silu(gate[r][c]) * up[r][c]);
        }
    // [gate_up_store]
}

// [down]
/**
 * Computes the second product: a position's row of partial has the position's weight times the sum of w2[i][k] * a[k]
 * over k, where a is the position's row of the intermediate. Grid: x is a tile of ROWS slots of sorted_token_ids, y a
 * tile of COLUMNS elements i.
 */
template <int ROWS, typename T>
static __global__ void __launch_bounds__(THREADS) down_kernel(moe_problem problem, moe_buffers buffers)
{
    __shared__ int positions[ROWS], columns[COLUMNS];
    __shared__ Tile<ROWS> intermediate;
    __shared__ Tile<COLUMNS> weights;
    const int hidden_size = problem.hidden_size, intermediate_size = problem.intermediate_size;
    const int64_t expert = buffers.expert_ids[blockIdx.x * ROWS / problem.block_size];
    const T *const rows = (const T *)buffers.w2 + expert * hidden_size * intermediate_size;
    float sums[ROWS / ROW_THREADS][OWN_COLUMNS] = {};

    if (!find_rows(problem, buffers, hidden_size, positions, columns))
        return;
    // [down]

    // [write_zeros]
    const int steps_end = expert < 0 ? 0 : intermediate_size; /* the sums for an expert on another GPU stay 0 */
    // [write_zeros]

    // [down_sum]
    for (int k = 0; k < steps_end; k += K_STEP) {
        load_tile<ROWS>(intermediate, (const T *)buffers.intermediate, positions, intermediate_size, k);
        load_tile<COLUMNS>(weights, rows, columns, intermediate_size, k);
        __syncthreads();
        multiply<ROWS>(sums, intermediate, weights);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS / ROW_THREADS; r++)
#pragma unroll
        for (int c = 0; c < OWN_COLUMNS; c++) {
            const int position = positions[threadIdx.x / COLUMN_THREADS + r * ROW_THREADS];
            const int column = columns[threadIdx.x % COLUMN_THREADS + c * COLUMN_THREADS];

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

// [launch]
static unsigned blocks_of(int64_t count, int size)
{
    return (unsigned)((count + size - 1) / size);
}

template <int ROWS, typename T>
static cudaError_t launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    const unsigned tiles = (unsigned)(problem->capacity / ROWS), tokens = (unsigned)problem->num_tokens;

    gate_up_kernel<ROWS, T>
        <<<dim3(tiles, blocks_of(problem->intermediate_size, COLUMNS)), THREADS, 0, stream>>>(*problem, *buffers);
    if (cudaPeekAtLastError() == cudaSuccess) /* otherwise the intermediate has not been written */
        down_kernel<ROWS, T>
            <<<dim3(tiles, blocks_of(problem->hidden_size, COLUMNS)), THREADS, 0, stream>>>(*problem, *buffers);
    if (cudaPeekAtLastError() == cudaSuccess)
        moe_sum_kernel<T>
            <<<dim3(tokens, blocks_of(problem->hidden_size, THREADS)), THREADS, 0, stream>>>(*problem, *buffers);
    return cudaGetLastError();
}

template <typename T>
static cudaError_t launch_rows(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    return problem->block_size % MANY_ROWS == 0 ? launch<MANY_ROWS, T>(problem, buffers, stream)
                                                : launch<FEW_ROWS, T>(problem, buffers, stream);
}

cudaError_t moe_launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    return problem->dtype == DTYPE_BF16 ? launch_rows<__nv_bfloat16>(problem, buffers, stream)
                                        : launch_rows<float>(problem, buffers, stream);
}
// [launch]
