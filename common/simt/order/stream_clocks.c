/** @file stream_clocks.c  Implements the vector clocks of streams. */
#include "stream_clocks.h"

#include <stdlib.h>
#include <string.h>

uint64_t simt_stream_clock_position(const struct stream_clock *clock, size_t stream)
{
    return stream < clock->count ? clock->position[stream] : 0;
}

void simt_stream_clock_advance(struct stream_clock *clock, size_t stream, uint64_t position)
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

void simt_stream_clock_join(struct stream_clock *clock, const struct stream_clock *other)
{
    for (size_t i = other->count; i-- > 0;)
        simt_stream_clock_advance(clock, i, other->position[i]);
}
