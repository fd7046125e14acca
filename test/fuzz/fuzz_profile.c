/* fuzz_profile.c: feeds files to the reader of profiles. A profile that is accepted holds valid settings only, and reads the same
 * after it was written again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "fuzz.h"
#include "run/profile.h"

static void check_settings(const struct strvec *settings) {
    for (size_t i = 0; i < settings->count; i++) {
        const char *equals = strchr(settings->of[i], '=');
        char name[128], why[512];
        struct settings scratch;
        fuzz_must(equals && (size_t)(equals - settings->of[i]) < sizeof name);
        snprintf(name, sizeof name, "%.*s", (int)(equals - settings->of[i]), settings->of[i]);
        const struct setting *s = settings_find(name);
        fuzz_must(s && !settings_parse(s, equals + 1, &scratch, why, sizeof why));
        fuzz_must(profile_value(settings, s) != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct profile p, again;
    char why[700] = "";
    if (profile_read_named(fuzz_file(data, size), &p, why, sizeof why)) {
        fuzz_must(*why && !p.settings.count && !*p.path);
        return 0;
    }
    check_settings(&p.settings);
    size_t room = 1;
    for (size_t i = 0; i < p.settings.count; i++)
        room += strlen(p.settings.of[i]) + 1;
    char *text = calloc(1, room), *to = text;
    fuzz_must(text != NULL);
    for (size_t i = 0; i < p.settings.count; i++)
        to += sprintf(to, "%s\n", p.settings.of[i]);
    fuzz_must(!profile_read_named(fuzz_file(text, (size_t)(to - text)), &again, why, sizeof why));
    fuzz_must(again.settings.count == p.settings.count);
    for (size_t i = 0; i < p.settings.count; i++)
        fuzz_must(!strcmp(again.settings.of[i], p.settings.of[i]));
    profile_free(&again);
    profile_free(&p);
    free(text);
    return 0;
}
