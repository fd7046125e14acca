/* service_cache.h: the copies in the node's pool (controller.h). */
#ifndef HEARTH_PAGES_SERVICE_CACHE_H
#define HEARTH_PAGES_SERVICE_CACHE_H

#include "pages/service/service_send.h"

struct service;

/* ORDER_HOLD: requests that wait for the end of a checkpoint; each holds a window credit. */
struct service_held {
    bool on;
    uint32_t count, frames;         /* held requests; those of them that are for pages */
    uint32_t small;                 /* list of slots of remote operations: index + 1 */
    struct pages_message *messages; /* [PAGES_WINDOW], of the requests for pages */
};

/* Memory of the page that this DATA brings, which stays reserved until the page has arrived; NULL: not requested. */
char *pages_cache_place(struct service *s, const struct pages_message *m);

/* Handles a message to our cache, with a piece of its page. */
void pages_cache_take(struct service *s, const struct wire *w, const char *data);

/* One send from the frame has left. */
void pages_cache_left(struct service *s, uint32_t frame);

unsigned pages_cache_look_after(struct service *s);

/* Sends the requests that were held back. `only_owners`: those of frames that have become the owners of their pages
 * since. */
void pages_cache_release(struct service *s, bool only_owners);
unsigned pages_cache_make_room(struct service *s);

#endif
