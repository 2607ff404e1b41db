/** @file machine_counters.h  What Nsight Compute counted on a GPU, as tests/gpu/count_on_gpu.sh prints it. */
#ifndef MACHINE_COUNTERS_H
#define MACHINE_COUNTERS_H

#include "run_report.h"
#include "times.h"

enum { MACHINE_MAX_COUNTERS = 64, MACHINE_NAME_SIZE = 48, MACHINE_TEXT_SIZE = 128 };

/** One chapter's. */
struct machine_counters {
    char path[RUN_PATH_SIZE], chapter[TIMES_NAME_SIZE];
    char gpu[MACHINE_TEXT_SIZE], cuda[MACHINE_TEXT_SIZE], date[MACHINE_TEXT_SIZE], command[MACHINE_TEXT_SIZE];
    char hash[MACHINE_TEXT_SIZE];
    double num_tokens;
    bool old; /**< the kernel is not the one that was counted */
    struct {
        char name[MACHINE_NAME_SIZE];
        double count;
    } counters[MACHINE_MAX_COUNTERS];
    int num_counters;
};

/**
 * Reads RESULTS/counters/NN_name.txt of the chapter with that number, two digits. Returns false if there is no such chapter or
 * file, or it is not as the script writes it.
 */
bool machine_counters_read(const struct times_origin *origin, const char *number, struct machine_counters *machine,
                           struct error *error);

/** The counter's value. Returns false if the file does not have it, or a GPU counts it in another unit. */
bool machine_counters_count(const struct machine_counters *machine, const struct run_counter *counter, double *count,
                            struct error *error);

#endif
