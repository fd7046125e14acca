/* gas_fail.c: errors of the program, and the end of a job that cannot continue.
 *
 * Calls that return a code log the error and return it. Other calls end the job after one line. */
#include "base/job_end.h"
#include "gas/process/process.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/settings.h"

static void fail_say(const char *call, const char *format, va_list args) {
    char what[512];
    vsnprintf(what, sizeof what, format, args);
    log_error("%s: %s", call, what);
}

void gas_fail(const char *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_say(call, format, args);
    va_end(args);
    job_end(EXIT_FAILURE);
}

void gas_lost(int rank, const char *why) {
    if (atomic_load(&gas_job.stage) == GAS_LEAVING)
        job_end(EXIT_FAILURE); /* the failing rank has logged the cause */
    if (rank < 0)
        log_error("a node cannot be served: %s; the job is ended", why);
    else
        log_error("node %d cannot be reached: %s; the job is ended", rank, why);
    job_end(EXIT_FAILURE);
}

static bool fail_is_first(const char *format) {
    enum { RULES = 16 };
    static _Atomic(const char *) said[RULES];
    for (int i = 0; i < RULES; i++) {
        const char *seen = NULL;
        if (atomic_compare_exchange_strong(&said[i], &seen, format))
            return true;
        if (seen == format)
            return false;
    }
    return false;
}

void gas_breach(const char *call, const char *format, ...) {
    bool ends = settings_get()->gasnet_rules == GASNET_RULES_END;
    if (!ends && !fail_is_first(format))
        return;
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (ends)
        gas_fail(call, "%s", what);
    log_warn("%s: %s (HEARTH_GASNET_RULES=end ends the job)", call, what);
}

_Atomic int gas_verbose = 1;

int gas_refuse(int code, const char *call, const char *format, ...) {
    va_list args;
    if (!atomic_load_explicit(&gas_verbose, memory_order_relaxed))
        return code;
    va_start(args, format);
    fail_say(call, format, args);
    va_end(args);
    return code;
}

/* ---- error codes ---- */

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
    {GASNET_OK, "GASNET_OK", "no error"},
    {GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT", "GASNet is not initialised, or the job is not attached yet"},
    {GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE", "a resource, such as memory, is exhausted"},
    {GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG", "an argument is invalid"},
    {GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY", "the operation is not complete yet"},
    {GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH", "nodes gave different names to a barrier"},
};

static int fail_find(int code) {
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            return (int)i;
    return -1;
}

const char *gasnet_ErrorName(int code) {
    int i = fail_find(code);
    return i < 0 ? "unknown" : errors[i].name;
}
ALSO(const char *, ErrorName, (int code));

const char *gasnet_ErrorDesc(int code) {
    int i = fail_find(code);
    return i < 0 ? "not a GASNet error code" : errors[i].text;
}
ALSO(const char *, ErrorDesc, (int code));
