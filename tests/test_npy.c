/**
 * @file test_npy.c
 * @brief Tests .npy files: which files are accepted, what the messages about rejected files say, and that writes are
 *        all or nothing.
 */
#include "harness/core/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"

#define HEADER(descr, order, shape) "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

static char directory[] = "/tmp/test_npy.XXXXXX";
static char path[64];

static void write_file(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/** Writes a version 1.0 file with this header and `data_bytes` bytes of data, 0, 1, 2, ... Returns the file's size. */
static size_t write_npy(const char *header, size_t data_bytes)
{
    static char bytes[1 << 17];
    const size_t length = strlen(header);

    assert_true(length < 65536 && 10 + length + data_bytes <= sizeof bytes);
    memcpy(bytes, "\x93NUMPY\1\0", 8);
    bytes[8] = (char)(length & 255);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + 10, header, length);
    for (size_t i = 0; i < data_bytes; i++)
        bytes[10 + length + i] = (char)i;
    write_file(bytes, 10 + length + data_bytes);
    return 10 + length + data_bytes;
}

/** Checks that reading `path` fails with exactly "PATH: reason" and leaves nothing to free. */
static void expect_refusal(const char *reason)
{
    struct npy_array array;
    struct error error = {0}, expected;

    error_set(&expected, "%s: %s", path, reason);
    assert_false(npy_read(path, &array, &error));
    assert_string_equal(error.text, expected.text);
    assert_null(array.data);
}

