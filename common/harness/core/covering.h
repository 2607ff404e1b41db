/**
 * @file core/covering.h
 * @brief The problems of --check-all: a covering design over the corners of a problem's dimensions.
 *
 * An operator lists its dimensions and, for each, its corners: values at which kernels tend to fail. The design puts
 * every corner, and then every pair of corners of two dimensions, into at least one problem that the implementation
 * supports. It is greedy: a problem begins with a pair that no problem contains yet, and then adds, in each other
 * dimension, the corner that covers the most new pairs. The design depends only on the seed.
 */
#ifndef COVERING_H
#define COVERING_H

#include "base/random.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_DIMENSIONS = 16, MAX_CORNERS = 80, MAX_ALL_CORNERS = 288 };

/** A dimension of a problem. Its last corners may be so large that each is tried with usual corners only. */
struct covering_dimension {
    int64_t corners[MAX_CORNERS]; /**< all different; the first is the usual value */
    int count;
    int num_alone; /**< how many of the last corners stand alone; each is tried in only one problem */
};

/** Initialises a dimension's corners and their number. */
#define CORNERS(...) .corners = {__VA_ARGS__}, .count = sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)

/** State of a pair of corners; a corner's own state is that of its pair with itself. */
enum coverage { NOT_COVERED, COVERED, NOT_SUPPORTED, NOT_NEEDED };

/** A design under construction. */
struct covering {
    struct covering_dimension dimensions[MAX_DIMENSIONS];
    int num_dimensions;
    bool corners_only; /**< end as soon as every corner is in a problem */
    struct random random;
    int first[MAX_DIMENSIONS + 1]; /**< number of each dimension's first corner among all corners */
    unsigned char state[MAX_ALL_CORNERS][MAX_ALL_CORNERS];
    int target;              /**< number of the pair with which the problem begins: first single corners, then pairs */
    int num_tries;           /**< problems that began with the target and were not accepted */
    int row[MAX_DIMENSIONS]; /**< the problem: one corner per dimension, by its number among all corners */
    int num_taken;
};

/** Copies the dimensions. Corners can then be added with covering_add(), until covering_next(). */
void covering_start(struct covering *covering, const struct covering_dimension *dimensions, int num_dimensions,
                    uint64_t seed, bool corners_only);

/** Adds dimensions after the existing ones. */
void covering_extend(struct covering *covering, const struct covering_dimension *dimensions, int num_dimensions);

/** Adds a corner to a dimension if it is new: as one that stands alone (`alone`), or before those that stand alone. */
void covering_add(struct covering *covering, int dimension, int64_t corner, bool alone);

/**
 * Proposes the next problem, which the caller may accept with covering_take(). If the caller does not, other problems
 * with the same pair are proposed up to a limit, after which the pair counts as not supported. Returns false when the
 * design is complete.
 */
bool covering_next(struct covering *covering);

/** Returns the proposed problem's corner of a dimension. */
int64_t covering_corner(const struct covering *covering, int dimension);

/** Returns whether the proposed problem has a corner that stands alone. */
bool covering_is_alone(const struct covering *covering);

/** Accepts the proposed problem and marks its pairs as covered. */
void covering_take(struct covering *covering);

/** Returns the number of corners, or of pairs of corners of two dimensions, that are in this state. */
int covering_corners(const struct covering *covering, enum coverage state);
int covering_pairs(const struct covering *covering, enum coverage state);

#endif
