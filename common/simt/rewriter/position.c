/** @file position.c  The current position of the rewriter: open braces, the function, and preprocessor conditionals. */
#include "mark_blocks.h"
#include "rewrite.h"

bool in_device_function(const struct source *source)
{
    return source->device_braces > 0;
}

/** Checks whether the `{` at `at` belongs to a namespace or to `extern "C"`. */
static bool opens_namespace(const char *code, size_t at)
{
    while (at > 0 && !is_one_of(code[at - 1], ";{})\n"))
        if (is_word_at(code, --at, "namespace") || is_word_at(code, at, "extern"))
            return true;
    return false;
}

bool count_brace(struct source *source, size_t at)
{
    const char *code = source->code;

    if (code[at] == '{') {
        bool begins = source->function_braces == 0 && !opens_namespace(code, at);

        source->braces++;
        if (begins)
            source->function_braces = source->braces;
        if (source->device_braces == 0 &&
            (find_before(code, at, "__global__") != NOWHERE || find_before(code, at, "__device__") != NOWHERE)) {
            source->device_braces = source->braces;
            source->device_begin = at;
            source->host_too = find_before(code, at, "__host__") != NOWHERE;
            begins = true;
        }
        return !begins || mark_blocks(source, at);
    } else if (code[at] == '}' && source->braces > 0) {
        if (source->function_braces == source->braces)
            source->function_braces = 0;
        if (source->device_braces == source->braces)
            source->device_braces = 0;
        source->braces--;
    }
    return true;
}

void count_conditional(struct source *source, size_t at)
{
    const char *word = source->code + skip_space(source->code, at + 1);

    if (starts_with(word, "if") && source->conditionals < MAX_CONDITIONALS)
        source->braces_before[source->conditionals++] = source->braces;
    else if (starts_with(word, "el") && source->conditionals > 0) {
        source->braces = source->braces_before[source->conditionals - 1];
        if (source->device_braces > source->braces) /* the function began in the other branch */
            source->device_braces = 0;
    } else if (starts_with(word, "endif") && source->conditionals > 0)
        source->conditionals--;
}
