/* info_settings.c: prints every setting, with its value for a program started from here, and where the value comes from:
 * an option of hearth run, the environment, the program's profile, or the default, in this order. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "info/info.h"
#include "run/run.h"
#include "tools.h"

/* The command whose settings are shown; without one there are neither options nor a profile. */
struct shown {
    struct run_options options;
    struct run_facts facts;
};

static void print_range(const struct setting *s) {
    if (s->kind == SETTING_choice)
        printf("; one of %s", s->words);
    else if (s->kind == SETTING_levels)
        printf("; one of %s, or a list of AREA:LEVEL", s->words);
    else if (s->kind == SETTING_file)
        printf("; a file");
    else if (s->kind != SETTING_text)
        printf("; %g to %g%s", s->least, s->most, s->kind == SETTING_size ? " bytes" : "");
}

/* The info key that overrides it for one window; NULL: none. */
static const char *info_key(const struct setting *s) {
    return !strcmp(s->name, "HEARTH_MODE") ? "clampi_mode" : NULL;
}

/* The value from an option or the profile; NULL: the environment or the default decides. */
static const char *given_value(const struct shown *shown, const struct setting *s, bool in_environment,
                               const char **source) {
    const char *option = profile_value(&shown->options.settings, s);
    const char *profile = in_environment ? NULL : profile_value(&shown->facts.profile.settings, s);
    *source = option ? "option" : profile ? "profile" : in_environment ? "environment" : "default";
    return option ? option : profile;
}

static void print_setting(const struct shown *shown, const struct setting *s, bool in_environment) {
    struct settings values = *settings_get();
    char value[4096];
    const char *source, *given = given_value(shown, s, in_environment, &source);
    if (given)
        settings_parse(s, given, &values, NULL, 0); /* it was checked when it was read */
    settings_print(s, &values, value, sizeof value);
    printf("%s=%s\n    %s", s->name, value, source);
    if (given || in_environment)
        printf(" (default %s)", *s->fallback ? s->fallback : "none");
    print_range(s);
    printf("\n    %s\n", s->help);
    if (info_key(s))
        printf("    the info key %s overrides it for one window\n", info_key(s));
}

static void print_head(const struct shown *shown, bool has_command) {
    char path[PATH_MAX];
    puts("# A setting comes from an option of hearth run, else from the environment, else from the program's "
         "profile, else it has\n# its default. Info keys apply to the window that is created with them: "
         "clampi_mode overrides HEARTH_MODE;\n# clampi_score=size keeps large entries longer.");
    if (settings_are_off())
        puts("# HEARTH=off: programs that are started from here run without Hearth.");
    if (!has_command)
        puts("# For the settings of one program, with its profile: hearth info -c -- mpirun -n 4 ./app");
    else if (*shown->facts.profile.path)
        printf("# Profile: %s\n", shown->facts.profile.path);
    else if (!shown->facts.is_identified || !profile_path(&shown->facts.identity, path))
        puts("# Profile: none, as nothing identifies the program, or there is no HOME");
    else
        printf("# Profile: none is used; its place is %s\n", path);
}

/* argv[0] is not part of the command; it may begin with options of hearth run. */
static int read_shown(struct shown *shown, int argc, char **argv) {
    optind = 0; /* getopt starts anew */
    int err = run_options_read(&shown->options, argc, argv);
    return err ? err : run_examine(&shown->options, argc - optind, argv + optind, &shown->facts);
}

int info_settings(int argc, char **argv) {
    size_t count;
    const struct setting *table = settings_table(&count);
    struct shown shown = {0};
    int err = argc > 1 ? read_shown(&shown, argc, argv) : 0;
    if (!err)
        print_head(&shown, argc > 1);
    for (size_t i = 0; i < count && !err; i++) {
        if (i > 0 && table[i].audience != table[i - 1].audience)
            puts(
                table[i].audience == FOR_EXPERTS
                    ? "\n# For experts: most programs need none of these."
                    : "\n# Experiments: parameters and alternatives that the papers compare with, and "
                      "emulations "
                      "of other machines.\n# They are for measurements; programs should use their defaults.");
        print_setting(&shown, &table[i], settings_source(i) == SOURCE_ENVIRONMENT);
    }
    strvec_free(&shown.options.settings);
    profile_free(&shown.facts.profile);
    return err;
}
