/**
 * @file shared_variables.c
 * @brief Finds the program's variables in its symbol table, and marks the words of shared memory that belong to no
 *        `__shared__` variable.
 *
 * Shared memory is the program's block of thread-local storage. A word that belongs to no kernel's variable gets a
 * special shadow cell, as if all threads of all blocks had read the word at a later time. A store to the word therefore
 * fails the fast check of the readers, and a load fails the fast check of the last write, while accesses to all other
 * words need no additional check.
 */
#include "device_memory.h"
#include "machine/fault.h"
#include "machine/pages.h"
#include "machine/program_image.h"
#include "order/happens_before.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_TEXT = 64 };

struct variable {
    size_t begin, end;   /**< offsets in shared memory */
    bool in_kernel_file; /**< the symbol is that of a C++ variable outside any function */
    char name[NAME_TEXT];
};

/** The `__shared__` variables of all kernels, sorted by offset; empty if the program has no symbols. */
static struct variable_list {
    struct variable *variable;
    size_t count;
    size_t bytes; /**< size of shared memory */
} variables;

/** The variables in global and constant memory, sorted by address. */
static struct variable_list globals;

/** The host's variables, sorted by address. */
static struct variable_list hosts;

/* --- the symbol table --------------------------------------------------------------------------------------------- */

struct symbols {
    const unsigned char *file;
    size_t size;
    const ElfW(Sym) * symbol;
    size_t count;
    const char *names;
    size_t names_size;
};

/** Returns whether the `bytes` bytes at `offset` are within the file and `offset` is aligned for a pointer. */
static bool in_file(const struct symbols *symbols, uint64_t offset, uint64_t bytes)
{
    return offset % sizeof(void *) == 0 && offset <= symbols->size && bytes <= symbols->size - offset;
}

/** Finds the symbol table and its string table in the file. */
static bool find_tables(struct symbols *symbols)
{
    const ElfW(Ehdr) *header = (const void *)symbols->file;

    if (symbols->size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_shentsize != sizeof(ElfW(Shdr)) ||
        !in_file(symbols, header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr))))
        return false;
    const ElfW(Shdr) *section = (const void *)(symbols->file + header->e_shoff);

    for (size_t i = 0; i < header->e_shnum; i++) {
        if (section[i].sh_type != SHT_SYMTAB || section[i].sh_link >= header->e_shnum)
            continue;
        const ElfW(Shdr) *names = &section[section[i].sh_link];

        if (!in_file(symbols, section[i].sh_offset, section[i].sh_size) || names->sh_offset > symbols->size ||
            names->sh_size == 0 || names->sh_size > symbols->size - names->sh_offset)
            return false;
        symbols->symbol = (const void *)(symbols->file + section[i].sh_offset);
        symbols->count = section[i].sh_size / sizeof *symbols->symbol;
        symbols->names = (const char *)symbols->file + names->sh_offset;
        symbols->names_size = names->sh_size;
        return symbols->names[names->sh_size - 1] == 0;
    }
    return false;
}

