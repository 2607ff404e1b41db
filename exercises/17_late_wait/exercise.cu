/**
 * @file exercise.cu
 * @brief 17_late_wait: which statements may come before the wait for the previous kernel.
 *
 * Move the statements so that the wait comes as late as possible. Write your code between // TODO and // END; leave the
 * rest unchanged.
 */
#include "exercise.h"
#include "kernels/overlap.cuh"

enum { WARP_SIZE = 32 };
static const unsigned FULL_MASK = 0xffffffffu;

/* Waits for the previous kernel. If the grader counts only what runs before the wait, the thread ends here. */
#define WAIT()                  \
    wait_for_previous_kernel(); \
    if (stop_at_wait)           \
    return

/** Computes the token of a step. Grid: one block of WIDTH threads. */
static __global__ void __launch_bounds__(WIDTH)
    token_kernel(const int32_t *prompt, const int32_t *logits, int num_rows, int32_t *token)
{
    wait_for_previous_kernel();
    let_next_kernel_start();
    token[threadIdx.x] = prompt[threadIdx.x] + (logits[threadIdx.x % num_rows] & 3);
}

/** Adds a row's bias and its product with the token to the row's logit. Grid: one block of WIDTH threads per row. */
static __global__ void __launch_bounds__(WIDTH)
    logits_kernel(const int32_t *weights, const int32_t *bias, const int32_t *token, bool stop_at_wait, int32_t *logits)
{
    __shared__ int32_t sum;
    const int thread = threadIdx.x, row = blockIdx.x;

    // TODO order
    // In a launch without overlap, the order of these statements is correct. Reorder them so that exactly the
    // statements that may come before WAIT() come before it. Every thread must execute WAIT() exactly once.
    const int32_t element = token[thread];
    const int32_t before = logits[row];
    WAIT();
    const int32_t weight = weights[row * WIDTH + thread];
    if (thread == 0)
        sum = bias[row];
    __syncthreads();
    // END order

    let_next_kernel_start();
    const int32_t of_warp = __reduce_add_sync(FULL_MASK, weight * element);

    if (thread % WARP_SIZE == 0)
        atomicAdd(&sum, of_warp);
    __syncthreads();
    if (thread == 0)
        logits[row] = before + sum;
}

cudaError_t decode_steps_launch(const int32_t *weights, const int32_t *bias, const int32_t *prompt, int num_rows,
                                int num_steps, bool run_only_logits_kernel_until_wait, int32_t *token, int32_t *logits)
{
    cudaError_t status = cudaSuccess;

    for (int step = 0; status == cudaSuccess && step < num_steps; step++) {
        if (!run_only_logits_kernel_until_wait)
            status = launch_overlapping(true, token_kernel, 1, WIDTH, 0, 0, prompt + step * WIDTH, logits, num_rows,
                                        token);
        if (status == cudaSuccess)
            status = launch_overlapping(true, logits_kernel, num_rows, WIDTH, 0, 0, weights, bias, token,
                                        run_only_logits_kernel_until_wait, logits);
    }
    return status;
}
