/** @file test_device_buffer.c  Tests guard bands: their positions, and that a write to either of them is detected. */
#include "harness/core/device_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ALIGNMENT = 256 };

static void starts_where_asked(void **state)
{
    const size_t offsets[] = {0, 4, 8, 12, 255};
    struct device_buffer buffer;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        assert_true(device_buffer_allocate(&buffer, "buffer", 100, offsets[i], &error));
        assert_int_equal((uintptr_t)buffer.data % ALIGNMENT, offsets[i]);
        assert_int_equal(buffer.bytes, 100);
        assert_true(device_buffer_poison(&buffer, 1, &error));
        assert_true(device_buffer_check_guards(&buffer, "it", &error));
        device_buffer_free(&buffer);
    }
}

/** Writes one byte at `at`, outside a buffer of `bytes`, and expects the guards' check to fail with `expected`. */
static void write_at(size_t offset, size_t bytes, ptrdiff_t at, const char *expected)
{
    struct device_buffer buffer;
    struct error error;

    assert_true(device_buffer_allocate(&buffer, "buffer", bytes, offset, &error));
    assert_int_equal(cudaMemset((char *)buffer.data + at, 0, 1), cudaSuccess);
    assert_false(device_buffer_check_guards(&buffer, "it", &error));
    assert_string_equal(error.text, expected);
    device_buffer_free(&buffer);
}

static void a_write_outside_is_seen(void **state)
{
    (void)state;
    for (size_t offset = 0; offset <= 12; offset += 4) {
        write_at(offset, 100, -1, "it: written 1 bytes before its start");
        write_at(offset, 100, -1024, "it: written 1024 bytes before its start");
        write_at(offset, 100, 100, "it: written 1 bytes past its end");
        write_at(offset, 100, 100 + 1023, "it: written 1024 bytes past its end");
        write_at(offset, 0, 0, "it: written 1 bytes past its end");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_where_asked),
        cmocka_unit_test(a_write_outside_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
