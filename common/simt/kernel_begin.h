/** @file kernel_begin.h  What every kernel begins with, compiled once: much of the time that compiling one would take. */
#include <cuda_runtime.h>
