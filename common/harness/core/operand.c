#include "harness/core/operand.h"

#include "base/memory.h"

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
            bytes += (double)operand_bytes(&operands->list[i]);
    return bytes;
}

/* --- host --------------------------------------------------------------------------------------------------------- */

bool operands_allocate(struct operands *operands, struct error *error)
{
    for (int i = 0; i < operands->count; i++) {
        struct operand *const operand = &operands->list[i];

        if (!operand->absent && operand->role != OPERAND_WORKSPACE &&
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

void operands_copy_inputs(struct operands *operands, const struct operands *from)
{
    for (int i = 0; i < operands->count; i++)
        if (operands->list[i].role == OPERAND_INPUT && !operands->list[i].absent)
            memcpy(operands->list[i].host.data, from->list[i].host.data, operand_bytes(&from->list[i]));
}

void operands_poison_host(struct operands *operands)
{
    for (int i = 0; i < operands->count; i++)
        if (operands->list[i].role == OPERAND_OUTPUT)
            memset(operands->list[i].host.data, operands->poison, operand_bytes(&operands->list[i]));
}

/* --- device ------------------------------------------------------------------------------------------------------- */

bool operands_to_device(struct operands *operands, struct error *error)
{
    bool good = true;

    for (int i = 0; good && i < operands->count; i++) {
        struct operand *const operand = &operands->list[i];

        good = device_buffer_allocate(&operand->device, operand_bytes(operand), operand->misalign, error) &&
               (operand->role == OPERAND_INPUT ? device_buffer_upload(&operand->device, operand->host.data, error)
                                               : device_buffer_fill(&operand->device, operands->poison, error));
    }
    if (!good)
        operands_leave_device(operands);
    return good;
}

bool operands_fetch(struct operands *operands, struct error *error)
{
    const struct operand *const list = operands->list;
    bool good = true;

    for (int i = 0; good && i < operands->count; i++)
        if (list[i].role == OPERAND_OUTPUT)
            good = device_buffer_download(&list[i].device, list[i].host.data, error);
    for (int i = 0; good && i < operands->count; i++)
        good = device_buffer_guards_hold(&list[i].device, list[i].name, error);
    for (int i = 0; good && i < operands->count; i++)
        if (list[i].role == OPERAND_INPUT)
            good = device_buffer_equals(&list[i].device, list[i].host.data, list[i].name, error);
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

bool operands_write(const struct operands *operands, const char *directory, struct whole_file files[MAX_OPERANDS],
                    struct error *error)
{
    char path[PATH_MAX];
    bool good = true;

    for (int i = 0; good && i < operands->count; i++)
        if (operands->list[i].role == OPERAND_OUTPUT)
            good = file_path(directory, operands->list[i].name, path, error) &&
                   npy_write(path, &operands->list[i].host, &files[i], error);
    return good;
}
