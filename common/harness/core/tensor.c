#include "harness/core/tensor.h"

#include "base/available_memory.h"
#include "base/memory.h"
#include "harness/core/backend.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes in bytes from which tensors are compared with the available memory before they are allocated. */
static const size_t SMALL_BYTES = (size_t)1 << 26;

size_t tensor_bytes(const struct tensor *tensor)
{
    return tensor->is_absent ? 0 : (size_t)npy_num_elements(&tensor->host) * dtype_size(tensor->host.dtype);
}

void *tensor_data(const struct tensors *tensors, int index, enum tensor_location location)
{
    const struct tensor *const tensor = &tensors->tensor[index];

    return tensor->is_absent ? NULL : location == TENSOR_ON_DEVICE ? tensor->device.data : tensor->host.data;
}

double tensors_bytes_to_move(const struct tensors *tensors)
{
    double bytes = 0.0;

    for (int i = 0; i < tensors->num_tensors; i++)
        if (tensors->tensor[i].role != TENSOR_WORKSPACE)
            bytes += (double)(tensor_bytes(&tensors->tensor[i]) - tensors->tensor[i].skippable_bytes);
    return bytes;
}

void tensor_read_floats(const struct tensor *tensor, int64_t first_element, int64_t num_elements, float *values)
{
    const struct tensor_values_recipe *const recipe = &tensor->recipe;
    const struct generated_array generated = recipe->values;
    const enum dtype dtype = tensor->host.dtype;

    if (recipe->elements_per_chunk) /* index in the complete generated array */
        first_element = recipe->source_chunk_indices[first_element / recipe->elements_per_chunk] *
                            recipe->elements_per_chunk +
                        first_element % recipe->elements_per_chunk;
    if (!recipe->elements_per_chunk)
        for (int64_t i = 0; i < num_elements; i++)
            values[i] = dtype_load(dtype, tensor->host.data, (size_t)(first_element + i));
    else if (dtype == DTYPE_BF16) /* a separate loop for speed, because a check reads billions of elements */
        for (int64_t i = 0; i < num_elements; i++)
            values[i] = dtype_round(DTYPE_BF16, generated_value(generated, first_element + i));
    else
        for (int64_t i = 0; i < num_elements; i++)
            values[i] = dtype_round(dtype, generated_value(generated, first_element + i));
}

/* --- host --------------------------------------------------------------------------------------------------------- */

/** Sets the error for a shortage of memory; `kind` is "" or " of device memory". */
static bool refuse_size(const struct tensors *tensors, const char *kind, size_t needed, size_t available,
                        struct error *error)
{
    const char *const flags = tensors->size_option_names;
    char sizes[2][24];

    return error_set_as(error, RUN_CANNOT_RUN,
                        "out of memory: %s%s are needed, %s are available; a smaller problem needs less%s%s%s",
                        format_bytes(needed, sizes[0]), kind, format_bytes(available, sizes[1]), flags ? " (" : "",
                        flags ? flags : "", flags ? ")" : "");
}

static bool has_host_copy(const struct tensor *tensor)
{
    return !tensor->is_absent && tensor->role != TENSOR_WORKSPACE && !tensor->recipe.elements_per_chunk;
}

/** Checks that the host has enough memory for all tensors together; small tensors are not checked. */
static bool host_memory_suffices(const struct tensors *tensors, struct error *error)
{
    size_t needed = 0, available;

    for (int i = 0; i < tensors->num_tensors; i++)
        needed += has_host_copy(&tensors->tensor[i]) ? tensor_bytes(&tensors->tensor[i]) : 0;
    available = needed < SMALL_BYTES ? SMALL_BYTES : available_host_memory_bytes();
    return needed <= available || refuse_size(tensors, "", needed, available, error);
}

bool tensors_allocate_host(struct tensors *tensors, struct error *error)
{
    if (!host_memory_suffices(tensors, error)) {
        tensors->num_tensors = 0;
        return false;
    }
    for (int i = 0; i < tensors->num_tensors; i++) {
        struct tensor *const tensor = &tensors->tensor[i];

        if (has_host_copy(tensor) && !memory_allocate(&tensor->host.data, tensor_bytes(tensor), error)) {
            tensors_free(tensors);
            return false;
        }
    }
    return true;
}

void tensors_free(struct tensors *tensors)
{
    tensors_free_device(tensors);
    for (int i = 0; i < tensors->num_tensors; i++)
        npy_free(&tensors->tensor[i].host);
    tensors->num_tensors = 0;
}

void tensor_copy_host_data(struct tensor *tensor, const struct tensor *source)
{
    if (source->host.data)
        memcpy(tensor->host.data, source->host.data, tensor_bytes(source));
}

void tensors_copy_host_inputs(struct tensors *tensors, const struct tensors *source)
{
    for (int i = 0; i < tensors->num_tensors; i++)
        if (tensors->tensor[i].role == TENSOR_INPUT)
            tensor_copy_host_data(&tensors->tensor[i], &source->tensor[i]);
}

void tensors_poison_outputs_on_host(struct tensors *tensors)
{
    for (int i = 0; i < tensors->num_tensors; i++)
        if (tensors->tensor[i].role == TENSOR_OUTPUT)
            memset(tensors->tensor[i].host.data, tensors->poison_byte, tensor_bytes(&tensors->tensor[i]));
}

/* --- device ------------------------------------------------------------------------------------------------------- */

bool tensors_check_fit_on_device(const struct tensors *tensors, struct error *error)
{
    size_t needed = 0, available;

    for (int i = 0; i < tensors->num_tensors; i++)
        needed += tensor_bytes(&tensors->tensor[i]);
    available = needed < SMALL_BYTES ? SMALL_BYTES : backend_available_device_memory_bytes();
    return needed <= available || refuse_size(tensors, " of device memory", needed, available, error);
}

