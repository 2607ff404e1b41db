/** @file stream_clocks.c  Implements the vector clocks of streams. */
#include "stream_clocks.h"

#include <stdlib.h>
#include <string.h>

uint64_t simt_stream_clock_position(const struct stream_clock *clock, size_t stream)
{
    return stream < clock->num_streams ? clock->positions[stream] : 0;
}

void simt_stream_clock_advance(struct stream_clock *clock, size_t stream, uint64_t position)
{
    if (stream >= clock->num_streams) {
        uint64_t *larger = realloc(clock->positions, (stream + 1) * sizeof *larger);

        if (!larger)
            return;
        memset(larger + clock->num_streams, 0, (stream + 1 - clock->num_streams) * sizeof *larger);
        clock->positions = larger;
        clock->num_streams = stream + 1;
    }
    if (clock->positions[stream] < position)
        clock->positions[stream] = position;
}

void simt_stream_clock_join(struct stream_clock *clock, const struct stream_clock *other)
{
    for (size_t i = other->num_streams; i-- > 0;)
        simt_stream_clock_advance(clock, i, other->positions[i]);
}
