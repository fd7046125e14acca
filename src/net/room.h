/* room.h: how much memory the node could still give to this process. */
#ifndef HEARTH_NET_ROOM_H
#define HEARTH_NET_ROOM_H

#include <stdint.h>

struct room {
    uint64_t bytes;     /* UINT64_MAX: not known */
    const char *who;    /* limits it, for people */
    const char *advice; /* and what to do, likewise */
};

/* Costs some 100 us. Between the answer and the use others may take it. */
struct room net_room(void);

/* The same, with the system's files below `root` ("": the real ones); for tests. */
struct room net_room_below(const char *root);

#endif
