/**
 * @file device_calls.h
 * @brief The engine's functions that device code calls: collectives, barriers, atomics, copies and tensor-core
 *        operations.
 */
#ifndef SIMT_DEVICE_CALLS_H
#define SIMT_DEVICE_CALLS_H

#include "lane_mask.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Number of bytes by which the address of an out-of-bounds element is lowered, to a region where no memory is mapped.
 */
#define SIMT_OUT_OF_BOUNDS_DISPLACEMENT_BYTES (1LL << 46)

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
    SIMT_ATOMIC_COMPARE_EXCHANGE,
    SIMT_ATOMIC_INCREMENT,
    SIMT_ATOMIC_DECREMENT,
    SIMT_ATOMIC_ADD_FLOAT,
    SIMT_ATOMIC_ADD_DOUBLE,
    SIMT_ATOMIC_ADD_HALF,
    SIMT_ATOMIC_ADD_BFLOAT16,
    SIMT_ATOMIC_ADD_HALF2, /* adds the two halves of the word separately */
    SIMT_ATOMIC_ADD_BFLOAT162
};

/*
 * Collectives over the lanes in `mask` or, if `mask` is SIMT_MASK_OF_ACTIVE_LANES, over the lanes that are active at
 * the call.
 */
#define SIMT_MASK_OF_ACTIVE_LANES 0
uint64_t simt_shuffle(simt_lane_mask mask, enum simt_shuffle kind, uint64_t value, int argument, int width,
                      unsigned bytes);
simt_lane_mask simt_ballot(simt_lane_mask mask, int predicate);
int simt_any(simt_lane_mask mask, int predicate);
int simt_all(simt_lane_mask mask, int predicate);
simt_lane_mask simt_match_any(simt_lane_mask mask, uint64_t value);
simt_lane_mask simt_match_all(simt_lane_mask mask, uint64_t value);
uint32_t simt_reduce(simt_lane_mask mask, enum simt_reduction kind, uint32_t value);
void simt_syncwarp(simt_lane_mask mask);
simt_lane_mask simt_activemask(void);
/*
 * A call or a loop iteration that a lane is executing. The frame ends where the lane leaves the function or the loop's
 * body. For warps of 64 lanes, the engine derives the active lanes from these frames.
 */
struct simt_call_or_iteration_frame {
    const struct simt_call_or_iteration_frame *outer_frame;
    const struct simt_call_or_iteration_frame
        *enclosing_call;   /* the innermost call that encloses the frame; null for the kernel */
    uint64_t position_key; /* position of the call in the caller, or of the loop's body */
    unsigned call_depth;   /* number of enclosing calls, including this frame if it is a call */
    int is_iteration;
};
void simt_call_or_iteration_begins(struct simt_call_or_iteration_frame *frame, int is_iteration);
void simt_call_or_iteration_ends(struct simt_call_or_iteration_frame *frame);
/* Returns the number of the running lane in its warp. */
unsigned simt_lane_number(void);

/*
 * Ends the launch if a kernel thread calls the host function `name`. The mark that the rewriter inserts into that
 * function calls simt_fault_if_kernel_calls_host_function().
 */
void simt_fault_if_kernel_calls_host_function(const char *name);

/**
 * Returns whether a kernel's thread runs. The rewriter calls it in host and device functions in place of a condition on
 * __CUDA_ARCH__.
 */
int simt_is_in_kernel(void);
/* Ends the launch if a kernel thread reads a constant array of the host. */
void simt_fault_if_kernel_reads_host_constant(void);
/*
 * The rewriter's other marks call these functions: at the start of a basic block of the source; where lanes that
 * diverged inside an expression wait for each other; and before and after a call of a function that has basic blocks.
 */
void simt_basic_block_begins(unsigned mark_number);
void simt_lanes_reconverge(unsigned mark_number);
uint64_t simt_call_begins(unsigned mark_number);
void simt_call_ends(uint64_t saved_position_key);

