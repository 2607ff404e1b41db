#include "hip/half_waves.h" /* hipcc finds this file instead of CUDA's */
