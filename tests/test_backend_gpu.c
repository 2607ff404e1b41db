/**
 * @file test_backend_gpu.c
 * @brief Tests the messages of a GPU program whose kernels cannot run on the GPU or in this build.
 *
 * Uses the GPU backend on the simulator's GPU, which has compute capability 9.0; the tests set the architecture for
 * which the program was compiled.
 */
#include "harness/gpu/backend_gpu.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int compiled_architecture_of;
static bool kernels_run;

/* --- stubs for the kernels and cuBLAS ----------------------------------------------------------------------------- */

cudaError_t empty_kernel_launch(cudaStream_t stream)
{
    (void)stream;
    return cudaErrorNotSupported;
}

bool device_can_run_kernels(void)
{
    return kernels_run;
}

cudaError_t kernels_compiled_architecture(int *architecture)
{
    *architecture = compiled_architecture_of;
    return cudaSuccess;
}

cudaError_t generate_or_compare_array_launch(struct generated_array values, enum dtype dtype, int64_t first_index,
                                             int64_t num_values, void *to, unsigned long long *num_different)
{
    (void)values, (void)dtype, (void)first_index, (void)num_values, (void)to, (void)num_different;
    return cudaErrorNotSupported;
}

cudaError_t read_memory_launch(const void *source, size_t bytes, cudaStream_t stream)
{
    (void)source, (void)bytes, (void)stream;
    return cudaErrorNotSupported;
}

bool cublas_open(struct cublas *cublas, cudaStream_t stream)
{
    (void)cublas, (void)stream;
    return false;
}

cudaError_t cublas_multiply_bf16(const struct cublas *cublas, int size, const void *a, const void *b, void *c)
{
    (void)cublas, (void)size, (void)a, (void)b, (void)c;
    return cudaErrorNotSupported;
}

void cublas_close(struct cublas *cublas)
{
    (void)cublas;
}

/* --- the tests ---------------------------------------------------------------------------------------------------- */

/** Opens the backend in a build for `architecture`; returns the error, or "". A failure must have exit code 3. */
static const char *opened(int architecture, const struct gpu_needs *needs)
{
    static struct error error;
    struct backend_info backend;
    bool good;

    error = (struct error){0};
    compiled_architecture_of = architecture;
    kernels_run = true;
    good = backend_open(&backend, needs, &error);
    assert_int_equal(error.exit_code, good ? RUN_VERIFIED : RUN_CANNOT_RUN);
    return error.text;
}

static const struct gpu_needs ring = {.min_compute_capability = 90, .feature_name = "bulk copies"};
static const struct gpu_needs hopper = {
    .min_compute_capability = 90, .requires_exact_capability = true, .feature_name = "wgmma"};
static const struct gpu_needs later = {.min_compute_capability = 100, .feature_name = "something newer"};
static const struct gpu_needs earlier = {
    .min_compute_capability = 80, .requires_exact_capability = true, .feature_name = "something older"};

static void what_is_there_opens(void **state)
{
    (void)state;
    assert_string_equal(opened(75, NULL), "");
    assert_string_equal(opened(75, &(struct gpu_needs){0}), "");
    assert_string_equal(opened(90, &ring), "");
    assert_string_equal(opened(90, &hopper), "");
}

static void a_build_for_an_older_gpu(void **state)
{
    static const char line[] = "this program needs sm_90 and no other, for wgmma, and this build is for sm_80: "
                               "GPU_ARCH=sm_90 ninja gpu builds it for CPU simulator";

    (void)state;
    assert_string_equal(opened(80, &hopper), line);
    assert_non_null(strstr(opened(89, &ring), "needs sm_90 or later, for bulk copies, and this build is for sm_89:"));
}

static void a_gpu_that_lacks_it(void **state)
{
    (void)state;
    assert_string_equal(opened(90, &later),
                        "this program needs compute capability 10.0 or later, for something newer: CPU "
                        "simulator has 9.0");
    assert_string_equal(opened(80, &earlier),
                        "this program needs compute capability 8.0 and no other, for something older: "
                        "CPU simulator has 9.0");
}

/** Tests that the GPU's limit is reported in preference to the build's, because no other build would help. */
static void the_gpu_comes_before_the_build(void **state)
{
    struct backend_info backend;
    struct error error = {0};

    (void)state;
    kernels_run = false;
    assert_false(backend_open(&backend, &later, &error));
    assert_non_null(strstr(error.text, "this program needs compute capability 10.0 or later"));
    assert_false(backend_open(&backend, &hopper, &error));
    assert_string_equal(error.text, "CPU simulator has compute capability 9.0; this program was compiled for another: "
                                    "set GPU_ARCH to sm_90 and run ninja gpu");
    assert_int_equal(error.exit_code, RUN_CANNOT_RUN);
}

static void a_block_has_less_shared_memory(void **state)
{
    const struct gpu small = {.compute_capability = 75, .max_shared_bytes = 65536}, none = {0};
    struct error error = {0};

    (void)state;
    assert_true(gpu_check_has_shared_memory(&small, "T4", 65536, &error));
    assert_true(gpu_check_has_shared_memory(&none, "CPU simulator", 1 << 20, &error));
    assert_false(error.problem_is_unsupported);
    assert_false(gpu_check_has_shared_memory(&small, "T4", 65537, &error));
    assert_string_equal(error.text,
                        "a problem of this size needs 65537 bytes of shared memory in a thread block: T4 has 65536");
    assert_int_equal(error.exit_code, RUN_CANNOT_RUN);
    assert_true(error.problem_is_unsupported); /* --check-all counts the problem as unsupported and continues */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_opens),
        cmocka_unit_test(a_build_for_an_older_gpu),
        cmocka_unit_test(a_gpu_that_lacks_it),
        cmocka_unit_test(the_gpu_comes_before_the_build),
        cmocka_unit_test(a_block_has_less_shared_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
