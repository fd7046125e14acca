/* room.h: the memory that the node can still give to this process. */
#ifndef HEARTH_NET_ROOM_H
#define HEARTH_NET_ROOM_H

#include <stdint.h>

struct room {
    uint64_t bytes;     /* UINT64_MAX: unknown */
    const char *who;    /* what imposes the limit, for messages */
    const char *advice; /* the remedy, for messages */
};

/* Costs some 100 us. Other processes may take the memory before the caller uses it. */
struct room net_room(void);

/* The same, with the system's files below `root` ("": the real ones); for tests. */
struct room net_room_below(const char *root);

#endif
