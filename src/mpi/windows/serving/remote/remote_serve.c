/* remote_serve.c: the helper's handlers for operations on served windows. They run in its thread, in a process that is
 * a rank of the window and has mapped the memory that was allocated with it; other memory of its node is reached through the
 * kernel.
 *
 * The origin has checked every range. It is checked again here, so that no message can fault this process. In dynamic
 * windows any address may come: all access there goes through the kernel, which reports addresses that do not exist. The
 * origin asks for that status (RPC_STATUS). */
#include "mpi/windows/serving/remote/remote_serve.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/job_end.h"
#include "base/log.h"
#include "tables/shape.h"

_Noreturn void serve_remote_end_job(const struct net_block *b, const char *what) {
    log_error("window: a request of %zu + %zu bytes from rank %d %s; the job is ended", b->header_bytes,
              b->bytes, b->client, what);
    job_end(EXIT_FAILURE);
}

_Noreturn void serve_remote_refuse(const struct net_block *b) {
    serve_remote_end_job(b, "is invalid: do all ranks run the same version of the library?");
}

/* What a block accesses: a part of a window's memory. */
struct access {
    struct served *window;
    struct served_target *target;
    struct remote_head head;
    struct data_piece piece; /* addresses in the process that owns the memory */
    const char *data;        /* operands or data to be put */
    uint64_t bytes;
    bool mapped;
    struct shape_block list[REMOTE_LIST];
};

static void open_window(struct serve_domain *d, const struct net_block *b, struct access *a) {
    if (b->header_bytes < sizeof a->head)
        serve_remote_refuse(b);
    memcpy(&a->head, b->header, sizeof a->head);
    a->window = serve_domain_window(d, a->head.window);
    bool all = a->head.target == REMOTE_ALL;
    if (!a->window || (!all && a->head.target >= (uint32_t)a->window->size))
        serve_remote_end_job(
            b, "is for a window that does not exist: freed before its operations were complete?");
    a->target = all ? NULL : serve_target_find(a->window, (int)a->head.target);
    if (!all && !a->target->gate) /* a rank of another node */
        serve_remote_refuse(b);
    a->mapped = !all && a->target->mapped && !a->window->dynamic;
}

/* In dynamic windows any memory may be accessed, through the kernel. */
static uint64_t room_of(const struct served_target *t) {
    return t->is_attached ? PTRDIFF_MAX : t->bytes;
}

/* Decodes the shape, which is in the header or in front of the payload. */
static void open_access(struct serve_domain *d, const struct net_block *b, struct access *a) {
    open_window(d, b, a);
    const struct remote_head *h = &a->head;
    size_t before = h->shape_follows ? 0 : round_up(h->shape_bytes, REMOTE_PAYLOAD);
    const char *wire = h->shape_follows ? (const char *)b->header + sizeof *h : b->payload;
    size_t room = h->shape_follows ? b->header_bytes - sizeof *h : b->bytes;
    if (!a->target || h->shape_bytes > room || before > b->bytes ||
        data_shape_read(&a->piece, a->list, REMOTE_LIST, wire, h->shape_bytes) != (ssize_t)h->shape_bytes)
        serve_remote_refuse(b);
    if (a->piece.high > room_of(a->target))
        serve_remote_end_job(b, "is not inside the window");
    a->piece.address += a->target->base;
    a->data = (const char *)b->payload + before;
    a->bytes = b->bytes - before;
}

static char *first_of(const struct access *a) {
    return (char *)(uintptr_t)a->piece.address;
}

/* Notes a failed access through the kernel. Elsewhere than in dynamic windows, only a process that has ended or freed the
 * memory of its window causes one. */
static void note_fault(struct serve_domain *d, const struct net_block *b, const struct access *a,
                       int status) {
    if (!a->window->dynamic || status != -EFAULT)
        serve_remote_end_job(b, status == -ESRCH
                                    ? "is for a rank that has ended"
                                    : "is for memory that this process cannot access: was it freed?");
    d->faults[b->client] = status;
}

/* ---- copies ---- */

