/** @file gpu/backend_gpu.c  A GPU as the backend of a program: times by graph replay, no counters. */
#include "harness/core/backend.h"

#include "harness/core/device_buffer.h"
#include "harness/gpu/cublas.h"
#include "harness/gpu/empty_kernel.h"
#include "harness/gpu/generate.h"
#include "harness/gpu/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAUNCHES_PER_GRAPH = 20,
    WARM_UP_REPLAYS = 5,
    REPLAYS = 50,
    LEAST_REPLAYS = 3,
    REPEATS = 5,
};

/* A launch longer than SLOW_US is captured alone in a graph, which is replayed for at most about ALL_REPLAYS_US. */
static const double SLOW_US = 5000.0, ALL_REPLAYS_US = 2000000.0;

/* Evaluates `call` unless an earlier call has failed. */
#define AND_THEN(call) (status = status == cudaSuccess ? (call) : status)

/* COPY_BYTES is larger than every cache. */
static const size_t COPY_BYTES = (size_t)1 << 30, READ_BYTES = (size_t)1 << 35;

bool backend_open(struct backend_info *backend, const struct gpu_needs *needs, struct error *error)
{
    struct cudaDeviceProp properties;
    cudaError_t status;
    int count = 0, device = 0, driver = 0, toolkit = 0;

    memset(backend, 0, sizeof *backend);
    status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0)
        return error_set_as(error, RUN_CANNOT_RUN, "no GPU: %s; build/cpu holds the same program for the CPU",
                            status == cudaSuccess ? "none is visible" : cudaGetErrorString(status));
    status = cudaGetDevice(&device); /* the first GPU, unless this process has chosen another */
    AND_THEN(cudaGetDeviceProperties(&properties, device));
    AND_THEN(cudaSetDevice(device));
    if (status != cudaSuccess)
        return error_set_cuda_failure(error, "the GPU cannot be opened", status);
    backend->gpu.compute_capability = 10 * properties.major + properties.minor;
    backend->gpu.max_shared_bytes = properties.sharedMemPerBlockOptin;
    if (!gpu_check_meets_needs(&backend->gpu, properties.name, needs, error))
        return false;
    if (!device_can_run_kernels())
        return error_set_as(error, RUN_CANNOT_RUN,
                            "%s has compute capability %d.%d; this program was compiled for another: set GPU_ARCH "
                            "to sm_%d%d and run ninja gpu",
                            properties.name, properties.major, properties.minor, properties.major, properties.minor);
    status = kernels_compiled_architecture(&backend->gpu.compiled_architecture);
    if (status != cudaSuccess)
        return error_set_cuda_failure(error, "what the kernels were compiled for", status);
    if (!build_check_meets_needs(&backend->gpu, properties.name, needs, error))
        return false;

    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&toolkit);
    snprintf(backend->device_name, sizeof backend->device_name, "%s", properties.name);
    snprintf(backend->driver_version, sizeof backend->driver_version, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    snprintf(backend->toolkit_version, sizeof backend->toolkit_version, "CUDA %d.%d", toolkit / 1000,
             toolkit % 1000 / 10);
    backend->can_measure_times = true;
    return true;
}

size_t backend_available_device_memory_bytes(void)
{
    size_t available, all;

    return cudaMemGetInfo(&available, &all) == cudaSuccess ? available : SIZE_MAX;
}

void backend_reset_counters(void)
{
}

void backend_read_counters(struct run_counters *counters)
{
    memset(counters, 0, sizeof *counters);
}

void backend_describe_divergent_branches(const struct run_counters *counters, char *text, size_t size)
{
    (void)counters, (void)size;
    text[0] = '\0';
}

void backend_enable_request_counts_by_line(void)
{
}

void backend_describe_lines_with_most_requests(const struct run_counters *counters, const char *counter_name,
                                               char *text, size_t size)
{
    (void)counters, (void)counter_name, (void)size;
    text[0] = '\0';
}

void backend_allow_host_access(bool allow)
{
    (void)allow;
}

void backend_register_array_bounds(const void *begin, size_t bytes, const char *name)
{
    (void)begin, (void)bytes, (void)name;
}

void backend_mark_unwritten(const void *begin, size_t bytes)
{
    (void)begin, (void)bytes;
}

bool backend_try_share_memory_with_forks(void)
{
    return false;
}

