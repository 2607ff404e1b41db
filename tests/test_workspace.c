/**
 * @file test_workspace.c
 * @brief Tests chapter 18's workspaces: there is one for each combination of stream, number of experts and capture,
 *        initially all zeros.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../chapters/18_into_a_model/workspace.h"

#include <stdbool.h>
#include <stdlib.h>

static bool memory_is_full;

/** The cudaMalloc of workspace.c. It fails, as cudaMalloc does, while `memory_is_full`. */
cudaError_t workspace_malloc(void **pointer, size_t bytes)
{
    return cudaMalloc(pointer, memory_is_full ? SIZE_MAX / 2 : bytes);
}

static char *workspace(cudaStream_t stream, int num_experts)
{
    char *memory = NULL;

    assert_int_equal(workspace_find_or_allocate(stream, 0, num_experts, &memory), cudaSuccess);
    assert_non_null(memory);
    return memory;
}

static cudaStream_t stream_new(void)
{
    cudaStream_t stream;

    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    return stream;
}

static void test_each_stream_and_number_of_experts_has_its_own(void **state)
{
    const cudaStream_t one = stream_new(), other = stream_new();
    char *const first = workspace(one, 256);

    (void)state;
    assert_ptr_not_equal(first, workspace(other, 256));
    assert_ptr_not_equal(first, workspace(one, 128));
    assert_ptr_equal(first, workspace(one, 256));
}

static void test_holds_zeros(void **state)
{
    enum { BYTES = LAYER_COUNTER_BYTES + 4352 + 16 + 2 * 192 * 256 * 4 };
    unsigned char *const bytes = malloc(BYTES);

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(cudaMemcpy(bytes, workspace(stream_new(), 200), BYTES, cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(bytes[i], 0);
    free(bytes);
}

static void begin(cudaStream_t stream)
{
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
}

static void end(cudaStream_t stream)
{
    cudaGraph_t graph;

    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
}

static void test_each_capture_has_its_own(void **state)
{
    const cudaStream_t stream = stream_new();
    char *const outside = workspace(stream, 64);

    (void)state;
    begin(stream);
    char *const first = workspace(stream, 64);

    assert_ptr_equal(first, workspace(stream, 64));
    end(stream);
    begin(stream);
    char *const second = workspace(stream, 64);

    end(stream);
    assert_ptr_not_equal(outside, first);
    assert_ptr_not_equal(outside, second);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(outside, workspace(stream, 64));
}

static void test_a_capture_allocates_nothing(void **state)
{
    const cudaStream_t stream = stream_new();
    char *memory;

    (void)state;
    begin(stream);
    assert_int_equal(workspace_find_or_allocate(stream, 0, 96, &memory), cudaErrorStreamCaptureUnsupported);
    end(stream);
    workspace(stream, 96);
    begin(stream);
    workspace(stream, 96);
    end(stream);
}

static void test_captures_do_not_run_out_between_other_calls(void **state)
{
    const cudaStream_t stream = stream_new();

    (void)state;
    for (int i = 0; i < 40; i++) {
        workspace(stream, 32);
        begin(stream);
        workspace(stream, 32);
        end(stream);
    }
}

static void test_only_a_call_without_a_workspace_needs_memory(void **state)
{
    const cudaStream_t stream = stream_new();
    char *const first = workspace(stream, 48), *memory;

    (void)state;
    for (int i = 1; i < 8; i++) { /* one allocation has eight workspaces */
        memory_is_full = i >= 4;  /* from here on, fewer than four are unused */
        workspace(stream_new(), 48);
    }
    assert_ptr_equal(first, workspace(stream, 48));
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(workspace_find_or_allocate(stream_new(), 0, 48, &memory), cudaErrorMemoryAllocation);
    memory_is_full = false;
    cudaGetLastError();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_stream_and_number_of_experts_has_its_own),
        cmocka_unit_test(test_holds_zeros),
        cmocka_unit_test(test_each_capture_has_its_own),
        cmocka_unit_test(test_a_capture_allocates_nothing),
        cmocka_unit_test(test_captures_do_not_run_out_between_other_calls),
        cmocka_unit_test(test_only_a_call_without_a_workspace_needs_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
