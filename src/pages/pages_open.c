/* pages_open.c: collective opening and closing of the segments.
 *
 * Order: sizes, on which all ranks agree; the pool, created by the leader of each node and mapped by the others; the
 * files; the address range of each segment in its own process; last the service, which other nodes may contact from
 * then on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/settings.h"
#include "observe/live.h"
#include "pages/pages_internal.h"
#include "pages/small.h"

/* ---- settings that must be the same on all ranks ---- */

static const char *differing(const struct pages_agreed *a, const struct pages_agreed *b) {
    return a->page_bytes != b->page_bytes ? "HEARTH_PAGE_SIZE"
           : a->small != b->small         ? "HEARTH_REMOTE_OP_MAX"
           : a->coop != b->coop           ? "HEARTH_COOP"
           : a->named != b->named         ? "HEARTH_NVM_NAME"
           : a->epoch != b->epoch         ? "HEARTH_NVM_EPOCH"
                                          : NULL;
}

/* One line for all nodes whose folder is missing. */
static int segment_check_folder(const struct net_boot *boot, const struct pages_agreed *all) {
    int first = -1, count = 0;
    for (int i = boot->size; i--;)
        if (all[i].folder_error) {
            first = i;
            count++;
        }
    if (boot->rank == first)
        log_error("cannot open the folder %s for segments: %s. Choose a folder in which you may write "
                  "(HEARTH_NVM_DIR); so it is on "
                  "%d of %d ranks",
                  pages_folder(), strerror((int)all[first].folder_error), count, boot->size);
    return first < 0 ? 0 : -ENOTDIR;
}

static uint64_t folder_error(void) {
    struct stat st;
    return (uint64_t)(stat(pages_folder(), &st) ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR);
}

static int segment_check_shape(const struct net_boot *boot, const struct pages_agreed *all) {
    size_t page = all[boot->rank].page_bytes;
    if (page & (page - 1)) {
        log_error("HEARTH_PAGE_SIZE=%zu is not a power of 2", page);
        return -EINVAL;
    }
    for (int i = 1; i < boot->size; i++) {
        const char *name = differing(&all[0], &all[i]);
        if (name && boot->rank == 0)
            log_error("ranks 0 and %d have different values of %s: give all ranks the same", i, name);
        if (name)
            return -EINVAL;
    }
    if (!all[0].named && all[0].epoch && boot->rank == 0)
        log_warn("HEARTH_NVM_EPOCH=%llu has no effect: segments without a name (HEARTH_NVM_NAME) have no "
                 "checkpoints",
                 (unsigned long long)all[0].epoch);
    return segment_check_folder(boot, all);
}

static struct pages_agreed own_shape(uint64_t bytes) {
    const struct settings *set = settings_get();
    return (struct pages_agreed){.page_bytes = set->page_size,
                                 .small = set->remote_op_max,
                                 .coop = (uint64_t)set->coop,
                                 .named = *set->nvm_name != 0,
                                 .epoch = pages_chosen_epoch(),
                                 .folder_error = folder_error(),
                                 .bytes = round_up(bytes, set->page_size)};
}

/* ---- segments ---- */

static int number_pages(struct pages *p, const struct pages_agreed *all, struct pages_segment *segments) {
    struct net_world *w = p->world;
    for (int node = 0; node < w->nodes; node++) {
        uint64_t first = 0;
        for (int local = 0; local < net_world_count(w, node); local++) {
            int rank = net_world_member(w, node, local);
            segments[rank].bytes = all[rank].bytes;
            segments[rank].home = (uint16_t)node;
            segments[rank].first = (uint32_t)first;
            first += all[rank].bytes >> p->shift;
        }
        if (first >= UINT32_MAX) {
            log_error("the segments of node %d have more than 2^32 pages: set HEARTH_PAGE_SIZE higher", node);
            return -EINVAL;
        }
    }
    return 0;
}

/* A page that a load or store fetched stays mapped for this long. */
enum { RESIDENCY_NS = 100000 };

static int open_local(struct pages *p, const struct pages_segment *mine) {
    const struct settings *set = settings_get();
    struct local_options options = {.bytes = mine->bytes,
                                    .home = mine->home,
                                    .first_page = mine->first,
                                    .rank = p->world->local,
                                    .userfault = set->local_access == LOCAL_USERFAULT,
                                    .stay_ns = RESIDENCY_NS,
                                    .ahead = &p->ahead,
                                    .ahead_most = p->ahead_most,
                                    .faults = &p->tally.faults,
                                    .write_faults = &p->tally.write_faults};
    char *base = NULL;
    int status = mine->bytes > 0 ? pages_local_open(&p->pool, &options, &p->local, &base) : 0;
    p->base = (uint64_t)(uintptr_t)base;
    p->bytes = mine->bytes;
    return status;
}

