/** @file records.h  What a graded program reported, line by line (see verdict.h), and whether it can be believed. */
#ifndef RECORDS_H
#define RECORDS_H

#include "learn/verdict.h"

/** The nonce as the program writes it: hexadecimal digits. */
enum { NONCE_SIZE = 33 };

/** How far the records go. */
struct records {
    bool foreign;                   /**< there is a line that is not the grader's, or not where it belongs */
    bool done;                      /**< the last record came, and nothing after it */
    char trying[VERDICT_NAME_SIZE]; /**< the case that was begun and not ended; "" if there is none */
};

/**
 * Reads the lines into verdict->planned, cases and measures, up to the first that does not belong. A last line without an
 * end is none.
 */
void records_read(const char *text, size_t size, const char *nonce, struct verdict *verdict, struct records *records);

#endif
