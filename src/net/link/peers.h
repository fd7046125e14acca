/* peers.h: finds a peer by its key (an endpoint, or a rank and a port). A hash table with open addressing, never
 * more than half full. Peers are added and never removed. Single-threaded. */
#ifndef HEARTH_NET_LINK_PEERS_H
#define HEARTH_NET_LINK_PEERS_H

#include <stdint.h>
#include <stdlib.h>

struct peers_slot {
    uint64_t name;
    void *peer; /* NULL: free */
};

struct peers {
    struct peers_slot *slots;
    uint32_t mask, used; /* number of slots, a power of two, minus 1; and of peers */
};

static inline uint32_t net_peers_start(const struct peers *t, uint64_t name) {
    return (uint32_t)((name * 0x9e3779b97f4a7c15u) >> 32) & t->mask;
}

/* NULL: not found. */
static inline void *net_peers_find(const struct peers *t, uint64_t name) {
    if (!t->slots)
        return NULL;
    for (uint32_t i = net_peers_start(t, name); t->slots[i].peer; i = (i + 1) & t->mask)
        if (t->slots[i].name == name)
            return t->slots[i].peer;
    return NULL;
}

/* Room for one more: returns 0 or -ENOMEM. Then a peer can be added whose key is not in the table. */
int net_peers_reserve(struct peers *t);
void net_peers_add(struct peers *t, uint64_t name, void *peer);
void net_peers_close(struct peers *t);

#endif
