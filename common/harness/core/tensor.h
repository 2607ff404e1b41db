/**
 * @file core/tensor.h
 * @brief Descriptions of an operator's arrays, and operations, shared by all operators, on all of these arrays.
 *
 * An operator lists its tensors once per problem. Each tensor then has a host copy (except a workspace) and, during a
 * run, a device copy between guard bands.
 */
#ifndef TENSOR_H
#define TENSOR_H

#include "harness/core/device_buffer.h"
#include "harness/core/generated.h"
#include "harness/core/npy.h"

enum tensor_role { TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_WORKSPACE };

/**
 * The recipe that generates the values of an input without a host copy. The tensor consists of chunks: chunk c is chunk
 * source_chunk_indices[c] of the generated array.
 */
struct tensor_values_recipe {
    struct generated_array values;
    int64_t elements_per_chunk;          /**< elements per chunk; 0 if the tensor has a host copy */
    const int32_t *source_chunk_indices; /**< chunk numbers, owned by the operator; must outlive the tensor */
};

/** An array that a kernel reads or writes: its copy on the host, and its copy on the device between guard bands. */
struct tensor {
    const char *name; /**< name in messages and in the file NAME.npy, such as "gating_output" */
    enum tensor_role role;
    struct npy_array host; /**< type and shape, set by the operator; no data for a workspace or a recipe */
    struct tensor_values_recipe recipe;
    size_t skippable_bytes; /**< number of bytes that a kernel need not move */
    bool is_absent;         /**< whether the tensor is not part of this problem; its addresses are then NULL */
    bool is_zeroed;         /**< whether a workspace holds zeros, not poison, before the first launch */
    size_t misalign_bytes;  /**< offset of the device address from a multiple of 256, in bytes */
    struct device_buffer device;
};

enum { MAX_TENSORS = 25 };

/** All tensors of an operator, in the order of the operator's enum. All zeros means no tensors. */
struct tensors {
    struct tensor tensor[MAX_TENSORS];
    int num_tensors;
    unsigned char poison_byte;     /**< byte that fills outputs and workspace before a launch */
    const char *size_option_names; /**< the options that determine the size, for errors: "--num-tokens"; may be NULL */
};

enum tensor_location { TENSOR_ON_HOST, TENSOR_ON_DEVICE };

/** Returns the size of a tensor in bytes, or 0 if it is absent. */
size_t tensor_bytes(const struct tensor *tensor);

/**
 * Reads `num_elements` floats, starting at element `first_element`, from the host copy. If there is none, generates
 * them from the recipe; the range must then lie within one chunk.
 */
void tensor_read_floats(const struct tensor *tensor, int64_t first_element, int64_t num_elements, float *values);

/** Returns the address of a tensor's data, or NULL if it is absent. */
void *tensor_data(const struct tensors *tensors, int index, enum tensor_location location);

/** Returns the number of input and output bytes that every kernel must move. */
double tensors_bytes_to_move(const struct tensors *tensors);

/**
 * Allocates uninitialised host memory for inputs and outputs. If memory runs out, frees everything and returns false.
 */
bool tensors_allocate_host(struct tensors *tensors, struct error *error);

/**
 * Checks that the device has enough free memory; small tensors are not checked. An operator whose inputs are large
 * calls this function before it generates them. Allocation may still fail afterwards.
 */
bool tensors_check_fit_on_device(const struct tensors *tensors, struct error *error);

/** Frees all memory of the tensors, on the host and on the device. */
void tensors_free(struct tensors *tensors);

/** Copies the host data, if any, of `source`, which must have the same shape. */
void tensor_copy_host_data(struct tensor *tensor, const struct tensor *source);

/** Copies the host inputs of `source`, whose tensors must have the same shapes. */
void tensors_copy_host_inputs(struct tensors *tensors, const struct tensors *source);

/** Overwrites the outputs on the host, so that an earlier run's results cannot be mistaken for this run's. */
void tensors_poison_outputs_on_host(struct tensors *tensors);

/**
 * Allocates device memory between guard bands, uploads or generates the inputs, and poisons or zeroes the rest. On
 * failure returns false and frees the device memory. If memory is known to be insufficient, allocates nothing.
 */
bool tensors_allocate_and_upload(struct tensors *tensors, struct error *error);

/** Poisons the outputs on the device, so that an earlier launch's results cannot be mistaken for the next launch's. */
bool tensors_poison_outputs_on_device(struct tensors *tensors, struct error *error);

/**
 * Downloads the outputs, checks every guard band and compares the inputs with their original values. On failure,
 * returns false and sets RUN_WRONG and the reason.
 */
bool tensors_download_and_check_guards_and_inputs(struct tensors *tensors, struct error *error);

/** Frees the device memory. */
void tensors_free_device(struct tensors *tensors);

/**
 * Writes every output to a temporary file for NAME.npy in the directory of --out and stores this file in one of
 * `files`, which must be zeroed. The caller passes `files` to atomic_files_commit() or, on failure, to
 * atomic_files_discard().
 */
bool tensors_write_outputs(const struct tensors *tensors, const char *directory, struct atomic_file files[MAX_TENSORS],
                           struct error *error);

#endif
