/**
 * @file core/covering.h
 * @brief The problems of --check-all: a covering design over the corners of a problem's dimensions.
 *
 * An operator lists its dimensions and, for each, its corners: values at which kernels tend to fail. The design puts
 * every corner, and then every pair of corners of two dimensions, into at least one problem that the implementation
 * supports. The construction is greedy: each problem starts with a pair that no problem contains yet and then takes, in
 * each other dimension, the corner that covers the most new pairs. The design depends only on the seed.
 */
#ifndef COVERING_H
#define COVERING_H

#include "base/random.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_DIMENSIONS = 16, MAX_CORNERS_PER_DIMENSION = 80, MAX_ALL_CORNERS = 288 };

/**
 * A dimension of a problem. Its last corners may be isolated: so large that each is tried in only one problem, combined
 * with usual corners if possible.
 */
struct covering_dimension {
    int64_t corners[MAX_CORNERS_PER_DIMENSION]; /**< distinct values; the first is the usual one */
    int num_corners;
    int num_isolated_corners; /**< number of isolated corners, which come last; each is tried in only one problem */
};

/** Initialises a dimension's corners and their count. */
#define CORNERS(...) .corners = {__VA_ARGS__}, .num_corners = sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)

/** State of a pair of corners; the state of a single corner is that of its pair with itself. */
enum coverage { CORNERS_NOT_COVERED, CORNERS_COVERED, CORNERS_NOT_SUPPORTED, CORNERS_NOT_NEEDED };

/** A covering design under construction. */
struct covering_design {
    struct covering_dimension dimensions[MAX_DIMENSIONS];
    int num_dimensions;
    bool stop_after_corners; /**< whether the design is complete as soon as every corner is in a problem */
    struct random random;
    int first_corner_indices[MAX_DIMENSIONS + 1]; /**< index of each dimension's first corner among all corners */
    unsigned char pair_states[MAX_ALL_CORNERS][MAX_ALL_CORNERS];
    /** Index of the corner or pair that the problem starts with; corners come before pairs. */
    int target_corner_or_pair;
    int num_proposals;                    /**< number of problems proposed for the target but not accepted */
    int proposed_corners[MAX_DIMENSIONS]; /**< the problem: one corner per dimension, as an index into all corners */
    int num_accepted_problems;
};

/**
 * Copies the dimensions. Corners can be added with covering_add_corner() until the first call of
 * covering_propose_problem().
 */
void covering_start(struct covering_design *covering, const struct covering_dimension *dimensions, int num_dimensions,
                    uint64_t seed, bool stop_after_corners);

/** Adds dimensions after the existing ones. */
void covering_add_dimensions(struct covering_design *covering, const struct covering_dimension *dimensions,
                             int num_dimensions);

/**
 * Adds a corner to a dimension if it is new: as an isolated corner if `isolated` is set, else before the isolated
 * corners.
 */
void covering_add_corner(struct covering_design *covering, int dimension, int64_t corner, bool isolated);

/**
 * Proposes the next problem, which the caller may accept with covering_accept_problem(). If the caller does not accept
 * it, covering_propose_problem() proposes other problems with the same pair, up to a limit, after which the pair counts
 * as unsupported. Returns false when the design is complete.
 */
bool covering_propose_problem(struct covering_design *covering);

/** Returns the proposed problem's corner in a dimension. */
int64_t covering_proposed_corner(const struct covering_design *covering, int dimension);

/** Returns whether the proposed problem contains an isolated corner. */
bool covering_proposal_has_isolated_corner(const struct covering_design *covering);

/** Accepts the proposed problem and marks its pairs as covered. */
void covering_accept_problem(struct covering_design *covering);

/** Returns the number of corners, or of pairs of corners of two dimensions, that are in this state. */
int covering_num_corners(const struct covering_design *covering, enum coverage state);
int covering_num_pairs(const struct covering_design *covering, enum coverage state);

#endif
