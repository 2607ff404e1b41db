/**
 * @file test_backoff.c
 * @brief Tests waiting for other ranks: at first without sleeping, then with increasingly long sleeps, and never beyond
 *        the time limit.
 */
#include "base/backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_no_nap_while_stages_are_timed(void **state)
{
    (void)state;
    assert_true(backoff_next_sleep_seconds(0.0) == 0.0);
    assert_true(backoff_next_sleep_seconds(0.0199) == 0.0);
}

static void test_naps_grow_up_to_a_millisecond(void **state)
{
    (void)state;
    assert_true(backoff_next_sleep_seconds(0.02) > 0.0003 && backoff_next_sleep_seconds(0.02) < 0.0004);
    assert_true(backoff_next_sleep_seconds(0.03) > backoff_next_sleep_seconds(0.02));
    assert_true(backoff_next_sleep_seconds(0.064) == 0.001);
    assert_true(backoff_next_sleep_seconds(1e9) == 0.001);
}

static void test_waiting_ends_at_the_limit(void **state)
{
    const double begin = monotonic_seconds();
    int looks = 0;

    (void)state;
    while (backoff_wait(begin, 0.03))
        looks++;
    assert_true(monotonic_seconds() - begin > 0.03);
    assert_true(looks > 0);
    assert_false(backoff_wait(begin, 0.03));
    assert_true(backoff_wait(monotonic_seconds(), 3600.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_nap_while_stages_are_timed),
        cmocka_unit_test(test_naps_grow_up_to_a_millisecond),
        cmocka_unit_test(test_waiting_ends_at_the_limit),
    };

    return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}