static int open_segments(struct pages *p, const struct net_boot *boot, const struct pages_agreed *all) {
    struct net_world *w = p->world;
    struct pages_segment *table = net_world_share(w, boot, (size_t)w->size * sizeof *table);
    uint64_t *bases = malloc((size_t)w->size * sizeof *bases);
    int status = net_agree_on_memory(boot, table && bases, "the segments");
    if (status == 0)
        status = net_boot_agree(boot, w->local == 0 ? number_pages(p, all, table) : 0);
    if (status == 0)
        status = net_boot_agree(boot, open_local(p, &table[w->rank]));
    if (status == 0)
        status = net_boot_gather(boot, &p->base, bases, sizeof *bases);
    for (int i = 0; status == 0 && w->local == 0 && i < w->size; i++)
        table[i].base = bases[i];
    free(bases);
    p->segments = table;
    return net_boot_agree(boot, status);
}

/* ---- files and service ---- */

static int open_homes(struct pages *p, const struct net_boot *boot, const struct pages_agreed *all) {
    struct net_world *w = p->world;
    uint64_t *bytes = malloc((size_t)w->size * sizeof *bytes);
    p->homes = w->local == 0 ? calloc((size_t)w->local_count, sizeof *p->homes) : NULL;
    int status = net_agree_on_memory(boot, bytes && (p->homes || w->local != 0), "the files");
    for (int i = 0; status == 0 && i < w->size; i++)
        bytes[i] = all[i].bytes;
    if (status == 0)
        status = pages_open_stores(p, boot, bytes, &p->found, &p->tried);
    p->epoch = p->found;
    free(bytes);
    return status;
}

static void segment_on_failure(void *pages, int node, const char *why) {
    struct pages *p = pages;
    if (node >= 0)
        pages_service_fail(&p->service,
                           "node %d cannot be reached any more (%s); data that only it held is lost", node,
                           why);
    else
        pages_service_fail(&p->service,
                           "a node cannot be reached any more (%s); data that only it held is lost", why);
}

static void segment_on_arrival(void *pages, const void *header, size_t header_bytes, const void *payload,
                               size_t bytes) {
    struct pages *p = pages;
    pages_service_arrived(&p->service, header, header_bytes, payload, bytes);
}

static void *segment_place(void *pages, const void *header, size_t header_bytes, size_t bytes) {
    struct pages *p = pages;
    return pages_service_place(&p->service, header, header_bytes, bytes);
}

static int start_service(struct pages *p) {
    struct net_world *w = p->world;
    if (w->local != 0)
        return 0;
    struct service_options options = {.pool = &p->pool,
                                      .world = w,
                                      .channel = p->channel,
                                      .events = p->events,
                                      .homes = p->homes,
                                      .box = p->service_box};
    for (int i = 0; i < w->local_count; i++) {
        const struct pages_segment *s = &p->segments[net_world_member(w, w->node, i)];
        p->homes[i].first = s->first;
        p->homes[i].pages = (uint32_t)(s->bytes >> p->shift);
        options.pages += p->homes[i].pages;
    }
    int status = pages_service_open(&p->service, &options);
    if (status != 0)
        return status;
    p->serves = true;
    p->pool.service = &p->service;
    atomic_store_explicit(&p->pool.work_until, pages_progress_work_until, memory_order_release);
    return pages_service_start(&p->service);
}

/* ---- all of it ---- */

static void segment_close_all(struct pages *p) {
    pages_hide(p);
    if (p->local)
        pages_local_close(p->local);
    if (p->serves)
        pages_service_stop(&p->service);
    if (p->ends)
        return;
    if (p->serves)
        pages_service_close(&p->service);
    net_mailbox_close(p->box);
    net_mailbox_close(p->service_box);
    free(p->homes);
    if (p->memory)
        munmap(p->memory, p->memory_bytes);
    if (p->file >= 0)
        close(p->file);
    pages_hints_close(&p->hints);
    pthread_mutex_destroy(&p->small_lock);
    live_free(p);
}

static struct pages *segment_make(struct net_world *world, const struct pages_events *events) {
    const struct settings *set = settings_get();
    struct pages *p = live_alloc(sizeof *p);
    if (!p)
        return NULL;
    p->world = world;
    p->events = *events;
    p->file = -1;
    p->shift = (unsigned)__builtin_ctzll(set->page_size);
    p->small = set->remote_op_max;
    p->ahead_most = (unsigned)set->pages_ahead;
    p->named = *set->nvm_name != 0;
    pages_hints_open(&p->hints);
    pthread_mutex_init(&p->small_lock, NULL);
    return p;
}

static size_t largest_message(const struct pages *p) {
    size_t page = p->pool.page_bytes;
    if (page < SERVICE_MESSAGE)
        return SERVICE_MESSAGE;
    return page < SERVICE_PIECE ? page : SERVICE_PIECE;
}

