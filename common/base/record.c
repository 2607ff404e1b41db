#include "base/record.h"

#include "base/standard_output.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const record_format_names[] = {"table", "json", "csv", NULL};

struct record_field {
    enum field_type type;
    unsigned format_mask;
    int width; /* width of a column, as passed to record_add_table_cell() */
    const char *name;
    char *text;
    struct record record; /* the fields of an object, or the records of a list */
    struct record_field *next;
};

/* --- making ------------------------------------------------------------------------------------------------------- */

/** Adds a field without a value. Returns NULL if out of memory. */
static struct record_field *add_field(struct record *record, enum field_type type, unsigned format_mask,
                                      const char *name)
{
    struct record_field *const field = record ? malloc(sizeof *field) : NULL;

    if (!field) {
        if (record)
            record->allocation_failed = true;
        return NULL;
    }
    *field = (struct record_field){.type = type, .format_mask = format_mask, .name = name};
    *(record->first_field ? &record->last_field->next : &record->first_field) = field;
    return record->last_field = field;
}

void record_add_field(struct record *record, enum field_type type, unsigned format_mask, int width, const char *name,
                      const char *format, ...)
{
    struct record_field *const field = add_field(record, type, format_mask, name);
    va_list arguments;

    if (!field)
        return;
    field->width = width > 0 && width < (int)strlen(name) ? (int)strlen(name) : width;
    va_start(arguments, format);
    if (vasprintf(&field->text, format, arguments) < 0) {
        field->text = NULL;
        record->allocation_failed = true;
    }
    va_end(arguments);
}

struct record *record_add_object(struct record *record, unsigned format_mask, const char *name)
{
    struct record_field *const field = add_field(record, FIELD_OBJECT, format_mask, name);

    return field ? &field->record : NULL;
}

struct record *record_add_list(struct record *record, unsigned format_mask, const char *name)
{
    struct record_field *const field = add_field(record, FIELD_LIST, format_mask, name);

    return field ? &field->record : NULL;
}

struct record *record_list_add_row(struct record *list, unsigned format_mask)
{
    return record_add_object(list, format_mask, NULL);
}

void record_free(struct record *record)
{
    for (struct record_field *field = record->first_field, *next; field; field = next) {
        next = field->next;
        record_free(&field->record);
        free(field->text);
        free(field);
    }
    *record = (struct record){0};
}

static bool is_complete(const struct record *record)
{
    bool complete = !record->allocation_failed;

    for (const struct record_field *field = record->first_field; complete && field; field = field->next)
        complete = is_complete(&field->record);
    return complete;
}

/** Returns the first field that appears in the format, starting at `field`, or NULL. To continue, pass field->next. */
static const struct record_field *seen_in(unsigned format, const struct record_field *field)
{
    while (field && !(field->format_mask & format))
        field = field->next;
    return field;
}

/** Writes a list: a header line with the field names of the first record, then one line per record. */
static void write_rows(const struct record *list, void (*write_row)(const struct record *, bool, FILE *), FILE *stream)
{
    for (const struct record_field *row = list->first_field; row; row = row->next) {
        if (row == list->first_field)
            write_row(&row->record, true, stream);
        write_row(&row->record, false, stream);
    }
}

/* --- table -------------------------------------------------------------------------------------------------------- */

/** Writes one line of a list, without blanks at its end: the column headings or a record's values. */
static void write_columns(const struct record *row, bool headings, FILE *stream)
{
    int blanks = 0; /* before the next text */

    for (const struct record_field *field = row->first_field; (field = seen_in(IN_TABLE, field)); field = field->next) {
        const char *const text = headings ? field->name : field->text;
        const int padding = abs(field->width) > (int)strlen(text) ? abs(field->width) - (int)strlen(text) : 0;

        blanks += field->width > 0 ? padding : 0;
        if (text[0]) {
            fprintf(stream, "%*s%s", blanks, "", text);
            blanks = 0;
        }
        blanks += 1 + (field->width < 0 ? padding : 0);
    }
    putc('\n', stream);
}