cudaError_t backend_generate_or_compare(struct generated_array values, enum dtype dtype, int64_t first_index,
                                        int64_t num_values, void *device, uint64_t *num_different)
{
    unsigned long long *counter = NULL;
    uint64_t counted = 0;
    cudaError_t status = num_different ? cudaMalloc((void **)&counter, sizeof *counter) : cudaSuccess;

    if (num_different)
        AND_THEN(cudaMemset(counter, 0, sizeof *counter));
    AND_THEN(generate_or_compare_array_launch(values, dtype, first_index, num_values, device, counter));
    AND_THEN(num_different ? cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost)
                           : cudaDeviceSynchronize());
    cudaFree(counter);
    if (num_different)
        *num_different += counted;
    return status;
}

const char *backend_fault_message(void)
{
    return NULL;
}

const char *backend_counter_limitations(void)
{
    return NULL;
}

bool backend_begin_first_block_trace(const char *kernel_name_or_null, struct error *error)
{
    (void)kernel_name_or_null;
    return error_set(error, "--trace: a GPU cannot be traced; use the program in build/cpu");
}

bool backend_end_and_write_trace(FILE *stream_or_null, struct error *error)
{
    (void)stream_or_null;
    return backend_begin_first_block_trace(NULL, error);
}

/* --- graphs ------------------------------------------------------------------------------------------------------- */

/** A graph of launches, and everything needed to replay and time it. */
struct replay {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    int launches, warm_ups, replays;
    void *flush; /**< buffer, twice the size of L2, that a flush overwrites; NULL to keep the cache warm */
    size_t flush_bytes;
};

static void replay_end(struct replay *replay)
{
    if (replay->executable)
        cudaGraphExecDestroy(replay->executable);
    if (replay->graph)
        cudaGraphDestroy(replay->graph);
    if (replay->begin)
        cudaEventDestroy(replay->begin);
    if (replay->end)
        cudaEventDestroy(replay->end);
    if (replay->stream)
        cudaStreamDestroy(replay->stream);
    cudaFree(replay->flush);
}

static cudaError_t replay_allocate_flush(struct replay *replay)
{
    int l2_bytes = 0;
    cudaError_t status = cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0);

    replay->flush_bytes = 2 * (size_t)l2_bytes;
    return status == cudaSuccess ? cudaMalloc(&replay->flush, replay->flush_bytes) : status;
}

/**
 * Launches once to warm up the device and a second time to measure the launch, whose time determines how many launches
 * the graph has and how often it is replayed. All launches outside graphs use the default stream: on an H200, after a
 * process has made 16 launches in total in two or more streams, every kernel, even an empty one, runs 0.18 us longer
 * until the process ends.
 */
static cudaError_t replay_plan(struct replay *replay, backend_timed_launch_function *launch, void *context)
{
    cudaError_t status = cudaSuccess;
    float ms = 0.0f;

    for (int i = 0; launch && i < 2; i++) {
        AND_THEN(cudaEventRecord(replay->begin, NULL));
        AND_THEN(launch(context, 0, NULL));
        AND_THEN(cudaEventRecord(replay->end, NULL));
        AND_THEN(cudaEventSynchronize(replay->end));
        AND_THEN(cudaEventElapsedTime(&ms, replay->begin, replay->end));
    }

    const bool slow = 1000.0 * ms > SLOW_US;
    const double most = slow ? ALL_REPLAYS_US / (1000.0 * ms) : REPLAYS;

    replay->launches = slow ? 1 : LAUNCHES_PER_GRAPH;
    replay->warm_ups = slow ? 1 : WARM_UP_REPLAYS;
    replay->replays = most > REPLAYS ? REPLAYS : most < LEAST_REPLAYS ? LEAST_REPLAYS : (int)most;
    return status;
}

/**
 * Captures the launches in a graph, each preceded by a cache flush if replay->flush is not NULL. If `launch` is NULL,
 * captures only the flushes.
 */
static cudaError_t replay_capture(struct replay *replay, backend_timed_launch_function *launch, void *context)
{
    cudaError_t status = cudaStreamBeginCapture(replay->stream, cudaStreamCaptureModeThreadLocal);
    cudaError_t ended;

    for (int turn = 0; status == cudaSuccess && turn < replay->launches; turn++) {
        if (replay->flush)
            status = cudaMemsetAsync(replay->flush, turn, replay->flush_bytes, replay->stream);
        if (status == cudaSuccess && launch)
            status = launch(context, turn, replay->stream);
    }
    ended = cudaStreamEndCapture(replay->stream, &replay->graph);
    status = status == cudaSuccess ? ended : status;
    return status == cudaSuccess ? cudaGraphInstantiate(&replay->executable, replay->graph, 0) : status;
}

static cudaError_t replay_start(struct replay *replay, backend_timed_launch_function *launch, void *context,
                                enum backend_cache_state cache)
{
    cudaError_t status;

