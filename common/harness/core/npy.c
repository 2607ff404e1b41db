#include "harness/core/npy.h"

#include "harness/core/memory.h"
#include "harness/core/whole_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, ".npy data is read and written as it lies in memory");

/* A file is: magic, version (2 bytes), the header's length (2 bytes), the header (a Python dictionary), the data. */
static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
enum { PREFIX_BYTES = 10, ALIGNMENT = 64 };

/* What the file calls a type. NumPy has no bf16, and here nothing is kept as bytes. */
static const char *const descr_names[NUM_DTYPES] = {
    [DTYPE_F16] = "<f2", [DTYPE_F32] = "<f4", [DTYPE_I32] = "<i4", [DTYPE_I64] = "<i8"};

#define ALLOWED_TYPES "'<f2', '<f4', '<i4' and '<i8' are read"

int64_t npy_count(const struct npy_array *array)
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

/* --- the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } ------------------------------------------ */

/** Where the reader is in a header, which a NUL ends. */
struct cursor {
    const char *path;
    const char *at;
    const char *end;
    struct error *error;
};

/** Takes `word`, after white space, if it comes next. */
static bool take(struct cursor *cursor, const char *word)
{
    cursor->at += strspn(cursor->at, " \t\n\v\f\r");
    if (strncmp(cursor->at, word, strlen(word)) != 0)
        return false;
    cursor->at += strlen(word);
    return true;
}

/** Fails, with the next characters of the header: as many as are printable, at most 24. */
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

/** Takes a string in single or double quotes without escapes. */
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

static bool take_descr(struct cursor *cursor, struct npy_array *array)
{
    const char *text;
    int length;

    if (!take_string(cursor, "a plain type such as '<f4'", &text, &length))
        return false;
    for (int dtype = 0; dtype < NUM_DTYPES; dtype++) {
        array->dtype = (enum dtype)dtype;
        if (descr_names[dtype] && is_text(text, length, descr_names[dtype]))
            return true;
    }
    return error_set(cursor->error, "%s: %s '%.*s'; only " ALLOWED_TYPES, cursor->path,
                     length > 0 && text[0] == '>' ? "big-endian type" : "type", length < 16 ? length : 16, text);
}

static bool take_fortran_order(struct cursor *cursor)
{
    if (take(cursor, "True"))
        return error_set(cursor->error, "%s: Fortran order; only C order is read", cursor->path);
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

static bool take_shape(struct cursor *cursor, struct npy_array *array)
{
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
    /* Without its comma (3) is a number to Python; () is a tuple all the same. */
    return array->ndim != 1 || comma ||
           error_set(cursor->error, "%s: the shape is a number, not a tuple", cursor->path);
}

/** Takes one key and its value. `seen` has a bit for each key taken before. */
static bool take_entry(struct cursor *cursor, struct npy_array *array, unsigned int *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    const char *text;
    int length, key = 0;

    if (!take_string(cursor, "a key in quotes", &text, &length))
        return false;
    while (key < 3 && !is_text(text, length, keys[key]))
        key++;
    if (key == 3)
        return error_set(cursor->error,
                         "%s: the header has a key '%.*s'; it has descr, fortran_order and shape, no other",
                         cursor->path, length < 32 ? length : 32, text);
    if (*seen >> key & 1)
        return error_set(cursor->error, "%s: the header has the key '%s' twice", cursor->path, keys[key]);
    *seen |= 1u << key;
    if (!take(cursor, ":"))
        return fail_expected(cursor, "a colon");
    return key == 0 ? take_descr(cursor, array) : key == 1 ? take_fortran_order(cursor) : take_shape(cursor, array);
}

static bool parse_header(struct cursor *cursor, struct npy_array *array)
{
    unsigned int seen = 0;
    bool comma = true;

    if (!take(cursor, "{"))
        return fail_expected(cursor, "a dictionary");
    while (!take(cursor, "}")) {
        if (!comma)
            return fail_expected(cursor, "a comma or a brace");
        if (!take_entry(cursor, array, &seen))
            return false;
        comma = take(cursor, ",");
    }
    take(cursor, "");
    if (cursor->at < cursor->end)
        return fail_expected(cursor, "nothing but white space");
    if (seen != 7)
        return error_set(cursor->error, "%s: the header has no '%s'", cursor->path,
                         !(seen & 1)   ? "descr"
                         : !(seen & 2) ? "fortran_order"
                                       : "shape");
    return true;
}

/** The data's bytes, or -1 if the dimensions that are not 0 make too many. */
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

/* --- reading ---------------------------------------------------------------------------------------------------------- */

/** Reads exactly `bytes`. */
static bool read_bytes(int file, const char *path, void *buffer, size_t bytes, struct error *error)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = read(file, (char *)buffer + done, bytes - done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(error, "%s: %s", path, strerror(errno));
        if (got == 0)
            return error_set(error, "%s: it became shorter while it was read", path);
        done += (size_t)got;
    }
    return true;
}

