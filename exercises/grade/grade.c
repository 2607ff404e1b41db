/** @file grade.c  Runs one case of a grader: manages the case's memory, launches and termination. */
#include "grade.h"

#include "grade_state.h"
#include "base/memory.h"
#include "harness/core/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the case ----------------------------------------------------------------------------------------------------- */

/** Returns the number of the random stream for a name (the Fowler-Noll-Vo hash). */
static uint64_t stream_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/** Frees the case's arrays and memory. */
static void clean(struct grade_context *grade)
{
    for (int i = 0; i < grade->num_arrays; i++)
        device_buffer_free(&grade->arrays[i].buffer);
    for (int i = 0; i < grade->num_host_allocations; i++)
        free(grade->host_allocations[i]);
    free(grade->host_allocations);
    grade->host_allocations = NULL;
    grade->num_arrays = grade->num_host_allocations = grade->max_host_allocations = 0;
}

void grade_run_case(struct grade_context *grade, const struct grade_case *grade_case)
{
    grade->random = random_seed(grade->seed, stream_of(grade_case->name));
    grade->input_description[0] = grade->message[0] = '\0';
    grade->num_measurements = 0;
    grade->result = GRADE_PASSED;
    grade->failed_launch_status = cudaSuccess;
    cudaGetLastError(); /* clears the error of an earlier case */
    backend_reset_counters();
    if (setjmp(grade->failure_target) == 0)
        grade_case->run(grade);
    clean(grade);
}

/** Ends the case with a message and the description from grade_describe_input(). */
static _Noreturn void end_case(struct grade_context *grade, enum grade_result result, const char *format,
                               va_list arguments)
{
    char text[GRADE_MESSAGE_SIZE];
    const char *advice;

    grade->result = result;
    vsnprintf(text, sizeof text, format, arguments);
    advice = error_find_advice_separator_or_end(text);
    if (grade->input_description[0])
        snprintf(grade->message, sizeof grade->message, "%.*s (%s)%s", (int)(advice - text), text,
                 grade->input_description, advice);
    else
        memcpy(grade->message, text, sizeof text);
    longjmp(grade->failure_target, 1);
}

_Noreturn void grade_fail(struct grade_context *grade, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_case(grade, GRADE_FAILED, format, arguments);
}

static _Noreturn void end_as(struct grade_context *grade, enum grade_result result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    end_case(grade, result, format, arguments);
}

_Noreturn void grade_end_case_with_launch_failure(struct grade_context *grade, cudaError_t status, const char *text)
{
    grade->failed_launch_status = status;
    end_as(grade, GRADE_FAULTED, "%s",
           grade->child_results && grade->child_results->fault[0] ? grade->child_results->fault : text);
}

_Noreturn void grade_end_case_ungraded(struct grade_context *grade, const struct error *error)
{
    end_as(grade, GRADE_UNGRADED, "not your fault: %s", error->text);
}

/* --- input -------------------------------------------------------------------------------------------------------- */

struct random *grade_random(struct grade_context *grade)
{
    return &grade->random;
}

void grade_fill_mostly_distinct(struct random *random, float *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = random_normal(random);
}

void grade_fill_ties(struct random *random, float *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = (float)random_below(random, 3) - 1.0f;
}

void grade_describe_input(struct grade_context *grade, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(grade->input_description, sizeof grade->input_description, format, arguments);
    va_end(arguments);
}

void *grade_allocate_host(struct grade_context *grade, size_t bytes)
{
    struct error error;
    void *memory;

    if (grade->num_host_allocations == grade->max_host_allocations) {
        const int most = grade->max_host_allocations ? 2 * grade->max_host_allocations : 16;
        void **const larger = realloc(grade->host_allocations, (size_t)most * sizeof *larger);

        if (!larger) {
            error_set(&error, "out of memory");
            grade_end_case_ungraded(grade, &error);
        }
        grade->host_allocations = larger;
        grade->max_host_allocations = most;
    }
    if (!memory_allocate(&memory, bytes, &error))
        grade_end_case_ungraded(grade, &error);
    grade->host_allocations[grade->num_host_allocations++] = memory;
    return memory;
}

/* --- device memory ------------------------------------------------------------------------------------------------ */

static struct grade_array *add_array(struct grade_context *grade, const char *name, size_t bytes)
{
    struct grade_array *const array = &grade->arrays[grade->num_arrays];
    struct error error;

    if (grade->num_arrays == GRADE_MAX_ARRAYS) {
        error_set(&error, "the grader makes more than %d arrays", GRADE_MAX_ARRAYS);
        grade_end_case_ungraded(grade, &error);
    }
    if (!device_buffer_allocate(&array->buffer, name, bytes, 0, &error))
        grade_end_case_ungraded(grade, &error);
    array->name = name;
    array->initial_contents = NULL;
    grade->num_arrays++;
    return array;
}

static struct grade_array *add_copy(struct grade_context *grade, const char *name, const void *host, size_t bytes)
{
    struct grade_array *const array = add_array(grade, name, bytes);
    struct error error;

    if (!device_buffer_upload(&array->buffer, host, &error))
        grade_end_case_ungraded(grade, &error);
    return array;
}

void *grade_device_input(struct grade_context *grade, const char *name, const void *host, size_t bytes)
{
    struct grade_array *const array = add_copy(grade, name, host, bytes);
    void *const copy = grade_allocate_host(grade, bytes);

    array->initial_contents = memcpy(copy, host, bytes);
    return array->buffer.data;
}

void *grade_device_inout(struct grade_context *grade, const char *name, const void *host, size_t bytes)
{
    return add_copy(grade, name, host, bytes)->buffer.data;
}

void *grade_device_output(struct grade_context *grade, const char *name, size_t bytes)
{
    struct grade_array *const array = add_array(grade, name, bytes);
    struct error error;

    if (!device_buffer_poison(&array->buffer, GRADE_POISON_BYTE, &error))
        grade_end_case_ungraded(grade, &error);
    return array->buffer.data;
}

const void *grade_download(struct grade_context *grade, const void *device)
{
    struct error error = {.text = "the grader asks for an array that it did not make"};

    for (int i = 0; i < grade->num_arrays; i++) {
        const struct device_buffer *const buffer = &grade->arrays[i].buffer;

        if (buffer->data == device) {
            void *const host = grade_allocate_host(grade, buffer->bytes);

            if (device_buffer_download(buffer, host, &error))
                return host;
            break;
        }
    }
    grade_end_case_ungraded(grade, &error);
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

void grade_read_and_reset_counters(struct grade_context *grade)
{
    backend_read_counters(&grade->counters);
    backend_reset_counters();
}

void grade_check_launch_and_arrays(struct grade_context *grade)
{
    const cudaError_t status = grade->child_status;
    struct error error;

    if (status != cudaSuccess) {
        error_set_launch_failure(status, &error);
        grade_end_case_with_launch_failure(grade, status, error.text);
    }
    for (int i = 0; i < grade->num_arrays; i++) {
        const struct grade_array *const array = &grade->arrays[i];

        if (!device_buffer_check_guards(&array->buffer, array->name, &error) ||
            (array->initial_contents &&
             !device_buffer_check_unchanged(&array->buffer, array->initial_contents, array->name, &error)))
            grade_fail(grade, "%s", error.text);
    }
}
