/**
 * @file test_copies.cu
 * @brief Tests asynchronous copies in random programs: the simulator reports a fault if and only if an oracle finds a
 * conflict.
 *
 *     test_copies [PROGRAMS [FIRST_SEED]]
 *
 * In a program, each thread executes a few loads and stores of words, copies, commits, waits and barriers. The kernel
 * records each event before the event happens. From these records alone, the oracle computes which events are ordered
 * by program order and barriers. A copy lasts from its issue to its wait. It conflicts with an access to the words that
 * it writes or a store to the words that it reads, unless that access is ordered before the issue or after the wait.
 */
#include "simt_test.h"

#include <cuda_pipeline.h>

/* Marks code that the simulator does not instrument, such as the oracle and the recording of events. */
#define HOST_ONLY SIMT_NOT_INSTRUMENTED __attribute__((noinline))

enum { BLOCKS = 2, THREADS = 34, ALL = BLOCKS * THREADS, MAX_OPS = 24, MAX_EVENTS = 1024, PLACES = 8 };

enum kind { SHARED_LOAD, SHARED_STORE, GLOBAL_LOAD, GLOBAL_STORE, COPY, COMMIT, WAIT, SYNCWARP, BARRIER, LEAVES };

struct op {
    uint8_t kind;
    uint8_t to, from;   /* word indices */
    uint8_t words;      /* number of words of a copy */
    uint8_t zeros;      /* number of words that a copy fills with zeros */
    uint8_t prior;      /* number of groups that a wait leaves pending */
    uint8_t collective; /* number of the barrier */
};

struct program {
    uint8_t count[ALL];
    struct op op[ALL][MAX_OPS];
};

struct event {
    struct op op;
    uint8_t thread, block;
    int wait;                         /* for a copy: the number of the event that waits for it, or -1 */
    uint64_t before[MAX_EVENTS / 64]; /* events that are ordered before this event */
};

static __constant__ struct program constant_program;
static struct program program;
static struct event events[MAX_EVENTS];
static int event_count;

static HOST_ONLY void note(const struct op *op, unsigned kind)
{
    if (event_count == MAX_EVENTS)
        return;
    struct event *event = &events[event_count++];

    *event = {};
    event->op = *op;
    event->op.kind = (uint8_t)kind;
    event->thread = (uint8_t)(blockIdx.x * blockDim.x + threadIdx.x);
    event->block = (uint8_t)blockIdx.x;
    event->wait = -1;
}

/* --- the kernel --------------------------------------------------------------------------------------------------- */

static __global__ void run_kernel(int *global, int *out)
{
    __shared__ __align__(16) int shared[PLACES];
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;

    if (threadIdx.x < PLACES)
        shared[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = 0; i < constant_program.count[thread]; i++) {
        const struct op *op = &constant_program.op[thread][i];

        note(op, op->kind);
        if (op->kind == SHARED_LOAD)
            sum += shared[op->to];
        else if (op->kind == SHARED_STORE)
            shared[op->to] = (int)i;
        else if (op->kind == GLOBAL_LOAD)
            sum += global[op->from];
        else if (op->kind == GLOBAL_STORE)
            global[op->from] = 0; /* the value is already there, but the simulator must treat this as a store */
        else if (op->kind == COPY)
            __pipeline_memcpy_async(&shared[op->to], &global[op->from], 4 * op->words, 4 * op->zeros);
        else if (op->kind == COMMIT)
            __pipeline_commit();
        else if (op->kind == WAIT)
            __pipeline_wait_prior(op->prior);
        else if (op->kind == SYNCWARP)
            __syncwarp(threadIdx.x < 32 ? 0xffffffffu : 3u);
        else
            __syncthreads();
        if (op->kind >= SYNCWARP)
            note(op, LEAVES);
    }
    out[thread] = sum;
}

/* --- the oracle --------------------------------------------------------------------------------------------------- */

static HOST_ONLY bool is_before(int first, int second)
{
    return events[second].before[first / 64] >> first % 64 & 1;
}

