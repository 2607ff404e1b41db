#include "hip/half_waves.h" /* hipcc finds this file in place of CUDA's */
