/** @file fault_advice.c  The advice that is printed with each kind of fault. */
#include "fault.h"

#include <string.h>

/** Advice for all faults of a kind. If the advice depends on the case, it is in the fault's own text instead. */
static const struct {
    const char *kind;
    const char *advice;
} table[] = {
    {"abort", "__trap() or assert() ends a kernel"},
    {"assertion failed", "printf() of the values in the expression before the assert()"},
    {"asynchronous copy under way",
     "wait for the copy first (__pipeline_commit() and __pipeline_wait_prior(N), which lets the last N groups be under "
     "way: 0 waits for all, as in a last step that commits no group; or its mbarrier); then __syncthreads() if other "
     "threads use the data; or, if the copy "
     "refills memory that is still read, __syncthreads() between the reads and the copy"},
    {"barrier that some threads miss",
     "keep the barrier where all threads reach it the same number of times: put only the work in the if; no return, "
     "break or continue before it"},
    {"call of a host function",
     "__device__ before its definition, or __host__ __device__ if the host calls it as well"},
    {"call of a pure virtual function", "implement the function in the object's class"},
    {"collective that some lanes miss", "move the call out of the branch, or give it the mask of the lanes that make "
                                        "it, from __ballot_sync() before the branch"},
    {"divergent barrier", "move the barrier out of the if or loop, so that all threads reach the same one"},
    {"divergent collective", "one call behind the branches, in place of one in each; or masks of the lanes that take "
                             "each branch, from __ballot_sync() before it"},
    {"division by zero", "test the divisor before the division"},
    {"dynamic shared memory race",
     "__syncthreads() between the two accesses (__syncwarp() suffices only if all threads that use the data are in one "
     "warp); or, if they use different extern "
     "__shared__ arrays, an offset to the second, because all such arrays begin at the same byte"},
    {"endless loop?",
     "check the loop's condition, and what changes it: a search must shrink its range in each round (first = middle "
     "does not if middle is first), and probes of a table that may be full need a bound; if it waits for a value, some "
     "thread must write it, by an atomic or with a fence, and another block's value takes a cooperative launch; if the "
     "loop is only long, the environment variable SIMT_EVENT_LIMIT raises the limit"},
    {"global memory race", "__syncthreads() between the two accesses (__syncwarp() suffices only if all threads that "
                           "use the data are in one warp); or, if "
                           "threads update in place what others read or update, an atomic or a second array"},
    {"grid barrier",
     "cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args) in place of kernel<<<grid, block>>>()"},
    {"grid barrier that some blocks miss", "let all blocks reach the barrier: no return before it"},
    {"lane not in its own mask", "a mask with every lane that makes the call: 0xffffffff, of whose result each lane "
                                 "may take only a part, or 0xffffu << (lane & 16) for each half of a warp"},
    {"misaligned address", "an index, and a length of rows, that is a multiple of the vector's length; __align__ "
                           "before an array that the kernel declares; or loads and stores of single elements"},
    {"no fence before a product", "wgmma_fence() before the first product"},
    {"no fence to the asynchronous proxy", "a proxy fence, such as async_proxy_fence(), after the write and before "
                                           "the barrier; or after the barrier, in the threads that issue the "
                                           "copies or products"},
    {"no mbarrier", "mbarrier_init() by one thread, then mbarrier_init_fence() and __syncthreads()"},
    {"no such barrier", "the numbers 1 to 15, or __syncthreads()"},
    {"operand of a product overwritten", "wait for the product before the store"},
    {"out of memory", "a smaller problem"},
    {"out-of-bounds access", "compare the index with 0 and the number of elements before the access; or, if the index "
                             "should be in bounds, check how it is computed"},
    {"out-of-bounds global access",
     "compare the index with 0 and the number of elements before the access, as in if (i < n); or, if the index should "
     "be in bounds, check how it is computed"},
    {"out-of-bounds local access", "an index from 0 to the number of elements - 1, or a larger array"},
    {"out-of-bounds shared access", "an index from 0 to the number of elements - 1, or a larger array; the launch's "
                                    "third parameter is the size of extern __shared__ arrays in bytes"},
    {"product under way", "wait for the product before its sums are used"},
    {"race with an earlier launch", "cudaGridDependencySynchronize() before the access; if only one thread of the "
                                    "block calls it, __syncthreads() after it"},
    {"race of two streams", "cudaEventRecord() after the earlier work and cudaStreamWaitEvent() before the later; or "
                            "one stream for both"},
    {"several matrices", "the same address and distance in all lanes"},
    {"several products", "the same operands in all lanes"},
    {"shared memory race", "__syncthreads() between the two accesses (__syncwarp() suffices only if all threads that "
                           "use the data are in one warp)"},
    {"shuffle from an absent lane",
     "let all lanes of the mask make the call: not inside an if, and no return before it; keep its result in a "
     "variable and use it in the if; or read only lanes that make it"},
    {"source of an asynchronous copy overwritten", "wait for the copy before its source is written"},
    {"stack overflow",
     "check that the recursion ends; if it does, smaller local arrays, a loop in place of recursion, or a "
     "shallower recursion"},
    {"stale read-only data", "a plain load: __ldg() is for data that the launch does not write"},
    {"too many registers", "fewer registers in registers_increase(), or fewer kept by registers_decrease()"},
    {"uninitialised global memory", "write it first, by cudaMemset(), cudaMemcpy() or a kernel: cudaMalloc() does not"},
    {"uninitialised shared memory",
     "write it first, then a __syncthreads() that all threads of the block reach: shared "
     "memory has no initial value"},
    {"use after free",
     "free the memory after its last use: after the launch or, for memory that a kernel allocates, after "
     "a barrier; if two arrays are exchanged, free the old one; if a destructor frees it, the destructor also runs for "
     "each copy of the object, such as a kernel's parameter: pass a plain pointer"},
    {"warp without all lanes", "let all 32 lanes make the call: not inside an if, no return before it, and blocks of "
                               "a multiple of 32 threads"},
    {"warpgroup that is not together", "the same products in all four warps"},
    {"write to read-only data", "a plain load in place of __ldg(), for data that the launch writes"},
};

const char *simt_fault_advice(const char *fault_kind)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].kind, fault_kind) == 0)
            return table[i].advice;
    return NULL;
}
