/**
 * @file simt_test.h
 * @brief Helpers for the simulator's tests: device buffers, counters, and faults at marked lines of the source.
 *
 * A test file contains kernels together with their tests. It is compiled as C++ but written in the style of C.
 */
#ifndef SIMT_TEST_H
#define SIMT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cmocka's header does not declare its functions as extern "C". */
extern "C" {
#include <cmocka.h>
}
#include <cuda_runtime.h>

#include "simt.h"

enum { FULL_MASK = -1 };

#define WORDS 4096

/** Allocates a device buffer of WORDS ints, all equal to `value`. */
static inline int *device_words(int value)
{
    static int host[WORDS];
    int *words = NULL;

    for (int i = 0; i < WORDS; i++)
        host[i] = value;
    assert_int_equal(cudaMalloc(&words, sizeof host), cudaSuccess);
    assert_int_equal(cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
    return words;
}

/** Allocates a device buffer of WORDS ints: 0, 1, 2, and so on. */
static inline int *device_iota(void)
{
    static int host[WORDS];
    int *words = device_words(0);

    for (int i = 0; i < WORDS; i++)
        host[i] = i;
    assert_int_equal(cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
    return words;
}

/** Copies a device buffer of WORDS ints to the host and frees the buffer. The copy is valid until the next call. */
static inline const int *download_and_free_words(int *words)
{
    static int host[WORDS];

    assert_int_equal(cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaFree(words), cudaSuccess);
    return host;
}

/** Returns the number of the line of `file` that has [mark] in a comment, or 0 if there is none. */
static inline int line_marked(const char *file, const char *mark)
{
    char bracketed[80];
    char text[512];
    int line = 0;
    FILE *source = fopen(file, "r");

    snprintf(bracketed, sizeof bracketed, " [%s]", mark);
    if (!source)
        return 0;
    while (fgets(text, sizeof text, source)) {
        line++;
        if (strstr(text, "// [") && strstr(strstr(text, "// ["), bracketed)) {
            fclose(source);
            return line;
        }
    }
    fclose(source);
    return 0;
}

/** Fails the test unless the last launch succeeded. */
static inline void expect_success(void)
{
    const cudaError_t error = cudaGetLastError();

    if (error != cudaSuccess)
        fail_msg("%s: %s", cudaGetErrorName(error), simt_fault_message() ? simt_fault_message() : "no line");
    assert_null(simt_fault_message());
}

/**
 * Checks whether `fault` begins with a location in `file`; it has no location if the tool that looks up lines is not
 * installed.
 */
static inline bool starts_with_location(const char *fault, const char *file)
{
    return strncmp(fault, file, strlen(file)) == 0;
}

/** Fails unless the launch failed with `error` at the line of `file` marked [mark] and the message contains `text`. */
static inline void expect_fault(cudaError_t error, const char *file, const char *mark, const char *text)
{
    char place[512];

    assert_int_equal(cudaPeekAtLastError(), error);
    assert_int_equal(cudaDeviceSynchronize(), error);
    assert_int_equal(cudaGetLastError(), error);
    assert_int_equal(cudaGetLastError(), cudaSuccess);

    const char *fault = simt_fault_message();

    assert_non_null(fault);
    if (!strstr(fault, text))
        fail_msg("\"%s\" does not say \"%s\"", fault, text);
    snprintf(place, sizeof place, "%s:%d: ", file, line_marked(file, mark));
    if (starts_with_location(fault, file) && strncmp(fault, place, strlen(place)) != 0)
        fail_msg("\"%s\" is not at %s", fault, place);
    if (!starts_with_location(fault, file))
        print_message("# no file and line in \"%s\"\n", fault);
}

/** Returns argument `i`, or `otherwise` if there are fewer arguments. Ends the program if it is not a whole number. */
static inline uint64_t numeric_argument(int argc, char **argv, int i, uint64_t otherwise)
{
    char *end = NULL;
    const uint64_t number = i < argc ? strtoull(argv[i], &end, 10) : otherwise;

    if (end && (argv[i][0] < '0' || argv[i][0] > '9' || *end != '\0')) {
        fprintf(stderr, "%s: '%s' is not a whole number; usage: %s [PROGRAMS [FIRST_SEED]]\n", argv[0], argv[i],
                argv[0]);
        exit(2);
    }
    return number;
}

/** Returns the counters of the launches since the previous call. */
static inline struct simt_counters read_and_reset_counters(void)
{
    struct simt_counters counters;

    simt_counters_read(&counters);
    simt_counters_reset();
    return counters;
}

#endif
