/**
 * @file device_code.c
 * @brief Rejects calls from the wrong side that nvcc rejects too: of host functions and of kernels in device code, of
 *        CUDA's device functions in host code, and of lambdas without `__device__` in kernels.
 */
#include "arguments.h"
#include "declared_names.h"
#include "rewrite.h"

#include <string.h>

/* --- device code -------------------------------------------------------------------------------------------------- */

enum { ANY_NUMBER = 255 };

/** A function of the C library that no kernel can call, its number of arguments, and what to do instead. */
struct host_function {
    const char *name;
    unsigned char fewest, most;
    const char *instead;
};

#define PRINT    "call printf()"
#define BY_HAND  "write a __device__ function of your own"
#define RANDOM   "compute a random number from the thread's index and a seed"
#define TIME     "call clock64()"
#define SLEEP    "call __nanosleep()"
#define END      "return, or call __trap() to end the launch with an error"
#define ON_HOST  "do this on the host"
#define ALLOCATE "call malloc()"

static const struct host_function host_functions[] = {
    {"rand", 0, 0, RANDOM},
    {"srand", 1, 1, RANDOM},
    {"random", 0, 0, RANDOM},
    {"drand48", 0, 0, RANDOM},
    {"rand_r", 1, 1, RANDOM},
    {"time", 1, 1, TIME},
    {"gettimeofday", 2, 2, TIME},
    {"clock_gettime", 2, 2, TIME},
    {"puts", 1, 1, PRINT},
    {"putchar", 1, 1, PRINT},
    {"fprintf", 2, ANY_NUMBER, PRINT},
    {"fputs", 2, 2, PRINT},
    {"fputc", 2, 2, PRINT},
    {"fwrite", 4, 4, PRINT},
    {"fflush", 1, 1, "leave it out: a kernel's printf() is flushed when the host waits for the kernel"},
    {"perror", 1, 1, PRINT},
    {"sprintf", 2, ANY_NUMBER, PRINT},
    {"snprintf", 3, ANY_NUMBER, PRINT},
    {"scanf", 1, ANY_NUMBER, ON_HOST},
    {"getchar", 0, 0, ON_HOST},
    {"fopen", 2, 2, ON_HOST},
    {"fclose", 1, 1, ON_HOST},
    {"fread", 4, 4, ON_HOST},
    {"fgets", 3, 3, ON_HOST},
    {"getenv", 1, 1, ON_HOST},
    {"system", 1, 1, ON_HOST},
    {"atexit", 1, 1, ON_HOST},
    {"exit", 1, 1, END},
    {"_Exit", 1, 1, END},
    {"_exit", 1, 1, END},
    {"quick_exit", 1, 1, END},
    {"sleep", 1, 1, SLEEP},
    {"usleep", 1, 1, SLEEP},
    {"nanosleep", 2, 2, SLEEP},
    {"calloc", 2, 2, ALLOCATE},
    {"realloc", 2, 2, ALLOCATE},
    {"strlen", 1, 1, BY_HAND},
    {"strcmp", 2, 2, BY_HAND},
    {"strncmp", 3, 3, BY_HAND},
    {"memcmp", 3, 3, BY_HAND},
    {"strcpy", 2, 2, BY_HAND},
    {"strncpy", 3, 3, BY_HAND},
    {"strcat", 2, 2, BY_HAND},
    {"strchr", 2, 2, BY_HAND},
    {"strstr", 2, 2, BY_HAND},
    {"atoi", 1, 1, BY_HAND},
    {"atof", 1, 1, BY_HAND},
    {"strtol", 3, 3, BY_HAND},
    {"strtod", 2, 2, BY_HAND},
    {"qsort", 4, 4, BY_HAND},
    {"bsearch", 5, 5, BY_HAND},
};

bool is_c_library_host_function(const char *code, size_t position)
{
    for (size_t i = 0; i < sizeof host_functions / sizeof *host_functions; i++)
        if (is_word_at(code, position, host_functions[i].name))
            return true;
    return false;
}

/** Prints that device code cannot call the host's function, or use its object, in [position, end). Returns false. */
static bool fail_host_function(const struct source *source, size_t position, size_t end, const char *instead)
{
    char what[300];

    snprintf(what, sizeof what, "calling a __host__ function(\"%.*s\") from device code is not allowed: %s",
             (int)(end - position < 80 ? end - position : 80), source->code + position, instead);
    return print_error_at(source, position, what);
}

