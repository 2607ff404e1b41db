/**
 * @file mbarriers.c
 * @brief mbarriers in shared memory: the arrivals and bytes that a phase waits for, the waiting lanes, and the copies
 *        that count towards a phase. Kernels call the functions through device_calls.h; the scheduler and the grid use
 *        kernel_calls.h.
 *
 * The eight bytes in shared memory hold the number of the barrier in this file, so that a barrier stays with its block
 * when the shared memory is saved. The bytes of a copy are counted at issue, because on a GPU the copy may complete
 * immediately. They are written to their destination only after a thread has waited for the phase, because on a GPU the
 * copy may take that long.
 */
#include "bulk_copies.h"
#include "kernel_calls.h"
#include "lanes/observer.h"
#include "machine/fault.h"
#include "machine/array_reserve.h"
#include "machine/source_lines.h"
#include "memory/arena.h"
#include "memory/proxy.h"
#include "order/vector_clocks.h"

#include <stdlib.h>
#include <string.h>

enum { SEVERAL_THREADS = 1 << 30 };
enum { MAX_ARRIVALS = (1 << 20) - 1, MAX_BYTES = (1 << 20) - 1, MARK = 0x6d626172 };

/** Contents of the eight bytes in shared memory. */
struct barrier_handle {
    uint32_t number;
    uint32_t mark;
};

/** Asynchronous copies of one thread; their completion counts as one arrival at the barrier. */
struct copy_arrival {
    uint32_t first; /**< first copy, in copies.c; 0 if none */
    uint32_t phase;
    uint32_t thread; /**< the copying thread */
    struct copy_arrival *next;
};

struct barrier {
    uintptr_t address;
    uint32_t block;    /**< number of the owning block */
    uint32_t next;     /**< next barrier of the block, or next free barrier; 0 if none */
    uint32_t count;    /**< number of arrivals that a phase needs */
    uint32_t pending;  /**< number of arrivals that are still missing */
    uint32_t phase;    /**< number of phases that have ended */
    int64_t bytes;     /**< number of announced bytes minus that of copied bytes */
    uint32_t waiting;  /**< number of waiting lanes */
    uint32_t *seen;    /**< for each thread of the block, the number of phases up to the last that it has waited for */
    uint32_t arriver;  /**< the first thread that arrived, plus 1; SEVERAL_THREADS after arrivals of others */
    bool *has_arrived; /**< for each thread of the block, whether it has arrived; NULL if no two threads have */
    lane_mask arrived_lanes; /**< the lanes, of any warp, that have arrived */
    int64_t announced;       /**< number of bytes announced in this phase, the last of them at this call site */
    uintptr_t announcement;
    uintptr_t early_wait;    /**< call site of a wait that returned before any phase had ended, or 0 */
    uintptr_t repeated_wait; /**< call site of a wait for a phase that the thread had already waited for, or 0 */
    bool fenced;             /**< the initialising thread has executed a fence, so copies may use the barrier */

    uint32_t thread; /**< the initialising thread, and the epoch and call site of the initialisation */
    uint32_t epoch;
    uintptr_t pc;

    uint32_t first_async_copy, last_async_copy;
    struct copy_arrival *copy_arrivals;
    struct vector_clock *arriving;  /**< vector clock of the arrivals in this phase */
    struct vector_clock *completed; /**< vector clock of the arrivals in all phases that have ended */
};

static struct barrier *barriers; /**< indexed by number; number 0 means no barrier */
static size_t barrier_room;
static uint32_t barrier_count, free_barrier;

/* --- lookup and initialisation ------------------------------------------------------------------------------------ */

static uint32_t allocate_barrier(uintptr_t pc)
{
    const uint32_t free_one = free_barrier;

    if (free_one) {
        free_barrier = barriers[free_one].next;
        return free_one;
    }
    if (!simt_array_reserve(&barriers, &barrier_room, (size_t)barrier_count + 2, sizeof *barriers))
        simt_fault_here(cudaErrorMemoryAllocation, pc, "out of memory", "has more barriers than there is room");
    return ++barrier_count;
}

/** Returns the number of the running block's barrier at an address, or 0 if no barrier is there. */
static uint32_t number_at(const void *address)
{
    struct barrier_handle name;

    memcpy(&name, address, sizeof name);
    if (name.mark != MARK || name.number == 0 || name.number > barrier_count)
        return 0;
    const struct barrier *const barrier = &barriers[name.number];

    return barrier->address == (uintptr_t)address && barrier->block == simt_running.block->number ? name.number : 0;
}

