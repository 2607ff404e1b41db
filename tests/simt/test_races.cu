/**
 * @file test_races.cu
 * @brief Tests race detection on random programs: the simulator reports a race if and only if an oracle finds one.
 *
 *     test_races [PROGRAMS [FIRST_SEED]]
 *
 * In a program, each thread executes a few accesses of 1 to 8 bytes to shared and global memory, atomics, fences and
 * barriers. The kernel that runs the program records each event before the event happens. From these records alone, the
 * oracle computes the order of the events as a graph, using the rules at the top of happens_before.h, and checks every
 * pair of events.
 *
 * In the second kind of program, the host issues launches, copies and memsets to four streams, records events and
 * waits; the rules for these programs are at the top of stream_work.h.
 */
#include "simt_test.h"

#include <cooperative_groups.h>

/* Marks code that the simulator does not instrument, such as the oracle and the recording of events. */
#define HOST_ONLY SIMT_NOT_INSTRUMENTED __attribute__((noinline))

enum {
    MAX_THREADS = 72,
    MAX_BLOCKS = 3,
    MAX_WARP_COLLECTIVES = 10,
    MAX_OPS = 10 + MAX_WARP_COLLECTIVES,
    MAX_EVENTS = 1024,
    PLACES = 16, /* a program uses this many bytes of shared memory and as many of global memory */
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
    LEAVES /* a thread continues after a barrier */
};

struct op {
    uint8_t kind;
    uint8_t bytes;
    uint8_t place;
    bool shared;
    bool in_block;
    uint8_t collective; /* number of the barrier */
    uint32_t mask;
};

struct program {
    unsigned threads; /* threads per block */
    unsigned blocks;
    bool cooperative;
    uint8_t count[MAX_THREADS];
    struct op op[MAX_THREADS][MAX_OPS];
};

