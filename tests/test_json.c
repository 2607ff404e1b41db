/** @file test_json.c  JSON files: what is read, and what is refused in which words. */
#include "json/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/test_json.XXXXXX";
static char path[64];

static void write_bytes(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static struct json_file read_text(const char *text)
{
    struct json_file file;
    struct error error = {0};

    write_bytes(text, strlen(text));
    if (!json_read(path, &file, &error))
        fail_msg("%s", error.text);
    return file;
}

/** Reading the file must fail with exactly "PATH:reason", and leave nothing to free. */
static void expect_refusal(const char *reason)
{
    struct json_file file;
    struct error error = {0}, expected;

    error_set(&expected, "%s:%s", path, reason);
    assert_false(json_read(path, &file, &error));
    assert_string_equal(error.text, expected.text);
    assert_null(file.values);
    assert_null(file.text);
}

/* --- what is read ------------------------------------------------------------------------------------------------- */

static void reads_values(void **state)
{
    (void)state;
    struct json_file file = read_text(
        " {\"a\": [1, -2.5e-1, true, null, \"x\"],\r\n\t\"b\": {}, \"c\": [], \"\": false} ");
    const struct json *const root = file.values, *value = json_member(root, "a")->first;

    assert_int_equal(root->type, JSON_OBJECT);
    assert_true(value->type == JSON_NUMBER && value->number == 1.0 && !value->name);
    value = value->next;
    assert_true(value->type == JSON_NUMBER && value->number == -0.25);
    value = value->next;
    assert_true(value->type == JSON_BOOLEAN && value->boolean);
    value = value->next;
    assert_int_equal(value->type, JSON_NULL);
    value = value->next;
    assert_true(value->type == JSON_STRING && strcmp(value->string, "x") == 0 && !value->next);
    assert_true(json_member(root, "b")->type == JSON_OBJECT && !json_member(root, "b")->first);
    assert_true(json_member(root, "c")->type == JSON_ARRAY && !json_member(root, "c")->first);
    assert_true(json_member(root, "")->type == JSON_BOOLEAN && !json_member(root, "")->boolean);
    json_free(&file);
}

static void reads_numbers(void **state)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"0", 0.0},      {"-0", 0.0},      {"10", 10.0},   {"0.5", 0.5},
                 {"1e3", 1000.0}, {"1E+3", 1000.0}, {"25e-1", 2.5}, {"1.7976931348623157e308", 1.7976931348623157e308}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_file file = read_text(cases[i].text);

        assert_true(file.values->type == JSON_NUMBER && file.values->number == cases[i].value);
        json_free(&file);
    }
}