static void check_address(const void *address, uintptr_t pc)
{
    const uintptr_t shared = (uintptr_t)address - simt_memory.shared_begin;

    if (!simt_running.lane)
        simt_reject_host_call("a function of mbarriers", pc);
    if (shared >= simt_memory.shared_bytes)
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address", "has an mbarrier that is not in shared memory");
    if ((uintptr_t)address % sizeof(struct barrier_handle) != 0)
        simt_fault_here(cudaErrorMisalignedAddress, pc, "misaligned address",
                        "has an mbarrier at an address that is not a multiple of 8 (it ends in 0x%x)",
                        (unsigned)((uintptr_t)address & 0xff));
    if (shared + sizeof(struct barrier_handle) > simt_memory.dynamic_shared_requested_end &&
        shared < simt_memory.dynamic_shared_array_end)
        simt_fault_beyond_dynamic_shared(shared, sizeof(struct barrier_handle), true, pc);
}

/**
 * Returns the barrier at an address. Ends the launch if no barrier is there, or if its initialisation is not ordered
 * before the running thread.
 */
static struct barrier *find_barrier(const void *address, uintptr_t pc)
{
    check_address(address, pc);
    if (SIMT_UNLIKELY(simt_num_deferred_races))
        simt_deferred_race_report();
    const uint32_t number = number_at(address);

    if (number == 0)
        simt_fault_here(cudaErrorLaunchFailure, pc, "no mbarrier",
                        "uses an mbarrier that no thread has initialised, or that was written over");
    struct barrier *const barrier = &barriers[number];

    if (!simt_accesses_are_ordered(barrier->epoch, barrier->thread, false)) {
        const uint3 index = simt_thread_index(barrier->thread);

        simt_fault_here(cudaErrorLaunchFailure, pc, "shared memory race",
                        "uses an mbarrier that thread (%u,%u,%u) initialised" SIMT_PC_LOCATION_FORMAT
                        ", no barrier between",
                        index.x, index.y, index.z, barrier->pc);
    }
    return barrier;
}

/** Records an operation of the running thread on the barrier at an address, for the trace. */
static void record_use(const void *address, enum mbarrier_operation operation, uint32_t operand, uint32_t phase,
                       uintptr_t pc)
{
    simt_record_mbarrier_event_if_watched(pc, operation, (uintptr_t)address - simt_memory.shared_begin, operand, phase);
}

/**
 * Describes the position of a barrier: " of 'name'" or " of 'name[2]'" if all of the variable's memory is barriers, and
 * otherwise as simt_describe_position_in_array() does.
 */
static void describe_position(const struct barrier *barrier, char of[ARRAY_TEXT_SIZE])
{
    const size_t bytes = sizeof(struct barrier_handle), offset = barrier->address - simt_memory.shared_begin;
    size_t begin, end, count = 0;

    simt_describe_position_in_array(barrier->address, true, of);
    char *const rest = strstr(of, "' at byte ");

    simt_shared_array_bounds(offset, &begin, &end);
    for (uint32_t number = simt_running.block->first_mbarrier; number; number = barriers[number].next)
        count += barriers[number].address - simt_memory.shared_begin - begin < end - begin;
    if (!rest || count != (end - begin) / bytes)
        return;
    if (count > 1)
        snprintf(rest, ARRAY_TEXT_SIZE - (size_t)(rest - of), "[%zu]'", (offset - begin) / bytes);
    else
        rest[1] = '\0';
}

/** Advises to wait for the other parity, because the wait called at `wait` returned at once for this reason. */
static void advise_on_parity(const struct barrier *barrier, uintptr_t wait, const char *reason, char *text, size_t size)
{
    char of[ARRAY_TEXT_SIZE];

    describe_position(barrier, of);
    snprintf(text, size,
             SIMT_ADVICE_PREFIX "the other parity in the wait" SIMT_PC_LOCATION_FORMAT
                                " for the mbarrier%s: it returned at once, because %s; otherwise __syncthreads() "
                                "between the two accesses",
             wait, of, reason);
}

/**
 * Advises on a race within the running block that an mbarrier for fewer arrivals than the block has threads may cause:
 * if more threads arrive, its phases end early. Chooses the one with the most phases.
 */
static bool advise_on_arrivals(char *text, size_t size)
{
    const struct barrier *most = NULL, *early = NULL, *repeated = NULL;
    char of[ARRAY_TEXT_SIZE];

    for (uint32_t number = simt_running.block->first_mbarrier; number; number = barriers[number].next) {
        const struct barrier *const barrier = &barriers[number];

        if (barrier->early_wait && barrier->phase == 0)
            early = barrier;
        if (barrier->repeated_wait)
            repeated = barrier;
        if (barrier->phase > 0 && barrier->count < simt_running.block->num_threads &&
            (!most || barrier->phase > most->phase))
            most = barrier;
    }
    if (early && (!most || most->phase == 0)) {
        advise_on_parity(early, early->early_wait, "no phase had ended", text, size);
        return true;
    }
    if (repeated) {
        advise_on_parity(repeated, repeated->repeated_wait, "the thread had already waited for that phase", text, size);
        return true;
    }
    if (!most)
        return false;
    describe_position(most, of);
    snprintf(text, size,
             SIMT_ADVICE_PREFIX "__syncthreads() between the two accesses; or check how many threads arrive at the "
                                "mbarrier%s: it was made" SIMT_PC_LOCATION_FORMAT
                                " for %u, and %u of its phases have ended",
             of, most->pc, most->count, most->phase);
    return true;
}

