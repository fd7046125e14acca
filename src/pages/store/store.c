/* store.c: page requests: selects the copy that each one reads or writes, and updates the tables when it completes.
 *
 * A page is overwritten in place, unless a kept checkpoint uses that copy. Then it is written to another copy, and the
 * table refers to it only after the write has completed. A failed write leaves the table unchanged and marks the page
 * lost: its content in the file is outdated or torn, and is not returned to any reader. A page that was read is
 * verified against its checksums first.
 *
 * Requests come from a pool that is allocated at the beginning. Each is, at any time, in exactly one place: unused, in
 * the engine, completed without I/O (`ready`), or delayed by the throttle. */
#include "pages/store/store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"
#include "pages/store/store_disk.h"

enum { BATCH = 32 };

/* ---- pages ---- */

static bool is_kept(const struct store *s, uint64_t page, unsigned copy) {
    for (int i = 0; i < STORE_TABLES; i++)
        if (s->kept[i].epoch && pages_store_table_get(s->kept[i].image, page) == copy)
            return true;
    return false;
}

/* There is always a free copy: at most two are kept. */
static unsigned choose_copy(const struct store *s, uint64_t page) {
    unsigned copy = pages_store_table_get(s->current, page);
    if (!s->is_named)
        return 1;
    if (copy && !is_kept(s, page, copy))
        return copy;
    for (copy = 1; is_kept(s, page, copy); copy++)
        ;
    return copy;
}

bool pages_store_is_hole(const struct store *s, uint64_t page) {
    return !pages_store_table_get(s->current, page) && !pages_store_table_get(s->lost, page);
}

/* A read may run concurrently with other reads of the page only. */
static bool store_is_busy(const struct store *s, enum store_way way, uint64_t page) {
    uint64_t reading = 2 * page, writing = 2 * page + 1;
    bool met = false;
    for (unsigned i = 0; i < s->depth; i++)
        met |= s->busy[i] == writing || (way == STORE_WRITE && s->busy[i] == reading);
    return met;
}

/* ---- requests ---- */

static struct store_request *store_take_request(struct store *s) {
    struct store_request *r = s->unused;
    s->unused = r->next;
    s->on_way++;
    return r;
}

static void store_give_back(struct store *s, struct store_request *r) {
    s->busy[r - s->requests] = STORE_NOBODY;
    r->next = s->unused;
    s->unused = r;
    s->on_way--;
}

const char *pages_store_label(const struct store *s) {
    return s->label;
}

const char *pages_store_advice(int error) {
    bool full = error == -ENOSPC || error == -EDQUOT;
    return full ? ". Free some, or choose another folder (HEARTH_NVM_DIR)" : "";
}

static void say_page(const struct store *s, const char *what, uint64_t page, int error) {
    log_error("cannot %s page %" PRIu64 " of %s: %s%s", what, page, s->label, strerror(-error),
              pages_store_advice(error));
}

/* The caller keeps the page. */
static void say_not_written(const struct store *s, uint64_t page, int error) {
    log_warn("cannot write page %" PRIu64 " of %s: %s; it stays in memory until it can be written%s", page,
             s->label, strerror(-error), pages_store_advice(error));
}

/* Only the first failure of its kind is logged; the rest are counted, as a full disk rejects many. */
static void say_failure(struct store *s, const struct store_request *r) {
    s->facts.failures++;
    if (s->has_said[r->way])
        return;
    s->has_said[r->way] = true;
    if (r->way == STORE_READ)
        say_page(s, "read", r->page, r->result);
    else
        say_not_written(s, r->page, r->result);
}

static void finish_at_once(struct store *s, struct store_request *r, int result) {
    r->result = result;
    pages_store_queue_add(&s->ready, r);
}

/* False if no I/O is needed. */
static bool find_page(struct store *s, struct store_request *r) {
    if (pages_store_table_get(s->lost, r->page)) { /* its failed write was logged */
        finish_at_once(s, r, -EIO);
        return false;
    }
    r->copy = (uint8_t)pages_store_table_get(s->current, r->page);
    if (r->copy)
        return true;
    memset(r->buffer, 0, s->page_bytes);
    s->facts.holes++;
    finish_at_once(s, r, 0);
    return false;
}

/* Selects the copy to read or write. False if the request is already complete. */
static bool choose_place(struct store *s, struct store_request *r) {
    if (r->way == STORE_READ)
        return find_page(s, r);
    r->copy = (uint8_t)choose_copy(s, r->page);
    return true;
}

static void start_transfer(struct store *s, struct store_request *r) {
    r->offset = pages_store_place(s, r->page, r->copy);
    r->bytes = (uint32_t)s->page_bytes;
    r->moved = 0;
    if (s->throttle.rate)
        pages_throttle_begin(&s->throttle, r);
    s->engine->give(s->engine, r);
}

int pages_store_submit(struct store *s, enum store_way way, uint64_t page, void *buffer, uint64_t token) {
    if (UNLIKELY(page >= s->pages || (uintptr_t)buffer % STORE_ALIGNMENT || !s->is_ready))
        return -EINVAL;
    if (!s->unused)
        return -EAGAIN;
    if (s->on_way && store_is_busy(s, way, page))
        return -EBUSY;
    struct store_request *r = store_take_request(s);
    s->busy[r - s->requests] = 2 * page + (way == STORE_WRITE);
    r->buffer = buffer;
    r->page = page;
    r->token = token;
    r->way = (uint8_t)way;
    if (choose_place(s, r))
        start_transfer(s, r);
    return 0;
}