struct event {
    struct op op;
    uint8_t thread, block;
    bool strong;                      /* atomic, or treated like one */
    uint64_t before[WORDS_OF_EVENTS]; /* events that are ordered before this event */
    uint64_t met[WORDS_OF_EVENTS];    /* events that program order and barriers alone order before this event */
    uint64_t sees[WORDS_OF_EVENTS];   /* atomics whose values this event reads */
    uint64_t covers[WORDS_OF_EVENTS]; /* atomics that this event covers: see cover() */
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

/* --- the kernel --------------------------------------------------------------------------------------------------- */

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

/* --- the oracle --------------------------------------------------------------------------------------------------- */

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

/** Returns the bytes that event number `i` accesses, as a bit mask over its memory. */
static HOST_ONLY uint32_t bytes_of(unsigned i)
{
    return ((1u << events[i].op.bytes) - 1) << events[i].op.place;
}

/** Records the events ordered before event number `i` by program order or by the barrier that the event leaves. */
static HOST_ONLY void order_by_barriers(unsigned i)
{
    struct event *event = &events[i];
    bool own = false;

    for (unsigned j = i; j-- > 0;) {
        const struct event *other = &events[j];
        const bool met = event->op.kind == LEAVES && other->op.kind >= SYNCWARP && other->op.kind < LEAVES &&
                         other->op.collective == event->op.collective;

        if (!met && (own || other->thread != event->thread))
            continue;
        own = own || other->thread == event->thread;
        put(event->met, j);
        put_all(event->met, other->met);
        put(event->before, j);
        put_all(event->before, other->before);
    }
}

/** Finds the atomics that event `i` sees: those at its location, of its size, since the last store of another kind. */
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

/**
 * Finds the atomics that atomic number `i` covers: the atomics at the same location that it sees or that are ordered
 * before it. An event that is ordered after an atomic is also ordered after all atomics that this atomic covers.
 */
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

/**
 * Adds to `before` the events that other threads' fences order before event number `i`, which is a fence or a volatile
 * access. With `in_block`, event `i` is ordered only after fences of its own block.
 */
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

/** Checks whether `before` contains event number `first` or an event that covers it and precedes `second`. */
static HOST_ONLY bool saw(unsigned first, unsigned second, const uint64_t *before)
{
    for (unsigned i = first; i < second; i++) {
        if (has(before, i) && (i == first || has(events[i].covers, first)))
            return true;
    }
    return false;
}

/**
 * Returns the last atomic of grid scope before event number `second` that covers atomic number `first`, or `first` if
 * there is none. An atomic of block scope must have seen the returned atomic directly, not only through another atomic
 * of its block.
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

/**
 * Checks whether event number `i` is a load whose thread next loads the same bytes with a compare-and-swap, without a
 * barrier in between.
 */
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

/**
 * Checks whether later stores, ordered before the second event, have overwritten all bytes that the two events share.
 */
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
 * True if the simulator may, but need not, report a race for the event that was compared last. The oracle then finds no
 * race only because an atomic that the event has seen covers the other event (in CUDA's memory model this does not
 * order them) or because the other event is a load before an exempted load.
 */
static bool either;

/** Checks whether events number `first` and `second` race; the events in `before` are ordered before the second. */
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

/** Returns the number of the first event that races with an earlier one, or event_count. */
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

/* --- programs ----------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static HOST_ONLY unsigned below(unsigned limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % limit);
}

/**
 * Appends an operation to a thread's list. The list's last slots are reserved for barriers, which no thread may miss.
 */
static HOST_ONLY void give(unsigned thread, struct op op)
{
    const unsigned room = op.kind < SYNCWARP ? MAX_OPS - MAX_WARP_COLLECTIVES : MAX_OPS;

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

static HOST_ONLY void meet(uint8_t collective, unsigned block)
{
    struct op op = {};
    const unsigned warp = below((program.threads + 31) / 32);
    const unsigned lanes = program.threads - warp * 32 < 32 ? program.threads - warp * 32 : 32;

    op.collective = collective;
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

/** Makes a random program. All its barriers fit into the threads' lists, so no thread waits forever. */
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
    uint8_t collectives = 0;

    for (unsigned steps = 4 + below(24); steps > 0; steps--) {
        const unsigned block = below(program.blocks);
        /* Chooses one of the first or one of the last few threads, so that both warps take part if there are two. */
        const unsigned thread = below(2) ? below(active) % program.threads
                                         : program.threads - 1 - below(active) % program.threads;

        if (below(3) == 0 && collectives < MAX_WARP_COLLECTIVES)
            meet(++collectives, block);
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
            printf("%s %u mask 0x%x\n", event->op.in_block ? "_block" : "", event->op.collective, event->op.mask);
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

/** Checks whether the last fault is a race and names an event's thread. */
static HOST_ONLY bool fault_names(const struct event *event)
{
    char text[80];

    snprintf(text, sizeof text, "race: thread (%u,0,0) of block (%u,0,0) ", event->thread % program.threads,
             event->block);
    return strstr(simt_fault_message(), text) != NULL;
}

/**
 * Checks whether the simulator agrees with the oracle on the program made from a seed. If the program races, increments
 * *raced.
 */
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
    /* The simulator must report the first race unless the event is a load, which a later compare-and-swap may
     * exempt. */
    const bool first = !refused || !expected || events[race].op.kind == LOAD || fault_names(&events[race]);

    if (refused == expected ? first : refused && either)
        return true;
    printf("# seed %llu: %s\n", (unsigned long long)seed,
           expected ? refused ? "another reported" : "missed" : simt_fault_message());
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

/* --- programs of several streams ---------------------------------------------------------------------------------- */

enum { STREAMS = 4, EVENTS = 2, MAX_STEPS = 24, HOST_PLACES = PLACES };

enum graph_step_kind {
    STEP_LAUNCH,
    STEP_COPY,      /* from device to device */
    STEP_TO_HOST,   /* to pinned memory */
    STEP_FROM_HOST, /* from pinned memory */
    STEP_SET,
    STEP_SYNCHRONOUS_SET,
    STEP_SYNCHRONOUS_COPY, /* to pageable memory */
    STEP_PAGEABLE_COPY,    /* to pageable memory, with an asynchronous call */
    STEP_HOST_READS,       /* the host reads pinned memory */
    STEP_HOST_WRITES,
    STEP_RECORD,
    STEP_WAIT,
    STEP_STREAM_SYNCHRONIZE,
    STEP_EVENT_SYNCHRONIZE,
    STEP_DEVICE_SYNCHRONIZE,
    NUM_STEP_KINDS
};

/** The accesses of a launch, which a single thread performs in order. */
struct accesses {
    uint8_t count;
    struct op op[3];
};

struct step {
    uint8_t kind, stream, event;
    uint8_t to, from, bytes;
    struct accesses accesses;
    uint32_t before; /* steps that are ordered before this step */
};

static struct step steps[MAX_STEPS];
static unsigned step_count;
static cudaStream_t streams[STREAMS]; /* the default stream, one blocking and two non-blocking streams */
static cudaEvent_t stream_events[EVENTS];
static unsigned char *pinned;

static __global__ void access_kernel(unsigned char *global, accesses all, unsigned long long *out)
{
    unsigned long long sum = 0;

    for (unsigned i = 0; i < all.count; i++) {
        unsigned char *place = global + all.op[i].place;

        if (all.op[i].kind >= ATOMIC_ADD && all.op[i].bytes == 4)
            atomic((unsigned *)place, &all.op[i]);
        else if (all.op[i].kind >= ATOMIC_ADD)
            atomic((unsigned long long *)place, &all.op[i]);
        else if (all.op[i].bytes == 1)
            access(place, &all.op[i], &sum);
        else if (all.op[i].bytes == 2)
            access((unsigned short *)place, &all.op[i], &sum);
        else if (all.op[i].bytes == 4)
            access((unsigned *)place, &all.op[i], &sum);
        else
            access((unsigned long long *)place, &all.op[i], &sum);
    }
    if (sum == 12345)
        *out = sum;
}

static HOST_ONLY bool syncs_with_legacy_default(unsigned stream)
{
    return stream < 2;
}

/** Checks whether a step is queued in a stream. */
static HOST_ONLY bool is_in_stream(const struct step *step)
{
    return step->kind < STEP_HOST_READS || step->kind == STEP_RECORD || step->kind == STEP_WAIT;
}

static HOST_ONLY bool waits_in_host(const struct step *step)
{
    return step->kind == STEP_SYNCHRONOUS_COPY || step->kind == STEP_PAGEABLE_COPY ||
           step->kind >= STEP_STREAM_SYNCHRONIZE;
}

/**
 * Checks whether a step is directly ordered after an earlier one by its stream, the default stream's rule, an event or
 * the host.
 */
static HOST_ONLY bool follows(unsigned second, unsigned first)
{
    const struct step *const step = &steps[second];
    const struct step *const earlier = &steps[first];
    const bool to_stream = is_in_stream(step) || step->kind == STEP_STREAM_SYNCHRONIZE;
    bool last_record = earlier->kind == STEP_RECORD && earlier->event == step->event;

    for (unsigned i = first + 1; i < second; i++)
        last_record = last_record && !(steps[i].kind == STEP_RECORD && steps[i].event == step->event);
    if (waits_in_host(earlier) || step->kind == STEP_DEVICE_SYNCHRONIZE)
        return true;
    if ((step->kind == STEP_WAIT || step->kind == STEP_EVENT_SYNCHRONIZE) && last_record)
        return true;
    if (!to_stream || !is_in_stream(earlier))
        return false;
    return step->stream == earlier->stream ||
           (step->stream * earlier->stream == 0 && syncs_with_legacy_default(step->stream) &&
            syncs_with_legacy_default(earlier->stream));
}

/**
 * Fills `uses` with the bytes that a step uses, as bit masks: reads, strong reads, writes, strong writes. Bytes of
 * pinned memory correspond to the bits from PLACES upwards.
 */
static HOST_ONLY void uses_of(const struct step *step, uint32_t uses[4])
{
    const uint32_t size = (1u << step->bytes) - 1;
    const uint32_t to = size << step->to;
    const uint32_t from = size << step->from;

    memset(uses, 0, 4 * sizeof *uses);
    for (unsigned i = 0; i < step->accesses.count && step->kind == STEP_LAUNCH; i++) {
        const struct op *op = &step->accesses.op[i];
        const bool strong = op->kind >= ATOMIC_ADD && !op->in_block;

        uses[op->kind == LOAD            ? 0
             : op->kind == VOLATILE_LOAD ? 1
             : strong                    ? 3
                                         : 2] |= ((1u << op->bytes) - 1) << op->place;
    }
    if (step->kind == STEP_COPY || step->kind == STEP_TO_HOST || step->kind == STEP_SYNCHRONOUS_COPY ||
        step->kind == STEP_PAGEABLE_COPY)
        uses[0] = from;
    if (step->kind == STEP_FROM_HOST || step->kind == STEP_HOST_READS)
        uses[0] = from << PLACES;
    if (step->kind == STEP_COPY || step->kind == STEP_FROM_HOST || step->kind == STEP_SET ||
        step->kind == STEP_SYNCHRONOUS_SET)
        uses[2] = to;
    if (step->kind == STEP_TO_HOST || step->kind == STEP_HOST_WRITES)
        uses[2] = to << PLACES;
}

/**
 * Checks whether two steps conflict: both access the same byte, at least one of them writes it, and not both accesses
 * are strong. The host's accesses conflict only with copies, because no other steps use pinned memory.
 */
static HOST_ONLY bool conflict(const struct step *a, const struct step *b)
{
    uint32_t mine[4];
    uint32_t theirs[4];

    uses_of(a, mine);
    uses_of(b, theirs);
    const uint32_t weak = mine[0] | mine[2];
    const uint32_t other_weak = theirs[0] | theirs[2];

    return (mine[2] & (other_weak | theirs[1] | theirs[3])) || (theirs[2] & (weak | mine[1] | mine[3])) ||
           (mine[3] & theirs[0]) || (theirs[3] & mine[0]);
}

/** Returns the number of the first step that races with an earlier one, or step_count. */
static HOST_ONLY unsigned first_racing_step(void)
{
    for (unsigned i = 0; i < step_count; i++) {
        steps[i].before = 0;
        for (unsigned j = 0; j < i; j++)
            steps[i].before |= follows(i, j) ? steps[j].before | 1u << j : 0;
        for (unsigned j = 0; j < i; j++) {
            if (!(steps[i].before >> j & 1) && conflict(&steps[i], &steps[j]) &&
                !(steps[j].kind == STEP_HOST_READS || steps[j].kind == STEP_HOST_WRITES))
                return i;
        }
    }
    return step_count;
}

static HOST_ONLY struct step any_step(unsigned works, unsigned stream, unsigned places)
{
    struct step step = {};

    step.kind = (uint8_t)(below(works) ? below(STEP_SYNCHRONOUS_SET) : below(NUM_STEP_KINDS));
    if (below(works))
        step.kind = STEP_LAUNCH;
    step.stream = (uint8_t)stream;
    if (step.kind == STEP_SYNCHRONOUS_COPY || step.kind == STEP_SYNCHRONOUS_SET)
        step.stream = 0;
    step.event = (uint8_t)below(EVENTS);
    step.bytes = (uint8_t)(1 + below(4));
    step.to = (uint8_t)below(places - step.bytes + 1);
    step.from = (uint8_t)below(places - step.bytes + 1);
    if (step.kind == STEP_COPY && step.to < step.from + step.bytes && step.from < step.to + step.bytes)
        step.kind = STEP_SET;
    step.accesses.count = (uint8_t)(1 + below(3));
    for (unsigned i = 0; i < step.accesses.count; i++) {
        do
            step.accesses.op[i] = any_access(0, 30, 20, 2, places);
        while (step.accesses.op[i].kind == VOLATILE_STORE || step.accesses.op[i].kind == ATOMIC_FAILS);
    }
    return step;
}

/** Makes random steps. When the stream changes, the new stream often waits for an event, usually the old stream's. */
static HOST_ONLY void make_steps(uint64_t seed)
{
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 7;
    memset(steps, 0, sizeof steps);
    const unsigned most = 3 + below(below(2) ? 6 : MAX_STEPS - 2);
    const unsigned used = 2 + below(STREAMS - 1);
    const unsigned places = below(2) ? 8 : PLACES;
    const unsigned works = 1 + below(3);
    const unsigned apart = 1 + below(4);
    unsigned stream = STREAMS - 1;

    for (step_count = 0; step_count < most;) {
        steps[step_count++] = any_step(works, stream, places);
        if (below(apart) == 0 || step_count + 2 > most) {
            stream = below(3) ? stream : STREAMS - 1 - below(used);
            continue;
        }
        struct step record = {};
        struct step wait = {};

        record.kind = STEP_RECORD;
        record.stream = (uint8_t)stream;
        record.event = (uint8_t)below(EVENTS);
        steps[step_count++] = record;
        stream = STREAMS - 1 - below(used);
        wait.kind = STEP_WAIT;
        wait.stream = (uint8_t)stream;
        wait.event = below(8) ? record.event : (uint8_t)below(EVENTS);
        steps[step_count++] = wait;
    }
}

/** Accesses pinned memory on the host, in code that the simulator instruments. */
static __attribute__((noinline)) void touch_pinned(const struct step *step)
{
    for (unsigned i = 0; i < step->bytes; i++) {
        if (step->kind == STEP_HOST_READS)
            pinned[PLACES] = ((volatile unsigned char *)pinned)[step->from + i];
        else
            pinned[step->to + i] = 1;
    }
}

static HOST_ONLY void take_step(const struct step *step)
{
    static unsigned char host[PLACES];
    cudaStream_t stream = streams[step->stream];

    switch (step->kind) {
    case STEP_LAUNCH:
        access_kernel<<<1, 1, 0, stream>>>(device_bytes, step->accesses, device_out);
        break;
    case STEP_COPY:
        cudaMemcpyAsync(device_bytes + step->to, device_bytes + step->from, step->bytes, cudaMemcpyDeviceToDevice,
                        stream);
        break;
    case STEP_TO_HOST:
        cudaMemcpyAsync(pinned + step->to, device_bytes + step->from, step->bytes, cudaMemcpyDeviceToHost, stream);
        break;
    case STEP_FROM_HOST:
        cudaMemcpyAsync(device_bytes + step->to, pinned + step->from, step->bytes, cudaMemcpyHostToDevice, stream);
        break;
    case STEP_SET:
        cudaMemsetAsync(device_bytes + step->to, 0, step->bytes, stream);
        break;
    case STEP_SYNCHRONOUS_SET:
        cudaMemset(device_bytes + step->to, 0, step->bytes);
        break;
    case STEP_SYNCHRONOUS_COPY:
        cudaMemcpy(host, device_bytes + step->from, step->bytes, cudaMemcpyDeviceToHost);
        break;
    case STEP_PAGEABLE_COPY:
        cudaMemcpyAsync(host, device_bytes + step->from, step->bytes, cudaMemcpyDeviceToHost, stream);
        break;
    case STEP_HOST_READS:
    case STEP_HOST_WRITES:
        touch_pinned(step);
        break;
    case STEP_RECORD:
        cudaEventRecord(stream_events[step->event], stream);
        break;
    case STEP_WAIT:
        cudaStreamWaitEvent(stream, stream_events[step->event], 0);
        break;
    case STEP_STREAM_SYNCHRONIZE:
        cudaStreamSynchronize(stream);
        break;
    case STEP_EVENT_SYNCHRONIZE:
        cudaEventSynchronize(stream_events[step->event]);
        break;
    default:
        cudaDeviceSynchronize();
        break;
    }
}

/** Runs steps until one fails; returns its number, or step_count if none fails. */
static HOST_ONLY unsigned run_steps(void)
{
    unsigned i = 0;

    for (int event = 0; event < EVENTS; event++)
        cudaEventCreate(&stream_events[event]);
    while (i < step_count) {
        take_step(&steps[i]);
        if (cudaPeekAtLastError() != cudaSuccess)
            break;
        i++;
    }
    cudaGetLastError();
    cudaDeviceSynchronize();
    for (int event = 0; event < EVENTS; event++)
        cudaEventDestroy(stream_events[event]);
    return i;
}

static HOST_ONLY void print_steps(void)
{
    static const char *const names[] = {"launch",      "copy",     "to pinned",       "from pinned",    "set",
                                        "set at once", "copy now", "copy async",      "host reads",     "host writes",
                                        "record",      "wait",     "wait for stream", "wait for event", "wait for all"};

    for (unsigned i = 0; i < step_count; i++) {
        const struct step *step = &steps[i];

        printf("# %2u stream %u event %u %s to %u from %u bytes %u", i, step->stream, step->event, names[step->kind],
               step->to, step->from, step->bytes);
        for (unsigned j = 0; step->kind == STEP_LAUNCH && j < step->accesses.count; j++)
            printf(" (kind %u%s %u+%u)", step->accesses.op[j].kind, step->accesses.op[j].in_block ? " in block" : "",
                   step->accesses.op[j].place, step->accesses.op[j].bytes);
        printf("\n");
    }
}

static HOST_ONLY void random_streams(void **)
{
    unsigned raced = 0;
    unsigned wrong = 0;

    assert_int_equal(cudaMalloc(&device_bytes, PLACES), cudaSuccess);
    assert_int_equal(cudaMemset(device_bytes, 0, PLACES), cudaSuccess);
    assert_int_equal(cudaMalloc(&device_out, sizeof *device_out), cudaSuccess);
    assert_int_equal(cudaMallocHost(&pinned, 4096), cudaSuccess);
    for (unsigned i = 1; i < STREAMS; i++)
        assert_int_equal(cudaStreamCreateWithFlags(&streams[i], syncs_with_legacy_default(i) ? cudaStreamDefault
                                                                                             : cudaStreamNonBlocking),
                         cudaSuccess);
    for (uint64_t seed = first_seed; seed < first_seed + programs && wrong < 3; seed++) {
        make_steps(seed);
        const unsigned refused = run_steps();
        const unsigned expected = first_racing_step();

        raced += expected < step_count;
        if (refused == expected)
            continue;
        printf("# seed %llu: step %u is refused, and it should be %u\n", (unsigned long long)seed, refused, expected);
        print_steps();
        wrong++;
    }
    print_message("# %u programs of streams, %u with a race: %u reported wrongly\n", programs, raced, wrong);
    assert_int_equal(wrong, 0);
    assert_in_range(raced, programs / 10, programs / 10 * 9);
    for (unsigned i = 1; i < STREAMS; i++)
        assert_int_equal(cudaStreamDestroy(streams[i]), cudaSuccess);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFree(device_bytes), cudaSuccess);
    assert_int_equal(cudaFree(device_out), cudaSuccess);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs), cmocka_unit_test(random_streams)};

    programs = (unsigned)numeric_argument(argc, argv, 1, programs);
    first_seed = numeric_argument(argc, argv, 2, first_seed);
    return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
