/**
 * @file counting.c
 * @brief An observer that counts the events of each kernel, and the sectors, wavefronts and conflicts of its memory
 *        requests.
 */
#include "counting.h"

#include "machine/array_reserve.h"
#include "simt.h"

#include <ctype.h>
#include <string.h>

enum {
    NAME_SIZE = 64,
    SECTOR = WARP_LANES == 32 ? 32 : 64, /**< granularity of global memory transfers in bytes */
    BANKS = 32,                          /**< number of shared-memory banks, each 4 bytes wide */
};

struct kernel {
    char name[NAME_SIZE];
    struct simt_counters counters;
};

/** The branches at which warps diverged, in the order of their first divergence. */
static struct simt_divergent_branch branches[SIMT_MAX_DIVERGENT_BRANCHES];
static int branch_count;

/** The requests of each line, in the order of their first requests, if they are counted. */
static struct simt_source_line_requests request_lines[SIMT_MAX_SOURCE_LINE_REQUESTS];
static int request_line_count;
static bool counts_request_lines;

static struct kernel *kernels;
static size_t kernel_count, kernel_room;

/** Counters of the running launch's kernel. */
static struct simt_counters *counters;

/* --- kernels ------------------------------------------------------------------------------------------------------ */

/** Reduces "space::kernel<T, 32>" to "kernel"; an expression that is not a name stays as it is. */
static void plain_name(const char *written, char name[NAME_SIZE])
{
    const char *begin = written, *end = written;

    for (; isalnum((unsigned char)*end) || *end == '_' || *end == ':'; end++)
        if (*end == ':')
            begin = end + 1;
    if (*end != '\0' && *end != '<')
        begin = end = written;
    snprintf(name, NAME_SIZE, "%.*s", end > begin ? (int)(end - begin) : NAME_SIZE - 1, begin);
}

static struct kernel *find_kernel(const char *name)
{
    for (size_t i = 0; i < kernel_count; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

bool simt_counting_begin_launch(const char *kernel_name)
{
    char name[NAME_SIZE];
    struct kernel *kernel;

    plain_name(kernel_name, name);
    kernel = find_kernel(name);
    if (!kernel && !simt_array_reserve(&kernels, &kernel_room, kernel_count + 1, sizeof *kernels))
        return false;
    if (!kernel) {
        kernel = &kernels[kernel_count++];
        memset(kernel, 0, sizeof *kernel);
        strcpy(kernel->name, name);
    }
    counters = &kernel->counters;
    counters->launches++;
    return true;
}

void simt_counting_end_launch(void)
{
    counters->lane_events += simt_launch_progress.num_replayed_events;
    counters->collective_arrivals += simt_launch_progress.num_collective_arrivals;
}

void simt_counters_reset(void)
{
    kernel_count = 0;
    branch_count = 0;
    request_line_count = 0;
}

void simt_enable_request_counts_by_source_line(void)
{
    counts_request_lines = true;
}

int simt_read_requests_by_source_line(struct simt_source_line_requests first_lines[SIMT_MAX_SOURCE_LINE_REQUESTS])
{
    memcpy(first_lines, request_lines, (size_t)request_line_count * sizeof *request_lines);
    return request_line_count;
}

int simt_read_divergent_branches(struct simt_divergent_branch first_branches[SIMT_MAX_DIVERGENT_BRANCHES])
{
    memcpy(first_branches, branches, (size_t)branch_count * sizeof *branches);
    return branch_count;
}

void simt_counters_read(struct simt_counters *sum)
{
    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < kernel_count; i++) {
#define COUNTER(name, label, meaning) sum->name += kernels[i].counters.name;
#include "counter_list.h"
        sum->lane_events += kernels[i].counters.lane_events;
        sum->global_atomic_requests += kernels[i].counters.global_atomic_requests;
        sum->collective_arrivals += kernels[i].counters.collective_arrivals;
    }
}

int simt_num_distinct_launched_kernels(void)
{
    return (int)kernel_count;
}

bool simt_read_kernel_counters(int index, const char **name, struct simt_counters *kernel_counters)
{
    if (index < 0 || (size_t)index >= kernel_count)
        return false;
    *name = kernels[index].name;
    *kernel_counters = kernels[index].counters;
    return true;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/** Returns the number of distinct sectors that the accesses touch. */
static unsigned count_sectors(const struct memory_request *request)
{
    const uint64_t *offset = request->packed_offsets;
    const unsigned count = request->num_lanes;
    enum { WINDOW = 64 };
    uint64_t lowest = offset[0];
    uint64_t highest = offset[0];

    for (unsigned i = 1; i < count; i++) {
        lowest = offset[i] < lowest ? offset[i] : lowest;
        highest = offset[i] > highest ? offset[i] : highest;
    }
    lowest /= SECTOR;
    if ((highest + request->bytes_per_lane - 1) / SECTOR - lowest < WINDOW) {
        uint64_t seen = 0;

        for (unsigned i = 0; i < count; i++)
            seen |= UINT64_C(1) << (offset[i] / SECTOR - lowest);
        /* An aligned access of at most 16 bytes is contained in one sector. */
        return (unsigned)__builtin_popcountll(seen);
    }

    uint64_t sector[WARP_LANES];
    unsigned distinct = 0;

    for (unsigned i = 0; i < count; i++) {
        const uint64_t this_one = offset[i] / SECTOR;
        unsigned j = distinct;

        /* Neighbouring lanes usually access neighbouring sectors, so the most recent sector is compared first. */
        while (j > 0 && sector[j - 1] != this_one)
            j--;
        if (j == 0)
            sector[distinct++] = this_one;
    }
    return distinct;
}

/** Returns the number of wavefronts that one phase of a shared request needs. */
static unsigned count_phase(const uint32_t *word, unsigned count, unsigned words_each)
{
    uint32_t in_bank[BANKS]; /* the first word that the phase accesses in each bank */
    uint32_t used = 0;
    bool conflict = false;

    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < words_each; k++) {
            const uint32_t at = word[i] + k;
            const unsigned bank = at % BANKS;

            if (!(used >> bank & 1)) {
                used |= 1u << bank;
                in_bank[bank] = at;
            } else {
                conflict |= in_bank[bank] != at;
            }
        }
    }
    if (!conflict)
        return used != 0;

