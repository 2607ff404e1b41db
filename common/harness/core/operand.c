#include "harness/core/operand.h"

#include "base/memory.h"
#include "harness/core/backend.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t operand_bytes(const struct operand *operand)
{
    return operand->absent ? 0 : (size_t)npy_count(&operand->host) * dtype_size(operand->host.dtype);
}

void *operand_data(const struct operands *operands, int index, enum operand_place place)
{
    const struct operand *const operand = &operands->list[index];

    return operand->absent ? NULL : place == OPERAND_DEVICE ? operand->device.data : operand->host.data;
}

double operands_bytes_to_move(const struct operands *operands)
{
    double bytes = 0.0;

    for (int i = 0; i < operands->count; i++)
        if (operands->list[i].role != OPERAND_WORKSPACE)
            bytes += (double)(operand_bytes(&operands->list[i]) - operands->list[i].idle_bytes);
    return bytes;
}

void operand_read(const struct operand *operand, int64_t first, int64_t count, float *values)
{
    const struct operand_recipe *const recipe = &operand->recipe;
    const struct generated generated = recipe->values;
    const enum dtype dtype = operand->host.dtype;

    if (recipe->piece) /* what it is in the whole array */
        first = recipe->numbers[first / recipe->piece] * recipe->piece + first % recipe->piece;
    if (!recipe->piece)
        for (int64_t i = 0; i < count; i++)
            values[i] = dtype_load(dtype, operand->host.data, (size_t)(first + i));
    else if (dtype == DTYPE_BF16) /* by itself: a check reads thousands of millions */
        for (int64_t i = 0; i < count; i++)
            values[i] = dtype_round(DTYPE_BF16, generated_value(generated, first + i));
    else
        for (int64_t i = 0; i < count; i++)
            values[i] = dtype_round(dtype, generated_value(generated, first + i));
}

/* --- host --------------------------------------------------------------------------------------------------------- */

bool operands_allocate(struct operands *operands, struct error *error)
{
    for (int i = 0; i < operands->count; i++) {
        struct operand *const operand = &operands->list[i];

        if (!operand->absent && operand->role != OPERAND_WORKSPACE && !operand->recipe.piece &&
            !memory_allocate(&operand->host.data, operand_bytes(operand), error)) {
            operands_free(operands);
            return false;
        }
    }
    return true;
}

void operands_free(struct operands *operands)
{
    operands_leave_device(operands);
    for (int i = 0; i < operands->count; i++)
        npy_free(&operands->list[i].host);
    operands->count = 0;
}

void operand_copy_host(struct operand *operand, const struct operand *from)
{
    if (from->host.data)
        memcpy(operand->host.data, from->host.data, operand_bytes(from));
}

void operands_copy_inputs(struct operands *operands, const struct operands *from)
{
    for (int i = 0; i < operands->count; i++)
        if (operands->list[i].role == OPERAND_INPUT)
            operand_copy_host(&operands->list[i], &from->list[i]);
}

void operands_poison_host(struct operands *operands)
{
    for (int i = 0; i < operands->count; i++)
        if (operands->list[i].role == OPERAND_OUTPUT)
            memset(operands->list[i].host.data, operands->poison, operand_bytes(&operands->list[i]));
}

/* --- device ------------------------------------------------------------------------------------------------------- */

/**
 * False, with what is needed, if the device has less memory free. What it has is no promise: allocation may still fail.
 */
static bool memory_suffices(const struct operands *operands, struct error *error)
{
    size_t needed = 0, available, all;

    for (int i = 0; i < operands->count; i++)
        needed += operand_bytes(&operands->list[i]);
    if (cudaMemGetInfo(&available, &all) != cudaSuccess || needed <= available)
        return true;
    return error_set_as(error, RUN_NO_DEVICE, "out of memory: %.1f GB of device memory are needed, %.1f GB are free",
                        1e-9 * (double)needed, 1e-9 * (double)available);
}

