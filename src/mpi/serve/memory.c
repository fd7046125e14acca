/* memory.c: the list of the memory that was allocated with served windows and is mapped here. Memory that another process
 * names is looked up by its id, not by its address: the same address may hold something else here. */
#include "mpi/serve/memory.h"

#include <stdlib.h>

#include "mpi/serve/served.h"

struct served_memory {
    uint64_t id;
    struct net_shared *shared;
    struct serve_card *owners; /* of the parts */
    int users;
    struct served_memory *next;
};

static struct served_memory *memories; /* serve_lock guards it */

struct served_memory *serve_memory_open(uint64_t id, struct net_shared *shared, struct serve_card owners[]) {
    struct served_memory *m = malloc(sizeof *m);
    struct serve_card *copy = malloc((size_t)shared->count * sizeof *copy);
    if (!m || !copy) {
        free(m);
        free(copy);
        return NULL;
    }
    memcpy(copy, owners, (size_t)shared->count * sizeof *copy);
    *m = (struct served_memory){.id = id, .shared = shared, .owners = copy, .users = 1};
    serve_lock();
    m->next = memories;
    memories = m;
    serve_unlock();
    return m;
}

void serve_memory_leave(struct served_memory *m) {
    serve_lock();
    struct served_memory **link = &memories;
    bool last = --m->users == 0;
    while (last && *link != m)
        link = &(*link)->next;
    if (last)
        *link = m->next;
    serve_unlock();
    if (!last)
        return;
    net_shared_leave(NULL, m->shared);
    free(m->owners);
    free(m);
}

struct served_memory *serve_memory_use(uint64_t id) {
    serve_lock();
    struct served_memory *m = memories;
    while (m && m->id != id)
        m = m->next;
    if (m)
        m->users++;
    serve_unlock();
    return m;
}

static int part_of(const struct net_shared *s, const char *base, uint64_t bytes) {
    for (int i = 0; i < s->count; i++) {
        const char *part = s->base + s->parts[i].offset;
        if (base >= part && bytes <= s->parts[i].bytes &&
            (uint64_t)(base - part) <= s->parts[i].bytes - bytes)
            return i;
    }
    return -1;
}

bool serve_memory_find(const void *base, uint64_t bytes, uint64_t *id, struct serve_card *owner) {
    bool found = false;
    serve_lock();
    for (struct served_memory *m = memories; m && !found; m = m->next) {
        int part = part_of(m->shared, base, bytes);
        found = part >= 0;
        if (found) {
            *id = m->id;
            *owner = m->owners[part];
        }
    }
    serve_unlock();
    return found;
}
