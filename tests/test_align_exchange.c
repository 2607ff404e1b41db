/**
 * @file test_align_exchange.c
 * @brief Tests chapter 14b's workspace across launches of different sizes and after a launch that gave up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../chapters/14b_align_published_counts/exchange.h"
#include "harness/align/reference.h"

#include <stdlib.h>
#include <string.h>

enum { EXPERTS = 60, BLOCK_SIZE = 16, MAX_IDS = 530000 };

/** Chapter 14b's launch, and a launch whose second block polls only once for a row that has not been published. */
cudaError_t align_launch_patient(const struct align_problem *problem, const struct align_buffers *buffers,
                                 cudaStream_t stream);
cudaError_t align_launch_impatient(const struct align_problem *problem, const struct align_buffers *buffers,
                                   cudaStream_t stream);
typedef cudaError_t launch(const struct align_problem *problem, const struct align_buffers *buffers,
                           cudaStream_t stream);

/** Ids, outputs and expected outputs for the largest problem, and one workspace for all launches. */
struct fixture {
    int32_t *ids, *sorted, *experts, total;
    int32_t *expected_sorted, *expected_experts;
    struct align_buffers device;
};

static int32_t *host_array(size_t count)
{
    int32_t *const array = malloc(count * sizeof *array);

    assert_non_null(array);
    return array;
}

static void *device_array(size_t bytes)
{
    void *array = NULL;

    assert_int_equal(cudaMalloc(&array, bytes), cudaSuccess);
    return array;
}

static struct align_problem problem_of(int64_t numel)
{
    struct align_problem problem = {0};

    problem.numel = numel;
    problem.num_experts = EXPERTS;
    problem.block_size = BLOCK_SIZE;
    problem.capacity = align_worst_case_capacity(&problem);
    return problem;
}

static int start(void **state)
{
    static struct fixture f;
    const struct align_problem most = problem_of(MAX_IDS);
    const size_t places = (size_t)most.capacity, bytes = align_exchange_bytes(&most);

    f.ids = host_array(MAX_IDS);
    f.sorted = host_array(places);
    f.experts = host_array(places / BLOCK_SIZE);
    f.expected_sorted = host_array(places);
    f.expected_experts = host_array(places / BLOCK_SIZE);
    f.device.topk_ids = device_array(MAX_IDS * sizeof(int32_t));
    f.device.expert_map = NULL;
    f.device.sorted_token_ids = device_array(places * sizeof(int32_t));
    f.device.expert_ids = device_array(places / BLOCK_SIZE * sizeof(int32_t));
    f.device.num_tokens_post_padded = device_array(sizeof(int32_t));
    f.device.workspace = device_array(bytes);
    cudaMemset(f.device.workspace, 0, bytes);
    *state = &f;
    return 0;
}

static int end(void **state)
{
    struct fixture *const f = *state;

    free(f->ids);
    free(f->sorted);
    free(f->experts);
    free(f->expected_sorted);
    free(f->expected_experts);
    cudaFree((void *)f->device.topk_ids);
    cudaFree(f->device.sorted_token_ids);
    cudaFree(f->device.expert_ids);
    cudaFree(f->device.num_tokens_post_padded);
    cudaFree(f->device.workspace);
    return 0;
}

/** Launches align for `numel` ids; returns the padded length. */
static int launch_for(struct fixture *f, int64_t numel, launch *launch)
{
    const struct align_problem problem = problem_of(numel);

    for (int64_t i = 0; i < numel; i++)
        f->ids[i] = (int32_t)((i * 7 + i / 13 + numel) % (EXPERTS + 1)); /* one id in 61 names no expert */
    cudaMemcpy((void *)f->device.topk_ids, f->ids, (size_t)numel * sizeof(int32_t), cudaMemcpyHostToDevice);
    assert_int_equal(launch(&problem, &f->device, 0), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    cudaMemcpy(&f->total, f->device.num_tokens_post_padded, sizeof f->total, cudaMemcpyDeviceToHost);
    return f->total;
}

static void assert_right(struct fixture *f, int64_t numel)
{
    const struct align_problem problem = problem_of(numel);
    const size_t places = (size_t)problem.capacity;
    struct error error = {0};
    int32_t total = 0;
    struct align_buffers expected = {0};

    expected.topk_ids = f->ids;
    expected.sorted_token_ids = f->expected_sorted;
    expected.expert_ids = f->expected_experts;
    expected.num_tokens_post_padded = &total;
    assert_true(align_reference_compute(&problem, &expected, &error));
    cudaMemcpy(f->sorted, f->device.sorted_token_ids, places * sizeof(int32_t), cudaMemcpyDeviceToHost);
    cudaMemcpy(f->experts, f->device.expert_ids, places / BLOCK_SIZE * sizeof(int32_t), cudaMemcpyDeviceToHost);
    assert_int_equal(f->total, total);
    assert_memory_equal(f->sorted, f->expected_sorted, places * sizeof(int32_t));
    assert_memory_equal(f->experts, f->expected_experts, places / BLOCK_SIZE * sizeof(int32_t));
}

static const int64_t sizes[] = {6000, 9000, 8, 4500, 30000, 5000, 5000, 300000, 4097, 20000};
enum { NUM_SIZES = sizeof sizes / sizeof *sizes };

static void one_workspace_serves_launches_of_any_size(void **state)
{
    struct fixture *const f = *state;

    for (int i = 0; i < NUM_SIZES; i++) {
        launch_for(f, sizes[i], align_launch_patient);
        assert_right(f, sizes[i]);
    }
}

static void parts_may_have_several_long_tiles(void **state)
{
    struct fixture *const f = *state;

    launch_for(f, MAX_IDS, align_launch_patient);
    assert_right(f, MAX_IDS);
}

static void a_launch_that_gave_up_is_reported(void **state)
{
    assert_int_equal(launch_for(*state, 9000, align_launch_impatient), -1);
    assert_int_equal(launch_for(*state, 9000, align_launch_impatient), -1);
}

static void the_next_launch_finds_the_workspace_ready(void **state)
{
    struct fixture *const f = *state;

    for (int i = 0; i < NUM_SIZES; i++) {
        launch_for(f, 9000, align_launch_impatient);
        launch_for(f, sizes[i], align_launch_patient);
        assert_right(f, sizes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_workspace_serves_launches_of_any_size),
        cmocka_unit_test(parts_may_have_several_long_tiles),
        cmocka_unit_test(a_launch_that_gave_up_is_reported),
        cmocka_unit_test(the_next_launch_finds_the_workspace_ready),
    };

    return cmocka_run_group_tests(tests, start, end);
}
