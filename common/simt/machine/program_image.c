/**
 * @file program_image.c
 * @brief Finds the program's segments: code, data, constants, and the thread-local block that serves as shared memory.
 *
 * The program is the file that the simulator is linked into: an executable, or a library that another program loads.
 */
#include "program_image.h"

#include <link.h>

/**
 * Launch bounds of a kernel: a position in its code, as an offset from this entry, and the largest number of threads in
 * a block.
 */
struct simt_bound {
    int32_t location;
    uint32_t threads;
};

struct program_image simt_program;
struct kernel_memory_ranges simt_memory;

/*
 * Kernels declare these variables as constants, because they do not change while a thread runs: the compiler may keep
 * their values in registers, and reads do not count as memory traffic.
 */
__attribute__((section("simt_builtin_variables"))) uint3 simt_thread_idx, simt_block_idx, simt_block_dim, simt_grid_dim;

/* The dynamic shared array of every kernel, under any name that the kernel gives it. */
extern __thread unsigned char simt_dynamic_shared[];
__thread __attribute__((aligned(1024))) unsigned char simt_dynamic_shared[SHARED_BYTES_LIMIT];

/* Kernel files put __constant__ variables into this section; a program may have none. */
extern const char __start_simt_constant[] __attribute__((weak));
extern const char __stop_simt_constant[] __attribute__((weak));

/* Kernel files put __constant__ and __device__ variables that are const into these sections. */
extern const char __start_simt_constant_table[] __attribute__((weak));
extern const char __stop_simt_constant_table[] __attribute__((weak));
extern const char __start_simt_device_table[] __attribute__((weak));
extern const char __stop_simt_device_table[] __attribute__((weak));

/* Kernel files put __device__ variables into this section. */
extern const char __start_simt_device[] __attribute__((weak));
extern const char __stop_simt_device[] __attribute__((weak));

/* Kernel files put an entry for each kernel with launch bounds into this section. */
extern const struct simt_bound __start_simt_bounds[] __attribute__((weak));
extern const struct simt_bound __stop_simt_bounds[] __attribute__((weak));

/* The section of the built-in variables, which are defined above. */
extern const char __start_simt_builtin_variables[];
extern const char __stop_simt_builtin_variables[];

uint3 simt_thread_index(unsigned thread)
{
    const uint3 block = simt_block_dim;

    return (uint3){thread % block.x, thread / block.x % block.y, thread / (block.x * block.y)};
}

uint3 simt_block_index(uint32_t block)
{
    const uint3 grid = simt_grid_dim;

    return (uint3){block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
}

unsigned simt_launch_bound_threads(uintptr_t kernel, size_t code_bytes)
{
    for (const struct simt_bound *bound = __start_simt_bounds; bound < __stop_simt_bounds; bound++) {
        if ((uintptr_t)bound + (uintptr_t)(intptr_t)bound->location - kernel < code_bytes)
            return bound->threads;
    }
    return BLOCK_THREADS;
}

static void add_segment(struct program_image *image, const ElfW(Phdr) * segment)
{
    const uintptr_t low = image->load_bias + segment->p_vaddr;
    const uintptr_t high = low + segment->p_memsz;

    image->low = image->low && image->low < low ? image->low : low;
    image->high = image->high > high ? image->high : high;
    if (segment->p_flags & PF_X) {
        image->text_low = low;
        image->text_high = high;
    }
    if (segment->p_flags & PF_W) {
        image->writable_low = low;
        image->writable_high = high;
    }
}

/** Returns whether a loaded file is the program: the file that this code is linked into. */
static bool is_program(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type == PT_LOAD && (uintptr_t)&simt_program - low < info->dlpi_phdr[i].p_memsz)
            return true;
    }
    return false;
}

/** Records the file name and the segments of the program. For an executable the loader reports an empty name. */
static int find_program(struct dl_phdr_info *info, size_t size, void *result)
{
    struct program_image *image = result;

    (void)size;
    if (!is_program(info))
        return 0;
    image->file_path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    image->load_bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            add_segment(image, &info->dlpi_phdr[i]);
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
            image->relocated_low = image->load_bias + info->dlpi_phdr[i].p_vaddr;
            image->relocated_high = image->relocated_low + info->dlpi_phdr[i].p_memsz;
        }
    }
    return 1;
}

bool simt_program_find_segments(void)
{
    static bool found;

    if (found)
        return true;
    dl_iterate_phdr(find_program, &simt_program);
    simt_program.constant_low = (uintptr_t)__start_simt_constant;
    simt_program.constant_high = (uintptr_t)__stop_simt_constant;
    simt_program.read_only_constants_low = (uintptr_t)__start_simt_constant_table;
    simt_program.read_only_constants_high = (uintptr_t)__stop_simt_constant_table;
    simt_program.read_only_device_low = (uintptr_t)__start_simt_device_table;
    simt_program.read_only_device_high = (uintptr_t)__stop_simt_device_table;
    simt_program.device_variables_low = (uintptr_t)__start_simt_device & ~(uintptr_t)127;
    simt_program.device_variables_high = (uintptr_t)__stop_simt_device;
    simt_program.builtin_low = (uintptr_t)__start_simt_builtin_variables;
    simt_program.builtin_high = (uintptr_t)__stop_simt_builtin_variables;
    found = simt_program.low != 0;
    return found;
}

struct tls_block {
    uintptr_t low;
    size_t bytes;
};

static int find_tls(struct dl_phdr_info *info, size_t size, void *result)
{
    struct tls_block *tls = result;

    (void)size;
    if (!is_program(info))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            tls->low = (uintptr_t)info->dlpi_tls_data;
            tls->bytes = info->dlpi_phdr[i].p_memsz;
        }
    }
    return 1;
}

bool simt_find_shared_memory(uintptr_t *low, size_t *bytes, size_t *dynamic_offset)
{
    const uintptr_t array = (uintptr_t)simt_dynamic_shared; /* in a library, allocates this thread's TLS block */
    struct tls_block tls = {0};

    dl_iterate_phdr(find_tls, &tls);
    *low = tls.low & ~(uintptr_t)127;
    *bytes = tls.bytes + (tls.low - *low);
    *dynamic_offset = array - *low;
    return tls.low != 0;
}

void simt_observe_each_lane_access(bool enable)
{
    simt_memory.is_watched = enable;
    simt_memory.arena_fast_path_bytes = enable ? 0 : simt_memory.arena_bytes;
    simt_memory.shared_fast_path_bytes = enable ? 0 : simt_memory.shared_bytes;
}
