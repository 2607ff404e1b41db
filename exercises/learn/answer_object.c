#include "answer_object.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/** A mapped object file. */
struct object {
    const char *header; /**< the text of exercise.h */
    const unsigned char *bytes;
    size_t size;
    const Elf64_Shdr *sections;
    size_t num_sections;
    const char *names;
};

/* --- what is allowed ---------------------------------------------------------------------------------------------- */

/** Whether a list of words, with a space around each, has the name. */
static bool has_word(const char *words, const char *name, size_t length)
{
    for (const char *at = words; (at = strchr(at, ' ')); at++)
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == ' ')
            return true;
    return false;
}

static bool begins_with(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strncmp(name, *list, strlen(*list)) == 0)
            return true;
    return false;
}

/** What the headers in common/simt call for a kernel; everything else of the simulator's is the host's. */
static bool is_for_kernels(const char *name)
{
    static const char *const hooks[] = {"cuda", "__tsan_", NULL};
    static const char calls[] =
        " _GLOBAL_OFFSET_TABLE_ simt_activemask simt_all simt_any simt_atomic simt_atomic16"
        " simt_atomic32 simt_atomic64 simt_ballot simt_block simt_block_dim simt_block_idx simt_bulk_copy"
        " simt_bulk_copy_tile simt_call_begins simt_call_ends simt_clock simt_clock_or"
        " simt_copies_commit simt_copies_wait simt_copy simt_copy_symbol simt_dynamic_shared simt_fence simt_free"
        " simt_gather_bits simt_grid_dim simt_grid_is_together simt_grid_sync simt_launch_kernel simt_ldmatrix"
        " simt_malloc simt_match_all simt_match_any simt_mbarrier_arrive simt_mbarrier_arrive_copies simt_mbarrier_init"
        " simt_mbarrier_init_fence simt_mbarrier_try_wait simt_mbarrier_wait simt_mma_bfloat16 simt_mma_half"
        " simt_nth_bit simt_occupancy simt_proxy_fence"
        " simt_read_only _Znwm _Znam _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm"
        " simt_reduce simt_shuffle simt_sleep simt_syncthreads simt_syncthreads_and simt_syncthreads_count"
        " simt_syncthreads_or simt_syncwarp simt_thread_idx simt_touch_range simt_trap simt_wgmma simt_wgmma_commit"
        " simt_wgmma_fence simt_wgmma_operand simt_wgmma_wait simt_wmma simt_wmma_memory ";

    return begins_with(name, hooks) || has_word(calls, name, strlen(name));
}

/** C's own functions that kernels have on a GPU too, for double and for float, and what compilers make of them. */
static bool is_c(const char *name)
{
    static const char functions[] =
        " printf puts putchar memcpy memmove memset memcmp bcmp strlen malloc free abort _Exit exit abs labs llabs"
        " __printf_chk __memcpy_chk __memmove_chk __memset_chk __assert_fail __stack_chk_fail"
        " acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin"
        " fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nearbyint"
        " nextafter pow remainder remquo rint round rsqrt scalbn sin sincos sinh sqrt tan tanh tgamma trunc ";
    const size_t length = strlen(name);

    return has_word(functions, name, length) ||
           (length > 1 && name[length - 1] == 'f' && has_word(functions, name, length - 1));
}

/** The compiler's own, for what the machine has no instruction for. */
static bool is_arithmetic(const char *name)
{
    static const char *const beginnings[] = {"__popcount", "__clz",   "__ctz", "__ffs",  "__mul",
                                             "__div",      "__udiv",  "__mod", "__umod", "__extend",
                                             "__trunc",    "__float", "__fix", NULL};

    return begins_with(name, beginnings);
}

/** Whether a header's text has the name as a word with a bracket behind it. */
static bool is_declared(const char *header, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = header; (at = strstr(at, name)); at += length)
        if (at > header && (at[-1] == ' ' || at[-1] == '*') && at[length] == '(')
            return true;
    return false;
}

/**
 * Names for others are C++'s mangled ones, a chapter's launch, and what exercise.h declares. No function of C's is
 * among them.
 */
static bool may_define(const struct object *object, const char *name)
{
    static const char *const mangled[] = {"_Z", "DW.ref.", "simt_constant", "__start_", "__stop_", NULL};

    return begins_with(name, mangled) || strcmp(name, "gate_launch") == 0 || strcmp(name, "align_launch") == 0 ||
           is_declared(object->header, name);
}

