/** @file stream_work.c  Records the work that the host has not waited for, and the bytes that this work uses. */
#include "stream_work.h"

#include "byte_ranges.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "machine/program_image.h"
#include "machine/array_reserve.h"
#include "machine/source_lines.h"
#include "stream_table.h"
#include "machine/host_threads.h"

#include <stdlib.h>
#include <string.h>

struct work {
    size_t stream;
    uint64_t position;
    uint64_t before; /**< position of its stream's previous work */
    const char *name;
    uintptr_t call_site;
    bool uses_host;
    /** Epochs of a launch that simt_work_record_launch_uses() has not recorded yet. */
    uint32_t first_epoch, last_epoch;
    struct byte_ranges used[NUM_USES];
};

static struct work current;
/** Work that the host has not waited for. */
static struct work *pending;
static size_t pending_count;
static size_t pending_room;

struct event_wait simt_last_event_wait;

bool simt_pending_work_uses_host_memory;
bool simt_has_pinned_or_managed_memory;

void (*simt_work_record_launch_uses)(uint32_t first_epoch, uint32_t last_epoch);

const char *const simt_work_use_verbs[] = {"reads", "reads", "writes", "updates atomically", "allocates", "frees"};

static bool is_strong(enum work_use use)
{
    return use == USE_STRONG_READ || use == USE_STRONG_WRITE;
}

static bool agree(enum work_use a, enum work_use b)
{
    return (a < USE_WRITE && b < USE_WRITE) || (is_strong(a) && is_strong(b));
}

static bool find_race(const struct work *mine, const struct work *theirs, struct work_race *race)
{
    for (enum work_use a = 0; a < NUM_USES; a++) {
        for (enum work_use b = 0; b < NUM_USES; b++) {
            if (agree(a, b) || !simt_ranges_overlap(&mine->used[a], &theirs->used[b], &race->address))
                continue;
            race->current_use = a;
            race->earlier_use = b;
            race->earlier_work_name = theirs->name;
            race->earlier_call_site = theirs->call_site;
            return true;
        }
    }
    return false;
}

static void free_uses(struct work *work)
{
    for (enum work_use use = 0; use < NUM_USES; use++)
        free(work->used[use].range);
    memset(work->used, 0, sizeof work->used);
}

/** Removes the work that the host has waited for. */
static void forget_known(void)
{
    size_t kept = 0;

    simt_pending_work_uses_host_memory = false;
    for (size_t i = 0; i < pending_count; i++) {
        if (pending[i].position <= simt_stream_clock_position(&simt_host_stream_clock, pending[i].stream)) {
            free_uses(&pending[i]);
            continue;
        }
        simt_pending_work_uses_host_memory = simt_pending_work_uses_host_memory || pending[i].uses_host;
        pending[kept++] = pending[i];
    }
    pending_count = kept;
}

bool simt_stream_clock_is_pending(const struct stream_clock *clock)
{
    for (size_t i = 0; i < pending_count; i++) {
        if (pending[i].position <= simt_stream_clock_position(clock, pending[i].stream))
            return true;
    }
    return false;
}

void simt_record_host_wait_for_stream_clock(const struct stream_clock *clock)
{
    simt_stream_clock_join(&simt_host_stream_clock, clock);
    forget_known();
}

/** Adds the uses of `other` to `work`. */
static void join_uses(struct work *work, const struct work *other)
{
    for (enum work_use use = 0; use < NUM_USES; use++) {
        for (size_t i = 0; i < other->used[use].num_ranges; i++)
            simt_ranges_append(&work->used[use], other->used[use].range[i].begin, other->used[use].range[i].end);
        simt_ranges_normalise(&work->used[use]);
    }
}

void simt_record_uses_for_second_stream(void)
{
    if (simt_has_several_streams)
        return;
    simt_has_several_streams = true;
    for (size_t i = 0; i < pending_count; i++) {
        struct work *work = &pending[i];

        if (!work->first_epoch)
            continue;
        free_uses(&current);
        simt_work_record_launch_uses(work->first_epoch, work->last_epoch);
        join_uses(&current, work);
        free_uses(work);
        memcpy(work->used, current.used, sizeof work->used);
        memset(current.used, 0, sizeof current.used);
        work->first_epoch = 0;
    }
}

cudaError_t simt_work_begin(cudaStream_t stream, const char *name, uintptr_t call_site)
{
    const size_t number = simt_stream_number(stream);

    if (number == MAX_HANDLES)
        return simt_report_invalid_handle(name, "stream", call_site);
    if (number == STREAM_PER_THREAD)
        simt_record_uses_for_second_stream();
    simt_stream_apply_legacy_default_sync(number);
    free_uses(&current);
    current = (struct work){.stream = number,
                            .position = ++simt_latest_work_position,
                            .before = simt_streams[number].latest_work_position,
                            .name = name,
                            .call_site = call_site};
    simt_streams[number].latest_work_position = simt_latest_work_position;
    simt_streams[number].has_returned_not_ready = false;
    return cudaSuccess;
}

