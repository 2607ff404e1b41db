/**
 * @file warpgroup_products.c
 * @brief Warpgroup products (wgmma) of 64x16 and 16xN matrices in shared memory, computed at issue; writes
 *        to their operands before the wait are reported.
 *
 * A warp needs 16 rows of a, all of b, and 16 rows of the sums, so it does not synchronise with the other three warps.
 * At the end of the block, a check verifies that all four warps have issued the same products. Lane 0 reads its warp's
 * operands at issue and again after the wait. The second read detects any write to an operand between the two reads.
 * Because the second read is also recorded, a later write to an operand is detected if it is not ordered after the
 * wait.
 */
#include "warpgroup_products.h"

#include "machine/fault.h"
#include "machine/array_reserve.h"
#include "memory/proxy.h"
#include "small_floats.h"

#include <stdlib.h>
#include <string.h>

enum {
    GROUP_WARPS = 4,
    WARP_ROWS = 16,
    DEPTH = 16,
    MAX_COLUMNS = 256,
    CHUNK = 16, /* number of bytes that the swizzle moves together */
    ROW = 128,  /* bytes */
    EIGHT_ROWS = 1024,
    WINDOW = 1 << 18 /* number of bytes that a descriptor can address */
};

struct product {
    uint64_t a, b;
    uint32_t group; /**< number of groups that the warp had committed before this product */
    uint32_t epoch; /**< no thread may write an operand from this epoch on */
    uintptr_t pc;
    unsigned count;
    const float *sums[WARP_LANES];
};

/** The state of a warp's products. */
struct products {
    bool fenced;
    uint32_t groups; /**< number of committed groups */
    uint32_t done;   /**< number of products issued so far; `which` is a hash of their operands */
    uint64_t which;
    uintptr_t last_pc;
    unsigned count;
    size_t room;
    struct product *pending;
};

/* --- operands ----------------------------------------------------------------------------------------------------- */

uint64_t simt_wgmma_descriptor(const void *shared)
{
    const uintptr_t offset = (uintptr_t)shared - simt_memory.shared_begin;

    if (offset >= simt_memory.shared_bytes)
        simt_fault_here(cudaErrorIllegalAddress, SIMT_RETURN_ADDRESS(), "illegal address",
                        "names an operand of a product that is not in shared memory");
    return ((uintptr_t)shared & (WINDOW - 1)) >> 4 | UINT64_C(1) << 16 | (uint64_t)(EIGHT_ROWS >> 4) << 32 |
           UINT64_C(1) << 62;
}

/**
 * Returns the address in shared memory that a descriptor encodes. The shared variables of all kernels together may
 * exceed the range that a descriptor can address. In that case the address is in the dynamic array, which follows these
 * variables and is smaller than that range.
 */
static uintptr_t address_of(uint64_t operand)
{
    const uintptr_t low = (operand & 0x3fff) << 4;
    const uintptr_t shared = (low - simt_memory.shared_begin) & (WINDOW - 1),
                    end = simt_memory.dynamic_shared_requested_end;

    return simt_memory.shared_begin + shared + (shared < end ? (end - 1 - shared) / WINDOW * WINDOW : 0);
}

/** Ends the launch unless the simulator supports this kind of operand, and the operand's address and size are valid. */
static void check_operand(uint64_t operand, unsigned rows, uintptr_t pc)
{
    const uintptr_t address = address_of(operand);
    const uintptr_t end = address / EIGHT_ROWS * EIGHT_ROWS + (uintptr_t)rows * ROW - simt_memory.shared_begin;

    if (operand >> 62 != 1 || (operand >> 32 & 0x3fff) << 4 != EIGHT_ROWS || (operand >> 49 & 7) != 0)
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad operand of a product",
                        "names an operand by descriptor 0x%016" PRIx64
                        "; the simulator knows those of a swizzle of 128 bytes with groups of eight rows 1024 apart",
                        operand);
    if (address % EIGHT_ROWS >= ROW || address % (2 * DEPTH) != 0)
        simt_fault_here(cudaErrorMisalignedAddress, pc, "misaligned address",
                        "names an operand at an address that ends in 0x%03x; it must be a multiple of 1024, and 0, 32, "
                        "64 or 96",
                        (unsigned)(address % EIGHT_ROWS));
    if (end > simt_memory.shared_bytes || (end > simt_memory.dynamic_shared_requested_end &&
                                           address - simt_memory.shared_begin < simt_memory.dynamic_shared_array_end))
        simt_fault_here(cudaErrorIllegalAddress, pc, "out-of-bounds shared access",
                        "names an operand of %u rows of which some are beyond the shared memory of this launch (%zu "
                        "dynamic bytes)",
                        rows, simt_current_launch.dynamic_shared_bytes);
}

