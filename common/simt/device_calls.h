/**
 * @file device_calls.h
 * @brief What device code asks of the engine: collectives, barriers, atomics.
 */
#ifndef SIMT_DEVICE_CALLS_H
#define SIMT_DEVICE_CALLS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* So far below its array is led what an index outside it names: nothing is there. */
#define SIMT_FAR (1LL << 46)

enum simt_shuffle { SIMT_SHUFFLE_INDEX, SIMT_SHUFFLE_UP, SIMT_SHUFFLE_DOWN, SIMT_SHUFFLE_XOR };

enum simt_reduction {
    SIMT_REDUCE_ADD,
    SIMT_REDUCE_MIN,
    SIMT_REDUCE_MAX,
    SIMT_REDUCE_MIN_SIGNED,
    SIMT_REDUCE_MAX_SIGNED,
    SIMT_REDUCE_AND,
    SIMT_REDUCE_OR,
    SIMT_REDUCE_XOR
};

enum simt_atomic_op {
    SIMT_ATOMIC_ADD,
    SIMT_ATOMIC_MIN,
    SIMT_ATOMIC_MAX,
    SIMT_ATOMIC_MIN_SIGNED,
    SIMT_ATOMIC_MAX_SIGNED,
    SIMT_ATOMIC_AND,
    SIMT_ATOMIC_OR,
    SIMT_ATOMIC_XOR,
    SIMT_ATOMIC_EXCHANGE,
    SIMT_ATOMIC_COMPARE,
    SIMT_ATOMIC_INCREMENT,
    SIMT_ATOMIC_DECREMENT,
    SIMT_ATOMIC_ADD_FLOAT,
    SIMT_ATOMIC_ADD_DOUBLE,
    SIMT_ATOMIC_ADD_HALF,
    SIMT_ATOMIC_ADD_BFLOAT16,
    SIMT_ATOMIC_ADD_HALF2, /* each half of the word by itself */
    SIMT_ATOMIC_ADD_BFLOAT162
};

uint64_t simt_shuffle(uint32_t mask, enum simt_shuffle kind, uint64_t value, int argument, int width, unsigned bytes);
uint32_t simt_ballot(uint32_t mask, int predicate);
int simt_any(uint32_t mask, int predicate);
int simt_all(uint32_t mask, int predicate);
uint32_t simt_match_any(uint32_t mask, uint64_t value);
uint32_t simt_match_all(uint32_t mask, uint64_t value);
uint32_t simt_reduce(uint32_t mask, enum simt_reduction kind, uint32_t value);
void simt_syncwarp(uint32_t mask);
uint32_t simt_activemask(void);

/* What the rewriter's marks call: a block of the source begins; a call of a function with blocks begins, and ends. */
void simt_block(unsigned number);
uint64_t simt_call_begins(unsigned number);
void simt_call_ends(uint64_t caller);

/* `call` tells those of one line of the source apart. */
void simt_syncthreads(unsigned call);
int simt_syncthreads_count(int predicate, unsigned call);
int simt_syncthreads_and(int predicate, unsigned call);
int simt_syncthreads_or(int predicate, unsigned call);
void simt_grid_sync(void);
/* Whether it may be called: the launch is a cooperative one. */
int simt_grid_is_together(void);

/* `in_block`: for the threads of the block only. */
uint16_t simt_atomic16(void *address, enum simt_atomic_op op, int in_block, uint16_t operand, uint16_t compare);
uint32_t simt_atomic32(void *address, enum simt_atomic_op op, int in_block, uint32_t operand, uint32_t compare);
uint64_t simt_atomic64(void *address, enum simt_atomic_op op, int in_block, uint64_t operand, uint64_t compare);
void simt_fence(int in_block);
long long simt_clock(void);
void simt_sleep(void);
/* It is about to be loaded, and the launch writes it neither before nor after. */
void simt_read_only(const void *pointer, unsigned bytes);
/* The same in a kernel; outside, `of_host`. */
long long simt_stream_clock_or(long long of_host);
/* The place of the n-th bit that is set, from 0 on; 32 if there are fewer. */
unsigned simt_nth_bit(uint32_t bits, unsigned n);
/* The bits that stand where `mask` has bits, side by side. */
uint32_t simt_gather_bits(uint32_t bits, uint32_t mask);
/* In a kernel its own; outside, the host's. */
void *simt_malloc(size_t bytes);
void simt_free(void *memory);
/* What memcpy and its kin are about to do. */
void simt_touch_range(const void *pointer, size_t bytes, int store);

