/**
 * @file exercise.cu
 * @brief 05_rows_apart: how the rows of a warp's tokens are laid out in shared memory.
 *
 * The kernel is correct, but the rows of a warp's four tokens use the same banks. Write your code between // TODO and
 * // END; leave the rest unchanged.
 */
#include "exercise.h"

/** Returns the offset of a token's row, in words, from the beginning of the warp's rows. */
static __device__ int row_of(int token_in_warp)
{
    // TODO row
    // Word w is in bank w % 32. In a round, one lane of each token writes word k of its row. Afterwards, the token's
    // eight lanes read eight consecutive words. No two lanes may access different words of one bank.
    return token_in_warp * MAX_TOPK;
    // END row
}

int num_words_of_warp_rows(void)
{
    // TODO words
    // Return the number of words that the rows of TOKENS_PER_WARP tokens need, with MAX_TOPK choices per row.
    return TOKENS_PER_WARP * MAX_TOPK;
    // END words
}

/** Copies choices. Grid: enough blocks for all tokens. Block: WARPS warps, each with its part of `chosen`. */
static __global__ void hand_over_kernel(const int *choices, int num_tokens, int topk, int words, int *topk_ids)
{
    extern __shared__ int chosen[]; /* [WARPS][words] */
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const int token_in_warp = lane / GROUPS, group = lane % GROUPS;
    const int token = (blockIdx.x * WARPS + warp) * TOKENS_PER_WARP + token_in_warp;
    int *const my_chosen = chosen + warp * words + row_of(token_in_warp);

    for (int k = 0; k < topk; k++)
        if (group == 0 && token < num_tokens)
            my_chosen[k] = choices[token * topk + k];
    __syncwarp();
    for (int k = group; k < topk; k += GROUPS)
        if (token < num_tokens)
            topk_ids[token * topk + k] = my_chosen[k];
}

cudaError_t copy_choices_launch(const int32_t *choices, int num_tokens, int topk, int32_t *topk_ids)
{
    const int tokens = WARPS * TOKENS_PER_WARP, words = num_words_of_warp_rows();

    hand_over_kernel<<<(num_tokens + tokens - 1) / tokens, WARPS * WARP_SIZE, WARPS * words * sizeof(int)>>>(
        choices, num_tokens, topk, words, topk_ids);
    return cudaGetLastError();
}