static int num_entries(void)
{
    DIR *listing = opendir(directory);
    int count = -2; /* does not count . and .. */

    assert_non_null(listing);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static void reads_every_type(void **state)
{
    static const struct {
        const char *header;
        enum dtype dtype;
        size_t size;
    } cases[] = {
        {HEADER("<f2", "False", "(2, 3)"), DTYPE_F16, 2},
        {HEADER("<f4", "False", "(2, 3)"), DTYPE_F32, 4},
        {HEADER("<i4", "False", "(2, 3)"), DTYPE_I32, 4},
        {HEADER("<i8", "False", "(2, 3)"), DTYPE_I64, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npy_array array;
        struct error error;

        write_npy(cases[i].header, 6 * cases[i].size);
        assert_true(npy_read(path, &array, &error));
        assert_int_equal(array.dtype, cases[i].dtype);
        assert_int_equal(dtype_size(array.dtype), cases[i].size);
        assert_int_equal(array.ndim, 2);
        assert_int_equal(array.shape[0], 2);
        assert_int_equal(array.shape[1], 3);
        assert_int_equal(npy_num_elements(&array), 6);
        for (size_t byte = 0; byte < 6 * cases[i].size; byte++)
            assert_int_equal(((unsigned char *)array.data)[byte], byte);
        npy_free(&array);
        assert_null(array.data);
    }
}

static void reads_every_shape(void **state)
{
    static const struct {
        const char *header;
        int ndim;
        int64_t shape[NPY_MAX_DIMS];
        size_t bytes;
    } cases[] = {
        {HEADER("<f4", "False", "()"), 0, {0}, 4},
        {HEADER("<f4", "False", "(3,)"), 1, {3}, 12},
        {HEADER("<f4", "False", "( 3 , )"), 1, {3}, 12},
        {HEADER("<f4", "False", "(3, 2,)"), 2, {3, 2}, 24},
        {HEADER("<f4", "False", "(1, 2, 3, 4)"), 4, {1, 2, 3, 4}, 96},
        {HEADER("<f4", "False", "(0,)"), 1, {0}, 0},
        {HEADER("<f4", "False", "(0, 256)"), 2, {0, 256}, 0},
        {HEADER("<f4", "False", "(5, 0, 7)"), 3, {5, 0, 7}, 0},
        {"{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}\n", 1, {2}, 8},
        {"  { 'fortran_order' : False , 'descr' : '<f4' , 'shape' : ( 2 , 1 ) }   \n", 2, {2, 1}, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npy_array array;
        struct error error;

        write_npy(cases[i].header, cases[i].bytes);
        assert_true(npy_read(path, &array, &error));
        assert_int_equal(array.ndim, cases[i].ndim);
        assert_memory_equal(array.shape, cases[i].shape, sizeof array.shape);
        assert_non_null(array.data);
        npy_free(&array);
    }
}

static void reads_the_longest_header(void **state)
{
    static char header[65536];
    struct npy_array array;
    struct error error;

    (void)state;
    memset(header, ' ', 65535);
    memcpy(header, HEADER("<i4", "False", "(2,)"), strlen(HEADER("<i4", "False", "(2,)")));
    write_npy(header, 8);
    assert_true(npy_read(path, &array, &error));
    npy_free(&array);
}

/* --- rejected files ----------------------------------------------------------------------------------------------- */

static void refuses_headers(void **state)
{
    static const struct {
        const char *header;
        size_t bytes;
        const char *reason;
    } cases[] = {
        {HEADER(">f4", "False", "(1,)"), 4,
         "big-endian type '>f4'; only '<f2', '<f4', '<i4' and '<i8' are read (array.astype converts)"},
        {HEADER("<f8", "False", "(1,)"), 8,
         "type '<f8'; only '<f2', '<f4', '<i4' and '<i8' are read (array.astype converts)"},
        {HEADER("|b1", "False", "(1,)"), 1,
         "type '|b1'; only '<f2', '<f4', '<i4' and '<i8' are read (array.astype converts)"},
        {HEADER("", "False", "(1,)"), 4,
         "type ''; only '<f2', '<f4', '<i4' and '<i8' are read (array.astype converts)"},
        {HEADER("<f4 or something much longer", "False", "(1,)"), 4,
         "type '<f4 or something'; only '<f2', '<f4', '<i4' and '<i8' are read (array.astype converts)"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4,
         "the header has \"[('a', '<f4')], 'fortran\" where a plain type such as '<f4' should be"},
        {HEADER("<f4", "True", "(2, 2)"), 16,
         "Fortran order, as a transposed array has; only C order is read (np.ascontiguousarray converts)"},
        {HEADER("<f4", "1", "(2, 2)"), 16, "the header has \"1, 'shape': (2, 2), }\" where True or False should be"},
        {HEADER("<f4", "False", "(-1, 2)"), 8, "a negative dimension; each must be 0 or more"},
        {HEADER("<f4", "False", "(9223372036854775808,)"), 4, "a dimension of 2^63 or more"},
        {HEADER("<f4", "False", "(99999999999999999999999999,)"), 4, "a dimension of 2^63 or more"},
        {HEADER("<f4", "False", "(1, 1, 1, 1, 1)"), 4, "more than 4 dimensions"},
        {HEADER("<f4", "False", "(4294967296, 4294967296)"), 0, "its shape is more bytes than 63 bits count"},
        {HEADER("<f4", "False", "(9223372036854775807, 0)"), 0, "its shape is more bytes than 63 bits count"},
        {HEADER("<i8", "False", "(1152921504606846975,)"), 16,
         "its shape needs 9223372036854775800 bytes of data, the file has 16 (is it complete?)"},
        {HEADER("<f4", "False", "(2, 2)"), 15, "its shape needs 16 bytes of data, the file has 15 (is it complete?)"},
        {HEADER("<f4", "False", "(2, 2)"), 17, "its shape needs 16 bytes of data, the file has 17"},
        {HEADER("<f4", "False", "(0, 2)"), 1, "its shape needs 0 bytes of data, the file has 1"},
        {HEADER("<f4", "False", "()"), 0, "its shape needs 4 bytes of data, the file has 0 (is it complete?)"},
        {HEADER("<f4", "False", "(2)"), 8, "the shape is a number, not a tuple"},
        {HEADER("<f4", "False", "2"), 8, "the header has \"2, }\" where a shape in parentheses should be"},
        {HEADER("<f4", "False", "(2 2)"), 16, "the header has \"2), }\" where a comma or a parenthesis should be"},
        {HEADER("<f4", "False", "(,)"), 4, "the header has \",), }\" where a dimension should be"},
        {HEADER("<f4", "False", "(2, x)"), 4, "the header has \"x), }\" where a dimension should be"},
        {HEADER("<f4", "False", "(2, 2"), 4, "the header has \"}\" where a dimension should be"},
        {"", 0, "the header has its end where a dictionary should be"},
        {"[1, 2]", 0, "the header has \"[1, 2]\" where a dictionary should be"},
        {"{", 0, "the header has its end where a key in quotes should be"},
        {"{\1", 0, "the header has an unprintable character where a key in quotes should be"},
        {"{'descr", 0, "the header has \"'descr\" where a key in quotes should be"},
        {"{'descr' '<f4'}", 0, "the header has \"'<f4'}\" where a colon should be"},
        {"{'descr': '<f4' 'shape': (1,)}", 4, "the header has \"'shape': (1,)}\" where a comma or a brace should be"},
        {"{'descr': '<f4', 'descr': '<f4'}", 4, "the header has the key 'descr' twice"},
        {"{'descr': '<f4', 'title': 'x'}", 4,
         "the header has a key 'title'; it has descr, fortran_order and shape, no other"},
        {"{'\\x64escr': '<f4'}", 4, "the header has \"'\\x64escr': '<f4'}\" where a key in quotes should be"},
        {"{}", 0, "the header has no 'descr'"},
        {"{'descr': '<f4', 'shape': (1,)}", 4, "the header has no 'fortran_order'"},
        {"{'descr': '<f4', 'fortran_order': False}", 4, "the header has no 'shape'"},
        {HEADER("<f4", "False", "(1,)") " \n x", 4, "the header has \"x\" where nothing but white space should be"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_npy(cases[i].header, cases[i].bytes);
        expect_refusal(cases[i].reason);
    }
}

static void refuses_other_files(void **state)
{
    (void)state;
    write_file("", 0);
    expect_refusal("0 bytes; not a .npy file (numpy.save writes one)");
    write_file("\x93NUMPY\1\0\0", 9);
    expect_refusal("9 bytes; not a .npy file (numpy.save writes one)");
    write_file("PK\3\4 an .npz file", 16);
    expect_refusal("a .npz archive; only .npy files are read (numpy.save writes one)");
    write_file("0.5 1.5 -2.5 3.5", 16);
    expect_refusal("it does not start as a .npy file does (numpy.save writes one, also of numpy.loadtxt's array)");
    write_file("\x93NUMPY\2\0\0\0\0\0", 12);
    expect_refusal(".npy version 2.0; only version 1.0 is read (numpy.save writes it)");
    write_file("\x93NUMPY\3\0\0\0\0\0", 12);
    expect_refusal(".npy version 3.0; only version 1.0 is read (numpy.save writes it)");
    write_file("\x93NUMPY\1\1\0\0", 10);
    expect_refusal(".npy version 1.1; only version 1.0 is read (numpy.save writes it)");
    write_file("\x93NUMPY\1\0\xff\xff{}", 12);
    expect_refusal("the header should have 65535 bytes, the file has 2 for it");
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    expect_refusal("No such file or directory");
    assert_int_equal(mkdir(path, 0777), 0);
    expect_refusal("a directory; a regular file is read");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0666), 0);
    expect_refusal("a device, a pipe or a socket; a regular file is read");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(path, path), 0);
    expect_refusal("Too many levels of symbolic links");
}

static void refuses_unreadable_files(void **state)
{
    (void)state;
    const uid_t user = geteuid();

    write_npy(HEADER("<f4", "False", "(1,)"), 4);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(directory, 0755), 0);
    assert_int_equal(user == 0 ? seteuid(65534) : 0, 0); /* root could read the file */
    expect_refusal("Permission denied");
    assert_int_equal(seteuid(user), 0);
}

