/**
 * @file answer.h
 * @brief The headers that every answer includes, precompiled because they account for most of an answer's compile time.
 */
#include <cstring>

#include <cuda_runtime.h>