/* Copies packed bytes [from, from + bytes) of the piece. */
static void copy_piece(struct serve_domain *d, const struct net_block *b, const struct access *a,
                       uint64_t from, void *packed, uint64_t bytes, enum vm_direction direction) {
    struct data_cursor c;
    if (a->mapped) {
        data_cursor_start(&c, &a->piece.shape, from);
        if (direction == VM_READ)
            data_cursor_gather(&c, packed, first_of(a), bytes);
        else
            data_cursor_scatter(&c, first_of(a), packed, bytes);
        return;
    }
    const struct shape flat = shape_contiguous(bytes);
    const struct vm_side here = {(uint64_t)(uintptr_t)packed, &flat};
    const struct vm_side there = {a->piece.address, &a->piece.shape};
    int status = serve_vm_copy_from(a->target->pid, direction, &here, &there, from, bytes);
    if (status != 0)
        note_fault(d, b, a, status);
}

static enum net_result serve_put(void *arg, struct net_block *b) {
    struct access a;
    open_access(arg, b, &a);
    if (a.bytes != a.piece.bytes || b->answer_bytes)
        serve_remote_refuse(b);
    copy_piece(arg, b, &a, a.piece.from, (void *)(uintptr_t)a.data, a.bytes, VM_WRITE);
    return NET_DONE;
}

/* Mapped memory is sent from where it is. The window is freed only after its origin has received the answer. A put that
 * comes after the get, without a flush between them, may be executed before the memory is read: MPI leaves the result of
 * such a get undefined. */
static enum net_result serve_get(void *arg, struct net_block *b) {
    enum { WITHOUT_COPY = 4096 };
    struct access a;
    open_access(arg, b, &a);
    if (a.bytes || b->answer_offset > a.piece.bytes || b->answer_bytes > a.piece.bytes - b->answer_offset)
        serve_remote_refuse(b);
    uint64_t from = a.piece.from + b->answer_offset;
    if (a.mapped && shape_is_contiguous(&a.piece.shape) && b->answer_bytes >= WITHOUT_COPY)
        b->answer = first_of(&a) + from;
    else
        copy_piece(arg, b, &a, from, b->answer, b->answer_bytes, VM_READ);
    return NET_DONE;
}

/* ---- updates ---- */

/* The part of the block that this call executes: all of it, or that of one piece of the answer. */
static struct data_update update_of(const struct net_block *b, const struct access *a) {
    size_t unit = data_element_bytes(a->head.type);
    uint64_t begin = b->answer_offset, bytes = b->answer_bytes ? b->answer_bytes : a->piece.bytes;
    bool sends = a->head.op != DATA_NO_OP;
    if (!unit || !data_element_allows(a->head.op, a->head.type) || begin > a->piece.bytes ||
        bytes > a->piece.bytes - begin || (begin | bytes | a->piece.bytes) % unit ||
        a->bytes != (sends ? a->piece.bytes : 0) || b->resume > bytes)
        serve_remote_refuse(b);
    uint64_t done = begin + b->resume;
    return (struct data_update){.op = a->head.op,
                                .type = a->head.type,
                                .to = first_of(a),
                                .shape = &a->piece.shape,
                                .from = a->piece.from + done,
                                .packed = sends ? a->data + done : NULL,
                                .old = b->answer_bytes ? (char *)b->answer + b->resume : NULL,
                                .bytes = bytes - b->resume};
}

static enum net_result serve_update(void *arg, struct net_block *b) {
    struct access a;
    uint64_t done = 0;
    int status = 0;
    open_access(arg, b, &a);
    struct data_update u = update_of(b, &a);
    if (a.mapped)
        done = data_update_try(a.target->locks, &u);
    else
        status = serve_vm_update_try(a.target->pid, a.target->locks, &u, &done);
    if (status != 0) {
        note_fault(arg, b, &a, status);
        return NET_DONE;
    }
    b->computed += done;
    b->resume += done;
    return done < u.bytes ? NET_LATER : NET_DONE;
}