void simt_mbarrier_init(void *address, uint32_t arrivals)
{
    const uintptr_t pc = SIMT_RETURN_ADDRESS();

    check_address(address, pc);
    if (arrivals < 1 || arrivals > MAX_ARRIVALS)
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad mbarrier",
                        "initialises an mbarrier for %u arrivals; it must be 1 to %d", arrivals, MAX_ARRIVALS);
    if (number_at(address))
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad mbarrier",
                        "initialises an mbarrier that was initialised" SIMT_PC_LOCATION_FORMAT " before",
                        barriers[number_at(address)].pc);
    const uint32_t number = allocate_barrier(pc);
    const struct barrier_handle name = {.number = number, .mark = MARK};

    barriers[number] = (struct barrier){.address = (uintptr_t)address,
                                        .block = simt_running.block->number,
                                        .next = simt_running.block->first_mbarrier,
                                        .count = arrivals,
                                        .pending = arrivals,
                                        .thread = simt_running.lane->thread,
                                        .epoch = simt_current_order.epoch,
                                        .pc = pc};
    simt_running.block->first_mbarrier = number;
    simt_advise_on_race_due_to_mbarrier_hook = advise_on_arrivals;
    memcpy(address, &name, sizeof name);
    record_use(address, MBARRIER_INIT, arrivals, 0, pc);
}

void simt_mbarrier_init_fence(void)
{
    for (uint32_t number = simt_running.block->first_mbarrier; number; number = barriers[number].next)
        barriers[number].fenced |= barriers[number].thread == simt_running.lane->thread;
}

void simt_proxy_fence(int also_global)
{
    simt_order_record_proxy_fence(SPACE_SHARED);
    if (also_global)
        simt_order_record_proxy_fence(SPACE_GLOBAL);
    simt_mbarrier_init_fence();
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

/** Makes the lanes that wait on a barrier ready. */
static void wake(struct barrier *barrier)
{
    struct block *const block = simt_running.block;
    const uint32_t number = (uint32_t)(barrier - barriers);

    for (unsigned i = 0; i < block->num_warps && barrier->waiting > 0; i++) {
        struct warp *const warp = &block->warp[i];

        FOR_EACH_LANE (lane, warp->lanes_at_mbarrier) {
            if (block->lane[warp->first_thread + lane].awaited_mbarrier != number)
                continue;
            warp->lanes_at_mbarrier &= ~lane_bit(lane);
            warp->ready_lanes |= lane_bit(lane);
            barrier->waiting--;
        }
    }
}

static void end_phase(struct barrier *barrier)
{
    if (barrier->pending > 0 || barrier->bytes != 0)
        return;
    barrier->phase++;
    barrier->pending = barrier->count;
    barrier->announced = 0;
    barrier->completed = simt_vector_clock_join(barrier->completed, barrier->arriving);
    simt_vector_clock_drop_reference(barrier->arriving);
    barrier->arriving = NULL;
    wake(barrier);
}

/**
 * Adds announced bytes (positive) or copied bytes (negative) to a barrier's count. Ends the launch if the count exceeds
 * an mbarrier's range.
 */
static void count_bytes(struct barrier *barrier, int64_t bytes, uintptr_t pc)
{
    barrier->bytes += bytes;
    if (llabs(barrier->bytes) > MAX_BYTES)
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad mbarrier",
                        "%s %lld byte%s at an mbarrier, made" SIMT_PC_LOCATION_FORMAT
                        ", which counts up to %d at a time",
                        bytes > 0 ? "announces" : "copies", llabs((long long)bytes),
                        plural_ending((uint64_t)llabs((long long)bytes)), barrier->pc, MAX_BYTES);
}

/** Records that a thread has arrived at a barrier, for describe_overtaken(). */
static void record_arriver(struct barrier *barrier, uint32_t thread)
{
    if (barrier->arriver == 0 || barrier->arriver == thread + 1) {
        barrier->arriver = thread + 1;
        return;
    }
    if (!barrier->has_arrived && (barrier->has_arrived = calloc(simt_running.block->num_threads, sizeof(bool))))
        barrier->has_arrived[barrier->arriver - 1] = true;
    barrier->arriver = SEVERAL_THREADS;
    if (barrier->has_arrived)
        barrier->has_arrived[thread] = true;
}

