/**
 * @file trace.c
 * @brief Records the operations of all warps in the first block of a launch, in the order of the replay and with their
 *        values, and writes them as JSON.
 */
#include "trace.h"

#include "machine/pages.h"
#include "machine/array_reserve.h"
#include "machine/source_lines.h"
#include "memory/device_memory.h"
#include "simt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NO_ALLOCATION = -1 };

enum entry_kind {
    ENTRY_SHUFFLE,
    ENTRY_VOTE,
    ENTRY_WARP_BARRIER,
    ENTRY_BLOCK_BARRIER,
    ENTRY_SHARED_LOAD,
    ENTRY_SHARED_STORE,
    ENTRY_GLOBAL_LOAD,
    ENTRY_GLOBAL_STORE,
    ENTRY_ATOMIC,
    ENTRY_RETURN,
    ENTRY_MMA,
    ENTRY_MATRIX_MEMORY,
    ENTRY_COPY_FROM,
    ENTRY_COPY_TO,
    ENTRY_BULK_COPY,
    ENTRY_MBARRIER,
};

static const char *const kind_names[] = {
    [ENTRY_SHUFFLE] = "shuffle",
    [ENTRY_VOTE] = "vote",
    [ENTRY_WARP_BARRIER] = "warp_barrier",
    [ENTRY_BLOCK_BARRIER] = "block_barrier",
    [ENTRY_SHARED_LOAD] = "shared_load",
    [ENTRY_SHARED_STORE] = "shared_store",
    [ENTRY_GLOBAL_LOAD] = "global_load",
    [ENTRY_GLOBAL_STORE] = "global_store",
    [ENTRY_ATOMIC] = "atomic",
    [ENTRY_RETURN] = "return",
    [ENTRY_MMA] = "mma",
    [ENTRY_MATRIX_MEMORY] = "matrix_memory",
    [ENTRY_COPY_FROM] = "copy_from",
    [ENTRY_COPY_TO] = "copy_to",
    [ENTRY_BULK_COPY] = "bulk_copy",
    [ENTRY_MBARRIER] = "mbarrier",
};

/** The name of each operation on an mbarrier, and the meaning of the number that is recorded with it. */
static const struct {
    const char *name, *number;
} operations[] = {
    [MBARRIER_INIT] = {"init", "arrivals"},
    [MBARRIER_ARRIVE] = {"arrive", NULL},
    [MBARRIER_ARRIVE_EXPECT] = {"arrive_expect", "announced"},
    [MBARRIER_ARRIVE_COPIES] = {"arrive_copies", NULL},
    [MBARRIER_WAIT] = {"wait", "parity"},
};

/** A lane's part of an entry. */
struct cell {
    uint64_t offset;
    uint64_t in;    /**< operand, the low 8 bytes of the value in memory, or watched_lane_uses_mbarrier's `operand` */
    uint64_t out;   /**< result, the high 8 bytes in memory, or the destination of a bulk copy */
    int32_t number; /**< number of the allocation, of the lane read from, or of an mbarrier's phase */
    bool known;     /**< whether the value is known */
};

/** An operation of one warp. Its cells, one for each lane in `lanes`, follow the cells of the previous entry. */
struct entry {
    uint8_t kind;
    uint8_t bytes;              /**< number of bytes that each lane accesses */
    uint8_t mbarrier_operation; /**< enum mbarrier_operation, for an ENTRY_MBARRIER */
    bool in_global;             /**< true for global memory, false for shared memory */
    uint16_t warp;
    uint16_t warps; /**< at a block barrier: number of warps in the block */
    lane_mask lanes;
    uint32_t barrier; /**< number of block barriers before this one */
    uintptr_t pc;
    const char *operation;
};

/** A value that a lane has read or written in an access that has not been replayed yet. */
struct value {
    const void *address;
    uint64_t word[2];
    uint8_t bytes;
    bool known;
    bool pending; /**< the store has not been executed yet: its value is in memory once the lane is suspended */
};

struct queue {
    struct value value[LANE_EVENT_CAPACITY];
    uint32_t pushed;
    uint32_t settled; /**< no value before this one is pending */
    uint32_t popped;
    uintptr_t last_pc; /**< program counter of the lane's last entry */
};

