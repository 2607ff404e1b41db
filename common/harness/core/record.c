#include "harness/core/record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const record_formats[] = {"table", "json", "csv", NULL};

enum field_type { FIELD_TEXT, FIELD_NUMBER, FIELD_OBJECT, FIELD_LIST };

struct field {
    enum field_type type;
    unsigned formats;
    int width; /* of a column */
    const char *name;
    char *text;
    struct record *record;
};

/* --- making ------------------------------------------------------------------------------------------------------- */

/** Room for one more field, all zero but for its type, formats and name. NULL when memory is short. */
static struct field *add_field(struct record *record, enum field_type type, unsigned formats, const char *name)
{
    if (!record)
        return NULL;
    if (record->count == record->room) {
        const size_t room = record->room ? 2 * record->room : 16;
        struct field *const fields = realloc(record->fields, room * sizeof *fields);

        if (!fields) {
            record->incomplete = true;
            return NULL;
        }
        record->fields = fields;
        record->room = room;
    }
    record->fields[record->count] = (struct field){.type = type, .formats = formats, .name = name};
    return &record->fields[record->count++];
}

static void set_text(struct record *record, struct field *field, const char *format, va_list arguments)
{
    if (field && vasprintf(&field->text, format, arguments) < 0) {
        field->text = NULL;
        record->incomplete = true;
    }
}

void record_text(struct record *record, unsigned formats, const char *name, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set_text(record, add_field(record, FIELD_TEXT, formats, name), format, arguments);
    va_end(arguments);
}

void record_number(struct record *record, unsigned formats, const char *name, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    set_text(record, add_field(record, FIELD_NUMBER, formats, name), format, arguments);
    va_end(arguments);
}

void record_column(struct record *record, int width, const char *heading, const char *format, ...)
{
    struct field *const field = add_field(record, FIELD_TEXT, IN_TABLE, heading);
    va_list arguments;

    va_start(arguments, format);
    set_text(record, field, format, arguments);
    va_end(arguments);
    if (field)
        field->width = width;
}

static struct record *add_record(struct record *record, enum field_type type, unsigned formats, const char *name)
{
    struct field *const field = add_field(record, type, formats, name);

    if (field && !(field->record = calloc(1, sizeof *field->record)))
        record->incomplete = true;
    return field ? field->record : NULL;
}

struct record *record_object(struct record *record, unsigned formats, const char *name)
{
    return add_record(record, FIELD_OBJECT, formats, name);
}

struct record *record_list(struct record *record, unsigned formats, const char *name)
{
    return add_record(record, FIELD_LIST, formats, name);
}

void record_free(struct record *record)
{
    for (size_t i = 0; i < record->count; i++) {
        free(record->fields[i].text);
        if (record->fields[i].record)
            record_free(record->fields[i].record);
        free(record->fields[i].record);
    }
    free(record->fields);
    *record = (struct record){0};
}

static bool is_complete(const struct record *record)
{
    bool complete = !record->incomplete;

    for (size_t i = 0; complete && i < record->count; i++)
        complete = !record->fields[i].record || is_complete(record->fields[i].record);
    return complete;
}

/* --- table -------------------------------------------------------------------------------------------------------- */

/** A line of a list: the columns' headings, or what is in them. */
static void write_columns(const struct record *row, bool headings, FILE *stream)
{
    const char *before = "";

    for (size_t i = 0; i < row->count; i++) {
        const struct field *const field = &row->fields[i];

        if (!(field->formats & IN_TABLE))
            continue;
        fprintf(stream, "%s%*s", before, field->width, headings ? field->name : field->text);
        before = " ";
    }
    putc('\n', stream);
}

static void write_table(const struct record *record, FILE *stream)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct field *const field = &record->fields[i];

        if (!(field->formats & IN_TABLE))
            continue;
        if (field->type == FIELD_LIST) {
            for (size_t row = 0; row < field->record->count; row++) {
                if (row == 0)
                    write_columns(field->record->fields[row].record, true, stream);
                write_columns(field->record->fields[row].record, false, stream);
            }
        } else if (field->name) {
            fprintf(stream, "%-10s %s\n", field->name, field->text);
        } else {
            fprintf(stream, "%s\n", field->text);
        }
    }
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void write_json_string(const char *text, FILE *stream)
{
    putc('"', stream);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(stream, "\\%c", c);
        else if (c < 0x20)
            fprintf(stream, "\\u%04x", c);
        else
            putc(c, stream);
    }
    putc('"', stream);
}

/** Writes what comes before each field, the fields, and what comes after them; a list begins a line for each. */
static void write_json(const struct record *record, const char *first, const char *next, FILE *stream)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct field *const field = &record->fields[i];

        if (!(field->formats & IN_JSON))
            continue;
        fputs(first, stream);
        first = next;
        if (field->name)
            fprintf(stream, "\"%s\": ", field->name);
        switch (field->type) {
        case FIELD_TEXT:
            write_json_string(field->text, stream);
            break;
        case FIELD_NUMBER:
            fputs(field->text, stream);
            break;
        case FIELD_OBJECT:
            putc('{', stream);
            write_json(field->record, "", ", ", stream);
            putc('}', stream);
            break;
        default:
            putc('[', stream);
            write_json(field->record, "\n    ", ",\n    ", stream);
            fputs(field->record->count ? "\n  ]" : "]", stream);
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

/** Writes the names or the values of a record and of those inside it, a comma before each but the first. */
static void write_csv_line(const struct record *record, bool names, const char **before, FILE *stream)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct field *const field = &record->fields[i];

        if (!(field->formats & IN_CSV))
            continue;
        if (field->record) {
            write_csv_line(field->record, names, before, stream);
            continue;
        }
        fputs(*before, stream);
        *before = ",";
        write_csv_text(names ? field->name : field->text, stream);
    }
}

static void write_csv_row(const struct record *record, bool names, FILE *stream)
{
    write_csv_line(record, names, &(const char *){""}, stream);
    putc('\n', stream);
}

static void write_csv(const struct record *record, FILE *stream)
{
    for (size_t i = 0; i < record->count; i++)
        if (record->fields[i].type == FIELD_LIST && record->fields[i].formats & IN_CSV) {
            const struct record *const list = record->fields[i].record;

            for (size_t row = 0; row < list->count; row++) {
                if (row == 0)
                    write_csv_row(list->fields[row].record, true, stream);
                write_csv_row(list->fields[row].record, false, stream);
            }
            return;
        }
    write_csv_row(record, true, stream);
    write_csv_row(record, false, stream);
}

/* --- any ---------------------------------------------------------------------------------------------------------- */

bool record_write(const struct record *record, enum record_format format, FILE *stream, struct error *error)
{
    if (!is_complete(record))
        return error_set_as(error, RUN_NO_DEVICE, "out of memory for the report");
    if (format == RECORD_JSON) {
        fputs("{\n  ", stream);
        write_json(record, "", ",\n  ", stream);
        fputs("\n}\n", stream);
    } else if (format == RECORD_CSV) {
        write_csv(record, stream);
    } else {
        write_table(record, stream);
    }
    return (fflush(stream) == 0 && !ferror(stream)) || error_set(error, "standard output: cannot be written");
}

const char *grouped_digits(uint64_t value, char text[32])
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
