/* fuzz_settings.c: feeds values and names of environment variables to the parser of settings. The first byte chooses the
 * setting, the rest is its value; if the first byte is NAME, the rest is a misspelt name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "fuzz.h"

enum { NAME = 0xff };

static bool is_equal(const struct setting *s, const struct settings *a, const struct settings *b) {
    const char *x = (const char *)a + s->offset, *y = (const char *)b + s->offset;
    size_t bytes = s->kind == SETTING_choice ? sizeof(int) : 8;
    return s->kind == SETTING_text || s->kind == SETTING_file || s->kind == SETTING_levels ||
           !memcmp(x, y, bytes);
}

static void check_range(const struct setting *s, const struct settings *in) {
    const void *field = (const char *)in + s->offset;
    if (s->kind == SETTING_real)
        fuzz_must(*(const double *)field >= s->least && *(const double *)field <= s->most);
    else if (s->kind == SETTING_count || s->kind == SETTING_size)
        fuzz_must((double)*(const uint64_t *)field >= s->least &&
                  (double)*(const uint64_t *)field <= s->most);
    else if (s->kind == SETTING_choice)
        fuzz_must(*(const int *)field >= 0);
}

/* A printed value reads back as the same value. Reals are printed with 15 digits, so they are compared after the
 * second round. */
static void check_print(const struct setting *s, const struct settings *in) {
    struct settings again = *in, third = *in;
    char text[128], why[256];
    settings_print(s, in, text, sizeof text);
    fuzz_must(!settings_parse(s, text, &again, why, sizeof why));
    if (s->kind != SETTING_real) {
        fuzz_must(is_equal(s, in, &again));
        return;
    }
    settings_print(s, &again, text, sizeof text);
    fuzz_must(!settings_parse(s, text, &third, why, sizeof why) && is_equal(s, &again, &third));
}

static void check_value(const struct setting *s, const char *text) {
    struct settings into = {0};
    char why[512] = "";
    int err = settings_parse(s, text, &into, why, sizeof why);
    fuzz_must(!err || (err == -EINVAL && strstr(why, s->name)));
    if (!err && s->kind != SETTING_text) {
        check_range(s, &into);
        check_print(s, &into);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t count;
    const struct setting *table = settings_table(&count);
    struct fuzz_input in = {data, size};
    unsigned which = fuzz_take_byte(&in);
    char *text = malloc(in.left + 1);
    if (!text)
        return 0;
    fuzz_take(&in, text, in.left + 1);
    if (which == NAME)
        settings_nearest(text);
    else
        check_value(&table[which % count], text);
    free(text);
    return 0;
}