/** Tests a sparse file of 4 TiB: reading it fails with "out of memory". */
static void refuses_more_than_memory_holds(void **state)
{
    struct npy_array array;
    struct error error;
    const size_t header = write_npy(HEADER("<f4", "False", "(1099511627776,)"), 0);

    (void)state;
    if (truncate(path, (off_t)(header + (INT64_C(4) << 40))) != 0)
        skip_because("no file of 4 TiB can be made here");
    assert_false(npy_read(path, &array, &error));
    assert_non_null(strstr(error.text, "out of memory: 4398.0 GB are needed"));
    assert_null(array.data);
}

/** Checks that reading a file with these bytes returns an array no larger than the file, or a one-line error. */
static void expect_array_or_line(const void *bytes, size_t size)
{
    struct npy_array array;
    struct error error = {0};

    write_file(bytes, size);
    if (npy_read(path, &array, &error)) {
        const size_t data_bytes = (size_t)npy_num_elements(&array) * dtype_size(array.dtype);
        volatile unsigned char sum = 0;

        assert_true(data_bytes <= size);
        for (size_t i = 0; i < data_bytes; i++)
            sum = (unsigned char)(sum + ((unsigned char *)array.data)[i]);
        npy_free(&array);
        return;
    }
    assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
    assert_true(strlen(error.text) > strlen(path) + 2);
    for (const char *c = error.text; *c; c++)
        assert_true(*c >= ' ' && *c <= '~');
}

