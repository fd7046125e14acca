/* shared.c: maps one file in all processes of a node, at one address.
 *
 *      base                                                     base + bytes
 *      | part of 0 | of 1 | 2 |pad| part of 3                 |pad|
 *        each begins at a multiple of 64, or of the page size if it is at least a page long
 *
 * The first member creates the file, maps it at an address that is probably free everywhere (address_picker.c), asks the
 * helper's process to do the same, and tells the others. Each of them opens the file, maps all of it, and requests
 * its own NUMA node for its own part. Then all agree on the outcome:
 *
 *      success             all close the file, except the first member if its backed pages are counted
 *      address in use      all unmap, the first member picks another address, and all retry
 *      any other error     all unmap and close: nothing is left
 *
 * This takes three collective exchanges, or two if the sizes are known, and two more for each address that was in use in
 * another member.
 *
 * The kernel backs a page when it is first touched. So a large allocation takes no longer than a small one, and
 * untouched pages cost no memory. The kernel can neither reserve memory for such a file nor refuse more than there
 * is. So the sizes are checked against the memory limit first (memory_limit.c, reserve.c). If memory runs out nevertheless,
 * the kernel ends the process with a signal that bus.c explains. */
#include "net/shm/shared.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/boot/agree.h"
#include "net/shm/bus.h"
#include "net/shm/mapped.h"
#include "net/shm/numa.h"
#include "net/shm/promise.h"
#include "net/shm/memory_limit.h"
#include "net/shm/address_picker.h"

/* State of one call of net_shared_open. */
struct opening {
    const struct net_boot *boot;
    const struct net_shared_remote *remote;
    struct net_shared *s;
    int file;              /* -1: not open yet */
    bool keeps;            /* the first member keeps it open */
    bool checked;          /* the size is checked against the memory limit */
    const uint64_t *sizes; /* of all members; NULL: they are exchanged */
    unsigned tries;        /* in the first member: addresses tried so far */
};

/* A size for messages. */
struct text {
    char text[32];
};

static struct text size_text(uint64_t bytes) {
    struct text t;
    if (bytes < 1 << 20)
        snprintf(t.text, sizeof t.text, "%llu bytes", (unsigned long long)bytes);
    else
        snprintf(t.text, sizeof t.text, "%.1f MiB", (double)bytes / (1 << 20));
    return t;
}

/* ---- one process: map and unmap ---- */

static int shared_map_at(const struct net_shared_place *place, int file, const char **what) {
    void *base;
    int err = net_memfile_map(file, place->bytes, (void *)(uintptr_t)place->base, 0, &base, what);
    if (err)
        return err;
    net_bus_watch();
    err = net_mapped_add(MAPPED_SHARED, place->base, place->bytes, NULL);
    *what = "list";
    if (err)
        munmap(base, place->bytes);
    return err;
}

static void unmap(const struct net_shared_place *place) {
    net_mapped_remove(MAPPED_SHARED, place->base);
    munmap((void *)(uintptr_t)place->base, place->bytes);
}

/* An address in use is not logged: another one will be tried. */
static int shared_cannot(const struct net_shared_place *place, const char *what, int err) {
    struct memfile_place file = net_memfile_place(&place->address);
    if (err != -EEXIST)
        log_error("shared memory of %s, /proc/%d/fd/%d: cannot %s it at 0x%llx: %s%s",
                  size_text(place->bytes).text, file.process, file.file, what,
                  (unsigned long long)place->base, net_memfile_reason(-err),
                  err == -ENOMEM ? ". Is the address space limited (ulimit -v)?" : net_memfile_hint(-err));
    return err;
}

/* The mapping is as long as the file, so that no address in it lies beyond the end of the file. */
static int shared_find(const struct net_shared_place *place, int *file) {
    const char *what = "use";
    int err = -ESTALE;
    if (net_memfile_place(&place->address).bytes == place->bytes)
        err = net_memfile_find(&place->address, file, &what);
    return err ? shared_cannot(place, what, err) : 0;
}

