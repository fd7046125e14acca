/* service_fail.h: errors that end the job. */
#ifndef HEARTH_PAGES_SERVICE_FAIL_H
#define HEARTH_PAGES_SERVICE_FAIL_H

#include "pages/protocol/protocol.h"

struct service;

/* Ends the job. pages_service_fail logs the reason; for pages_service_end it must have been logged already. */
void pages_service_fail(struct service *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pages_service_end(struct service *s, const char *why);

/* Ends the job because of a message that a correct node cannot send now. */
void pages_service_refuse(struct service *s, const struct pages_message *m);

#endif