static bool read_header(int file, const char *path, int64_t file_bytes, struct npy_array *array, int64_t *data_at,
                        struct error *error)
{
    unsigned char prefix[PREFIX_BYTES];
    char header[65536 + 1];

    if (file_bytes < PREFIX_BYTES)
        return error_set(error, "%s: %" PRId64 " bytes; not a .npy file", path, file_bytes);
    if (!read_bytes(file, path, prefix, sizeof prefix, error))
        return false;
    if (memcmp(prefix, magic, sizeof magic) != 0)
        return error_set(error, "%s: it does not start as a .npy file does", path);
    if (prefix[6] != 1 || prefix[7] != 0)
        return error_set(error, "%s: .npy version %d.%d; only version 1.0 is read", path, prefix[6], prefix[7]);

    const size_t length = prefix[8] | (size_t)prefix[9] << 8;
    *data_at = PREFIX_BYTES + (int64_t)length;
    if (*data_at > file_bytes)
        return error_set(error, "%s: the header should have %zu bytes, the file has %" PRId64 " for it", path, length,
                         file_bytes - PREFIX_BYTES);
    if (!read_bytes(file, path, header, length, error))
        return false;
    header[length] = '\0';
    struct cursor cursor = {path, header, header + length, error};
    return parse_header(&cursor, array);
}

static bool read_array(int file, const char *path, struct npy_array *array, struct error *error)
{
    struct stat status;
    int64_t data_at;

    if (fstat(file, &status) != 0)
        return error_set(error, "%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%s: %s; a regular file is read", path,
                         S_ISDIR(status.st_mode) ? "a directory" : "a device, a pipe or a socket");
    if (!read_header(file, path, status.st_size, array, &data_at, error))
        return false;

    const int64_t bytes = data_bytes(array), left = status.st_size - data_at;
    if (bytes < 0)
        return error_set(error, "%s: its shape is more bytes than 63 bits count", path);
    if (bytes != left)
        return error_set(error, "%s: its shape needs %" PRId64 " bytes of data, the file has %" PRId64, path, bytes,
                         left);
    return memory_allocate(&array->data, (size_t)bytes, error) &&
           read_bytes(file, path, array->data, (size_t)bytes, error);
}

bool npy_read(const char *path, struct npy_array *array, struct error *error)
{
    /* A pipe that nobody writes to must not make open() wait. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    memset(array, 0, sizeof *array);
    if (file < 0)
        return error_set(error, "%s: %s", path, strerror(errno));
    const bool good = read_array(file, path, array, error);
    close(file);
    if (!good)
        npy_free(array);
    return good;
}

/** "2 are", "1 or 2 are": how many dimensions are needed. */
static const char *needed_dims(int least, int most, char text[32])
{
    if (least == most)
        snprintf(text, 32, "%d %s", least, least == 1 ? "is" : "are");
    else
        snprintf(text, 32, "%d or %d are", least, most);
    return text;
}

bool npy_read_kind(const char *path, enum npy_kind kind, int least_dims, int most_dims, struct npy_array *array,
                   struct error *error)
{
    char needed[32];

    if (!npy_read(path, array, error))
        return false;

    const bool floats = array->dtype == DTYPE_F16 || array->dtype == DTYPE_F32;

    if (floats && kind == NPY_INTEGERS)
        error_set(error, "%s: holds floats; i4 or i8 is needed", path);
    else if (!floats && kind == NPY_FLOATS)
        error_set(error, "%s: holds integers; f2 or f4 is needed", path);
    else if (array->ndim < least_dims || array->ndim > most_dims)
        error_set(error, "%s: has %d dimension%s; %s needed", path, array->ndim, array->ndim == 1 ? "" : "s",
                  needed_dims(least_dims, most_dims, needed));
    else
        return true;
    npy_free(array);
    return false;
}

/* --- writing ---------------------------------------------------------------------------------------------------------- */

/** Fills in what stands before the data: a multiple of ALIGNMENT bytes, which it returns. */
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

bool npy_write(const char *path, const struct npy_array *array, struct error *error)
{
    char header[4 * ALIGNMENT];
    struct whole_file file;

    if (array->ndim < 0 || array->ndim > NPY_MAX_DIMS || !descr_names[array->dtype] || data_bytes(array) < 0)
        return error_set(error, "%s: an array of this shape cannot be written", path);
    if (!whole_file_open(&file, "", path, error))
        return false;
    fwrite(header, 1, make_header(array, header), file.stream);
    fwrite(array->data, 1, (size_t)data_bytes(array), file.stream);
    return whole_file_keep(&file, "", error); /* which sees whether all was written */
}
