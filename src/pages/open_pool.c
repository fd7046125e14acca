/* open_pool.c: opens the page pool of a node: its leader chooses the size and makes the memory, the other processes map it. */
#include <errno.h>

#include "base/log.h"
#include "base/settings.h"
#include "pages/pages_internal.h"

static uint64_t pages_of_all(const struct pages_agreed *all, int size) {
    uint64_t pages = 0;
    for (int i = 0; i < size; i++)
        pages += all[i].bytes / all[i].page_bytes;
    return pages;
}

static int choose_frames(const struct pages *p, const struct pages_agreed *all, uint32_t *frames) {
    uint64_t page = all[0].page_bytes, asked = settings_get()->pool_size;
    uint32_t least = pages_pool_least_frames(p->world->local_count);
    uint64_t count = asked / page;
    if (asked == 0) {
        uint64_t enough = pages_of_all(all, p->world->size) + least,
                 quarter = net_memory_limit().bytes / 4 / page;
        count = quarter < enough ? quarter : enough;
        count = count < least ? least : count;
    }
    if (count < least) {
        log_error("HEARTH_POOL_SIZE=%llu: %d ranks on a node need at least %u pages of %llu bytes: %llu",
                  (unsigned long long)asked, p->world->local_count, least, (unsigned long long)page,
                  (unsigned long long)(least * page));
        return -EINVAL;
    }
    *frames = (uint32_t)(count < UINT32_MAX / 8 ? count : UINT32_MAX / 8);
    return 0;
}

static int pool_complain(const char *what, uint64_t bytes, int status) {
    log_error("pages: the pool of %llu bytes: %s: %s; %s", (unsigned long long)bytes, what,
              net_memfile_reason(-status),
              status == -ENOMEM || status == -ENOSPC ? "set HEARTH_POOL_SIZE lower"
                                                     : net_memfile_hint(-status));
    return status;
}

static int make_memory(struct pages *p, uint64_t bytes, struct net_address *address) {
    const char *what = "cannot be made";
    struct memory_limit room = net_memory_limit();
    if (bytes > room.bytes) {
        log_error("pages: the pool takes %llu bytes, and %s has %llu left: set HEARTH_POOL_SIZE lower",
                  (unsigned long long)bytes, room.who, (unsigned long long)room.bytes);
        return -ENOMEM;
    }
    int status = net_memfile_make(bytes, &p->file, address, &what);
    if (status == 0)
        status = net_memfile_fill(p->file, 0, bytes, &what);
    return status ? pool_complain(what, bytes, status) : 0;
}

static int map_memory(struct pages *p, uint64_t bytes, const struct net_address *address) {
    const char *what = "cannot be found";
    int status = p->file >= 0 ? 0 : net_memfile_find(address, &p->file, &what);
    if (status == 0)
        status = net_memfile_map(p->file, bytes, NULL, 0, &p->memory, &what);
    p->memory_bytes = bytes;
    return status ? pool_complain(what, bytes, status) : 0;
}

struct pool_place {
    struct net_address address;
    uint32_t frames;
};

/* Distributes the leader's values within its node, through shared memory. */
static int tell_node(struct pages *p, const struct net_boot *boot, struct pool_place *place) {
    struct pool_place *board = net_world_share(p->world, boot, sizeof *board);
    if (!board)
        return -ENOMEM;
    if (p->world->local == 0)
        *board = *place;
    int status = net_boot_barrier(boot);
    *place = *board;
    return status;
}

int pages_open_pool(struct pages *p, const struct net_boot *boot, const struct pages_agreed *all) {
    struct net_world *w = p->world;
    struct pool_place place = {0};
    size_t page = all[0].page_bytes;
    uint32_t small = (uint32_t)all[0].small;
    int status = w->local == 0 ? choose_frames(p, all, &place.frames) : 0;
    if (status == 0 && w->local == 0)
        status = make_memory(p, place.frames * page, &place.address);
    status = net_boot_agree(boot, status);
    if (status == 0)
        status = tell_node(p, boot, &place);
    if (status == 0)
        status = net_boot_agree(boot, map_memory(p, place.frames * page, &place.address));
    if (status != 0)
        return status;
    struct pool_shared *shared =
        net_world_share(w, boot, pages_pool_shared_bytes(place.frames, w->local_count, small));
    void *box = net_world_share(w, boot, net_mailbox_bytes(w->local_count));
    if (!shared || !box)
        return -ENOMEM;
    if (w->local == 0) {
        pages_pool_make(shared, place.frames, page, w->local_count, small, (uint16_t)w->node,
                        all[0].coop ? (uint16_t)w->nodes : 1,
                        (enum replace_policy)settings_get()->replacement);
        status = net_mailbox_make(box, w->local_count, &p->service_box);
    }
    status = net_boot_agree(boot, status);
    if (status == 0)
        status = net_boot_agree(boot, net_mailbox_join(box, w->local, &p->box));
    if (status == 0)
        pages_pool_attach(&p->pool, shared, p->memory, p->file, p->box);
    return status;
}
