/**
 * @file counter_list.h
 * @brief The list of counters, in the order in which reports show them: COUNTER(name, label in tables, what is
 *        counted).
 *
 * A file that includes this one defines COUNTER first, and also RARE_COUNTER if it treats rare counters differently:
 * reports omit a rare counter that is 0. The structure of counters, the reports and the labels in the pages' tables are
 * generated from this list; a test compares the simulator's page with it. To add a counter, add its line here and the
 * code that increments it. Documentation tools read this file, so each entry must stay on one line.
 */
#ifndef RARE_COUNTER
#define RARE_COUNTER COUNTER
#endif
/* clang-format off */
COUNTER(launches, "launches", "kernels launched")
COUNTER(blocks, "blocks", "thread blocks run")
COUNTER(shuffles, "shuffles", "__shfl_sync and its kin, one for each warp")
COUNTER(votes, "votes", "__ballot_sync, __any_sync and their kin, one for each warp")
COUNTER(warp_barriers, "warp barriers", "__syncwarp, one for each warp")
COUNTER(block_barriers, "block barriers", "__syncthreads and its kin, one for each block")
COUNTER(basic_blocks, "basic blocks run by a warp", "blocks of the source, one for each time that a warp begins one")
COUNTER(lanes_active, "active lanes", "lanes that took part in such a block")
COUNTER(lanes_possible, "possible lanes", "32 for each time that a warp begins one")
COUNTER(divergent_branches, "divergent branches", "blocks of the source after which the lanes of a warp part")
COUNTER(global_load_requests, "global load requests", "loads from global memory, one for each warp")
COUNTER(global_load_sectors, "global load sectors", "different 32-byte sectors that such a request touches")
COUNTER(global_store_requests, "global store requests", "stores to global memory, one for each warp")
COUNTER(global_store_sectors, "global store sectors", "different 32-byte sectors that such a request touches")
COUNTER(shared_load_requests, "shared load requests", "loads from shared memory, one for each warp")
COUNTER(shared_load_wavefronts, "shared load wavefronts", "passes over the 32 banks that such a request takes")
COUNTER(shared_store_requests, "shared store requests", "stores to shared memory, one for each warp")
COUNTER(shared_store_wavefronts, "shared store wavefronts", "passes over the 32 banks that such a request takes")
COUNTER(shared_conflicts, "bank conflicts", "wavefronts beyond the least possible, loads and stores")
COUNTER(atomic_requests, "atomic requests", "atomic operations, one for each warp")
COUNTER(atomic_conflicts, "atomic conflicts", "lanes that found their address taken by an earlier lane of the request")
RARE_COUNTER(tensor_operations, "tensor-core operations", "products of 16x16 and 16x8 numbers, one for each warp")
RARE_COUNTER(async_copy_bytes, "bytes copied asynchronously", "from global to shared memory, unless all are zeros")
RARE_COUNTER(bulk_copies, "bulk copies", "copies of a row or a tile from global to shared memory, one for each call")
RARE_COUNTER(bulk_copy_bytes, "bytes copied in bulk", "bytes that these write in shared memory")
/* clang-format on */
#undef COUNTER
#undef RARE_COUNTER
