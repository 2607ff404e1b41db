/**
 * @file catalogue.h
 * @brief Every exercise, in the order in which they are best done: one line each.
 *
 *     EXERCISE("NN_name", chapter, KIND, difficulty 1 to 3, "What it is about, in at most 44 characters")
 *
 * KIND: WRITE the missing piece, MEND what is broken, meet a BUDGET, PREDICT and then measure, EXTEND what there is.
 */
// clang-format off
EXERCISE("01_group_score", 1, WRITE, 1, "the sum of a group's two largest choices")
EXERCISE("02_warp_maximum", 2, WRITE, 1, "the largest of a warp's scores, and whose")
EXERCISE("02_lane_that_left", 2, MEND, 1, "threads that others still wait for")
EXERCISE("03_second_maximum", 3, MEND, 2, "a second best that is as good as the best")
EXERCISE("03_no_divergence", 3, BUDGET, 2, "selects where a warp would split")
EXERCISE("04_compare_exchange", 4, WRITE, 2, "the step a bitonic network is made of")
EXERCISE("05_another_router", 5, EXTEND, 3, "a gate for a second router")
EXERCISE("06_count_without_races", 6, MEND, 1, "counting experts, and losing none")
EXERCISE("07_tail_of_the_fill", 7, MEND, 1, "the ends of a vector fill")
EXERCISE("07_four_sectors", 7, BUDGET, 2, "pads for the least requests and sectors")
EXERCISE("08_up_sweep", 8, WRITE, 1, "from the leaves to the root")
EXERCISE("08_no_bank_conflict", 8, BUDGET, 2, "room between the tree's numbers")
EXERCISE("08_owner_of_a_block", 8, WRITE, 2, "whose rows a block has")
EXERCISE("09_exclusive_scan", 9, WRITE, 1, "where groups begin, by a warp")
EXERCISE("09_three_barriers", 9, BUDGET, 2, "a block's scan that hardly ever meets")
EXERCISE("10_expert_map", 10, EXTEND, 2, "align where only some of the experts live")
EXERCISE("10_predict_the_fill", 10, PREDICT, 2, "what a fill costs, said before it runs")
