#include "json.h"

#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Where the reader is. The text ends with a NUL that is not part of it. */
struct cursor {
    const char *path;
    char *at, *end;
    struct json_file *file;
    int line, depth;
    struct error *error;
};

void json_free(struct json_file *file)
{
    free(file->values);
    free(file->text);
    memset(file, 0, sizeof *file);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static bool fail(struct cursor *cursor, const char *what)
{
    return error_set(cursor->error, "%s:%d: %s", cursor->path, cursor->line, what);
}

static bool fail_expected(struct cursor *cursor, const char *expected)
{
    char what[96];

    if (cursor->at == cursor->end)
        snprintf(what, sizeof what, "the file ends where %s should be", expected);
    else if (isprint((unsigned char)*cursor->at))
        snprintf(what, sizeof what, "'%c' where %s should be", *cursor->at, expected);
    else
        snprintf(what, sizeof what, "an unprintable character where %s should be", expected);
    return fail(cursor, what);
}

/* --- strings ------------------------------------------------------------------------------------------------------ */

static void skip_space(struct cursor *cursor)
{
    for (; cursor->at < cursor->end && *cursor->at && strchr(" \t\r\n", *cursor->at); cursor->at++)
        cursor->line += *cursor->at == '\n';
}

/** Takes `character`, after white space, if it comes next. */
static bool take(struct cursor *cursor, char character)
{
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != character)
        return false;
    cursor->at++;
    return true;
}

/** Takes the four digits of a \u escape; -1 if they are not there. */
static long take_hex(struct cursor *cursor)
{
    char digits[5] = "";

    for (int i = 0; i < 4; i++, cursor->at++) {
        if (cursor->at == cursor->end || !isxdigit((unsigned char)*cursor->at))
            return -1;
        digits[i] = *cursor->at;
    }
    return strtol(digits, NULL, 16);
}

/** Writes a character as UTF-8, which is never longer than its escape. Returns where the next one goes. */
static char *put_utf8(char *out, long code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *out++ = (char)(0xe0 | code >> 12);
        } else {
            *out++ = (char)(0xf0 | code >> 18);
            *out++ = (char)(0x80 | (code >> 12 & 63));
        }
        *out++ = (char)(0x80 | (code >> 6 & 63));
    }
    *out++ = (char)(0x80 | (code & 63));
    return out;
}

/** Takes what follows \u. A character beyond 16 bits comes as two escapes, a high surrogate and a low one. */
static bool take_unicode(struct cursor *cursor, char **out)
{
    long code = take_hex(cursor);

    if (code >= 0xd800 && code < 0xdc00 && cursor->end - cursor->at >= 2 && memcmp(cursor->at, "\\u", 2) == 0) {
        cursor->at += 2;
        const long low = take_hex(cursor);
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
    }
    if (code <= 0 || (code >= 0xd800 && code < 0xe000))
        return fail(cursor, "a \\u escape that is no character");
    *out = put_utf8(*out, code);
    return true;
}

static bool take_escape(struct cursor *cursor, char **out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char name = cursor->at < cursor->end ? *cursor->at : '\0';
    const char *known = name ? strchr(names, name) : NULL;

    if (name == 'u') {
        cursor->at++;
        return take_unicode(cursor, out);
    }
    if (!known)
        return fail_expected(cursor, "an escape such as \\n");
    cursor->at++;
    *(*out)++ = values[known - names];
    return true;
}

/** Takes a string. It is written over its own text, which is at least as long, and ends with a NUL. */
static bool take_string(struct cursor *cursor, const char *expected, const char **string)
{
    if (!take(cursor, '"'))
        return fail_expected(cursor, expected);

    char *out = cursor->at;
    *string = out;
    while (cursor->at < cursor->end && *cursor->at != '"') {
        const char character = *cursor->at;

        if ((unsigned char)character < ' ')
            return fail(cursor, "a control character in a string");
        cursor->at++;
        if (character != '\\')
            *out++ = character;
        else if (!take_escape(cursor, &out))
            return false;
    }
    if (cursor->at == cursor->end)
        return fail(cursor, "the file ends inside a string");
    cursor->at++;
    *out = '\0';
    return true;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool take_value(struct cursor *cursor, struct json *value);

static bool take_digits(struct cursor *cursor)
{
    const char *const first = cursor->at;

    while (cursor->at < cursor->end && isdigit((unsigned char)*cursor->at))
        cursor->at++;
    return cursor->at > first;
}

/** Takes one of `characters` if it comes next, with no white space before it. */
static bool take_any(struct cursor *cursor, const char *characters)
{
    if (cursor->at == cursor->end || !*cursor->at || !strchr(characters, *cursor->at))
        return false;
    cursor->at++;
    return true;
}

static bool take_number(struct cursor *cursor, struct json *value)
{
    char *const first = cursor->at;

    value->type = JSON_NUMBER;
    take_any(cursor, "-");
    if (!take_any(cursor, "0") && !take_digits(cursor))
        return fail_expected(cursor, "a value");
    if (take_any(cursor, ".") && !take_digits(cursor))
        return fail_expected(cursor, "a digit");
    if (take_any(cursor, "eE")) {
        take_any(cursor, "+-");
        if (!take_digits(cursor))
            return fail_expected(cursor, "a digit");
    }
    /* strtod() stops where the grammar above did, or at a second digit after a leading 0. */
    value->number = strtod(first, NULL);
    return isfinite(value->number) || fail(cursor, "a number too large");
}

/** Takes one of the three words. */
static bool take_word(struct cursor *cursor, struct json *value)
{
    static const struct {
        const char *text;
        enum json_type type;
        bool boolean;
    } words[] = {{"null", JSON_NULL, false}, {"false", JSON_BOOLEAN, false}, {"true", JSON_BOOLEAN, true}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].text);

        if ((size_t)(cursor->end - cursor->at) >= length && memcmp(cursor->at, words[i].text, length) == 0) {
            cursor->at += length;
            value->type = words[i].type;
            value->boolean = words[i].boolean;
            return true;
        }
    }
    return fail_expected(cursor, "a value");
}

