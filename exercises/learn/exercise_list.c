#include "exercise_list.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *exercise_kind_word(enum exercise_kind kind)
{
    static const char *const words[] = {"write", "fix", "budget", "predict", "extend"};

    return words[kind];
}

const char *exercise_stars(const struct exercise *exercise)
{
    static const char *const stars[] = {"*", "**", "***"};

    return stars[exercise->difficulty - 1];
}

/* --- names -------------------------------------------------------------------------------------------------------- */

enum { MAX_WANTED = 64, MAX_SHOWN = 4 };

/**
 * Extracts the exercise name from what the user typed: in lower case, without directories or ".cu". Returns false if
 * the name is empty or too long.
 */
static bool plain_word(const char *wanted, char word[MAX_WANTED])
{
    size_t length = strlen(wanted);
    size_t start;

    while (length > 1 && wanted[length - 1] == '/')
        length--;
    for (start = length; start > 0 && wanted[start - 1] != '/'; start--)
        ;
    if (length - start > 3 && strncmp(wanted + length - 3, ".cu", 3) == 0)
        length -= 3;
    if (length == start || length - start >= MAX_WANTED)
        return false;
    for (size_t i = start; i < length; i++)
        word[i - start] = (char)tolower((unsigned char)wanted[i]);
    word[length - start] = '\0';
    return true;
}

/** Returns the minimum number of letters to change, add or remove to make `word` a substring of `name`. */
static size_t letters_off(const char *word, const char *name)
{
    const size_t length = strlen(word);
    size_t row[MAX_WANTED];
    size_t best = length;

    for (size_t i = 0; i <= length; i++)
        row[i] = i;
    for (const char *letter = name; *letter; letter++) {
        size_t diagonal = row[0];

        for (size_t i = 1; i <= length; i++) {
            const size_t above = row[i];
            size_t least = diagonal + (word[i - 1] != *letter);

            least = above + 1 < least ? above + 1 : least;
            least = row[i - 1] + 1 < least ? row[i - 1] + 1 : least;
            diagonal = above;
            row[i] = least;
        }
        best = row[length] < best ? row[length] : best;
    }
    return best;
}

/** Lists the names for which letters_off() returns at most `most`. */
static void list_names(const char *word, size_t most, char *list, size_t size)
{
    size_t used = 0;
    int shown = 0;

    list[0] = '\0';
    for (size_t i = 0; i < num_exercises; i++) {
        if (letters_off(word, exercise_list[i].name) > most)
            continue;
        if (shown++ == MAX_SHOWN) {
            snprintf(list + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(list + used, size - used, "%s%s", shown > 1 ? ", " : "", exercise_list[i].name);
        if (used >= size)
            return;
    }
}

/** Copies the wanted name for a message: truncated, and with `?` in place of unprintable characters. */
static void show_wanted(const char *wanted, char *shown, size_t size)
{
    snprintf(shown, size, "%s", wanted);
    for (char *c = shown; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
}

bool exercise_begins_with(const struct exercise *exercise, const char *wanted)
{
    char word[MAX_WANTED];

    return plain_word(wanted, word) && strncmp(exercise->name, word, strlen(word)) == 0;
}

const struct exercise *exercise_find(const char *wanted, struct error *error)
{
    const struct exercise *found = NULL;
    char shown[MAX_WANTED], word[MAX_WANTED], list[320];
    size_t matches = 0;
    size_t nearest;

    show_wanted(wanted, shown, sizeof shown);
    if (!plain_word(wanted, word)) {
        error_set(error, "'%s' is no exercise's name", shown);
        return NULL;
    }
    nearest = strlen(word);
    for (size_t i = 0; i < num_exercises; i++) {
        const size_t off = letters_off(word, exercise_list[i].name);

        nearest = off < nearest ? off : nearest;
        if (strcmp(word, exercise_list[i].name) == 0)
            return &exercise_list[i];
        if (off == 0) {
            found = &exercise_list[i];
            matches++;
        }
    }
    if (matches == 1)
        return found;
    list_names(word, nearest, list, sizeof list);
    if (matches > 1)
        error_set(error, "'%s' may be more than one exercise: %s", shown, list);
    else if (nearest > strlen(word) / 3)
        error_set(error, "no exercise is called '%s'", shown);
    else
        error_set(error, "no exercise is called '%s'; the nearest: %s", shown, list);
    return NULL;
}
