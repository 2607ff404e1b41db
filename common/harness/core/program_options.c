#include "harness/core/program_options.h"

#include "harness/core/options.h"

#include <stdio.h>
#include <string.h>

const char *argp_program_version = "MoE routing, kernel by kernel: 1.0";

struct program_options program_options_default(void)
{
    return (struct program_options){.seed = 1};
}

bool program_option_parse(int key, const char *text, struct program_options *options, struct error *error)
{
    int64_t seed = 0;
    int word = 0;
    bool good;

    switch (key) {
    case PROGRAM_KEY_SEED:
        good = option_integer("seed", text, 0, INT64_MAX, &seed, error);
        options->seed = (uint64_t)seed;
        return good;
    case PROGRAM_KEY_OUT:
        options->out = text;
        return true;
    case PROGRAM_KEY_FORMAT:
        good = option_word("format", text, report_formats, 3, &word, error);
        options->format = (enum report_format)word;
        return good;
    case PROGRAM_KEY_GRID:
        return options->grid = true;
    case PROGRAM_KEY_BENCH:
        return options->bench = true;
    case PROGRAM_KEY_COLD:
        return options->cold = true;
    case PROGRAM_KEY_TRACE_KERNEL:
        options->trace_kernel = text;
        return true;
    default:
        options->trace = text;
        return true;
    }
}

bool program_options_check(const struct program_options *options, struct error *error)
{
    if (options->cold && !options->bench)
        return error_set(error, "--flush-l2: only times know a cache; add --bench");
    if (options->grid && (options->bench || options->out))
        return error_set(error, "--check-all: checks many problems; leave out %s",
                         options->bench ? "--bench" : "--out");
    if (options->trace && (options->grid || options->bench))
        return error_set(error, "--trace: traces one launch; leave out %s", options->grid ? "--check-all" : "--bench");
    if (options->trace_kernel && !options->trace)
        return error_set(error, "--trace-kernel: says what --trace traces; add --trace FILE.json");
    if (options->bench && options->out)
        return error_set(error, "--out: a benchmark writes no arrays; leave out --bench");
    return true;
}

void program_options_command(const struct program_options *options, char *text, size_t size)
{
    if (options->bench)
        strncat(text, options->cold ? " --bench --flush-l2" : " --bench", size - strlen(text) - 1);
}

void program_doc(const char *name, const char *does, char *text, size_t size)
{
    snprintf(
        text, size,
        "Chapter %s of MoE routing, kernel by kernel: %s.\vExit status: 0 verified, 1 wrong result, 2 bad usage or "
        "input, 3 no device that can run it.",
        name, does);
}
