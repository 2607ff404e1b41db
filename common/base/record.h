/**
 * @file base/record.h
 * @brief A report as a record of named fields, which is written for people (a table) or for programs (JSON, CSV).
 *
 * Each field says in which formats it appears. A field that did not fit in memory is missing, and the writer says so.
 */
#ifndef RECORD_H
#define RECORD_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum record_format { RECORD_TABLE, RECORD_JSON, RECORD_CSV };

/** The names of the formats, in the order of the enum; NULL ends them. */
extern const char *const record_formats[];

/** Where a field appears. */
enum { IN_TABLE = 1 << RECORD_TABLE, IN_JSON = 1 << RECORD_JSON, IN_CSV = 1 << RECORD_CSV, IN_DATA = IN_JSON | IN_CSV };

/** A record, or a list of records without names. All zero: empty. */
struct record {
    struct field *first, *last;
    bool incomplete; /**< memory ran out */
};

enum field_type { FIELD_TEXT, FIELD_NUMBER, FIELD_OBJECT, FIELD_LIST };

/**
 * Adds a field; `name` stays the caller's, the text is formatted. A number is written as its text is. In a table a
 * field is a line behind its name, or without one if that is NULL. Nothing happens where `record` is NULL.
 */
#define record_text(record, formats, name, ...)   record_add(record, FIELD_TEXT, formats, 0, name, __VA_ARGS__)
#define record_number(record, formats, name, ...) record_add(record, FIELD_NUMBER, formats, 0, name, __VA_ARGS__)

/**
 * Adds a column to a record of a list, as wide as its heading at least: right-aligned, or left-aligned if the width is
 * negative; a width of 0 is that of each text.
 */
#define record_column(record, width, heading, ...) record_add(record, FIELD_TEXT, IN_TABLE, width, heading, __VA_ARGS__)

__attribute__((format(printf, 6, 7))) void record_add(struct record *record, enum field_type type, unsigned formats,
                                                      int width, const char *name, const char *format, ...);

/** Adds a record inside a record or, without a name, to a list. NULL when memory is short. */
struct record *record_object(struct record *record, unsigned formats, const char *name);

/**
 * Adds a list of records. In CSV each is a line of the file, and the record has no other fields there; in a table each
 * is a line too, made of its columns, below their headings.
 */
struct record *record_list(struct record *record, unsigned formats, const char *name);

/** Writes it. False when memory was short or the stream cannot be written. */
bool record_write(const struct record *record, enum record_format format, FILE *stream, struct error *error);

/** Frees all that was added. */
void record_free(struct record *record);

/** Writes a whole number with its thousands apart: 16 384 as "16,384". Returns `text`. */
const char *grouped_digits(uint64_t value, char text[32]);

/** Writes how many there are: "1,200 experts", "1 expert". Returns `text`. */
const char *count_of(int64_t count, const char *what, char text[64]);

#endif
