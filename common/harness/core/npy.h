/**
 * @file core/npy.h
 * @brief Reads and writes NumPy .npy files, version 1.0: f2, f4, i4 and i8, little-endian, C order.
 *
 * An error is one line, "PATH: ...", that gives the value found and the allowed values. The reader validates the
 * complete file.
 */
#ifndef NPY_H
#define NPY_H

#include "base/atomic_file.h"
#include "harness/core/dtype.h"

#include <stddef.h>
#include <stdint.h>

enum { NPY_MAX_DIMS = 4, NPY_SHAPE_TEXT = 24 * NPY_MAX_DIMS };

struct npy_array {
    enum dtype dtype;            /**< element type: f16, f32, i32 or i64 in a file */
    int ndim;                    /**< number of dimensions, 0 (one element) to NPY_MAX_DIMS */
    int64_t shape[NPY_MAX_DIMS]; /**< each at least 0; their product times the element size must fit in 63 bits */
    void *data;                  /**< elements in C order; f16 as uint16_t bits */
};

/** Returns the number of elements. */
int64_t npy_num_elements(const struct npy_array *array);

/** Writes the shape as Python does: "(2, 256)", "(512,)", "()". Returns `text`. */
const char *npy_shape_text(const struct npy_array *array, char text[NPY_SHAPE_TEXT]);

/** Reads a complete file. On success the caller frees `array` with npy_free(); on failure everything is freed. */
bool npy_read(const char *path, struct npy_array *array, struct error *error);

enum npy_kind { NPY_FLOATS, NPY_INTEGERS, NPY_ANY };

/**
 * Reads a complete file whose elements must be of this kind, with `min_dims` to `max_dims` dimensions. `axes` names
 * the dimensions in the error message, for example "[tokens, experts]".
 */
bool npy_read_kind(const char *path, enum npy_kind kind, int min_dims, int max_dims, const char *axes,
                   struct npy_array *array, struct error *error);

/**
 * Writes a temporary file, which atomic_files_commit() later moves to `path`, so that the file at `path` is either
 * complete or unchanged. On failure the temporary file has already been removed.
 */
bool npy_write(const char *path, const struct npy_array *array, struct atomic_file *file, struct error *error);

/** Frees the data of an array that npy_read() filled. NULL data is allowed. */
void npy_free(struct npy_array *array);

#endif