static void arrive(struct barrier *barrier, uint32_t bytes, uintptr_t pc)
{
    if (barrier->pending == 0)
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad mbarrier",
                        "arrives at an mbarrier, made" SIMT_PC_LOCATION_FORMAT
                        ", whose phase has had all its %u arrivals and waits for %lld bytes",
                        barrier->pc, barrier->count, (long long)barrier->bytes);
    record_arriver(barrier, simt_running.lane->thread);
    barrier->arrived_lanes |= lane_bit(simt_running.lane->thread % WARP_LANES);
    barrier->pending--;
    if (bytes > 0) {
        barrier->announced += bytes;
        barrier->announcement = pc;
    }
    count_bytes(barrier, bytes, pc);
    simt_order_mbarrier_release(&barrier->arriving);
    end_phase(barrier);
}

void simt_mbarrier_arrive_expect(void *address, uint32_t bytes)
{
    struct barrier *const barrier = find_barrier(address, SIMT_RETURN_ADDRESS());
    const uint32_t phase = barrier->phase;

    arrive(barrier, bytes, SIMT_RETURN_ADDRESS());
    record_use(address, bytes > 0 ? MBARRIER_ARRIVE_EXPECT : MBARRIER_ARRIVE, bytes, phase, SIMT_RETURN_ADDRESS());
}

