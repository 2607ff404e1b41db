/** @file test_host_api.c  Tests the simulator's host API in C: memory, copies, errors, the device, streams, events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>

#include "host_api_kernels.h"
#include "simt.h"

static void expect_error(cudaError_t got, cudaError_t expected)
{
    assert_string_equal(cudaGetErrorName(got), cudaGetErrorName(expected));
    assert_int_equal(cudaPeekAtLastError(), expected);
    assert_int_equal(cudaGetLastError(), expected);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void allocations_are_aligned_and_apart(void **state)
{
    unsigned char *memory[20];
    unsigned char host[20 * 97];

    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(cudaMalloc((void **)&memory[i], (size_t)i * 97 + 1), cudaSuccess);
        assert_int_equal((uintptr_t)memory[i] % 256, 0);
        for (int j = 0; j < i; j++)
            assert_true(memory[i] >= memory[j] + j * 97 + 1 + 256 || memory[i] + i * 97 + 1 + 256 <= memory[j]);
        /* New memory must not appear to contain zeros. */
        simt_mark_unwritten(memory[i], (size_t)i * 97 + 1);
        assert_int_equal(cudaMemcpy(host, memory[i], (size_t)i * 97 + 1, cudaMemcpyDeviceToHost), cudaSuccess);
        for (int j = 0; j <= i * 97; j++)
            assert_int_equal(host[j], 0xff);
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(cudaFree(memory[(i * 7 + 3) % 20]), cudaSuccess);
    assert_int_equal(cudaFree(NULL), cudaSuccess);
    expect_error(cudaFree(memory[0]), cudaErrorInvalidValue);
    assert_non_null(
        strstr(simt_fault_message(), ": the pointer is in an allocation of 1 byte that has been freed at "));
    assert_int_equal(cudaMalloc((void **)&memory[0], 64), cudaSuccess);
    expect_error(cudaFree(memory[0] + 16), cudaErrorInvalidValue);
    assert_non_null(
        strstr(simt_fault_message(), ": the pointer is 16 bytes into an allocation of 64 bytes; it must be one"));
    assert_int_equal(cudaFree(memory[0]), cudaSuccess);
    expect_error(cudaMalloc(NULL, 4), cudaErrorInvalidValue);

    assert_int_equal(cudaMalloc((void **)&memory[0], 0), cudaSuccess);
    assert_null(memory[0]);
}

static void memory_runs_out(void **state)
{
    void *memory = &memory;
    size_t available;
    size_t total;

    (void)state;
    expect_error(cudaMemGetInfo(NULL, &total), cudaErrorInvalidValue);
    assert_int_equal(cudaMemGetInfo(&available, &total), cudaSuccess);
    assert_true(available <= total && total > 0);
    expect_error(cudaMalloc(&memory, total + 1), cudaErrorMemoryAllocation);
    assert_null(memory);
    /* Allocates more than the simulator reserves initially. */
    assert_int_equal(cudaMalloc(&memory, (size_t)300 << 20), cudaSuccess);
    assert_int_equal(cudaMemset((char *)memory + (300 << 20) - 4, 0, 4), cudaSuccess);
    assert_int_equal(cudaFree(memory), cudaSuccess);
    expect_error(cudaMalloc(&memory, SIZE_MAX), cudaErrorMemoryAllocation);
    expect_error(cudaMalloc(&memory, SIZE_MAX - 300), cudaErrorMemoryAllocation);
}

static void freed_memory_is_used_again(void **state)
{
    void *first;
    void *second;
    void *between;
    void *again;

    (void)state;
    assert_int_equal(cudaMalloc(&first, 10 << 20), cudaSuccess);
    assert_int_equal(cudaMalloc(&between, 4), cudaSuccess);
    assert_int_equal(cudaFree(first), cudaSuccess);
    assert_int_equal(cudaMalloc(&again, 5 << 20), cudaSuccess);
    assert_ptr_equal(again, first);
    assert_int_equal(cudaMalloc(&second, 4 << 20), cudaSuccess);
    assert_true((char *)second > (char *)again && (char *)second < (char *)between);
    assert_int_equal(host_api_fill(again, (5 << 20) / 4, 3), cudaSuccess);
    assert_int_equal(host_api_fill(second, (4 << 20) / 4, 3), cudaSuccess);
    assert_int_equal(cudaFree(again), cudaSuccess);
    assert_int_equal(cudaFree(second), cudaSuccess);
    assert_int_equal(cudaFree(between), cudaSuccess);
}