static struct trace {
    bool armed;       /**< the next launch that matches is to be traced */
    const char *only; /**< name of the kernel to trace; NULL for any kernel */
    bool on;          /**< the traced launch is running */
    bool truncated;
    bool no_memory;
    char *kernel;
    uintptr_t kernel_pc;
    dim3 grid;
    dim3 block;
    size_t dynamic_offset; /**< offset of the dynamic array in shared memory */
    size_t dynamic_bytes;
    struct queue *queue; /**< one for each thread of the block */
    struct entry *entry;
    size_t entries;
    size_t entry_room;
    size_t most_entries;
    struct cell *cell;
    size_t cells;
    size_t cell_room;
    uint32_t barriers;
} trace;

/* --- begin and end ------------------------------------------------------------------------------------------------ */

static void trace_clear(void)
{
    pages_unmap(trace.queue, BLOCK_THREADS * sizeof *trace.queue);
    free(trace.kernel);
    free(trace.entry);
    free(trace.cell);
    trace = (struct trace){0};
}

bool simt_trace_begin(size_t most_events)
{
    trace_clear();
    trace.queue = pages_map(BLOCK_THREADS * sizeof *trace.queue);
    trace.most_entries = most_events;
    trace.armed = trace.queue != NULL;
    return trace.armed;
}

void simt_trace_restrict_to_kernel(const char *kernel)
{
    trace.only = kernel;
}

/** Returns whether a launch's name, up to its template arguments, is that of the kernel to trace. */
static bool is_wanted(const char *name)
{
    const size_t length = strcspn(name, "<");

    return !trace.only || (strlen(trace.only) == length && strncmp(name, trace.only, length) == 0);
}

bool simt_trace_start_if_requested(const struct launch *launch)
{
    uintptr_t shared;
    size_t shared_bytes;

    trace.on = trace.armed && is_wanted(launch->name);
    if (!trace.on)
        return false;
    trace.armed = false;
    trace.kernel = strdup(launch->name);
    trace.no_memory = !trace.kernel;
    trace.kernel_pc = (uintptr_t)launch->kernel + 1;
    trace.grid = launch->grid;
    trace.block = launch->block;
    simt_find_shared_memory(&shared, &shared_bytes, &trace.dynamic_offset);
    trace.dynamic_bytes = launch->dynamic_shared_bytes;
    return true;
}

