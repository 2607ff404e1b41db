/**
 * @file test_near_faults.cu
 * @brief Tests correct programs that resemble the faulty ones in test_faults.cu: each must produce the correct result.
 */
#include "simt_test.h"

#include <array>

static int *device_x; /* 0, 1, 2, and so on */
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

/** Fails the test if a call has failed; returns a host copy of device_y, which is valid until the next call. */
static const int *result(void)
{
    static int host[WORDS];

    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    expect_success();
    assert_int_equal(cudaMemcpy(host, device_y, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    return host;
}

/* --- variables ---------------------------------------------------------------------------------------------------- */

/* A pointer to const data is itself a variable; a const object is not. */
static __device__ const int *chosen;
static __device__ int const *others[2] = {};
static __device__ const int steps[2] = {1, 2};

static __global__ void pointers_kernel(const int *x)
{
    chosen = x;
    others[0] = x + steps[0];
    others[1] = x + steps[1];
}

static __global__ void through_pointers_kernel(int *y)
{
    y[0] = *chosen + 10 * *others[0] + 100 * *others[1];
}

static void pointers_to_constants(void **)
{
    pointers_kernel<<<1, 1>>>(device_x);
    through_pointers_kernel<<<1, 1>>>(device_y);
    assert_int_equal(result()[0], 210);
    cudaMemset(device_y, 0, sizeof(int));
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

/* The member `first` is not an array but shares its name with an array elsewhere. */
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

/* --- host functions and device functions -------------------------------------------------------------------------- */

#define BOTH   __host__ __device__
#define DEVICE __device__ __forceinline__

static BOTH int of_both(int value)
{
    return 2 * value;
}

template <class T>
static DEVICE T of_device(T value)
{
    return value + 1;
}

static __device__ int declared_before(int value);

int declared_before(int value)
{
    return 3 * value;
}

static int of_host(int value)
{
    return of_both(value) + 5;
}

static constexpr int of_compiler(int value)
{
    return value * value;
}

static __global__ void functions_kernel(const int *x, int *y)
{
    const auto own = [](int value) { return of_both(value); };

    y[threadIdx.x] = of_both(x[1]) + of_device(x[2]) + declared_before(x[3]) + own(x[4]) + of_compiler(x[5]);
}

static void functions_that_kernels_may_call(void **)
{
    functions_kernel<<<1, 1>>>(device_x, device_y);
    assert_int_equal(result()[0] + of_host(1), 2 + 3 + 9 + 8 + 25 + 7);
}

/* --- work in streams, and freed memory ---------------------------------------------------------------------------- */

static __constant__ int constant_table[32];

static __global__ void constant_kernel(int *to)
{
    to[threadIdx.x] = constant_table[threadIdx.x];
}

static __global__ void fill_kernel(int *to, int value)
{
    to[threadIdx.x] = value;
}

static void constants_between_two_kernels(void **)
{
    const int ones[32] = {1, 1, 1}, twos[32] = {2, 2, 2};
    cudaStream_t own, other;
    void *table = NULL;

    assert_int_equal(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaGetSymbolAddress(&table, constant_table), cudaSuccess);
    assert_int_equal(cudaMemcpyToSymbol(constant_table, ones, sizeof ones), cudaSuccess);
    constant_kernel<<<1, 32, 0, own>>>(device_y);
    constant_kernel<<<1, 31, 0, other>>>(device_y + 32);
    cudaStreamSynchronize(own);
    assert_int_equal(cudaMemcpyAsync((int *)table + 31, twos, 4, cudaMemcpyHostToDevice, own), cudaSuccess);
    cudaStreamSynchronize(other);
    assert_int_equal(cudaMemcpyToSymbol(constant_table, twos, 124), cudaSuccess);
    constant_kernel<<<1, 32, 0, own>>>(device_y + 64);
    const int *const y = result();

    assert_int_equal(y[2] + 10 * y[34] + 100 * y[66] + 1000 * y[95], 2211);
    cudaStreamDestroy(own);
    cudaStreamDestroy(other);
}

/** Allocates and uses memory in one stream, then uses and frees it in another stream, which waits for the first. */
static void allocations_of_streams(void **)
{
    cudaStream_t own, other;
    cudaEvent_t filled;
    int *words = NULL;

    assert_int_equal(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreate(&filled), cudaSuccess);
    for (int i = 0; i < 300; i++) {
        const bool odd = i % 2;

        assert_int_equal(cudaMallocAsync(&words, 1 << 20, odd ? own : other), cudaSuccess);
        fill_kernel<<<1, 32, 0, odd ? own : other>>>(words, i);
        cudaEventRecord(filled, odd ? own : other);
        cudaStreamWaitEvent(odd ? other : own, filled, 0);
        fill_kernel<<<1, 32, 0, odd ? other : own>>>(words, i);
        assert_int_equal(cudaFreeAsync(words, odd ? other : own), cudaSuccess);
    }
    cudaStreamSynchronize(own);
    cudaStreamSynchronize(other);
    expect_success();
    cudaEventDestroy(filled);
    cudaStreamDestroy(own);
    cudaStreamDestroy(other);
}

static __global__ void heap_kernel(const int *x, int *y)
{
    __shared__ int *words;
    int *const mine = new int(x[threadIdx.x]);

    if (threadIdx.x == 0)
        words = (int *)malloc(65 * sizeof *words);
    __syncthreads();
    words[threadIdx.x] = *mine;
    delete mine;
    __syncthreads();
    y[threadIdx.x] = words[63 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 63)
        free(words);
}

static void a_heap_that_a_block_shares(void **)
{
    for (int i = 0; i < 3; i++)
        heap_kernel<<<1, 64>>>(device_x, device_y);
    assert_int_equal(result()[1], 62);
}

/* --- calls from the host ------------------------------------------------------------------------------------------ */

static void CUDART_CB count_up(void *data)
{
    ++*(int *)data;
}

/** Tests what is permitted during a capture: work in other streams and, if the capture is relaxed, calls that wait. */
static void work_beside_a_capture(void **)
{
    cudaStream_t captured, other;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t again = NULL;
    int *words = NULL;
    int count = 0;

    assert_int_equal(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed), cudaSuccess);
    assert_int_equal(cudaMalloc(&words, 128), cudaSuccess);
    fill_kernel<<<1, 32, 0, captured>>>(words, 5);
    assert_int_equal(cudaLaunchHostFunc(captured, count_up, &count), cudaSuccess);
    fill_kernel<<<1, 32>>>(device_y, 6);
    fill_kernel<<<1, 32, 0, other>>>(device_y + 32, 7);
    assert_int_equal(cudaStreamSynchronize(other), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(captured, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&again, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(again, captured), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(again, captured), cudaSuccess);
    const int *const y = result();

    assert_int_equal(y[31] + 10 * y[63] + 100 * count, 276);
    cudaGraphExecDestroy(again);
    cudaGraphDestroy(graph);
    cudaFree(words);
    cudaStreamDestroy(captured);
    cudaStreamDestroy(other);
}

struct table {
    int first[4], second[4];
};

static table host_table;
static int host_rows[4][8];

static void copies_of_parts_of_the_host(void **)
{
    assert_int_equal(cudaMemcpy(device_y, host_table.first, sizeof host_table, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpy(host_rows[1], device_x, 96, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy(&host_table.second[3], device_x + 3, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host_rows[3][7] + host_table.second[3], 23 + 3);
    expect_success();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_to_constants),         cmocka_unit_test(indices_inside_their_arrays),
        cmocka_unit_test(constants_between_two_kernels), cmocka_unit_test(allocations_of_streams),
        cmocka_unit_test(a_heap_that_a_block_shares),    cmocka_unit_test(functions_that_kernels_may_call),
        cmocka_unit_test(work_beside_a_capture),         cmocka_unit_test(copies_of_parts_of_the_host),
    };

    return cmocka_run_group_tests_name("near faults", tests, make_buffers, free_buffers);
}
