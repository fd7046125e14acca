/* tools_env.c: gasnet_tools.h: the environment, and numbers as text. */
#include "gas/process/process.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/number.h"
#include "hearth/gasnet/gasnet_tools.h"

/* ---- numbers ---- */

/* A size may end in K, M, G or T, powers of 1024. */
static int64_t unit_of(const char *text) {
    switch (toupper((unsigned char)*text)) {
    case 'K':
        return (int64_t)1 << 10;
    case 'M':
        return (int64_t)1 << 20;
    case 'G':
        return (int64_t)1 << 30;
    case 'T':
        return (int64_t)1 << 40;
    }
    return 1;
}

/* Returns NULL, or why it is not a number. */
static const char *env_parse_number(const char *text, uint64_t size_unit, int64_t *value) {
    char *end;
    double number = number_parse(text, &end);
    if (end == text)
        return "is not a number";
    char *after;
    int64_t whole = strtoll(text, &after, 0);
    bool is_whole = after == end; /* else with a fraction or an exponent */
    while (isspace((unsigned char)*end))
        end++;
    int64_t unit = size_unit == 0 ? 1 : unit_of(end);
    if (size_unit != 0 && unit == 1 && !isalpha((unsigned char)*end))
        unit = (int64_t)size_unit;
    number *= (double)unit;
    if (number >= 9.2e18 || number <= -9.2e18)
        return "is too large";
    *value = unit == 1 && is_whole ? whole : (int64_t)number;
    return NULL;
}

int64_t gasnett_parse_int(const char *text, uint64_t size_unit) {
    int64_t value = 0;
    const char *wrong = env_parse_number(text, size_unit, &value);
    if (wrong)
        gasnett_fatalerror("gasnett_parse_int: \"%s\" %s", text, wrong);
    return value;
}

char *gasnett_format_number(int64_t value, char *buffer, size_t bufsz, int is_mem_size) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    if (!is_mem_size) {
        snprintf(buffer, bufsz, "%lld", (long long)value);
        return buffer;
    }
    for (; value != 0 && value % 1024 == 0 && unit < sizeof units / sizeof units[0] - 1; unit++)
        value /= 1024;
    snprintf(buffer, bufsz, "%lld %s", (long long)value, units[unit]);
    return buffer;
}

/* ---- the environment ---- */

char *gasnett_getenv(const char *name) {
    return gasnet_getenv(name);
}

void gasnett_setenv(const char *name, const char *value) {
    if (setenv(name, value, 1) != 0)
        gasnett_fatalerror("gasnett_setenv: %s=%s cannot be set", name, value);
}

void gasnett_unsetenv(const char *name) {
    if (unsetenv(name) != 0)
        gasnett_fatalerror("gasnett_unsetenv: %s is not the name of a variable", name);
}

int gasnett_verboseenv(void) {
    return gasnett_getenv_yesno_withdefault("GASNET_VERBOSEENV", 0);
}

void gasnett_envstr_display(const char *name, const char *value, int is_default) {
    if (gasnett_verboseenv())
        fprintf(stderr, "ENV parameter: %s = %s%s\n", name, value ? value : "*not set*",
                is_default ? " (default)" : "");
}

void gasnett_envint_display(const char *name, int64_t value, int is_default, int is_mem_size) {
    char text[40];
    gasnett_envstr_display(name, gasnett_format_number(value, text, sizeof text, is_mem_size), is_default);
}

void gasnett_envdbl_display(const char *name, double value, int is_default) {
    char text[40];
    number_print(value, 6, text, sizeof text);
    gasnett_envstr_display(name, text, is_default);
}

/* Does not display the value: gasnett_verboseenv itself calls this function. */
int gasnett_getenv_yesno_withdefault(const char *name, int fallback) {
    static const char *const yes[] = {"y", "yes", "1", "on", "true"}, *const no[] = {"n", "no", "0", "off",
                                                                                     "false"};
    const char *value = gasnet_getenv(name);
    if (!value || !*value)
        return fallback;
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (strcasecmp(value, yes[i]) == 0)
            return 1;
        if (strcasecmp(value, no[i]) == 0)
            return 0;
    }
    log_warn("%s=%s is neither yes nor no; using %s", name, value, fallback ? "yes" : "no");
    return fallback;
}

char *gasnett_getenv_withdefault(const char *name, const char *fallback) {
    char *value = gasnet_getenv(name);
    bool is_set = value && *value;
    gasnett_envstr_display(name, is_set ? value : fallback, !is_set);
    return is_set ? value : (char *)fallback;
}

int64_t gasnett_getenv_int_withdefault(const char *name, int64_t fallback, uint64_t size_unit) {
    const char *text = gasnet_getenv(name), *wrong = NULL;
    int64_t value = fallback;
    bool is_set = text && *text;
    if (is_set && (wrong = env_parse_number(text, size_unit, &value)))
        log_warn("%s=%s %s; using %lld", name, text, wrong, (long long)fallback);
    gasnett_envint_display(name, value, !is_set || wrong, size_unit != 0);
    return value;
}

/* "1.5", or "3/2". */
static bool parse_real(const char *text, double *value) {
    char *end, *last;
    double number = number_parse(text, &end);
    if (end == text)
        return false;
    if (*end == '/') {
        double by = number_parse(end + 1, &last);
        if (last == end + 1 || by == 0)
            return false;
        number /= by;
        end = last;
    }
    while (isspace((unsigned char)*end))
        end++;
    *value = *end ? *value : number;
    return !*end;
}

double gasnett_getenv_dbl_withdefault(const char *name, double fallback) {
    const char *text = gasnet_getenv(name);
    double value = fallback;
    bool is_set = text && *text, wrong = is_set && !parse_real(text, &value);
    if (wrong)
        log_warn("%s=%s is not a number; using %g", name, text, fallback);
    gasnett_envdbl_display(name, value, !is_set || wrong);
    return value;
}