void simt_mbarrier_arrive_copies(void *address)
{
    struct barrier *const barrier = find_barrier(address, SIMT_RETURN_ADDRESS());
    const uint32_t phase = barrier->phase, first = simt_async_copy_list_detach_from_lane();

    if (first) {
        struct copy_arrival *const copy_arrivals = malloc(sizeof *copy_arrivals);

        if (!copy_arrivals)
            simt_fault_here(cudaErrorMemoryAllocation, SIMT_RETURN_ADDRESS(), "out of memory",
                            "has more copies under way than there is room");
        *copy_arrivals = (struct copy_arrival){first, barrier->phase, simt_running.lane->thread,
                                               barrier->copy_arrivals};
        barrier->copy_arrivals = copy_arrivals;
    }
    arrive(barrier, 0, SIMT_RETURN_ADDRESS());
    record_use(address, MBARRIER_ARRIVE_COPIES, 0, phase, SIMT_RETURN_ADDRESS());
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

static bool has_ended(const struct barrier *barrier, uint32_t parity)
{
    return (barrier->phase & 1) != (parity & 1);
}

/** Returns the first bulk copy of a phase that has ended, or 0 if there is none. */
static uint32_t ended_copy(const struct barrier *barrier)
{
    return barrier->first_async_copy && simt_bulk_copy_at(barrier->first_async_copy)->mbarrier_phase < barrier->phase
               ? barrier->first_async_copy
               : 0;
}

/**
 * Completes the bulk copies of phases that have ended: their bytes reach shared memory, as writes in a separate epoch,
 * which only threads that wait for the barrier acquire.
 */
static void complete_bulk_copies(struct barrier *barrier)
{
    if (!ended_copy(barrier))
        return;
    simt_current_order.epoch++;
    if (!simt_proxy_record_epoch_is_bulk_copy())
        simt_fault_here(cudaErrorMemoryAllocation, simt_running.lane->wait_site, "out of memory",
                        "has more copies under way than there is room");
    for (uint32_t number; (number = ended_copy(barrier)) != 0;) {
        simt_order_mbarrier_add_write(&barrier->completed, simt_bulk_copy_at(number)->issuing_thread,
                                      simt_current_order.epoch);
        barrier->first_async_copy = simt_bulk_copy_complete_and_get_next(number);
    }
    simt_current_order.epoch++;
}

/** Completes the single threads' copies of phases that have ended, as complete_bulk_copies() does for bulk copies. */
static void complete_thread_copies(struct barrier *barrier)
{
    struct copy_arrival **copy_arrivals = &barrier->copy_arrivals;

    while (*copy_arrivals) {
        struct copy_arrival *const one = *copy_arrivals;

        if (one->phase >= barrier->phase) {
            copy_arrivals = &one->next;
            continue;
        }
        simt_current_order.epoch++;
        simt_order_mbarrier_add_write(&barrier->completed, one->thread, simt_current_order.epoch);
        simt_async_copy_list_complete(&one->first);
        simt_current_order.epoch++;
        *copy_arrivals = one->next;
        free(one);
    }
}

/** Records that the running thread has waited for the first `phases` phases of the barrier. */
static void record_seen(struct barrier *barrier, uint32_t phases)
{
    if (!barrier->seen)
        barrier->seen = calloc(simt_running.block->num_threads, sizeof *barrier->seen);
    if (barrier->seen)
        barrier->seen[simt_running.lane->thread] = phases;
}

/**
 * Suspends the running lane until the phase with the given parity has ended. Unless `without_limit`, the wait also ends
 * if no lane of the block can run. Returns 1 if the phase has ended, otherwise 0.
 */
static int wait(void *address, uint32_t parity, bool without_limit, uintptr_t pc)
{
    struct lane *const lane = simt_running.lane;
    const lane_mask self = lane_bit(lane->thread % WARP_LANES);
    const uint32_t number = (uint32_t)(find_barrier(address, pc) - barriers);
    uint32_t phase = barriers[number].phase - 1; /* the awaited phase, if it has ended */

    simt_current_order.packed_last_load = 0;
    if (!has_ended(&barriers[number], parity)) {
        struct warp *const warp = simt_running.warp;

        phase++;
        lane->wait_site = pc;
        lane->barrier_id = 0;
        lane->awaited_mbarrier = number;
        lane->awaited_parity = parity & 1;
        lane->waits_without_time_limit = without_limit;
        warp->ready_lanes &= ~self;
        warp->lanes_at_mbarrier |= self;
        barriers[number].waiting++;
        simt_launch_progress.num_collective_arrivals++;
        simt_lane_suspend();
    }
    struct barrier *const barrier = &barriers[number];

    /* A lane that wake() has made ready continues, even if another phase has ended since then. */
    if (lane->awaited_mbarrier != number && !has_ended(barrier, parity))
        return 0;
    lane->awaited_mbarrier = 0;
    if (barrier->phase == 0)
        barrier->early_wait = pc;
    else if (barrier->seen && barrier->seen[lane->thread] > phase)
        barrier->repeated_wait = pc;
    record_seen(barrier, phase + 1);
    complete_bulk_copies(barrier);
    complete_thread_copies(barrier);
    simt_order_mbarrier_acquire(barrier->completed);
    record_use(address, MBARRIER_WAIT, parity & 1, phase, pc);
    return 1;
}

int simt_mbarrier_try_wait(void *address, uint32_t parity)
{
    return wait(address, parity, false, SIMT_RETURN_ADDRESS());
}

void simt_mbarrier_wait(void *address, uint32_t parity)
{
    wait(address, parity, true, SIMT_RETURN_ADDRESS());
}

bool simt_mbarrier_expire_timed_waits(struct block *block)
{
    bool any = false;

    for (unsigned i = 0; i < block->num_warps; i++) {
        struct warp *const warp = &block->warp[i];

        FOR_EACH_LANE (l, warp->lanes_at_mbarrier) {
            struct lane *const lane = &block->lane[warp->first_thread + l];

            if (lane->waits_without_time_limit)
                continue;
            barriers[lane->awaited_mbarrier].waiting--;
            lane->awaited_mbarrier = 0;
            warp->lanes_at_mbarrier &= ~lane_bit(l);
            warp->ready_lanes |= lane_bit(l);
            any = true;
        }
    }
    return any;
}

/* --- waits that can never end ------------------------------------------------------------------------------------- */

/**
 * Reasons why a waiting lane's phase does not end; a greater value says more. WAIT_NOT_BEGUN: nothing has arrived at
 * the barrier yet. WAIT_SKIPPED_ONE: a single phase has ended without a wait of this lane.
 */
enum wait_state { WAIT_PENDING, WAIT_NOT_BEGUN, WAIT_SKIPPED_ONE, WAIT_OVERTAKEN, WAIT_FOR_BYTES };

/** Returns the number of the barrier's phases that have ended since the last one that a lane has waited for. */
static uint32_t missed_phases(const struct barrier *barrier, const struct lane *lane)
{
    return barrier->phase - (barrier->seen ? barrier->seen[lane->thread] : 0);
}

/**
 * Returns whether a wait on the source line of a call, for any of the block's barriers, has returned before a phase had
 * ended: that line does wait for the right parity in the first round.
 */
static bool has_returned_early(uintptr_t call_site)
{
    char line[LOCATION_TEXT_SIZE], early[LOCATION_TEXT_SIZE];

    simt_format_source_line(call_site, line);
    for (uint32_t number = simt_running.block->first_mbarrier; number; number = barriers[number].next) {
        simt_format_source_line(barriers[number].early_wait, early);
        if (barriers[number].early_wait && strcmp(line, early) == 0)
            return true;
    }
    return false;
}

/** Runs on the host's stack. */
static enum wait_state state_of(const struct lane *lane)
{
    const struct barrier *const barrier = &barriers[lane->awaited_mbarrier];

    if (barrier->bytes != 0)
        return WAIT_FOR_BYTES;
    if (missed_phases(barrier, lane) >= 2)
        return WAIT_OVERTAKEN;
    if (missed_phases(barrier, lane) == 1)
        return WAIT_SKIPPED_ONE;
    return barrier->phase == 0 && barrier->pending == barrier->count && !has_returned_early(lane->wait_site)
               ? WAIT_NOT_BEGUN
               : WAIT_PENDING;
}

void simt_mbarrier_describe_wait(const struct lane *lane, char *text, size_t size)
{
    const struct barrier *const barrier = &barriers[lane->awaited_mbarrier];
    const uint32_t missed = missed_phases(barrier, lane);
    const uint32_t arrived = barrier->count - barrier->pending;
    char arrivals[128], bytes[128] = "", late[128] = "", of[ARRAY_TEXT_SIZE];

    if (barrier->pending > 0 && arrived > 0)
        snprintf(arrivals, sizeof arrivals, ": only %u of the %u arrivals announced" SIMT_PC_LOCATION_FORMAT " %s come",
                 arrived, barrier->count, barrier->pc, arrived == 1 ? "has" : "have");
    else if (barrier->pending > 0)
        snprintf(arrivals, sizeof arrivals,
                 barrier->count == 1 ? ": the %u arrival announced" SIMT_PC_LOCATION_FORMAT " has not come"
                                     : ": none of the %u arrivals announced" SIMT_PC_LOCATION_FORMAT " has come",
                 barrier->count, barrier->pc);
    else
        snprintf(arrivals, sizeof arrivals, ", which has its %u arrival%s", barrier->count,
                 plural_ending(barrier->count));
    if (barrier->bytes > 0)
        snprintf(bytes, sizeof bytes, ", %s only %lld of the %lld bytes announced" SIMT_PC_LOCATION_FORMAT,
                 barrier->pending > 0 ? "and" : "but", (long long)(barrier->announced - barrier->bytes),
                 (long long)barrier->announced, barrier->announcement);
    else if (barrier->bytes < 0)
        snprintf(bytes, sizeof bytes, "; %lld bytes have come unannounced", -(long long)barrier->bytes);
    if (missed >= 2)
        snprintf(late, sizeof late, "; phases %u to %u have ended without a wait of this thread, which comes too late",
                 barrier->phase - missed, barrier->phase - 1);
    else if (missed == 1)
        snprintf(late, sizeof late, "; phase %u, of parity %u, has ended without a wait of this thread",
                 barrier->phase - 1, (barrier->phase - 1) & 1);
    describe_position(barrier, of);
    snprintf(text, size, "for phase %u, of parity %u, of the mbarrier%s%s%s%s", barrier->phase, lane->awaited_parity,
             of, arrivals, bytes, late);
}

bool simt_mbarrier_wait_lacks_only_bytes(const struct lane *lane)
{
    const struct barrier *const barrier = &barriers[lane->awaited_mbarrier];

    return barrier->pending == 0 && barrier->bytes > 0;
}

bool simt_mbarrier_wait_is_overtaken_by_several(const struct lane *lane)
{
    return state_of(lane) == WAIT_OVERTAKEN && barriers[lane->awaited_mbarrier].arriver == SEVERAL_THREADS;
}

void simt_mbarrier_describe_overtaken_wait(const struct lane *lane, char *text, size_t size)
{
    const struct barrier *const barrier = &barriers[lane->awaited_mbarrier];
    const uint32_t missed = missed_phases(barrier, lane);
    char of[ARRAY_TEXT_SIZE], number[NUMBER_TEXT_SIZE], late[80] = "";

    if (missed < barrier->phase)
        snprintf(late, sizeof late, ", the last %u without a wait of this thread", missed);
    describe_position(barrier, of);
    snprintf(text, size,
             "for phase %u of the mbarrier%s, made" SIMT_PC_LOCATION_FORMAT
             " with a count of %u, but %s arrivals have already ended phases 0 to %u%s",
             barrier->phase, of, barrier->pc, barrier->count,
             simt_format_thousands_separated((uint64_t)barrier->phase * barrier->count, number), barrier->phase - 1,
             late);
}

/** Advises on a wait for a phase that others have overtaken. */
static void advise_on_overtaken(const struct barrier *barrier, char *text, size_t size)
{
    const bool by_one = barrier->arriver != SEVERAL_THREADS;
    uint32_t arrivers = 0;

    for (uint32_t i = 0; barrier->has_arrived && i < simt_running.block->num_threads; i++)
        arrivers += barrier->has_arrived[i];
    const bool by_lanes = lane_count(barrier->arrived_lanes) > 1 && barrier->count <= simt_running.block->num_warps;

    if (!by_one && by_lanes)
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX
                 "if %u threads arrive in each phase, initialise the mbarrier with %u" SIMT_PC_LOCATION_FORMAT
                 "; or, if %u is right, let only so many arrive: one lane of each warp, after "
                 "__syncwarp()",
                 arrivers, arrivers, barrier->pc, barrier->count);
    else if (by_one)
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX
                 "let the thread that arrives wait for the other threads before it begins another phase: by a second "
                 "mbarrier, at which they arrive, or __syncthreads()");
    else
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX
                 "check the number of arrivals in mbarrier_init(), and who arrives; or, if it is right, let threads "
                 "wait for each phase before they arrive for the next but one");
}

