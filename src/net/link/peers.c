/* peers.c: adds peers to the hash table, which doubles when it would be more than half full. */
#include "net/link/peers.h"

#include <errno.h>

enum { FIRST = 16 };

void net_peers_add(struct peers *t, uint64_t name, void *peer) {
    uint32_t i = net_peers_start(t, name);
    while (t->slots[i].peer)
        i = (i + 1) & t->mask;
    t->slots[i] = (struct peers_slot){.name = name, .peer = peer};
    t->used++;
}

static int peers_grow(struct peers *t) {
    uint32_t count = t->slots ? (t->mask + 1) * 2 : FIRST;
    struct peers larger = {.slots = calloc(count, sizeof *larger.slots), .mask = count - 1};
    if (!larger.slots)
        return -ENOMEM;
    for (uint32_t i = 0; t->slots && i <= t->mask; i++)
        if (t->slots[i].peer)
            net_peers_add(&larger, t->slots[i].name, t->slots[i].peer);
    free(t->slots);
    *t = larger;
    return 0;
}

int net_peers_reserve(struct peers *t) {
    return !t->slots || t->used * 2 > t->mask ? peers_grow(t) : 0;
}

void net_peers_close(struct peers *t) {
    free(t->slots);
    *t = (struct peers){0};
}