/** Returns the beginning of the `std` or, if there is none, of the word at `position`; *is_std tells which. */
static size_t qualified_begin(const char *code, size_t position, bool *is_std)
{
    const size_t colons = skip_space_back(code, position);
    const size_t end = colons >= 2 && starts_with(code + colons - 2, "::") ? skip_space_back(code, colons - 2) : 0;

    *is_std = end >= 3 && is_word_at(code, end - 3, "std");
    return *is_std ? end - 3 : position;
}

/** Returns whether [position, end) is called with at least `fewest` and at most `most` arguments. */
static bool has_arguments(const char *code, size_t end, unsigned fewest, unsigned most)
{
    const size_t open = skip_space(code, end), close = code[open] == '(' ? matching_bracket(code, open, 1) : NOWHERE;
    struct argument_list list;

    return close != NOWHERE && read_argument_list(code, open, close, &list) && list.num_arguments >= fewest &&
           list.num_arguments <= most;
}

/** Checks that the word in [position, end) is not a call of a function of the C library that no kernel can call. */
static bool check_library_call(const struct source *source, size_t position, size_t end)
{
    const char *const code = source->code;
    bool is_std;
    const size_t begin = qualified_begin(code, position, &is_std);

    for (size_t i = 0; i < sizeof host_functions / sizeof *host_functions; i++) {
        const struct host_function *const function = &host_functions[i];

        if (!is_word_at(code, position, function->name))
            continue;
        return !(is_std || is_free_function_call(code, begin, end)) ||
               !has_arguments(code, end, function->fewest, function->most) ||
               (!is_std && (may_be_declared_in_file(code, position, end) || includes_project_header(source))) ||
               fail_host_function(source, position, end, function->instead);
    }
    return true;
}

/** Checks that the word in [position, end) names no stream of the C++ library, and no container of a local variable. */
static bool check_library_object(const struct source *source, size_t position, size_t end)
{
    static const char *const streams[] = {"cout", "cerr", "clog", NULL};
    static const char *const containers[] = {"vector",         "deque",         "list",  "map",
                                             "unordered_map",  "set",           "queue", "stack",
                                             "priority_queue", "unordered_set", NULL};
    const char *const code = source->code;
    bool is_std;
    const size_t begin = qualified_begin(code, position, &is_std);

    if (contains_any_word(code, position, end, streams) && starts_with(code + skip_space(code, end), "<<") &&
        !starts_with(code + skip_space(code, end), "<<<") &&
        (is_std || !may_be_declared_in_file(code, position, end)) && (is_std || !includes_project_header(source)))
        return fail_host_function(source, begin, end, PRINT);
    const size_t before = skip_space_back(code, begin), open = skip_space(code, end);

    if (!is_std || code[open] != '<' || !contains_any_word(code, position, end, containers) || before == 0 ||
        !is_one_of(code[before - 1], ";{}"))
        return true;
    const size_t close = matching_bracket(code, open, 1), name = close == NOWHERE ? 0 : skip_space(code, close + 1);

    return name == 0 || !is_word_character(code[name]) ||
           !is_one_of(code[skip_space(code, word_end(code, name))], ";=({") ||
           fail_host_function(source, begin, end, "declare an array, or pass a pointer to memory of the device");
}

/** Returns whether the word in [position, end) is called and is one of the runtime's functions that only hosts have. */
static bool calls_runtime(const char *code, size_t position, size_t end)
{
    static const char *const beginnings[] = {"Malloc", "Free",   "Mem",       "Device", "Stream",    "Event",
                                             "Graph",  "Func",   "Launch",    "Host",   "Occupancy", "GetLastError",
                                             "PeekAt", "GetDev", "GetSymbol", "SetDev", "Pointer"};
    bool is_known = false;

    if (end - position <= 4 || !starts_with(code + position, "cuda"))
        return false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        is_known = is_known || starts_with(code + position + 4, beginnings[i]);
    return is_known && is_free_function_call(code, position, end) && !may_be_declared_in_file(code, position, end);
}

