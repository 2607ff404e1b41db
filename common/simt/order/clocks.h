/** @file clocks.h  Vector clocks of streams: of each, the position up to which its work is known. */
#ifndef SIMT_CLOCKS_H
#define SIMT_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct clock {
    uint64_t *position;
    size_t count;
};

uint64_t simt_clock_known(const struct clock *clock, size_t stream);
/** Without memory it stays as it is: what could then be reported is none. */
void simt_clock_raise(struct clock *clock, size_t stream, uint64_t position);
void simt_clock_join(struct clock *clock, const struct clock *other);

#endif