static bool symbols_open(struct symbols *symbols)
{
    const int file = simt_program_find_segments() ? open(simt_program.file_path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat status;
    void *mapped = MAP_FAILED;

    *symbols = (struct symbols){0};
    if (file < 0)
        return false;
    if (fstat(file, &status) == 0 && status.st_size > 0)
        mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return false;
    symbols->file = mapped;
    symbols->size = (size_t)status.st_size;
    if (find_tables(symbols))
        return true;
    munmap(mapped, symbols->size);
    return false;
}

static void symbols_close(const struct symbols *symbols)
{
    munmap((void *)symbols->file, symbols->size);
}

/** Returns the name of a thread-local variable, or "" for any other symbol. */
static const char *thread_local_name(const struct symbols *symbols, const ElfW(Sym) * symbol)
{
    const bool variable = ELF64_ST_TYPE(symbol->st_info) == STT_TLS && symbol->st_shndx != SHN_UNDEF &&
                          symbol->st_size > 0 && symbol->st_name < symbols->names_size;

    return variable ? symbols->names + symbol->st_name : "";
}

/* --- variables ---------------------------------------------------------------------------------------------------- */

/**
 * Returns whether a thread-local variable belongs to a kernel. A kernel's variable has a mangled C++ name, whereas the
 * engine's own variables have C names. The variables named simt_gap_... are the gaps after the kernels' variables.
 */
static bool is_kernels(const char *symbol)
{
    return strncmp(symbol, "_Z", 2) == 0 && !strstr(symbol, "simt_gap_");
}

/** Copies a variable's source name: the last name in a symbol such as _ZZ6kernelIiEvPT_E5words. */
static void take_name(const char *symbol, char name[NAME_TEXT])
{
    snprintf(name, NAME_TEXT, "%s", symbol);
    for (const char *at = symbol + 2; *at; at++) {
        char *rest;

        if (!strchr("ELZ", at[-1]) || *at < '1' || *at > '9')
            continue;
        const size_t length = strtoul(at, &rest, 10);

        /*
         * The compiler appends a suffix to the name of a copy that it makes, and to the names of all but the first of
         * several variables with the same name in a function.
         */
        if (length == strlen(rest) ||
            (length < strlen(rest) && strspn(rest + length, "_.0123456789") == strlen(rest + length))) {
            snprintf(name, NAME_TEXT, "%.*s", (int)length, rest);
            return;
        }
    }
}

/**
 * Returns whether the table belongs to the running program: it must list the dynamic array at the offset `dynamic`.
 * This also shows that shared memory begins where the thread-local storage begins.
 */
static bool is_ours(const struct symbols *symbols, size_t dynamic)
{
    for (size_t i = 0; i < symbols->count; i++) {
        if (strcmp(thread_local_name(symbols, &symbols->symbol[i]), "simt_dynamic_shared") == 0)
            return symbols->symbol[i].st_value == dynamic;
    }
    return false;
}

static int by_begin(const void *a, const void *b)
{
    const struct variable *const left = a;
    const struct variable *const right = b;

    return (left->begin > right->begin) - (left->begin < right->begin);
}

/** Returns whether an address is in global or constant memory. */
static bool is_kernel_data(uintptr_t address)
{
    const struct program_image *image = &simt_program;

    return address - image->device_variables_low < image->device_variables_high - image->device_variables_low ||
           address - image->constant_low < image->constant_high - image->constant_low ||
           address - image->read_only_constants_low <
               image->read_only_constants_high - image->read_only_constants_low ||
           address - image->read_only_device_low < image->read_only_device_high - image->read_only_device_low;
}

/** Returns the name of a variable that is not thread-local, or "" for any other symbol. */
static const char *global_name(const struct symbols *symbols, const ElfW(Sym) * symbol)
{
    const bool variable = ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF &&
                          symbol->st_size > 0 && symbol->st_name < symbols->names_size;

    return variable ? symbols->names + symbol->st_name : "";
}

/** Appends a symbol to a list, which must have room for it. */
static void take_variable(struct variable_list *list, const ElfW(Sym) * symbol, uintptr_t bias, const char *name)
{
    struct variable *variable = &list->variable[list->count++];

    variable->begin = symbol->st_value + bias;
    variable->end = variable->begin + symbol->st_size;
    variable->in_kernel_file = strncmp(name, "_Z", 2) == 0 && name[2] != 'Z' && name[2] != 'T' && name[2] != 'G';
    snprintf(variable->name, NAME_TEXT, "%s", name);
    if (strncmp(name, "_Z", 2) == 0)
        take_name(name, variable->name);
}

static bool take_variables(const struct symbols *symbols)
{
    variables.variable = pages_map((symbols->count + 1) * sizeof *variables.variable);
    globals.variable = pages_map((symbols->count + 1) * sizeof *globals.variable);
    hosts.variable = pages_map((symbols->count + 1) * sizeof *hosts.variable);
    if (!variables.variable || !globals.variable || !hosts.variable)
        return false;
    for (size_t i = 0; i < symbols->count; i++) {
        const ElfW(Sym) *symbol = &symbols->symbol[i];
        const char *shared = thread_local_name(symbols, symbol);
        const char *global = global_name(symbols, symbol);

        if (is_kernels(shared))
            take_variable(&variables, symbol, 0, shared);
        else if (*global && !strstr(global, "simt_gap_"))
            take_variable(is_kernel_data(symbol->st_value + simt_program.load_bias) ? &globals : &hosts, symbol,
                          simt_program.load_bias, global);
    }
    qsort(variables.variable, variables.count, sizeof *variables.variable, by_begin);
    qsort(globals.variable, globals.count, sizeof *globals.variable, by_begin);
    qsort(hosts.variable, hosts.count, sizeof *hosts.variable, by_begin);
    return true;
}

/** The symbols of the running program, read at the first launch; empty if the program has none. */
static struct symbols own_symbols;

static size_t dynamic_begin; /**< offset of the dynamic array in shared memory */

void simt_shared_variables_find_once(size_t shared_bytes, size_t dynamic_offset)
{
    static bool looked;
    struct symbols symbols;

    if (looked)
        return;
    looked = true;
    if (!symbols_open(&symbols))
        return;
    if (!is_ours(&symbols, dynamic_offset) || !take_variables(&symbols)) {
        symbols_close(&symbols);
        return;
    }
    variables.bytes = shared_bytes;
    dynamic_begin = dynamic_offset;
    own_symbols = symbols;
}

/* --- marks -------------------------------------------------------------------------------------------------------- */

/** Marks the whole words in [begin, end) as belonging to no variable. */
static void mark(struct shadow_cell *shadow, size_t begin, size_t end)
{
    for (size_t word = (begin + 3) / 4; word < end / 4; word++) {
        shadow[word].read_epoch = EPOCH_NEVER_REACHED;
        shadow[word].packed_readers = READERS_WORD_OUTSIDE_VARIABLES;
    }
}

void simt_shared_variables_mark_gaps(struct shadow_cell *shadow, size_t dynamic_offset)
{
    const size_t dynamic_shared_requested_end = dynamic_offset + SHARED_BYTES_LIMIT;
    size_t begin = 0;

    if (variables.bytes == 0)
        return;
    for (size_t i = 0; i <= variables.count; i++) {
        const bool last = i == variables.count;
        const size_t end = last || variables.variable[i].begin > variables.bytes ? variables.bytes
                                                                                 : variables.variable[i].begin;

        /* The dynamic array has different bounds in each launch. */
        if (begin < dynamic_offset)
            mark(shadow, begin, end < dynamic_offset ? end : dynamic_offset);
        if (end > dynamic_shared_requested_end)
            mark(shadow, begin > dynamic_shared_requested_end ? begin : dynamic_shared_requested_end, end);
        if (!last && variables.variable[i].end > begin)
            begin = variables.variable[i].end;
    }
}

bool simt_word_is_outside_shared_variables(const struct shadow_cell *cell)
{
    return cell->read_epoch == EPOCH_NEVER_REACHED && cell->packed_readers == READERS_WORD_OUTSIDE_VARIABLES;
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

/**
 * Returns the last variable of a list that begins at or before `entry`, an address or offset. Returns NULL if there is
 * none.
 */
static const struct variable *variable_before(const struct variable_list *list, size_t entry)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (list->variable[middle].begin <= entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &list->variable[low - 1] : NULL;
}

bool simt_is_host_only_constant(uintptr_t address)
{
    const struct variable *const variable = variable_before(&hosts, address);

    return variable && address < variable->end && variable->in_kernel_file;
}

static void describe(const struct variable_list *list, size_t offset, char *text, size_t size)
{
    const struct variable *behind = variable_before(list, offset);
    const struct variable *ahead = behind ? behind + 1 : list->variable;
    const size_t past = behind ? offset - behind->end : SIZE_MAX;
    size_t before = SIZE_MAX;

    if (ahead < list->variable + list->count)
        before = ahead->begin - offset;
    if (past == 0)
        snprintf(text, size, "right past the end of '%s', which has %zu byte%s", behind->name,
                 behind->end - behind->begin, plural_ending(behind->end - behind->begin));
    else if (behind && past <= before)
        snprintf(text, size, "%zu byte%s past the end of '%s', which has %zu byte%s", past, plural_ending(past),
                 behind->name, behind->end - behind->begin, plural_ending(behind->end - behind->begin));
    else if (before < SIZE_MAX)
        snprintf(text, size, "%zu byte%s before '%s', which has %zu byte%s", before, plural_ending(before), ahead->name,
                 ahead->end - ahead->begin, plural_ending(ahead->end - ahead->begin));
    else
        snprintf(text, size, "of memory that belongs to no variable");
}

size_t simt_total_constant_bytes(void)
{
    size_t bytes = 0;

    for (size_t i = 0; i < globals.count; i++) {
        const uintptr_t begin = globals.variable[i].begin;

        if ((begin >= simt_program.constant_low && begin < simt_program.constant_high) ||
            (begin >= simt_program.read_only_constants_low && begin < simt_program.read_only_constants_high))
            bytes += globals.variable[i].end - globals.variable[i].begin;
    }
    return bytes;
}

/** Returns the symbol of the function at an address, or NULL if there is none. */
static const ElfW(Sym) * function_at(const struct symbols *symbols, uintptr_t address)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const ElfW(Sym) *symbol = &symbols->symbol[i];

        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_value + simt_program.load_bias == address &&
            symbol->st_name < symbols->names_size)
            return symbol;
    }
    return NULL;
}