bool check_no_host_or_kernel_call_in_device_function(const struct source *source, size_t position, size_t end)
{
    static const char *const memory[] = {"cudaMalloc", "cudaFree", NULL};
    static const char *const copies[] = {"cudaMemcpy", "cudaMemset", "cudaMemcpyAsync", "cudaMemsetAsync", NULL};
    const char *const code = source->code;

    if (!in_device_function(source) || source->num_open_conditionals > 0)
        return true;
    const char *const attribute = is_free_function_call(code, position, end) &&
                                          any_overload_may_accept_call(code, position, end)
                                      ? device_attribute_of_function(code, position, end)
                                      : NULL;

    if (attribute && strcmp(attribute, "__global__") == 0) {
        char what[300];
        const int length = (int)(end - position < 80 ? end - position : 80);

        snprintf(what, sizeof what,
                 "a __global__ function call must be configured, and device code cannot launch %.*s on the simulator: "
                 "move its code into a __device__ function that both call",
                 length, code + position);
        return print_error_at(source, position, what);
    }
    if (source->in_host_device_function)
        return true;
    if (calls_runtime(code, position, end))
        return fail_host_function(source, position, end,
                                  contains_any_word(code, position, end, memory)
                                      ? "call it on the host, or malloc() and free() in the kernel"
                                  : contains_any_word(code, position, end, copies)
                                      ? "call it on the host, or memcpy() and memset() or a loop in the kernel"
                                      : "call it on the host, before or after the launch");
    return check_library_call(source, position, end) && check_library_object(source, position, end);
}

/* --- CUDA's device functions in host code ------------------------------------------------------------------------- */

/** Names, and beginnings of names that end in `*`, of CUDA's functions that exist in device code only. */
static const char *const device_names[] = {
    "__syncthreads*", "__syncwarp", "__barrier_sync*", "__threadfence*", "__shfl*", "__ballot*", "__any_sync",
    "__all_sync", "__activemask", "__match_*", "__reduce_*", "__nanosleep", "__trap", "__ldg", "__ldca", "__ldcg",
    "__ldcs", "__ldlu", "__ldcv", "__stwb", "__stcg", "__stcs", "__stwt", "__pipeline_*", "clock64", "atomicAdd",
    "atomicSub", "atomicMin", "atomicMax", "atomicExch", "atomicAnd", "atomicOr", "atomicXor", "atomicInc", "atomicDec",
    "atomicCAS", "atomicAdd_*", "atomicSub_*", "atomicMin_*", "atomicMax_*", "atomicExch_*", "atomicAnd_*",
    "atomicOr_*", "atomicXor_*", "atomicInc_*", "atomicDec_*", "atomicCAS_*",
    /* integers */
    "__popc", "__popcll", "__clz", "__clzll", "__ffs", "__ffsll", "__brev", "__brevll", "__byte_perm",
    "__funnelshift_*", "__mulhi", "__umulhi", "__mul64hi", "__umul64hi", "__mul24", "__umul24", "__sad", "__usad",
    "__rhadd", "__uhadd", "__urhadd", "__dp4a", "__dp2a_*", "__vadd*", "__vsub*", "__vmin*", "__vmax*", "__vavg*",
    "__vabs*", "__vcmp*", "__vset*", "__vneg*",
    /* floating-point numbers */
    "__float_as_*", "__int_as_float", "__uint_as_float", "__double_as_longlong", "__longlong_as_double",
    "__double2hiint", "__double2loint", "__hiloint2double", "__float2int_*", "__float2uint_*", "__float2ll_*",
    "__float2ull_*", "__double2int_*", "__double2uint_*", "__double2ll_*", "__double2ull_*", "__double2float_*",
    "__int2float_*", "__uint2float_*", "__ll2float_*", "__ull2float_*", "__int2double_*", "__uint2double_*",
    "__ll2double_*", "__ull2double_*", "__fadd_*", "__fsub_*", "__fmul_*", "__fdiv_*", "__fmaf_*", "__frcp_*",
    "__fsqrt_*", "__frsqrt_*", "__dadd_*", "__dsub_*", "__dmul_*", "__ddiv_*", "__fma_r*", "__drcp_*", "__dsqrt_*",
    "__expf", "__exp10f", "__logf", "__log2f", "__log10f", "__sinf", "__cosf", "__tanf", "__powf", "__sincosf",
    "__fdividef", "__saturatef"};

