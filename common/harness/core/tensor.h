/**
 * @file core/tensor.h
 * @brief An operator's arrays, described as data, and operations on all of them that every operator uses.
 *
 * An operator lists its tensors once for a problem. Each then has a host copy (except a workspace) and, during a run, a
 * device copy between guard bands.
 */
#ifndef TENSOR_H
#define TENSOR_H

#include "harness/core/device_buffer.h"
#include "harness/core/generated.h"
#include "harness/core/npy.h"

enum tensor_role { TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_WORKSPACE };

/**
 * The recipe for an input that has no copy on the host. The tensor consists of chunks: chunk c is chunk numbers[c] of
 * the generated array.
 */
struct tensor_recipe {
    struct generated values;
    int64_t chunk;          /**< elements in a chunk; 0: the tensor has a copy on the host */
    const int32_t *numbers; /**< owned by the operator; must outlive the tensor */
};

/** An array that a kernel reads or writes. */
struct tensor {
    const char *name; /**< such as "gating_output"; for messages and the file NAME.npy */
    enum tensor_role role;
    struct npy_array host; /**< type and shape, set by the operator; no data for a workspace or a recipe */
    struct tensor_recipe recipe;
    size_t unneeded_bytes; /**< bytes that need not be moved */
    bool absent;           /**< not part of this problem: its addresses are NULL */
    bool zeroed;           /**< a workspace that holds zeros before the first launch, not poison */
    size_t misalign;       /**< on the device: offset of its start from a multiple of 256, in bytes */
    struct device_buffer device;
};

enum { MAX_TENSORS = 25 };

/** All tensors of an operator, in the order of the operator's enum. All zeros: none. */
struct tensors {
    struct tensor list[MAX_TENSORS];
    int count;
    unsigned char poison; /**< fills every byte of outputs and workspace before a launch */
};

enum tensor_location { TENSOR_HOST, TENSOR_DEVICE };

/** Returns the size of a tensor in bytes; 0 if it is absent. */
size_t tensor_bytes(const struct tensor *tensor);

/** Reads `count` floats from element `first` on: from the host copy or, within one chunk, by the recipe. */
void tensor_read(const struct tensor *tensor, int64_t first, int64_t count, float *values);

/** Returns the address of a tensor's data; NULL if it is absent. */
void *tensor_data(const struct tensors *tensors, int index, enum tensor_location location);

/** Returns how many bytes of inputs and outputs every kernel must move. */
double tensors_bytes_to_move(const struct tensors *tensors);

/**
 * Allocates uninitialised host memory for inputs and outputs. Returns false, with everything freed, if out of memory.
 */
bool tensors_allocate(struct tensors *tensors, struct error *error);

/** Frees all memory of the tensors, on the host and on the device. */
void tensors_free(struct tensors *tensors);

/** Copies the host data of a tensor of the same shape, if that tensor has any. */
void tensor_copy_host(struct tensor *tensor, const struct tensor *from);

/** Copies the inputs on the host from tensors of the same shapes. */
void tensors_copy_inputs(struct tensors *tensors, const struct tensors *from);

/** Overwrites the outputs on the host, so that an earlier run's results cannot be taken for this run's. */
void tensors_poison_host(struct tensors *tensors);

/**
 * Allocates device memory between guard bands, uploads or generates the inputs, and poisons or zeroes the rest. On
 * failure returns false and frees the device memory. If memory is known to be insufficient, allocates nothing.
 */
bool tensors_upload(struct tensors *tensors, struct error *error);

/** Poisons the outputs on the device, so that an earlier launch's results cannot be taken for the next launch's. */
bool tensors_poison_device(struct tensors *tensors, struct error *error);

/**
 * Downloads the outputs, checks every guard band and compares the inputs with their original values. On failure returns
 * false with RUN_WRONG and the reason.
 */
bool tensors_download_checked(struct tensors *tensors, struct error *error);

/** Frees the device memory. */
void tensors_free_device(struct tensors *tensors);

/**
 * Writes every output to a temporary file for NAME.npy in the directory of --out, and stores it in one of `files`,
 * which begin as zeros. The caller passes them to atomic_files_commit() or, on failure, to atomic_files_discard().
 */
bool tensors_write(const struct tensors *tensors, const char *directory, struct atomic_file files[MAX_TENSORS],
                   struct error *error);

#endif