/** Watches memory in block 0 until the trace is full; other blocks take the fast path. */
static void trace_block(uint32_t number)
{
    simt_observe_each_lane_access(trace.on && number == 0);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static void settle(struct queue *queue)
{
    for (; queue->settled != queue->pushed; queue->settled++) {
        struct value *value = &queue->value[queue->settled % LANE_EVENT_CAPACITY];

        if (value->pending)
            memcpy(value->word, value->address, value->bytes);
        value->pending = false;
    }
}

/** Returns whether the lane has a pending store to any of the bytes that are about to be overwritten. */
static bool overlaps_pending(const struct queue *queue, uintptr_t address, unsigned bytes)
{
    for (uint32_t i = queue->settled; i != queue->pushed; i++) {
        const struct value *value = &queue->value[i % LANE_EVENT_CAPACITY];
        const uintptr_t other = (uintptr_t)value->address;

        if (value->pending && address < other + value->bytes && other < address + bytes)
            return true;
    }
    return false;
}

static void trace_access(const void *address, unsigned bytes, enum event_kind kind)
{
    const struct lane *lane = simt_running.lane;
    struct queue *queue = &trace.queue[lane->thread];
    const bool store = kind == EVENT_GLOBAL_STORE || kind == EVENT_SHARED_STORE;
    const bool load = kind == EVENT_GLOBAL_LOAD || kind == EVENT_SHARED_LOAD || kind == EVENT_ASYNC_COPY_READ;
    const bool arrives = kind == EVENT_ASYNC_COPY_WRITE; /* the bytes arrive after the lane has continued */

    if (!simt_memory.is_watched) /* the trace has become full in the meantime */
        return;
    if (!load && overlaps_pending(queue, (uintptr_t)address, bytes))
        settle(queue);

    struct value *value = &queue->value[queue->pushed++ % LANE_EVENT_CAPACITY];

    *value = (struct value){.address = address,
                            .bytes = (uint8_t)bytes,
                            .known = !(store && lane->access_exceeds_event_buffer) && !arrives};
    value->pending = store && value->known;
    if (!store && !arrives)
        memcpy(value->word, address, bytes);
}

/** Stores two numbers of a bulk copy or of an mbarrier operation where the value of an access would be stored. */
static void trace_two_numbers(uint64_t number, uint64_t other)
{
    struct queue *queue = &trace.queue[simt_running.lane->thread];

    if (simt_memory.is_watched)
        queue->value[queue->pushed++ % LANE_EVENT_CAPACITY] = (struct value){.word = {number, other}, .known = true};
}

static void trace_stop(const struct warp *warp)
{
    if (!simt_memory.is_watched)
        return;
    FOR_EACH_LANE (i, warp->lanes)
        settle(&trace.queue[warp->first_thread + i]);
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

/**
 * Appends an entry and returns its cells for the caller to fill. Returns NULL if there is no room; the trace then ends.
 */
static struct cell *append(struct entry entry)
{
    const size_t lanes = lane_count(entry.lanes);

    if (trace.entries == trace.most_entries) {
        trace.truncated = true;
    } else if (!simt_array_reserve(&trace.entry, &trace.entry_room, trace.entries + 1, sizeof *trace.entry) ||
               !simt_array_reserve(&trace.cell, &trace.cell_room, trace.cells + lanes, sizeof *trace.cell)) {
        trace.no_memory = true;
    } else {
        struct cell *cell = trace.cell + trace.cells;

        memset(cell, 0, lanes * sizeof *cell);
        trace.entry[trace.entries++] = entry;
        trace.cells += lanes;
        FOR_EACH_LANE (i, entry.lanes)
            trace.queue[(unsigned)entry.warp * WARP_LANES + i].last_pc = entry.pc;
        return cell;
    }
    trace.on = false;
    simt_observe_each_lane_access(false);
    return NULL;
}

static uint16_t warp_number(void)
{
    return (uint16_t)(simt_running.warp_lanes->thread / WARP_LANES);
}

static void trace_request(const struct memory_request *request)
{
    static const enum entry_kind kinds[] = {
        [EVENT_GLOBAL_LOAD] = ENTRY_GLOBAL_LOAD,   [EVENT_GLOBAL_STORE] = ENTRY_GLOBAL_STORE,
        [EVENT_SHARED_LOAD] = ENTRY_SHARED_LOAD,   [EVENT_SHARED_STORE] = ENTRY_SHARED_STORE,
        [EVENT_GLOBAL_ATOMIC] = ENTRY_ATOMIC,      [EVENT_SHARED_ATOMIC] = ENTRY_ATOMIC,
        [EVENT_ASYNC_COPY_READ] = ENTRY_COPY_FROM, [EVENT_ASYNC_COPY_WRITE] = ENTRY_COPY_TO,
        [EVENT_BULK_COPY] = ENTRY_BULK_COPY,       [EVENT_MBARRIER] = ENTRY_MBARRIER,
    };
    const enum event_kind kind = request->kind;
    const bool global = kind == EVENT_GLOBAL_LOAD || kind == EVENT_GLOBAL_STORE || kind == EVENT_GLOBAL_ATOMIC ||
                        kind == EVENT_ASYNC_COPY_READ || kind == EVENT_BULK_COPY;

    if (!simt_memory.is_watched)
        return;
    if (kind == EVENT_ASYNC_COPY_READ &&
        request->bytes_per_lane == 0) { /* a copy of zeros only, which reads no memory */
        for (unsigned i = 0; i < request->num_lanes; i++)
            trace.queue[simt_running.warp_lanes[request->lane_numbers[i]].thread].popped++;
        return;
    }
    struct cell *cell = append(
        (struct entry){.kind = kinds[kind],
                       .bytes = (uint8_t)request->bytes_per_lane,
                       .mbarrier_operation = kind == EVENT_MBARRIER ? (uint8_t)request->mbarrier_operation : 0,
                       .in_global = global,
                       .warp = warp_number(),
                       .lanes = request->lanes,
                       .pc = request->pc,
                       .operation = kind == EVENT_MBARRIER ? operations[request->mbarrier_operation].name : NULL});

    for (unsigned i = 0; cell && i < request->num_lanes; i++, cell++) {
        struct queue *queue = &trace.queue[simt_running.warp_lanes[request->lane_numbers[i]].thread];
        const struct value *value = &queue->value[queue->popped++ % LANE_EVENT_CAPACITY];
        const uint64_t offset = request->packed_offsets[i];

        *cell = (struct cell){.offset = offset, .in = value->word[0], .out = value->word[1], .known = value->known};
        if (global && offset & EVENT_OFFSET_IN_PROGRAM_DATA) {
            cell->offset = offset & ~EVENT_OFFSET_IN_PROGRAM_DATA;
            cell->number = NO_ALLOCATION;
        } else if (global) {
            cell->number = simt_arena_allocation_index(offset, &cell->offset);
        } else if (kind == EVENT_MBARRIER) {
            cell->number = (int32_t)value->word[1];
        }
    }
}

static void trace_collective(const struct warp_collective *collective)
{
    static const enum entry_kind kinds[] = {
        [WARP_COLLECTIVE_SHUFFLE] = ENTRY_SHUFFLE,
        [WARP_COLLECTIVE_VOTE] = ENTRY_VOTE,
        [WARP_COLLECTIVE_SYNCWARP] = ENTRY_WARP_BARRIER,
        [WARP_COLLECTIVE_MMA] = ENTRY_MMA,
        [WARP_COLLECTIVE_MATRIX_MEMORY] = ENTRY_MATRIX_MEMORY,
    };

    if (!simt_memory.is_watched)
        return;
    struct cell *cell = append((struct entry){.kind = kinds[collective->kind],
                                              .bytes = (uint8_t)collective->shuffle_bytes,
                                              .warp = warp_number(),
                                              .lanes = collective->lanes,
                                              .pc = simt_running.warp_lanes[lowest_lane(collective->lanes)].wait_site,
                                              .operation = collective->name});

    FOR_EACH_LANE (lane, cell ? collective->lanes : 0) {
        *cell = (struct cell){
            .in = collective->operands[lane], .out = collective->warp->collective_value[lane], .known = true};
        if (collective->kind == WARP_COLLECTIVE_SHUFFLE)
            cell->number = collective->source_lanes[lane];
        cell++;
    }
}

static void trace_barrier(const struct block *block)
{
    const uint32_t barrier = trace.barriers;

    if (!trace.on || block->number != 0)
        return;
    trace.barriers++;
    for (unsigned i = 0; i < block->num_warps && trace.on; i++) {
        const struct warp *warp = &block->warp[i];

        append((struct entry){.kind = ENTRY_BLOCK_BARRIER,
                              .warp = (uint16_t)i,
                              .warps = (uint16_t)block->num_warps,
                              .lanes = warp->lanes_at_barrier,
                              .barrier = barrier,
                              .pc = block->lane[warp->first_thread + lowest_lane(warp->lanes_at_barrier)].wait_site});
    }
}

static void trace_return(lane_mask lanes)
{
    const struct lane *lane = &simt_running.warp_lanes[lowest_lane(lanes)];
    const bool has_event = lane->first_unreplayed_event > lane->event_buffer_end - LANE_EVENT_CAPACITY;

    if (!simt_memory.is_watched)
        return;
    append((struct entry){.kind = ENTRY_RETURN,
                          .warp = warp_number(),
                          .lanes = lanes,
                          .pc = has_event ? lane->first_unreplayed_event[-1].pc : trace.queue[lane->thread].last_pc});
}

const struct observer simt_tracing_observer = {
    .block_begins_or_resumes = trace_block,
    .watched_lane_accesses = trace_access,
    .watched_lane_issues_bulk_copy = trace_two_numbers,
    .watched_lane_uses_mbarrier = trace_two_numbers,
    .lanes_stopped = trace_stop,
    .lanes_returned = trace_return,
    .request_issued = trace_request,
    .collective_done = trace_collective,
    .block_barrier_opens = trace_barrier,
};

/* --- writing ------------------------------------------------------------------------------------------------------ */

/** The distinct program counters in ascending order, and their lines in the source. */
struct locations {
    uintptr_t *pc;
    char (*text)[LOCATION_TEXT_SIZE];
    size_t count;
};

static int compare_pcs(const void *a, const void *b)
{
    const uintptr_t x = *(const uintptr_t *)a;
    const uintptr_t y = *(const uintptr_t *)b;

    return (x > y) - (x < y);
}

static void locations_free(struct locations *locations)
{
    free(locations->pc);
    free(locations->text);
}

static bool locations_find(struct locations *locations)
{
    size_t count = 0;

    *locations = (struct locations){.pc = malloc((trace.entries + 1) * sizeof *locations->pc)};
    if (!locations->pc)
        return false;
    locations->pc[0] = trace.kernel_pc;
    for (size_t i = 0; i < trace.entries; i++)
        locations->pc[i + 1] = trace.entry[i].pc;
    qsort(locations->pc, trace.entries + 1, sizeof *locations->pc, compare_pcs);
    for (size_t i = 0; i <= trace.entries; i++) {
        if (count == 0 || locations->pc[count - 1] != locations->pc[i])
            locations->pc[count++] = locations->pc[i];
    }
    locations->count = count;
    locations->text = calloc(count, sizeof *locations->text);
    if (!locations->text)
        locations_free(locations);
    for (size_t i = 0; i < count && locations->text; i++)
        simt_format_source_line(locations->pc[i], locations->text[i]);
    return locations->text != NULL;
}

/** Copies the source file of a program counter to `file`, and its line to *line; the line is 0 if it is unknown. */
static const char *location_of(const struct locations *locations, uintptr_t pc, char file[LOCATION_TEXT_SIZE],
                               unsigned long *line)
{
    const uintptr_t *found = bsearch(&pc, locations->pc, locations->count, sizeof pc, compare_pcs);
    char *colon;

    snprintf(file, LOCATION_TEXT_SIZE, "%s", found ? locations->text[found - locations->pc] : "");
    colon = strrchr(file, ':');
    *line = colon ? strtoul(colon + 1, NULL, 10) : 0;
    if (*line == 0)
        file[0] = 0;
    else
        *colon = 0;
    return file;
}

static void write_string(FILE *stream, const char *text)
{
    putc('"', stream);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', stream);
        if ((unsigned char)*text < 0x20)
            fprintf(stream, "\\u%04x", (unsigned)*text);
        else
            putc(*text, stream);
    }
    putc('"', stream);
}

enum column {
    COLUMN_FROM,
    COLUMN_ALLOCATION,
    COLUMN_PHASE,
    COLUMN_OFFSET,
    COLUMN_TO,
    COLUMN_COUNT,
    COLUMN_VALUE,
    COLUMN_IN,
    COLUMN_OUT
};

static void write_cell(FILE *stream, const struct entry *entry, const struct cell *cell, enum column column)
{
    const int digits = 2 * (entry->bytes < 8 ? entry->bytes : 8);

    if (column <= COLUMN_PHASE)
        fprintf(stream, "%" PRId32, cell->number);
    else if (column <= COLUMN_COUNT)
        fprintf(stream, "%" PRIu64,
                column == COLUMN_OFFSET ? cell->offset
                : column == COLUMN_TO   ? cell->out
                                        : cell->in);
    else if (!cell->known)
        fputs("null", stream);
    else if (column == COLUMN_VALUE && entry->bytes == 16)
        fprintf(stream, "\"0x%016" PRIx64 "%016" PRIx64 "\"", cell->out, cell->in);
    else
        fprintf(stream, "\"0x%0*" PRIx64 "\"", digits, column == COLUMN_OUT ? cell->out : cell->in);
}

/**
 * Writes one element per lane of a warp; the element of an inactive lane is null, or -1 if the column contains lane
 * numbers.
 */
static void write_column(FILE *stream, const char *name, const struct entry *entry, const struct cell *cell,
                         enum column column)
{
    fprintf(stream, ", \"%s\": [", name);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        if (lane > 0)
            putc(',', stream);
        if (entry->lanes >> lane & 1)
            write_cell(stream, entry, cell++, column);
        else
            fputs(column == COLUMN_FROM ? "-1" : "null", stream);
    }
    putc(']', stream);
}