static void survives_any_damage(void **state)
{
    unsigned char bytes[256];
    const size_t size = write_npy(HEADER("<f4", "False", "(2, 3)") "          \n", 24);
    FILE *file = fopen(path, "rb");
    uint32_t random = 1;

    (void)state;
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), size);
    fclose(file);
    for (size_t at = 0; at < size; at++) {
        const unsigned char kept = bytes[at];

        for (int bit = 0; bit < 8; bit++) {
            bytes[at] = kept ^ (unsigned char)(1 << bit);
            expect_array_or_line(bytes, size);
        }
        bytes[at] = kept;
        expect_array_or_line(bytes, at);
    }
    for (int round = 0; round < 3000; round++) {
        unsigned char damaged[256];

        memcpy(damaged, bytes, size);
        for (int i = 0; i < 1 + round % 4; i++) {
            random = random * 1664525 + 1013904223;
            damaged[8 + (random >> 16) % (size - 8)] = "0123456789(){}[],:'\"<>f-\n \0True"[(random >> 8) % 32];
        }
        expect_array_or_line(damaged, size);
    }
}

/** Writes the array to the file named `place`. */
static bool put_array(const char *place, const struct npy_array *array, struct error *error)
{
    struct atomic_file file;

    return npy_write(place, array, &file, error) && atomic_files_commit(&file, 1, error);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void writes_what_it_reads(void **state)
{
    static const int64_t shapes[][NPY_MAX_DIMS] = {{0}, {7}, {3, 5}, {2, 0, 3}, {2, 3, 4, 5}};
    static const int ndims[] = {0, 1, 2, 3, 4};
    static const enum dtype dtypes[] = {DTYPE_F16, DTYPE_F32, DTYPE_I32, DTYPE_I64};
    static unsigned char data[8 * 120];
    struct npy_array array = {.data = data}, back;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 31);
    for (size_t type = 0; type < sizeof dtypes / sizeof *dtypes; type++) {
        for (size_t i = 0; i < 5; i++) {
            array.dtype = dtypes[type];
            array.ndim = ndims[i];
            memcpy(array.shape, shapes[i], sizeof array.shape);
            assert_true(put_array(path, &array, &error));
            assert_int_equal(num_entries(), 1);
            assert_true(npy_read(path, &back, &error));
            assert_int_equal(back.dtype, array.dtype);
            assert_int_equal(back.ndim, array.ndim);
            assert_memory_equal(back.shape, array.shape, sizeof array.shape);
            assert_memory_equal(back.data, data, (size_t)npy_num_elements(&array) * dtype_size(array.dtype));
            npy_free(&back);
        }
    }
}

