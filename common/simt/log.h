/**
 * @file log.h
 * @brief The log of what the warps of one block do, which simt_trace_end() writes.
 *
 * Lanes run ahead of the replay, so a value must be taken down when the lane is there: while a block is logged, the ranges
 * that the hooks look at first are empty, and every access goes the slow way, past simt_log_access(). Programs that ask
 * for no trace pay one test for each request and collective.
 */
#ifndef SIMT_LOG_H
#define SIMT_LOG_H

#include "engine.h"

/** The block that runs is the one to log. */
extern bool simt_logging;

/** A launch begins, or has ended: only the first after simt_trace_begin(), or of the kernel that it waits for, is logged. */
void simt_log_launch(const struct launch *launch, const void *kernel);
void simt_log_launched(void);

/** From now on block number `block` runs: sets simt_logging and the hooks' ranges. */
void simt_log_block(uint32_t block);

/** The running lane is about to read or change memory, and records an event for it next. */
void simt_log_access(const void *address, unsigned bytes, enum event_kind kind);
/** The running lane is about to make an access as `count` events; simt_log_whole() when all of them are recorded. */
void simt_log_pieces(size_t count);
void simt_log_whole(void);

/** The warp's lanes have stopped: what they wrote is in memory now. */
void simt_log_settle(const struct warp *warp);

/** The replay issues a request of the lanes in `group`, each at its event `at`. */
void simt_log_request(enum event_kind kind, unsigned bytes, uint32_t group, size_t at);
/** The lanes in `group` have met; a shuffle says which lane each read, or -1. The results are in the warp. */
void simt_log_shuffle(const struct warp *warp, uint32_t group, const char *name, unsigned bytes, const int8_t *from,
                      const uint64_t *in);
void simt_log_vote(const struct warp *warp, uint32_t group, const char *name, const uint64_t *in);
void simt_log_syncwarp(uint32_t group);
/** All warps of the block wait at a barrier and are about to go on. */
void simt_log_barrier(const struct block *block);
/** The replay has come to the end of lanes that have returned. */
void simt_log_return(uint32_t group);

#endif