static void write_details(FILE *stream, const struct entry *entry, const struct cell *cell)
{
    switch ((enum entry_kind)entry->kind) {
    case ENTRY_SHUFFLE:
    case ENTRY_VOTE:
        fprintf(stream, ", \"operation\": \"%s\"", entry->operation);
        if (entry->kind == ENTRY_SHUFFLE) {
            fprintf(stream, ", \"bytes\": %u", entry->bytes);
            write_column(stream, "from", entry, cell, COLUMN_FROM);
        }
        write_column(stream, "in", entry, cell, COLUMN_IN);
        write_column(stream, "out", entry, cell, COLUMN_OUT);
        break;
    case ENTRY_BLOCK_BARRIER:
        fprintf(stream, ", \"barrier\": %" PRIu32 ", \"warps\": %u", entry->barrier, entry->warps);
        break;
    case ENTRY_MMA:
    case ENTRY_MATRIX_MEMORY:
        fprintf(stream, ", \"operation\": \"%s\"", entry->operation);
        break;
    case ENTRY_BULK_COPY:
        write_column(stream, "allocation", entry, cell, COLUMN_ALLOCATION);
        write_column(stream, "offset", entry, cell, COLUMN_OFFSET);
        write_column(stream, "to", entry, cell, COLUMN_TO);
        write_column(stream, "copied", entry, cell, COLUMN_COUNT);
        break;
    case ENTRY_MBARRIER:
        fprintf(stream, ", \"operation\": \"%s\"", entry->operation);
        write_column(stream, "offset", entry, cell, COLUMN_OFFSET);
        if (entry->mbarrier_operation != MBARRIER_INIT)
            write_column(stream, "phase", entry, cell, COLUMN_PHASE);
        if (operations[entry->mbarrier_operation].number)
            write_column(stream, operations[entry->mbarrier_operation].number, entry, cell, COLUMN_COUNT);
        break;
    case ENTRY_WARP_BARRIER:
    case ENTRY_RETURN:
        break;
    default:
        fprintf(stream, ", \"bytes\": %u", entry->bytes);
        if (entry->kind == ENTRY_ATOMIC)
            fprintf(stream, ", \"space\": \"%s\"", entry->in_global ? "global" : "shared");
        if (entry->in_global)
            write_column(stream, "allocation", entry, cell, COLUMN_ALLOCATION);
        write_column(stream, "offset", entry, cell, COLUMN_OFFSET);
        write_column(stream, "value", entry, cell, COLUMN_VALUE);
    }
}