int net_shared_attach(const struct net_shared_place *place) {
    const char *what;
    int file, err = shared_find(place, &file);
    if (err)
        return err;
    err = shared_map_at(place, file, &what);
    close(file);
    return err ? shared_cannot(place, what, err) : 0;
}

void net_shared_detach(const struct net_shared_place *place) {
    unmap(place);
}

/* ---- the requested sizes ---- */

struct wish {
    uint64_t bytes;
    int64_t status;
};

/* False: the sizes exceed the address space. */
static bool shared_lay_out(struct net_shared *s, const struct wish *wishes, uint64_t page) {
    uint64_t end = 0;
    for (int i = 0; i < s->count; i++) {
        uint64_t bytes = wishes[i].bytes, offset = round_up(end, bytes >= page ? page : 64);
        s->parts[i] = (struct net_part){.offset = offset, .bytes = bytes};
        if (bytes > (uint64_t)INT64_MAX / 2 - offset)
            return false;
        end = offset + bytes;
    }
    s->bytes = round_up(end, page);
    return true;
}

static int too_much(const struct opening *o) {
    if (o->boot->rank == 0)
        log_error("shared memory for %d processes: the sum of their sizes exceeds the address space; ask for "
                  "less",
                  o->boot->size);
    return -EFBIG;
}

static int shared_lay_out_all(struct opening *o, const struct wish *wishes) {
    return shared_lay_out(o->s, wishes, (uint64_t)sysconf(_SC_PAGESIZE)) ? 0 : too_much(o);
}

static int shared_agree_size(struct opening *o, size_t bytes) {
    struct wish mine = {.bytes = bytes, .status = o->s ? 0 : -ENOMEM}, all[o->boot->size];
    if (!o->s)
        log_error("shared memory of %zu bytes: no memory for its description; ask for less", bytes);
    int err = net_boot_gather(o->boot, &mine, all, sizeof mine);
    for (int i = 0; i < o->boot->size && !err; i++)
        err = (int)all[i].status;
    if (err)
        return err;
    return shared_lay_out_all(o, all);
}

static int shared_use_sizes(struct opening *o) {
    struct wish all[o->boot->size];
    for (int i = 0; i < o->boot->size; i++)
        all[i] = (struct wish){.bytes = o->sizes[i]};
    return shared_lay_out_all(o, all);
}

/* ---- the first member ---- */

static int no_room(const struct opening *o, const struct memory_limit *room, int code) {
    log_error("shared memory of %s for %d processes: %s has only %s left, beside %s that are promised to "
              "other jobs; %s",
              size_text(o->s->bytes).text, o->boot->size, room->who, size_text(room->bytes).text,
              size_text(room->promised).text, room->advice);
    return code;
}

/* Small sizes are not checked, as reading the limits would cost more. The bytes are promised before the check: otherwise two jobs that check
 * at the same time could both get memory that suffices for only one. */
static int shared_check_room(struct opening *o) {
    enum { SMALL = 1 << 20 };
    struct memory_limit room;
    if (!o->checked || o->s->bytes < SMALL)
        return 0;
    if (net_room_is_beyond(o->s->bytes, &room))
        return no_room(o, &room, -EFBIG);
    uint64_t id = net_promise_id();
    o->s->promise = net_promise_open(id);
    net_promise_add(o->s->promise, (int64_t)o->s->bytes);
    return net_room_has(id, o->s->bytes, &room) ? 0 : no_room(o, &room, -ENOMEM);
}

static int shared_make_file(struct opening *o) {
    const char *what;
    int err = shared_check_room(o);
    if (err)
        return err;
    err = net_memfile_make(o->s->bytes, &o->file, &o->s->place.address, &what);
    if (err)
        log_error("shared memory for %d processes: %s of %s: %s%s", o->boot->size, what,
                  size_text(o->s->bytes).text, strerror(-err), err == -EMFILE ? net_memfile_hint(-err) : "");
    o->s->place.bytes = o->s->bytes;
    if (!err && o->s->promise) {
        net_promise_file(o->s->promise, &o->s->place.address, 0);
        o->keeps = true; /* other jobs read through the descriptor how much of it is backed */
    }
    return err;
}

