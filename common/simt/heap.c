/** @file heap.c  malloc() and free(), new and delete in kernels: memory of the device's, which outlives the launch. */
#include "kernel_calls.h"

#include "device_calls.h"
#include "device_memory.h"
#include "fault.h"

#include <stdlib.h>

/* Kernel files have these under the names of C++'s operators: the host code in them is linked with nobody else's. */
void *simt_new(size_t bytes) __asm__("_Znwm");
void *simt_new_array(size_t bytes) __asm__("_Znam");
void simt_delete(void *memory) __asm__("_ZdlPv");
void simt_delete_array(void *memory) __asm__("_ZdaPv");
void simt_delete_sized(void *memory, size_t bytes) __asm__("_ZdlPvm");
void simt_delete_array_sized(void *memory, size_t bytes) __asm__("_ZdaPvm");

void *simt_malloc(size_t bytes)
{
    return simt_now.lane ? simt_heap_allocate(bytes) : malloc(bytes);
}

static void release(void *memory, uintptr_t pc)
{
    if (!simt_now.lane)
        free(memory);
    else if (memory && !simt_heap_release(memory))
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                        "frees what no kernel has allocated, or what was freed before");
}

void simt_free(void *memory)
{
    release(memory, SIMT_CALLER());
}

void *simt_new(size_t bytes)
{
    return simt_malloc(bytes);
}

void *simt_new_array(size_t bytes)
{
    return simt_malloc(bytes);
}

void simt_delete(void *memory)
{
    release(memory, SIMT_CALLER());
}

void simt_delete_array(void *memory)
{
    release(memory, SIMT_CALLER());
}

void simt_delete_sized(void *memory, size_t bytes)
{
    (void)bytes;
    release(memory, SIMT_CALLER());
}

void simt_delete_array_sized(void *memory, size_t bytes)
{
    (void)bytes;
    release(memory, SIMT_CALLER());
}
