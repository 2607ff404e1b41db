/**
 * @file test_races.cu
 * @brief Random programs: the simulator reports a race where, and only where, a list of all events has one.
 *
 *     test_races [PROGRAMS [FIRST_SEED]]
 *
 * A program is for each thread a few accesses of 1 to 8 bytes to shared and global memory, atomics, fences and barriers. The
 * kernel that runs it notes each event before it happens. From that list alone the oracle works out what is ordered before
 * what, as a graph, by the rules at the top of happens_before.h, and compares every two events.
 */
#include "simt_test.h"

#include <cooperative_groups.h>

/* The oracle and the notes are no part of the kernel. */
#define HOST_ONLY SIMT_UNTRACED __attribute__((noinline))

enum {
    MAX_THREADS = 72,
    MAX_BLOCKS = 3,
    MAX_MEETINGS = 10,
    MAX_OPS = 10 + MAX_MEETINGS,
    MAX_EVENTS = 1024,
    PLACES = 16, /* bytes of each memory that programs use */
    WORDS_OF_EVENTS = MAX_EVENTS / 64
};

enum kind {
    LOAD,
    STORE,
    VOLATILE_LOAD,
    VOLATILE_STORE,
    ATOMIC_ADD,
    ATOMIC_EXCHANGE,
    ATOMIC_FAILS, /* a compare-and-swap that does not swap */
    FENCE,
    SYNCWARP,
    BARRIER,
    GRID_BARRIER,
    LEAVES /* what follows a barrier, for who has been there */
};

struct op {
    uint8_t kind;
    uint8_t bytes;
    uint8_t place;
    bool shared;
    bool in_block;
    uint8_t meeting; /* a barrier's number */
    uint32_t mask;
};

struct program {
    unsigned threads; /* of a block */
    unsigned blocks;
    bool cooperative;
    uint8_t count[MAX_THREADS];
    struct op op[MAX_THREADS][MAX_OPS];
};

struct event {
    struct op op;
    uint8_t thread, block;
    bool strong;                      /* atomic, or as good as one */
    uint64_t before[WORDS_OF_EVENTS]; /* events that are ordered before it */
    uint64_t met[WORDS_OF_EVENTS];    /* those that are so by program order and barriers alone */
    uint64_t sees[WORDS_OF_EVENTS];   /* atomics whose values it sees */
    uint64_t covers[WORDS_OF_EVENTS]; /* those, and all that lie before them at the same place */
};

static __constant__ struct program constant_program;
static struct program program;
static struct event events[MAX_EVENTS];
static unsigned event_count;

static HOST_ONLY void note(const struct op *op, unsigned kind)
{
    if (event_count == MAX_EVENTS)
        return;
    struct event *event = &events[event_count++];

    event->op = *op;
    event->op.kind = (uint8_t)kind;
    event->thread = (uint8_t)(blockIdx.x * blockDim.x + threadIdx.x);
    event->block = (uint8_t)blockIdx.x;
}

/* --- the kernel ----------------------------------------------------------------------------------------------------- */

template <class T>
static inline __device__ void access(T *place, const struct op *op, unsigned long long *sum)
{
    switch (op->kind) {
    case LOAD:
        *sum += *place;
        break;
    case STORE:
        *place = (T)*sum;
        break;
    case VOLATILE_LOAD:
        *sum += *(volatile T *)place;
        break;
    case VOLATILE_STORE:
        *(volatile T *)place = (T)*sum;
        break;
    default:
        break;
    }
}

template <class T>
static inline __device__ void atomic(T *place, const struct op *op)
{
    if (op->kind == ATOMIC_ADD && op->in_block)
        atomicAdd_block(place, 1);
    else if (op->kind == ATOMIC_ADD)
        atomicAdd(place, 1);
    else if (op->kind == ATOMIC_EXCHANGE && op->in_block)
        atomicExch_block(place, 1);
    else if (op->kind == ATOMIC_EXCHANGE)
        atomicExch(place, 1);
    else if (op->in_block)
        atomicCAS_block(place, 0x7fffffffu, 1);
    else
        atomicCAS(place, 0x7fffffffu, 1);
}

