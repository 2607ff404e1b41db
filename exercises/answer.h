/** @file answer.h  The headers that every answer includes, precompiled because they account for most of its compile
 * time. */
#include <cstring>

#include <cuda_runtime.h>