/** Orders event number `i` after its thread's last event and, if it leaves a barrier, after the events before it. */
static HOST_ONLY void order(int i)
{
    struct event *event = &events[i];
    bool own = false;

    for (int j = i; j-- > 0;) {
        const struct event *other = &events[j];
        const bool met = event->op.kind == LEAVES && other->block == event->block && other->op.kind >= SYNCWARP &&
                         other->op.kind < LEAVES && other->op.collective == event->op.collective;

        if (!met && (own || other->thread != event->thread))
            continue;
        own = own || other->thread == event->thread;
        event->before[j / 64] |= UINT64_C(1) << j % 64;
        for (int word = 0; word < MAX_EVENTS / 64; word++)
            event->before[word] |= other->before[word];
    }
}

/** Marks the copies for which wait event `i` waits: its thread's committed copies except the last `prior` groups. */
static HOST_ONLY void wait_for_copies(int i)
{
    int commits = 0;

    for (int j = i; j-- > 0;) {
        struct event *event = &events[j];

        if (event->thread != events[i].thread)
            continue;
        commits += event->op.kind == COMMIT;
        if (event->op.kind == COPY && commits > events[i].op.prior && event->wait < 0)
            event->wait = i;
    }
}

static HOST_ONLY bool overlap(unsigned a, unsigned words_of_a, unsigned b, unsigned words_of_b)
{
    return a < b + words_of_b && b < a + words_of_a;
}

/** Checks whether two operations access the same word, in shared or in global memory, and at least one writes it. */
static HOST_ONLY bool collide(const struct op *a, const struct op *b, bool shared)
{
    const uint8_t load = shared ? SHARED_LOAD : GLOBAL_LOAD, store = shared ? SHARED_STORE : GLOBAL_STORE;
    const bool here = (a->kind == load || a->kind == store || a->kind == COPY) &&
                      (b->kind == load || b->kind == store || b->kind == COPY);
    const bool writes = a->kind == store || b->kind == store || (shared && (a->kind == COPY || b->kind == COPY));

    if (!here || !writes)
        return false;
    if (shared)
        return overlap(a->to, a->kind == COPY ? a->words : 1, b->to, b->kind == COPY ? b->words : 1);
    return overlap(a->from, a->kind == COPY ? a->words - a->zeros : 1, b->from,
                   b->kind == COPY ? b->words - b->zeros : 1);
}

/** Checks whether event number `first` (for a copy, its wait) is ordered before event number `second`. */
static HOST_ONLY bool is_over(int first, int second)
{
    if (events[first].op.kind != COPY)
        return is_before(first, second);
    return events[first].wait >= 0 && events[first].wait < second && is_before(events[first].wait, second);
}

/** Checks whether two events conflict; `first` happened earlier. */
static HOST_ONLY bool conflict(int first, int second)
{
    const struct event *a = &events[first], *b = &events[second];

    if (a->block == b->block && collide(&a->op, &b->op, true))
        return !is_over(first, second) && (a->op.kind == COPY || a->thread != b->thread);
    if (!collide(&a->op, &b->op, false))
        return false;
    /* The source is read until the copy's wait; a copy that no thread waits for counts as a read at its issue only. */
    if (a->op.kind == COPY && (a->wait < 0 || a->thread == b->thread))
        return a->wait < 0 ? !is_before(first, second) : a->wait > second;
    return !is_over(first, second) && a->thread != b->thread;
}

static HOST_ONLY bool has_conflict(void)
{
    for (int i = 0; i < event_count; i++) {
        order(i);
        if (events[i].op.kind == WAIT)
            wait_for_copies(i);
    }
    for (int i = 0; i < event_count; i++)
        for (int j = 0; j < i; j++)
            if (conflict(j, i))
                return true;
    return false;
}