/** Returns the address of 8 numbers of a row: chunk 0 or 1 of the 16 numbers that the descriptor addresses. */
static uintptr_t chunk_of(uint64_t operand, unsigned row, unsigned chunk)
{
    const uintptr_t address = address_of(operand) + (uintptr_t)row * ROW + (uintptr_t)chunk * CHUNK;

    return address ^ (address >> 7 & 7) << 4;
}

static void read_rows(uint64_t operand, unsigned first, unsigned rows, uint32_t before, uintptr_t pc)
{
    struct word_access access = {.pc = pc,
                                 .pc_slot = pc_slot_find_or_add(pc),
                                 .byte_mask = 0xf,
                                 .access_type = ACCESS_LOAD,
                                 .space = SPACE_SHARED};

    for (unsigned i = 0; i < 2 * rows; i++) {
        access.address = chunk_of(operand, first + i / 2, i % 2);
        struct shadow_cell *cell = simt_memory.shared_shadow + (access.address - simt_memory.shared_begin) / 4;

        for (unsigned word = 0; word < CHUNK / 4; word++, cell++, access.address += 4) {
            if (SIMT_UNLIKELY(before && cell->write_epoch >= before)) {
                const uint3 index = simt_thread_index(cell->packed_write >> WRITE_THREAD_SHIFT);

                simt_fault_here(
                    cudaErrorLaunchFailure, pc, "operand of a product overwritten",
                    "has a product here of whose operands thread (%u,%u,%u) wrote some" SIMT_PC_LOCATION_FORMAT
                    " before it was waited for",
                    index.x, index.y, index.z, simt_pc_in_slot(cell->packed_write & PC_SLOT_MASK));
            }
            shadow_check_load(cell, access);
            if (cell->write_epoch >= simt_current_order.order_within_block.block_begin_epoch)
                simt_check_proxy_fence_after_last_write(cell, SPACE_SHARED, pc, "has a product that reads");
        }
    }
}

/**
 * Checks and records that the running warp reads its rows of a and all columns of b. Unless `before` is 0, the operands
 * must not have been written since epoch `before`.
 */
static void read_operands(uint64_t a, uint64_t b, unsigned columns, uint32_t before, uintptr_t pc)
{
    const unsigned warp = simt_running.warp->first_thread / WARP_LANES % GROUP_WARPS;

    read_rows(a, warp * WARP_ROWS, WARP_ROWS, before, pc);
    read_rows(b, 0, columns, before, pc);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

static struct products *products_of(struct warp *warp)
{
    if (!warp->wgmma_products)
        warp->wgmma_products = calloc(1, sizeof *warp->wgmma_products);
    return warp->wgmma_products;
}

static bool is_first_lane(void)
{
    return simt_running.lane->thread % WARP_LANES == 0;
}

void simt_product_check_and_record_operand_reads(const struct wgmma_lane_operands *operands, uintptr_t pc)
{
    const struct products *const products = simt_running.warp->wgmma_products;

    if (!is_first_lane())
        return;
    if (!products || !products->fenced)
        simt_fault_here(cudaErrorLaunchFailure, pc, "no fence before a product",
                        "has a product without a wgmma.fence before the first");
    check_operand(operands->a_descriptor, GROUP_WARPS * WARP_ROWS, pc);
    check_operand(operands->b_descriptor, 2 * operands->num_sums, pc);
    read_operands(operands->a_descriptor, operands->b_descriptor, 2 * operands->num_sums, 0, pc);
    simt_current_order.epoch++;
}

static float *unpack_row(float *to, uint64_t operand, unsigned row)
{
    for (unsigned chunk = 0; chunk < 2; chunk++) {
        const uint16_t *const from = (const uint16_t *)chunk_of(operand, row, chunk);

        for (unsigned i = 0; i < CHUNK / 2; i++)
            *to++ = bfloat16_bits_to_float(from[i]);
    }
    return to;
}

/** Adds the products to a warp's sums one after another, in ascending order of k, as simt_complete_mma() does. */
static void multiply(const struct warp *warp, const struct wgmma_lane_operands *const parts[WARP_LANES])
{
    static float a[WARP_ROWS][DEPTH], b[DEPTH][MAX_COLUMNS], d[WARP_ROWS][MAX_COLUMNS];
    const unsigned columns = 2 * parts[0]->num_sums;
    const unsigned first = warp->first_thread / WARP_LANES % GROUP_WARPS * WARP_ROWS;

    for (unsigned row = 0; row < WARP_ROWS; row++)
        unpack_row(a[row], parts[0]->a_descriptor, first + row);
    for (unsigned column = 0; column < columns; column++) {
        float of_column[DEPTH];

        unpack_row(of_column, parts[0]->b_descriptor, column);
        for (unsigned k = 0; k < DEPTH; k++)
            b[k][column] = of_column[k];
    }
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned i = 0; i < parts[lane]->num_sums; i++)
            d[lane / 4 + i / 2 % 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2] = parts[lane]->sums[i];
    }
    for (unsigned row = 0; row < WARP_ROWS; row++) {
        for (unsigned k = 0; k < DEPTH; k++) {
            for (unsigned column = 0; column < columns; column++)
                d[row][column] += a[row][k] * b[k][column];
        }
    }
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned i = 0; i < parts[lane]->num_sums; i++)
            parts[lane]->sums[i] = d[lane / 4 + i / 2 % 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2];
    }
}

