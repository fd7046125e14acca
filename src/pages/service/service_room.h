/* service_room.h: space on the NVM for a checkpoint. */
#ifndef HEARTH_PAGES_SERVICE_ROOM_H
#define HEARTH_PAGES_SERVICE_ROOM_H

#include "pages/protocol/protocol.h"

struct service;

/* ORDER_RESERVE. */
struct service_room {
    uint32_t next, asked; /* the next frame to inspect; outstanding answers */
    int status;
};

/* Continues ORDER_RESERVE. Returns whether it is done, and its result. */
bool pages_room_for_all(struct service *s, int *status);
void pages_room_take(struct service *s, const struct pages_message *m);

#endif