static void a_type_that_numpy_lacks_is_not_written(void **state)
{
    uint16_t data[3] = {0};
    const struct npy_array array = {DTYPE_BF16, 1, {3}, data};
    struct error error;

    (void)state;
    assert_false(put_array(path, &array, &error));
    assert_int_equal(num_entries(), 0);
}

static void writes_with_the_usual_rights(void **state)
{
    int32_t value = 1;
    const struct npy_array array = {DTYPE_I32, 0, {0}, &value};
    const mode_t mask = umask(027);
    struct error error;
    struct stat status;

    (void)state;
    assert_true(put_array(path, &array, &error));
    umask(mask);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void aligns_the_data(void **state)
{
    float value = 1;
    const struct npy_array array = {DTYPE_F32, 4, {1, 1, 1, 1}, &value};
    struct error error;
    unsigned char bytes[256];

    (void)state;
    assert_true(put_array(path, &array, &error));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal((size - 4) % 64, 0);
    assert_int_equal(bytes[size - 5], '\n');
}

/** Checks that writing `array` to `target` fails with "TARGET: reason" and leaves no new file in the folder. */
static void expect_write_refused(const char *target, const struct npy_array *array, const char *reason)
{
    const int before = num_entries();
    struct error error = {0}, expected;

    error_set(&expected, "%s: %s", target, reason);
    assert_false(put_array(target, array, &error));
    assert_string_equal(error.text, expected.text);
    assert_int_equal(num_entries(), before);
}

static void refuses_to_write(void **state)
{
    float value = 1;
    struct npy_array array = {DTYPE_F32, 0, {0}, &value};
    char inside[80], wanted[160];

    (void)state;
    assert_int_equal(symlink("/dev/full", path), 0);
    expect_write_refused(path, &array, "a device, a pipe or a socket is there; only a regular file is replaced");
    assert_int_equal(unlink(path), 0);
    expect_write_refused(directory, &array, "a directory is there; only a regular file is replaced");
    snprintf(inside, sizeof inside, "%s/none/a.npy", directory);
    snprintf(wanted, sizeof wanted, "it cannot be written: No such file or directory (mkdir -p %s/none)", directory);
    expect_write_refused(inside, &array, wanted);
    write_file("x", 1);
    snprintf(inside, sizeof inside, "%s/a.npy", path);
    expect_write_refused(inside, &array, "it cannot be written: Not a directory");
    array = (struct npy_array){DTYPE_F32, 2, {INT64_C(1) << 40, INT64_C(1) << 40}, &value};
    expect_write_refused(path, &array, "an array of this shape cannot be written");
}

/** Checks that, after a failed write, the folder holds only the old file, unchanged. */
static void expect_untouched(void)
{
    char text[4] = "";
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text, file), 3);
    fclose(file);
    assert_memory_equal(text, "old", 3);
    assert_int_equal(num_entries(), 1);
}

