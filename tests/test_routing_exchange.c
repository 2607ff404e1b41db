/**
 * @file test_routing_exchange.c
 * @brief Tests chapter 15's workspace across launches of different sizes and after a launch that gave up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../chapters/15_one_launch/exchange.h"
#include "harness/align/check.h"
#include "harness/gate/check.h"
#include "harness/gate/input.h"

#include <stdlib.h>

enum { EXPERTS = 128, CHOICES = 4, BLOCK_SIZE = 8, MOST = 64, PLACES = MOST * CHOICES * BLOCK_SIZE };

/** Chapter 15's launch, and a launch of the same kernel that does not wait for other blocks. */
cudaError_t routing_launch_patient(const struct routing_problem *problem, const struct routing_buffers *buffers,
                                   cudaStream_t stream);
cudaError_t routing_launch_impatient(const struct routing_problem *problem, const struct routing_buffers *buffers,
                                     cudaStream_t stream);
typedef cudaError_t launch(const struct routing_problem *problem, const struct routing_buffers *buffers,
                           cudaStream_t stream);

static int pairs; /* launches of routing_launch_pair */

/**
 * Counts its calls. Stands in for the two launches that are used if the tokens need more blocks than can be resident on
 * the device at once.
 */
cudaError_t routing_launch_pair(const struct routing_problem *problem, const struct routing_buffers *buffers,
                                cudaStream_t stream)
{
    (void)problem, (void)buffers, (void)stream;
    pairs++;
    return cudaSuccess;
}

/** Host and device copies of all arrays. */
struct fixture {
    struct routing_buffers host, device;
};

static void *host_array(size_t bytes)
{
    void *const array = malloc(bytes);

    assert_non_null(array);
    return array;
}

static void *device_array(size_t bytes)
{
    void *array = NULL;

    assert_int_equal(cudaMalloc(&array, bytes), cudaSuccess);
    return array;
}

static struct routing_buffers buffers_of(void *allocate(size_t))
{
    struct routing_buffers buffers = {0};

    buffers.gate.gating_output = allocate(MOST * EXPERTS * sizeof(float));
    buffers.gate.topk_weights = allocate(MOST * CHOICES * sizeof(float));
    buffers.gate.topk_ids = allocate(MOST * CHOICES * sizeof(int32_t));
    buffers.align.topk_ids = buffers.gate.topk_ids;
    buffers.align.sorted_token_ids = allocate(PLACES * sizeof(int32_t));
    buffers.align.expert_ids = allocate(PLACES / BLOCK_SIZE * sizeof(int32_t));
    buffers.align.num_tokens_post_padded = allocate(sizeof(int32_t));
    buffers.align.workspace = allocate(EXCHANGE_BYTES);
    return buffers;
}

static void free_all(const struct routing_buffers *buffers, void release(void *))
{
    release((void *)buffers->gate.gating_output);
    release(buffers->gate.topk_weights);
    release(buffers->gate.topk_ids);
    release(buffers->align.sorted_token_ids);
    release(buffers->align.expert_ids);
    release(buffers->align.num_tokens_post_padded);
    release(buffers->align.workspace);
}

static void release_device(void *array)
{
    cudaFree(array);
}

static int start(void **state)
{
    static struct fixture f;

    f.host = buffers_of(host_array);
    f.device = buffers_of(device_array);
    cudaMemset(f.device.align.workspace, 0, EXCHANGE_BYTES);
    *state = &f;
    return 0;
}

static int end(void **state)
{
    struct fixture *const f = *state;

    free_all(&f->host, free);
    free_all(&f->device, release_device);
    return 0;
}

static struct routing_problem problem_of(int num_tokens)
{
    struct routing_problem problem = {0};

    problem.gate.num_tokens = num_tokens;
    problem.gate.num_experts = EXPERTS;
    problem.gate.num_expert_group = 4;
    problem.gate.topk_group = 2;
    problem.gate.topk = CHOICES;
    problem.gate.renormalize = true;
    problem.gate.routed_scaling_factor = 1.0f;
    problem.align.numel = (int64_t)num_tokens * CHOICES;
    problem.align.num_experts = EXPERTS;
    problem.align.block_size = BLOCK_SIZE;
    problem.align.capacity = problem.align.numel * BLOCK_SIZE;
    return problem;
}