static void copies_check_both_ranges(void **state)
{
    int host[16] = {0};
    int *device;
    int *other;

    (void)state;
    assert_int_equal(cudaMalloc((void **)&device, sizeof host), cudaSuccess);
    assert_int_equal(cudaMalloc((void **)&other, sizeof host), cudaSuccess);
    for (int i = 0; i < 16; i++)
        host[i] = i * i;
    assert_int_equal(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(other, device, sizeof host, cudaMemcpyDeviceToDevice, NULL), cudaSuccess);
    memset(host, 0, sizeof host);
    assert_int_equal(cudaMemcpy(host, other + 4, 8, cudaMemcpyDefault), cudaSuccess);
    assert_int_equal(host[0], 16);
    assert_int_equal(host[1], 25);
    assert_int_equal(cudaMemset(device + 1, 0xff, 4), cudaSuccess);
    assert_int_equal(cudaMemcpy(host, device, 12, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host[1], -1);
    assert_int_equal(host[2], 4);

    expect_error(cudaMemcpy(device, host, sizeof host + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect_error(cudaMemcpy(host, device + 15, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    expect_error(cudaMemcpy(host, device, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    expect_error(cudaMemcpy(device, host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    expect_error(cudaMemcpy(NULL, device, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    expect_error(cudaMemcpy(device, host, 4, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    expect_error(cudaMemset(device, 0, sizeof host + 1), cudaErrorInvalidValue);
    expect_error(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaSuccess);
    expect_error(cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(other), cudaSuccess);
}

static void launches_are_checked_as_on_a_gpu(void **state)
{
    const dim3 one = {1, 1, 1};
    int *memory;

    (void)state;
    assert_int_equal(cudaMalloc((void **)&memory, 4096), cudaSuccess);
    expect_error(host_api_store_one(memory, (dim3){0, 1, 1}, one, 0), cudaErrorInvalidConfiguration);
    assert_non_null(strstr(simt_fault_message(), "invalid configuration"));
    expect_error(host_api_store_one(memory, (dim3){1, 65536, 1}, one, 0), cudaErrorInvalidConfiguration);
    expect_error(host_api_store_one(memory, (dim3){1, 1, 65536}, one, 0), cudaErrorInvalidConfiguration);
    expect_error(host_api_store_one(memory, (dim3){UINT32_MAX, 1, 1}, one, 0), cudaErrorInvalidConfiguration);
    expect_error(host_api_store_one(memory, one, (dim3){0, 1, 1}, 0), cudaErrorInvalidConfiguration);
    expect_error(host_api_store_one(memory, one, (dim3){1025, 1, 1}, 0), cudaErrorInvalidConfiguration);
    expect_error(host_api_store_one(memory, one, (dim3){33, 32, 1}, 0), cudaErrorInvalidConfiguration);
    expect_error(host_api_store_one(memory, one, (dim3){1, 1, 65}, 0), cudaErrorInvalidConfiguration);
    expect_error(host_api_store_one(memory, one, (dim3){65536, 65536, 1}, 0), cudaErrorInvalidConfiguration);
    assert_int_equal(host_api_store_one(memory, one, (dim3){1024, 1, 1}, 48 * 1024), cudaSuccess);
    assert_null(simt_fault_message());
    expect_error(host_api_store_one(memory, one, one, 48 * 1024 + 1), cudaErrorInvalidValue);
    expect_error(host_api_allow_dynamic_shared_bytes(227 * 1024 + 1), cudaErrorInvalidValue);
    assert_int_equal(host_api_allow_dynamic_shared_bytes(100 * 1024), cudaSuccess);
    assert_int_equal(host_api_store_one(memory, one, one, 100 * 1024), cudaSuccess);
    expect_error(host_api_store_one(memory, one, one, 100 * 1024 + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void the_device_says_what_it_is(void **state)
{
    struct cudaDeviceProp properties;
    int value;

    (void)state;
    assert_int_equal(cudaGetDeviceCount(&value), cudaSuccess);
    assert_int_equal(value, 1);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    expect_error(cudaSetDevice(1), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetDevice(&value), cudaSuccess);
    assert_int_equal(value, 0);
    assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    assert_string_equal(properties.name, "CPU simulator");
    assert_int_equal(properties.warpSize, 32);
    assert_int_equal(properties.major * 10 + properties.minor, 90);
    expect_error(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0), cudaSuccess);
    assert_int_equal(value, 1024);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
    assert_int_equal(value, 227 * 1024);
    expect_error(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
    assert_int_equal(cudaRuntimeGetVersion(&value), cudaSuccess);
    assert_true(value >= 12000);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    assert_string_equal(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
    assert_non_null(simt_limitations_text());
}

static void streams_and_events(void **state)
{
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    float milliseconds = -1.0f;

    (void)state;
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreate(&begin), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&end, cudaEventBlockingSync), cudaSuccess);
    expect_error(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventRecord(begin, stream), cudaSuccess);
    assert_int_equal(cudaEventRecord(end, stream), cudaSuccess);
    assert_int_equal(cudaEventSynchronize(end), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
    assert_true(milliseconds >= 0.0f);
    assert_int_equal(cudaEventDestroy(begin), cudaSuccess);
    assert_int_equal(cudaEventDestroy(end), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    expect_error(cudaStreamCreateWithFlags(NULL, 0), cudaErrorInvalidValue);
}

/**
 * Tests queries of pending work: the first query returns cudaErrorNotReady, and the time between two events is
 * available only once both are complete.
 */
static void what_is_not_done_yet(void **state)
{
    cudaStream_t stream;
    cudaEvent_t begin;
    cudaEvent_t end;
    float milliseconds = -1.0f;
    int *memory;

    (void)state;
    assert_int_equal(cudaMalloc((void **)&memory, 64), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaEventCreate(&begin), cudaSuccess);
    assert_int_equal(cudaEventCreate(&end), cudaSuccess);
    assert_int_equal(cudaEventQuery(begin), cudaSuccess);
    assert_int_equal(cudaStreamQuery(stream), cudaSuccess);
    assert_int_equal(cudaEventRecord(begin, stream), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(memory, 0, 64, stream), cudaSuccess);
    assert_int_equal(cudaEventRecord(end, stream), cudaSuccess);
    expect_error(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
    assert_int_equal(cudaEventQuery(end), cudaErrorNotReady);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaEventQuery(end), cudaSuccess);
    assert_int_equal(cudaStreamQuery(stream), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
    assert_int_equal(cudaEventDestroy(begin), cudaSuccess);
    expect_error(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorInvalidResourceHandle);
    assert_non_null(strstr(simt_fault_message(), "cudaEventElapsedTime: the event was destroyed"));
    assert_int_equal(cudaEventDestroy(end), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming), cudaSuccess);
    assert_int_equal(cudaEventRecord(begin, cudaStreamPerThread), cudaSuccess);
    expect_error(cudaEventElapsedTime(&milliseconds, begin, begin), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventDestroy(begin), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    expect_error(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
    expect_error(cudaStreamDestroy(NULL), cudaErrorInvalidResourceHandle);
    expect_error(cudaStreamSynchronize((cudaStream_t)&stream), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaFree(memory), cudaSuccess);
}

/** Tests many live streams; a destroyed stream's number may be reused, but its handle never is. */
static void many_streams(void **state)
{
    enum { MANY = 300 };
    cudaStream_t streams[MANY];
    cudaStream_t gone;
    int *memory;

    (void)state;
    assert_int_equal(cudaMalloc((void **)&memory, MANY * sizeof *memory), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&gone), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(gone), cudaSuccess);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), cudaSuccess);
        assert_ptr_not_equal(streams[i], gone);
        assert_int_equal(cudaMemsetAsync(memory + i, i, sizeof *memory, streams[i]), cudaSuccess);
    }
    expect_error(cudaStreamSynchronize(gone), cudaErrorInvalidResourceHandle);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(cudaStreamDestroy(streams[i]), cudaSuccess);
    assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void captures_that_go_wrong(void **state)
{
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec;
    int *memory;

    (void)state;
    assert_int_equal(cudaMalloc((void **)&memory, 4096), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&first), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&second), cudaSuccess);
    assert_int_equal(cudaEventCreate(&event), cudaSuccess);
    expect_error(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    expect_error(cudaStreamEndCapture(first, &graph), cudaErrorIllegalState);
    assert_int_equal(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), cudaSuccess);
    expect_error(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
    expect_error(cudaStreamSynchronize(first), cudaErrorStreamCaptureUnsupported);
    expect_error(cudaStreamEndCapture(second, &graph), cudaErrorStreamCaptureUnmatched);
    expect_error(cudaStreamWaitEvent(first, event, 0), cudaErrorStreamCaptureIsolation);
    assert_int_equal(cudaEventRecord(event, first), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(second, event, 0), cudaSuccess);
    expect_error(cudaEventSynchronize(event), cudaErrorCapturedEvent);
    assert_int_equal(cudaMemsetAsync(memory, 0, 4, second), cudaSuccess);
    expect_error(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureUnjoined);
    assert_null(graph);
    expect_error(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
    expect_error(cudaGraphDestroy(graph), cudaErrorInvalidValue);

    /* An invalid operation is found only when the graph runs it. */
    assert_int_equal(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(memory, 0, 4097, first), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(first, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    expect_error(cudaGraphLaunch(exec, first), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    expect_error(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
    expect_error(cudaGraphLaunch(exec, first), cudaErrorInvalidValue);
    assert_int_equal(cudaEventDestroy(event), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(second), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(first), cudaSuccess);
    assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void pinned_memory(void **state)
{
    struct cudaPointerAttributes attributes;
    int *memory, *other;

    (void)state;
    expect_error(cudaMallocHost(NULL, 4), cudaErrorInvalidValue);
    expect_error(cudaPointerGetAttributes(NULL, &attributes), cudaErrorInvalidValue);
    assert_int_equal(cudaMalloc((void **)&memory, 4), cudaSuccess);
    assert_int_equal(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    assert_int_equal(cudaFree(memory), cudaSuccess);
    assert_int_equal(cudaMallocHost((void **)&other, 4), cudaSuccess);

    assert_int_equal(cudaMallocHost((void **)&memory, 4000), cudaSuccess);
    memory[999] = 1;
    assert_int_equal(cudaPointerGetAttributes(&attributes, memory + 999), cudaSuccess);
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    assert_int_equal(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess);
    assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
    assert_int_equal(cudaFreeHost(memory), cudaSuccess);
    expect_error(cudaFreeHost(memory), cudaErrorInvalidValue);
    assert_int_equal(cudaFreeHost(other), cudaSuccess);
    assert_int_equal(cudaFreeHost(NULL), cudaSuccess);
    assert_int_equal(cudaMallocHost((void **)&memory, 0), cudaSuccess);
    assert_null(memory);
}

static void memory_of_the_host_and_the_device(void **state)
{
    struct cudaPointerAttributes attributes;
    int *managed, *pinned, *words;
    void *seen;

    (void)state;
    assert_int_equal(cudaMallocManaged((void **)&managed, 40000, cudaMemAttachGlobal), cudaSuccess);
    assert_int_equal(cudaHostAlloc((void **)&pinned, 100, cudaHostAllocMapped), cudaSuccess);
    assert_int_equal(cudaMalloc((void **)&words, 100), cudaSuccess);
    managed[0] = managed[9999] = pinned[24] = 1;
    assert_int_equal(cudaPointerGetAttributes(&attributes, managed + 9999), cudaSuccess);
    assert_int_equal(attributes.type, cudaMemoryTypeManaged);
    assert_ptr_equal(attributes.devicePointer, managed + 9999);
    assert_ptr_equal(attributes.hostPointer, managed + 9999);
    assert_int_equal(cudaHostGetDevicePointer(&seen, pinned, 0), cudaSuccess);
    assert_ptr_equal(seen, pinned);
    expect_error(cudaHostGetDevicePointer(&seen, managed, 0), cudaErrorInvalidValue);
    expect_error(cudaHostGetDevicePointer(&seen, words, 0), cudaErrorInvalidValue);
    expect_error(cudaHostGetDevicePointer(&seen, &seen, 0), cudaErrorInvalidValue);
    expect_error(cudaMallocManaged((void **)&words, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
    expect_error(cudaMallocManaged((void **)&words, 4, 0), cudaErrorInvalidValue);
    assert_int_equal(cudaMemPrefetchAsync(managed, 40000, cudaCpuDeviceId, 0), cudaSuccess);
    expect_error(cudaMemPrefetchAsync(managed, 40001, 0, 0), cudaErrorInvalidValue);
    expect_error(cudaMemPrefetchAsync(managed, 4, 1, 0), cudaErrorInvalidDevice);
    expect_error(cudaMemPrefetchAsync(words, 4, 0, 0), cudaErrorInvalidValue);
    expect_error(cudaFreeHost(managed), cudaErrorInvalidValue);
    expect_error(cudaFreeHost(words), cudaErrorInvalidValue);
    expect_error(cudaFree(pinned), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(managed), cudaSuccess);
    assert_int_equal(cudaFree(words), cudaSuccess);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
}

/** Tests the functions that query or set a property of the only device. */
static void the_only_device(void **state)
{
    size_t limit, other;
    int value = -1, low = -1, high = -1;

    (void)state;
    expect_error(cudaGetDeviceCount(NULL), cudaErrorInvalidValue);
    expect_error(cudaGetDevice(NULL), cudaErrorInvalidValue);
    expect_error(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
    expect_error(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
    expect_error(cudaRuntimeGetVersion(NULL), cudaErrorInvalidValue);
    assert_int_equal(cudaRuntimeGetVersion(&low), cudaSuccess);
    assert_int_equal(cudaDriverGetVersion(&high), cudaSuccess);
    assert_int_equal(low, high);
    assert_int_equal(cudaInitDevice(0, 0, 0), cudaSuccess);
    expect_error(cudaInitDevice(1, 0, 0), cudaErrorInvalidDevice);
    assert_int_equal(cudaSetDeviceFlags(0), cudaSuccess);
    assert_int_equal(cudaDeviceGetLimit(&limit, cudaLimitStackSize), cudaSuccess);
    assert_int_equal(cudaDeviceSetLimit(cudaLimitStackSize, limit + 1), cudaSuccess);
    assert_int_equal(cudaDeviceGetLimit(&other, cudaLimitStackSize), cudaSuccess);
    assert_int_equal(other, limit + 1);
    assert_int_equal(cudaDeviceSetLimit(cudaLimitStackSize, limit), cudaSuccess);
    expect_error(cudaDeviceGetLimit(NULL, cudaLimitStackSize), cudaErrorInvalidValue);
    expect_error(cudaDeviceGetLimit(&limit, (enum cudaLimit)99), cudaErrorUnsupportedLimit);
    expect_error(cudaDeviceSetLimit((enum cudaLimit)99, 1), cudaErrorUnsupportedLimit);
    assert_int_equal(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared), cudaSuccess);
    expect_error(cudaDeviceSetCacheConfig((enum cudaFuncCache)99), cudaErrorInvalidValue);
    expect_error(cudaFuncSetCacheConfig(NULL, cudaFuncCachePreferShared), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaDeviceCanAccessPeer(&value, 0, 0), cudaSuccess);
    assert_int_equal(value, 0);
    expect_error(cudaDeviceCanAccessPeer(&value, 0, 1), cudaErrorInvalidDevice);
    expect_error(cudaDeviceCanAccessPeer(NULL, 0, 0), cudaErrorInvalidValue);
    assert_int_equal(cudaDeviceGetStreamPriorityRange(&low, &high), cudaSuccess);
    assert_true(high < low);
    assert_int_equal(cudaProfilerStart(), cudaSuccess);
    assert_int_equal(cudaProfilerStop(), cudaSuccess);
}

/** Tests functions that take a kernel, passing NULL for the kernel or for the result. */
static void no_kernel(void **state)
{
    struct cudaFuncAttributes attributes;
    size_t bytes;
    int blocks;

    (void)state;
    expect_error(cudaFuncGetAttributes(NULL, NULL), cudaErrorInvalidValue);
    expect_error(cudaFuncGetAttributes(&attributes, NULL), cudaErrorInvalidDeviceFunction);
    expect_error(cudaFuncSetAttribute(NULL, cudaFuncAttributeMaxDynamicSharedMemorySize, 0),
                 cudaErrorInvalidDeviceFunction);
    expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, NULL, 32, 0), cudaErrorInvalidValue);
    expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 32, 0), cudaErrorInvalidDeviceFunction);
    expect_error(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, NULL, 0, 32), cudaErrorInvalidValue);
    expect_error(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, NULL, 1, 32), cudaErrorInvalidDeviceFunction);
    expect_error(cudaLaunchHostFunc(NULL, NULL, NULL), cudaErrorInvalidValue);
}

static void memory_in_rows(void **state)
{
    struct cudaPitchedPtr volume;
    unsigned char host[6] = {1, 2, 3, 4, 5, 6};
    char *rows, *pinned;
    size_t pitch;

    (void)state;
    assert_int_equal(cudaMalloc3D(&volume, (struct cudaExtent){3, 2, 2}), cudaSuccess);
    assert_true(volume.pitch >= 3 && volume.xsize == 3 && volume.ysize == 2);
    expect_error(cudaMemset2D(volume.ptr, volume.pitch, 0, volume.pitch + 1, 1), cudaErrorInvalidPitchValue);
    assert_int_equal(cudaMemset2D(volume.ptr, volume.pitch, 7, 3, 4), cudaSuccess);
    expect_error(cudaMemcpy2D(host, 2, volume.ptr, volume.pitch, 3, 2, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidPitchValue);
    assert_int_equal(cudaMemcpy2D(host, 3, volume.ptr, volume.pitch, 3, 2, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host[0] + host[5], 14);
    assert_int_equal(cudaMallocPitch((void **)&rows, &pitch, 3, 2), cudaSuccess);
    assert_int_equal(cudaMemcpyPeer(rows, 0, volume.ptr, 0, 3), cudaSuccess);
    expect_error(cudaMemcpyPeer(rows, 1, volume.ptr, 0, 3), cudaErrorInvalidDevice);
    assert_int_equal(cudaMemcpy(host, rows, 3, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host[2], 7);
    expect_error(cudaMalloc3D(&volume, (struct cudaExtent){1, 3, SIZE_MAX / 2}), cudaErrorInvalidValue);
    expect_error(cudaMallocPitch(NULL, &pitch, 1, 1), cudaErrorInvalidValue);
    expect_error(cudaHostAlloc((void **)&pinned, 1, 0x80), cudaErrorNotSupported);
    assert_int_equal(cudaHostAlloc((void **)&pinned, 1, cudaHostAllocPortable), cudaSuccess);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFree(rows), cudaSuccess);
    assert_int_equal(cudaFree(volume.ptr), cudaSuccess);
}

/** Tests functions that take a stream, an event or a graph, passing invalid or destroyed handles. */
static void no_stream_event_or_graph(void **state)
{
    const cudaStream_t stream = (cudaStream_t)&stream;
    cudaEvent_t event, gone;
    cudaStream_t good;
    size_t count;
    float time;

    (void)state;
    assert_int_equal(cudaStreamCreateWithPriority(&good, cudaStreamNonBlocking, -1), cudaSuccess);
    assert_int_equal(cudaEventCreate(&event), cudaSuccess);
    assert_int_equal(cudaEventCreate(&gone), cudaSuccess);
    assert_int_equal(cudaEventDestroy(gone), cudaSuccess);
    expect_error(cudaEventCreate(NULL), cudaErrorInvalidValue);
    expect_error(cudaEventDestroy(gone), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventQuery(gone), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventSynchronize(gone), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventRecord(gone, good), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
    expect_error(cudaEventElapsedTime(NULL, event, event), cudaErrorInvalidValue);
    expect_error(cudaEventElapsedTime(&time, event, gone), cudaErrorInvalidResourceHandle);
    expect_error(cudaStreamWaitEvent(good, gone, 0), cudaErrorInvalidResourceHandle);
    expect_error(cudaStreamWaitEvent(stream, event, 0), cudaErrorInvalidResourceHandle);
    expect_error(cudaGraphUpload(NULL, good), cudaErrorInvalidValue);
    expect_error(cudaGraphExecDestroy(NULL), cudaErrorInvalidValue);
    expect_error(cudaGraphGetNodes(NULL, NULL, &count), cudaErrorInvalidValue);
    assert_int_equal(cudaEventDestroy(event), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(good), cudaSuccess);
}

/** Counts its calls; used as a host function in a graph. */
static void count_up(void *count)
{
    ++*(int *)count;
}

/**
 * Tests that the second of two executable graphs still runs after the first is destroyed, and that a graph launch
 * during a capture fails.
 */
static void graphs_that_can_be_launched(void **state)
{
    cudaGraphExec_t first, second;
    cudaGraphNode_t node;
    cudaStream_t stream;
    cudaGraph_t graph, other;
    size_t count;
    int *memory, calls = 0;

    (void)state;
    assert_int_equal(cudaMalloc((void **)&memory, 4), cudaSuccess);
    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    expect_error(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
    expect_error(cudaMallocAsync((void **)&memory, 4, stream), cudaErrorNotSupported);
    expect_error(cudaFreeAsync(memory, stream), cudaErrorNotSupported);
    assert_int_equal(cudaMemsetAsync(memory, 1, 4, stream), cudaSuccess);
    assert_int_equal(cudaLaunchHostFunc(stream, count_up, &calls), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(calls, 0);
    assert_int_equal(cudaGraphGetNodes(graph, NULL, &count), cudaSuccess);
    assert_int_equal(count, 2);
    expect_error(cudaGraphGetNodes(graph, &node, &count), cudaErrorNotSupported);
    assert_int_equal(cudaGraphInstantiate(&first, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&second, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphUpload(first, stream), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    expect_error(cudaGraphLaunch(first, stream), cudaErrorNotSupported);
    assert_int_equal(cudaStreamEndCapture(stream, &other), cudaSuccess);
    assert_int_equal(cudaGraphExecDestroy(first), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(second, stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(calls, 1);
    assert_int_equal(cudaGraphExecDestroy(second), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(other), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    assert_int_equal(cudaFree(memory), cudaSuccess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_apart),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(freed_memory_is_used_again),
        cmocka_unit_test(copies_check_both_ranges),
        cmocka_unit_test(launches_are_checked_as_on_a_gpu),
        cmocka_unit_test(the_device_says_what_it_is),
        cmocka_unit_test(streams_and_events),
        cmocka_unit_test(what_is_not_done_yet),
        cmocka_unit_test(many_streams),
        cmocka_unit_test(captures_that_go_wrong),
        cmocka_unit_test(pinned_memory),
        cmocka_unit_test(memory_of_the_host_and_the_device),
        cmocka_unit_test(the_only_device),
        cmocka_unit_test(no_kernel),
        cmocka_unit_test(memory_in_rows),
        cmocka_unit_test(no_stream_event_or_graph),
        cmocka_unit_test(graphs_that_can_be_launched),
    };

    return cmocka_run_group_tests_name("host_api", tests, NULL, NULL);
}
