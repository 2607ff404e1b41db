#include "base/edit_distance.h"

#include <stdint.h>
#include <string.h>

size_t edit_distance(const char *word, size_t length, const char *known_word)
{
    enum { MAX_LENGTH = 64 };
    const size_t other_length = strlen(known_word);
    size_t row[MAX_LENGTH + 1]; /* distances from the letters of `word` read so far to each prefix of `known_word` */

    if (length > MAX_LENGTH || other_length > MAX_LENGTH)
        return SIZE_MAX;
    for (size_t j = 0; j <= other_length; j++)
        row[j] = j;
    for (size_t i = 0; i < length; i++) {
        size_t diagonal = row[0]++;

        for (size_t j = 0; j < other_length; j++) {
            const size_t replaced = diagonal + (word[i] != known_word[j]);
            const size_t shorter = row[j] < row[j + 1] ? row[j] : row[j + 1];

            diagonal = row[j + 1];
            row[j + 1] = replaced < shorter + 1 ? replaced : shorter + 1;
        }
    }
    return row[other_length];
}
