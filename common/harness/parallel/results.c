#include "harness/parallel/results.h"

#include "base/memory.h"
#include "harness/moe/check.h"

#include <stdlib.h>
#include <string.h>

/** Returns the size of a token in bytes, in the layer's type. */
static size_t row_bytes(const struct parallel_layer *layer)
{
    return (size_t)layer->problem->hidden_size * dtype_size(layer->problem->dtype);
}

bool results_all_gather(const struct parallel_layer *layer, char **gathered_results, struct error *error)
{
    const struct rank_share *const share = layer->share;
    const size_t row = row_bytes(layer), bytes = (size_t)(layer->problem->num_tokens * share->tp_size) * row;
    void *device = NULL;
    int64_t *parts;
    cudaError_t status;
    bool good;

    if (!memory_allocate((void **)gathered_results, bytes, error) || !ALLOCATE_ARRAY(parts, share->num_ranks, error))
        return false;
    for (int r = 0; r < share->num_ranks; r++)
        parts[r] = (share->token_offsets[r / share->tp_size + 1] - share->token_offsets[r / share->tp_size]) *
                   (int64_t)row;
    status = cudaMalloc(&device, bytes ? bytes : 1);
    good = (status == cudaSuccess || error_set_cuda_failure(error, "memory for all results", status)) &&
           group_all_gather(&layer->ranks->all_ranks, tensor_data(layer->arrays, RANK_RESULT, TENSOR_ON_DEVICE), parts,
                            device, error);
    if (good && bytes) {
        status = cudaStreamSynchronize(layer->ranks->stream);
        if (status == cudaSuccess)
            status = cudaMemcpy(*gathered_results, device, bytes, cudaMemcpyDeviceToHost);
        good = status == cudaSuccess || error_set_cuda_failure(error, "copying from the device", status);
    }
    cudaFree(device);
    free(parts);
    return good;
}

/** Assembles the layer's output from the results of rank `t` of every TP group. */
static void assemble(const struct parallel_layer *layer, const char *results, int t, char *output)
{
    const struct rank_share *const share = layer->share;
    const size_t row = row_bytes(layer);

    for (int d = 0; d < share->dp_size; d++) {
        const size_t begin = (size_t)share->token_offsets[d] * row;
        const size_t bytes = (size_t)(share->token_offsets[d + 1] - share->token_offsets[d]) * row;

        memcpy(output + begin, results + begin * (size_t)share->tp_size + (size_t)t * bytes, bytes);
    }
}

bool results_copy_to_output_and_check(const struct parallel_layer *layer, const char *gathered_results,
                                      struct moe_layer *unsplit_layer, struct tensors *tensors, struct error *error)
{
    bool good = true;

    unsplit_layer->num_intermediate_slices = layer->share->num_intermediate_slices;
    for (int t = 0; good && t < layer->share->tp_size; t++) {
        assemble(layer, gathered_results, t, tensors->tensor[MOE_TENSOR_OUTPUT].host.data);
        good = moe_check(unsplit_layer, tensors, error);
    }
    return good;
}