static void write_entry(FILE *stream, const struct entry *entry, const struct cell *cell,
                        const struct locations *locations, const char *source)
{
    char file[LOCATION_TEXT_SIZE];
    unsigned long line;

    location_of(locations, entry->pc, file, &line);
    fprintf(stream, "{\"kind\": \"%s\", \"warp\": %u, \"line\": ", kind_names[entry->kind], entry->warp);
    if (line > 0)
        fprintf(stream, "%lu", line);
    else
        fputs("null", stream);
    if (line > 0 && strcmp(file, source) != 0) {
        fputs(", \"file\": ", stream);
        write_string(stream, file);
    }
    fprintf(stream, ", \"lanes\": %" PRIu64, (uint64_t)entry->lanes);
    write_details(stream, entry, cell);
    putc('}', stream);
}

static void write_trace(FILE *stream, const struct locations *locations)
{
    const struct cell *cell = trace.cell;
    char source[LOCATION_TEXT_SIZE];
    unsigned long line;

    fputs("{\"kernel\": ", stream);
    write_string(stream, trace.kernel);
    fprintf(stream,
            ",\n\"grid\": [%u,%u,%u], \"block\": [%u,%u,%u], \"traced_block\": [0,0,0], "
            "\"dynamic_shared\": {\"offset\": %zu, \"bytes\": %zu},\n\"source\": ",
            trace.grid.x, trace.grid.y, trace.grid.z, trace.block.x, trace.block.y, trace.block.z, trace.dynamic_offset,
            trace.dynamic_bytes);
    write_string(stream, location_of(locations, trace.kernel_pc, source, &line));
    fprintf(stream, ",\n\"truncated\": %s,\n\"events\": [", trace.truncated ? "true" : "false");
    for (size_t i = 0; i < trace.entries; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        write_entry(stream, &trace.entry[i], cell, locations, source);
        cell += lane_count(trace.entry[i].lanes);
    }
    fputs("\n]}\n", stream);
}

bool simt_trace_end(FILE *stream)
{
    struct locations locations = {0};
    const bool wanted = stream && trace.kernel && !trace.no_memory;
    const bool found = wanted && locations_find(&locations);
    const bool no_memory = trace.no_memory || (wanted && !found);

    if (found) {
        write_trace(stream, &locations);
        locations_free(&locations);
    }
    trace_clear();
    if (no_memory)
        errno = ENOMEM;
    return !stream || (found && !ferror(stream));
}