static void fetch(void *host, const void *device, size_t bytes)
{
    assert_int_equal(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
}

/** Launches for the problem's tokens and copies the outputs to the host; returns the padded length. */
static int launch_for(struct fixture *f, const struct routing_problem *problem, launch *launch)
{
    const size_t ids = (size_t)problem->align.numel, places = (size_t)problem->align.capacity;
    void *const logits = (void *)f->host.gate.gating_output;

    gate_generate_logits(&problem->gate, GATE_DIST_ZIPF, (uint64_t)ids, logits);
    cudaMemcpy((void *)f->device.gate.gating_output, logits, (size_t)problem->gate.num_tokens * EXPERTS * sizeof(float),
               cudaMemcpyHostToDevice);
    assert_int_equal(launch(problem, &f->device, 0), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    fetch(f->host.gate.topk_weights, f->device.gate.topk_weights, ids * sizeof(float));
    fetch(f->host.gate.topk_ids, f->device.gate.topk_ids, ids * sizeof(int32_t));
    fetch(f->host.align.num_tokens_post_padded, f->device.align.num_tokens_post_padded, sizeof(int32_t));
    if (*f->host.align.num_tokens_post_padded >= 0) {
        fetch(f->host.align.sorted_token_ids, f->device.align.sorted_token_ids, places * sizeof(int32_t));
        fetch(f->host.align.expert_ids, f->device.align.expert_ids, places / BLOCK_SIZE * sizeof(int32_t));
    }
    return *f->host.align.num_tokens_post_padded;
}

static void assert_right(struct fixture *f, int num_tokens)
{
    const struct routing_problem problem = problem_of(num_tokens);
    struct error error = {0};

    launch_for(f, &problem, routing_launch_patient);
    if (!gate_check(&problem.gate, &f->host.gate, GATE_TIES_LOWER_WINS, &error) ||
        !align_check(&problem.align, &f->host.align, true, &error))
        fail_msg("%d tokens: %s", num_tokens, error.text);
}

static void one_workspace_serves_launches_of_any_size(void **state)
{
    static const int sizes[] = {2, 2, 2, 40, 3, 1, 64, 1, 5, 64, 64, 2, 7};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_right(*state, sizes[i]);
}

/** Checks that all blocks of a launch that does not wait give up and that no block writes to the sorted ids. */
static void assert_gives_up(struct fixture *f, int num_tokens)
{
    const struct routing_problem problem = problem_of(num_tokens);
    const size_t bytes = (size_t)problem.align.capacity * sizeof(int32_t);
    unsigned char *const sorted = (unsigned char *)f->host.align.sorted_token_ids;

    cudaMemset(f->device.align.sorted_token_ids, 0x55, bytes);
    assert_int_equal(launch_for(f, &problem, routing_launch_impatient), -1);
    fetch(sorted, f->device.align.sorted_token_ids, bytes);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(sorted[i], 0x55);
}

static void a_word_that_does_not_come_is_an_error_and_the_next_launch_is_right(void **state)
{
    for (int num_tokens = 2; num_tokens < 20; num_tokens += 6) {
        assert_gives_up(*state, num_tokens);
        assert_right(*state, num_tokens + 1);
        assert_gives_up(*state, num_tokens);
        assert_gives_up(*state, num_tokens);
        assert_right(*state, num_tokens);
    }
}

static void one_token_waits_for_no_other(void **state)
{
    const struct routing_problem problem = problem_of(1);

    assert_int_equal(launch_for(*state, &problem, routing_launch_impatient), CHOICES * BLOCK_SIZE);
}

static void more_tokens_than_fit_and_none_take_two_launches(void **state)
{
    struct fixture *const f = *state;
    struct routing_problem problem = problem_of(MAX_TOKENS);

    assert_int_equal(routing_launch_patient(&problem, &f->device, 0), cudaSuccess);
    assert_int_equal(pairs, 1); /* the simulator has room for 128 blocks of 128 threads */
    problem.gate.num_tokens = MAX_TOKENS + 1;
    assert_int_equal(routing_launch_patient(&problem, &f->device, 0), cudaSuccess);
    assert_int_equal(pairs, 2);
    problem.gate.num_tokens = 0;
    assert_int_equal(routing_launch_patient(&problem, &f->device, 0), cudaSuccess);
    assert_int_equal(pairs, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_workspace_serves_launches_of_any_size),
        cmocka_unit_test(a_word_that_does_not_come_is_an_error_and_the_next_launch_is_right),
        cmocka_unit_test(one_token_waits_for_no_other),
        cmocka_unit_test(more_tokens_than_fit_and_none_take_two_launches),
    };

    return cmocka_run_group_tests(tests, start, end);
}
