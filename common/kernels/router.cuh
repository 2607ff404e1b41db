/** @file common/kernels/router.cuh  A router's shape as compile-time constants, for chapters 13a to 13c. */
#ifndef GATE_ROUTER_CUH
#define GATE_ROUTER_CUH

#include "kernels/gate_choice.cuh"

// [router]
/**
 * A router's shape as compile-time constants. Chapter 13a's bound requires TOPK <= 2 TOPK_GROUP, because each kept
 * group contributes two experts to the bound.
 */
template <int NUM_EXPERTS, int NUM_GROUPS, int NUM_TOPK_GROUPS, int NUM_TOPK>
struct router {
    static constexpr int EXPERTS = NUM_EXPERTS, GROUPS = NUM_GROUPS, TOPK_GROUP = NUM_TOPK_GROUPS, TOPK = NUM_TOPK;
    static constexpr int GROUP_SIZE = EXPERTS / GROUPS;        /* number of experts in a group */
    static constexpr int TOKENS_PER_WARP = WARP_SIZE / GROUPS; /* with one lane per group */
    static constexpr int GROUPS_PER_VOTE = WARP_SIZE / GROUPS; /* groups that one ballot compares with all groups */
    static constexpr unsigned GROUP_LANE_MASK = GROUPS == 4 ? 0x11111111u : GROUPS == 8 ? 0x01010101u : 0x00010001u;
    static_assert(TOPK <= 2 * TOPK_GROUP && TOPK <= GROUPS && (TOPK & (TOPK - 1)) == 0, "the kernels need this shape");
    static_assert(WARP_SIZE % GROUPS == 0 && WARP_SIZE % GROUP_SIZE == 0, "groups divide a warp");
};
// [router]

#endif
