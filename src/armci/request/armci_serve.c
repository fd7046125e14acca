/* armci_serve.c: the handlers of the helper: they run in its thread, on memory of its node, which it maps at the same
 * address as all its processes.
 *
 * The client has checked every range. It is checked again here, because it may have been freed since, and no message
 * may fault this process. If the list of mappings is being changed, the check is retried later, like a lock that is
 * held. */
#include "armci/request/armci_serve.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "armci/job/armci_internal.h"
#include "armci/request/local_ask.h"
#include "armci/request/locks.h"
#include "armci/request/ops.h"
#include "armci/request/rmw_apply.h"
#include "base/compiler.h"
#include "base/job_end.h"
#include "base/log.h"
#include "data/data.h"

static _Noreturn void serve_end_job(const char *what, int client, const void *low, size_t bytes) {
    log_error("%s of rank %d: %p ... %p (%zu bytes) is not ARMCI memory of this node: freed before the "
              "operations on it "
              "were fenced?",
              what, client, low, (const void *)((uintptr_t)low + bytes), bytes);
    job_end(EXIT_FAILURE);
}

static _Noreturn void refuse(const char *what, const struct net_block *b) {
    log_error("%s of rank %d: invalid block of %zu + %zu bytes, answer of %zu; do all ranks run the same "
              "version of the library?",
              what, b->client, b->header_bytes, b->bytes, b->answer_bytes);
    job_end(EXIT_FAILURE);
}

enum brings { NOTHING, DATA, ANSWER };

/* A block carries data, or has an answer, or neither. The handler checks the range of only the one that it expects, so
 * the other must be empty. */
static void check_block(const char *what, const struct net_block *b, size_t header_bytes,
                        enum brings brings) {
    if (UNLIKELY(b->header_bytes != header_bytes || (brings != DATA && b->bytes > 0) ||
                 (brings != ANSWER && b->answer_bytes > 0)))
        refuse(what, b);
}

static enum net_result serve_check(const char *what, const struct net_block *b, const void *low,
                                   size_t bytes) {
    int status = bytes == 0 ? 0 : net_shared_check(low, bytes, NULL, NULL);
    if (status == -EAGAIN)
        return NET_LATER;
    if (status != 0)
        serve_end_job(what, b->client, low, bytes);
    return NET_DONE;
}

/* ---- patches ---- */

static enum net_result open_patch(const char *what, const struct net_block *b, enum brings brings,
                                  struct op_patch *h, struct patch *p) {
    size_t fixed = offsetof(struct op_patch, patch);
    char *low, *high;
    check_block(what, b, b->header_bytes, brings);
    if (b->header_bytes < fixed ||
        data_patch_read(p, (const char *)b->header + fixed, b->header_bytes - fixed) < 0)
        refuse(what, b);
    memcpy(h, b->header, fixed);
    size_t bytes = brings == ANSWER ? b->answer_offset + b->answer_bytes : b->bytes;
    if (h->from > p->bytes || bytes > p->bytes - h->from)
        serve_end_job(what, b->client, p->base, bytes);
    data_patch_hull(p, &low, &high);
    return serve_check(what, b, low, (size_t)(high - low));
}

static enum net_result serve_put(void *arg, struct net_block *b) {
    struct op_patch h;
    struct patch p;
    (void)arg;
    if (open_patch("put", b, DATA, &h, &p) == NET_LATER)
        return NET_LATER;
    data_patch_unpack(&p, h.from, b->payload, b->bytes);
    return NET_DONE;
}

static enum net_result serve_get(void *arg, struct net_block *b) {
    struct op_patch h;
    struct patch p;
    (void)arg;
    if (open_patch("get", b, ANSWER, &h, &p) == NET_LATER)
        return NET_LATER;
    data_patch_pack(&p, h.from + b->answer_offset, b->answer, b->answer_bytes);
    return NET_DONE;
}

static enum net_result serve_acc(void *arg, struct net_block *b) {
    struct op_patch h;
    struct patch p;
    (void)arg;
    if (open_patch("accumulate", b, DATA, &h, &p) == NET_LATER)
        return NET_LATER;
    size_t grain = data_accumulate_grain(h.type);
    if (grain == 0 || (h.from | b->bytes | p.count[0]) % grain != 0)
        serve_end_job("accumulate", b->client, p.base, b->bytes);
    size_t left = b->bytes - b->resume;
    size_t done = data_accumulate_patch_try(armci_job.lock_table, h.type, h.scale, &p, h.from + b->resume,
                                            (const char *)b->payload + b->resume, left);
    b->computed = done;
    b->resume += done;
    return done < left ? NET_LATER : NET_DONE;
}

