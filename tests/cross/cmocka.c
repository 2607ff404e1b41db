/**
 * @file cmocka.c
 * @brief The part of cmocka that the simulator's tests use, for target architectures for which cmocka is not installed.
 *        Prints TAP.
 *
 * The tests include cmocka's own header; this file has only the functions that the header's macros call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static jmp_buf failed;

enum { FAILED = 1, SKIPPED };

void print_message(const char *const format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

void print_error(const char *const format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    printf("# ");
    vprintf(format, arguments);
    va_end(arguments);
}

void _fail(const char *const file, const int line)
{
    printf("# %s:%d: failure\n", file, line);
    longjmp(failed, FAILED);
}

void _skip(const char *const file, const int line)
{
    (void)file, (void)line;
    longjmp(failed, SKIPPED);
}

void _assert_true(const LargestIntegralType result, const char *const expression, const char *const file,
                  const int line)
{
    if (!result) {
        printf("# not so: %s\n", expression);
        _fail(file, line);
    }
}

void _assert_int_equal(const LargestIntegralType a, const LargestIntegralType b, const char *const file, const int line)
{
    if (a != b) {
        printf("# %#jx != %#jx\n", (uintmax_t)a, (uintmax_t)b);
        _fail(file, line);
    }
}

void _assert_int_not_equal(const LargestIntegralType a, const LargestIntegralType b, const char *const file,
                           const int line)
{
    if (a == b) {
        printf("# both are %#jx\n", (uintmax_t)a);
        _fail(file, line);
    }
}

void _assert_in_range(const LargestIntegralType value, const LargestIntegralType minimum,
                      const LargestIntegralType maximum, const char *const file, const int line)
{
    if (value < minimum || value > maximum) {
        printf("# %#jx is not in %#jx to %#jx\n", (uintmax_t)value, (uintmax_t)minimum, (uintmax_t)maximum);
        _fail(file, line);
    }
}

void _assert_memory_equal(const void *const a, const void *const b, const size_t size, const char *const file,
                          const int line)
{
    if (memcmp(a, b, size) != 0) {
        printf("# %zu bytes differ\n", size);
        _fail(file, line);
    }
}

void _assert_string_equal(const char *const a, const char *const b, const char *const file, const int line)
{
    if (strcmp(a, b) != 0) {
        printf("# \"%s\" != \"%s\"\n", a, b);
        _fail(file, line);
    }
}

int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *const tests, const size_t count,
                            CMFixtureFunction setup, CMFixtureFunction teardown)
{
    void *state = NULL;
    volatile int failures = 0;

    printf("1..%zu\n", count);
    if (setup && setup(&state) != 0) {
        printf("Bail out! %s: the fixture\n", name);
        return (int)count;
    }
    for (volatile size_t i = 0; i < count; i++) {
        switch (setjmp(failed)) {
        case 0:
            if (tests[i].initial_state)
                state = tests[i].initial_state;
            if (tests[i].setup_func && tests[i].setup_func(&state) != 0)
                _fail(tests[i].name, 0);
            tests[i].test_func(&state);
            if (tests[i].teardown_func && tests[i].teardown_func(&state) != 0)
                _fail(tests[i].name, 0);
            printf("ok %zu - %s\n", i + 1, tests[i].name);
            break;
        case SKIPPED:
            printf("ok %zu - %s # SKIP\n", i + 1, tests[i].name);
            break;
        default:
            printf("not ok %zu - %s\n", i + 1, tests[i].name);
            failures++;
        }
        fflush(stdout);
    }
    if (teardown && teardown(&state) != 0)
        printf("# %s: the fixture was not torn down\n", name);
    return failures;
}
