/** @file report.h  Output for people (table) and programs (JSON, CSV). */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV };

/** The names of the formats, in the order of the enum. */
extern const char *const report_formats[3];

/** Writes a JSON string, quoted and escaped. */
void report_json_string(FILE *stream, const char *text);

/** Writes the beginning of a report as JSON: "{" and the members chapter, before ("" if it is NULL) and device. */
void report_json_head(FILE *stream, const char *chapter, const char *before, const char *device);

/** Writes one more member, a string, on a line of its own. */
void report_json_member(FILE *stream, const char *name, const char *text);

/** Writes a CSV field, quoted if it must be. */
void report_csv_field(FILE *stream, const char *text);

/** Writes a whole number with its thousands apart: 16 384 as "16,384". Returns `text`. */
const char *report_count(uint64_t value, char text[32]);

#endif
