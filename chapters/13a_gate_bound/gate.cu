/**
 * @file gate.cu
 * @brief Chapter 13a: a bound instead of rounds; about twelve experts reach it, and counting gives their ranks.
 *
 * Before: eight rounds, each of which depends on the result of the previous round.
 * Now:    each expert is compared with one bound; a candidate's rank is the number of candidates that are larger.
 * Watch:  fewer shuffles; additional votes and two block barriers; the time for a single token.
 */
#include "kernels/few_tokens.cuh"
#include "harness/gate/gate.h"

// [any_shape]
/** Launches chapter 05's kernel, the fallback for shapes and scores without a kernel in this chapter. */
extern "C" cudaError_t gate_launch_any_shape(const struct gate_problem *problem, const struct gate_buffers *buffers,
                                             cudaStream_t stream);
// [any_shape]

// [launch]
template <typename Router, typename T, typename Choice, typename Bias>
static cudaError_t launch(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    const weighting params = weighting_of(problem);
    const T *const gating_output = (const T *)buffers->gating_output;
    const Bias *const correction_bias = (const Bias *)buffers->correction_bias;

    return launch_overlapping(problem->overlap, few_tokens_kernel<Router, T, Choice, Bias>,
                              (unsigned)problem->num_tokens, Router::EXPERTS, 0, stream, params, gating_output,
                              correction_bias, buffers->topk_weights, buffers->topk_ids);
}
// [launch]

// [dispatch]
template <typename Router>
static bool matches_router(const gate_problem *problem)
{
    return problem->num_experts == Router::EXPERTS && problem->num_expert_group == Router::GROUPS &&
           problem->topk_group == Router::TOPK_GROUP && problem->topk == Router::TOPK &&
           problem->score == GATE_SCORE_SIGMOID;
}

template <typename T, typename Choice, typename Bias>
static cudaError_t launch_for_router(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    if (matches_router<router<256, 8, 4, 8>>(problem))
        return launch<router<256, 8, 4, 8>, T, Choice, Bias>(problem, buffers, stream);
    if (matches_router<router<256, 16, 4, 8>>(problem))
        return launch<router<256, 16, 4, 8>, T, Choice, Bias>(problem, buffers, stream);
    if (matches_router<router<128, 4, 2, 4>>(problem))
        return launch<router<128, 4, 2, 4>, T, Choice, Bias>(problem, buffers, stream);
    if (matches_router<router<128, 8, 8, 8>>(problem))
        return launch<router<128, 8, 8, 8>, T, Choice, Bias>(problem, buffers, stream);
    if (matches_router<router<512, 16, 8, 16>>(problem))
        return launch<router<512, 16, 8, 16>, T, Choice, Bias>(problem, buffers, stream);
    if (problem->num_fused_shared_experts > 0)
        return cudaErrorNotSupported;

    gate_problem scaled = *problem;

    scaled.routed_scaling_factor = gate_output_scale(problem);
    return gate_launch_any_shape(&scaled, buffers, stream);
}
// [dispatch]

// [gate_launch]
cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream)
{
    const bool wide = gate_choice_dtype(problem) == DTYPE_F32; /* an f32 bias makes every choice f32 */

    if (problem->num_tokens == 0) /* an empty grid is a launch error */
        return cudaSuccess;
    switch (problem->dtype) {
    case DTYPE_F16:
        return wide ? launch_for_router<__half, float, float>(problem, buffers, stream)
                    : launch_for_router<__half, __half, __half>(problem, buffers, stream);
    case DTYPE_BF16:
        return wide ? launch_for_router<__nv_bfloat16, float, float>(problem, buffers, stream)
                    : launch_for_router<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>(problem, buffers, stream);
    default:
        return launch_for_router<float, float, float>(problem, buffers, stream);
    }
}
// [gate_launch]
