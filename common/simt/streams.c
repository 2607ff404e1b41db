/**
 * @file streams.c
 * @brief Streams, events, and the work that the host has not waited for: vector clocks, and the bytes that it uses.
 */
#include "streams.h"

#include "device_limits.h"
#include "errors.h"
#include "fault.h"
#include "graphs.h"
#include "source_lines.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- vector clocks ------------------------------------------------------------------------------------------------ */

/** Of each stream, the position up to which its work is known. */
struct clock {
    uint64_t *position;
    size_t count;
};

/** Of the latest work: they count all that is given to any stream. */
static uint64_t now;

static uint64_t known_of(const struct clock *clock, size_t stream)
{
    return stream < clock->count ? clock->position[stream] : 0;
}

/** Without memory it stays as it is: what could then be reported is none. */
static void raise_clock(struct clock *clock, size_t stream, uint64_t position)
{
    if (stream >= clock->count) {
        uint64_t *larger = realloc(clock->position, (stream + 1) * sizeof *larger);

        if (!larger)
            return;
        memset(larger + clock->count, 0, (stream + 1 - clock->count) * sizeof *larger);
        clock->position = larger;
        clock->count = stream + 1;
    }
    if (clock->position[stream] < position)
        clock->position[stream] = position;
}

static void join_clock(struct clock *clock, const struct clock *other)
{
    for (size_t i = other->count; i-- > 0;)
        raise_clock(clock, i, other->position[i]);
}

/** What the host has waited for. */
static struct clock host;

/* --- handles ------------------------------------------------------------------------------------------------------ */

/*
 * A handle is a number and how often that was in use before, so that one that is destroyed is never taken for another.
 */
enum { HANDLE_STREAM = 8, HANDLE_EVENT = 12, HANDLE_STEP = 16, GENERATION_SHIFT = 28, NUMBERS = 1 << 24 };

static uintptr_t handle_of(size_t number, uint64_t generation, unsigned kind)
{
    return (uintptr_t)(generation << GENERATION_SHIFT | number * HANDLE_STEP | kind);
}

struct stream {
    uint64_t generation; /**< 0: never used */
    bool alive;
    bool blocking;      /**< waits for the legacy default stream, and that for it */
    bool asked;         /**< cudaStreamQuery has said once that it is not done */
    uint64_t last;      /**< position of its latest work */
    uint64_t published; /**< up to here somebody's clock may tell its work from what follows */
    struct clock clock; /**< what its next work is ordered after */
};

enum { LEGACY, PER_THREAD, FIRST_OWN };

static struct stream default_streams[FIRST_OWN] = {{.alive = true, .blocking = true},
                                                   {.alive = true, .blocking = true}};
static struct stream *streams = default_streams;
static size_t stream_count = FIRST_OWN;

struct event {
    uint64_t generation;
    bool alive;
    bool recorded;
    bool timed;
    bool asked;
    struct timespec time;
    struct clock clock;
};

static struct event *events;
static size_t event_count;

bool simt_streams_several;
bool simt_streams_use_host;
bool simt_streams_share_host;

/** Says at which line of the host's a handle was none. */
static cudaError_t refuse(const char *function, const char *what, uintptr_t caller)
{
    char place[PLACE_TEXT];

    simt_source_line(caller, place);
    simt_fault_launch(cudaErrorInvalidResourceHandle, "%s: %s: the %s was destroyed, or never made", place, function,
                      what);
    return simt_set_error(cudaErrorInvalidResourceHandle);
}

/** The number of a stream; NUMBERS if there is no such stream. */
static size_t stream_number(cudaStream_t stream)
{
    const uintptr_t handle = (uintptr_t)stream;
    const size_t number = handle % (1 << GENERATION_SHIFT) / HANDLE_STEP;

    if (handle <= 2)
        return handle == 2 ? PER_THREAD : LEGACY;
    if (handle % HANDLE_STEP != HANDLE_STREAM || number < FIRST_OWN || number >= stream_count ||
        !streams[number].alive || streams[number].generation != handle >> GENERATION_SHIFT)
        return NUMBERS;
    return number;
}

static struct event *event_of(cudaEvent_t event)
{
    const uintptr_t handle = (uintptr_t)event;
    const size_t number = handle % (1 << GENERATION_SHIFT) / HANDLE_STEP;

