#include "harness/core/npy.h"

#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, ".npy data is read and written as it lies in memory");

/* A file consists of: magic, version (2 bytes), header length (2 bytes), header (a Python dictionary), data. */
static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
enum { PREFIX_BYTES = 10, ALIGNMENT = 64 };

/* Type names in the header of a file. NumPy has no bf16, and DTYPE_U8 is not used in files. */
static const char *const descr_names[NUM_DTYPES] = {
    [DTYPE_F16] = "<f2", [DTYPE_F32] = "<f4", [DTYPE_I32] = "<i4", [DTYPE_I64] = "<i8"};

static const char *const allowed_types[] = {
    [NPY_FLOATS] = "'<f2' and '<f4'", [NPY_INTEGERS] = "'<i4' and '<i8'", [NPY_ANY] = "'<f2', '<f4', '<i4' and '<i8'"};

int64_t npy_num_elements(const struct npy_array *array)
{
    int64_t count = 1;

    for (int i = 0; i < array->ndim; i++)
        count *= array->shape[i];
    return count;
}

void npy_free(struct npy_array *array)
{
    free(array->data);
    array->data = NULL;
}

/* --- the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } -------------------------------------- */

/** The parser's position in a NUL-terminated header, and the array that the header describes. */
struct cursor {
    const char *path;
    const char *at;
    const char *end;
    enum npy_kind kind; /**< the kind that the error names if the file's type cannot be read */
    struct npy_array *array;
    struct error *error;
};

/** Skips white space, and then `word` if it follows. Returns whether `word` followed. */
static bool take(struct cursor *cursor, const char *word)
{
    cursor->at += strspn(cursor->at, " \t\n\v\f\r");
    if (strncmp(cursor->at, word, strlen(word)) != 0)
        return false;
    cursor->at += strlen(word);
    return true;
}

/** Sets an error that quotes at most 24 printable characters of the rest of the header. Returns false. */
static bool fail_expected(struct cursor *cursor, const char *expected)
{
    char text[32];
    int length = 0;

    while (length < 24 && isprint((unsigned char)cursor->at[length]))
        length++;
    snprintf(text, sizeof text, "\"%.*s\"", length, cursor->at);
    return error_set(cursor->error, "%s: the header has %s where %s should be", cursor->path,
                     length > 0                  ? text
                     : cursor->at == cursor->end ? "its end"
                                                 : "an unprintable character",
                     expected);
}

/** Reads a string in single or double quotes without escapes. */
static bool take_string(struct cursor *cursor, const char *expected, const char **text, int *length)
{
    take(cursor, "");
    const char quote[] = {*cursor->at, '\0'};

    if (*quote != '\'' && *quote != '"')
        return fail_expected(cursor, expected);
    *text = cursor->at + 1;
    *length = (int)strcspn(*text, quote);
    if ((*text)[*length] != *quote)
        return fail_expected(cursor, expected);
    for (int i = 0; i < *length; i++)
        if (!isprint((unsigned char)(*text)[i]) || (*text)[i] == '\\')
            return fail_expected(cursor, expected);
    cursor->at = *text + *length + 1;
    return true;
}

static bool is_text(const char *text, int length, const char *word)
{
    return (size_t)length == strlen(word) && memcmp(text, word, (size_t)length) == 0;
}

static bool take_descr(struct cursor *cursor)
{
    const char *text;
    int length;

    if (!take_string(cursor, "a plain type such as '<f4'", &text, &length))
        return false;
    for (int dtype = 0; dtype < NUM_DTYPES; dtype++) {
        cursor->array->dtype = (enum dtype)dtype;
        if (descr_names[dtype] && is_text(text, length, descr_names[dtype]))
            return true;
    }
    return error_set(cursor->error, "%s: %s '%.*s'; only %s are read (array.astype converts)", cursor->path,
                     length > 0 && text[0] == '>' ? "big-endian type" : "type", length < 16 ? length : 16, text,
                     allowed_types[cursor->kind]);
}

static bool take_fortran_order(struct cursor *cursor)
{
    if (take(cursor, "True"))
        return error_set(
            cursor->error,
            "%s: Fortran order, as a transposed array has; only C order is read (np.ascontiguousarray converts)",
            cursor->path);
    return take(cursor, "False") || fail_expected(cursor, "True or False");
}

static bool take_dimension(struct cursor *cursor, int64_t *dimension)
{
    char *end;

    if (*cursor->at == '-')
        return error_set(cursor->error, "%s: a negative dimension; each must be 0 or more", cursor->path);
    if (!isdigit((unsigned char)*cursor->at))
        return fail_expected(cursor, "a dimension");
    errno = 0;
    *dimension = strtoll(cursor->at, &end, 10);
    cursor->at = end;
    return errno != ERANGE || error_set(cursor->error, "%s: a dimension of 2^63 or more", cursor->path);
}