static __global__ void run_kernel(unsigned char *global, unsigned long long *out)
{
    __shared__ __align__(8) unsigned char shared[PLACES];
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long sum = 0;

    for (unsigned i = threadIdx.x; i < PLACES / 4; i += blockDim.x)
        ((int *)shared)[i] = 0;
    __syncthreads();
    for (unsigned i = 0; i < constant_program.count[thread]; i++) {
        const struct op *op = &constant_program.op[thread][i];
        unsigned char *place = (op->shared ? shared : global) + op->place;

        note(op, op->kind);
        if (op->kind == FENCE) {
            if (op->in_block)
                __threadfence_block();
            else
                __threadfence();
        } else if (op->kind >= SYNCWARP) {
            if (op->kind == SYNCWARP)
                __syncwarp(op->mask);
            else if (op->kind == BARRIER)
                __syncthreads();
            else
                cooperative_groups::this_grid().sync();
            note(op, LEAVES);
        } else if (op->kind >= ATOMIC_ADD) {
            if (op->bytes == 4)
                atomic((unsigned *)place, op);
            else
                atomic((unsigned long long *)place, op);
        } else if (op->bytes == 1) {
            access(place, op, &sum);
        } else if (op->bytes == 2) {
            access((unsigned short *)place, op, &sum);
        } else if (op->bytes == 4) {
            access((unsigned *)place, op, &sum);
        } else {
            access((unsigned long long *)place, op, &sum);
        }
    }
    out[thread] = sum;
}

/* --- the oracle ----------------------------------------------------------------------------------------------------- */

static HOST_ONLY bool has(const uint64_t *set, unsigned i)
{
    return set[i / 64] >> i % 64 & 1;
}

static HOST_ONLY void put(uint64_t *set, unsigned i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}

static HOST_ONLY void put_all(uint64_t *set, const uint64_t *others)
{
    for (unsigned i = 0; i < WORDS_OF_EVENTS; i++)
        set[i] |= others[i];
}

static HOST_ONLY bool is_access(const struct event *event)
{
    return event->op.kind < FENCE;
}

static HOST_ONLY bool overlap(const struct event *a, const struct event *b)
{
    return a->op.shared == b->op.shared && (!a->op.shared || a->block == b->block) &&
           a->op.place < b->op.place + b->op.bytes && b->op.place < a->op.place + a->op.bytes;
}

static HOST_ONLY bool same_place(const struct event *a, const struct event *b)
{
    return overlap(a, b) && a->op.place == b->op.place;
}

static HOST_ONLY bool writes(const struct event *event)
{
    return is_access(event) && event->op.kind != LOAD && event->op.kind != VOLATILE_LOAD;
}

/** The bytes of its memory that event number `i` touches. */
static HOST_ONLY uint32_t bytes_of(unsigned i)
{
    return ((1u << events[i].op.bytes) - 1) << events[i].op.place;
}

/** What is ordered before event number `i` by its own thread and by the barrier that it leaves. */
static HOST_ONLY void order_by_barriers(unsigned i)
{
    struct event *event = &events[i];
    bool own = false;

    for (unsigned j = i; j-- > 0;) {
        const struct event *other = &events[j];
        const bool met = event->op.kind == LEAVES && other->op.kind >= SYNCWARP && other->op.kind < LEAVES &&
                         other->op.meeting == event->op.meeting;

        if (!met && (own || other->thread != event->thread))
            continue;
        own = own || other->thread == event->thread;
        put(event->met, j);
        put_all(event->met, other->met);
        put(event->before, j);
        put_all(event->before, other->before);
    }
}

/** Which atomics event number `i` sees: those since the last other store, all of one place and size. */
static HOST_ONLY void see(unsigned i)
{
    struct event *event = &events[i];

    if (event->op.kind < VOLATILE_LOAD || event->op.kind > ATOMIC_FAILS || event->op.kind == VOLATILE_STORE)
        return;
    for (unsigned j = i; j-- > 0;) {
        const struct event *other = &events[j];

        if (!writes(other) || !overlap(other, event))
            continue;
        if (!other->strong ||
            (other->op.bytes != event->op.bytes && (same_place(other, event) || other->op.kind == VOLATILE_STORE)))
            break;
        if (other->op.bytes != event->op.bytes)
            continue;
        put(event->sees, j);
        if (other->op.kind == VOLATILE_STORE)
            break;
    }
}

/** Whoever is ordered after an atomic is so after what that covers: what it sees, or is ordered before it, at the same place. */
static HOST_ONLY void cover(unsigned i)
{
    struct event *event = &events[i];

    for (unsigned j = 0; j < i && event->strong; j++) {
        const struct event *other = &events[j];

        if (!has(event->sees, j) &&
            !(other->strong && same_place(other, event) && other->op.bytes == event->op.bytes && has(event->before, j)))
            continue;
        put(event->covers, j);
        put_all(event->covers, other->covers);
    }
}

