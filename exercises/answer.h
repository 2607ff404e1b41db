/** @file answer.h  What every answer begins with, compiled once: most of the time that compiling one would take. */
#include <cstddef>
#include <cstring>

/* std::riemann_zeta() and its like, which libstdc++ would instantiate for each answer anew. */
#undef _GLIBCXX_USE_STD_SPEC_FUNCS

#include <cuda_runtime.h>