static int ask_remote(struct opening *o) {
    int err = o->remote ? o->remote->attach(o->remote->arg, &o->s->place) : 0;
    if (err)
        unmap(&o->s->place);
    else
        o->s->told = o->remote != NULL;
    return err;
}

static int try_address(struct opening *o) {
    struct net_shared_place *place = &o->s->place;
    const char *what = "find room for";
    place->base = net_address_pick(place->bytes, o->tries++);
    int err = place->base ? shared_map_at(place, o->file, &what) : -errno;
    log_trace(LOG_NET, "shared memory of %s: address %llx %s", size_text(place->bytes).text,
              (unsigned long long)place->base, err ? "is not free here" : "is free here");
    if (err)
        return shared_cannot(place, what, err);
    o->s->base = (char *)(uintptr_t)place->base;
    err = ask_remote(o);
    if (err)
        o->s->base = NULL;
    return err;
}

static int no_address(const struct opening *o) {
    log_error("shared memory of %s: no address in %d tries that is free in all of %d processes; is "
              "their address space exhausted or restricted?",
              size_text(o->s->bytes).text, ADDRESS_TRIES, o->boot->size);
    return -EADDRNOTAVAIL;
}

/* Creates the file, the first time, and maps it here and in the helper's process. */
static int lead(struct opening *o) {
    int err = o->file < 0 ? shared_make_file(o) : 0;
    if (err)
        return err;
    while (o->tries < ADDRESS_TRIES) {
        err = try_address(o);
        if (err != -EEXIST)
            return err;
    }
    return no_address(o);
}

/* ---- all members ---- */

/* Without it, the program is only slower. */
static void prefer_own_memory(const struct opening *o) {
    const struct net_part *part = &o->s->parts[o->boot->rank];
    if (part->bytes > 0)
        net_numa_prefer(o->s->base + part->offset, part->bytes);
}

static int follow(struct opening *o) {
    const char *what;
    int err = o->file < 0 ? shared_find(&o->s->place, &o->file) : 0;
    if (err)
        return err;
    err = shared_map_at(&o->s->place, o->file, &what);
    if (err)
        return shared_cannot(&o->s->place, what, err);
    o->s->base = (char *)(uintptr_t)o->s->place.base;
    return 0;
}

static void shared_leave(const struct net_shared_remote *remote, struct net_shared *s) {
    if (s->told)
        remote->detach(remote->arg, &s->place);
    s->told = false;
    if (s->base)
        unmap(&s->place);
    s->base = NULL;
    net_shared_settle(s);
}

struct offer {
    struct net_shared_place place;
    int64_t status;
};

/* Only the first member's contribution counts. */
static int hear(struct opening *o, int status) {
    struct offer mine = {.place = o->s->place, .status = status}, all[o->boot->size];
    int err = net_boot_gather(o->boot, &mine, all, sizeof mine);
    if (err)
        return err;
    o->s->place = all[0].place;
    return (int)all[0].status;
}

/* Tries one address, including the agreement: returns 0, -EEXIST (try another address), or a final error. */
static int try_together(struct opening *o) {
    bool first = o->boot->rank == 0;
    int err = hear(o, first ? lead(o) : 0);
    if (err)
        return err;
    err = net_boot_agree(o->boot, first ? 0 : follow(o));
    log_debug(LOG_NET, "shared memory of %s for %d processes %s %llx", size_text(o->s->bytes).text,
              o->boot->size, err ? "cannot be mapped by all at" : "is mapped at",
              (unsigned long long)o->s->place.base);
    if (err)
        shared_leave(o->remote, o->s);
    else
        prefer_own_memory(o);
    return err;
}

