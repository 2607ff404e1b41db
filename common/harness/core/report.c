#include "harness/core/report.h"

#include <inttypes.h>
#include <string.h>

const char *const report_formats[3] = {"table", "json", "csv"};

void report_json_string(FILE *stream, const char *text)
{
    putc('"', stream);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(stream, "\\%c", c);
        else if (c < 0x20)
            fprintf(stream, "\\u%04x", c);
        else
            putc(c, stream);
    }
    putc('"', stream);
}

void report_json_head(FILE *stream, const char *chapter, const char *before, const char *device)
{
    fputs("{\n  \"chapter\": ", stream);
    report_json_string(stream, chapter);
    report_json_member(stream, "before", before ? before : "");
    report_json_member(stream, "device", device);
}

void report_json_member(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, ",\n  \"%s\": ", name);
    report_json_string(stream, text);
}

void report_csv_field(FILE *stream, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stream);
        return;
    }
    putc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

const char *report_count(uint64_t value, char text[32])
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    char *out = text;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}