    if (handle % HANDLE_STEP != HANDLE_EVENT || number >= event_count || !events[number].alive ||
        events[number].generation != handle >> GENERATION_SHIFT)
        return NULL;
    return &events[number];
}

/* --- work --------------------------------------------------------------------------------------------------------- */

struct range {
    uintptr_t begin, end;
};

/** Apart and in order, once they are settled. */
struct ranges {
    struct range *range;
    size_t count, room;
};

struct work {
    size_t stream;
    uint64_t position;
    const char *name;
    uintptr_t caller;
    bool uses_host;
    uint32_t first_tick, last_tick; /**< of a launch that simt_work_scan() has not been asked about */
    struct ranges used[NUM_USES];
};

static struct work current;
/** What the host has not waited for. */
static struct work *pending;
static size_t pending_count;
static size_t pending_room;

void (*simt_work_scan)(uint32_t first_tick, uint32_t last_tick);

static int by_begin(const void *a, const void *b)
{
    const struct range *const left = a;
    const struct range *const right = b;

    return (left->begin > right->begin) - (left->begin < right->begin);
}

static void settle(struct ranges *ranges)
{
    size_t kept = 0;

    if (ranges->count == 0)
        return;
    qsort(ranges->range, ranges->count, sizeof *ranges->range, by_begin);
    for (size_t i = 1; i < ranges->count; i++) {
        struct range *last = &ranges->range[kept];
        const struct range *next = &ranges->range[i];

        if (next->begin > last->end)
            ranges->range[++kept] = *next;
        else if (next->end > last->end)
            last->end = next->end;
    }
    ranges->count = kept + 1;
}

static void add_range(struct ranges *ranges, uintptr_t begin, uintptr_t end)
{
    if (ranges->count > 0 && ranges->range[ranges->count - 1].end == begin) {
        ranges->range[ranges->count - 1].end = end;
        return;
    }
    if (ranges->count == ranges->room) {
        const size_t room = ranges->room ? 2 * ranges->room : 16;
        struct range *larger = realloc(ranges->range, room * sizeof *larger);

        if (!larger)
            return;
        ranges->range = larger;
        ranges->room = room;
    }
    ranges->range[ranges->count++] = (struct range){begin, end};
}

/** Whether two have a byte in common: the first. */
static bool meet(const struct ranges *a, const struct ranges *b, uintptr_t *address)
{
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct range *left = &a->range[i];
        const struct range *right = &b->range[j];

        if (left->begin < right->end && right->begin < left->end) {
            *address = left->begin > right->begin ? left->begin : right->begin;
            return true;
        }
        if (left->end <= right->begin)
            i++;
        else
            j++;
    }
    return false;
}

static bool agree(enum use a, enum use b)
{
    const bool writes = a >= USE_WRITE || b >= USE_WRITE;

    return !writes || (a != USE_READ && a != USE_WRITE && b != USE_READ && b != USE_WRITE);
}

static bool find_race(const struct work *mine, const struct work *theirs, struct work_race *race)
{
    for (enum use a = 0; a < NUM_USES; a++) {
        for (enum use b = 0; b < NUM_USES; b++) {
            if (agree(a, b) || !meet(&mine->used[a], &theirs->used[b], &race->address))
                continue;
            race->mine = a;
            race->theirs = b;
            race->name = theirs->name;
            race->caller = theirs->caller;
            return true;
        }
    }
    return false;
}

static void free_uses(struct work *work)
{
    for (enum use use = 0; use < NUM_USES; use++)
        free(work->used[use].range);
    memset(work->used, 0, sizeof work->used);
}

/** Forgets what the host has waited for. */
static void forget_known(void)
{
    size_t kept = 0;

    simt_streams_use_host = false;
    for (size_t i = 0; i < pending_count; i++) {
        if (pending[i].position <= known_of(&host, pending[i].stream)) {
            free_uses(&pending[i]);
            continue;
        }
        simt_streams_use_host = simt_streams_use_host || pending[i].uses_host;
        pending[kept++] = pending[i];
    }
    pending_count = kept;
}

/** Whether the host has yet to wait for something that such a clock knows. */
static bool is_pending(const struct clock *clock)
{
    for (size_t i = 0; i < pending_count; i++) {
        if (pending[i].position <= known_of(clock, pending[i].stream))
            return true;
    }
    return false;
}

static void host_knows(const struct clock *clock)
{
    join_clock(&host, clock);
    forget_known();
}