    memset(replay, 0, sizeof *replay);
    status = cudaStreamCreateWithFlags(&replay->stream, cudaStreamNonBlocking);
    AND_THEN(cudaEventCreate(&replay->begin));
    AND_THEN(cudaEventCreate(&replay->end));
    AND_THEN(replay_plan(replay, launch, context));
    if (status == cudaSuccess && cache == BACKEND_CACHE_FLUSHED)
        status = replay_allocate_flush(replay);
    return status == cudaSuccess ? replay_capture(replay, launch, context) : status;
}

/** Replays the graph and measures the microseconds per launch. */
static cudaError_t replay_time(struct replay *replay, struct timing *timing)
{
    double times[REPLAYS];

    for (int i = -replay->warm_ups; i < replay->replays; i++) {
        float ms = 0.0f;
        cudaError_t status = cudaEventRecord(replay->begin, replay->stream);

        AND_THEN(cudaGraphLaunch(replay->executable, replay->stream));
        AND_THEN(cudaEventRecord(replay->end, replay->stream));
        AND_THEN(cudaEventSynchronize(replay->end));
        AND_THEN(cudaEventElapsedTime(&ms, replay->begin, replay->end));
        if (status != cudaSuccess)
            return status;
        if (i >= 0)
            times[i] = 1000.0 * ms / replay->launches;
    }
    *timing = timing_from_samples(times, replay->replays);
    return cudaSuccess;
}

static bool time_graph(backend_timed_launch_function *launch, void *context, enum backend_cache_state cache,
                       struct timing *timing, struct error *error)
{
    struct replay replay;
    cudaError_t status = replay_start(&replay, launch, context, cache);

    AND_THEN(replay_time(&replay, timing));
    replay_end(&replay);
    return status == cudaSuccess || error_set_cuda_failure(error, "timing", status);
}

bool backend_time_launch(backend_timed_launch_function *launch, void *context, enum backend_cache_state cache,
                         struct timing *timing, struct error *error)
{
    struct timing flush;

    if (!time_graph(launch, context, cache, timing, error))
        return false;
    if (cache == BACKEND_CACHE_WARM)
        return true;
    /* Subtracts the time of the flushes, which is not part of the launch. */
    if (!time_graph(NULL, NULL, cache, &flush, error))
        return false;
    timing->median -= flush.median;
    timing->p10 -= flush.median;
    timing->p90 -= flush.median;
    return true;
}

/* --- floor -------------------------------------------------------------------------------------------------------- */

static cudaError_t launch_empty(void *context, int turn, cudaStream_t stream)
{
    (void)context, (void)turn;
    return empty_kernel_launch(stream);
}

/** Measures the shortest time among a few consecutive launches. */
static cudaError_t shortest(backend_timed_launch_function *launch, void *context, float *shortest_ms)
{
    cudaEvent_t begin = NULL, end = NULL;
    cudaError_t status = cudaEventCreate(&begin);

    AND_THEN(cudaEventCreate(&end));
    for (int i = 0; status == cudaSuccess && i < REPEATS; i++) {
        float ms = 0.0f;

        status = cudaEventRecord(begin, NULL);
        AND_THEN(launch(context, i, NULL));
        AND_THEN(cudaEventRecord(end, NULL));
        AND_THEN(cudaEventSynchronize(end));
        AND_THEN(cudaEventElapsedTime(&ms, begin, end));
        if (i == 0 || ms < *shortest_ms)
            *shortest_ms = ms;
    }
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return status;
}

/** The buffer that a timed launch reads or copies. */
struct stretch {
    char *memory;
    size_t bytes;
};

/** Launches a copy of one half of the buffer to the other half. */
static cudaError_t launch_copy(void *context, int turn, cudaStream_t stream)
{
    const struct stretch *const stretch = context;
    const size_t half = stretch->bytes / 2;

    (void)turn;
    return cudaMemcpyAsync(stretch->memory + half, stretch->memory, half, cudaMemcpyDeviceToDevice, stream);
}

/** Launches a kernel that reads the entire buffer. */
static cudaError_t launch_read(void *context, int turn, cudaStream_t stream)
{
    const struct stretch *const stretch = context;

    (void)turn;
    return read_memory_launch(stretch->memory, stretch->bytes, stream);
}

/** Measures the bandwidth of a launch that moves `bytes` bytes. */
static cudaError_t measure_rate(backend_timed_launch_function *launch, size_t bytes, double *bytes_per_second)
{
    struct stretch stretch = {.bytes = bytes};
    float ms = 0.0f;
    cudaError_t status = cudaMalloc((void **)&stretch.memory, bytes);

    AND_THEN(cudaMemset(stretch.memory, 1, bytes));
    AND_THEN(shortest(launch, &stretch, &ms));
    cudaFree(stretch.memory);
    *bytes_per_second = ms > 0.0f ? (double)bytes / (1e-3 * ms) : 0.0;
    return status;
}