/** Adds to `before` what fences order for somebody who is at event number `i`: a fence of `thread`, or a volatile load. */
static HOST_ONLY void order_by_fences(unsigned i, bool in_block, uint64_t *before)
{
    const struct event *event = &events[i];

    for (unsigned read = 0; read < i; read++) {
        if (!has(event->met, read) || !is_access(&events[read]))
            continue;
        for (unsigned atomic = 0; atomic < read; atomic++) {
            if (!has(events[read].sees, atomic) || events[atomic].op.kind == ATOMIC_FAILS)
                continue;
            for (unsigned fence = 0; fence < atomic; fence++) {
                if (events[fence].op.kind != FENCE || !has(events[atomic].met, fence))
                    continue;
                if ((in_block || events[fence].op.in_block) && events[fence].block != event->block)
                    continue;
                put(before, fence);
                put_all(before, events[fence].before);
            }
        }
    }
}

static HOST_ONLY bool has_fenced(unsigned i)
{
    for (unsigned j = 0; j < i; j++) {
        if (events[j].op.kind == FENCE && events[j].block == events[i].block && has(events[i].met, j))
            return true;
    }
    return false;
}

/** Whether the atomic number `first` is ordered before the second event, or seen by an atomic that is. */
static HOST_ONLY bool saw(unsigned first, unsigned second, const uint64_t *before)
{
    for (unsigned i = first; i < second; i++) {
        if (has(before, i) && (i == first || has(events[i].covers, first)))
            return true;
    }
    return false;
}

/**
 * An atomic for one block that follows wider ones of others must have seen the latest of them, not only one of its own block that
 * had: the last that has seen the atomic number `first`.
 */
static HOST_ONLY unsigned last_wide_atomic(unsigned first, unsigned second)
{
    const struct event *event = &events[first];

    for (unsigned i = second; i-- > first && event->op.kind >= ATOMIC_ADD && !event->op.in_block;) {
        if (events[i].op.kind >= ATOMIC_ADD && is_access(&events[i]) && !events[i].op.in_block &&
            has(events[i].covers, first))
            return i;
    }
    return first;
}

/** Whether event number `i` is a load whose thread next loads there by a compare-and-swap, without a barrier between. */
static HOST_ONLY bool is_forgiven(unsigned i)
{
    for (unsigned j = i + 1; j < event_count && events[i].op.kind == LOAD; j++) {
        const struct event *event = &events[j];

        if (event->thread != events[i].thread)
            continue;
        if (event->op.kind == ATOMIC_FAILS && same_place(event, &events[i]) && event->op.bytes == events[i].op.bytes)
            return true;
        if (event->op.kind == LOAD && same_place(event, &events[i]) && event->op.bytes == events[i].op.bytes)
            continue;
        if (event->op.kind == LOAD || event->op.kind == VOLATILE_LOAD || event->op.kind >= SYNCWARP)
            return false;
    }
    return false;
}

/** Whether stores that are ordered before the second event have been made over all bytes that both have. */
static HOST_ONLY bool stored_over(unsigned first, unsigned second, const uint64_t *before)
{
    uint32_t left = bytes_of(first) & bytes_of(second);

    for (unsigned i = first; i < second; i++) {
        if (has(before, i) && writes(&events[i]) && !events[i].strong && overlap(&events[i], &events[second]))
            left &= ~bytes_of(i);
    }
    return left == 0;
}

/**
 * The event that was last compared is no race only since an atomic that it has seen covers what it would race with (not by CUDA's
 * model, which does not count that as an order), or since what it would race with is a load before one that is forgiven. The simulator
 * may report it or not.
 */
static bool either;

/** Whether events number `first` and `second` race; `before` is ordered before the second. */
static HOST_ONLY bool race(unsigned first, unsigned second, const uint64_t *before)
{
    const struct event *a = &events[first];
    const struct event *b = &events[second];

    if (a->thread == b->thread || !is_access(a) || !overlap(a, b) || !(writes(a) || writes(b)) || has(before, first))
        return false;
    if (a->strong && b->strong && a->op.bytes == b->op.bytes && same_place(a, b) &&
        (a->block == b->block || !(a->op.in_block || b->op.in_block)))
        return false;
    for (unsigned i = first + 1; i < second && (a->op.kind == LOAD || a->op.kind == VOLATILE_LOAD); i++) {
        if (is_forgiven(i) && overlap(&events[i], a) && has(events[i].before, first)) {
            either = true;
            return false;
        }
    }
    if (b->op.kind == LOAD)
        return !stored_over(first, second, before);
    if (!saw(b->op.in_block ? last_wide_atomic(first, second) : first, second, before))
        return true;
    bool seen = false;

    for (unsigned i = first; i < second; i++)
        seen = seen || (has(before, i) && has(events[i].sees, first));
    either = either || !seen;
    return false;
}

