/**
 * @file cuda_runtime_api.h
 * @brief CUDA's name for the host half; here one header has both.
 */
#ifndef SIMT_CUDA_RUNTIME_API_H
#define SIMT_CUDA_RUNTIME_API_H

#include "cuda_runtime.h"

#endif