static void keeps_the_old_file_at_the_size_limit(void **state)
{
    static float data[4096];
    const struct npy_array array = {DTYPE_F32, 1, {4096}, data};
    const struct rlimit limit = {5000, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};

    (void)state;
    write_file("old", 3);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct error error = {0};
    const bool written = put_array(path, &array, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    assert_false(written);
    assert_non_null(strstr(error.text, ": it cannot be written: File too large"));
    expect_untouched();
}

static void write_text(const char *file, const char *text)
{
    const int descriptor = open(file, O_WRONLY);

    if (descriptor >= 0) {
        if (write(descriptor, text, strlen(text)) < 0)
            perror(file);
        close(descriptor);
    }
}

/**
 * Mounts a 16 KiB file system at `directory` and writes to it until it is full. Runs in a child process. Returns 0 on
 * success, or 77 if the disk cannot be mounted.
 */
static int on_a_small_disk(void)
{
    static float data[16384];
    const struct npy_array large = {DTYPE_F32, 1, {16384}, data}, small = {DTYPE_F32, 1, {16}, data};
    char map[32];
    struct error error = {0};

    snprintf(map, sizeof map, "0 %d 1", (int)geteuid());
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return 77;
        write_text("/proc/self/uid_map", map);
    }
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", directory, "tmpfs", 0, "size=16k") != 0)
        return 77;
    if (!put_array(path, &small, &error))
        return 1;
    if (put_array(path, &large, &error) || !strstr(error.text, ": it cannot be written: No space left on device"))
        return 2;
    struct npy_array back;
    if (!npy_read(path, &back, &error) || back.shape[0] != 16)
        return 3;
    npy_free(&back);
    return num_entries() == 1 ? 0 : 4;
}

static void keeps_the_old_file_on_a_full_disk(void **state)
{
    int status;
    const pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0)
        _exit(on_a_small_disk());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip_because("no right to mount a small disk");
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void agrees_with_numpy(void **state)
{
    static const char *const script =
        "import sys, numpy as np\n"
        "path = sys.argv[1]\n"
        "a = np.load(path)\n"
        "assert a.dtype == np.float32 and a.shape == (2, 3) and a.tolist() == [[0, 1, 2], [3, 4, 5]], a\n"
        "np.save(path, (np.arange(24).reshape(2, 3, 4) - 5).astype(np.int64))\n";
    float data[] = {0, 1, 2, 3, 4, 5};
    const struct npy_array array = {DTYPE_F32, 2, {2, 3}, data};
    struct npy_array back;
    struct error error;
    char command[1024];

    (void)state;
    const char *python = system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0 ? "/usr/bin/python3" : "python3";
    snprintf(command, sizeof command, "%s -c 'import numpy' 2>/dev/null", python);
    if (system(command) != 0)
        skip_because("python3 has no numpy");
    assert_true(put_array(path, &array, &error));
    snprintf(command, sizeof command, "%s -c '%s' '%s'", python, script, path);
    assert_int_equal(system(command), 0);
    assert_true(npy_read(path, &back, &error));
    assert_int_equal(back.dtype, DTYPE_I64);
    assert_int_equal(back.ndim, 3);
    for (int64_t i = 0; i < 24; i++)
        assert_int_equal(((int64_t *)back.data)[i], i - 5);
    npy_free(&back);
}

/* --- */

static int make_directory(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/a.npy", directory);
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
        cmocka_unit_test_teardown(reads_every_type, remove_file),
        cmocka_unit_test_teardown(reads_every_shape, remove_file),
        cmocka_unit_test_teardown(reads_the_longest_header, remove_file),
        cmocka_unit_test_teardown(refuses_headers, remove_file),
        cmocka_unit_test_teardown(refuses_other_files, remove_file),
        cmocka_unit_test_teardown(refuses_what_is_no_file, remove_file),
        cmocka_unit_test_teardown(refuses_unreadable_files, remove_file),
        cmocka_unit_test_teardown(refuses_more_than_memory_holds, remove_file),
        cmocka_unit_test_teardown(survives_any_damage, remove_file),
        cmocka_unit_test_teardown(writes_what_it_reads, remove_file),
        cmocka_unit_test_teardown(a_type_that_numpy_lacks_is_not_written, remove_file),
        cmocka_unit_test_teardown(writes_with_the_usual_rights, remove_file),
        cmocka_unit_test_teardown(aligns_the_data, remove_file),
        cmocka_unit_test_teardown(refuses_to_write, remove_file),
        cmocka_unit_test_teardown(keeps_the_old_file_at_the_size_limit, remove_file),
        cmocka_unit_test_teardown(keeps_the_old_file_on_a_full_disk, remove_file),
        cmocka_unit_test_teardown(agrees_with_numpy, remove_file),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