/* --- sections and symbols ----------------------------------------------------------------------------------------- */

/** The one word in it is the compiler's: it starts what hooks are called from. */
static bool is_start_of_hooks(const Elf64_Shdr *section, const char *name)
{
    return strncmp(name, ".init_array", 11) == 0 && section->sh_size == sizeof(Elf64_Addr);
}

static bool check_sections(const struct object *object, struct error *error)
{
    static const char *const early[] = {".init",   ".fini", ".ctors",   ".dtors", ".preinit_array",
                                        ".interp", ".plt",  ".dynamic", ".got",   NULL};
    int starts = 0;

    for (size_t i = 0; i < object->num_sections; i++) {
        const Elf64_Shdr *const section = &object->sections[i];
        const char *const name = object->names + section->sh_name;
        const bool runs = section->sh_type == SHT_INIT_ARRAY || section->sh_type == SHT_FINI_ARRAY ||
                          section->sh_type == SHT_PREINIT_ARRAY || begins_with(name, early);

        if (runs && (!is_start_of_hooks(section, name) || ++starts > 1))
            return error_set(error,
                             "the answer has code that runs before its launch or after it (%s): a kernel has "
                             "none. Is there an object with a constructor?",
                             name);
    }
    return true;
}

static bool check_symbol(const struct object *object, const Elf64_Sym *symbol, const char *name, struct error *error)
{
    static const char *const hooks[] = {"__tsan_", "__sanitizer_", "simt_", "cuda", NULL};
    const bool defined = symbol->st_shndx != SHN_UNDEF, local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;

    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        return error_set(error, "%s: an answer cannot choose its functions when it is loaded", name);
    if (!defined && !is_for_kernels(name) && !is_c(name) && !is_arithmetic(name))
        return error_set(error, "%s: an answer may not use this: it is neither CUDA's nor for kernels", name);
    if (defined && local && ELF64_ST_TYPE(symbol->st_info) != STT_SECTION && begins_with(name, hooks) &&
        strcmp(name, "simt_constant") != 0)
        return error_set(error, "%s: an answer may not have a name of its own like this", name);
    if (defined && !local && !may_define(object, name))
        return error_set(error, "%s: an answer may not define this name for others", name);
    return true;
}

static bool check_symbols(const struct object *object, struct error *error)
{
    bool hooked = false;

    for (size_t i = 0; i < object->num_sections; i++) {
        const Elf64_Shdr *const table = &object->sections[i];

        if (table->sh_type != SHT_SYMTAB)
            continue;

        const Elf64_Sym *const symbols = (const Elf64_Sym *)(object->bytes + table->sh_offset);
        const char *const names = (const char *)object->bytes + object->sections[table->sh_link].sh_offset;

        for (size_t s = 1; s < table->sh_size / sizeof *symbols; s++) {
            const char *const name = names + symbols[s].st_name;

            if (name[0] && !check_symbol(object, &symbols[s], name, error))
                return false;
            hooked |= symbols[s].st_shndx == SHN_UNDEF && strcmp(name, "__tsan_init") == 0;
        }
    }
    return hooked || error_set(error, "the answer was compiled without what counts its loads and stores");
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

/** The compiler wrote it, so that what it says of itself is so. */
static bool open_object(const char *path, struct object *object, struct error *error)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    void *bytes = MAP_FAILED;

    if (file >= 0 && fstat(file, &about) == 0 && (size_t)about.st_size >= sizeof(Elf64_Ehdr))
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0)
        close(file);
    if (bytes == MAP_FAILED)
        return error_set(error, "%s: it cannot be read: %s", path, strerror(errno));

    const Elf64_Ehdr *const header = bytes;

    *object = (struct object){.bytes = bytes, .size = (size_t)about.st_size, .num_sections = header->e_shnum};
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shoff == 0 || header->e_shnum == 0) {
        munmap(bytes, object->size);
        return error_set(error, "%s: it is no object file, or has too many sections", path);
    }
    object->sections = (const Elf64_Shdr *)(object->bytes + header->e_shoff);
    object->names = (const char *)object->bytes + object->sections[header->e_shstrndx].sh_offset;
    return true;
}

bool answer_object_check(const char *path, const char *header, struct error *error)
{
    struct object object = {0};
    bool good;

    if (!open_object(path, &object, error))
        return false;
    object.header = header;
    good = check_sections(&object, error) && check_symbols(&object, error);
    munmap((void *)object.bytes, object.size);
    return good;
}