/*
 * `call_number` distinguishes the calls on one line of the source; SIMT_GROUP_SYNC_CALL_FLAG, added to it, marks the
 * sync() of a group.
 */
#define SIMT_GROUP_SYNC_CALL_FLAG 0x10000000
void simt_syncthreads(unsigned call_number);
/* __barrier_sync: waits at the barrier with this number, for all threads of the block. */
void simt_barrier_sync(unsigned barrier_number, unsigned call_number);
int simt_syncthreads_count(int predicate, unsigned call_number);
int simt_syncthreads_and(int predicate, unsigned call_number);
int simt_syncthreads_or(int predicate, unsigned call_number);
void simt_grid_sync(void);
/* Waits for the earlier launches that this launch may overlap. */
void simt_grid_dependency_sync(void);
/* Returns whether the launch is cooperative, so that simt_grid_sync() may be called. */
int simt_grid_is_cooperative(void);

/* `in_block` selects block scope; otherwise the scope is the device. */
uint16_t simt_atomic16(void *address, enum simt_atomic_op op, int in_block, uint16_t operand, uint16_t compare);
uint32_t simt_atomic32(void *address, enum simt_atomic_op op, int in_block, uint32_t operand, uint32_t compare);
uint64_t simt_atomic64(void *address, enum simt_atomic_op op, int in_block, uint64_t operand, uint64_t compare);
void simt_fence(int in_block);
long long simt_clock(void);
void simt_sleep(unsigned nanoseconds);
/* Checks that a pointer passed to `function`, such as "__ldcg()", is to global memory. */
void simt_check_global_pointer(const void *pointer, const char *function);
/* Checks that a group's number of threads is a multiple of the size of the tiles into which the group is divided. */
void simt_check_tile_size_divides_group(unsigned group_threads, unsigned tile_threads);
/* Ends the launch because a condition that the kernel tells the compiler to assume does not hold. */
void simt_fault_false_assumption(const char *condition);
/* Checks a load by __ldg(): the launch must not write the loaded bytes, either before or after the load. */
void simt_check_ldg_bytes_read_only(const void *pointer, unsigned bytes);
/* Returns simt_clock() in a kernel, and `host_clock` on the host. */
long long simt_clock_or_host(long long host_clock);
/* Returns the position of the n-th set bit, counted from 0, or 32 if there are fewer. */
unsigned simt_nth_bit(uint32_t bits, unsigned n);
/* Returns the lane with this rank among `lanes`, and reports a rank that no lane has. */
unsigned simt_lane_of_rank(uint32_t lanes, unsigned rank);
/* Returns the bits at the positions that are set in `mask`, packed from bit 0 upwards. */
uint32_t simt_gather_bits(uint32_t bits, uint32_t mask);
/* Allocate and free device memory in a kernel, and host memory on the host. */
void *simt_malloc(size_t bytes) __attribute__((alloc_size(1)));
void simt_free(void *memory);
/* Checks an access that memcpy or one of its variants is about to make. */
void simt_check_memcpy_or_memset_range(const void *pointer, size_t bytes, int store);
/*
 * Checks the load of an argument that is a structure. It does not count the load, because the compiler's own hook does
 * if the call is inlined.
 */
void simt_check_struct_argument_load(const void *pointer, size_t bytes);
/* Checks that the two ranges of a memcpy do not overlap. */
void simt_check_no_overlap(const void *destination, const void *source, size_t bytes);

/*
 * Issue an asynchronous copy of `bytes` bytes to shared memory, the last `zero_bytes` of which are zero-filled; commit
 * the copies issued so far as a group; wait for all groups except the last `num_pending_groups`.
 */
void simt_copy_async(void *destination, const void *source, size_t bytes, size_t zero_bytes);
void simt_async_copies_commit(void);
void simt_async_copies_wait(size_t num_pending_groups);

