/**
 * @file test_moe_counters.c
 * @brief Tests chapter 16b's counters across launches with either tile, and after a launch that gave up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/moe/moe.h"

#include <stdlib.h>
#include <string.h>

enum { TOKENS = 70, EXPERTS = 2, HIDDEN = 128, INTERMEDIATE = 64, MAX_BLOCKS = 8 };

/* test_moe_bulk_counters.c defines these for chapter 16a. */
#ifndef PATIENT
#define PATIENT   moe_launch_patient
#define IMPATIENT moe_launch_impatient
enum { LARGE = 64, MIDDLE = 32, HIDDEN_OF_NONE = 64, BLOCK_OF_NONE = 208 };
#endif

/** The chapter's launch, and a launch of the same kernels that polls a counter only once. */
cudaError_t PATIENT(const struct moe_problem *problem, const struct moe_buffers *buffers, cudaStream_t stream);
cudaError_t IMPATIENT(const struct moe_problem *problem, const struct moe_buffers *buffers, cudaStream_t stream);
typedef cudaError_t launch(const struct moe_problem *problem, const struct moe_buffers *buffers, cudaStream_t stream);

static int others; /* launches that fall back to the kernel for any shape */

cudaError_t moe_launch_any_shape(const struct moe_problem *problem, const struct moe_buffers *buffers,
                                 cudaStream_t stream)
{
    (void)problem, (void)buffers, (void)stream;
    others++;
    return cudaSuccess;
}

static const struct moe_problem problem_with_tiles = {.num_tokens = TOKENS,
                                                      .hidden_size = HIDDEN,
                                                      .intermediate_size = INTERMEDIATE,
                                                      .num_experts = EXPERTS,
                                                      .num_local_experts = EXPERTS,
                                                      .topk = 1,
                                                      .dtype = DTYPE_BF16,
                                                      .block_size = 16};

/** Device buffers of a layer that routes token t to expert t % 2, an output, and the first launch's output. */
struct fixture {
    struct moe_buffers device;
    uint16_t output[TOKENS * HIDDEN], first[TOKENS * HIDDEN];
};

static void *device_array(const void *from, size_t bytes)
{
    void *array = NULL;

    assert_int_equal(cudaMalloc(&array, bytes), cudaSuccess);
    if (from)
        cudaMemcpy(array, from, bytes, cudaMemcpyHostToDevice);
    else
        cudaMemset(array, 0, bytes);
    return array;
}

/** Returns a device array of positive and negative bf16 numbers. */
static void *numbers(size_t count)
{
    uint16_t *const host = malloc(count * sizeof *host);

    assert_non_null(host);
    for (size_t i = 0; i < count; i++)
        host[i] = (uint16_t)(0x3d80 + i * 37 % 61 + (i % 3 ? 0x8000 : 0));
    void *const device = device_array(host, count * sizeof *host);

    free(host);
    return device;
}

static int start(void **state)
{
    static struct fixture f;
    float weights[TOKENS];

    for (int t = 0; t < TOKENS; t++)
        weights[t] = 1.0f + (float)t;
    f.device = (struct moe_buffers){
        .hidden = numbers((size_t)TOKENS * HIDDEN),
        .w13 = numbers((size_t)EXPERTS * 2 * INTERMEDIATE * HIDDEN),
        .w2 = numbers((size_t)EXPERTS * HIDDEN * INTERMEDIATE),
        .topk_weights = device_array(weights, sizeof weights),
        .sorted_token_ids = device_array(NULL, MAX_BLOCKS * 64 * sizeof(int32_t)),
        .expert_ids = device_array(NULL, MAX_BLOCKS * sizeof(int32_t)),
        .num_tokens_post_padded = device_array(NULL, sizeof(int32_t)),
        .intermediate = device_array(NULL, (size_t)TOKENS * INTERMEDIATE * sizeof(uint16_t)),
        .partial = device_array(NULL, (size_t)TOKENS * HIDDEN * sizeof(uint16_t)),
        .output = device_array(NULL, (size_t)TOKENS * HIDDEN * sizeof(uint16_t)),
        .workspace = device_array(NULL, (4 + MAX_BLOCKS) * sizeof(int32_t)),
    };
    *state = &f;
    return 0;
}

static int end(void **state)
{
    const struct moe_buffers *const device = &((struct fixture *)*state)->device;

    cudaFree((void *)device->hidden), cudaFree((void *)device->w13), cudaFree((void *)device->w2);
    cudaFree((void *)device->topk_weights), cudaFree((void *)device->sorted_token_ids);
    cudaFree((void *)device->expert_ids), cudaFree((void *)device->num_tokens_post_padded);
    cudaFree(device->intermediate), cudaFree(device->partial), cudaFree(device->output), cudaFree(device->workspace);
    return 0;
}

