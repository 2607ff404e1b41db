/**
 * @file cuda_runtime_api.h
 * @brief CUDA's header for host functions. In the simulator it includes cuda_runtime.h, which declares host and kernel
 *        functions.
 */
#ifndef SIMT_CUDA_RUNTIME_API_H
#define SIMT_CUDA_RUNTIME_API_H

#include "cuda_runtime.h"

#endif
