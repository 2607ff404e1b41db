/** @file simt/backend_simt.c  The CPU simulator as a program's backend: counters and faults, but no times. */
#include "base/available_memory.h"
#include "harness/core/backend.h"
#include "simt/simt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool backend_open(struct backend_info *backend, const struct gpu_needs *needs, struct error *error)
{
    (void)needs, (void)error; /* the simulator can run all kernels of the course */
    memset(backend, 0, sizeof *backend);
    snprintf(backend->device_name, sizeof backend->device_name, "CPU simulator");
    backend->has_counters = true;
    return true;
}

size_t backend_available_device_memory_bytes(void)
{
    enum {
        WORD_BYTES = 4,
        BYTES_PER_WORD = 21
    }; /* the memory that the simulator uses for a word: the word itself, its shadow and its marks */

    return available_host_memory_bytes() / BYTES_PER_WORD * WORD_BYTES;
}

void backend_reset_counters(void)
{
    simt_counters_reset();
}

/** Copies the simulator's counters and their names. Returns the number of counters. */
static int name_counters(const struct simt_counters *c, struct counter counters[MAX_COUNTERS])
{
    const struct counter all[] = {
#define COUNTER(name, label, meaning) {#name, c->name},
#include "simt/counter_list.h"
    };

    _Static_assert(sizeof all / sizeof *all <= MAX_COUNTERS, "room for every counter");
    memcpy(counters, all, sizeof all);
    return sizeof all / sizeof *all;
}

enum {
#define COUNTER(name, label, meaning)
#define RARE_COUNTER(name, label, meaning) RARE_##name,
#include "simt/counter_list.h"
    NUM_RARE
};

static void read_requests_by_pc(struct run_counters *run)
{
    _Static_assert((int)MAX_REQUEST_PCS == (int)SIMT_MAX_SOURCE_LINE_REQUESTS, "room for every line");
    struct simt_source_line_requests lines[SIMT_MAX_SOURCE_LINE_REQUESTS];

    run->num_request_pcs = simt_read_requests_by_source_line(lines);
    for (int i = 0; i < run->num_request_pcs; i++)
        run->requests_by_pc[i] = (struct requests_at_pc){lines[i].pc, lines[i].kind, lines[i].num_requests};
}

void backend_read_counters(struct run_counters *run)
{
    _Static_assert((int)MAX_DIVERGENT_BRANCHES == (int)SIMT_MAX_DIVERGENT_BRANCHES, "room for every branch");
    struct simt_divergent_branch branches[SIMT_MAX_DIVERGENT_BRANCHES];
    struct simt_counters counters;
    const char *name;

    memset(run, 0, sizeof *run);
    simt_counters_read(&counters);
    run->global_atomic_requests = counters.global_atomic_requests;
    run->num_counters = name_counters(&counters, run->totals);
    run->num_counters_omitted_if_zero = NUM_RARE;
    run->num_divergent_branches = simt_read_divergent_branches(branches);
    for (int i = 0; i < run->num_divergent_branches; i++)
        run->divergent_branches[i] = (struct divergent_branch){branches[i].pc, branches[i].num_divergences};
    read_requests_by_pc(run);
    for (; run->num_kernels < MAX_KERNELS && simt_read_kernel_counters(run->num_kernels, &name, &counters);
         run->num_kernels++) {
        struct kernel_counters *const kernel = &run->kernels[run->num_kernels];

        snprintf(kernel->name, sizeof kernel->name, "%s", name);
        name_counters(&counters, kernel->counters);
    }
}

/** The counts of source lines: "file:line" and a count for each. */
struct line_counts {
    int num_lines;
    char place[MAX_REQUEST_PCS + 1][256];
    uint64_t count[MAX_REQUEST_PCS];
};

/** Adds the count of the code at a program counter to that of its source line. The place after the last is scratch. */
static void add_to_line(struct line_counts *lines, uintptr_t pc, uint64_t count)
{
    int line = 0;

    simt_describe_pc(pc, lines->place[lines->num_lines], sizeof *lines->place);
    while (strcmp(lines->place[line], lines->place[lines->num_lines]) != 0)
        line++;
    if (line == lines->num_lines)
        lines->count[lines->num_lines++] = 0;
    lines->count[line] += count;
}

/** Writes the lines with the highest counts, "gate.cu:40 (16 times), :52 (8 times)", and sets these counts to 0. */
static void describe_lines(struct line_counts *lines, char *text, size_t size)
{
    enum { SHOWN = 4 };
    int before = 0; /* the line shown last; in the same file, only ":LINE" is written */

    text[0] = '\0';
    for (int shown = 0; shown < lines->num_lines && shown < SHOWN; shown++) {
        const size_t length = strlen(text);
        const char *at;
        int most = 0;

        for (int i = 1; i < lines->num_lines; i++)
            most = lines->count[i] > lines->count[most] ? i : most;
        at = strrchr(lines->place[most], ':');
        if (shown == 0 || !at ||
            strncmp(lines->place[most], lines->place[before], (size_t)(at - lines->place[most]) + 1) != 0)
            at = lines->place[most];
        snprintf(text + length, size - length, "%s%s (%" PRIu64 " time%s)", shown ? ", " : "", at, lines->count[most],
                 lines->count[most] == 1 ? "" : "s");
        lines->count[most] = 0;
        before = most;
    }
}

