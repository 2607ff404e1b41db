/** @file test_regions.c  Tests how an exercise's regions are found and filled and how the rest is compared. */
#include "../exercises/learn/regions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EXERCISE \
    "int before;\n    // TODO one\n    int old;\n    // END one\nint between;\n// TODO two\n// END two\nint after;\n"

static struct named_text text_of(const char *path, const char *text)
{
    return (struct named_text){.path = path, .text = text, .size = strlen(text)};
}

/** Fills the exercise; returns the text, which the caller frees, or NULL with an error. */
static char *fill(const char *exercise, const char *answers, const char *rest, struct error *error)
{
    const struct named_text exercise_text = text_of("e.cu", exercise), answers_text = text_of("a.txt", answers);
    const struct named_text rest_text = text_of("r.txt", rest ? rest : "");
    char *filled;

    error->text[0] = '\0';
    if (regions_fill(&exercise_text, &answers_text, rest ? &rest_text : NULL, &filled, error))
        return filled;
    assert_null(filled);
    return NULL;
}

static void expect_filled(const char *answers, const char *rest, const char *expected)
{
    struct error error;
    char *const filled = fill(EXERCISE, answers, rest, &error);

    assert_string_equal(error.text, "");
    assert_string_equal(filled, expected);
    free(filled);
}

static void expect_unfilled(const char *exercise, const char *answers, const char *expected)
{
    struct error error;

    assert_null(fill(exercise, answers, NULL, &error));
    assert_string_equal(error.text, expected);
}

static void fills_every_region(void **state)
{
    (void)state;
    expect_filled("// TODO one\nint a;\n// END one\n\n// TODO two\nint b;\nint c;\n// END two\n", NULL,
                  "int before;\n    // TODO one\n#line 2 \"a.txt\"\nint a;\n#line 4 \"e.cu\"\n    // END one\n"
                  "int between;\n// TODO two\n#line 6 \"a.txt\"\nint b;\nint c;\n#line 7 \"e.cu\"\n// END two\n"
                  "int after;\n");
}

static void takes_the_rest_from_elsewhere(void **state)
{
    (void)state;
    expect_filled("// refused because: no\n// TODO two\nint b;\n// END two",
                  "// TODO one\nint r;\n// END one\n// TODO two\nint s;\n// END two\n",
                  "int before;\n    // TODO one\n#line 2 \"r.txt\"\nint r;\n#line 4 \"e.cu\"\n    // END one\n"
                  "int between;\n// TODO two\n#line 3 \"a.txt\"\nint b;\n#line 7 \"e.cu\"\n// END two\nint after;\n");
}

static void escapes_paths(void **state)
{
    const struct named_text exercise = text_of("a \"b\\c", "// TODO x\n// END x\n");
    const struct named_text answers = text_of("\"", "// TODO x\n1\n// END x\n");
    struct error error;
    char *filled;

    (void)state;
    assert_true(regions_fill(&exercise, &answers, NULL, &filled, &error));
    assert_string_equal(filled, "// TODO x\n#line 2 \"\\\"\"\n1\n#line 2 \"a \\\"b\\\\c\"\n// END x\n");
    free(filled);
}

static void refuses_answers(void **state)
{
    (void)state;
    expect_unfilled(EXERCISE, "// TODO one\n// END one\n", "a.txt: the region two is missing");
    expect_unfilled(EXERCISE, "// TODO three\n// END three\n", "a.txt:1: the exercise has no region three");
    expect_unfilled(EXERCISE, "// TODO one\n// END one\nint x;\n", "a.txt:3: this line is in no region: int x;");
    expect_unfilled(EXERCISE, "int x;\n// TODO one\n// END one\n", "a.txt:1: this line is in no region: int x;");
    expect_unfilled(EXERCISE, "// nothing\n", "a.txt: there is no region: no line // TODO NAME");
    expect_unfilled(EXERCISE, "", "a.txt: there is no region: no line // TODO NAME");
}

static void refuses_markers(void **state)
{
    (void)state;
    expect_unfilled("// TODO a\n", "", "e.cu:1: // TODO a has no // END a after it");
    expect_unfilled("\n// END a\n", "",
                    "e.cu:2: // END a has no // TODO a before it; put that line back before the region's code");
    expect_unfilled("// TODO a\n// TODO b\n", "", "e.cu:2: // TODO b stands inside the region a, before its // END a");
    expect_unfilled("// TODO a\n// END b\n", "", "e.cu:2: // END b stands inside the region a, before its // END a");
    expect_unfilled("// TODO a\n// END a\n// TODO a\n", "", "e.cu:3: a second // TODO a; there may be one");
}

