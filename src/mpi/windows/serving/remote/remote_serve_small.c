/* remote_serve_small.c: the helper's handler for batches of short operations (remote_small.c). As everywhere, ranges that
 * the origin has checked are checked again. */
#include "base/compiler.h"
#include "mpi/windows/serving/remote/remote_serve.h"
#include "tables/shape.h"

/* What an entry accesses. */
struct entry {
    struct remote_small head;
    struct served *window;
    const struct served_target *target;
    const char *data; /* of a put or an update */
};

/* Reads the entry at *at, and advances *at. False: it is invalid. */
static bool entry_read(struct serve_domain *d, const struct net_block *b, size_t *at, struct entry *e) {
    uint64_t last = e->window ? e->head.window : 0;
    if (b->bytes - *at < sizeof e->head)
        return false;
    memcpy(&e->head, (const char *)b->payload + *at, sizeof e->head);
    *at += sizeof e->head;
    if (!e->window || e->head.window != last)
        e->window = serve_domain_window(d, e->head.window);
    if (!e->window || e->window->dynamic)
        return false;
    e->target = serve_target_find(e->window, (int)e->head.target);
    if (!e->target->gate || e->head.offset > e->target->bytes ||
        e->head.bytes > e->target->bytes - e->head.offset)
        return false;
    e->data = (const char *)b->payload + *at;
    if (e->head.handler == RPC_GET)
        return true;
    if (e->head.handler == RPC_LOCK || e->head.handler == RPC_UNLOCK)
        return e->head.bytes == 0;
    size_t padded = round_up(e->head.bytes, REMOTE_PAYLOAD);
    if (b->bytes - *at < padded)
        return false;
    *at += padded;
    return e->head.handler == RPC_PUT || e->head.handler == RPC_UPDATE;
}

static void entry_fault(const struct net_block *b, int status) {
    if (status != 0)
        serve_remote_end_job(b, status == -ESRCH
                                    ? "is for a rank that has ended"
                                    : "is for memory that this process cannot access: was it freed?");
}

/* A word is copied by one access, so that a reader who polls never sees half of it. */
static void entry_copy(const struct net_block *b, const struct entry *e, char *here,
                       enum vm_direction direction) {
    const struct served_target *t = e->target;
    uint64_t there = t->base + e->head.offset;
    char *to = direction == VM_READ ? here : (char *)(uintptr_t)there;
    const char *from = direction == VM_READ ? (char *)(uintptr_t)there : here;
    if (!t->mapped)
        entry_fault(b,
                    serve_vm_copy_flat(t->pid, direction, (uint64_t)(uintptr_t)here, there, e->head.bytes));
    else if (e->head.bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, e->head.bytes);
}

/* Bytes that were done before are skipped. Returns how many are done now. */
static uint64_t entry_update(struct net_block *b, const struct entry *e, uint64_t before) {
    const struct shape flat = shape_contiguous(e->head.bytes);
    const struct served_target *t = e->target;
    size_t unit = data_element_bytes(e->head.type);
    uint64_t done = 0;
    if (!unit || e->head.bytes % unit || !data_element_allows(e->head.op, e->head.type) ||
        before > e->head.bytes)
        serve_remote_refuse(b);
    const struct data_update u = {.op = e->head.op,
                                  .type = e->head.type,
                                  .to = (char *)(uintptr_t)(t->base + e->head.offset),
                                  .shape = &flat,
                                  .from = before,
                                  .packed = e->data + before,
                                  .bytes = e->head.bytes - before};
    if (t->mapped)
        done = data_update_try(t->locks, &u);
    else
        entry_fault(b, serve_vm_update_try(t->pid, t->locks, &u, &done));
    b->computed += done;
    return before + done;
}

/* Bytes of the answer to an entry. */
static size_t entry_answer(const struct entry *e) {
    return e->head.handler == RPC_GET ? e->head.bytes : e->head.handler == RPC_LOCK ? REMOTE_GRANT : 0;
}

static bool entry_lock(const struct entry *e, char *answer) {
    int64_t granted = serve_remote_gate_enter(e->target, e->head.op);
    memcpy(answer, &granted, sizeof granted);
    return granted;
}

/* If the lock of an update is taken, the handler is called again. It then continues with that entry, and within it:
 * `resume` holds the number of the entry and the bytes of it that are done. */
enum net_result serve_remote_batch(void *arg, struct net_block *b) {
    enum { BYTES_BITS = 16 };
    struct remote_batch_head head;
    struct entry e = {.window = NULL};
    size_t at = 0, answered = 0;
    if (b->header_bytes != sizeof head || b->answer_offset)
        serve_remote_refuse(b);
    memcpy(&head, b->header, sizeof head);
    for (uint32_t i = 0; i < head.count; i++) {
        uint64_t first = b->resume >> BYTES_BITS, done = 0;
        if (!entry_read(arg, b, &at, &e))
            serve_remote_refuse(b);
        bool is_get = e.head.handler == RPC_GET, is_lock = e.head.handler == RPC_LOCK;
        if (entry_answer(&e) > b->answer_bytes - answered || (is_lock && i > 0))
            serve_remote_refuse(b);
        char *answer = (char *)b->answer + answered;
        answered += entry_answer(&e);
        if (i < first)
            continue;
        if (is_lock && entry_lock(&e, answer))
            continue;
        if (is_lock) {
            memset((char *)b->answer + answered, 0, b->answer_bytes - answered);
            return NET_DONE;
        }
        if (e.head.handler == RPC_UPDATE) {
            done = entry_update(b, &e, i == first ? b->resume & ((1u << BYTES_BITS) - 1) : 0);
            b->resume = (uint64_t)i << BYTES_BITS | done;
            if (done < e.head.bytes)
                return NET_LATER;
        } else if (e.head.handler == RPC_UNLOCK) {
            const struct remote_head unlock = {.target = e.head.target, .exclusive = e.head.op};
            serve_remote_gate_unlock(arg, e.window, &unlock);
        } else {
            entry_copy(b, &e, is_get ? answer : (char *)(uintptr_t)e.data, is_get ? VM_READ : VM_WRITE);
        }
    }
    if (at != b->bytes || answered != b->answer_bytes)
        serve_remote_refuse(b);
    return NET_DONE;
}