/** Returns the index of the first symbol that comes from the same source file as a given symbol. */
static size_t begin_of_file(const struct symbols *symbols, size_t symbol)
{
    while (symbol > 0 && ELF64_ST_TYPE(symbols->symbol[symbol].st_info) != STT_FILE)
        symbol--;
    return symbol;
}

/** Returns one past the index of the last symbol that comes from the same source file as a given symbol. */
static size_t end_of_file(const struct symbols *symbols, size_t symbol)
{
    do
        symbol++;
    while (symbol < symbols->count && ELF64_ST_TYPE(symbols->symbol[symbol].st_info) != STT_FILE);
    return symbol;
}

/**
 * Returns the total size in bytes of a function's __shared__ variables. The symbols of the variables in a function
 * _Z... begin with _ZZ...E. Static functions of several source files may have the same name; the variables of such a
 * function are listed between the symbol of its source file and that of the next.
 */
static size_t sum_of_function(const struct symbols *symbols, const ElfW(Sym) * function)
{
    const bool is_static = ELF64_ST_BIND(function->st_info) == STB_LOCAL;
    const size_t index = (size_t)(function - symbols->symbol);
    const size_t begin = is_static ? begin_of_file(symbols, index) : 0;
    const size_t end = is_static ? end_of_file(symbols, index) : symbols->count;
    const char *const own = symbols->names + function->st_name;
    const size_t length = strlen(own);
    size_t bytes = 0;

    for (size_t i = begin; i < end && length > 2; i++) {
        const char *name = thread_local_name(symbols, &symbols->symbol[i]);

        if (strncmp(name, "_ZZ", 3) == 0 && strncmp(name + 3, own + 2, length - 2) == 0 && name[length + 1] == 'E' &&
            is_kernels(name))
            bytes += symbols->symbol[i].st_size;
    }
    return bytes;
}

