/** @file json.h  Reads JSON files as RFC 8259 has them, and no others. */
#ifndef JSON_H
#define JSON_H

#include "base/error.h"

#include <stddef.h>

enum json_type { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/** A value. Those inside an array or an object are a list, in the file's order. */
struct json {
    enum json_type type;
    bool boolean;
    double number;
    const char *string;
    const char *name; /**< in an object; else NULL */
    struct json *first, *next;
};

enum { JSON_MAX_BYTES = 1 << 22, JSON_MAX_DEPTH = 32 };

/** A file's values; `values[0]` is the file's own. */
struct json_file {
    struct json *values;
    size_t num_values;
    char *text;
};

/**
 * Reads a file of at most JSON_MAX_BYTES. Names must be unique in their object; strings hold no NUL, and bytes
 * beyond ASCII are taken as they come; numbers are finite.
 * Returns false with one line that names the file, the line and what is wrong there, and leaves nothing to free.
 */
bool json_read(const char *path, struct json_file *file, struct error *error);

void json_free(struct json_file *file);

/** The member of that name, or NULL: it is missing, or `object` is NULL or no object. */
const struct json *json_member(const struct json *object, const char *name);

/** The member's text; `otherwise` where there is no such string. */
const char *json_string(const struct json *object, const char *name, const char *otherwise);

/** The member's value; `otherwise` where there is no such number. */
double json_number(const struct json *object, const char *name, double otherwise);

#endif
