/**
 * @file test_moe_bulk_counters.c
 * @brief Tests chapter 16a's counters across several launches and after a launch that gave up.
 */
#define PATIENT        moe_bulk_launch_patient
#define IMPATIENT      moe_bulk_launch_impatient
#define FEWER_PROBLEMS /* chapter 16a counts positions in 64 bits and has no tensor maps */
enum { LARGE = 16, MIDDLE = 16, HIDDEN_OF_NONE = 96, BLOCK_OF_NONE = 32 };

#include "test_moe_counters.c"
