/* service_fail.c: errors that end the job. The first one is reported to the owner of the pages, once. */
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "pages/service/service.h"

void pages_service_fail(struct service *s, const char *format, ...) {
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (!atomic_load(&s->failed))
        log_error("pages: %s", why);
    pages_service_end(s, why);
}

void pages_service_end(struct service *s, const char *why) {
    bool is_first = !atomic_exchange(&s->failed, true);
    log_debug(LOG_PAGES, "the service ends%s: %s", is_first ? "" : ", once more", why);
    if (is_first)
        s->events.failed(s->events.arg, why);
}

void pages_service_refuse(struct service *s, const struct pages_message *m) {
    pages_service_fail(s,
                       "page %u of node %u: unexpected message %u from node %u: do all ranks run the "
                       "same version of the library?",
                       m->page, m->home, m->kind, m->from);
}