const char *simt_current_work(uintptr_t *call_site)
{
    *call_site = current.call_site;
    return current.name;
}

void simt_work_record_use(enum work_use use, uintptr_t begin, size_t bytes)
{
    simt_ranges_append(&current.used[use], begin, begin + bytes);
}

void simt_work_remove_uses(uintptr_t begin, size_t bytes)
{
    for (size_t i = 0; i < pending_count; i++)
        for (enum work_use use = 0; use < NUM_USES; use++)
            simt_ranges_remove(&pending[i].used[use], begin, begin + bytes);
}

void simt_work_record_host_memory_use(enum work_use use, uintptr_t begin, size_t bytes)
{
    simt_work_record_use(use, begin, bytes);
    current.uses_host = true;
}

/**
 * Returns whether the current work item can be merged with the last one, that is, whether no other item can be ordered
 * after the last one but not after the current one. Without merging, the list would grow without limit.
 */
static bool joins(const struct work *last)
{
    enum { MANY = 256 };

    return last->stream == current.stream && last->position > simt_streams[current.stream].snapshot_position &&
           (pending_count >= MANY || (!simt_has_several_streams && !last->uses_host && !current.uses_host));
}

static void add_pending(void)
{
    if (pending_count > 0 && joins(&pending[pending_count - 1])) {
        struct work *last = &pending[pending_count - 1];

        join_uses(last, &current);
        last->position = current.position;
        last->uses_host = last->uses_host || current.uses_host;
        last->first_epoch = last->first_epoch ? last->first_epoch : current.first_epoch;
        last->last_epoch = current.last_epoch ? current.last_epoch : last->last_epoch;
        return;
    }
    if (!simt_array_reserve(&pending, &pending_room, pending_count + 1, sizeof *pending))
        return;
    pending[pending_count++] = current;
    memset(current.used, 0, sizeof current.used);
}

bool simt_work_end_and_find_race(struct work_race *race)
{
    for (enum work_use use = 0; use < NUM_USES; use++)
        simt_ranges_normalise(&current.used[use]);
    for (size_t i = 0; i < pending_count; i++) {
        const struct work *other = &pending[i];

        if (other->stream != current.stream &&
            other->position > simt_stream_clock_position(&simt_streams[current.stream].clock, other->stream) &&
            find_race(&current, other, race)) {
            race->vain_wait_site = simt_streams[current.stream].vain_wait_site;
            race->late_record_site = simt_streams[current.stream].late_record_site;
            simt_record_host_wait_for_all_work();
            return true;
        }
    }
    add_pending();
    simt_pending_work_uses_host_memory = simt_pending_work_uses_host_memory || current.uses_host;
    return false;
}

/** Writes that a wait for an event came before the event's record, with advice, if the race may result from this. */
static void describe_vain_wait(const struct work_race *race, const char *here, char *text, size_t size)
{
    char wait[LOCATION_TEXT_SIZE], record[LOCATION_TEXT_SIZE];

    text[0] = '\0';
    if (!race->vain_wait_site)
        return;
    simt_format_source_line_seen_from(here, race->vain_wait_site, wait);
    simt_format_source_line_seen_from(here, race->late_record_site, record);
    snprintf(text, size,
             ": the cudaStreamWaitEvent() at %s waits for nothing, because its event had not been recorded "
             "before" SIMT_ADVICE_PREFIX "%s%s, then wait",
             wait, race->late_record_site ? "record the event first, by the call at " : "cudaEventRecord() first",
             race->late_record_site ? record : "");
}

cudaError_t simt_work_end_and_report_race(void)
{
    struct work_race race;
    char vain_wait[2 * LOCATION_TEXT_SIZE + 256];
    char here[LOCATION_TEXT_SIZE];
    char there[LOCATION_TEXT_SIZE];

    if (!simt_work_end_and_find_race(&race))
        return cudaSuccess;
    simt_format_source_line(current.call_site, here);
    simt_format_source_line_seen_from(here, race.earlier_call_site, there);
    describe_vain_wait(&race, here, vain_wait, sizeof vain_wait);
    simt_fault_record_host_error(
        cudaErrorLaunchFailure,
        "%s: race of two streams: %s %s what %s at %s, in another stream, %s, and nothing orders the two%s%s%s", here,
        current.name, simt_work_use_verbs[race.current_use], race.earlier_work_name, there,
        simt_work_use_verbs[race.earlier_use], vain_wait, *vain_wait ? "" : SIMT_ADVICE_PREFIX,
        *vain_wait ? "" : simt_fault_advice("race of two streams"));
    return simt_set_error_blocking_launches(cudaErrorLaunchFailure);
}

