/* info_settings.c: prints every setting, with its value for a program started from here. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "info/info.h"

static void print_range(const struct setting *s) {
    if (s->kind == SETTING_choice)
        printf("; one of %s", s->words);
    else if (s->kind != SETTING_text)
        printf("; %g to %g%s", s->least, s->most, s->kind == SETTING_size ? " bytes" : "");
}

/* The info key that overrides it for one window; NULL: none. */
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
        printf("    the info key %s overrides it for one window\n", info_key(s));
}

void info_settings(void) {
    size_t count;
    const struct setting *table = settings_table(&count);
    puts("# A setting comes from the environment, or has its default; there is no configuration file. Info "
         "keys apply to\n"
         "# the window that is created with them: clampi_mode overrides HEARTH_MODE; clampi_score=size keeps "
         "large entries longer.");
    for (size_t i = 0; i < count; i++) {
        if (table[i].is_experiment && (i == 0 || !table[i - 1].is_experiment))
            puts("\n# Experiments: the alternatives that the papers compare with, and emulations of other "
                 "machines. They\n# are for measurements; programs should use their defaults.");
        print_setting(&table[i], settings_source(i));
    }
}