/*
 * An asynchronous copy to shared memory, of `bytes` bytes, of which the last `zeros` are zeros instead; and its groups.
 */
void simt_copy(void *to, const void *from, size_t bytes, size_t zeros);
void simt_copies_commit(void);
void simt_copies_wait(size_t prior);

/* Barriers in shared memory, and copies that count towards them. Addresses are those of 8 bytes. */
void simt_mbarrier_init(void *barrier, uint32_t arrivals);
void simt_mbarrier_init_fence(void);
/* One arrival, and so many bytes more to wait for. */
void simt_mbarrier_arrive(void *barrier, uint32_t bytes);
/* One arrival when the thread's asynchronous copies so far are done. */
void simt_mbarrier_arrive_copies(void *barrier);
/* Whether the phase of that parity has ended; if not, the warp's turn ends. */
int simt_mbarrier_try_wait(void *barrier, uint32_t parity);
void simt_mbarrier_wait(void *barrier, uint32_t parity);
void simt_bulk_copy(void *to, const void *from, uint32_t bytes, void *barrier);

/* A matrix of rows of 2-byte numbers, and the tile that a copy takes. */
#define SIMT_TENSOR_MAP_MADE 0x6d61700a
typedef struct simt_tensor_map {
    const void *matrix;
    uint64_t rows, columns;
    uint32_t tile_rows, tile_columns;
    uint32_t swizzle; /* 0, 32, 64, 128 */
    uint32_t made;    /* SIMT_TENSOR_MAP_MADE */
} simt_tensor_map;
void simt_bulk_copy_tile(void *to, const simt_tensor_map *map, int32_t row, int32_t column, void *barrier);
/* Between accesses of the thread and those of copies and products: to shared memory, and to global memory too. */
void simt_proxy_fence(int global);
/* Whether it is the first lane of its warp, all of which are here. */
int simt_elect(void);

/*
 * What a warp does to matrices on tensor cores. A lane's part of them, its fragment, goes in and comes out in
 * registers, so that the arrays of a kernel are nobody's but its own: what the compiler instruments is what others
 * could reach.
 */
enum simt_number { SIMT_BFLOAT16, SIMT_HALF };
struct simt_words {
    uint32_t word[4];
};
struct simt_floats {
    float value[4];
};

/* d + a b: 16x16 times 16x8. The fragments are those of PTX's mma.m16n8k16. */
struct simt_floats simt_mma_bfloat16(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                                     float d0, float d1, float d2, float d3);
struct simt_floats simt_mma_half(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1, float d0,
                                 float d1, float d2, float d3);
/* PTX's ldmatrix: `count` matrices of 8x8 elements of 16 bits, of which lane i names row i % 8 of matrix i / 8. */
struct simt_words simt_ldmatrix(const void *row, unsigned count, int transposed);
/* 16x16 times 16x16; a lane has a row of a, a column of b and half a row of d. */
void simt_wmma(const uint16_t a[16], const uint16_t b[16], const float c[8], float d[8], enum simt_number number);
/* A warp is about to load or store a matrix: all lanes together, at one place, with rows `pitch` bytes apart. */
void simt_wmma_memory(const void *matrix, size_t pitch);

/* Products of a warpgroup: 64x16 by 16xN, of operands in shared memory; `count` = N / 2 sums a thread. */
uint64_t simt_wgmma_operand(const void *shared);
void simt_wgmma_fence(void);
void simt_wgmma(float *sums, unsigned count, uint64_t a, uint64_t b);
void simt_wgmma_commit(void);
void simt_wgmma_wait(unsigned pending);

#ifdef __cplusplus
[[noreturn]] void simt_trap(void);
#else
_Noreturn void simt_trap(void);
#endif

#ifdef __cplusplus
}
#endif

#endif