static bool take_shape(struct cursor *cursor)
{
    struct npy_array *const array = cursor->array;
    bool comma = true;

    array->ndim = 0;
    if (!take(cursor, "("))
        return fail_expected(cursor, "a shape in parentheses");
    while (!take(cursor, ")")) {
        int64_t dimension = 0;

        if (!comma)
            return fail_expected(cursor, "a comma or a parenthesis");
        if (!take_dimension(cursor, &dimension))
            return false;
        if (array->ndim == NPY_MAX_DIMS)
            return error_set(cursor->error, "%s: more than %d dimensions", cursor->path, NPY_MAX_DIMS);
        array->shape[array->ndim++] = dimension;
        comma = take(cursor, ",");
    }
    /* in Python, (3) without a comma is a number, whereas () is a tuple */
    return array->ndim != 1 || comma ||
           error_set(cursor->error, "%s: the shape is a number, not a tuple", cursor->path);
}

static const struct {
    const char *name;
    bool (*take_value)(struct cursor *cursor);
} keys[] = {{"descr", take_descr}, {"fortran_order", take_fortran_order}, {"shape", take_shape}};

enum { NUM_KEYS = sizeof keys / sizeof *keys };

/** Reads one key and its value. `seen` has one bit per key. */
static bool take_entry(struct cursor *cursor, unsigned int *seen)
{
    const char *text;
    int length, key = 0;

    if (!take_string(cursor, "a key in quotes", &text, &length))
        return false;
    while (key < NUM_KEYS && !is_text(text, length, keys[key].name))
        key++;
    if (key == NUM_KEYS)
        return error_set(cursor->error,
                         "%s: the header has a key '%.*s'; it has descr, fortran_order and shape, no other",
                         cursor->path, length < 32 ? length : 32, text);
    if (*seen >> key & 1)
        return error_set(cursor->error, "%s: the header has the key '%s' twice", cursor->path, keys[key].name);
    *seen |= 1u << key;
    return take(cursor, ":") ? keys[key].take_value(cursor) : fail_expected(cursor, "a colon");
}

static bool parse_header(struct cursor *cursor)
{
    unsigned int seen = 0;

    if (!take(cursor, "{"))
        return fail_expected(cursor, "a dictionary");
    for (bool comma = true; !take(cursor, "}"); comma = take(cursor, ",")) {
        if (!comma)
            return fail_expected(cursor, "a comma or a brace");
        if (!take_entry(cursor, &seen))
            return false;
    }
    take(cursor, "");
    if (cursor->at < cursor->end)
        return fail_expected(cursor, "nothing but white space");
    for (int key = 0; key < NUM_KEYS; key++)
        if (!(seen >> key & 1))
            return error_set(cursor->error, "%s: the header has no '%s'", cursor->path, keys[key].name);
    return true;
}