/** Advises on a lane's wait in which the parity is probably that of another phase. */
static void advise_on_parity_of_wait(const struct lane *lane, char *text, size_t size)
{
    snprintf(text, size,
             SIMT_ADVICE_PREFIX "check the parity of the wait" SIMT_PC_LOCATION_FORMAT
                                ", which alternates from phase to phase: 0, 1, 0, ..., as in mbarrier_wait(&barrier, "
                                "round & 1); if it is right, check who arrives, and the number of arrivals in "
                                "mbarrier_init()",
             lane->wait_site);
}

/** Appends the lines of the waits for phases in which nothing has arrived, of which one should return at once. */
static void advise_on_first_round(const struct lane *const *lanes, unsigned num_lanes, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "%s", SIMT_ADVICE_PREFIX "check the parity of the wait");
    unsigned count = 0;

    for (unsigned i = 0; i < num_lanes; i++) {
        if (state_of(lanes[i]) == WAIT_NOT_BEGUN && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s" SIMT_PC_LOCATION_FORMAT,
                                       count++ > 0 ? " or" : "", lanes[i]->wait_site);
    }
    if (length < size)
        snprintf(
            text + length, size - length,
            ", for a phase in which nothing has arrived: if it should return at once in the first round (the memory "
            "is free then), its parity begins with 1; otherwise check who arrives, and the number in "
            "mbarrier_init()");
}