/** Copies a function's source name: the last name in a symbol such as _ZL6kernelIiEvPT_. */
static void take_function_name(const char *symbol, char name[NAME_TEXT])
{
    const char *at = symbol + (strncmp(symbol, "_Z", 2) == 0 ? 2 : 0);

    snprintf(name, NAME_TEXT, "%s", symbol);
    at += strspn(at, "NL");
    while (*at >= '1' && *at <= '9') {
        char *rest;
        const size_t length = strtoul(at, &rest, 10);

        if (length > strlen(rest))
            return;
        snprintf(name, NAME_TEXT, "%.*s", (int)length, rest);
        at = rest + length;
    }
}

struct kernel_properties simt_kernel_properties(const void *kernel)
{
    enum { REMEMBERED = 64 };
    static struct known {
        const void *kernel;
        struct kernel_properties properties;
        char name[NAME_TEXT];
    } known[REMEMBERED];
    static unsigned next;
    struct known *entry = &known[next % REMEMBERED];

    for (unsigned i = 0; i < REMEMBERED; i++) {
        if (known[i].kernel == kernel)
            return known[i].properties;
    }
    const ElfW(Sym) *symbol = function_at(&own_symbols, (uintptr_t)kernel);

    next++;
    *entry = (struct known){.kernel = kernel, .properties.max_threads_per_block = BLOCK_THREADS, .name = "kernel"};
    entry->properties.name = entry->name;
    if (symbol) {
        entry->properties.own_static_shared_bytes = sum_of_function(&own_symbols, symbol);
        take_function_name(own_symbols.names + symbol->st_name, entry->name);
        entry->properties.max_threads_per_block = simt_launch_bound_threads((uintptr_t)kernel, symbol->st_size);
    }
    return entry->properties;
}

static bool is_used(const struct variable *variable)
{
    for (size_t word = variable->begin / 4; word < (variable->end + 3) / 4; word++) {
        const struct shadow_cell *cell = &simt_memory.shared_shadow[word];

        if (cell->write_epoch >= simt_current_order.launch_begin_epoch ||
            (cell->read_epoch >= simt_current_order.launch_begin_epoch && !simt_word_is_outside_shared_variables(cell)))
            return true;
    }
    return false;
}

size_t simt_accessed_static_bytes_or_0_if_all_fit(size_t dynamic_shared_bytes)
{
    size_t all = 0;
    size_t used = 0;

    for (size_t i = 0; i < variables.count; i++)
        all += variables.variable[i].end - variables.variable[i].begin;
    if (all + dynamic_shared_bytes <= SHARED_BYTES_DEFAULT_LIMIT)
        return 0;
    for (size_t i = 0; i < variables.count; i++)
        used += is_used(&variables.variable[i]) ? variables.variable[i].end - variables.variable[i].begin : 0;
    return used;
}