/**
 * Before a stream is given something: what the default stream orders is ordered before it. So is what the host has
 * waited for, of which nothing is pending.
 */
static void enter(size_t number)
{
    struct stream *stream = &streams[number];

    if (!simt_streams_several || !stream->blocking)
        return;
    for (size_t i = 0; i < stream_count; i++) {
        if (i == number || !streams[i].blocking || (number != LEGACY && i != LEGACY))
            continue;
        join_clock(&stream->clock, &streams[i].clock);
        raise_clock(&stream->clock, i, now);
        streams[i].published = now;
    }
}

/** All that a stream has been given is known to whoever gets this clock. */
static const struct clock *publish(size_t number)
{
    enter(number);
    raise_clock(&streams[number].clock, number, now);
    streams[number].published = now;
    return &streams[number].clock;
}

/** There was one stream, and now there are two: what work is pending is asked for now. */
static void use_several(void)
{
    simt_streams_several = true;
    for (size_t i = 0; i < pending_count; i++) {
        struct work *work = &pending[i];

        if (!work->first_tick)
            continue;
        free_uses(&current);
        simt_work_scan(work->first_tick, work->last_tick);
        for (enum use use = 0; use < NUM_USES; use++) {
            for (size_t j = 0; j < work->used[use].count; j++)
                add_range(&current.used[use], work->used[use].range[j].begin, work->used[use].range[j].end);
            settle(&current.used[use]);
        }
        free_uses(work);
        memcpy(work->used, current.used, sizeof work->used);
        memset(current.used, 0, sizeof current.used);
        work->first_tick = 0;
    }
}

cudaError_t simt_work_begin(cudaStream_t stream, const char *name, uintptr_t caller)
{
    const size_t number = stream_number(stream);

    if (number == NUMBERS)
        return refuse(name, "stream", caller);
    if (number == PER_THREAD && !simt_streams_several)
        use_several();
    enter(number);
    free_uses(&current);
    current = (struct work){.stream = number, .position = ++now, .name = name, .caller = caller};
    streams[number].last = now;
    streams[number].asked = false;
    return cudaSuccess;
}

void simt_work_uses(enum use use, uintptr_t begin, size_t bytes)
{
    add_range(&current.used[use], begin, begin + bytes);
}

void simt_work_uses_host(enum use use, uintptr_t begin, size_t bytes)
{
    simt_work_uses(use, begin, bytes);
    current.uses_host = true;
}

/** What the host need not tell apart is one piece of work: the list would grow for ever. */
static bool joins(const struct work *last)
{
    enum { MANY = 256 };

    return last->stream == current.stream && last->position > streams[current.stream].published &&
           (pending_count >= MANY || (!simt_streams_several && !last->uses_host && !current.uses_host));
}

static void add_pending(void)
{
    if (pending_count > 0 && joins(&pending[pending_count - 1])) {
        struct work *last = &pending[pending_count - 1];

        for (enum use use = 0; use < NUM_USES; use++) {
            for (size_t i = 0; i < current.used[use].count; i++)
                add_range(&last->used[use], current.used[use].range[i].begin, current.used[use].range[i].end);
            settle(&last->used[use]);
        }
        last->position = current.position;
        last->uses_host = last->uses_host || current.uses_host;
        last->first_tick = last->first_tick ? last->first_tick : current.first_tick;
        last->last_tick = current.last_tick ? current.last_tick : last->last_tick;
        return;
    }
    if (pending_count == pending_room) {
        const size_t room = pending_room ? 2 * pending_room : 16;
        struct work *larger = realloc(pending, room * sizeof *larger);

        if (!larger)
            return;
        pending = larger;
        pending_room = room;
    }
    pending[pending_count++] = current;
    memset(current.used, 0, sizeof current.used);
}

bool simt_work_end(struct work_race *race)
{
    for (enum use use = 0; use < NUM_USES; use++)
        settle(&current.used[use]);
    for (size_t i = 0; i < pending_count; i++) {
        const struct work *other = &pending[i];

        if (other->stream != current.stream &&
            other->position > known_of(&streams[current.stream].clock, other->stream) &&
            find_race(&current, other, race)) {
            simt_host_waits_for_all();
            return false;
        }
    }
    add_pending();
    simt_streams_use_host = simt_streams_use_host || current.uses_host;
    return true;
}

static const char *const does[] = {"reads", "reads", "writes", "updates"};