/** Appends a product to the pending ones; returns NULL if out of memory. */
static struct product *add_product(struct products *products)
{
    return simt_array_reserve(&products->pending, &products->room, products->count + 1, sizeof *products->pending)
               ? &products->pending[products->count++]
               : NULL;
}

bool simt_product_compute_rows_or_fault(struct warp *warp, const uint64_t lane_operands_addresses[WARP_LANES])
{
    const struct lane *const first = simt_running.warp_lanes;
    struct products *const products = warp->wgmma_products;
    const struct wgmma_lane_operands *parts[WARP_LANES];
    struct product *const product = add_product(products);

    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        parts[lane] = (const struct wgmma_lane_operands *)(uintptr_t)lane_operands_addresses[lane];
        if (parts[lane]->a_descriptor == parts[0]->a_descriptor &&
            parts[lane]->b_descriptor == parts[0]->b_descriptor && parts[lane]->num_sums == parts[0]->num_sums)
            continue;
        simt_fault_thread(cudaErrorLaunchFailure, first[lane].thread_index, first[lane].wait_site, "several products",
                          "names operands of a product that are not those of lane 0");
        return false;
    }
    if (!product) {
        simt_fault_thread(cudaErrorMemoryAllocation, first->thread_index, first->wait_site, "out of memory",
                          "has more products under way than there is room");
        return false;
    }
    multiply(warp, parts);
    *product = (struct product){.a = parts[0]->a_descriptor,
                                .b = parts[0]->b_descriptor,
                                .group = products->groups,
                                .epoch = simt_current_order.epoch,
                                .pc = first->wait_site,
                                .count = parts[0]->num_sums};
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        product->sums[lane] = parts[lane]->sums;
    products->done++;
    products->which = (products->which * 31 + product->a) * 31 + product->b + product->count;
    products->last_pc = product->pc;
    return true;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

bool simt_products_record_fence(struct warp *warp)
{
    struct products *const products = products_of(warp);

    if (products)
        products->fenced = true;
    return products;
}

void simt_products_commit(struct warp *warp)
{
    if (warp->wgmma_products)
        warp->wgmma_products->groups++;
}

static bool is_awaited(const struct products *products, const struct product *product, unsigned pending)
{
    return product->group + (uint64_t)pending < products->groups;
}

void simt_products_check_no_operand_overwritten(unsigned num_pending_groups)
{
    const struct products *const products = simt_running.warp->wgmma_products;

    for (unsigned i = 0; products && is_first_lane() && i < products->count; i++) {
        const struct product *const product = &products->pending[i];

        if (is_awaited(products, product, num_pending_groups))
            read_operands(product->a, product->b, 2 * product->count, product->epoch, product->pc);
    }
}

void simt_products_remove_waited(struct warp *warp, unsigned num_pending_groups)
{
    struct products *const products = warp->wgmma_products;
    unsigned done = 0;

    if (!products)
        return;
    while (done < products->count && is_awaited(products, &products->pending[done], num_pending_groups))
        done++;
    products->count -= done;
    memmove(products->pending, products->pending + done, products->count * sizeof *products->pending);
}