/** The number of the first event that races with an earlier one, or event_count. */
static HOST_ONLY unsigned first_race(void)
{
    for (unsigned i = 0; i < event_count; i++) {
        struct event *event = &events[i];
        uint64_t before[WORDS_OF_EVENTS];

        order_by_barriers(i);
        event->strong = event->op.kind >= VOLATILE_LOAD && event->op.kind < FENCE &&
                        (event->op.kind != VOLATILE_STORE || has_fenced(i));
        event->strong = event->strong || is_forgiven(i);
        see(i);
        cover(i);
        if (event->op.kind == FENCE)
            order_by_fences(i, event->op.in_block, event->before);
        if (!is_access(event))
            continue;
        either = false;
        memcpy(before, event->before, sizeof before);
        if (event->op.kind == VOLATILE_LOAD || (event->op.kind == VOLATILE_STORE && event->strong))
            order_by_fences(i, false, before);
        for (unsigned j = 0; j < i; j++) {
            if (race(j, i, before))
                return i;
        }
    }
    return event_count;
}

/* --- programs ------------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static HOST_ONLY unsigned below(unsigned limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % limit);
}

/** The last places of a thread are for barriers, which nobody may miss. */
static HOST_ONLY void give(unsigned thread, struct op op)
{
    const unsigned room = op.kind < SYNCWARP ? MAX_OPS - MAX_MEETINGS : MAX_OPS;

    if (program.count[thread] < room)
        program.op[thread][program.count[thread]++] = op;
}

static HOST_ONLY struct op any_access(unsigned fences, unsigned atomics, unsigned volatiles, unsigned loads,
                                      unsigned places)
{
    static const uint8_t sizes[] = {1, 2, 4, 4, 4, 4, 8};
    struct op op = {};
    const unsigned what = below(100);

    op.shared = below(3) == 0;
    op.bytes = sizes[below(sizeof sizes)];
    op.kind = below(loads + 1) ? LOAD : STORE;
    if (what < fences) {
        op.kind = FENCE;
        op.in_block = below(4) == 0;
        return op;
    }
    if (what < fences + atomics) {
        op.kind = (uint8_t)(ATOMIC_ADD + (below(4) ? below(2) : 2));
        op.bytes = below(8) ? 4 : 8;
        op.in_block = below(6) == 0;
    } else if (what < fences + atomics + volatiles) {
        op.kind = (uint8_t)(VOLATILE_LOAD + (below(3) == 0));
    }
    op.place = (uint8_t)(below(places / op.bytes ? places / op.bytes : 1) * op.bytes);
    return op;
}

static HOST_ONLY void meet(uint8_t meeting, unsigned block)
{
    struct op op = {};
    const unsigned warp = below((program.threads + 31) / 32);
    const unsigned lanes = program.threads - warp * 32 < 32 ? program.threads - warp * 32 : 32;

    op.meeting = meeting;
    op.kind = below(3) ? SYNCWARP : BARRIER;
    if (program.cooperative && below(6) == 0)
        op.kind = GRID_BARRIER;
    op.mask = below(3) ? below(1u << 16) | 1u << below(lanes) : UINT32_MAX;
    for (unsigned i = 0; i < program.blocks * program.threads; i++) {
        const bool here = i / program.threads == block;
        const unsigned thread = i % program.threads;
        const bool named = here && thread / 32 == warp && (op.mask >> thread % 32 & 1);

        if (op.kind == SYNCWARP ? named : here || op.kind == GRID_BARRIER)
            give(i, op);
    }
}

