/**
 * @file stream_table.c
 * @brief Looks up streams by their handles, and keeps for each stream a clock of the work that is ordered before its
 *         next work.
 */
#include "stream_table.h"

#include "machine/errors.h"
#include "machine/fault.h"
#include "machine/source_lines.h"

#include <stdlib.h>
#include <string.h>

uint64_t simt_latest_work;
struct stream_clock simt_host_clock;
bool simt_has_several_streams;

static struct stream default_streams[FIRST_OWN] = {{.alive = true, .blocking = true},
                                                   {.alive = true, .blocking = true}};
struct stream *simt_streams = default_streams;
size_t simt_stream_count = FIRST_OWN;

uintptr_t simt_handle_of(size_t number, uint64_t generation, unsigned kind)
{
    return (uintptr_t)(generation << GENERATION_SHIFT | number * HANDLE_STEP | kind);
}

cudaError_t simt_reject_handle(const char *function, const char *what, uintptr_t caller)
{
    char location[LOCATION_TEXT];

    simt_source_line(caller, location);
    simt_fault_launch(cudaErrorInvalidResourceHandle,
                      "%s: %s: the %s was destroyed, or never made" SIMT_TRY
                      "create it before, and destroy it after its last use",
                      location, function, what);
    return simt_set_error(cudaErrorInvalidResourceHandle);
}

size_t simt_stream_number(cudaStream_t stream)
{
    const uintptr_t handle = (uintptr_t)stream;
    const size_t number = handle % (1 << GENERATION_SHIFT) / HANDLE_STEP;

    if (handle <= 2)
        return handle == 2 ? PER_THREAD : LEGACY;
    if (handle % HANDLE_STEP != HANDLE_STREAM || number < FIRST_OWN || number >= simt_stream_count ||
        !simt_streams[number].alive || simt_streams[number].generation != handle >> GENERATION_SHIFT)
        return NUMBERS;
    return number;
}

void simt_streams_destroy(void)
{
    for (size_t i = FIRST_OWN; i < simt_stream_count; i++)
        simt_streams[i].alive = false;
}

size_t simt_idle_stream(void)
{
    for (size_t i = FIRST_OWN; i < simt_stream_count; i++) {
        if (!simt_streams[i].alive && simt_streams[i].last <= simt_stream_clock_known(&simt_host_clock, i))
            return i;
    }
    struct stream *larger = simt_stream_count < NUMBERS ? malloc((simt_stream_count + 1) * sizeof *larger) : NULL;

    if (!larger)
        return NUMBERS;
    memcpy(larger, simt_streams, simt_stream_count * sizeof *larger);
    if (simt_streams != default_streams)
        free(simt_streams);
    simt_streams = larger;
    simt_streams[simt_stream_count] = (struct stream){0};
    return simt_stream_count++;
}

void simt_stream_order_default(size_t number)
{
    struct stream *stream = &simt_streams[number];

    if (!simt_has_several_streams || !stream->blocking)
        return;
    for (size_t i = 0; i < simt_stream_count; i++) {
        if (i == number || !simt_streams[i].blocking || (number != LEGACY && i != LEGACY))
            continue;
        simt_stream_clock_join(&stream->clock, &simt_streams[i].clock);
        simt_stream_clock_raise(&stream->clock, i, simt_latest_work);
        simt_streams[i].published = simt_latest_work;
    }
}

const struct stream_clock *simt_stream_publish(size_t number)
{
    static struct stream_clock published;

    simt_stream_order_default(number);
    published.count = 0;
    simt_stream_clock_join(&published, &simt_streams[number].clock);
    simt_stream_clock_raise(&published, number, simt_latest_work);
    simt_streams[number].published = simt_latest_work;
    return &published;
}