void simt_products_check_sum_access(uintptr_t address, unsigned bytes, bool store, uintptr_t pc)
{
    const struct products *const products = simt_running.warp->wgmma_products;
    const unsigned lane = simt_running.lane->thread % WARP_LANES;

    for (unsigned i = 0; products && i < products->count; i++) {
        const struct product *const product = &products->pending[i];
        const uintptr_t sums = (uintptr_t)product->sums[lane];

        if (address + bytes <= sums || address >= sums + product->count * sizeof(float))
            continue;
        if (product->group == products->groups)
            simt_fault_here(cudaErrorLaunchFailure, pc, "product under way",
                            "%s %u bytes of the sums of a product" SIMT_PC_LOCATION_FORMAT
                            " that no wgmma_commit_group() has committed, so no wait includes it" SIMT_ADVICE_PREFIX
                            "wgmma_commit_group() after the products, then wgmma_wait_group<0>() before their sums are "
                            "used",
                            store ? "writes" : "reads", bytes, product->pc);
        simt_fault_here(cudaErrorLaunchFailure, pc, "product under way",
                        "%s %u bytes of the sums of a product" SIMT_PC_LOCATION_FORMAT " that it has not waited for",
                        store ? "writes" : "reads", bytes, product->pc);
    }
}

void simt_products_check_warpgroups_agree(const struct block *block)
{
    static const struct products none;

    for (unsigned i = 0; i < block->num_warps && !simt_faulted; i++) {
        const struct products *const mine = block->warp[i].wgmma_products;

        for (unsigned j = i / GROUP_WARPS * GROUP_WARPS; mine && j < i / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS; j++) {
            const struct products *theirs = j < block->num_warps ? block->warp[j].wgmma_products : NULL;
            const struct lane *const lane = &block->lane[block->warp[i].first_thread];

            theirs = theirs ? theirs : &none;
            if (mine->done == theirs->done && mine->which == theirs->which)
                continue;
            simt_fault_thread(cudaErrorLaunchFailure, lane->thread_index, mine->done ? mine->last_pc : theirs->last_pc,
                              "warpgroup that is not together",
                              "and its warp have done %u products with warps %u to %u of the block; warp %u has done "
                              "%u, or others",
                              mine->done, i / GROUP_WARPS * GROUP_WARPS,
                              i / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS - 1, j, theirs->done);
            return;
        }
    }
}

/* --- registers ---------------------------------------------------------------------------------------------------- */

void simt_request_registers(unsigned registers)
{
    struct lane *const lane = simt_running.lane;

    lane->register_request_site = SIMT_RETURN_ADDRESS();
    lane->requested_registers = registers;
    lane->register_requests_hash = lane->register_requests_hash * 31 + registers;
    simt_running.block->has_register_requests = true;
}

/** Checks that the threads of the warpgroup that begins with thread `first` have made the same register requests. */
static void check_requests(const struct block *block, unsigned first)
{
    const struct lane *const lane = &block->lane[first];

    for (unsigned i = 1; i < GROUP_WARPS * WARP_LANES; i++) {
        const bool exists = first + i < block->num_threads;
        const uint32_t theirs = exists ? lane[i].register_requests_hash : 0;
        const bool is_mine = lane->register_requests_hash != 0;

        if (theirs == lane->register_requests_hash)
            continue;
        simt_fault_thread(cudaErrorLaunchFailure, is_mine ? lane->thread_index : lane[i].thread_index,
                          is_mine ? lane->register_request_site : lane[i].register_request_site,
                          "warpgroup that is not together",
                          "requests registers, but thread %u of its warpgroup %s" SIMT_ADVICE_PREFIX
                          "the same registers_decrease() or registers_increase() in all 128 threads of the warpgroup",
                          is_mine ? i : 0, exists ? "does not request the same" : "does not exist");
        return;
    }
}

void simt_register_requests_check_agree_and_fit(const struct block *block)
{
    enum { LEAST = 24 }; /* minimum number of registers assumed for a thread without a request */
    const struct lane *last = NULL;
    unsigned needed = 0;

    for (unsigned i = 0; block->has_register_requests && i < block->num_threads && !simt_faulted; i++) {
        const struct lane *const lane = &block->lane[i];

        if (i % (GROUP_WARPS * WARP_LANES) == 0)
            check_requests(block, i);
        needed += lane->requested_registers ? lane->requested_registers : LEAST;
        if (lane->requested_registers && (!last || lane->requested_registers > last->requested_registers))
            last = lane;
    }
    if (last && needed > MULTIPROCESSOR_REGISTERS && !simt_faulted)
        simt_fault_thread(cudaErrorLaunchFailure, last->thread_index, last->register_request_site, "too many registers",
                          "requests %u registers and would wait for ever: the block's threads request %u in all, and a "
                          "multiprocessor has %u",
                          last->requested_registers, needed, (unsigned)MULTIPROCESSOR_REGISTERS);
}

void simt_products_free(struct block *block)
{
    for (unsigned i = 0; i < block->num_warps; i++) {
        if (block->warp[i].wgmma_products)
            free(block->warp[i].wgmma_products->pending);
        free(block->warp[i].wgmma_products);
        block->warp[i].wgmma_products = NULL;
    }
}
