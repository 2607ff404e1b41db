/**
 * @file moe.cu
 * @brief Chapter 11a: the textbook layer, with one thread per output element.
 *
 * Before: the gate has chosen experts for every token; align has listed these choices by expert, in blocks of rows.
 * Now:    two products and a sum over the choices; each thread reads an entire row of weights.
 * Watch:  32 lanes read 32 different rows at once; the cost of a pad; zeros for experts on other GPUs.
 */
#include "harness/moe/moe.h"
#include "kernels/dtype.cuh"

// [constants]
enum { THREADS = 128 };
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

// [gate_up]
/**
 * Computes the first product: a position's row of the intermediate has silu(gate[i]) * up[i], where gate[i] is the sum
 * of w1[i][k] * x[k] over k, and up[i] that of w3[i][k] * x[k]. In w13, w1's rows precede w3's. Grid: x is a slot of
 * sorted_token_ids, y a group of THREADS consecutive values of i.
 */
template <typename T>
static __global__ void gate_up_kernel(moe_problem problem, moe_buffers buffers)
{
    const int64_t hidden_size = problem.hidden_size, intermediate_size = problem.intermediate_size;
    const int i = blockIdx.y * THREADS + threadIdx.x;
    const int64_t position = buffers.sorted_token_ids[blockIdx.x], pad = problem.num_tokens * problem.topk;
    const int64_t expert = buffers.expert_ids[blockIdx.x / problem.block_size];
    // [gate_up]

    // [skip]
    if (position == pad || expert < 0 || i >= intermediate_size)
        return;
    // [skip]

    // [gather]
    const T *const hidden = (const T *)buffers.hidden + position / problem.topk * hidden_size;
    const T *const gate_row = (const T *)buffers.w13 + (expert * 2 * intermediate_size + i) * hidden_size;
    const T *const up_row = gate_row + intermediate_size * hidden_size;
    // [gather]

    // [gate_up_sum]
    float gate = 0.0f, up = 0.0f;

    for (int k = 0; k < hidden_size; k++) {
        const float x = to_float(hidden[k]);

        gate += x * to_float(gate_row[k]);
        up += x * to_float(up_row[k]);
    }
    store((T *)buffers.intermediate + position * intermediate_size + i, silu(gate) * up);
    // [gate_up_sum]
}

// [down]
/**
 * Computes the second product: a position's row of partial has the position's weight times the sum of w2[i][k] * a[k]
 * over k, where a is the position's row of the intermediate. Grid: x is a slot of sorted_token_ids, y a group of
 * THREADS consecutive values of i.
 */
template <typename T>
static __global__ void down_kernel(moe_problem problem, moe_buffers buffers)
{
    const int64_t hidden_size = problem.hidden_size, intermediate_size = problem.intermediate_size;
    const int i = blockIdx.y * THREADS + threadIdx.x;
    const int64_t position = buffers.sorted_token_ids[blockIdx.x], pad = problem.num_tokens * problem.topk;
    const int64_t expert = buffers.expert_ids[blockIdx.x / problem.block_size];
    // [down]

    // [write_zeros]
    if (position == pad || i >= hidden_size)
        return;

    T *const partial = (T *)buffers.partial + position * hidden_size + i;

    if (expert < 0) { /* the row must be zeros: moe_sum_kernel adds it, and no other thread writes it */
        store(partial, 0.0f);
        return;
    }
    // [write_zeros]

    // [down_sum]
    const T *const intermediate = (const T *)buffers.intermediate + position * intermediate_size;
    const T *const row = (const T *)buffers.w2 + (expert * hidden_size + i) * intermediate_size;
    float sum = 0.0f;

    for (int k = 0; k < intermediate_size; k++)
        sum += to_float(intermediate[k]) * to_float(row[k]);
    store(partial, buffers.topk_weights[position] * sum);
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
static unsigned ceil_div(int64_t count, int size)
{
    return (unsigned)((count + size - 1) / size);
}

template <typename T>
static cudaError_t launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    const unsigned num_slots = (unsigned)problem->capacity, tokens = (unsigned)problem->num_tokens;
    const unsigned intermediate_blocks = ceil_div(problem->intermediate_size, THREADS);
    const unsigned hidden_blocks = ceil_div(problem->hidden_size, THREADS);

    /* cudaPeekAtLastError leaves a launch's error in place, so that the last line can return it. */
    gate_up_kernel<T><<<dim3(num_slots, intermediate_blocks), THREADS, 0, stream>>>(*problem, *buffers);
    if (cudaPeekAtLastError() == cudaSuccess) /* otherwise the intermediate has not been written */
        down_kernel<T><<<dim3(num_slots, hidden_blocks), THREADS, 0, stream>>>(*problem, *buffers);
    if (cudaPeekAtLastError() == cudaSuccess)
        moe_sum_kernel<T><<<dim3(tokens, hidden_blocks), THREADS, 0, stream>>>(*problem, *buffers);
    return cudaGetLastError();
}

cudaError_t moe_launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    return problem->dtype == DTYPE_BF16 ? launch<__nv_bfloat16>(problem, buffers, stream)
                                        : launch<float>(problem, buffers, stream);
}
// [launch]
