/* unit_json.c: tests the exact output of the JSON writer. */
#include "test.h"

#include <math.h>

#include "observe/json.h"

static char *written;
static size_t length;

static struct json begin(void) {
    struct json j;
    json_begin(&j, open_memstream(&written, &length));
    return j;
}

static const char *end(struct json *j) {
    fclose(j->file);
    return written;
}

TEST(values_commas_and_nesting)
{
    struct json j = begin();
    json_open(&j, NULL, '{');
    json_count(&j, "n", UINT64_MAX);
    json_number(&j, "x", 0.5);
    json_open(&j, "list", '[');
    json_string(&j, NULL, "a");
    json_string(&j, NULL, "b");
    json_close(&j, ']');
    json_open(&j, "empty", '{');
    json_close(&j, '}');
    json_close(&j, '}');
    expect_text(
        end(&j),
        "{\n  \"n\": 18446744073709551615,\n  \"x\": 0.5,\n  \"list\": [\n    \"a\",\n    \"b\"\n  ],\n"
        "  \"empty\": {}\n}\n");
    free(written);
}

TEST(text_is_escaped)
{
    struct json j = begin();
    json_open(&j, NULL, '[');
    json_string(&j, NULL, "a\"b\\c\n\x01");
    json_close(&j, ']');
    expect_text(end(&j), "[\n  \"a\\\"b\\\\c\\u000a\\u0001\"\n]\n");
    free(written);
}

TEST(what_json_cannot_say_is_null)
{
    struct json j = begin();
    json_open(&j, NULL, '[');
    json_number(&j, NULL, NAN);
    json_number(&j, NULL, INFINITY);
    json_close(&j, ']');
    expect_text(end(&j), "[\n  null,\n  null\n]\n");
    free(written);
}

TEST(a_value_written_elsewhere)
{
    char text[100] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    struct json j;
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    json_text(&j, "part", "\n  {\"a\": 1}\n ");
    json_count(&j, "b", 2);
    json_close(&j, '}');
    fclose(file);
    expect(!strcmp(text, "{\n  \"part\": {\"a\": 1},\n  \"b\": 2\n}\n"));
}