static bool names_device_function(const char *code, size_t position, size_t end)
{
    if (!starts_with(code + position, "__") && !starts_with(code + position, "atomic") &&
        !starts_with(code + position, "clock64"))
        return false;
    for (size_t i = 0; i < sizeof device_names / sizeof *device_names; i++) {
        const size_t length = strlen(device_names[i]);
        const bool any_end = device_names[i][length - 1] == '*';

        if ((any_end ? end - position >= length - 1 : end - position == length) &&
            strncmp(code + position, device_names[i], length - any_end) == 0)
            return true;
    }
    return false;
}

bool check_no_device_intrinsic_in_host_function(const struct source *source, size_t position, size_t end)
{
    const char *const code = source->code;
    const bool is_atomic = starts_with(code + position, "atomic"), waits = starts_with(code + position, "__sync");
    char what[300];

    if (!names_device_function(code, position, end) || !is_free_function_call(code, position, end) ||
        may_be_declared_in_file(code, position, end) || (is_atomic && includes_project_header(source)))
        return true;
    snprintf(what, sizeof what, "calling a __device__ function(\"%.*s\") from a __host__ function is not allowed: %s",
             (int)(end - position < 80 ? end - position : 80), code + position,
             waits       ? "the host waits by cudaDeviceSynchronize()"
             : is_atomic ? "the host uses std::atomic, or a plain operation if it is one thread"
                         : "call it in a kernel, and copy the result");
    return print_error_at(source, position, what);
}

/* --- lambdas that a launch passes --------------------------------------------------------------------------------- */

/** Returns whether a lambda without `__device__`, or any other word that could be a macro, begins at `position`. */
static bool is_host_lambda(const char *code, size_t position)
{
    static const char *const words[] = {"mutable", "constexpr", "noexcept", NULL};
    const size_t close = code[position] == '[' && code[position + 1] != '[' ? matching_bracket(code, position, 1)
                                                                            : NOWHERE;
    size_t next = close == NOWHERE ? NOWHERE : skip_space(code, close + 1);

    if (next == NOWHERE || (code[next] != '(' && code[next] != '{'))
        return false;
    if (code[next] == '(') {
        next = matching_bracket(code, next, 1);
        next = next == NOWHERE ? NOWHERE : skip_space(code, next + 1);
    }
    while (next != NOWHERE && is_word_character(code[next]) &&
           contains_any_word(code, next, word_end(code, next), words))
        next = skip_space(code, word_end(code, next));
    return next != NOWHERE && (code[next] == '{' || starts_with(code + next, "->"));
}

/** Returns whether every use of the name in [begin, end) that may declare it declares a variable with such a lambda. */
static bool names_host_lambda(const char *code, size_t begin, size_t end)
{
    bool is_lambda = false;

    for (size_t position = find_next_occurrence(code, 0, begin, end); position != NOWHERE;
         position = find_next_occurrence(code, position + 1, begin, end)) {
        const size_t name_end = position + (end - begin), value = skip_space(code, name_end);
        const size_t before = skip_space_back(code, position);

        if (before == 0 || !(is_word_character(code[before - 1]) || is_one_of(code[before - 1], "*&>[")) ||
            is_keyword_before_value(code, before))
            continue;
        if (code[value] != '=' || before < 4 || !is_word_at(code, before - 4, "auto") ||
            !is_host_lambda(code, skip_space(code, value + 1)))
            return false;
        is_lambda = true;
    }
    return is_lambda;
}

bool check_launch_lambdas_are_device(const struct source *source, size_t arguments_open)
{
    const char *const code = source->code;
    const size_t close = matching_bracket(code, arguments_open, 1);
    struct argument_list list;

    if (close == NOWHERE || in_device_function(source) || source->num_open_conditionals > 0 ||
        !read_argument_list(code, arguments_open, close, &list))
        return true;
    for (unsigned i = 0; i < list.num_arguments; i++) {
        const size_t begin = list.begin[i], end = list.end[i];

        if (code[begin] == '[' ? code[end - 1] == '}' && is_host_lambda(code, begin)
                               : word_end(code, begin) == end && names_host_lambda(code, begin, end))
            return print_error_at(
                source, begin, "a lambda that a kernel runs must be an extended lambda: [=] __device__ (...) { ... }");
    }
    return true;
}
