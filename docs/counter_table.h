/** @file counter_table.h  Tables of counters, in Markdown: what the simulator and Nsight Compute counted. */
#ifndef COUNTER_TABLE_H
#define COUNTER_TABLE_H

#include "run_report.h"
#include "times.h"

enum { COUNTER_MAX_COLUMNS = 8, COUNTER_MAX_ROWS = 32, COUNTER_NAME_SIZE = 64, COUNTER_REMARK_SIZE = 640 };

/** What a table is of. */
struct counter_request {
    bool per_token;                 /**< else in all */
    char kernel[COUNTER_NAME_SIZE]; /**< of which the counts are; "" is all of a run's */
    char by[COUNTER_NAME_SIZE];     /**< the problem's number that heads each column; "" is the chapter's */
    struct {
        bool machine;                                           /**< counted on a GPU, else by the simulator */
        char run[COUNTER_NAME_SIZE], kernel[COUNTER_NAME_SIZE]; /**< "08_plain_tree", "align_kernel" or "" */
    } columns[COUNTER_MAX_COLUMNS];
    struct {
        const struct run_counter *counter;
        char remark[COUNTER_REMARK_SIZE];
    } rows[COUNTER_MAX_ROWS];
    int num_columns, num_rows;
};

/**
 * Reads what stands in a marker: "03 04"; "per token, 03 04"; "of align_kernel, 07 08"; "by num_experts, 08_e32 08_e128";
 * "06:fill_kernel 06:sort_kernel"; "03 machine:03". Cuts it up. Returns false with the reason.
 */
bool counter_table_parse(char *words, struct counter_request *request, struct error *error);

/** Adds a row: "shuffles" or "shuffles: remark". Returns false with the reason. */
bool counter_table_add_row(const char *text, struct counter_request *request, struct error *error);

/**
 * Writes the table, from RUNS/NN.json and from RESULTS/counters; below it, where the figures come from. What a GPU counted of an
 * older kernel is marked. Returns false if a file cannot be read or understood or does not have what is asked for.
 */
bool counter_table_write(FILE *out, const char *runs, const struct times_origin *origin,
                         const struct counter_request *request, struct error *error);

#endif
