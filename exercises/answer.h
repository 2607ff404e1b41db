/** @file answer.h  What every answer begins with, compiled once: most of the time that compiling one would take. */
#include <cstring>

#include <cuda_runtime.h>
