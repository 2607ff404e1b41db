/**
 * @file core/tensor.h
 * @brief The arrays of an operator, as data: what is done with all of them is done here, whatever the operator is.
 *
 * An operator lists its tensors once for a problem; then each has a host copy (a workspace has none) and, during a
 * run, a device copy between guard bands.
 */
#ifndef TENSOR_H
#define TENSOR_H

#include "harness/core/device_buffer.h"
#include "harness/core/generated.h"
#include "harness/core/npy.h"

enum tensor_role { TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_WORKSPACE };

/**
 * How an input is made that has no copy on the host: it lies in pieces, and piece number p of it is piece numbers[p] of
 * the whole array.
 */
struct tensor_recipe {
    struct generated values;
    int64_t piece;          /**< elements of one; 0: this tensor has a copy on the host */
    const int32_t *numbers; /**< the operator's, as long as the tensor lives */
};

/** One array that a kernel reads or writes. */
struct tensor {
    const char *name; /**< "gating_output": in messages and in NAME.npy */
    enum tensor_role role;
    struct npy_array
        host; /**< type and shape, set by the operator; the data, NULL in a workspace and where there is a recipe */
    struct tensor_recipe recipe;
    size_t idle_bytes; /**< of its bytes, those that no kernel needs to move */
    bool absent;       /**< this problem has none: its addresses are NULL */
    bool zeroed;       /**< a workspace that holds zeros before the first launch, not poison */
    size_t misalign;   /**< bytes that it begins past a multiple of 256 on the device */
    struct device_buffer device;
};

enum { MAX_TENSORS = 25 };

/** All of an operator's, in the order of its own enumeration. All zero: none. */
struct tensors {
    struct tensor list[MAX_TENSORS];
    int count;
    unsigned char poison; /**< every byte of outputs and workspace before a launch */
};

enum tensor_place { TENSOR_HOST, TENSOR_DEVICE };

/** The bytes of a tensor; 0 if it is absent. */
size_t tensor_bytes(const struct tensor *tensor);

/** Reads `count` floats from element `first` on: of the host's copy, or by its recipe and then inside one piece. */
void tensor_read(const struct tensor *tensor, int64_t first, int64_t count, float *values);

/** Where a tensor's data lies; NULL if it is absent. */
void *tensor_data(const struct tensors *tensors, int index, enum tensor_place place);

/** The bytes of all inputs and outputs: what a kernel must move at the least. */
double tensors_bytes_to_move(const struct tensors *tensors);

/** Allocates host memory, not filled, for inputs and outputs. False, owning nothing, when memory is short. */
bool tensors_allocate(struct tensors *tensors, struct error *error);

/** Frees all that they own, on the host and on the device. */
void tensors_free(struct tensors *tensors);

/** Copies what a tensor of the same shape has on the host, if it has. */
void tensor_copy_host(struct tensor *tensor, const struct tensor *from);

/** Copies the inputs on the host from tensors of the same shapes. */
void tensors_copy_inputs(struct tensors *tensors, const struct tensors *from);

/** Overwrites the outputs on the host, so that nothing of an earlier run can pass for this one's. */
void tensors_poison_host(struct tensors *tensors);

/**
 * Allocates device memory between guard bands, uploads or makes the inputs and poisons the rest. False, owning none of
 * it; if there is not enough memory, before anything is done.
 */
bool tensors_to_device(struct tensors *tensors, struct error *error);

/**
 * Downloads the outputs, looks at every guard band and compares the inputs with what they were. False, as RUN_WRONG,
 * with the reason.
 */
bool tensors_fetch(struct tensors *tensors, struct error *error);

/** Frees the device memory. */
void tensors_leave_device(struct tensors *tensors);

/**
 * Writes every output to NAME.npy in the directory of --out, one of `files` each, which begin as zeros; they are for
 * whole_files_keep() to put in their places, or to be dropped on failure.
 */
bool tensors_write(const struct tensors *tensors, const char *directory, struct whole_file files[MAX_TENSORS],
                   struct error *error);

#endif