void backend_describe_divergent_branches(const struct run_counters *run, char *text, size_t size)
{
    _Static_assert((int)MAX_DIVERGENT_BRANCHES <= (int)MAX_REQUEST_PCS, "room for every branch");
    struct line_counts lines = {0};

    for (int i = 0; i < run->num_divergent_branches; i++)
        add_to_line(&lines, run->divergent_branches[i].pc, run->divergent_branches[i].num_divergences);
    describe_lines(&lines, text, size);
}

void backend_enable_request_counts_by_line(void)
{
    simt_enable_request_counts_by_source_line();
}

void backend_describe_lines_with_most_requests(const struct run_counters *run, const char *counter_name, char *text,
                                               size_t size)
{
    struct line_counts lines = {0};

    for (int i = 0; i < run->num_request_pcs; i++) {
        const struct requests_at_pc *const line = &run->requests_by_pc[i];

        if (strncmp(counter_name, line->kind, strlen(line->kind)) == 0)
            add_to_line(&lines, line->pc, line->num_requests);
    }
    describe_lines(&lines, text, size);
}

void backend_allow_host_access(bool allow)
{
    simt_allow_host_access(allow);
}

void backend_register_array_bounds(const void *begin, size_t bytes, const char *name)
{
    simt_register_array_bounds(begin, bytes, name);
}

void backend_mark_unwritten(const void *begin, size_t bytes)
{
    simt_mark_unwritten(begin, bytes);
}

bool backend_try_share_memory_with_forks(void)
{
    return simt_share_memory_with_forks();
}

cudaError_t backend_generate_or_compare(struct generated_array values, enum dtype dtype, int64_t first_index,
                                        int64_t num_values, void *device, uint64_t *num_different)
{
    enum { CHUNK_BYTES = 1 << 16 };
    const size_t size = dtype_size(dtype);
    unsigned char made[CHUNK_BYTES], found[CHUNK_BYTES];
    cudaError_t status = cudaSuccess;
    int64_t chunks;

    for (int64_t done = 0; status == cudaSuccess && done < num_values; done += chunks) {
        char *const at = (char *)device + (size_t)done * size;

        chunks = num_values - done < CHUNK_BYTES / (int64_t)size ? num_values - done : CHUNK_BYTES / (int64_t)size;
        for (int64_t i = 0; i < chunks; i++)
            dtype_store(dtype, made, (size_t)i, generated_value(values, first_index + done + i));
        status = num_different ? cudaMemcpy(found, at, (size_t)chunks * size, cudaMemcpyDeviceToHost)
                               : cudaMemcpy(at, made, (size_t)chunks * size, cudaMemcpyHostToDevice);
        for (int64_t i = 0; num_different && i < chunks; i++)
            *num_different += dtype_bits(dtype, made, (size_t)i) != dtype_bits(dtype, found, (size_t)i);
    }
    return status;
}

const char *backend_fault_message(void)
{
    return simt_fault_message();
}

const char *backend_counter_limitations(void)
{
    return simt_limitations_text();
}

static const char *traced_kernel; /**< the kernel that the last trace selected; NULL for any kernel */

bool backend_begin_first_block_trace(const char *kernel_name_or_null, struct error *error)
{
    enum { MAX_EVENTS = 100000 }; /* about 100 MB of text, far more than a figure can show */

    if (!simt_trace_begin(MAX_EVENTS))
        return error_set_as(error, RUN_CANNOT_RUN, "--trace: out of memory");
    simt_trace_restrict_to_kernel(kernel_name_or_null);
    traced_kernel = kernel_name_or_null;
    return true;
}

/** Sets the error for a trace that matched no launch; the error lists the kernels that were launched. Returns false. */
static bool fail_not_launched(struct error *error)
{
    struct simt_counters counters;
    const char *name;
    char names[256] = "none";
    size_t used = 0;

    for (int i = 0; used < sizeof names && simt_read_kernel_counters(i, &name, &counters); i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
    return traced_kernel
               ? error_set(error, "--trace-kernel: no kernel '%s' was launched; launched: %s", traced_kernel, names)
               : error_set(error, "--trace: no kernel was launched");
}

bool backend_end_and_write_trace(FILE *stream_or_null, struct error *error)
{
    errno = 0;
    if (simt_trace_end(stream_or_null))
        return true;
    if (errno == 0)
        return fail_not_launched(error);
    return errno == ENOMEM ? error_set_as(error, RUN_CANNOT_RUN, "--trace: out of memory")
                           : error_set(error, "--trace: the trace cannot be written: %s", strerror(errno));
}

bool backend_time_launch(backend_timed_launch_function *launch, void *context, enum backend_cache_state cache,
                         struct timing *timing, struct error *error)
{
    (void)launch, (void)context, (void)cache, (void)timing;
    return error_set(error, "the CPU simulator has no times");
}

bool backend_measure_launch_time_and_copy_rate(struct launch_time_and_copy_rate *measured, struct error *error)
{
    (void)measured;
    return error_set(error, "the CPU simulator has no times");
}

bool backend_measure_read_bandwidth(double *bytes_per_second, struct error *error)
{
    (void)bytes_per_second;
    return error_set(error, "the CPU simulator has no times");
}

bool backend_measure_gemm_rate(double min_us, double *operations_per_second, struct error *error)
{
    (void)min_us, (void)operations_per_second;
    return error_set(error, "the CPU simulator has no times");
}