static void write_table(const struct record *record, FILE *stream)
{
    for (const struct record_field *field = record->first_field; (field = seen_in(IN_TABLE, field));
         field = field->next)
        if (field->type == FIELD_LIST)
            write_rows(&field->record, write_columns, stream);
        else if (field->name)
            fprintf(stream, "%-10s %s\n", field->name, field->text);
        else
            fprintf(stream, "%s\n", field->text);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

/** Returns the length in bytes of the UTF-8 character at `text`, or 0 if it is not valid. */
static size_t utf8_length(const char *text)
{
    /* The ranges of the first two bytes exclude overlong encodings, surrogates and characters above U+10FFFF. */
    static const struct {
        unsigned char first, last, second_first, second_last, length;
    } kinds[] = {{0x01, 0x7f, 0, 0xff, 1},    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    const unsigned char *const bytes = (const unsigned char *)text;
    size_t kind = 0, length = 2;

    while (kind < sizeof kinds / sizeof *kinds && (bytes[0] < kinds[kind].first || bytes[0] > kinds[kind].last))
        kind++;
    if (kind == sizeof kinds / sizeof *kinds || bytes[1] < kinds[kind].second_first ||
        bytes[1] > kinds[kind].second_last)
        return 0;
    while (length < kinds[kind].length && bytes[length] >> 6 == 2)
        length++;
    return length >= kinds[kind].length ? kinds[kind].length : 0;
}

/** Writes `text` as a JSON string; invalid UTF-8 becomes U+FFFD. */
static void write_json_string(const char *text, FILE *stream)
{
    putc('"', stream);
    for (size_t length; *text; text += length ? length : 1) {
        length = utf8_length(text);
        if (length == 0)
            fputs("\\ufffd", stream);
        else if (*text == '"' || *text == '\\')
            fprintf(stream, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(stream, "\\u%04x", *text);
        else
            fwrite(text, 1, length, stream);
    }
    putc('"', stream);
}

/**
 * Writes the fields, with `first` before the first one and `next` before each of the others. Each record of a list is
 * on a line of its own.
 */
static void write_json(const struct record *record, const char *first, const char *next, FILE *stream)
{
    for (const struct record_field *field = record->first_field; (field = seen_in(IN_JSON, field));
         field = field->next) {
        fputs(first, stream);
        first = next;
        if (field->name)
            fprintf(stream, "\"%s\": ", field->name);
        if (field->type == FIELD_TEXT) {
            write_json_string(field->text, stream);
        } else if (field->type == FIELD_NUMBER) {
            fputs(field->text, stream);
        } else if (field->type == FIELD_OBJECT) {
            putc('{', stream);
            write_json(&field->record, "", ", ", stream);
            putc('}', stream);
        } else {
            putc('[', stream);
            write_json(&field->record, "\n    ", ",\n    ", stream);
            fputs(field->record.first_field ? "\n  ]" : "]", stream);
        }
    }
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

static void write_csv_text(const char *text, FILE *stream)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stream);
        return;
    }
    putc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

/** Writes the names or the values of a record and of its nested records, separated by commas. */
static void write_csv_fields(const struct record *record, bool names, const char **before, FILE *stream)
{
    for (const struct record_field *field = record->first_field; (field = seen_in(IN_CSV, field)); field = field->next)
        if (field->type == FIELD_OBJECT) {
            write_csv_fields(&field->record, names, before, stream);
        } else {
            fputs(*before, stream);
            *before = ",";
            write_csv_text(names ? field->name : field->text, stream);
        }
}

static void write_csv_row(const struct record *record, bool names, FILE *stream)
{
    write_csv_fields(record, names, &(const char *){""}, stream);
    putc('\n', stream);
}

/** Writes the rows of the record's list or, if it has none, the record as a single row. */
static void write_csv(const struct record *record, FILE *stream)
{
    const struct record_field *field = seen_in(IN_CSV, record->first_field);

    while (field && field->type != FIELD_LIST)
        field = seen_in(IN_CSV, field->next);
    if (field) {
        write_rows(&field->record, write_csv_row, stream);
    } else {
        write_csv_row(record, true, stream);
        write_csv_row(record, false, stream);
    }
}

/* --- any format --------------------------------------------------------------------------------------------------- */

bool record_write(const struct record *record, enum record_format format, FILE *stream, struct error *error)
{
    if (!is_complete(record))
        return error_set_as(error, RUN_CANNOT_RUN, "out of memory for the report");
    if (format == RECORD_JSON) {
        fputs("{\n  ", stream);
        write_json(record, "", ",\n  ", stream);
        fputs("\n}\n", stream);
    } else if (format == RECORD_CSV) {
        write_csv(record, stream);
    } else {
        write_table(record, stream);
    }
    return output_flush(stream, error);
}

const char *format_thousands(uint64_t value, char text[32])
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *out = text;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

const char *format_thousands_two_decimals(double value, char text[40])
{
    char fixed[32], digits[32];

    snprintf(fixed, sizeof fixed, "%.2f", value);
    snprintf(text, 40, "%s%s", format_thousands(strtoull(fixed, NULL, 10), digits), strchr(fixed, '.'));
    return text;
}

const char *format_count(int64_t count, const char *noun, char text[64])
{
    char digits[32];

    snprintf(text, 64, "%s %s%s", format_thousands((uint64_t)count, digits), noun, count == 1 ? "" : "s");
    return text;
}