/* ---- vectors ---- */

struct pieces {
    struct op_vector h;
    const char *addresses, *data;
};

static void open_vector(const struct net_block *b, bool with_data, struct pieces *v) {
    if (b->header_bytes != sizeof v->h || (with_data && b->answer_bytes > 0))
        refuse("vector", b);
    memcpy(&v->h, b->header, sizeof v->h);
    size_t addresses = (size_t)v->h.count * sizeof(uint64_t);
    size_t data = with_data ? (size_t)v->h.count * v->h.bytes : 0;
    if (b->bytes != addresses + data)
        refuse("vector", b);
    v->addresses = b->payload;
    v->data = v->addresses + addresses;
}

static char *serve_piece_at(const struct pieces *v, uint64_t i) {
    uint64_t address;
    memcpy(&address, v->addresses + i * sizeof address, sizeof address);
    return (char *)(uintptr_t)address;
}

static enum net_result serve_putv(void *arg, struct net_block *b) {
    struct pieces v;
    (void)arg;
    open_vector(b, true, &v);
    for (; b->resume < v.h.count; b->resume++) {
        char *to = serve_piece_at(&v, b->resume);
        if (serve_check("put of pieces", b, to, v.h.bytes) == NET_LATER)
            return NET_LATER;
        memcpy(to, v.data + b->resume * v.h.bytes, v.h.bytes);
    }
    return NET_DONE;
}

/* A part of the answer may begin and end inside a piece. */
static enum net_result serve_getv(void *arg, struct net_block *b) {
    struct pieces v;
    (void)arg;
    open_vector(b, false, &v);
    if (v.h.bytes == 0 || b->answer_offset + b->answer_bytes > (size_t)v.h.count * v.h.bytes)
        refuse("get of pieces", b);
    for (size_t done = 0; done < b->answer_bytes;) {
        size_t at = b->answer_offset + done, inside = at % v.h.bytes;
        size_t part =
            v.h.bytes - inside < b->answer_bytes - done ? v.h.bytes - inside : b->answer_bytes - done;
        char *from = serve_piece_at(&v, at / v.h.bytes) + inside;
        if (serve_check("get of pieces", b, from, part) == NET_LATER)
            return NET_LATER;
        memcpy((char *)b->answer + done, from, part);
        done += part;
    }
    return NET_DONE;
}

static enum net_result serve_accv(void *arg, struct net_block *b) {
    struct pieces v;
    (void)arg;
    open_vector(b, true, &v);
    uint64_t all = (uint64_t)v.h.count * v.h.bytes;
    size_t grain = data_accumulate_grain(v.h.type);
    if (grain == 0 || v.h.bytes % grain != 0)
        refuse("accumulate of pieces", b);
    while (b->resume < all) {
        size_t inside = b->resume % v.h.bytes, left = v.h.bytes - inside;
        char *to = serve_piece_at(&v, b->resume / v.h.bytes) + inside;
        if (serve_check("accumulate of pieces", b, to, left) == NET_LATER)
            return NET_LATER;
        size_t done =
            data_accumulate_try(armci_job.lock_table, v.h.type, v.h.scale, to, v.data + b->resume, left);
        b->computed += done;
        b->resume += done;
        if (done < left)
            return NET_LATER;
    }
    return NET_DONE;
}

/* ---- words ---- */

static enum net_result serve_rmw(void *arg, struct net_block *b) {
    struct op_rmw r;
    uint64_t old;
    (void)arg;
    check_block("read-modify-write", b, sizeof r, ANSWER);
    if (b->answer_bytes != sizeof old)
        refuse("read-modify-write", b);
    memcpy(&r, b->header, sizeof r);
    char *word = (char *)(uintptr_t)r.address;
    size_t bytes = armci_rmw_bytes((int)r.op);
    if (bytes == 0)
        refuse("read-modify-write", b);
    if (serve_check("read-modify-write", b, word, bytes) == NET_LATER ||
        !armci_rmw_apply(armci_job.lock_table, (int)r.op, word, r.operand, false, &old))
        return NET_LATER;
    memcpy(b->answer, &old, sizeof old);
    return NET_DONE;
}

