/**
 * @file core/operand.h
 * @brief The arrays of an operator, as data: what is done with all of them is done here, whatever the operator is.
 *
 * An operator lists its operands once for a problem; then each has a host copy (a workspace has none) and, during a
 * run, a device copy between guard bands.
 */
#ifndef OPERAND_H
#define OPERAND_H

#include "harness/core/device_buffer.h"
#include "harness/core/generated.h"
#include "harness/core/npy.h"

enum operand_role { OPERAND_INPUT, OPERAND_OUTPUT, OPERAND_WORKSPACE };

/**
 * How an input is made that has no copy on the host: it lies in pieces, and piece number p of it is piece numbers[p] of
 * the whole array.
 */
struct operand_recipe {
    struct generated values;
    int64_t piece;          /**< elements of one; 0: this operand has a copy on the host */
    const int32_t *numbers; /**< the operator's, as long as the operand lives */
};

/** One array that a kernel reads or writes. */
struct operand {
    const char *name; /**< "gating_output": in messages and in NAME.npy */
    enum operand_role role;
    struct npy_array
        host; /**< type and shape, set by the operator; the data, NULL in a workspace and where there is a recipe */
    struct operand_recipe recipe;
    size_t idle_bytes; /**< of its bytes, those that no kernel needs to move */
    bool absent;       /**< this problem has none: its addresses are NULL */
    bool zeroed;       /**< a workspace that holds zeros before the first launch, not poison */
    size_t misalign;   /**< bytes that it begins past a multiple of 256 on the device */
    struct device_buffer device;
};

enum { MAX_OPERANDS = 25 };

/** All of an operator's, in the order of its own enumeration. All zero: none. */
struct operands {
    struct operand list[MAX_OPERANDS];
    int count;
    unsigned char poison; /**< every byte of outputs and workspace before a launch */
};

enum operand_place { OPERAND_HOST, OPERAND_DEVICE };

/** The bytes of an operand; 0 if it is absent. */
size_t operand_bytes(const struct operand *operand);

/** Reads `count` floats from element `first` on: of the host's copy, or by its recipe and then inside one piece. */
void operand_read(const struct operand *operand, int64_t first, int64_t count, float *values);

/** Where an operand's data lies; NULL if it is absent. */
void *operand_data(const struct operands *operands, int index, enum operand_place place);

/** The bytes of all inputs and outputs: what a kernel must move at the least. */
double operands_bytes_to_move(const struct operands *operands);

/** Allocates host memory, not filled, for inputs and outputs. False, owning nothing, when memory is short. */
bool operands_allocate(struct operands *operands, struct error *error);

/** Frees all that they own, on the host and on the device. */
void operands_free(struct operands *operands);

/** Copies what an operand of the same shape has on the host, if it has. */
void operand_copy_host(struct operand *operand, const struct operand *from);

/** Copies the inputs on the host from operands of the same shapes. */
void operands_copy_inputs(struct operands *operands, const struct operands *from);

/** Overwrites the outputs on the host, so that nothing of an earlier run can pass for this one's. */
void operands_poison_host(struct operands *operands);

/**
 * Allocates device memory between guard bands, uploads or makes the inputs and poisons the rest. False, owning none of
 * it; if there is not enough memory, before anything is done.
 */
bool operands_to_device(struct operands *operands, struct error *error);

/**
 * Downloads the outputs, looks at every guard band and compares the inputs with what they were. False, as RUN_WRONG,
 * with the reason.
 */
bool operands_fetch(struct operands *operands, struct error *error);

/** Frees the device memory. */
void operands_leave_device(struct operands *operands);

/**
 * Writes every output to NAME.npy in the directory of --out, one of `files` each, which begin as zeros; they are for
 * whole_files_keep() to put in their places, or to be dropped on failure.
 */
bool operands_write(const struct operands *operands, const char *directory, struct whole_file files[MAX_OPERANDS],
                    struct error *error);

#endif
