/**
 * @file base/record.h
 * @brief A report: a record of named fields that can be written for readers (as a table) or for programs (JSON, CSV).
 *
 * Each field has a set of formats in which it appears. If a field could not be allocated, record_write() reports this.
 */
#ifndef RECORD_H
#define RECORD_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum record_format { RECORD_TABLE, RECORD_JSON, RECORD_CSV };

/** The names of the formats, in enum order, NULL-terminated. */
extern const char *const record_format_names[];

/** Formats in which a field appears. */
enum { IN_TABLE = 1 << RECORD_TABLE, IN_JSON = 1 << RECORD_JSON, IN_CSV = 1 << RECORD_CSV, IN_DATA = IN_JSON | IN_CSV };

/** A record of named fields, or a list of records without names. A zero-initialised record is empty. */
struct record {
    struct record_field *first_field, *last_field;
    bool allocation_failed; /**< a field could not be allocated */
};

enum field_type { FIELD_TEXT, FIELD_NUMBER, FIELD_OBJECT, FIELD_LIST };

/**
 * Adds a field with a formatted value; `name` must outlive the record. A number is written unquoted. In a table, the
 * field is one line, which begins with `name` unless `name` is NULL. Does nothing if `record` is NULL.
 */
#define record_add_text(record, format_mask, name, ...) \
    record_add_field(record, FIELD_TEXT, format_mask, 0, name, __VA_ARGS__)
#define record_add_number(record, format_mask, name, ...) \
    record_add_field(record, FIELD_NUMBER, format_mask, 0, name, __VA_ARGS__)

/**
 * Adds a value to a record in a list, with the heading of its column, only in a table. The value is right-aligned in a
 * column of `width` characters, left-aligned if the width is negative, and not padded if the width is 0.
 */
#define record_add_table_cell(record, width, heading, ...) \
    record_add_field(record, FIELD_TEXT, IN_TABLE, width, heading, __VA_ARGS__)

__attribute__((format(printf, 6, 7))) void record_add_field(struct record *record, enum field_type type,
                                                            unsigned format_mask, int width, const char *name,
                                                            const char *format, ...);

/** Adds a nested record. Returns the new record, or NULL if out of memory. */
struct record *record_add_object(struct record *record, unsigned format_mask, const char *name);

/**
 * Adds a list of records. In CSV, each of its records is a line of the file, and no other fields of `record` are
 * written; in a table, each is a line below the column headings.
 */
struct record *record_add_list(struct record *record, unsigned format_mask, const char *name);

/** Adds a record to a list. Returns the new record, or NULL if out of memory. */
struct record *record_list_add_row(struct record *list, unsigned format_mask);

/** Writes the record. Returns false if a field could not be allocated or if writing to the stream fails. */
bool record_write(const struct record *record, enum record_format format, FILE *stream, struct error *error);

/** Frees all fields. */
void record_free(struct record *record);

/** Writes an integer with thousands separators: 16384 as "16,384". Returns `text`. */
const char *format_thousands(uint64_t value, char text[32]);

/** Writes a non-negative number with thousands separators and two decimals: "1,825,688.85". Returns `text`. */
const char *format_thousands_two_decimals(double value, char text[40]);

/** Writes a count with its noun: "1,200 experts", "1 expert". Returns `text`. */
const char *format_count(int64_t count, const char *noun, char text[64]);

#endif