static enum net_result serve_flag(void *arg, struct net_block *b) {
    struct op_flag f;
    (void)arg;
    check_block("flag", b, sizeof f, NOTHING);
    memcpy(&f, b->header, sizeof f);
    int32_t *flag = (int32_t *)(uintptr_t)f.address;
    if (serve_check("flag", b, flag, sizeof *flag) == NET_LATER)
        return NET_LATER;
    if (LIKELY(f.address % sizeof *flag == 0)) {
        __atomic_store_n(flag, f.value, __ATOMIC_RELEASE);
        return NET_DONE;
    }
    atomic_thread_fence(memory_order_release); /* not every processor stores misaligned words atomically */
    memcpy(flag, &f.value, sizeof *flag);
    return NET_DONE;
}

/* ---- mutexes ---- */

static enum net_result serve_lock(void *arg, struct net_block *b) {
    struct op_mutex m;
    int64_t answer;
    (void)arg;
    check_block("lock", b, sizeof m, NOTHING);
    memcpy(&m, b->header, sizeof m);
    struct asker asker = {.rank = b->client, .reply = b->reply};
    if (armci_locks_lock(&m, &asker, &answer) == NET_DONE)
        net_reply(armci_job.net, 0, b->reply, &answer, sizeof answer);
    return NET_DONE; /* the block is done; its answer may come later */
}

static enum net_result serve_unlock(void *arg, struct net_block *b) {
    struct op_mutex m;
    (void)arg;
    check_block("unlock", b, sizeof m, NOTHING);
    memcpy(&m, b->header, sizeof m);
    if (armci_locks_unlock(&m, b->client) == 0)
        return NET_DONE;
    log_error("ARMCI_Unlock: rank %d does not hold mutex %u of rank %u", b->client, m.mutex, m.owner);
    job_end(EXIT_FAILURE);
}

/* ---- the node's own processes ---- */

static enum net_result serve_local(void *arg, int process, const struct mailbox_request *r, int cell,
                                   int64_t *answer) {
    struct net_shared_place place;
    struct op_mutex m;
    int rank = net_world_member(armci_job.world, armci_job.world->node, process);
    struct asker asker = {.rank = rank, .local = true, .reply = (uint64_t)cell};
    (void)arg;
    memcpy(&m, r->words, sizeof m);
    switch ((enum local_kind)r->what) {
    case LOCAL_ATTACH:
        memcpy(&place, r->words, sizeof place);
        *answer = net_shared_attach(&place);
        return NET_DONE;
    case LOCAL_DETACH:
        memcpy(&place, r->words, sizeof place);
        net_shared_detach(&place);
        *answer = 0;
        return NET_DONE;
    case LOCAL_CREATE:
        *answer = armci_locks_create(m.set, rank, (int)m.mutex);
        return NET_DONE;
    case LOCAL_DESTROY:
        *answer = armci_locks_destroy(m.set, rank);
        return NET_DONE;
    case LOCAL_LOCK:
        return armci_locks_lock(&m, &asker, answer);
    case LOCAL_UNLOCK:
        *answer = armci_locks_unlock(&m, rank);
        return NET_DONE;
    }
    *answer = -ENOSYS;
    return NET_DONE;
}
_Static_assert(sizeof(struct net_shared_place) <= MAILBOX_WORDS * sizeof(uint64_t),
               "a place fits into a request");

/* ---- failed peers ---- */

static void serve_failed(void *arg, int rank, const char *why) {
    (void)arg;
    if (rank < 0)
        log_error("a rank cannot be served: %s; the job is ended", why);
    else
        log_error("rank %d cannot be reached: %s; the job is ended", rank, why);
    job_end(EXIT_FAILURE);
}

const struct net_service armci_service = {
    .handlers = {[OP_PUT] = serve_put,
                 [OP_GET] = serve_get,
                 [OP_ACC] = serve_acc,
                 [OP_PUTV] = serve_putv,
                 [OP_GETV] = serve_getv,
                 [OP_ACCV] = serve_accv,
                 [OP_RMW] = serve_rmw,
                 [OP_FLAG] = serve_flag,
                 [OP_LOCK] = serve_lock,
                 [OP_UNLOCK] = serve_unlock},
    .local = serve_local,
    .failed = serve_failed,
};