static void reads_strings(void **state)
{
    static const struct {
        const char *text, *value;
    } cases[] = {{"\"\"", ""},
                 {"\"a b\"", "a b"},
                 {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
                 {"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
                 {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
                 {"\"\xc3\xa9\"", "\xc3\xa9"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json_file file = read_text(cases[i].text);

        assert_int_equal(file.values->type, JSON_STRING);
        assert_string_equal(file.values->string, cases[i].value);
        json_free(&file);
    }
}

static void looks_up(void **state)
{
    (void)state;
    struct json_file file = read_text("{\"n\": 3, \"s\": \"t\"}");
    const struct json *const root = file.values;

    assert_string_equal(json_string(root, "s", "-"), "t");
    assert_string_equal(json_string(root, "n", "-"), "-");
    assert_string_equal(json_string(root, "none", "-"), "-");
    assert_true(json_number(root, "n", -1.0) == 3.0);
    assert_true(json_number(root, "s", -1.0) == -1.0);
    assert_null(json_member(NULL, "n"));
    assert_null(json_member(json_member(root, "n"), "n"));
    json_free(&file);
}

static void reads_as_deep_as_allowed(void **state)
{
    char text[2 * (JSON_MAX_DEPTH + 1) + 1] = "";

    (void)state;
    memset(text, '[', JSON_MAX_DEPTH);
    memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    struct json_file file = read_text(text);
    json_free(&file);
    memset(text, '[', JSON_MAX_DEPTH + 1);
    write_bytes(text, strlen(text));
    expect_refusal("1: values too deep inside one another");
}

/* --- what is refused ---------------------------------------------------------------------------------------------- */

static void refuses_what_is_not_json(void **state)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "1: the file ends where a value should be"},
        {"\n\n ", "3: the file ends where a value should be"},
        {"{\"a\": \"\\n\",\n \"b\" 1}", "2: '1' where a colon should be"},
        {"[1 2]", "1: '2' where a comma or a bracket should be"},
        {"{\"a\": 1", "1: the file ends where a comma or a brace should be"},
        {"{\"a\": 1]", "1: ']' where a comma or a brace should be"},
        {"[1,]", "1: ']' where a value should be"},
        {"{\"a\": 1,}", "1: '}' where a name in quotes should be"},
        {"{a: 1}", "1: 'a' where a name in quotes should be"},
        {"{\"a\": 1, \"a\": 2}", "1: a name that the object has already"},
        {"[] x", "1: 'x' where the end of the file should be"},
        {"01", "1: '1' where the end of the file should be"},
        {"0x10", "1: 'x' where the end of the file should be"},
        {"-", "1: the file ends where a value should be"},
        {"+1", "1: '+' where a value should be"},
        {".5", "1: '.' where a value should be"},
        {"1.", "1: the file ends where a digit should be"},
        {"1e+", "1: the file ends where a digit should be"},
        {"-1e999", "1: a number too large"},
        {"NaN", "1: 'N' where a value should be"},
        {"nul", "1: 'n' where a value should be"},
        {"truer", "1: 'r' where the end of the file should be"},
        {"'a'", "1: ''' where a value should be"},
        {"\"a", "1: the file ends inside a string"},
        {"\"a\\", "1: the file ends where an escape such as \\n should be"},
        {"\"\\x\"", "1: 'x' where an escape such as \\n should be"},
        {"\"a\nb\"", "1: a control character in a string"},
        {"\"\\u12\"", "1: a \\u escape that is no character"},
        {"\"\\u0000\"", "1: a \\u escape that is no character"},
        {"\"\\ud800\"", "1: a \\u escape that is no character"},
        {"\"\\ud800\\u0041\"", "1: a \\u escape that is no character"},
        {"\"\\ude00\"", "1: a \\u escape that is no character"},
        {"\x01", "1: an unprintable character where a value should be"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bytes(cases[i].text, strlen(cases[i].text));
        expect_refusal(cases[i].reason);
    }
}

static void refuses_nul(void **state)
{
    (void)state;
    write_bytes("[1]\0", 4);
    expect_refusal("1: an unprintable character where the end of the file should be");
    write_bytes("\"a\0\"", 4);
    expect_refusal("1: a control character in a string");
    write_bytes("\"\\\0\"", 4);
    expect_refusal("1: an unprintable character where an escape such as \\n should be");
}

static void refuses_what_is_no_file(void **state)
{
    char name[sizeof path];

    (void)state;
    expect_refusal(" No such file or directory");
    strcpy(name, path);
    strcpy(path, directory);
    expect_refusal(" it is not a regular file");
    strcpy(path, name);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal(" it is not a regular file");
}

static void refuses_large_files(void **state)
{
    static char text[JSON_MAX_BYTES + 1];

    (void)state;
    memset(text, ' ', sizeof text);
    text[0] = '1';
    write_bytes(text, JSON_MAX_BYTES);
    struct json_file file;
    struct error error;
    assert_true(json_read(path, &file, &error));
    json_free(&file);
    write_bytes(text, sizeof text);
    expect_refusal(" more than 4194304 bytes");
}

/** Every prefix of a file, and the file with each byte changed, is read or refused with a line; never a crash. */
static void survives_any_damage(void **state)
{
    static const char whole[] = "{\"a\": [1.5e3, \"\\u20ac\\ud83d\\ude00\\n\"], \"b\": {\"c\": null, \"d\": -0}}";
    char text[sizeof whole];
    struct json_file file;
    struct error error;

    (void)state;
    for (size_t length = 0; length < strlen(whole); length++) {
        write_bytes(whole, length);
        assert_false(json_read(path, &file, &error));
    }
    for (size_t at = 0; at < strlen(whole); at++) {
        for (int byte = 0; byte < 256; byte++) {
            strcpy(text, whole);
            text[at] = (char)byte;
            write_bytes(text, strlen(whole));
            if (json_read(path, &file, &error))
                json_free(&file);
        }
    }
}

/* --- */

static int make_directory(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/a.json", directory);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path) == 0 || errno == ENOENT ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(reads_values, remove_file),
        cmocka_unit_test_teardown(reads_numbers, remove_file),
        cmocka_unit_test_teardown(reads_strings, remove_file),
        cmocka_unit_test_teardown(looks_up, remove_file),
        cmocka_unit_test_teardown(reads_as_deep_as_allowed, remove_file),
        cmocka_unit_test_teardown(refuses_what_is_not_json, remove_file),
        cmocka_unit_test_teardown(refuses_nul, remove_file),
        cmocka_unit_test_teardown(refuses_what_is_no_file, remove_file),
        cmocka_unit_test_teardown(refuses_large_files, remove_file),
        cmocka_unit_test_teardown(survives_any_damage, remove_file),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