int pages_store_reserve(struct store *s, uint64_t page) {
    if (page >= s->pages || !s->is_ready)
        return -EINVAL;
    int error = pages_disk_reserve(s->file, pages_store_place(s, page, choose_copy(s, page)), s->page_bytes);
    if (error && !s->has_said_full)
        say_page(s, "reserve room for", page, error);
    s->has_said_full = error != 0;
    return error;
}

/* ---- completions ---- */

void pages_store_lose(struct store *s, uint64_t page) {
    s->facts.lost += !pages_store_table_get(s->lost, page);
    pages_store_table_set(s->lost, page, 1);
}

static void find_again(struct store *s, uint64_t page) {
    if (LIKELY(!s->facts.lost || !pages_store_table_get(s->lost, page)))
        return;
    pages_store_table_set(s->lost, page, 0);
    if (--s->facts.lost == 0)
        s->has_said[STORE_WRITE] = false;
}

static void finish_write(struct store *s, const struct store_request *r) {
    s->is_changed = true;
    if (UNLIKELY(r->result != 0)) {
        pages_store_lose(s, r->page);
        return;
    }
    find_again(s, r->page);
    pages_store_table_set(s->current, r->page, r->copy);
    pages_sums_note(s, r->page, r->buffer);
    s->facts.writes++;
}

static void finish_read(struct store *s, struct store_request *r) {
    if (UNLIKELY(r->result != 0))
        return;
    s->facts.reads++;
    int64_t at = pages_sums_find_damage(s, s->current, r->page, r->buffer);
    if (LIKELY(at < 0))
        return;
    r->result = -EBADMSG;
    if (!s->has_said[STORE_READ])
        pages_sums_say_damage(s, r->page, r->copy, at);
    s->has_said[STORE_READ] = true;
}

/* The engine has completed the request. */
static void store_finish(struct store *s, struct store_request *r) {
    if (r->way == STORE_WRITE)
        finish_write(s, r);
    else
        finish_read(s, r);
    if (UNLIKELY(r->result != 0))
        say_failure(s, r);
}

static void hand_out(struct store *s, struct store_request *r, struct store_done *done) {
    *done = (struct store_done){.token = r->token, .error = r->result};
    store_give_back(s, r);
}

static unsigned poll_ready(struct store *s, struct store_done *done, unsigned most) {
    unsigned n = 0;
    while (n < most && s->ready.first)
        hand_out(s, pages_store_queue_take(&s->ready), &done[n++]);
    return n;
}

static unsigned poll_engine(struct store *s, struct store_done *done, unsigned most) {
    struct store_request *some[BATCH];
    unsigned n = s->engine->take(s->engine, some, most < BATCH ? most : BATCH);
    for (unsigned i = 0; i < n; i++) {
        store_finish(s, some[i]);
        hand_out(s, some[i], &done[i]);
    }
    return n;
}

static unsigned poll_throttled(struct store *s, struct store_done *done, unsigned most) {
    struct store_request *some[BATCH], *r;
    unsigned taken = s->engine->take(s->engine, some, BATCH), n = 0;
    for (unsigned i = 0; i < taken; i++) {
        store_finish(s, some[i]);
        pages_throttle_hold(&s->throttle, some[i]);
    }
    while (n < most && (r = pages_throttle_take(&s->throttle)) != NULL)
        hand_out(s, r, &done[n++]);
    return n;
}

unsigned pages_store_poll(struct store *s, struct store_done *done, unsigned most) {
    unsigned n = s->ready.first ? poll_ready(s, done, most) : 0;
    if (n == most || s->on_way == 0)
        return n;
    return n + (s->throttle.rate ? poll_throttled : poll_engine)(s, done + n, most - n);
}

int pages_store_arm(struct store *s) {
    bool may_sleep = !s->ready.first && s->engine->arm(s->engine);
    if (may_sleep && s->throttle.rate)
        may_sleep = pages_throttle_arm(&s->throttle);
    return may_sleep ? 0 : -EAGAIN;
}

int pages_store_descriptor(const struct store *s) {
    return s->throttle.rate ? s->throttle.descriptor : s->engine->descriptor;
}

/* ---- state ---- */

void pages_store_give_up(struct store *s) {
    s->is_changed = true;
}

bool pages_store_is_changed(const struct store *s) {
    return s->is_changed || s->is_abandoned || s->is_broken;
}

struct store_facts pages_store_facts(const struct store *s) {
    return s->facts;
}

/* ---- check ---- */

static bool check_requests(const struct store *s) {
    unsigned unused = 0, busy = 0;
    for (const struct store_request *r = s->unused; r; r = r->next)
        unused++;
    for (unsigned i = 0; i < s->depth; i++)
        busy += s->busy[i] != STORE_NOBODY;
    return unused + s->on_way == s->depth && busy == s->on_way;
}

static bool check_tables(const struct store *s) {
    uint64_t lost = 0;
    for (uint64_t page = 0; page < s->pages; page++) {
        lost += pages_store_table_get(s->lost, page);
        if (!s->is_named && pages_store_table_get(s->current, page) > 1)
            return false;
    }
    return lost == s->facts.lost;
}

bool pages_store_check(const struct store *s) {
    return check_requests(s) && check_tables(s);
}