/**
 * Removes the launches that the current work cannot overlap, because its stream or the host has waited for their end.
 */
static void forget_ended(struct overlapping_launches *launches)
{
    const uint64_t host = simt_stream_clock_position(&simt_host_stream_clock, current.stream);
    const uint64_t stream = simt_stream_clock_position(&simt_streams[current.stream].clock, current.stream);
    size_t ended = 0;

    while (ended < launches->num_launches && launches->launches[ended].work_position <= (host > stream ? host : stream))
        ended++;
    launches->num_launches -= ended;
    if (launches->num_launches > 0)
        memmove(launches->launches, launches->launches + ended, launches->num_launches * sizeof *launches->launches);
}

const struct overlapping_launches *simt_work_begin_launch(bool programmatic)
{
    struct overlapping_launches *launches = &simt_streams[current.stream].latest_launches;

    if (!programmatic ||
        (launches->num_launches > 0 && launches->launches[launches->num_launches - 1].work_position != current.before))
        launches->num_launches = 0;
    forget_ended(launches);
    if (!simt_array_reserve(&launches->launches, &launches->capacity, launches->num_launches + 1,
                            sizeof *launches->launches))
        return NULL;
    launches->launches[launches->num_launches++] = (struct overlapping_launch){
        .work_position = current.position, .name = current.name, .call_site = current.call_site};
    return launches;
}

void simt_work_end_overlap(cudaStream_t stream)
{
    const size_t number = simt_stream_number(stream);

    if (number != MAX_HANDLES)
        simt_streams[number].latest_launches.num_launches = 0;
}