static void refuses_what_is_not_text(void **state)
{
    const struct named_text exercise = {.path = "e.cu", .text = "// TODO a\n\0// END a\n", .size = 20};
    struct regions regions;
    struct error error;

    (void)state;
    assert_false(regions_find(&exercise, &regions, &error));
    assert_string_equal(error.text, "e.cu: this is not text: it has a byte 0");
}

static void refuses_too_many(void **state)
{
    char text[4096] = "";
    struct regions regions;
    struct error error;

    (void)state;
    for (int i = 0; i <= MAX_REGIONS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "// TODO r%d\n// END r%d\n", i, i);

    const struct named_text exercise = text_of("e.cu", text);

    assert_false(regions_find(&exercise, &regions, &error));
    assert_string_equal(error.text, "e.cu:33: more than 16 regions");
}

/** Returns the error line for a learner's file, or "" if there is no error. */
static const char *difference(const char *learner)
{
    static struct error error;
    const struct named_text exercise = text_of("e.cu", EXERCISE), text = text_of("m.cu", learner);

    return regions_check_same_outside(&exercise, &text, &error) ? "" : error.text;
}

static void lets_regions_differ(void **state)
{
    (void)state;
    assert_string_equal(difference(EXERCISE), "");
    assert_string_equal(difference("int before;\n    // TODO one\n\n\nint mine;\n// TODO later\n// END of it\n"
                                   "    // END one\nint between;\n// TODO two\nx\n// END two\nint after;\n"),
                        "");
}

static void lets_blanks_differ(void **state)
{
    (void)state;
    assert_string_equal(difference("int before;  \r\n    // TODO one\t\r\n    // END one\nint between;\n// TODO two\n"
                                   "// END two\nint after;\n\n\n"),
                        "");
    assert_string_equal(difference("int before;\n    // TODO one\n    // END one\nint between;\n// TODO two\n"
                                   "// END two\nint after;"),
                        "");
}

static void names_the_line_that_differs(void **state)
{
    (void)state;
    assert_string_equal(
        difference("int BEFORE;\n    // TODO one\n    // END one\nint between;\n// TODO two\n// END two\n"
                   "int after;\n"),
        "m.cu:1: this line was \"int before;\": put it back, and write between // TODO and // END only");
    assert_string_equal(
        difference("int before;\n    // TODO one\n\n\n    // END one\nint BETWEEN;\n// TODO two\n"
                   "// END two\nint after;\n"),
        "m.cu:6: this line was \"int between;\": put it back, and write between // TODO and // END only");
    assert_string_equal(
        difference("int before;\n    // TODO one\n    // END one\nint between;\n// TODO two\n// END two\n"),
        "m.cu:7: this line was \"int after;\": put it back, and write between // TODO and // END only");
    assert_string_equal(difference(EXERCISE "int more;\n"),
                        "m.cu:9: this line is not the exercise's: write between // TODO and // END only");
}

static void names_markers_that_differ(void **state)
{
    (void)state;
    assert_string_equal(difference("int before;\nint between;\n// TODO two\n// END two\nint after;\n"),
                        "m.cu: the lines // TODO one and // END one are gone; put them back");
    assert_string_equal(difference("int before;\n// TODO one\n// TODO two\n// END two\nint after;\n"),
                        "m.cu:3: // TODO two stands inside the region one, before its // END one");
    assert_string_equal(difference("int before;\n    // TODO one\nint after;\n"),
                        "m.cu:2: // TODO one has no // END one after it");
    assert_string_equal(
        difference("int before;\n// TODO two\n// END two\nint between;\n    // TODO one\n    // END one\n"),
        "m.cu:2: the region one belongs here");
    assert_string_equal(difference(""), "m.cu: the lines // TODO one and // END one are gone; put them back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_every_region),
        cmocka_unit_test(takes_the_rest_from_elsewhere),
        cmocka_unit_test(escapes_paths),
        cmocka_unit_test(refuses_answers),
        cmocka_unit_test(refuses_markers),
        cmocka_unit_test(refuses_what_is_not_text),
        cmocka_unit_test(refuses_too_many),
        cmocka_unit_test(lets_regions_differ),
        cmocka_unit_test(lets_blanks_differ),
        cmocka_unit_test(names_the_line_that_differs),
        cmocka_unit_test(names_markers_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
