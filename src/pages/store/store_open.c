/* store_open.c: opening and closing a store: its options, its memory, its file, the I/O engine. The store and all of its
 * arrays are one allocation, so that nothing is allocated while pages are read and written. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "pages/store/store_disk.h"
#include "pages/store/store_internal.h"

static const char *wrong_options(const struct store_options *o) {
    size_t page = o->page_bytes;
    if (page < STORE_SMALLEST_PAGE || page > STORE_LARGEST_PAGE || (page & (page - 1)))
        return "a page must be a power of two from 4 KiB to 4 MiB";
    if (!o->bytes || o->bytes > INT64_MAX / 4 - STORE_LARGEST_PAGE * 4ull)
        return "a segment of this size is not supported";
    if (!o->depth || o->depth > STORE_DEEPEST || o->threads > STORE_MOST_THREADS)
        return "too few or too many requests at a time, or too many threads";
    if (o->rank < 0 || o->rank >= o->ranks)
        return "there is no such rank";
    if (o->kind != STORE_TEMPORARY &&
        (!o->name || !o->name[0] || o->name[0] == '.' || strchr(o->name, '/') || strlen(o->name) > 200))
        return "a name must not be empty, too long, begin with a dot, or contain a slash";
    return NULL;
}

static void take_options(struct store *s, const struct store_options *o) {
    s->is_ready = o->kind != STORE_AGAIN;
    s->page_bytes = o->page_bytes;
    s->bytes = o->bytes;
    s->rank = o->rank;
    s->ranks = o->ranks;
    s->depth = o->depth;
    pages_store_set_layout(s, o->kind != STORE_TEMPORARY);
}

static void set_label(struct store *s, const struct store_options *o) {
    if (s->is_named)
        snprintf(s->label, sizeof s->label, "the segment %s/%s.%d", o->folder, o->name, o->rank);
    else
        snprintf(s->label, sizeof s->label, "the temporary segment of rank %d in %s", o->rank, o->folder);
}

/* The next part of the store's memory, in whole blocks. */
static void *store_cut(char **from, size_t bytes) {
    char *part = *from;
    *from += round_up(bytes, RECORD_BYTES);
    return part;
}

static size_t store_fixed_bytes(const struct store *s) {
    return round_up(sizeof *s, RECORD_BYTES) + round_up(s->depth * sizeof *s->requests, RECORD_BYTES) +
           round_up(s->depth * sizeof *s->busy, RECORD_BYTES) + RECORDS * RECORD_BYTES +
           round_up(s->sums_at, RECORD_BYTES) + s->page_bytes;
}

static void share_out(struct store *s) {
    char *at = s->memory.base;
    store_cut(&at, sizeof *s);
    s->requests = store_cut(&at, s->depth * sizeof *s->requests);
    s->busy = store_cut(&at, s->depth * sizeof *s->busy);
    s->block = store_cut(&at, RECORDS * RECORD_BYTES);
    s->lost = store_cut(&at, s->sums_at);
    s->spare = store_cut(&at, s->page_bytes);
    s->current = store_cut(&at, s->table_bytes);
    for (int i = 0; i < STORE_TABLES && s->is_named; i++)
        s->kept[i].image = store_cut(&at, s->table_bytes);
    for (unsigned i = s->depth; i-- > 0;) {
        s->busy[i] = STORE_NOBODY;
        s->requests[i].next = s->unused;
        s->unused = &s->requests[i];
    }
}

/* One allocation, with the store itself at its start. */
static int store_make(const struct store_options *o, struct store **store) {
    struct store plan = {.file = -1};
    take_options(&plan, o);
    set_label(&plan, o);
    size_t tables = (plan.is_named ? 1 + STORE_TABLES : 1) * plan.table_bytes;
    int err = memory_open(&plan.memory, store_fixed_bytes(&plan) + tables, NULL);
    if (err) {
        log_error("no memory for the table of pages of %s; larger pages need less", plan.label);
        return err;
    }
    *store = plan.memory.base;
    **store = plan;
    share_out(*store);
    return 0;
}

static int store_open_engine(struct store *s, const struct store_options *o) {
    unsigned threads = o->threads ? o->threads : 1;
    int err = o->engine == STORE_THREADS ? -ENOSYS : pages_store_uring_open(s->file, s->depth, &s->engine);
    if (err && o->engine != STORE_URING) {
        if (o->engine == STORE_AUTO)
            log_info(LOG_PAGES, "io_uring is not available (%s): using threads for %s", strerror(-err),
                     s->label);
        err = pages_store_threads_open(s->file, threads, &s->engine);
    }
    if (err) {
        log_error("cannot start %s for %s: %s%s", o->engine == STORE_URING ? "io_uring" : "threads", s->label,
                  err == -ENOTSUP ? "this build has no liburing (liburing-dev)" : strerror(-err),
                  o->engine == STORE_URING ? "; set HEARTH_NVM_ENGINE=auto" : "");
        return err;
    }
    err = pages_throttle_open(&s->throttle, o->throttle, s->engine->descriptor);
    if (err)
        log_error("cannot throttle %s: %s", s->label, strerror(-err));
    return err;
}

static void store_release(struct store *s) {
    struct memory memory = s->memory;
    if (s->engine) {
        pages_throttle_close(&s->throttle);
        s->engine->close(s->engine);
    }
    if (s->file >= 0) {
        pages_disk_unlock(s->file);
        close(s->file);
    }
    memory_close(&memory);
}

static int store_open_all(struct store *s, const struct store_options *o, struct store_found *found) {
    int err = pages_store_file_open(s, o);
    if (err)
        return err;
    if (o->kind == STORE_AGAIN)
        err = pages_store_epoch_find(s, found);
    if (!err)
        err = store_open_engine(s, o);
    if (err && o->kind == STORE_NEW)
        pages_store_forget(o);
    return err;
}

int pages_store_open(const struct store_options *o, struct store **store, struct store_found *found) {
    struct store *s;
    struct store_found ignored;
    const char *wrong = wrong_options(o);
    if (wrong) {
        log_error("cannot open a segment in %s: %s", o->folder, wrong);
        return -EINVAL;
    }
    int err = store_make(o, &s);
    if (err)
        return err;
    err = store_open_all(s, o, found ? found : &ignored);
    if (err) {
        store_release(s);
        return err;
    }
    s->facts.engine = s->engine->name;
    s->facts.direct = s->is_direct;
    log_debug(LOG_PAGES, "%s is open: by %s, %s the page cache of the system, %u requests at once", s->label,
              s->engine->name, s->is_direct ? "past" : "through", s->depth);
    *store = s;
    return 0;
}

/* Waits for the requests under way: the system accesses the callers' buffers until they are complete. */
static void store_drain(struct store *s) {
    enum { BATCH = 32 };
    struct store_done done[BATCH];
    while (s->on_way) {
        struct pollfd sleep = {.fd = pages_store_descriptor(s), .events = POLLIN};
        if (!pages_store_poll(s, done, BATCH) && !pages_store_arm(s))
            (void)poll(&sleep, 1, -1);
    }
}

int pages_store_close(struct store *s) {
    if (!s)
        return 0;
    store_drain(s);
    int err = pages_store_epoch_end(s);
    if (s->facts.failures > 1)
        log_warn("%" PRIu64 " requests to %s have failed", s->facts.failures, s->label);
    store_release(s);
    return err;
}