    uint32_t distinct[BANKS][BANKS];
    uint8_t depth[BANKS] = {0};
    unsigned deepest = 0;

    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < words_each; k++) {
            const uint32_t at = word[i] + k;
            const unsigned bank = at % BANKS;
            unsigned j = depth[bank];

            while (j > 0 && distinct[bank][j - 1] != at)
                j--;
            if (j == 0) {
                distinct[bank][depth[bank]++] = at;
                if (depth[bank] > deepest)
                    deepest = depth[bank];
            }
        }
    }
    return deepest;
}

/**
 * Returns the number of wavefronts that a shared request needs, and stores in *least the number that it would need
 * without bank conflicts: one per phase.
 */
static unsigned count_wavefronts(const struct memory_request *request, unsigned *least)
{
    const unsigned words_each = request->bytes_per_lane < 4 ? 1 : request->bytes_per_lane / 4;
    const unsigned lanes_each = BANKS / words_each;
    unsigned wavefronts = 0;
    uint32_t word[WARP_LANES];

    *least = 0;
    for (unsigned i = 0; i < request->num_lanes;) {
        const unsigned phase = request->lane_numbers[i] / lanes_each;
        unsigned in_phase = 0;

        for (; i < request->num_lanes && request->lane_numbers[i] / lanes_each == phase; i++)
            word[in_phase++] = (uint32_t)(request->packed_offsets[i] / 4);
        wavefronts += count_phase(word, in_phase, words_each);
        ++*least;
    }
    return wavefronts;
}

/** Returns the number of lanes whose address an earlier lane of the request also accesses. */
static unsigned count_taken(const struct memory_request *request)
{
    const uint64_t *offset = request->packed_offsets;
    unsigned taken = 0;

    for (unsigned i = 1; i < request->num_lanes; i++) {
        unsigned j = i;

        while (j > 0 && offset[j - 1] != offset[i])
            j--;
        taken += j > 0;
    }
    return taken;
}

