/* fuzz_json.c: feeds any bytes to the JSON reader. Accepted input is walked: spans nest, names and texts end inside
 * the input. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "observe/json_read.h"

static const char *begin, *end;

static void check_text(const char *text) {
    fuzz_must(text >= begin && text <= end && memchr(text, 0, (size_t)(end - text) + 1));
}

static void check_value(const struct json_value *v, unsigned depth) {
    size_t members = 0, span = 1;
    fuzz_must(depth <= JSON_DEPTH && v->span >= 1);
    if (v->name)
        check_text(v->name);
    if (v->kind == JSON_STRING) {
        check_text(v->text);
        fuzz_must(strlen(v->text) == v->size);
    }
    for (const struct json_value *m = NULL; (m = json_next(v, m)); members++) {
        fuzz_must((v->kind == JSON_OBJECT) == (m->name != NULL));
        check_value(m, depth + 1);
        span += m->span;
    }
    fuzz_must(span == v->span);
    fuzz_must(members == (v->kind == JSON_ARRAY || v->kind == JSON_OBJECT ? v->size : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    struct json_value *values;
    struct json_error error = {0};
    if (!text)
        return 0;
    memcpy(text, data, size);
    begin = text;
    end = text + size;
    int err = json_read(text, size, &values, &error);
    if (!err) {
        check_value(values, 0);
        json_member(values, "a");
        free(values);
    } else {
        fuzz_must(err == -EINVAL && error.what && error.line >= 1 && error.column >= 1 &&
                  error.column <= size + 1);
    }
    free(text);
    return 0;
}