/** Makes an input by its recipe or, with `others`, counts its elements that are not as they were made. */
static bool apply_recipe(const struct operand *operand, uint64_t *others, struct error *error)
{
    const struct operand_recipe *const recipe = &operand->recipe;
    const int64_t pieces = recipe->piece ? npy_count(&operand->host) / recipe->piece : 0;
    const enum dtype dtype = operand->host.dtype;
    cudaError_t status = cudaSuccess;

    for (int64_t p = 0; status == cudaSuccess && p < pieces; p++)
        status = backend_generate(recipe->values, dtype, recipe->numbers[p] * recipe->piece, recipe->piece,
                                  (char *)operand->device.data + (size_t)(p * recipe->piece) * dtype_size(dtype),
                                  others);
    return status == cudaSuccess || device_error(error, "generating on the device", status);
}

/** Fills an operand's device memory. */
static bool fill_device(const struct operand *operand, unsigned char poison, struct error *error)
{
    if (operand->zeroed)
        return device_buffer_zero(&operand->device, error);
    if (operand->role != OPERAND_INPUT)
        return device_buffer_fill(&operand->device, poison, error);
    return operand->recipe.piece ? apply_recipe(operand, NULL, error)
                                 : device_buffer_upload(&operand->device, operand->host.data, error);
}

/** False, naming the operand, if a kernel has written to this input. */
static bool input_is_as_before(const struct operand *operand, struct error *error)
{
    uint64_t others = 0;

    if (!operand->recipe.piece)
        return device_buffer_equals(&operand->device, operand->host.data, operand->name, error);
    return apply_recipe(operand, &others, error) &&
           (others == 0 || error_set_as(error, RUN_WRONG, "%s: the kernel wrote to its input", operand->name));
}

bool operands_to_device(struct operands *operands, struct error *error)
{
    bool good = memory_suffices(operands, error);

    backend_keep_open(true);
    for (int i = 0; good && i < operands->count; i++) {
        struct operand *const operand = &operands->list[i];

        good = device_buffer_allocate(&operand->device, operand_bytes(operand), operand->misalign, error) &&
               fill_device(operand, operands->poison, error);
    }
    backend_keep_open(false);
    if (!good)
        operands_leave_device(operands);
    return good;
}

bool operands_fetch(struct operands *operands, struct error *error)
{
    const struct operand *const list = operands->list;
    bool good = true;

    backend_keep_open(true);
    for (int i = 0; good && i < operands->count; i++)
        if (list[i].role == OPERAND_OUTPUT)
            good = device_buffer_download(&list[i].device, list[i].host.data, error);
    for (int i = 0; good && i < operands->count; i++)
        good = device_buffer_guards_hold(&list[i].device, list[i].name, error);
    for (int i = 0; good && i < operands->count; i++)
        if (list[i].role == OPERAND_INPUT)
            good = input_is_as_before(&list[i], error);
    backend_keep_open(false);
    if (!good)
        error->result = RUN_WRONG; /* whatever cannot be looked at any more was the kernel's doing */
    return good;
}

void operands_leave_device(struct operands *operands)
{
    for (int i = 0; i < operands->count; i++)
        device_buffer_free(&operands->list[i].device);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static bool file_path(const char *directory, const char *name, char path[PATH_MAX], struct error *error)
{
    return snprintf(path, PATH_MAX, "%s/%s.npy", directory, name) < PATH_MAX ||
           error_set(error, "--out: %s: the path is too long", directory);
}

/** Writes an array; one of bf16, which a file cannot hold, as f32. */
static bool write_array(const char *path, const struct npy_array *array, struct whole_file *file, struct error *error)
{
    struct npy_array wide = *array;
    bool good;

    if (array->dtype != DTYPE_BF16)
        return npy_write(path, array, file, error);
    wide.dtype = DTYPE_F32;
    if (!memory_allocate(&wide.data, (size_t)npy_count(array) * sizeof(float), error))
        return false;
    for (int64_t i = 0; i < npy_count(array); i++)
        ((float *)wide.data)[i] = dtype_load(DTYPE_BF16, array->data, (size_t)i);
    good = npy_write(path, &wide, file, error);
    npy_free(&wide);
    return good;
}

bool operands_write(const struct operands *operands, const char *directory, struct whole_file files[MAX_OPERANDS],
                    struct error *error)
{
    char path[PATH_MAX];
    bool good = true;

    for (int i = 0; good && i < operands->count; i++)
        if (operands->list[i].role == OPERAND_OUTPUT)
            good = file_path(directory, operands->list[i].name, path, error) &&
                   write_array(path, &operands->list[i].host, &files[i], error);
    return good;
}