bool backend_measure_launch_time_and_copy_rate(struct launch_time_and_copy_rate *measured, struct error *error)
{
    struct timing empty;
    cudaError_t status;

    if (!backend_time_launch(launch_empty, NULL, BACKEND_CACHE_WARM, &empty, error))
        return false;
    measured->empty_kernel_us = empty.median;
    status = measure_rate(launch_copy, 2 * COPY_BYTES, &measured->copy_bytes_per_second);
    return status == cudaSuccess || error_set_cuda_failure(error, "measuring the copy bandwidth", status);
}

bool backend_measure_read_bandwidth(double *bytes_per_second, struct error *error)
{
    size_t free_bytes = 0, all_bytes;
    cudaError_t status = cudaMemGetInfo(&free_bytes, &all_bytes);

    /* Uses as much memory as possible: with 2 GiB, the rate was 3,960 GB/s in some runs and 4,540 GB/s in others. */
    AND_THEN(measure_rate(launch_read,
                          (free_bytes < READ_BYTES ? free_bytes : READ_BYTES) / 2 / READ_CHUNK_BYTES * READ_CHUNK_BYTES,
                          bytes_per_second));
    return status == cudaSuccess || error_set_cuda_failure(error, "measuring the read bandwidth", status);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

enum { PRODUCT_SIZE = 8192, PRODUCTS_PER_BATCH = 8, MAX_BATCHES = 1024 };

/** Measures the median time of a batch of products, over consecutive batches that run for at least `min_us`. */
static cudaError_t time_batches(struct replay *replay, const struct cublas *cublas, char *matrices, double min_us,
                                double *median_us)
{
    const size_t bytes = (size_t)PRODUCT_SIZE * PRODUCT_SIZE * 2;
    double times[MAX_BATCHES], all = 0.0;
    cudaError_t status = cudaSuccess;
    int count = 0;

    for (int batch = -1; status == cudaSuccess && count < MAX_BATCHES && (count < REPEATS || all < min_us); batch++) {
        float ms = 0.0f;

        status = cudaEventRecord(replay->begin, replay->stream);
        for (int i = 0; i < PRODUCTS_PER_BATCH; i++)
            AND_THEN(cublas_multiply_bf16(cublas, PRODUCT_SIZE, matrices, matrices + bytes, matrices + 2 * bytes));
        AND_THEN(cudaEventRecord(replay->end, replay->stream));
        AND_THEN(cudaEventSynchronize(replay->end));
        AND_THEN(cudaEventElapsedTime(&ms, replay->begin, replay->end));
        all += 1000.0 * ms;
        if (batch >= 0) /* the first batch warms up the device and the library */
            times[count++] = 1000.0 * ms;
    }
    *median_us = status == cudaSuccess ? timing_from_samples(times, count).median : 0.0;
    return status;
}

/** Measures products of generated matrices, because products of zeros draw less power and run faster. */
static cudaError_t measure_products(const struct cublas *cublas, struct replay *replay, double min_us,
                                    double *operations_per_second)
{
    const int64_t elements = (int64_t)PRODUCT_SIZE * PRODUCT_SIZE;
    double us = 0.0;
    char *matrices = NULL;
    cudaError_t status = cudaMalloc((void **)&matrices, (size_t)(3 * elements) * 2);

    AND_THEN(generate_or_compare_array_launch(generated_array_make(1, 0, 1.0f), DTYPE_BF16, 0, 2 * elements, matrices,
                                              NULL));
    AND_THEN(cudaDeviceSynchronize());
    AND_THEN(time_batches(replay, cublas, matrices, min_us, &us));
    cudaFree(matrices);
    *operations_per_second = us > 0.0 ? 2e6 * (double)elements * PRODUCT_SIZE * PRODUCTS_PER_BATCH / us : 0.0;
    return status;
}

bool backend_measure_gemm_rate(double min_us, double *operations_per_second, struct error *error)
{
    struct replay replay = {0};
    struct cublas cublas;
    cudaError_t status = cudaStreamCreateWithFlags(&replay.stream, cudaStreamNonBlocking);

    *operations_per_second = 0.0;
    AND_THEN(cudaEventCreate(&replay.begin));
    AND_THEN(cudaEventCreate(&replay.end));
    if (status == cudaSuccess && cublas_open(&cublas, replay.stream)) {
        status = measure_products(&cublas, &replay, min_us, operations_per_second);
        cublas_close(&cublas);
    }
    replay_end(&replay);
    return status == cudaSuccess || error_set_cuda_failure(error, "measuring cuBLAS", status);
}
