/* memory.c: the list of the memory that is mapped here and in other processes. Memory that another process names is looked
 * up by its id, not by its address: the same address may hold something else here. */
#include "mpi/windows/serving/state/memory.h"

#include <stdlib.h>

#include "mpi/windows/serving/state/served.h"

struct served_memory {
    uint64_t id;
    struct net_shared *shared;     /* NULL: it was attached, and is one part of its owner's */
    struct net_shared_place place; /* bytes 0: others cannot attach it */
    struct serve_card *owners;     /* of the parts */
    int users;
    struct served_memory *next;
};

static struct served_memory *memories; /* serve_lock guards it */

static struct served_memory *memory_add(const struct served_memory *like, const struct serve_card *owners,
                                        size_t count) {
    struct served_memory *m = malloc(sizeof *m);
    struct serve_card *copy = malloc(count * sizeof *copy);
    if (!m || !copy) {
        free(m);
        free(copy);
        return NULL;
    }
    memcpy(copy, owners, count * sizeof *copy);
    *m = *like;
    m->owners = copy;
    m->users = 1;
    serve_lock();
    m->next = memories;
    memories = m;
    serve_unlock();
    return m;
}

struct served_memory *serve_memory_open(uint64_t id, struct net_shared *shared, struct serve_card owners[]) {
    return memory_add(&(struct served_memory){.id = id, .shared = shared}, owners, (size_t)shared->count);
}

struct served_memory *serve_memory_publish(uint64_t id, struct net_shared *shared, struct serve_card *owner) {
    return memory_add(&(struct served_memory){.id = id, .shared = shared, .place = shared->place}, owner, 1);
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
    if (m->shared)
        net_shared_leave(NULL, m->shared);
    else
        net_shared_detach(&m->place);
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

/* Two threads may attach the same memory at once: the second then finds the address in use. */
struct served_memory *serve_memory_attach(const struct serve_memory_name *name) {
    struct served_memory *m = serve_memory_use(name->id);
    if (m || !name->place.bytes)
        return m;
    if (net_shared_attach(&name->place) != 0)
        return serve_memory_use(name->id);
    m = memory_add(&(struct served_memory){.id = name->id, .place = name->place}, &name->owner, 1);
    if (!m)
        net_shared_detach(&name->place);
    return m;
}

static bool is_inside(const char *part, uint64_t part_bytes, const char *base, uint64_t bytes) {
    return base >= part && bytes <= part_bytes && (uint64_t)(base - part) <= part_bytes - bytes;
}

static int part_of(const struct served_memory *m, const char *base, uint64_t bytes) {
    const struct net_shared *s = m->shared;
    if (!s)
        return is_inside((const char *)(uintptr_t)m->place.base, m->place.bytes, base, bytes) ? 0 : -1;
    for (int i = 0; i < s->count; i++)
        if (is_inside(s->base + s->parts[i].offset, s->parts[i].bytes, base, bytes))
            return i;
    return -1;
}

bool serve_memory_find(const void *base, uint64_t bytes, struct serve_memory_name *name) {
    bool found = false;
    serve_lock();
    for (struct served_memory *m = memories; m && !found; m = m->next) {
        int part = part_of(m, base, bytes);
        found = part >= 0;
        if (found)
            *name = (struct serve_memory_name){.id = m->id, .owner = m->owners[part], .place = m->place};
    }
    serve_unlock();
    return found;
}
