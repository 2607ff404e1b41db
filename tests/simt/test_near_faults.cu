/**
 * @file test_near_faults.cu
 * @brief Tests right programs that resemble the faulty ones of test_faults.cu: each runs, with the right result.
 */
#include "simt_test.h"

#include <array>

static int *device_x; /* counts from 0 */
static int *device_y; /* zeros */

static int make_buffers(void **)
{
    device_x = device_iota();
    device_y = device_words(0);
    return 0;
}

static int free_buffers(void **)
{
    return cudaFree(device_x) != cudaSuccess || cudaFree(device_y) != cudaSuccess;
}

/** Checks that nothing has failed, and returns a host copy of device_y, valid until the next call. */
static const int *result(void)
{
    static int host[WORDS];

    expect_good();
    assert_int_equal(cudaMemcpy(host, device_y, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    return host;
}

/* --- indices ------------------------------------------------------------------------------------------------------ */

struct window {
    __device__ int sum(int count) const
    {
        int sum = 0;

        for (int i = 0; i < count; i++)
            sum += first[i] + second[i] + *(&first[i] + 1 - 1);
        return sum + (int)(&first[count] - first);
    }
    int first[4], second[4];
};

/* Members that have the name of an array elsewhere, but are none. */
struct view {
    const int *first;
    __device__ int operator[](int i) const
    {
        return first[i];
    }
};

static __constant__ int constant_rows[4][8] = {{1, 2, 3}, {4, 5, 6, 7, 8, 9, 10, 11}, {}, {12}};
static __device__ int device_rows[4][8];
static __shared__ int shared_rows[4][8];

static __device__ int of_function(int i)
{
    return i + 1;
}

static __device__ int last_of(const int *second, int i)
{
    return second[i];
}

static __global__ void indices_kernel(const int *x, int *y)
{
    using row = int[4];
    const window both = {{x[0], x[1], x[2], x[3]}, {x[1], x[1], x[1], x[1]}};
    const view far = {x + 100};
    std::array<int, 4> items = {x[4], x[5], x[6], x[7]};
    int (*functions[2])(int) = {of_function, of_function};
    const row rest = {1, 2, 3, 4};
    int sum = 0;

    for (int i = 0; i < 8; i++)
        device_rows[3][i] = shared_rows[3][i] = constant_rows[1][i];
    for (auto &row_of : device_rows)
        sum += row_of[x[7]];
    y[0] = both.sum(x[4]);
    y[1] = far[50];
    y[2] = items[x[3]] + items[x[0]] + (int)items.size();
    y[3] = sum + shared_rows[3][x[7]] + constant_rows[3][x[0]];
    y[4] = functions[x[1]](7) + last_of(rest, x[3]) + (int)sizeof(row[2]);
}

static void indices_inside_their_arrays(void **)
{
    indices_kernel<<<1, 1>>>(device_x, device_y);
    const int *const y = result();

    assert_int_equal(y[0], 6 + 4 + 6 + 4);
    assert_int_equal(y[1], 150);
    assert_int_equal(y[2], 7 + 4 + 4);
    assert_int_equal(y[3], 11 + 11 + 12);
    assert_int_equal(y[4], 8 + 4 + 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_inside_their_arrays),
    };

    return cmocka_run_group_tests_name("near faults", tests, make_buffers, free_buffers);
}