/** Lists the tokens of both experts in blocks of `block_size`; returns the number of blocks. */
static int list_tokens(struct fixture *f, int block_size)
{
    static int32_t sorted[MAX_BLOCKS * 64], experts[MAX_BLOCKS];
    int blocks = 0;

    for (int e = 0; e < EXPERTS; e++) {
        for (int t = e; t < TOKENS; blocks++) {
            experts[blocks] = e;
            for (int i = 0; i < block_size; i++, t += EXPERTS)
                sorted[blocks * block_size + i] = t < TOKENS ? t : TOKENS;
        }
    }
    const int32_t padded = blocks * block_size;

    cudaMemcpy((void *)f->device.sorted_token_ids, sorted, (size_t)padded * sizeof *sorted, cudaMemcpyHostToDevice);
    cudaMemcpy((void *)f->device.expert_ids, experts, (size_t)blocks * sizeof *experts, cudaMemcpyHostToDevice);
    cudaMemcpy((void *)f->device.num_tokens_post_padded, &padded, sizeof padded, cudaMemcpyHostToDevice);
    return blocks;
}

/** Launches with blocks of this size, copies the output to the host and checks that all counters are 0 again. */
static void launch_over(struct fixture *f, int block_size, launch *launch)
{
    static const int32_t zeros[4 + MAX_BLOCKS];
    int32_t counters[4 + MAX_BLOCKS];
    struct moe_problem problem = problem_with_tiles;

    problem.block_size = block_size;
    problem.capacity = list_tokens(f, block_size) * block_size;

    cudaMemset(f->device.output, 0, sizeof f->output);
    assert_int_equal(launch(&problem, &f->device, 0), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    cudaMemcpy(f->output, f->device.output, sizeof f->output, cudaMemcpyDeviceToHost);
    cudaMemcpy(counters, f->device.workspace, sizeof counters, cudaMemcpyDeviceToHost);
    assert_memory_equal(counters, zeros, sizeof counters);
}

static bool is_nan(uint16_t bits)
{
    return (bits & 0x7fff) > 0x7f80;
}

static void launches_with_the_same_counters_give_the_same_bits(void **state)
{
    static const int sizes[] = {16, LARGE, MIDDLE, 16};
    struct fixture *const f = *state;

    launch_over(f, 16, PATIENT);
    memcpy(f->first, f->output, sizeof f->first);
    for (size_t i = 0; i < TOKENS * HIDDEN; i++)
        assert_false(is_nan(f->first[i]));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        launch_over(f, sizes[i], PATIENT);
        assert_memory_equal(f->output, f->first, sizeof f->first);
    }
}

static void a_launch_that_gave_up_is_reported(void **state)
{
    struct fixture *const f = *state;
    size_t count = 0;

    launch_over(f, 16, IMPATIENT);
    for (size_t i = 0; i < TOKENS * HIDDEN; i++)
        count += is_nan(f->output[i]);
    assert_int_equal(count, TOKENS * HIDDEN);
}

static void the_next_launch_finds_the_counters_ready(void **state)
{
    struct fixture *const f = *state;

    launch_over(f, LARGE, IMPATIENT);
    launch_over(f, 16, PATIENT);
    assert_memory_equal(f->output, f->first, sizeof f->first);
}

/**
 * Tests that shapes for which the chapter has no kernel fall back to the kernel for any shape. That kernel is replaced
 * by a stub, because some of these problems need more memory than any GPU has.
 */
static void what_it_has_no_kernel_for_goes_elsewhere(void **state)
{
    struct fixture *const f = *state;
    struct moe_problem problems[8];
    const int count = sizeof problems / sizeof *problems;

    for (int i = 0; i < count; i++)
        problems[i] = problem_with_tiles;
    problems[0].dtype = DTYPE_F32;
    problems[1].hidden_size = HIDDEN_OF_NONE;
    problems[2].intermediate_size = 96;
    problems[3].block_size = BLOCK_OF_NONE;
    problems[4].num_local_experts = 8192, problems[4].hidden_size = 131072; /* 2^31 rows */
    problems[5].num_local_experts = 8192, problems[5].intermediate_size = 131072;
#ifdef FEWER_PROBLEMS
    problems[6] = problems[7] = problems[0];
#else
    problems[6].num_tokens = 1 << 25, problems[6].hidden_size = 1024; /* 2^32 chunks */
    problems[7].num_tokens = 1 << 25, problems[7].intermediate_size = 1024;
#endif
    for (int i = 0; i < count; i++) {
        assert_int_equal(PATIENT(&problems[i], &f->device, 0), cudaSuccess);
        assert_int_equal(others, i + 1);
    }
}

#ifndef FEWER_PROBLEMS
static void weights_that_cannot_be_copied_are_an_error(void **state)
{
    struct moe_buffers *const device = &((struct fixture *)*state)->device;
    const void *const w13 = device->w13;

    device->w13 = (const uint16_t *)w13 + 1; /* a copy must begin at a multiple of 16 bytes */
    assert_int_equal(PATIENT(&problem_with_tiles, device, 0), cudaErrorInvalidValue);
    device->w13 = w13;
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_with_the_same_counters_give_the_same_bits),
        cmocka_unit_test(a_launch_that_gave_up_is_reported),
        cmocka_unit_test(the_next_launch_finds_the_counters_ready),
        cmocka_unit_test(what_it_has_no_kernel_for_goes_elsewhere),
#ifndef FEWER_PROBLEMS
        cmocka_unit_test(weights_that_cannot_be_copied_are_an_error),
#endif
    };

    return cmocka_run_group_tests(tests, start, end);
}
