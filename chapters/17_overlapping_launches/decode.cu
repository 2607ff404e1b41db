/**
 * @file decode.cu
 * @brief Chapter 17: the kernels of a decoding step, each of which starts before the previous one has ended.
 *
 * Before: a kernel starts when the stream's previous kernel has ended; only then do its blocks start and issue their
 *         first loads.
 * Now:    its blocks start earlier, prepare everything that does not depend on the previous kernel, and then wait.
 * Watch:  accesses before the wait, which must not conflict with another kernel's; the time between two kernels.
 */
#include "harness/decode/decode.h"
#include "kernels/dtype.cuh"
#include "kernels/overlap.cuh"

// [constants]
typedef __nv_bfloat16 bf16;

enum { WARP_SIZE = 32, THREADS = 256, WARPS = THREADS / WARP_SIZE };
/* A thread keeps CHUNKS chunks of 8 weights in registers, so a row has at most 8,192 weights. */
enum { CHUNK = 16 / sizeof(bf16), CHUNKS = 4 };
static const unsigned FULL_MASK = 0xffffffffu;
// [constants]

// [dot]
/** Returns `sum` plus the dot product of two chunks. */
static __device__ __forceinline__ float add_products(int4 a, int4 b, float sum)
{
    const bf16 *const left = (const bf16 *)&a, *const right = (const bf16 *)&b;

#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        sum += to_float(left[i]) * to_float(right[i]);
    return sum;
}

/** Returns the sum of the lanes' values in lane 0, and partial sums in the other lanes. */
static __device__ __forceinline__ float sum_of_warp(float sum)
{
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(FULL_MASK, sum, offset);
    return sum;
}
// [dot]

// [router]
/**
 * Computes router logits. Grid: x is a group of EXPERTS experts, y a group of TOKENS tokens. `chunks` is the number of
 * 16-byte chunks in a row of hidden_size elements.
 */
template <int EXPERTS, int TOKENS>
static __global__ void __launch_bounds__(THREADS)
    router_kernel(int num_tokens, int num_experts, int chunks, const int4 *hidden, const int4 *router_weights,
                  float *gating_output)
{
    __shared__ float sums[WARPS][TOKENS][EXPERTS];
    const int thread = threadIdx.x, lane = thread % WARP_SIZE;
    const int first_expert = blockIdx.x * EXPERTS, first_token = blockIdx.y * TOKENS;
    int4 weights[EXPERTS][CHUNKS];

#pragma unroll
    for (int e = 0; e < EXPERTS; e++) {
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const int i = thread + c * THREADS, expert = min(first_expert + e, num_experts - 1);

            weights[e][c] = i < chunks ? router_weights[(int64_t)expert * chunks + i] : make_int4(0, 0, 0, 0);
        }
    }
    wait_for_previous_kernel(); /* earlier kernels may write `hidden` or read the old logits; none writes weights */
    let_next_kernel_start();
    // [router]

    // [logits]
#pragma unroll
    for (int t = 0; t < TOKENS; t++) {
        const int4 *const token = hidden + (int64_t)min(first_token + t, num_tokens - 1) * chunks;
        float sum[EXPERTS] = {};

#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
            const int i = thread + c * THREADS;
            const int4 chunk = i < chunks ? token[i] : make_int4(0, 0, 0, 0);

#pragma unroll
            for (int e = 0; e < EXPERTS; e++)
                sum[e] = add_products(weights[e][c], chunk, sum[e]);
        }
#pragma unroll
        for (int e = 0; e < EXPERTS; e++) {
            const float of_warp = sum_of_warp(sum[e]);

            if (lane == 0)
                sums[thread / WARP_SIZE][t][e] = of_warp;
        }
    }
    __syncthreads();
    const int token = first_token + thread / EXPERTS, expert = first_expert + thread % EXPERTS;

    if (thread < TOKENS * EXPERTS && token < num_tokens && expert < num_experts) {
        float sum = 0.0f;

        for (int warp = 0; warp < WARPS; warp++)
            sum += sums[warp][thread / EXPERTS][thread % EXPERTS];
        gating_output[(int64_t)token * num_experts + expert] = sum;
    }
    // [logits]
}

// [launch_router]
template <int EXPERTS, int TOKENS>
static cudaError_t launch_router(const decode_problem *problem, const decode_buffers *buffers, bool overlap,
                                 cudaStream_t stream)
{
    const int num_tokens = (int)problem->layer.num_tokens, num_experts = problem->layer.num_experts;
    const dim3 blocks((num_experts + EXPERTS - 1) / EXPERTS, (num_tokens + TOKENS - 1) / TOKENS);

    return launch_overlapping(overlap, router_kernel<EXPERTS, TOKENS>, blocks, THREADS, 0, stream, num_tokens,
                              num_experts, problem->layer.hidden_size / CHUNK, (const int4 *)buffers->layer.hidden,
                              (const int4 *)buffers->router_weights, buffers->gating_output);
}
// [launch_router]

// [launch]
/** Launches kernel number `kernel` of the step: the router, or the kernel of chapter 13c, 14b or 16b. */
static cudaError_t launch_kernel(const decode_problem *problem, const decode_buffers *buffers, int kernel,
                                 cudaStream_t stream)
{
    const bool overlap = problem->overlapping >> kernel & 1;
    gate_problem gate = problem->gate;
    align_problem align = problem->align;
    moe_problem layer = problem->layer;

    gate.overlap = align.overlap = layer.overlap = overlap;
    switch (kernel) {
    case DECODE_ROUTER:
        return problem->layer.num_tokens == 1 ? launch_router<2, 1>(problem, buffers, overlap, stream)
                                              : launch_router<4, 8>(problem, buffers, overlap, stream);
    case DECODE_GATE:
        return gate_launch(&gate, &buffers->gate, stream);
    case DECODE_ALIGN:
        return align_launch(&align, &buffers->align, stream);
    default:
        return moe_launch(&layer, &buffers->layer, stream);
    }
}
// [launch]

// [launch_step]
cudaError_t decode_launch(const decode_problem *problem, const decode_buffers *buffers, cudaStream_t stream)
{
    cudaError_t status = cudaSuccess;

    for (int kernel = 0; status == cudaSuccess && kernel < NUM_DECODE_KERNELS; kernel++)
        if (problem->launched >> kernel & 1)
            status = launch_kernel(problem, buffers, kernel, stream);
    return status;
}
// [launch_step]
