#include "progress.h"

#include "base/atomic_file.h"
#include "learner_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The file's format, line by line:
 *
 *     progress 1
 *     at NAME                                        or - for none
 *     NAME LAST PASSED REFUSED HINTS                 for each exercise begun
 *     end
 *
 * LAST is ungraded, failed or passed; PASSED and REFUSED are yes or no; HINTS is a number. Lines that begin with # are
 * comments.
 */

static const char *const last_words[] = {"ungraded", "failed", "passed"};
static const char *const yes_words[] = {"no", "yes"};

enum { MAX_HINTS = 99 };

static int find_word(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

static bool is_name(const char *text)
{
    return text[0] && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

struct progress_entry *progress_find(const struct progress *progress, const char *name)
{
    for (size_t i = 0; i < progress->num_entries; i++)
        if (strcmp(progress->entries[i].name, name) == 0)
            return &progress->entries[i];
    return NULL;
}

struct progress_entry *progress_find_or_add(struct progress *progress, const char *name, struct error *error)
{
    struct progress_entry *const known = progress_find(progress, name);
    struct progress_entry *more;

    if (known)
        return known;
    more = realloc(progress->entries, (progress->num_entries + 1) * sizeof *more);
    if (!more) {
        error_set(error, "out of memory");
        return NULL;
    }
    progress->entries = more;
    more += progress->num_entries;
    *more = (struct progress_entry){0};
    if (snprintf(more->name, sizeof more->name, "%s", name) >= (int)sizeof more->name) {
        error_set(error, "%s: the name is too long", name);
        return NULL;
    }
    progress->num_entries++;
    return more;
}

/** Reads one exercise's line. Returns false if the line is malformed or, with a reason, if out of memory. */
static bool parse_entry(const char *line, struct progress *progress, struct error *error)
{
    char name[PROGRESS_NAME_SIZE], last[16], passed[8], refused[8];
    struct progress_entry entry = {0};
    struct progress_entry *course;
    int used = 0;

    if (sscanf(line, "%63s %15s %7s %7s %d%n", name, last, passed, refused, &entry.num_hints_shown, &used) != 5 ||
        line[used] || !is_name(name) || progress_find(progress, name))
        return false;

    const int last_at = find_word(last_words, 3, last);
    const int passed_at = find_word(yes_words, 2, passed);
    const int refused_at = find_word(yes_words, 2, refused);

    if (last_at < 0 || passed_at < 0 || refused_at < 0 || entry.num_hints_shown < 0 ||
        entry.num_hints_shown > MAX_HINTS)
        return false;
    entry.last_result = (enum progress_last_result)last_at;
    entry.has_passed = passed_at;
    entry.solution_refused = refused_at;
    memcpy(entry.name, name, sizeof name);
    course = progress_find_or_add(progress, name, error);
    if (course)
        *course = entry;
    return course;
}

/** Parses the complete text, modifying it in the process. Returns false if the text is malformed. */
static bool parse(char *text, struct progress *progress, struct error *error)
{
    enum { WANT_VERSION, WANT_AT, WANT_ENTRY, WANT_NOTHING } want = WANT_VERSION;
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '#')
            continue;
        if (want == WANT_VERSION && strcmp(line, "progress 1") == 0) {
            want = WANT_AT;
        } else if (want == WANT_AT && strcmp(line, "at -") == 0) {
            want = WANT_ENTRY;
        } else if (want == WANT_AT && strncmp(line, "at ", 3) == 0 && is_name(line + 3) &&
                   strlen(line + 3) < PROGRESS_NAME_SIZE) {
            memcpy(progress->resume_exercise_name, line + 3, strlen(line + 3) + 1);
            want = WANT_ENTRY;
        } else if (want == WANT_ENTRY && strcmp(line, "end") == 0) {
            want = WANT_NOTHING;
        } else if (want != WANT_ENTRY || !parse_entry(line, progress, error)) {
            return false;
        }
    }
    return want == WANT_NOTHING;
}

/** Renames a damaged file, and stores a one-line description of the damage and of the renaming in `notice`. */
static void move_aside(const char *path, struct error *notice)
{
    char aside[4096], kept[4096];
    struct error why = {0};

    /* The newest damaged file is PATH.damaged; older ones are numbered. */
    if (snprintf(aside, sizeof aside, "%s.damaged", path) < (int)sizeof aside &&
        path_set_aside(aside, kept, sizeof kept, &why) && rename(path, aside) == 0)
        error_set(notice, "%s was damaged: it is kept as %s, and the record begins anew", path, aside);
    else
        error_set(notice, "%s is damaged, and cannot be renamed: %s", path, why.text[0] ? why.text : strerror(errno));
}

bool progress_read(const char *path, bool set_damaged_aside, struct progress *progress, struct error *notice,
                   struct error *error)
{
    struct stat status;
    char *text;
    bool good;

    *progress = (struct progress){0};
    notice->text[0] = '\0';
    error->text[0] = '\0';
    if (lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    errno = 0;
    good = text_file_read(path, &text, notice) && parse(text, progress, error);
    free(text);
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO)
        return error_set(error, "%s", notice->text); /* the file itself may be intact */
    if (good)
        return true;
    progress_free(progress);
    if (error->text[0])
        return false;
    if (set_damaged_aside)
        move_aside(path, notice);
    else
        error_set(notice, "%s is damaged; the next 'run' sets it aside", path);
    return true;
}

bool progress_write(const char *path, const struct progress *progress, struct error *error)
{
    struct atomic_file file;

    if (!atomic_file_open(&file, "", path, error))
        return false;
    fprintf(file.stream, "# What build/learn keeps: NAME LAST-GRADING EVER-PASSED SOLUTION-REFUSED HINTS-SHOWN\n");
    fprintf(file.stream, "progress 1\nat %s\n",
            progress->resume_exercise_name[0] ? progress->resume_exercise_name : "-");
    for (size_t i = 0; i < progress->num_entries; i++) {
        const struct progress_entry *const entry = &progress->entries[i];

        fprintf(file.stream, "%s %s %s %s %d\n", entry->name, last_words[entry->last_result],
                yes_words[entry->has_passed], yes_words[entry->solution_refused], entry->num_hints_shown);
    }
    fprintf(file.stream, "end\n");
    return atomic_files_commit(&file, 1, error);
}

void progress_free(struct progress *progress)
{
    free(progress->entries);
    *progress = (struct progress){0};
}