/** A random program; all its barriers fit, so nobody waits for ever. */
static HOST_ONLY void make_program(uint64_t seed)
{
    static const unsigned sizes[] = {2, 3, 4, 8, 34, 36};
    static const unsigned spaces[] = {1, 4, 8, 16, 16};

    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    memset(&program, 0, sizeof program);
    program.blocks = 1 + below(MAX_BLOCKS);
    program.threads = sizes[below(program.blocks > 2 ? 4 : 6)];
    program.cooperative = below(3) == 0;
    const unsigned fences = below(3) * 15;
    const unsigned atomics = below(4) * 20;
    const unsigned volatiles = below(3) * 15;
    const unsigned places = spaces[below(5)];
    const unsigned loads = 1 << below(4);
    const unsigned active = 2 + below(4);
    uint8_t meetings = 0;

    for (unsigned steps = 4 + below(24); steps > 0; steps--) {
        const unsigned block = below(program.blocks);
        /* A few of the threads, of both warps where there are two. */
        const unsigned thread = below(2) ? below(active) % program.threads
                                         : program.threads - 1 - below(active) % program.threads;

        if (below(3) == 0 && meetings < MAX_MEETINGS)
            meet(++meetings, block);
        else
            give(block * program.threads + thread, any_access(fences, atomics, volatiles, loads, places));
    }
}

static HOST_ONLY void print_program(void)
{
    static const char *const names[] = {"load", "store", "volatile load", "volatile store", "add",          "exchange",
                                        "fail", "fence", "syncwarp",      "barrier",        "grid barrier", "leaves"};

    for (unsigned i = 0; i < event_count; i++) {
        const struct event *event = &events[i];

        if (event->op.kind >= BARRIER && program.threads > 8 && event->thread % program.threads > 8 &&
            event->thread % program.threads < 28)
            continue;
        printf("# %3u block %u thread %u %s", i, event->block, event->thread % program.threads, names[event->op.kind]);
        if (is_access(event))
            printf("%s %s %u+%u\n", event->op.in_block ? "_block" : "", event->op.shared ? "shared" : "global",
                   event->op.place, event->op.bytes);
        else
            printf("%s %u mask 0x%x\n", event->op.in_block ? "_block" : "", event->op.meeting, event->op.mask);
    }
}

static unsigned char *device_bytes;
static unsigned long long *device_out;

static HOST_ONLY void run_program(void)
{
    void *arguments[] = {&device_bytes, &device_out};

    memset(events, 0, event_count * sizeof *events);
    event_count = 0;
    cudaMemcpyToSymbol(constant_program, &program, sizeof program);
    if (program.cooperative)
        cudaLaunchCooperativeKernel(run_kernel, program.blocks, program.threads, arguments);
    else
        run_kernel<<<program.blocks, program.threads>>>(device_bytes, device_out);
}

/** Whether the simulator says of the program of a seed what the oracle does; *raced counts those with a race. */
static HOST_ONLY bool agrees(uint64_t seed, unsigned *raced)
{
    make_program(seed);
    run_program();
    const bool refused = cudaGetLastError() != cudaSuccess;

    if (event_count == MAX_EVENTS)
        return true;
    const unsigned race = first_race();
    const bool expected = race < event_count;

    *raced += expected;
    /* A race ends the launch: the event that is in it is the last. */
    /* One of a load with an atomic may be forgiven: it does so at the thread's next barrier, or its end. */
    const bool in_time = race == event_count - 1 || events[race].op.kind == LOAD;

    if (refused == expected ? !expected || in_time : refused && either)
        return true;
    printf("# seed %llu: %s\n", (unsigned long long)seed,
           expected ? refused ? "reported late" : "missed" : simt_fault());
    if (expected)
        printf("# the race is at event %u\n", race);
    print_program();
    return false;
}

static unsigned programs = 10000;
static uint64_t first_seed = 1;

static HOST_ONLY void random_programs(void **)
{
    unsigned raced = 0;
    unsigned wrong = 0;

    assert_int_equal(cudaMalloc(&device_bytes, PLACES), cudaSuccess);
    assert_int_equal(cudaMemset(device_bytes, 0, PLACES), cudaSuccess);
    assert_int_equal(cudaMalloc(&device_out, MAX_THREADS * MAX_BLOCKS * sizeof *device_out), cudaSuccess);
    for (uint64_t seed = first_seed; seed < first_seed + programs && wrong < 3; seed++)
        wrong += !agrees(seed, &raced);
    print_message("# %u programs, %u with a race: %u reported wrongly\n", programs, raced, wrong);
    assert_int_equal(wrong, 0);
    assert_in_range(raced, programs / 10, programs / 10 * 9);
    assert_int_equal(cudaFree(device_bytes), cudaSuccess);
    assert_int_equal(cudaFree(device_out), cudaSuccess);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};

    if (argc > 1)
        programs = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
