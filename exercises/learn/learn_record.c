/** @file learn_record.c  The learner's record and copies, which concurrently running commands share. */
#include "interrupt.h"
#include "learn.h"
#include "learner_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder[] = "exercises/mine";
static const char record[] = "exercises/mine/.progress";
static const char lock_file[] = "exercises/mine/.lock";

void learn_learner_file_path(const struct exercise *exercise, char path[LEARN_PATH_SIZE])
{
    snprintf(path, LEARN_PATH_SIZE, "%s/%s.cu", folder, exercise->name);
}

void learn_exercise_file_path(const struct exercise *exercise, const char *name, char path[LEARN_PATH_SIZE])
{
    snprintf(path, LEARN_PATH_SIZE, "exercises/%s/%s", exercise->name, name);
}

int learn_print_error(const struct error *error)
{
    fflush(stdout);
    fprintf(stderr, "learn: %s\n", error->text);
    return LEARN_ERROR;
}

/** Reads the record, and reports on standard error if it was damaged. */
static bool read_record(struct learn_session *learn, bool set_damaged_aside, struct error *error)
{
    struct error notice = {0};

    progress_free(&learn->progress);
    if (!progress_read(record, set_damaged_aside, &learn->progress, &notice, error))
        return false;
    if (notice.text[0])
        learn_print_error(&notice);
    return true;
}

bool learn_read_progress(struct learn_session *learn, struct error *error)
{
    return read_record(learn, false, error);
}

/** Waits until this process holds the lock. */
static bool take_lock(int lock, struct error *error)
{
    if (flock(lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno == EWOULDBLOCK) {
        fflush(stdout);
        fprintf(stderr, "learn: another learn is at work here; waiting for it\n");
        while (flock(lock, LOCK_EX) != 0)
            if (errno != EINTR || interrupt_last_signal())
                return error_set(error, "%s: it cannot be locked: %s", lock_file, strerror(errno));
        return true;
    }
    return error_set(error, "%s: it cannot be locked: %s", lock_file, strerror(errno));
}

bool learn_lock_and_read_progress(struct learn_session *learn, struct error *error)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set(error, "%s: it cannot be made: %s", folder, strerror(errno));
    learn->lock_descriptor = open(lock_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (learn->lock_descriptor < 0)
        return error_set(error, "%s: it cannot be written to: %s", folder, strerror(errno));
    if (take_lock(learn->lock_descriptor, error) && read_record(learn, true, error))
        return true;
    learn_release_progress_lock(learn);
    return false;
}

bool learn_write_and_unlock_progress(struct learn_session *learn, struct error *error)
{
    const bool good = progress_write(record, &learn->progress, error);

    learn_release_progress_lock(learn);
    return good;
}

void learn_release_progress_lock(struct learn_session *learn)
{
    if (learn->lock_descriptor >= 0)
        close(learn->lock_descriptor); /* releases the lock */
    learn->lock_descriptor = -1;
}

bool learn_copy_exercise_unless_begun(struct learn_session *learn, const struct exercise *exercise, struct error *error)
{
    const bool known = progress_find(&learn->progress, exercise->name);
    char path[LEARN_PATH_SIZE], original[LEARN_PATH_SIZE];
    struct stat status;

    learn_learner_file_path(exercise, path);
    learn_exercise_file_path(exercise, "exercise.cu", original);
    if (lstat(path, &status) != 0) {
        if (errno != ENOENT)
            return error_set(error, "%s: %s", path, strerror(errno));
        if (known)
            return error_set(error, "%s is gone; '%s reset %s' makes it from the original again", path,
                             learn->program_path, exercise->name);
        if (!learner_file_create(original, path, error))
            return false;
    }
    return progress_find_or_add(&learn->progress, exercise->name, error) != NULL;
}

static bool is_passed(const struct learn_session *learn, const struct exercise *exercise)
{
    const struct progress_entry *const entry = progress_find(&learn->progress, exercise->name);

    return entry && entry->has_passed;
}

const struct exercise *learn_next_unpassed_exercise(const struct learn_session *learn, const struct exercise *after)
{
    const size_t start = after ? (size_t)(after - exercise_list) + 1 : 0;

    for (size_t i = 0; i < num_exercises; i++) {
        const struct exercise *const exercise = &exercise_list[(start + i) % num_exercises];

        if (exercise != after && !is_passed(learn, exercise))
            return exercise;
    }
    return NULL;
}

/** Returns the recorded exercise, or NULL. */
static const struct exercise *recorded_at(const struct learn_session *learn)
{
    for (size_t i = 0; i < num_exercises; i++)
        if (strcmp(exercise_list[i].name, learn->progress.resume_exercise_name) == 0)
            return &exercise_list[i];
    return NULL;
}

void learn_set_resume_exercise(struct learn_session *learn, const struct exercise *exercise)
{
    snprintf(learn->progress.resume_exercise_name, sizeof learn->progress.resume_exercise_name, "%s", exercise->name);
}

const struct exercise *learn_current_exercise(const struct learn_session *learn)
{
    const struct exercise *const at = recorded_at(learn);

    return at && !is_passed(learn, at) ? at : learn_next_unpassed_exercise(learn, at);
}

bool learn_has_begun_current_exercise(const struct learn_session *learn)
{
    const struct exercise *const at = recorded_at(learn), *const current = learn_current_exercise(learn);

    /* After a pass, the current exercise has not been shown yet, even if its file exists. */
    return current && !(at && is_passed(learn, at)) && progress_find(&learn->progress, current->name);
}