static enum net_result serve_swap(void *arg, struct net_block *b) {
    struct access a;
    struct remote_swap q;
    open_window(arg, b, &a);
    if (b->header_bytes != sizeof q || b->bytes || !a.target)
        serve_remote_refuse(b);
    memcpy(&q, b->header, sizeof q);
    size_t bytes = data_element_bytes(q.head.type);
    if (!data_swap_allows(q.head.type) || b->answer_bytes != bytes || q.offset > room_of(a.target) ||
        bytes > room_of(a.target) - q.offset)
        serve_remote_refuse(b);
    uint64_t element = a.target->base + q.offset;
    struct net_lock_table *locks = a.target->locks;
    if (a.mapped)
        return data_swap_if(locks, q.head.type, (void *)(uintptr_t)element, q.expected, q.desired, b->answer,
                            false)
                   ? NET_DONE
                   : NET_LATER;
    int status =
        serve_vm_swap_if(a.target->pid, locks, q.head.type, element, q.expected, q.desired, b->answer, false);
    if (status == -EAGAIN)
        return NET_LATER;
    if (status != 0)
        note_fault(arg, b, &a, status);
    return NET_DONE;
}

static enum net_result serve_status(void *arg, struct net_block *b) {
    struct serve_domain *d = arg;
    int64_t status = d->faults[b->client];
    if (b->answer_bytes != sizeof status)
        serve_remote_refuse(b);
    d->faults[b->client] = 0;
    memcpy(b->answer, &status, sizeof status);
    return NET_DONE;
}

static enum net_result serve_key(void *arg, struct net_block *b) {
    struct access a;
    open_window(arg, b, &a);
    if (b->bytes || !serve_remote_direct_key(a.window, b->answer_offset, b->answer, b->answer_bytes))
        serve_remote_refuse(b);
    return NET_DONE;
}

/* ---- locks ---- */

static enum net_result serve_lock_request(void *arg, struct net_block *b) {
    struct access a;
    open_window(arg, b, &a);
    if (b->bytes || b->answer_bytes)
        serve_remote_refuse(b);
    serve_remote_gate_lock(arg, a.window, &a.head, b->reply);
    return NET_DONE; /* the block is done; its answer may come later */
}

static enum net_result serve_unlock_request(void *arg, struct net_block *b) {
    struct access a;
    open_window(arg, b, &a);
    if (b->bytes || b->answer_bytes)
        serve_remote_refuse(b);
    serve_remote_gate_unlock(arg, a.window, &a.head);
    return NET_DONE;
}

static enum net_result serve_local(void *arg, int process, const struct mailbox_request *r, int cell,
                                   int64_t *answer) {
    (void)process, (void)cell;
    *answer = r->what == LOCAL_GATE_CHANGED ? 0 : -ENOSYS;
    if (*answer == 0)
        serve_remote_gate_check(arg);
    return NET_DONE;
}

/* ---- failed peers ---- */

/* Without a window no process needs another one any more: it may have ended without closing the domain. */
static void serve_failed(void *arg, int rank, const char *why) {
    struct serve_domain *d = arg;
    if (!atomic_load(&d->open))
        return;
    if (rank < 0)
        log_error("windows: a rank cannot be served: %s; the job is ended", why);
    else
        log_error("windows: rank %d cannot be reached: %s; the job is ended", rank, why);
    job_end(EXIT_FAILURE);
}

struct net_service serve_remote_service(struct serve_domain *d) {
    serve_remote_gate_open();
    return (struct net_service){.number = NET_SERVICE_WINDOWS,
                                .arg = d,
                                .handlers = {[RPC_GET % NET_HANDLERS] = serve_get,
                                             [RPC_PUT % NET_HANDLERS] = serve_put,
                                             [RPC_UPDATE % NET_HANDLERS] = serve_update,
                                             [RPC_SWAP % NET_HANDLERS] = serve_swap,
                                             [RPC_STATUS % NET_HANDLERS] = serve_status,
                                             [RPC_LOCK % NET_HANDLERS] = serve_lock_request,
                                             [RPC_UNLOCK % NET_HANDLERS] = serve_unlock_request,
                                             [RPC_BATCH % NET_HANDLERS] = serve_remote_batch,
                                             [RPC_KEY % NET_HANDLERS] = serve_key},
                                .local = serve_local,
                                .callers_serve = true,
                                .failed = serve_failed};
}