void simt_mbarrier_advise_on_waits(const struct lane *const *lanes, unsigned num_lanes, char *text, size_t size)
{
    const struct lane *worst = lanes[0];

    for (unsigned i = 1; i < num_lanes; i++) {
        if (state_of(lanes[i]) > state_of(worst))
            worst = lanes[i];
    }
    const struct barrier *const barrier = &barriers[worst->awaited_mbarrier];
    const int64_t copied = barrier->announced - barrier->bytes;

    if (barrier->bytes > 0)
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX "announce as many bytes" SIMT_PC_LOCATION_FORMAT
                                    " as the copies bring, which is %lld so far; "
                                    "or issue the copies that are lacking",
                 barrier->announcement, (long long)copied);
    else if (barrier->bytes < 0)
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX "announce as many bytes by mbarrier_arrive_expect() as the copies bring, here %lld",
                 (long long)copied);
    else if (state_of(worst) == WAIT_OVERTAKEN)
        advise_on_overtaken(barrier, text, size);
    else if (state_of(worst) == WAIT_NOT_BEGUN)
        advise_on_first_round(lanes, num_lanes, text, size);
    else if (state_of(worst) == WAIT_SKIPPED_ONE || barrier->repeated_wait)
        advise_on_parity_of_wait(worst, text, size);
    else
        snprintf(text, size,
                 barrier->pending < barrier->count ? SIMT_ADVICE_PREFIX
                     "mbarrier_init() with the number of arrivals per phase, 1 if one thread "
                     "arrives for all; if it is right, check who arrives"
                                                   : SIMT_ADVICE_PREFIX
                     "check the number of arrivals in mbarrier_init(), who arrives, and the parity");
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

/** Issues a copy of the running thread that counts towards the barrier at an address. */
static void issue(struct bulk_copy *copy, void *address)
{
    struct barrier *const barrier = find_barrier(address, copy->pc);

    if (!barrier->fenced)
        simt_fault_here(cudaErrorLaunchFailure, copy->pc, "no fence to the asynchronous proxy",
                        "copies with an mbarrier that was initialised" SIMT_PC_LOCATION_FORMAT
                        " and was not made visible to copies" SIMT_ADVICE_PREFIX
                        "mbarrier_init_fence() after the last mbarrier_init(), before the __syncthreads()",
                        barrier->pc);
    copy->issuing_thread = simt_running.lane->thread;
    copy->mbarrier_phase = barrier->phase;
    const uint32_t number = simt_bulk_copy_issue(copy);

    if (barrier->first_async_copy)
        simt_bulk_copy_at(barrier->last_async_copy)->next_copy_of_mbarrier = number;
    else
        barrier->first_async_copy = number;
    barrier->last_async_copy = number;
    simt_bulk_copy_check_and_mark_destination(number);
    simt_order_mbarrier_add_write(&barrier->arriving, copy->issuing_thread, simt_bulk_copy_at(number)->epoch);
    simt_current_order.packed_last_load = 0;
    NOTIFY_OBSERVERS(bulk_copy_issued, bulk_copy_bytes(copy));
    count_bytes(barrier, -(int64_t)bulk_copy_bytes(copy), copy->pc);
    end_phase(barrier);
    if (SIMT_UNLIKELY(simt_memory.is_watched))
        simt_record_bulk_copy_event_if_watched(copy->pc, simt_bulk_copy_source_offset_for_event(number),
                                               bulk_copy_bytes(copy),
                                               (uintptr_t)copy->destination - simt_memory.shared_begin);
}