cudaError_t simt_work_check(void)
{
    struct work_race race;
    char here[PLACE_TEXT];
    char there[PLACE_TEXT];

    if (simt_work_end(&race))
        return cudaSuccess;
    simt_source_line(current.caller, here);
    simt_source_line(race.caller, there);
    simt_fault_launch(cudaErrorLaunchFailure,
                      "%s: race of two streams: %s %s what %s at %s, in another stream, %s, and nothing orders the two",
                      here, current.name, does[race.mine], race.name, there, does[race.theirs]);
    return simt_set_sticky_error(cudaErrorLaunchFailure);
}

void simt_work_ran(uint32_t first_tick, uint32_t last_tick)
{
    current.uses_host = simt_streams_share_host;
    if (simt_streams_several || simt_streams_share_host) {
        simt_work_scan(first_tick, last_tick);
    } else {
        current.first_tick = first_tick;
        current.last_tick = last_tick;
    }
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

void simt_host_waits(cudaStream_t stream)
{
    const size_t number = stream_number(stream);

    if (number != NUMBERS)
        host_knows(publish(number));
}

void simt_host_waits_for_all(void)
{
    for (size_t i = 0; i < stream_count; i++)
        raise_clock(&host, i, now);
    forget_known();
}

void simt_host_uses(uintptr_t address, size_t bytes, bool store, uintptr_t pc)
{
    struct range range = {address, address + bytes};
    const struct ranges touched = {&range, 1, 1};
    char here[PLACE_TEXT];
    char there[PLACE_TEXT];
    uintptr_t first;

    for (size_t i = 0; i < pending_count; i++) {
        const struct work *work = &pending[i];
        const bool written = work->uses_host && (meet(&touched, &work->used[USE_WRITE], &first) ||
                                                 meet(&touched, &work->used[USE_STRONG_WRITE], &first));

        if (!written &&
            !(work->uses_host && store &&
              (meet(&touched, &work->used[USE_READ], &first) || meet(&touched, &work->used[USE_STRONG_READ], &first))))
            continue;
        simt_source_line(pc, here);
        simt_source_line(work->caller, there);
        simt_fault_launch(cudaErrorLaunchFailure,
                          "%s: race with the host: the host %s %zu byte%s that %s at %s %s, and has not waited for it",
                          here, store ? "writes" : "reads", bytes, bytes == 1 ? "" : "s", work->name, there,
                          written ? "writes" : "reads");
        simt_set_sticky_error(cudaErrorLaunchFailure);
        simt_host_waits_for_all();
        return;
    }
}

cudaError_t cudaDeviceSynchronize(void)
{
    simt_host_waits_for_all();
    return simt_sticky_error();
}

/* --- streams ------------------------------------------------------------------------------------------------------ */

/** A number that no work is pending of; more are made if need be. NUMBERS: no memory. */
static size_t free_stream(void)
{
    for (size_t i = FIRST_OWN; i < stream_count; i++) {
        if (!streams[i].alive && streams[i].last <= known_of(&host, i))
            return i;
    }
    struct stream *larger = stream_count < NUMBERS ? malloc((stream_count + 1) * sizeof *larger) : NULL;

    if (!larger)
        return NUMBERS;
    memcpy(larger, streams, stream_count * sizeof *larger);
    if (streams != default_streams)
        free(streams);
    streams = larger;
    streams[stream_count] = (struct stream){0};
    return stream_count++;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    if (!stream || flags > cudaStreamNonBlocking)
        return simt_set_error(cudaErrorInvalidValue);
    const size_t number = free_stream();

    if (number == NUMBERS)
        return simt_set_error(cudaErrorMemoryAllocation);
    if (!simt_streams_several)
        use_several();
    struct stream *slot = &streams[number];

    free(slot->clock.position);
    *slot = (struct stream){.generation = slot->generation + 1,
                            .alive = true,
                            .blocking = flags != cudaStreamNonBlocking,
                            .last = slot->last,
                            .published = now};
    *stream = (cudaStream_t)handle_of(number, slot->generation, HANDLE_STREAM);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

/** Its work goes on. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const size_t number = stream_number(stream);

    if (number == NUMBERS || number < FIRST_OWN)
        return refuse("cudaStreamDestroy", "stream", SIMT_CALLER());
    streams[number].alive = false;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (stream_number(stream) == NUMBERS)
        return refuse("cudaStreamSynchronize", "stream", SIMT_CALLER());
    if (simt_captures(stream))
        return simt_set_error(cudaErrorStreamCaptureUnsupported);
    simt_host_waits(stream);
    return simt_sticky_error();
}

/** The first to ask is told that it is not done: an answer, which an H200 does not keep as the last error. */
static cudaError_t query(const struct clock *clock, bool *asked)
{
    if (simt_sticky_error() != cudaSuccess)
        return simt_sticky_error();
    if (!*asked && is_pending(clock)) {
        *asked = true;
        return cudaErrorNotReady;
    }
    host_knows(clock);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const size_t number = stream_number(stream);

    if (number == NUMBERS)
        return refuse("cudaStreamQuery", "stream", SIMT_CALLER());
    if (simt_captures(stream))
        return simt_set_error(cudaErrorStreamCaptureUnsupported);
    return query(publish(number), &streams[number].asked);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    const size_t number = stream_number(stream);
    const struct event *awaited = event_of(event);

    (void)flags;
    if (number == NUMBERS)
        return refuse("cudaStreamWaitEvent", "stream", SIMT_CALLER());
    if (!awaited)
        return refuse("cudaStreamWaitEvent", "event", SIMT_CALLER());
    if (simt_captures(stream) || simt_is_captured_event(event))
        return simt_capture_wait(stream, event);
    enter(number);
    join_clock(&streams[number].clock, &awaited->clock);
    return cudaSuccess;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

/** NUMBERS: no memory. */
static size_t free_event(void)
{
    for (size_t i = 0; i < event_count; i++) {
        if (!events[i].alive)
            return i;
    }
    struct event *larger = event_count < NUMBERS ? realloc(events, (event_count + 1) * sizeof *larger) : NULL;

    if (!larger)
        return NUMBERS;
    events = larger;
    events[event_count] = (struct event){0};
    return event_count++;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (!event)
        return simt_set_error(cudaErrorInvalidValue);
    const size_t number = free_event();

    if (number == NUMBERS)
        return simt_set_error(cudaErrorMemoryAllocation);
    events[number] = (struct event){
        .generation = events[number].generation + 1, .alive = true, .timed = !(flags & cudaEventDisableTiming)};
    *event = (cudaEvent_t)handle_of(number, events[number].generation, HANDLE_EVENT);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const size_t number = stream_number(stream);
    struct event *recorded = event_of(event);

    if (!recorded)
        return refuse("cudaEventRecord", "event", SIMT_CALLER());
    if (number == NUMBERS)
        return refuse("cudaEventRecord", "stream", SIMT_CALLER());
    if (simt_captures(stream))
        return simt_capture_record(event, stream);
    clock_gettime(CLOCK_MONOTONIC, &recorded->time);
    recorded->recorded = true;
    recorded->asked = false;
    recorded->clock.count = 0;
    join_clock(&recorded->clock, publish(number));
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    const struct event *awaited = event_of(event);

    if (!awaited)
        return refuse("cudaEventSynchronize", "event", SIMT_CALLER());
    if (simt_is_captured_event(event))
        return simt_set_error(cudaErrorCapturedEvent);
    host_knows(&awaited->clock);
    return simt_sticky_error();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    struct event *asked = event_of(event);

    return asked ? query(&asked->clock, &asked->asked) : refuse("cudaEventQuery", "event", SIMT_CALLER());
}

/** The host's time: how long the simulation took, which says nothing about a GPU. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    const struct event *first = event_of(begin);
    const struct event *last = event_of(end);

    if (!milliseconds)
        return simt_set_error(cudaErrorInvalidValue);
    if (!first || !last)
        return refuse("cudaEventElapsedTime", "event", SIMT_CALLER());
    if (!first->recorded || !last->recorded || !first->timed || !last->timed)
        return simt_set_error(cudaErrorInvalidResourceHandle);
    if (is_pending(&first->clock) || is_pending(&last->clock))
        return simt_set_error(cudaErrorNotReady);
    *milliseconds = (float)(last->time.tv_sec - first->time.tv_sec) * 1e3f +
                    (float)(last->time.tv_nsec - first->time.tv_nsec) * 1e-6f;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    struct event *destroyed = event_of(event);

    if (!destroyed)
        return refuse("cudaEventDestroy", "event", SIMT_CALLER());
    free(destroyed->clock.position);
    *destroyed = (struct event){.generation = destroyed->generation};
    return cudaSuccess;
}
