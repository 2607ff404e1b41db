#include "plot_data.h"

#include "../tests/simt/json.h"
#include "harness/core/npy.h"
#include "harness/core/record.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EXPERTS = 1024, MAX_TOKENS = 1 << 16, BUSIEST = 5, WORDS = 3, WORD_SIZE = 24 };

/** How often a word is in the text, and how often it is sent to the expert that is looked at. */
struct word {
    const char *text;
    int total, sent;
};

struct load {
    int choices[MAX_EXPERTS], order[MAX_EXPERTS]; /**< by expert; experts from the busiest down */
    int num_experts, num_tokens, topk;
    const int32_t *ids;
    struct word words[MAX_TOKENS];
    int word_of[MAX_TOKENS], num_words;
};

/* --- counting --------------------------------------------------------------------------------------------------------- */

static bool count_choices(const struct npy_array *array, const char *path, struct load *load, struct error *error)
{
    if (array->dtype != DTYPE_I32 || array->shape[0] < 1 || array->shape[0] > MAX_TOKENS || array->shape[1] < 1 ||
        array->shape[1] > 64)
        return error_set(error, "%s: it must be [tokens, topk] of i32, 1 to %d tokens", path, MAX_TOKENS);
    load->ids = array->data;
    load->num_tokens = (int)array->shape[0];
    load->topk = (int)array->shape[1];
    for (int i = 0; i < load->num_tokens * load->topk; i++) {
        if (load->ids[i] < 0 || load->ids[i] >= MAX_EXPERTS)
            return error_set(error, "%s: an id is %d; 0 to %d can be drawn", path, load->ids[i], MAX_EXPERTS - 1);
        load->choices[load->ids[i]]++;
        if (load->ids[i] >= load->num_experts)
            load->num_experts = load->ids[i] + 1;
    }
    while (load->num_experts % 32 != 0) /* the last experts may have got nothing; a group is 32 */
        load->num_experts++;
    return true;
}

static void sort_experts(struct load *load)
{
    for (int expert = 0; expert < load->num_experts; expert++) {
        int i = expert;

        for (; i > 0 && load->choices[load->order[i - 1]] < load->choices[expert]; i--)
            load->order[i] = load->order[i - 1];
        load->order[i] = expert;
    }
}

/** The tokens' words, each once with how often it is there. */
static bool read_words(const struct json *tokens, const char *path, struct load *load, struct error *error)
{
    int count = 0;

    if (tokens->type != JSON_ARRAY)
        return error_set(error, "%s: it must be a list of words", path);
    for (const struct json *token = tokens->first; token; token = token->next) {
        int word = 0;

        if (token->type != JSON_STRING || count == load->num_tokens)
            return error_set(error, "%s: it must be a list of %d words, one for each row", path, load->num_tokens);
        while (word < load->num_words && strcmp(load->words[word].text, token->string) != 0)
            word++;
        if (word == load->num_words)
            load->words[load->num_words++].text = token->string;
        load->words[word].total++;
        load->word_of[count++] = word;
    }
    return count == load->num_tokens ||
           error_set(error, "%s: it has %d words for %d rows", path, count, load->num_tokens);
}

/** The word that the expert gets most often among those not yet taken, whose `sent` is then 0. */
static struct word *take_word(struct load *load)
{
    struct word *best = &load->words[0];

    for (int i = 1; i < load->num_words; i++)
        if (load->words[i].sent > best->sent)
            best = &load->words[i];
    return best;
}

static void count_words(struct load *load, int expert)
{
    for (int i = 0; i < load->num_words; i++)
        load->words[i].sent = 0;
    for (int i = 0; i < load->num_tokens * load->topk; i++)
        if (load->ids[i] == expert)
            load->words[load->word_of[i / load->topk]].sent++;
}

/* --- writing ---------------------------------------------------------------------------------------------------------- */

