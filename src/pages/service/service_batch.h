/* service_batch.h: messages without a payload to one node leave together, at the end of a pass of the progress loop. */
#ifndef HEARTH_PAGES_SERVICE_BATCH_H
#define HEARTH_PAGES_SERVICE_BATCH_H

#include "pages/service/service_send.h"

struct service;

enum { BATCH_MESSAGES = 32, BATCHES = 64 };

struct batch {
    struct link_send link;
    struct service *service;
    uint32_t next; /* of the list that it is in: index + 1 */
    uint16_t node, count;
    struct wire wires[BATCH_MESSAGES];
};

struct service_batches {
    struct batch *all; /* [BATCHES] */
    uint32_t free;     /* list: index + 1 */
    uint32_t open;     /* list of those that messages are added to */
};

void pages_batch_open(struct service_batches *b);

/* Adds the message to the batch for its node. False: all batches are in use, and the caller sends it by itself. */
bool pages_batch_add(struct service *s, const struct wire *w);

/* Sends the open batches. Returns their number. */
unsigned pages_batch_send(struct service *s);

#endif