/**
 * How many values so many bytes can hold, up to the first mistake: each has a byte of its own, and behind it a comma or
 * a closing bracket that no other value has there, but for those still open at the mistake and the one it is in.
 */
static size_t most_values(size_t bytes)
{
    return bytes / 2 + JSON_MAX_DEPTH + 2;
}

/** A new value. There is room: see most_values(). */
static struct json *new_value(struct cursor *cursor)
{
    struct json *const value = &cursor->file->values[cursor->file->num_values++];

    memset(value, 0, sizeof *value);
    return value;
}

static bool take_name(struct cursor *cursor, const struct json *object, const char **name)
{
    if (!take_string(cursor, "a name in quotes", name))
        return false;
    if (json_member(object, *name))
        return fail(cursor, "a name that the object has already");
    return take(cursor, ':') || fail_expected(cursor, "a colon");
}

/** Takes what is between brackets or braces. */
static bool take_members(struct cursor *cursor, struct json *parent, char close)
{
    struct json **link = &parent->first;
    const char *name = NULL;

    if (take(cursor, close))
        return true;
    do {
        if (parent->type == JSON_OBJECT && !take_name(cursor, parent, &name))
            return false;
        struct json *const member = new_value(cursor);
        if (!take_value(cursor, member))
            return false;
        member->name = name;
        *link = member;
        link = &member->next;
    } while (take(cursor, ','));
    return take(cursor, close) || fail_expected(cursor, close == ']' ? "a comma or a bracket" : "a comma or a brace");
}

static bool take_value(struct cursor *cursor, struct json *value)
{
    skip_space(cursor);
    const char first = cursor->at < cursor->end ? *cursor->at : '\0';

    if (first == '{' || first == '[') {
        value->type = first == '{' ? JSON_OBJECT : JSON_ARRAY;
        if (++cursor->depth > JSON_MAX_DEPTH)
            return fail(cursor, "values too deep inside one another");
        cursor->at++;
        if (!take_members(cursor, value, first == '{' ? '}' : ']'))
            return false;
        cursor->depth--;
        return true;
    }
    if (first == '"') {
        value->type = JSON_STRING;
        return take_string(cursor, "a string", &value->string);
    }
    return first == '-' || isdigit((unsigned char)first) ? take_number(cursor, value) : take_word(cursor, value);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/** Reads the whole file; `*size` counts its bytes, behind which a NUL is put. */
static bool read_text(int file, const char *path, char **text, size_t *size, struct error *error)
{
    struct stat status;
    void *memory;

    if (fstat(file, &status) != 0)
        return error_set(error, "%s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%s: it is not a regular file", path);
    if (status.st_size > JSON_MAX_BYTES)
        return error_set(error, "%s: more than %d bytes", path, JSON_MAX_BYTES);
    if (!memory_allocate(&memory, (size_t)status.st_size + 1, error))
        return false;
    *text = memory;
    for (*size = 0; *size < (size_t)status.st_size;) {
        const ssize_t got = read(file, *text + *size, (size_t)status.st_size - *size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(error, "%s: %s", path, strerror(errno));
        if (got == 0)
            return error_set(error, "%s: it became shorter while it was read", path);
        *size += (size_t)got;
    }
    (*text)[*size] = '\0';
    return true;
}

static bool parse(const char *path, struct json_file *file, size_t size, struct error *error)
{
    struct cursor cursor = {path, file->text, file->text + size, file, 1, 0, error};
    void *memory;

    if (!memory_allocate(&memory, most_values(size) * sizeof *file->values, error))
        return false;
    file->values = memory;
    if (!take_value(&cursor, new_value(&cursor)))
        return false;
    skip_space(&cursor);
    return cursor.at == cursor.end || fail_expected(&cursor, "the end of the file");
}

bool json_read(const char *path, struct json_file *file, struct error *error)
{
    /* A pipe that nobody writes to must not make open() wait. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t size = 0;

    memset(file, 0, sizeof *file);
    if (descriptor < 0)
        return error_set(error, "%s: %s", path, strerror(errno));
    const bool good = read_text(descriptor, path, &file->text, &size, error) && parse(path, file, size, error);
    close(descriptor);
    if (!good)
        json_free(file);
    return good;
}

/* --- looking things up -------------------------------------------------------------------------------------------- */

const struct json *json_member(const struct json *object, const char *name)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    for (const struct json *member = object->first; member; member = member->next)
        if (strcmp(member->name, name) == 0)
            return member;
    return NULL;
}

const char *json_string(const struct json *object, const char *name, const char *otherwise)
{
    const struct json *const member = json_member(object, name);

    return member && member->type == JSON_STRING ? member->string : otherwise;
}

double json_number(const struct json *object, const char *name, double otherwise)
{
    const struct json *const member = json_member(object, name);

    return member && member->type == JSON_NUMBER ? member->number : otherwise;
}
