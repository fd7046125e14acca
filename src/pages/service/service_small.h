/* service_small.h: remote operations, local and remote side. */
#ifndef HEARTH_PAGES_SERVICE_SMALL_H
#define HEARTH_PAGES_SERVICE_SMALL_H

#include "pages/service/service_bounce.h"
#include "pages/service/service_send.h"

struct service;

/* Sends the remote operations that processes of this node have requested. */
unsigned pages_small_ask(struct service *s);
void pages_small_release(struct service *s);

/* The home keeps the operation of a message, with its bytes, in a bounce buffer. Returns the buffer's index. */
uint32_t pages_small_keep(struct service *s, const struct wire *w, const char *data);

/* Whether the operation of an arriving message is one of these, and inside of a page. */
bool pages_small_is_sound(const struct service *s, const struct wire *w, const char *data, size_t bytes);

/* For the home, which answers from the same bounce buffer. */
void pages_small_apply(struct service *s, char *page, struct bounce *p, bool writes);

/* For a holder. */
void pages_small_serve(struct service *s, char *page, const struct wire *w, const char *data,
                       struct load *answer);
void pages_small_answered(struct service *s, const struct wire *w, const char *data);

#endif