static void check_multiple(uint64_t value, unsigned of, const char *what, uintptr_t pc)
{
    if (value % of != 0)
        simt_fault_here(cudaErrorMisalignedAddress, pc, "misaligned address",
                        "copies %s is not a multiple of %u (%s0x%x)", what, of, "it ends in ",
                        (unsigned)(value & 0xfff));
}

void simt_bulk_copy(void *destination, const void *source, uint32_t bytes, void *barrier)
{
    const uintptr_t pc = SIMT_RETURN_ADDRESS();
    struct bulk_copy copy = {
        .destination = destination,
        .map = {.matrix = source, .rows = 1, .columns = bytes / 2, .tile_rows = 1, .tile_columns = bytes / 2},
        .pc = pc};

    check_multiple((uintptr_t)destination, 16, "to an address that", pc);
    check_multiple((uintptr_t)source, 16, "from an address that", pc);
    if (bytes % 16 != 0)
        simt_fault_here(cudaErrorMisalignedAddress, pc, "bad asynchronous copy",
                        "copies %u bytes in bulk, which is not a multiple of 16" SIMT_ADVICE_PREFIX
                        "rows that are padded to a multiple of 16 bytes",
                        bytes);
    if (bytes == 0)
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad asynchronous copy", "copies 0 bytes in bulk");
    issue(&copy, barrier);
}

/**
 * Ends the launch if a tensor map is in memory from which a GPU cannot read it. A map on a thread's stack is accepted,
 * because the simulator stores kernel parameters there.
 */
static void check_map(const simt_tensor_map *map, uintptr_t pc)
{
    const uintptr_t address = (uintptr_t)map, global = address - simt_memory.arena_begin;
    const struct fiber_stacks *const stacks = &simt_running.block->stacks;
    const bool is_shared = address - simt_memory.shared_begin < simt_memory.shared_bytes;

    if (!is_shared && (address - (uintptr_t)stacks->base < stacks->mapped_bytes || global < simt_memory.arena_bytes ||
                       simt_is_device_variable_range(map, sizeof *map)))
        return;
    simt_fault_here(cudaErrorIllegalAddress, pc, "bad asynchronous copy",
                    "copies by a tensor map in %s memory; it must be a const __grid_constant__ parameter, or in global "
                    "or constant memory",
                    is_shared ? "shared" : "the host's");
}

void simt_bulk_copy_tile(void *destination, const simt_tensor_map *map, int32_t row, int32_t column, void *barrier)
{
    const uintptr_t pc = SIMT_RETURN_ADDRESS();

    check_map(map, pc);
    struct bulk_copy copy = {.destination = destination, .map = *map, .row = row, .column = column, .pc = pc};

    if (map->magic != SIMT_TENSOR_MAP_MAGIC)
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad asynchronous copy",
                        "copies by a tensor map that was never made");
    check_multiple((uintptr_t)destination, map->swizzle ? 8 * map->swizzle : 128, "a tile to an address that", pc);
    if (column % 8 != 0)
        simt_fault_here(
            cudaErrorLaunchFailure, pc, "bad asynchronous copy",
            "copies a tile from column %d, which is not a multiple of 8: the simulator has chunks of 16 bytes", column);
    issue(&copy, barrier);
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

void simt_mbarriers_check_no_copies_in_flight(const struct block *block)
{
    for (uint32_t number = block->first_mbarrier; number; number = barriers[number].next) {
        const struct bulk_copy *const copy = simt_bulk_copy_at(barriers[number].first_async_copy);

        if (!barriers[number].first_async_copy)
            continue;
        simt_fault_thread(cudaErrorLaunchFailure, simt_thread_index(copy->issuing_thread), copy->pc,
                          "asynchronous copy under way",
                          "copies %u bytes for which no thread waits before the block ends", bulk_copy_bytes(copy));
        return;
    }
}

void simt_mbarriers_free(struct block *block)
{
    while (block->first_mbarrier) {
        const uint32_t number = block->first_mbarrier;
        struct barrier *const barrier = &barriers[number];

        while (barrier->first_async_copy)
            barrier->first_async_copy = simt_bulk_copy_discard_and_get_next(barrier->first_async_copy);
        while (barrier->copy_arrivals) {
            struct copy_arrival *const copy_arrivals = barrier->copy_arrivals;

            barrier->copy_arrivals = copy_arrivals->next;
            simt_async_copy_list_discard(&copy_arrivals->first);
            free(copy_arrivals);
        }
        free(barrier->seen);
        free(barrier->has_arrived);
        simt_vector_clock_drop_reference(barrier->arriving);
        simt_vector_clock_drop_reference(barrier->completed);
        block->first_mbarrier = barrier->next;
        barrier->address = 0;
        barrier->next = free_barrier;
        free_barrier = number;
    }
}