bool simt_device_variable_contains(uintptr_t address, size_t bytes)
{
    const struct variable *variable = variable_before(&globals, address);

    return globals.count == 0 || (variable && bytes <= variable->end - variable->begin &&
                                  address - variable->begin <= variable->end - variable->begin - bytes);
}

/** Finds the variables unless a launch has already found them. */
static void find_variables(void)
{
    size_t bytes, dynamic;
    uintptr_t low;

    if (simt_find_shared_memory(&low, &bytes, &dynamic))
        simt_shared_variables_find_once(bytes, dynamic);
}

const char *simt_overrun_host_variable_name(uintptr_t address, size_t bytes, size_t *bytes_to_end)
{
    const char *name = NULL;

    if (!simt_program_find_segments() || address - simt_program.low >= simt_program.high - simt_program.low)
        return NULL;
    find_variables();
    for (size_t i = 0; i < hosts.count && hosts.variable[i].begin <= address; i++) {
        const struct variable *const variable = &hosts.variable[i];

        if (address >= variable->end)
            continue;
        if (bytes <= variable->end - address)
            return NULL;
        name = variable->name;
        *bytes_to_end = variable->end - address;
    }
    return name;
}

const char *simt_device_variable_name_at(uintptr_t address)
{
    find_variables();
    const struct variable *variable = variable_before(&globals, address);

    return variable && address < variable->end ? variable->name : "?";
}

void simt_describe_position_in_array(uintptr_t address, bool shared, char text[ARRAY_TEXT_SIZE])
{
    const struct variable_list *const list = shared ? &variables : &globals;
    const size_t entry = shared ? address - simt_memory.shared_begin : address;
    const struct variable *const variable = variable_before(list, entry);
    const char *name = "";
    size_t offset = 0, bytes = 0;
    bool in_allocation = false;

    if (!shared && address - simt_memory.arena_begin < simt_memory.arena_bytes) {
        name = simt_arena_array_name(address, &offset, &bytes);
        in_allocation = bytes > 0 && !*name;
    } else if (variable && entry < variable->end) {
        name = variable->name;
        offset = entry - variable->begin;
        bytes = variable->end - variable->begin;
    }
    text[0] = 0;
    if (shared && !*name && variables.bytes > 0 && entry - dynamic_begin < SHARED_BYTES_LIMIT)
        snprintf(text, ARRAY_TEXT_SIZE, " of dynamic shared memory at byte %zu", entry - dynamic_begin);
    else if (in_allocation)
        snprintf(text, ARRAY_TEXT_SIZE, " at byte %zu of an allocation of %zu byte%s", offset, bytes,
                 plural_ending(bytes));
    else if (*name)
        snprintf(text, ARRAY_TEXT_SIZE, " of '%.96s' at byte %zu (of %zu)", name, offset, bytes);
}

void simt_shared_array_bounds(size_t offset, size_t *begin, size_t *end)
{
    const struct variable *const variable = variable_before(&variables, offset);

    *begin = *end = offset;
    if (variable && offset < variable->end) {
        *begin = variable->begin;
        *end = variable->end;
    } else if (offset >= dynamic_begin && offset < simt_memory.dynamic_shared_requested_end) {
        *begin = dynamic_begin;
        *end = simt_memory.dynamic_shared_requested_end;
    }
}

_Noreturn void simt_fault_outside_device_variables(uintptr_t address, unsigned num_bytes, bool store, uintptr_t pc)
{
    const struct variable *variable = variable_before(&globals, address);
    const bool inside = variable && address < variable->end;
    char where[160];

    describe(&globals, inside ? variable->end : address, where, sizeof where);
    simt_fault_here(cudaErrorIllegalAddress, pc, "out-of-bounds access", "%s %u byte%s%s %s",
                    store ? "writes" : "reads", num_bytes, num_bytes == 1 ? "" : "s",
                    simt_words_between_count_and_number(where, num_bytes), where);
}

_Noreturn void simt_fault_outside_shared_variables(const struct shadow_cell *cell, uint32_t byte_mask,
                                                   enum access_type access, uintptr_t pc)
{
    const int count = __builtin_popcount(byte_mask);
    char where[160];

    describe(&variables, (size_t)(cell - simt_memory.shared_shadow) * 4 + (size_t)__builtin_ctz(byte_mask), where,
             sizeof where);
    simt_fault_here(cudaErrorIllegalAddress, pc, "out-of-bounds shared access", "%s %d byte%s%s %s",
                    simt_access_verb(access), count, count == 1 ? "" : "s",
                    simt_words_between_count_and_number(where, (unsigned)count), where);
}