/* --- programs ----------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static HOST_ONLY unsigned below(unsigned limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % limit);
}

static HOST_ONLY void give(unsigned thread, struct op op)
{
    if (program.count[thread] < MAX_OPS)
        program.op[thread][program.count[thread]++] = op;
}

static HOST_ONLY struct op any_op(unsigned stores, unsigned places)
{
    static const uint8_t kinds[] = {SHARED_LOAD, GLOBAL_LOAD, COPY, COPY, COMMIT, COMMIT, COMMIT, WAIT, WAIT, WAIT};
    struct op op = {};

    op.kind = kinds[below(sizeof kinds)];
    if (below(100) < stores)
        op.kind = below(2) ? SHARED_STORE : GLOBAL_STORE;
    op.words = (uint8_t)(1 << below(3));
    op.zeros = (uint8_t)(below(3) ? 0 : below(op.words + 1u));
    op.prior = (uint8_t)(below(2) ? 0 : below(3));
    op.to = (uint8_t)below(places);
    op.from = (uint8_t)below(places);
    if (op.kind == COPY) {
        op.to = (uint8_t)(op.to / op.words * op.words);
        op.from = (uint8_t)(op.from / op.words * op.words);
    }
    return op;
}

static HOST_ONLY void make_program(uint64_t seed)
{
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    memset(&program, 0, sizeof program);
    const unsigned stores = below(4) * 8, places = PLACES - below(2) * PLACES / 2;
    const unsigned collectives = below(4), blocks = 1 + below(BLOCKS), active = 1 + below(2);
    uint8_t collective = 0;

    for (unsigned steps = 4 + below(24); steps > 0; steps--) {
        const unsigned first = below(blocks) * THREADS;
        /* Chooses one of the first or one of the last few threads, so that both warps take part. */
        const unsigned thread = below(2) ? below(active) : THREADS - 1 - below(active);
        struct op op = {};

        if (below(4) >= collectives || collective == 5) {
            give(first + thread, any_op(stores, places));
            continue;
        }
        op.kind = below(3) ? BARRIER : SYNCWARP;
        op.collective = ++collective;
        for (unsigned i = 0; i < THREADS; i++)
            if (op.kind == BARRIER || i / 32 == thread / 32)
                give(first + i, op);
    }
}

static HOST_ONLY void print_program(void)
{
    static const char *const names[] = {"shared load", "shared store", "global load", "global store", "copy",
                                        "commit",      "wait",         "syncwarp",    "barrier",      "leaves"};

    for (int i = 0; i < event_count; i++) {
        const struct event *event = &events[i];
        const unsigned thread = event->thread % THREADS;

        if (event->op.kind >= SYNCWARP && thread > 1 && thread < 32)
            continue;
        printf("# %3d block %u thread %u %s to %u from %u words %u zeros %u prior %u collective %u\n", i, event->block,
               thread, names[event->op.kind], event->op.to, event->op.from, event->op.words, event->op.zeros,
               event->op.prior, event->op.collective);
    }
}

static unsigned programs = 4000;
static uint64_t first_seed = 1;
static int *device_words_of_global, *device_out;

/**
 * Checks whether the simulator agrees with the oracle on the program made from a seed. Increments *conflicts if the
 * program has a conflict.
 */
static HOST_ONLY bool agrees(uint64_t seed, unsigned *conflicts)
{
    make_program(seed);
    event_count = 0;
    cudaMemcpyToSymbol(constant_program, &program, sizeof program);
    run_kernel<<<BLOCKS, THREADS>>>(device_words_of_global, device_out);
    const bool refused = cudaGetLastError() != cudaSuccess;
    const char *const fault = simt_fault_message();
    const bool expected = has_conflict();

    *conflicts += expected;
    if (refused == expected || event_count == MAX_EVENTS)
        return true;
    printf("# seed %llu: %s\n", (unsigned long long)seed, expected ? "missed" : fault);
    print_program();
    return false;
}

static HOST_ONLY void random_programs(void **)
{
    unsigned conflicts = 0, wrong = 0;

    device_words_of_global = device_words(0);
    device_out = device_words(0);
    for (uint64_t seed = first_seed; seed < first_seed + programs && wrong < 3; seed++)
        wrong += !agrees(seed, &conflicts);
    print_message("# %u programs, %u with a conflict: %u judged wrongly\n", programs, conflicts, wrong);
    assert_int_equal(wrong, 0);
    assert_in_range(conflicts, programs / 10, programs / 10 * 9);
    assert_int_equal(cudaFree(device_words_of_global), cudaSuccess);
    assert_int_equal(cudaFree(device_out), cudaSuccess);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};

    programs = (unsigned)numeric_argument(argc, argv, 1, programs);
    first_seed = numeric_argument(argc, argv, 2, first_seed);
    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
