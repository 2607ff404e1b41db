#include "hip/half_waves.h" /* hipcc includes this file in place of CUDA's header */