static int segment_open_all(struct pages *p, const struct net_boot *boot, const void *comm,
                            const struct pages_agreed *all) {
    struct net_channel_events events = {
        .arg = p, .arrived = segment_on_arrival, .place = segment_place, .failed = segment_on_failure};
    int status = segment_check_shape(boot, all);
    if (status == 0)
        status = pages_open_pool(p, boot, all);
    if (status == 0)
        status = open_homes(p, boot, all);
    if (status == 0)
        status = open_segments(p, boot, all);
    if (status == 0)
        status = net_channel_open(boot, p->world, largest_message(p), SERVICE_IN_PLACE, comm, &events,
                                  &p->channel);
    if (status != 0)
        return status;
    status = net_boot_agree(boot, start_service(p));
    if (status != 0) { /* all services stop before the network is closed */
        if (p->serves)
            pages_service_stop(&p->service);
        net_channel_close(p->channel, boot);
    }
    return status;
}

int pages_open(const struct net_boot *boot, struct net_world *world, const void *comm, uint64_t bytes,
               const struct pages_events *events, struct pages **pages) {
    struct pages_agreed mine = own_shape(bytes), *all = malloc((size_t)boot->size * sizeof *all);
    struct pages *p = segment_make(world, events);
    int status = net_agree_on_memory(boot, p && all, "the shape of the segments");
    if (status == 0)
        status = net_boot_gather(boot, &mine, all, sizeof mine);
    if (status == 0)
        status = segment_open_all(p, boot, comm, all);
    free(all);
    if (status == 0) {
        log_debug(
            LOG_PAGES,
            "segments are open: %llu bytes here in pages of %llu, up to %u pages read ahead; the service %s",
            (unsigned long long)bytes, 1ull << p->shift, p->ahead_most,
            p->serves ? "of this node runs here" : "runs in another process of the node");
        pages_show(p);
        *pages = p;
    } else if (p) {
        pages_forget_stores(p);
        pages_close_stores(p, false);
        segment_close_all(p);
    }
    return status;
}

void pages_end(struct pages *p) {
    p->ends = true;
    if (p->local)
        pages_local_end(p->local);
}

/* The files stay as they were. Files without a checkpoint are removed, as the next job would refuse them. */
static void give_up_changes(struct pages *p) {
    if (p->world->rank == 0 && p->epoch > 0)
        log_warn(
            "segments %s: not all ranks ended with success: data written since checkpoint %llu is not kept",
            settings_get()->nvm_name, (unsigned long long)p->epoch);
    else if (p->world->rank == 0)
        log_warn(
            "segments %s: not all ranks ended with success, and no checkpoint was made: they are not kept",
            settings_get()->nvm_name);
    if (p->epoch == 0)
        pages_forget_stores(p);
}

/* Without any checkpoint, the next job would refuse the files. */
static int keep_changes(struct pages *p, const struct net_boot *boot) {
    uint64_t epoch;
    int status = pages_checkpoint(p, boot, &epoch);
    if (status == 0 || p->epoch > 0 || p->is_unsure)
        return status;
    if (p->world->rank == 0)
        log_warn("segments %s: the checkpoint at the end failed, and there is no other: they are not kept",
                 settings_get()->nvm_name);
    pages_forget_stores(p);
    return status;
}

/* Everything under way ends before any service stops. Threads that still read are held and never released. */
int pages_close(struct pages *p, const struct net_boot *boot, bool keep) {
    pages_small_forget(p);
    p->closes = true;
    int status = net_boot_barrier(boot);
    if (status == 0 && p->serves)
        status = pages_service_order(p->box, ORDER_HOLD, true);
    if (status == 0 && p->serves) /* unwritten pages matter to a checkpoint only */
        (void)pages_service_order(p->box, ORDER_IDLE, 0);
    status = net_boot_agree(boot, status);
    if (p->named && !keep)
        give_up_changes(p);
    else if (p->named && status == 0)
        status = keep_changes(p, boot);
    if (p->local) /* the service still uses its mapper */
        pages_local_close(p->local);
    p->local = NULL;
    net_boot_barrier(boot);
    if (p->serves)
        pages_service_stop(&p->service);
    net_channel_close(p->channel, boot);
    int closed = pages_close_stores(p, keep && status == 0);
    segment_close_all(p);
    return net_boot_agree(boot, status ? status : closed);
}

char *pages_base(const struct pages *p, int rank) {
    return (char *)(uintptr_t)p->segments[rank].base;
}

uint64_t pages_bytes(const struct pages *p, int rank) {
    return p->segments[rank].bytes;
}

uint64_t pages_epoch(const struct pages *p) {
    return p->found;
}

uint64_t pages_last_epoch(const struct pages *p) {
    return p->epoch;
}
