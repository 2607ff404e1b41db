/**
 * @file limitations.c
 * @brief What the simulator cannot see, in words.
 */
#include "simt.h"

const char *simt_limitations(void)
{
    return "The simulator runs the source, not a GPU's instructions. It has no time, no caches, no registers and no\n"
           "occupancy. Branches are the source's: a GPU compiler may predicate a short one or merge neighbouring "
           "loads.\n"
           "Lanes of a warp run one after another between collectives, and blocks one after another, always in the "
           "same\n"
           "order. Loads and stores inside library calls are not seen. A race is reported between two accesses that "
           "nothing\n"
           "orders; what another order of atomics would do is not tried.\n";
}
