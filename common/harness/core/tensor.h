/**
 * @file core/tensor.h
 * @brief The arrays of an operator as data, with the operations on all of them, which every operator uses.
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
 * Recipe of an input without a copy on the host. It consists of pieces: piece p is piece numbers[p] of the whole
 * generated array.
 */
struct tensor_recipe {
    struct generated values;
    int64_t chunk;          /**< elements of a piece; 0: this tensor has a copy on the host */
    const int32_t *numbers; /**< owned by the operator; must outlive the tensor */
};

/** An array that a kernel reads or writes. */
struct tensor {
    const char *name; /**< "gating_output": in messages and in NAME.npy */
    enum tensor_role role;
    struct npy_array
        host; /**< type and shape, set by the operator; the data, NULL in a workspace and where there is a recipe */
    struct tensor_recipe recipe;
    size_t unneeded_bytes; /**< bytes that no kernel needs to move */
    bool absent;           /**< not present in this problem: its addresses are NULL */
    bool zeroed;           /**< a workspace that holds zeros before the first launch, not poison */
    size_t misalign;       /**< bytes that it begins past a multiple of 256 on the device */
    struct device_buffer device;
};

enum { MAX_TENSORS = 25 };

/** All tensors of an operator, in the order of its own enumeration. All zero: none. */
struct tensors {
    struct tensor list[MAX_TENSORS];
    int count;
    unsigned char poison; /**< every byte of outputs and workspace before a launch */
};

enum tensor_location { TENSOR_HOST, TENSOR_DEVICE };

/** Returns the size of a tensor in bytes; 0 if it is absent. */
size_t tensor_bytes(const struct tensor *tensor);

/** Reads `count` floats from element `first` on: from the host's copy, or, inside one piece, by the recipe. */
void tensor_read(const struct tensor *tensor, int64_t first, int64_t count, float *values);

/** Returns the address of a tensor's data; NULL if it is absent. */
void *tensor_data(const struct tensors *tensors, int index, enum tensor_location location);

/** Returns the bytes of inputs and outputs that any kernel must move. */
double tensors_bytes_to_move(const struct tensors *tensors);

/**
 * Allocates uninitialised host memory for inputs and outputs. Returns false, with everything freed, if memory is short.
 */
bool tensors_allocate(struct tensors *tensors, struct error *error);

/** Frees all memory of the tensors, on the host and on the device. */
void tensors_free(struct tensors *tensors);

/** Copies the host data of a tensor of the same shape, if there are any. */
void tensor_copy_host(struct tensor *tensor, const struct tensor *from);

/** Copies the inputs on the host from tensors of the same shapes. */
void tensors_copy_inputs(struct tensors *tensors, const struct tensors *from);

/** Overwrites the outputs on the host, so that results of an earlier run cannot be taken for this one's. */
void tensors_poison_host(struct tensors *tensors);

/**
 * Allocates device memory between guard bands, uploads or generates the inputs and poisons or zeroes the rest. False,
 * owning no device memory; if memory is short, it allocates nothing.
 */
bool tensors_upload(struct tensors *tensors, struct error *error);

/** Poisons the outputs on the device, so that results of an earlier launch cannot be taken for the next one's. */
bool tensors_poison_device(struct tensors *tensors, struct error *error);

/**
 * Downloads the outputs, checks every guard band and compares the inputs with their original values. False, as
 * RUN_WRONG, with the reason.
 */
bool tensors_download_checked(struct tensors *tensors, struct error *error);

/** Frees the device memory. */
void tensors_free_device(struct tensors *tensors);

/**
 * Writes every output for NAME.npy in the directory of --out, each to one of `files`, which begin as zeros. The caller
 * passes them to atomic_files_commit(), or drops them on failure.
 */
bool tensors_write(const struct tensors *tensors, const char *directory, struct atomic_file files[MAX_TENSORS],
                   struct error *error);

#endif
