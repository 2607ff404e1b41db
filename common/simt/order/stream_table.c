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

uint64_t simt_latest_work_position;
struct stream_clock simt_host_stream_clock;
bool simt_has_several_streams;

static struct stream_state default_streams[FIRST_CREATED_STREAM] = {
    {.is_alive = true, .syncs_with_legacy_default = true}, {.is_alive = true, .syncs_with_legacy_default = true}};
struct stream_state *simt_streams = default_streams;
size_t simt_num_streams = FIRST_CREATED_STREAM;

uintptr_t simt_make_handle(size_t number, uint64_t generation, unsigned kind)
{
    return (uintptr_t)(generation << HANDLE_GENERATION_SHIFT | number * HANDLE_NUMBER_STRIDE | kind);
}

cudaError_t simt_report_invalid_handle(const char *function, const char *handle_kind, uintptr_t call_site)
{
    char location[LOCATION_TEXT_SIZE];

    simt_format_source_line(call_site, location);
    simt_fault_record_host_error(cudaErrorInvalidResourceHandle,
                                 "%s: %s: the %s was destroyed, or never made" SIMT_ADVICE_PREFIX
                                 "create it before, and destroy it after its last use",
                                 location, function, handle_kind);
    return simt_set_last_error(cudaErrorInvalidResourceHandle);
}

size_t simt_stream_number(cudaStream_t stream)
{
    const uintptr_t handle = (uintptr_t)stream;
    const size_t number = handle % (1 << HANDLE_GENERATION_SHIFT) / HANDLE_NUMBER_STRIDE;

    if (handle <= 2)
        return handle == 2 ? STREAM_PER_THREAD : STREAM_LEGACY;
    if (handle % HANDLE_NUMBER_STRIDE != HANDLE_KIND_STREAM || number < FIRST_CREATED_STREAM ||
        number >= simt_num_streams || !simt_streams[number].is_alive ||
        simt_streams[number].handle_generation != handle >> HANDLE_GENERATION_SHIFT)
        return MAX_HANDLES;
    return number;
}

void simt_streams_destroy(void)
{
    for (size_t i = FIRST_CREATED_STREAM; i < simt_num_streams; i++)
        simt_streams[i].is_alive = false;
}

size_t simt_stream_find_or_add_unused_number(void)
{
    for (size_t i = FIRST_CREATED_STREAM; i < simt_num_streams; i++) {
        if (!simt_streams[i].is_alive &&
            simt_streams[i].latest_work_position <= simt_stream_clock_position(&simt_host_stream_clock, i))
            return i;
    }
    struct stream_state *larger = simt_num_streams < MAX_HANDLES ? malloc((simt_num_streams + 1) * sizeof *larger)
                                                                 : NULL;

    if (!larger)
        return MAX_HANDLES;
    memcpy(larger, simt_streams, simt_num_streams * sizeof *larger);
    if (simt_streams != default_streams)
        free(simt_streams);
    simt_streams = larger;
    simt_streams[simt_num_streams] = (struct stream_state){0};
    return simt_num_streams++;
}

void simt_stream_apply_legacy_default_sync(size_t stream_number)
{
    struct stream_state *stream = &simt_streams[stream_number];

    if (!simt_has_several_streams || !stream->syncs_with_legacy_default)
        return;
    for (size_t i = 0; i < simt_num_streams; i++) {
        if (i == stream_number || !simt_streams[i].syncs_with_legacy_default ||
            (stream_number != STREAM_LEGACY && i != STREAM_LEGACY))
            continue;
        simt_stream_clock_join(&stream->clock, &simt_streams[i].clock);
        simt_stream_clock_advance(&stream->clock, i, simt_latest_work_position);
        simt_streams[i].snapshot_position = simt_latest_work_position;
    }
}

const struct stream_clock *simt_stream_current_clock(size_t stream_number)
{
    static struct stream_clock published;

    simt_stream_apply_legacy_default_sync(stream_number);
    published.num_streams = 0;
    simt_stream_clock_join(&published, &simt_streams[stream_number].clock);
    simt_stream_clock_advance(&published, stream_number, simt_latest_work_position);
    simt_streams[stream_number].snapshot_position = simt_latest_work_position;
    return &published;
}
