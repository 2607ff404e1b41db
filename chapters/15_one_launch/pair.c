/** @file pair.c Chapter 13c's launch, then chapter 14b's: the pair with which chapter 15 is compared. */
#include "exchange.h"

cudaError_t routing_launch_pair(const struct routing_problem *problem, const struct routing_buffers *buffers,
                                cudaStream_t stream)
{
    struct align_buffers align = buffers->align;
    const cudaError_t status = gate_launch(&problem->gate, &buffers->gate, stream);

    align.workspace = (char *)align.workspace + EXCHANGE_BYTES;
    return status == cudaSuccess ? align_launch(&problem->align, &align, stream) : status;
}
