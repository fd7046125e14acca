/* info_settings.c: every setting, as it holds for a program started from here. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "info.h"

static void print_range(const struct setting *s) {
    if (s->kind == SETTING_choice)
        printf("; one of %s", s->words);
    else if (s->kind != SETTING_text)
        printf("; %g to %g%s", s->least, s->most, s->kind == SETTING_size ? " bytes" : "");
}

/* One that a window can have its own of. */
static const char *info_key(const struct setting *s) {
    return !strcmp(s->name, "HEARTH_MODE") ? "clampi_mode" : NULL;
}

static void print_setting(const struct setting *s, enum setting_source source) {
    char value[4096];
    settings_print(s, settings_get(), value, sizeof value);
    printf("%s=%s\n    %s", s->name, value, source == SOURCE_ENVIRONMENT ? "environment" : "default");
    if (source == SOURCE_ENVIRONMENT)
        printf(" (default %s)", *s->fallback ? s->fallback : "none");
    print_range(s);
    printf("\n    %s\n", s->help);
    if (info_key(s))
        printf("    a window that was made with the info key %s has that\n", info_key(s));
}

void info_settings(void) {
    size_t count;
    const struct setting *table = settings_table(&count);
    puts("# Settings come from the environment, else they are defaults; there is no file of settings. Info "
         "keys hold for\n"
         "# the window that is made with them: clampi_mode in place of HEARTH_MODE; clampi_score=size keeps "
         "what is small.");
    for (size_t i = 0; i < count; i++)
        print_setting(&table[i], settings_source(i));
}