void simt_work_end_launch(uint32_t first_epoch, uint32_t last_epoch, bool has_synced_dependency)
{
    struct overlapping_launches *launches = &simt_streams[current.stream].latest_launches;
    struct overlapping_launch *launch = &launches->launches[launches->num_launches - 1];

    launch->first_epoch = first_epoch;
    launch->end_epoch = last_epoch + 1;
    launch->has_synced_dependency = has_synced_dependency;
    current.uses_host = simt_has_pinned_or_managed_memory;
    if (simt_has_several_streams || simt_has_pinned_or_managed_memory) {
        simt_work_record_launch_uses(first_epoch, last_epoch);
    } else {
        current.first_epoch = first_epoch;
        current.last_epoch = last_epoch;
    }
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

/** Returns whether the work uses bytes of the host in a range. */
static bool uses_range(const struct work *work, const struct byte_range *range)
{
    const struct byte_ranges wanted = {(struct byte_range *)range, 1, 1};
    uintptr_t first;

    for (enum work_use use = 0; use < NUM_USES; use++)
        if (simt_ranges_overlap(&wanted, &work->used[use], &first))
            return true;
    return false;
}

/** Number of bytes of the stack in which functions that have returned may have had their variables. */
enum { RETURNED = 1 << 18 };

const void *simt_graph_launch_stack_pointer;

bool simt_local_returned_before_graph_launch(const void *pointer)
{
    return (uintptr_t)simt_graph_launch_stack_pointer - (uintptr_t)pointer - 1 < RETURNED;
}

void simt_check_work_uses_no_returned_locals(const void *stack_pointer)
{
    const struct byte_range dead = {(uintptr_t)stack_pointer - RETURNED, (uintptr_t)stack_pointer};
    char location[LOCATION_TEXT_SIZE];

    for (size_t i = 0; simt_pending_work_uses_host_memory && i < pending_count; i++) {
        if (!pending[i].uses_host || !uses_range(&pending[i], &dead))
            continue;
        simt_format_source_line(pending[i].call_site, location);
        simt_fault_record_host_error(
            cudaErrorLaunchFailure,
            "%s: use of a local variable that no longer exists: %s uses it later, when the function has "
            "returned" SIMT_ADVICE_PREFIX "a static variable or malloc(), or a wait for the stream before the return",
            location, pending[i].name);
        simt_set_error_blocking_launches(cudaErrorLaunchFailure);
        return;
    }
}

void simt_record_host_wait_for_stream(cudaStream_t stream)
{
    SIMT_HOLD_HOST_LOCK;
    const size_t number = simt_stream_number(stream);

    if (number != MAX_HANDLES)
        simt_record_host_wait_for_stream_clock(simt_stream_current_clock(number));
}

void simt_record_host_wait_for_all_work(void)
{
    SIMT_HOLD_HOST_LOCK;
    for (size_t i = 0; i < simt_num_streams; i++)
        simt_stream_clock_advance(&simt_host_stream_clock, i, simt_latest_work_position);
    forget_known();
}

/** Includes the host function that a stream is running and the work ordered before it; NULL if none is running. */
static const struct stream_clock *before_function;

uintptr_t simt_host_function_caller_frame;

cudaError_t simt_host_function_begins(cudaStream_t stream, const char *name, uintptr_t call_site)
{
    const cudaError_t error = simt_program_find_segments() ? simt_work_begin(stream, name, call_site)
                                                           : cudaErrorInitializationError;

    if (error != cudaSuccess)
        return error;
    before_function = simt_stream_current_clock(current.stream);
    simt_host_function_caller_frame = (uintptr_t)__builtin_frame_address(0);
    simt_pending_work_uses_host_memory = true;
    return cudaSuccess;
}

cudaError_t simt_host_function_ends(void)
{
    before_function = NULL;
    simt_host_function_caller_frame = 0;
    forget_known();
    return simt_work_end_and_report_race();
}

/** Writes that the host's wait is for an event that was recorded before some work, if it is, with advice. */
static void describe_early_event(const struct work *work, const char *here, char *text, size_t size)
{
    const struct event_wait *const wait = &simt_last_event_wait;
    char waits[LOCATION_TEXT_SIZE], records[LOCATION_TEXT_SIZE], there[LOCATION_TEXT_SIZE];

    text[0] = '\0';
    if (!wait->wait_site || wait->stream != work->stream || wait->recorded_position >= work->position ||
        wait->waited_position < work->position)
        return;
    simt_format_source_line_seen_from(here, wait->wait_site, waits);
    simt_format_source_line_seen_from(here, wait->record_site, records);
    simt_format_source_line_seen_from(here, work->call_site, there);
    snprintf(text, size,
             "; the wait at %s is for the event recorded at %s, before that work" SIMT_ADVICE_PREFIX
             "record the event after %s, before the wait",
             waits, records, there);
}

void simt_check_host_access_races(uintptr_t address, size_t bytes, bool store, uintptr_t pc)
{
    struct byte_range range = {address, address + bytes};
    const struct byte_ranges touched = {&range, 1, 1};
    char early_event[3 * LOCATION_TEXT_SIZE + 128];
    char here[LOCATION_TEXT_SIZE];
    char there[LOCATION_TEXT_SIZE];
    uintptr_t first;

    for (size_t i = 0; i < pending_count; i++) {
        const struct work *work = &pending[i];

        if (before_function && work->position <= simt_stream_clock_position(before_function, work->stream))
            continue;
        const bool written = work->uses_host && (simt_ranges_overlap(&touched, &work->used[USE_WRITE], &first) ||
                                                 simt_ranges_overlap(&touched, &work->used[USE_STRONG_WRITE], &first));

        if (!written && !(work->uses_host && store &&
                          (simt_ranges_overlap(&touched, &work->used[USE_READ], &first) ||
                           simt_ranges_overlap(&touched, &work->used[USE_STRONG_READ], &first))))
            continue;
        simt_format_source_line(pc, here);
        simt_format_source_line_seen_from(here, work->call_site, there);
        describe_early_event(work, here, early_event, sizeof early_event);
        if (before_function)
            simt_fault_record_host_error(
                cudaErrorLaunchFailure,
                "%s: race of two streams: a host function %s %zu byte%s that %s at %s %s, and its stream "
                "does not wait for the other" SIMT_ADVICE_PREFIX
                "cudaEventRecord() after the earlier work and cudaStreamWaitEvent() before the later; or "
                "one stream for both",
                here, store ? "writes" : "reads", bytes, bytes == 1 ? "" : "s", work->name, there,
                written ? "writes" : "reads");
        else
            simt_fault_record_host_error(
                cudaErrorLaunchFailure,
                "%s: race with the host: the host %s %zu byte%s that %s at %s %s, and has not waited for it%s", here,
                store ? "writes" : "reads", bytes, bytes == 1 ? "" : "s", work->name, there,
                written ? "writes" : "reads",
                *early_event ? early_event
                             : SIMT_ADVICE_PREFIX "cudaDeviceSynchronize() or cudaStreamSynchronize() before");
        simt_set_error_blocking_launches(cudaErrorLaunchFailure);
        simt_record_host_wait_for_all_work();
        return;
    }
}

cudaError_t simt_query_stream_clock(const struct stream_clock *clock, bool *has_returned_not_ready)
{
    if (simt_peek_error_blocking_launches() != cudaSuccess)
        return simt_peek_error_blocking_launches();
    if (!*has_returned_not_ready && simt_stream_clock_is_pending(clock)) {
        *has_returned_not_ready = true;
        return cudaErrorNotReady;
    }
    simt_record_host_wait_for_stream_clock(clock);
    return cudaSuccess;
}