/** A word as a reader can see it. */
static void show_word(const char *text, char shown[WORD_SIZE + 2])
{
    if (strcmp(text, " ") == 0)
        strcpy(shown, "a space");
    else if (strcmp(text, "\n") == 0)
        strcpy(shown, "an end of line");
    else if (strcmp(text, "<unk>") == 0)
        strcpy(shown, "a rare word");
    else
        snprintf(shown, WORD_SIZE + 2, "\"%.*s\"", WORD_SIZE - 1, text);
}

/** One of the busiest: its number, its choices, and its words: `"0" 124 of 127, ...`. */
static void write_busy(FILE *out, struct load *load, int rank)
{
    const int expert = load->order[rank];
    char text[PLOT_TEXT_SIZE], shown[WORD_SIZE + 2];
    int length = 0;

    count_words(load, expert);
    for (int i = 0; i < WORDS; i++) {
        struct word *const word = take_word(load);

        if (word->sent == 0)
            break;
        show_word(word->text, shown);
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s %d of %d", i > 0 ? ", " : "", shown,
                           word->sent, word->total);
        word->sent = 0;
    }
    fprintf(out, "busy_expert[%d] = %d; busy_choices[%d] = %d; busy_words[%d] = ", rank + 1, expert, rank + 1,
            load->choices[expert], rank + 1);
    plot_write_quoted(out, text, '\'');
    fputc('\n', out);
}

/** The experts that nobody chose, or the one chosen least. */
static void write_idle(FILE *out, const struct load *load)
{
    const int last = load->order[load->num_experts - 1];
    char text[PLOT_TEXT_SIZE];
    int length = 0, count = 0;

    for (int expert = 0; expert < load->num_experts; expert++) {
        if (load->choices[expert] > 0)
            continue;
        count++;
        if (length < PLOT_TEXT_SIZE - 64)
            length += snprintf(text + length, sizeof text - (size_t)length, "%s%d", count > 1 ? ", " : "", expert);
    }
    if (count == 0)
        snprintf(text, sizeof text, "%d, with %d", last, load->choices[last]);
    fprintf(out, "num_idle = %d\n", count);
    plot_write_text(out, "idle", text);
}

static void write_load(FILE *out, struct load *load)
{
    const int busiest = load->order[0];
    const int numel = load->num_tokens * load->topk;
    char text[32];

    plot_write_description(out,
                           "A bar for each of %d experts, the busiest first: how many of %d choices it gets. Expert %d "
                           "gets %d; even shares "
                           "would be %d. Beside them, the words that most often go to the %d busiest.",
                           load->num_experts, numel, busiest, load->choices[busiest], numel / load->num_experts,
                           BUSIEST);
    fprintf(out, "num_experts = %d\nmean = %.6g\n", load->num_experts, (double)numel / load->num_experts);
    plot_write_text(out, "numel", grouped_digits((uint64_t)numel, text));
    plot_write_text(out, "num_tokens", grouped_digits((uint64_t)load->num_tokens, text));
    write_idle(out, load);
    fprintf(out, "num_busy = %d\narray busy_expert[%d]\narray busy_choices[%d]\narray busy_words[%d]\n", BUSIEST,
            BUSIEST, BUSIEST, BUSIEST);
    for (int rank = 0; rank < BUSIEST; rank++)
        write_busy(out, load, rank);
    fputs("$load << END\n", out);
    for (int rank = 0; rank < load->num_experts; rank++)
        fprintf(out, "%d %d # expert %d\n", rank + 1, load->choices[load->order[rank]], load->order[rank]);
    fputs("END\n", out);
}

bool plot_load(FILE *out, const char *topk_ids_path, const char *tokens_path, struct error *error)
{
    static struct load load;
    struct npy_array array;
    struct json_file tokens;
    bool good = false;

    if (!npy_read_kind(topk_ids_path, NPY_INTEGERS, 2, 2, &array, error))
        return false;
    if (count_choices(&array, topk_ids_path, &load, error) && json_read(tokens_path, &tokens, error)) {
        sort_experts(&load);
        good = read_words(tokens.values, tokens_path, &load, error);
        if (good)
            write_load(out, &load);
        json_free(&tokens);
    }
    npy_free(&array);
    return good;
}
