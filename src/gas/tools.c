/* The library's part of gasnet_tools.h. */
#include "gas/inside.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "gasnet/gasnet_tools.h"

/* ---- time ---- */

uint64_t gasnett_ticks_now(void) {
    return clock_ns();
}

uint64_t gasnett_ticks_to_ns(uint64_t ticks) {
    return ticks;
}

double gasnett_tick_granularity(void) {
    struct timespec unit;
    clock_getres(CLOCK_MONOTONIC, &unit);
    return ((double)unit.tv_sec * 1e9 + (double)unit.tv_nsec) / 1e3;
}

double gasnett_tick_overhead(void) {
    enum { READINGS = 1000 };
    uint64_t start = clock_ns();
    for (int i = 0; i < READINGS; i++)
        gasnett_ticks_now();
    return (double)(clock_ns() - start) / READINGS / 1e3;
}

/* ---- the environment ---- */

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
    log_warn("%s=%s is neither yes nor no; %s is taken", name, value, fallback ? "yes" : "no");
    return fallback;
}

const char *gasnett_getenv_withdefault(const char *name, const char *fallback) {
    const char *value = gasnet_getenv(name);
    return value && *value ? value : fallback;
}

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

int64_t gasnett_getenv_int_withdefault(const char *name, int64_t fallback, uint64_t size_unit) {
    const char *value = gasnet_getenv(name);
    char *end;
    if (!value || !*value)
        return fallback;
    double number = strtod(value, &end);
    if (end == value) {
        log_warn("%s=%s is not a number; %lld is taken", name, value, (long long)fallback);
        return fallback;
    }
    int64_t unit = size_unit == 0 ? 1 : unit_of(end);
    if (size_unit != 0 && unit == 1 && !isalpha((unsigned char)*end))
        unit = (int64_t)size_unit;
    number *= (double)unit;
    if (number >= 9.2e18 || number <= -9.2e18) {
        log_warn("%s=%s is too large; %lld is taken", name, value, (long long)fallback);
        return fallback;
    }
    return unit == 1 ? (int64_t)strtoll(value, NULL, 0) : (int64_t)number;
}

/* ---- the machine ---- */

int gasnett_cpu_count(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 0;
}

void gasnett_flush_streams(void) {
    fflush(NULL);
}