/* mbarriers in shared memory, and copies that count towards them. A barrier occupies 8 bytes. */
void simt_mbarrier_init(void *barrier, uint32_t arrivals);
void simt_mbarrier_init_fence(void);
/* Arrives once, and adds `bytes` to the number of bytes that the phase expects. */
void simt_mbarrier_arrive_expect(void *barrier, uint32_t bytes);
/* Arrives once, as soon as all asynchronous copies that the thread has issued so far are complete. */
void simt_mbarrier_arrive_copies(void *barrier);
/*
 * Waits until the phase with the given parity has ended, and returns 1. Returns 0 only if the phase has not ended and
 * no lane of the block can continue.
 */
int simt_mbarrier_try_wait(void *barrier, uint32_t parity);
void simt_mbarrier_wait(void *barrier, uint32_t parity);
void simt_bulk_copy(void *destination, const void *source, uint32_t bytes, void *barrier);

/* Describes a row-major matrix of 16-bit elements and the size of the tile that a copy moves. */
#define SIMT_TENSOR_MAP_MAGIC 0x6d61700a
typedef struct simt_tensor_map {
    const void *matrix;
    uint64_t rows, columns;
    uint32_t tile_rows, tile_columns;
    uint32_t swizzle; /* width in bytes: 0, 32, 64 or 128 */
    uint32_t magic;   /* SIMT_TENSOR_MAP_MAGIC once the map has been initialised */
} simt_tensor_map;
void simt_bulk_copy_tile(void *destination, const simt_tensor_map *map, int32_t row, int32_t column, void *barrier);
/*
 * Executes a proxy fence between the thread's accesses and those of bulk copies and warpgroup products, for shared
 * memory and, if `also_global`, also for global memory.
 */
void simt_proxy_fence(int also_global);
/* Returns whether the lane is the first of its warp; all lanes of the warp must call this function together. */
int simt_elect_one(void);

/*
 * Warp-level matrix operations on tensor cores. A lane's part of a matrix, its fragment, is passed and returned in
 * registers, so that a kernel's arrays stay local to the thread. The compiler does not instrument accesses to such
 * arrays, because it instruments only memory that other threads could access.
 */
enum simt_mma_element_type { SIMT_BFLOAT16, SIMT_HALF };
/* A lane's part of a matrix in registers. */
struct simt_fragment_words {
    uint32_t word[4];
};
struct simt_fragment_floats {
    float value[4];
};

/* Return d + a b, where a is 16x16 and b is 16x8. The fragments have the layout of PTX's mma.m16n8k16. */
struct simt_fragment_floats simt_mma_bfloat16(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                                              uint32_t b1, float d0, float d1, float d2, float d3);
struct simt_fragment_floats simt_mma_half(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,
                                          float d0, float d1, float d2, float d3);
/*
 * Loads `num_matrices` matrices of 8x8 16-bit elements, as PTX's ldmatrix does. Lane i passes the address of row i % 8
 * of matrix i / 8.
 */
struct simt_fragment_words simt_ldmatrix(const void *row, unsigned num_matrices, int transposed);
/* Computes d = a b + c for 16x16 matrices. A lane holds a row of a, a column of b, and half a row of c and d. */
void simt_wmma(const uint16_t a[16], const uint16_t b[16], const float c[8], float d[8],
               enum simt_mma_element_type type);
/* Checks that all lanes of a warp load or store the same matrix, with rows `pitch_bytes` bytes apart. */
void simt_check_lanes_use_same_matrix(const void *matrix, size_t pitch_bytes);

/* Products of a warpgroup, 64x16 times 16xN, with operands in shared memory and `num_sums` = N / 2 sums per thread. */
uint64_t simt_wgmma_descriptor(const void *shared);
void simt_wgmma_fence(void);
void simt_wgmma(float *sums, unsigned num_sums, uint64_t a, uint64_t b);
void simt_wgmma_commit(void);
void simt_wgmma_wait(unsigned num_pending_groups);
/* Requests this number of registers for the running thread (setmaxnreg). */
void simt_request_registers(unsigned registers);

#ifdef __cplusplus
[[noreturn]] void simt_trap(void);
#else
_Noreturn void simt_trap(void);
#endif

#ifdef __cplusplus
}
#endif

#endif