/* Takes part in the exchanges that the others make, without memory for the description. */
static int decline_together(struct opening *o) {
    bool first = o->boot->rank == 0;
    _Alignas(struct net_shared) char space[sizeof *o->s + (size_t)o->boot->size * sizeof o->s->parts[0]];
    struct offer mine = {.status = first ? -ENOMEM : 0}, all[o->boot->size];
    struct opening like = *o;
    log_error("shared memory for %d processes: no memory for its description; ask for less", o->boot->size);
    like.s = memset(space, 0, sizeof space);
    like.s->count = o->boot->size;
    int err = shared_use_sizes(&like);
    if (!err && like.s->bytes)
        err = net_boot_gather(o->boot, &mine, all, sizeof mine);
    if (!err && like.s->bytes)
        err = (int)all[0].status;
    return err ? err : net_boot_agree(o->boot, -ENOMEM);
}

static int open_together(struct opening *o, size_t bytes) {
    if (o->sizes && !o->s)
        return decline_together(o);
    int err = o->sizes ? shared_use_sizes(o) : shared_agree_size(o, bytes);
    if (err || !o->s->bytes)
        return err || !o->sizes ? err : net_boot_agree(o->boot, 0);
    do
        err = try_together(o);
    while (err == -EEXIST);
    bool kept = !err && o->keeps && o->boot->rank == 0;
    if (kept)
        o->s->file = o->file;
    else if (o->file >= 0)
        close(o->file);
    if (!err && o->boot->rank == 0)
        net_address_took(o->s->place.base, o->s->place.bytes);
    return err;
}

static int open_shared(struct opening *o, size_t bytes, struct net_shared **shared) {
    struct net_shared *s = calloc(1, sizeof *s + (size_t)o->boot->size * sizeof s->parts[0]);
    o->s = s;
    o->file = -1;
    if (s) {
        s->count = o->boot->size;
        s->file = -1;
    }
    int err = open_together(o, bytes);
    if (err) {
        if (s) {
            shared_leave(o->remote, s);
            net_promise_close(s->promise);
        }
        free(s);
        return err;
    }
    *shared = s;
    return 0;
}

int net_shared_open(const struct net_boot *boot, size_t bytes, const struct net_shared_remote *remote,
                    struct net_shared **shared) {
    struct opening o = {.boot = boot, .remote = remote, .checked = true};
    return open_shared(&o, bytes, shared);
}

int net_shared_open_sizes(const struct net_boot *boot, const uint64_t sizes[], struct net_shared **shared) {
    struct opening o = {.boot = boot, .checked = true, .sizes = sizes};
    return open_shared(&o, sizes[boot->rank], shared);
}

int net_shared_map(const struct net_boot *boot, size_t bytes, const struct net_shared_remote *remote,
                   struct net_shared **shared) {
    struct opening o = {.boot = boot, .remote = remote, .keeps = true};
    return open_shared(&o, bytes, shared);
}

void net_shared_settle(struct net_shared *s) {
    if (s->file < 0)
        return;
    net_promise_close(s->promise);
    s->promise = NULL;
    close(s->file);
    s->file = -1;
}

void net_shared_leave(const struct net_shared_remote *remote, struct net_shared *s) {
    shared_leave(remote, s);
    free(s);
}

/* After the barrier, no member accesses the memory any more, nor asks the helper to. */
void net_shared_close(const struct net_boot *boot, const struct net_shared_remote *remote,
                      struct net_shared *s) {
    net_boot_barrier(boot);
    net_shared_leave(remote, s);
}

/* ---- lookup ---- */

int net_shared_check(const void *address, size_t bytes, char **base, size_t *size) {
    struct mapped found;
    int err = net_mapped_find(MAPPED_SHARED, (uint64_t)(uintptr_t)address, bytes, &found);
    if (err)
        return err;
    if (base)
        *base = (char *)(uintptr_t)found.base;
    if (size)
        *size = found.bytes;
    return 0;
}