/** Generates an input from its recipe or, if `others` is not NULL, counts the elements that differ from the recipe. */
static bool apply_recipe(const struct tensor *tensor, uint64_t *others, struct error *error)
{
    const struct tensor_values_recipe *const recipe = &tensor->recipe;
    const int64_t chunks = recipe->elements_per_chunk ? npy_num_elements(&tensor->host) / recipe->elements_per_chunk
                                                      : 0;
    const enum dtype dtype = tensor->host.dtype;
    cudaError_t status = cudaSuccess;

    for (int64_t p = 0; status == cudaSuccess && p < chunks; p++)
        status = backend_generate_or_compare(
            recipe->values, dtype, recipe->source_chunk_indices[p] * recipe->elements_per_chunk,
            recipe->elements_per_chunk,
            (char *)tensor->device.data + (size_t)(p * recipe->elements_per_chunk) * dtype_size(dtype), others);
    return status == cudaSuccess || error_set_cuda_failure(error, "generating on the device", status);
}

/** Fills a tensor's device memory with zeros, poison or the input. */
static bool fill_device(const struct tensor *tensor, unsigned char poison, struct error *error)
{
    if (tensor->is_zeroed)
        return device_buffer_zero(&tensor->device, error);
    if (tensor->role != TENSOR_INPUT)
        return device_buffer_poison(&tensor->device, poison, error);
    return tensor->recipe.elements_per_chunk ? apply_recipe(tensor, NULL, error)
                                             : device_buffer_upload(&tensor->device, tensor->host.data, error);
}

/** Checks that no kernel has written to this input. On failure the error names the tensor. */
static bool input_is_as_before(const struct tensor *tensor, struct error *error)
{
    uint64_t others = 0;

    if (!tensor->recipe.elements_per_chunk)
        return device_buffer_check_unchanged(&tensor->device, tensor->host.data, tensor->name, error);
    return apply_recipe(tensor, &others, error) &&
           (others == 0 || error_set_as(error, RUN_WRONG, "%s: the kernel wrote to its input", tensor->name));
}

bool tensors_allocate_and_upload(struct tensors *tensors, struct error *error)
{
    bool good = tensors_check_fit_on_device(tensors, error);

    backend_allow_host_access(true);
    for (int i = 0; good && i < tensors->num_tensors; i++) {
        struct tensor *const tensor = &tensors->tensor[i];

        good = device_buffer_allocate(&tensor->device, tensor->name, tensor_bytes(tensor), tensor->misalign_bytes,
                                      error) &&
               fill_device(tensor, tensors->poison_byte, error);
    }
    backend_allow_host_access(false);
    if (!good)
        tensors_free_device(tensors);
    return good;
}

bool tensors_poison_outputs_on_device(struct tensors *tensors, struct error *error)
{
    bool good = true;

    backend_allow_host_access(true);
    for (int i = 0; good && i < tensors->num_tensors; i++)
        if (tensors->tensor[i].role == TENSOR_OUTPUT)
            good = fill_device(&tensors->tensor[i], tensors->poison_byte, error);
    backend_allow_host_access(false);
    return good;
}

bool tensors_download_and_check_guards_and_inputs(struct tensors *tensors, struct error *error)
{
    const struct tensor *const list = tensors->tensor;
    bool good = true;

    backend_allow_host_access(true);
    for (int i = 0; good && i < tensors->num_tensors; i++)
        if (list[i].role == TENSOR_OUTPUT)
            good = device_buffer_download(&list[i].device, list[i].host.data, error);
    for (int i = 0; good && i < tensors->num_tensors; i++)
        good = device_buffer_check_guards(&list[i].device, list[i].name, error);
    for (int i = 0; good && i < tensors->num_tensors; i++)
        if (list[i].role == TENSOR_INPUT)
            good = input_is_as_before(&list[i], error);
    backend_allow_host_access(false);
    if (!good)
        error->exit_code = RUN_WRONG; /* if the data can no longer be read, the kernel is at fault */
    return good;
}

void tensors_free_device(struct tensors *tensors)
{
    for (int i = 0; i < tensors->num_tensors; i++)
        device_buffer_free(&tensors->tensor[i].device);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static bool file_path(const char *directory, const char *name, char path[PATH_MAX], struct error *error)
{
    return snprintf(path, PATH_MAX, "%s/%s.npy", directory, name) < PATH_MAX ||
           error_set(error, "--out: %s: the path is too long", directory);
}

/** Writes an array. A .npy file cannot hold bf16, so a bf16 array is written as f32. */
static bool write_array(const char *path, const struct npy_array *array, struct atomic_file *file, struct error *error)
{
    struct npy_array wide = *array;
    bool good;

    if (array->dtype != DTYPE_BF16)
        return npy_write(path, array, file, error);
    wide.dtype = DTYPE_F32;
    if (!memory_allocate(&wide.data, (size_t)npy_num_elements(array) * sizeof(float), error))
        return false;
    for (int64_t i = 0; i < npy_num_elements(array); i++)
        ((float *)wide.data)[i] = dtype_load(DTYPE_BF16, array->data, (size_t)i);
    good = npy_write(path, &wide, file, error);
    npy_free(&wide);
    return good;
}

bool tensors_write_outputs(const struct tensors *tensors, const char *directory, struct atomic_file files[MAX_TENSORS],
                           struct error *error)
{
    char path[PATH_MAX];
    bool good = true;

    for (int i = 0; good && i < tensors->num_tensors; i++)
        if (tensors->tensor[i].role == TENSOR_OUTPUT)
            good = file_path(directory, tensors->tensor[i].name, path, error) &&
                   write_array(path, &tensors->tensor[i].host, &files[i], error);
    return good;
}
