/* memory_limit.h: the memory that the node can still give to this process. */
#ifndef HEARTH_NET_MEMORY_LIMIT_H
#define HEARTH_NET_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct memory_limit {
    uint64_t bytes;     /* UINT64_MAX: unknown */
    const char *who;    /* what imposes the limit, for messages */
    const char *advice; /* the remedy, for messages */
    uint64_t promised;  /* to other jobs of this user and not yet touched; already subtracted from `bytes` */
};

/* Costs some 100 us. Other processes may take the memory before the caller uses it. */
struct memory_limit net_memory_limit(void);

/* The same for the account with this id (promise.h), whose own promises do not count as others'. */
struct memory_limit net_room_for(uint64_t promise_id);

/* Whether there is room for so many bytes, which the account has promised already. If false, *room is the limit. Any
 * thread. Most calls take no time: the limit is read again after a second, or when this process was promised more than an
 * eighth of it since. */
bool net_room_has(uint64_t promise_id, uint64_t bytes, struct memory_limit *room);

/* Whether so many bytes are more than the system has left, whatever others were promised. To be asked before they are
 * promised: a promise that nobody can keep makes the requests of all other jobs fail until it is withdrawn. Only large
 * requests take time. If true, *room is the limit. */
bool net_room_is_beyond(uint64_t bytes, struct memory_limit *room);

/* The system's limit, without promises, from the files below `root`; "": those of this system. */
struct memory_limit net_memory_limit_below(const char *root);

#endif