/** Returns the size of the data in bytes, or -1 if the product of all nonzero dimensions overflows. */
static int64_t data_bytes(const struct npy_array *array)
{
    int64_t bytes = (int64_t)dtype_size(array->dtype);
    bool empty = false;

    for (int i = 0; i < array->ndim; i++) {
        empty = empty || array->shape[i] == 0;
        if (array->shape[i] != 0 && __builtin_mul_overflow(bytes, array->shape[i], &bytes))
            return -1;
    }
    return empty ? 0 : bytes;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/** Reads exactly `bytes` bytes. */
static bool read_bytes(FILE *file, const char *path, void *buffer, size_t bytes, struct error *error)
{
    if (fread(buffer, 1, bytes, file) == bytes)
        return true;
    return ferror(file) ? error_set(error, "%s: %s", path, strerror(errno))
                        : error_set(error, "%s: it became shorter while it was read", path);
}

static bool read_header(FILE *file, const char *path, int64_t file_bytes, enum npy_kind kind, struct npy_array *array,
                        int64_t *data_at, struct error *error)
{
    unsigned char prefix[PREFIX_BYTES];
    void *header;
    bool good;

    if (file_bytes < PREFIX_BYTES)
        return error_set(error, "%s: %" PRId64 " bytes; not a .npy file (numpy.save writes one)", path, file_bytes);
    if (!read_bytes(file, path, prefix, sizeof prefix, error))
        return false;
    if (memcmp(prefix, "PK", 2) == 0)
        return error_set(error, "%s: a .npz archive; only .npy files are read (numpy.save writes one)", path);
    if (memcmp(prefix, magic, sizeof magic) != 0)
        return error_set(
            error, "%s: it does not start as a .npy file does (numpy.save writes one, also of numpy.loadtxt's array)",
            path);
    if (prefix[6] != 1 || prefix[7] != 0)
        return error_set(error, "%s: .npy version %d.%d; only version 1.0 is read (numpy.save writes it)", path,
                         prefix[6], prefix[7]);

    const size_t length = prefix[8] | (size_t)prefix[9] << 8;
    *data_at = PREFIX_BYTES + (int64_t)length;
    if (*data_at > file_bytes)
        return error_set(error, "%s: the header should have %zu bytes, the file has %" PRId64 " for it", path, length,
                         file_bytes - PREFIX_BYTES);
    if (!memory_allocate(&header, length + 1, error))
        return false;
    ((char *)header)[length] = '\0';
    good = read_bytes(file, path, header, length, error) &&
           parse_header(&(struct cursor){path, header, (char *)header + length, kind, array, error});
    free(header);
    return good;
}

static bool read_array(FILE *file, const char *path, int64_t file_bytes, enum npy_kind kind, struct npy_array *array,
                       struct error *error)
{
    int64_t bytes, data_at = 0;

    if (!read_header(file, path, file_bytes, kind, array, &data_at, error))
        return false;
    bytes = data_bytes(array);
    if (bytes < 0)
        return error_set(error, "%s: its shape is more bytes than 63 bits count", path);
    if (bytes != file_bytes - data_at)
        return error_set(error, "%s: its shape needs %" PRId64 " bytes of data, the file has %" PRId64 "%s", path,
                         bytes, file_bytes - data_at, bytes > file_bytes - data_at ? " (is it complete?)" : "");
    return memory_allocate(&array->data, (size_t)bytes, error) &&
           read_bytes(file, path, array->data, (size_t)bytes, error);
}

/** Reads a complete file with elements of any kind; the error lists the types of the requested `kind`. */
static bool read_file(const char *path, enum npy_kind kind, struct npy_array *array, struct error *error)
{
    struct stat status;
    FILE *file = NULL; /* opened only if it is a regular file, because opening a pipe without a writer would block */
    bool good;

    *array = (struct npy_array){.data = NULL};
    if (stat(path, &status) != 0 || (S_ISREG(status.st_mode) && !(file = fopen(path, "re"))))
        return error_set(error, "%s: %s", path, strerror(errno));
    if (!file)
        return error_set(error, "%s: %s; a regular file is read", path,
                         S_ISDIR(status.st_mode) ? "a directory" : "a device, a pipe or a socket");
    good = read_array(file, path, status.st_size, kind, array, error);
    fclose(file);
    if (!good)
        npy_free(array);
    return good;
}

const char *npy_shape_text(const struct npy_array *array, char text[NPY_SHAPE_TEXT])
{
    size_t length = 1;

    strcpy(text, "(");
    for (int i = 0; i < array->ndim; i++)
        length += (size_t)sprintf(text + length, "%s%" PRId64, i ? ", " : "", array->shape[i]);
    strcpy(text + length, array->ndim == 1 ? ",)" : ")");
    return text;
}

bool npy_read(const char *path, struct npy_array *array, struct error *error)
{
    return read_file(path, NPY_ANY, array, error);
}

bool npy_read_kind(const char *path, enum npy_kind kind, int min_dims, int max_dims, const char *axes,
                   struct npy_array *array, struct error *error)
{
    char needed[32], shape[NPY_SHAPE_TEXT];

    if (!read_file(path, kind, array, error))
        return false;

    const bool floats = array->dtype == DTYPE_F16 || array->dtype == DTYPE_F32;

    snprintf(needed, sizeof needed, min_dims == max_dims ? "%d" : "%d or %d", min_dims, max_dims);
    if (floats && kind == NPY_INTEGERS)
        error_set(error, "%s: holds floats; i4 or i8 is needed (array.astype converts)", path);
    else if (!floats && kind == NPY_FLOATS)
        error_set(error, "%s: holds integers; f2 or f4 is needed (array.astype converts)", path);
    else if (array->ndim < min_dims || array->ndim > max_dims)
        error_set(error, "%s: has %d dimension%s, shape %s; %s %s needed: %s", path, array->ndim,
                  array->ndim == 1 ? "" : "s", npy_shape_text(array, shape), needed, max_dims == 1 ? "is" : "are",
                  axes);
    else
        return true;
    npy_free(array);
    return false;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/**
 * Writes the part of a file that precedes the data to `header`. Returns the size of this part in bytes, a multiple of
 * ALIGNMENT.
 */
static size_t make_header(const struct npy_array *array, char header[4 * ALIGNMENT])
{
    size_t size = PREFIX_BYTES + (size_t)sprintf(header + PREFIX_BYTES,
                                                 "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                                 descr_names[array->dtype]);

    for (int i = 0; i < array->ndim; i++)
        size += (size_t)sprintf(header + size, "%" PRId64 "%s", array->shape[i],
                                array->ndim == 1      ? ","
                                : i + 1 < array->ndim ? ", "
                                                      : "");
    size += (size_t)sprintf(header + size, "), }");
    while ((size + 1) % ALIGNMENT != 0)
        header[size++] = ' ';
    header[size++] = '\n';

    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    header[8] = (char)((size - PREFIX_BYTES) & 255);
    header[9] = (char)((size - PREFIX_BYTES) >> 8);
    return size;
}

bool npy_write(const char *path, const struct npy_array *array, struct atomic_file *file, struct error *error)
{
    char header[4 * ALIGNMENT];

    if (array->ndim < 0 || array->ndim > NPY_MAX_DIMS || !descr_names[array->dtype] || data_bytes(array) < 0)
        return error_set(error, "%s: an array of this shape cannot be written", path);
    if (!atomic_file_open(file, "", path, error))
        return false;
    fwrite(header, 1, make_header(array, header), file->stream); /* atomic_files_commit() reports write failures */
    fwrite(array->data, 1, (size_t)data_bytes(array), file->stream);
    return true;
}
