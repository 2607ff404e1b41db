/**
 * @file refuse_memory.c
 * @brief Makes one of a program's memory requests fail, to test how the program handles the failure.
 *
 *     LD_PRELOAD=refuse_memory.so REFUSE=N PROGRAM 3>FILE
 *
 * The Nth request from the program itself (not from a library that it uses) fails, and a byte is written to FILE.
 */
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's functions, under names that this library does not replace. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

/** The range of addresses of the program's code: [begin, end). */
static uintptr_t begin, end;
static atomic_long left;      /* number of requests up to and including the one that fails */
static atomic_flag ends_seen; /* set once stop_refusing() is registered */

/** Finds the program's code; the first object is the program. */
static int find_code(struct dl_phdr_info *object, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            end = begin + object->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

__attribute__((constructor)) static void begin_to_count(void)
{
    const char *const refuse = getenv("REFUSE");

    left = refuse ? atol(refuse) : 0;
    dl_iterate_phdr(find_code, NULL);
}

/** Lets all further requests succeed: destructors run next, and some may belong to a tool, such as gcov. */
static void stop_refusing(void)
{
    left = 0;
}

static bool refuses(void *caller)
{
    if ((uintptr_t)caller < begin || (uintptr_t)caller >= end || left <= 0)
        return false;
    if (!atomic_flag_test_and_set(&ends_seen))
        atexit(stop_refusing);
    if (--left > 0)
        return false;
    errno = ENOMEM;
    return write(3, ".", 1) == 1;
}

void *malloc(size_t bytes)
{
    return refuses(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return refuses(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return refuses(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}

void *mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (refuses(__builtin_return_address(0)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, wish, bytes, protection, flags, file, offset);
}
