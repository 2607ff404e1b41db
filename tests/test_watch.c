/** @file test_watch.c  Tests waiting for saves: which saves are reported together, and what ends the wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../exercises/learn/watch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** A watched folder, and the saves that were reported. */
struct watched {
    char folder[64];
    struct folder_watch watch;
    int stop[2];
    int saves;
    int steps_left; /**< further saves, each made when the preceding save is reported */
    char last[64];
};

static void save(struct watched *watched, const char *name)
{
    char path[160];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", watched->folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("text\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void rename_within(struct watched *watched, const char *from, const char *to)
{
    char old_path[160], new_path[160];

    snprintf(old_path, sizeof old_path, "%s/%s", watched->folder, from);
    snprintf(new_path, sizeof new_path, "%s/%s", watched->folder, to);
    assert_int_equal(rename(old_path, new_path), 0);
}

static void saved(void *context, const char *name)
{
    struct watched *const watched = context;

    watched->saves++;
    snprintf(watched->last, sizeof watched->last, "%s", name ? name : "(any)");
    if (watched->steps_left > 0) {
        watched->steps_left--;
        save(watched, "step");
    }
}

static void empty_folder(const struct watched *watched)
{
    static const char *const names[] = {"one", "two", "step"};
    char path[160];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", watched->folder, names[i]);
        unlink(path);
    }
}

static int set_up(void **state)
{
    static struct watched watched;
    struct error error;

    memset(&watched, 0, sizeof watched);
    strcpy(watched.folder, "/tmp/test_watch.XXXXXX");
    if (!mkdtemp(watched.folder) || pipe(watched.stop) != 0 || !watch_open(&watched.watch, watched.folder, &error))
        return -1;
    *state = &watched;
    return 0;
}

static int tear_down(void **state)
{
    struct watched *const watched = *state;

    watch_close(&watched->watch);
    close(watched->stop[0]);
    close(watched->stop[1]);
    empty_folder(watched);
    rmdir(watched->folder);
    return 0;
}

static enum watch_result wait_for(struct watched *watched, struct error *error)
{
    error->text[0] = '\0';
    return watch_wait_for_save_or_key(&watched->watch, watched->stop[0], -1, saved, watched, error);
}

static void save_that_is_one_step(void **state)
{
    struct watched *const watched = *state;
    struct error error;

    save(watched, "one");
    assert_int_equal(wait_for(watched, &error), WATCH_FILE_SAVED);
    assert_int_equal(watched->saves, 1);
    assert_string_equal(watched->last, "one");
}

/* Makes each further save when the preceding one is reported; only a wait for a pause reports all of them. */
static void steps_of_a_save(void **state)
{
    struct watched *const watched = *state;
    struct error error;

    watched->steps_left = 5;
    save(watched, "one");
    assert_int_equal(wait_for(watched, &error), WATCH_FILE_SAVED);
    assert_int_equal(watched->saves, 6);
    assert_string_equal(watched->last, "step");
}

/* Tests that a file that is saved again and again does not prevent other files from being graded. */
static void steps_without_end(void **state)
{
    struct watched *const watched = *state;
    struct error error;

    watched->steps_left = 1 << 30;
    save(watched, "one");
    assert_int_equal(wait_for(watched, &error), WATCH_FILE_SAVED);
}

static void save_by_a_rename(void **state)
{
    struct watched *const watched = *state;
    struct error error;

    save(watched, "one");
    assert_int_equal(wait_for(watched, &error), WATCH_FILE_SAVED);
    rename_within(watched, "one", "two");
    assert_int_equal(wait_for(watched, &error), WATCH_FILE_SAVED);
    assert_int_equal(watched->saves, 2);
    assert_string_equal(watched->last, "two");
}

static void asked_to_stop(void **state)
{
    struct watched *const watched = *state;
    struct error error;

    assert_int_equal(write(watched->stop[1], "", 1), 1);
    assert_int_equal(wait_for(watched, &error), WATCH_STOP_REQUESTED);
    save(watched, "one");
    assert_int_equal(wait_for(watched, &error), WATCH_STOP_REQUESTED);
    assert_int_equal(watched->saves, 0);
}

static void folder_removed(void **state)
{
    struct watched *const watched = *state;
    struct error error;

    assert_int_equal(rmdir(watched->folder), 0);
    assert_int_equal(wait_for(watched, &error), WATCH_FOLDER_LOST);
    assert_string_equal(error.text, "the folder was removed or renamed");
}

static void no_folder(void **state)
{
    struct folder_watch watch;
    struct error error;

    (void)state;
    assert_false(watch_open(&watch, "/tmp/test_watch.none", &error));
    assert_string_equal(error.text, "/tmp/test_watch.none: it cannot be watched: No such file or directory");
    assert_false(watch_open(&watch, "/dev/null", &error));
    assert_string_equal(error.text, "/dev/null: it cannot be watched: Not a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(save_that_is_one_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_of_a_save, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_without_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(save_by_a_rename, set_up, tear_down),
        cmocka_unit_test_setup_teardown(asked_to_stop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folder_removed, set_up, tear_down),
        cmocka_unit_test(no_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