static void count_request_line(const struct memory_request *request)
{
    static const char *const kinds[] = {
        [EVENT_GLOBAL_LOAD] = "global_load",     [EVENT_GLOBAL_STORE] = "global_store",
        [EVENT_SHARED_LOAD] = "shared_load",     [EVENT_SHARED_STORE] = "shared_store",
        [EVENT_ASYNC_COPY_READ] = "global_load", [EVENT_ASYNC_COPY_WRITE] = "shared_store",
        [EVENT_GLOBAL_ATOMIC] = "atomic",        [EVENT_SHARED_ATOMIC] = "atomic"};
    const char *const kind = (size_t)request->kind < sizeof kinds / sizeof *kinds ? kinds[request->kind] : NULL;
    int i = 0;

    while (i < request_line_count && (request_lines[i].pc != request->pc || request_lines[i].kind != kind))
        i++;
    if (kind && i == request_line_count && request_line_count < SIMT_MAX_SOURCE_LINE_REQUESTS)
        request_lines[request_line_count++] = (struct simt_source_line_requests){.pc = request->pc, .kind = kind};
    if (i < request_line_count)
        request_lines[i].num_requests++;
}

static void count_request(const struct memory_request *request)
{
    unsigned wavefronts;
    unsigned least;

    if (SIMT_UNLIKELY(counts_request_lines))
        count_request_line(request);
    switch (request->kind) {
    case EVENT_GLOBAL_LOAD:
        counters->global_load_requests++;
        counters->global_load_sectors += count_sectors(request);
        break;
    case EVENT_GLOBAL_STORE:
        counters->global_store_requests++;
        counters->global_store_sectors += count_sectors(request);
        break;
    case EVENT_SHARED_LOAD:
        wavefronts = count_wavefronts(request, &least);
        counters->shared_load_requests++;
        counters->shared_load_wavefronts += wavefronts;
        counters->shared_conflicts += wavefronts - least;
        break;
    case EVENT_SHARED_STORE:
    case EVENT_ASYNC_COPY_WRITE:
        wavefronts = count_wavefronts(request, &least);
        counters->shared_store_requests++;
        counters->shared_store_wavefronts += wavefronts;
        counters->shared_conflicts += wavefronts - least;
        break;
    case EVENT_GLOBAL_ATOMIC:
    case EVENT_SHARED_ATOMIC:
        counters->global_atomic_requests += request->kind == EVENT_GLOBAL_ATOMIC;
        counters->atomic_requests++;
        counters->atomic_conflicts += count_taken(request);
        break;
    case EVENT_ASYNC_COPY_READ:
        if (request->bytes_per_lane == 0)
            break;
        counters->global_load_requests++;
        counters->global_load_sectors += count_sectors(request);
        counters->async_copy_bytes += (uint64_t)request->bytes_per_lane * request->num_lanes;
        break;
    case EVENT_BASIC_BLOCK:
    case EVENT_BULK_COPY:
    case EVENT_MBARRIER:
        break;
    }
}

/* --- other events ------------------------------------------------------------------------------------------------- */

static void count_blocks(unsigned count)
{
    counters->blocks += count;
}

static void count_block(lane_mask lanes)
{
    counters->basic_blocks++;
    counters->lanes_active += lane_count(lanes);
    counters->lanes_possible += WARP_LANES;
}

static void count_divergence(uintptr_t pc)
{
    int i = 0;

    counters->divergent_branches++;
    while (i < branch_count && branches[i].pc != pc)
        i++;
    if (i == branch_count && branch_count < SIMT_MAX_DIVERGENT_BRANCHES)
        branches[branch_count++] = (struct simt_divergent_branch){.pc = pc};
    if (i < branch_count)
        branches[i].num_divergences++;
}

static void count_bulk_copy(unsigned bytes)
{
    counters->bulk_copies++;
    counters->bulk_copy_bytes += bytes;
}

static void count_collective(const struct warp_collective *collective)
{
    counters->shuffles += collective->kind == WARP_COLLECTIVE_SHUFFLE;
    counters->votes += collective->kind == WARP_COLLECTIVE_VOTE;
    counters->warp_barriers += collective->kind == WARP_COLLECTIVE_SYNCWARP;
    counters->tensor_operations += collective->kind == WARP_COLLECTIVE_MMA ? collective->num_tensor_core_operations : 0;
}

static void count_barrier(const struct block *block)
{
    (void)block;
    counters->block_barriers++;
}

const struct observer simt_counting_observer = {
    .blocks_ended = count_blocks,
    .basic_block_issued = count_block,
    .warp_diverged = count_divergence,
    .request_issued = count_request,
    .bulk_copy_issued = count_bulk_copy,
    .collective_done = count_collective,
    .block_barrier_opens = count_barrier,
};
