/* store_uring.c: I/O engine with io_uring. Requests are put into the submission ring and submitted with one system call
 * per poll, however many they are; completions are read from memory.
 *
 * The ring's own descriptor is readable while it holds completions, so sleeping needs no eventfd, and a caller that only
 * polls pays nothing for it.
 *
 * The kernel may refuse to accept requests. If it lacks memory, it may accept them later: they stay in the ring and are
 * submitted again at each poll, and the caller must not sleep meanwhile, as nothing would wake it. After PATIENCE, or on
 * any other refusal, the ring is `blocked`: the engine executes the requests that the kernel has not accepted with pread
 * and pwrite, turns them into NOPs in the ring, and executes all later requests in the same way. A ring that was refused
 * for lack of memory is still submitted at each poll; once the kernel has accepted the NOPs, it is used as before. After
 * any other refusal the ring is never submitted again. Accepted requests still complete. */
#include "pages/store/store_engine.h"

#include <errno.h>

#ifdef HEARTH_URING

#include <liburing.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "pages/store/store_disk.h"

#define PATIENCE 100000000u /* ns */

enum { BATCH = 16 };

struct uring_entry {
    struct store_request *request;
    struct io_uring_sqe *sqe;
};

struct uring {
    struct store_engine engine;
    struct io_uring ring;
    int file; /* not registered with the ring, which is torn down late and would keep the file locked */
    unsigned depth;
    uint64_t put;              /* requests put into the ring so far; the last `depth` are in `order` */
    struct uring_entry *order; /* by `put` % depth: to find the requests that the kernel has not accepted */
    struct request_queue over; /* completed by read and write */
    uint64_t refused_since;    /* clock; 0: not refused */
    bool blocked;              /* it holds nothing but NOPs that the kernel has not accepted */
    bool given_up;
};

static struct uring *uring_of(struct store_engine *engine) {
    return (struct uring *)engine;
}

static void move_now(struct uring *u, struct store_request *r) {
    r->result =
        pages_disk_move(r->way, u->file, r->buffer + r->moved, r->bytes - r->moved, r->offset + r->moved);
    pages_store_queue_add(&u->over, r);
}

/* The kernel reads an entry of the ring only when it accepts it, so until then the entry can be made a NOP. */
static void go_around(struct uring *u) {
    unsigned left = io_uring_sq_ready(&u->ring);
    for (uint64_t i = u->put - left; i != u->put; i++) {
        struct uring_entry *e = &u->order[i % u->depth];
        io_uring_prep_nop(e->sqe);
        io_uring_sqe_set_data(e->sqe, NULL);
        move_now(u, e->request);
    }
}

static bool is_passing(int error) {
    return error == -EINTR || error == -EAGAIN || error == -EBUSY;
}

static void refused(struct uring *u, int error) {
    uint64_t now = clock_ns();
    if (!u->refused_since)
        u->refused_since = now;
    if (u->blocked || (is_passing(error) && now - u->refused_since <= PATIENCE))
        return;
    u->blocked = true;
    u->given_up = !is_passing(error);
    go_around(u);
}

/* The kernel may accept some and leave the rest for the next time. */
static void uring_start(struct uring *u) {
    if (u->given_up || !io_uring_sq_ready(&u->ring))
        return;
    int taken = io_uring_submit(&u->ring);
    if (UNLIKELY(taken <= 0))
        refused(u, taken ? taken : -EAGAIN);
    else {
        u->refused_since = 0;
        u->blocked = u->blocked && io_uring_sq_ready(&u->ring) > 0;
    }
}

/* There is always room: no more requests are under way than the ring has entries. */
static void uring_give(struct store_engine *engine, struct store_request *r) {
    struct uring *u = uring_of(engine);
    if (UNLIKELY(u->blocked)) {
        move_now(u, r);
        return;
    }
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    char *from = r->buffer + r->moved;
    if (r->way == STORE_READ)
        io_uring_prep_read(sqe, u->file, from, r->bytes - r->moved, r->offset + r->moved);
    else
        io_uring_prep_write(sqe, u->file, from, r->bytes - r->moved, r->offset + r->moved);
    io_uring_sqe_set_data(sqe, r);
    u->order[u->put++ % u->depth] = (struct uring_entry){r, sqe};
}

/* True if the request is complete. A partial transfer is continued; if that is not possible, the next result gives the
 * reason. */
static bool is_complete(struct uring *u, struct store_request *r, int got) {
    if (LIKELY(got > 0)) {
        r->moved += (uint32_t)got;
        r->result = 0;
        if (LIKELY(r->moved == r->bytes))
            return true;
    } else if (got != -EINTR && got != -EAGAIN) {
        r->result =
            got == 0 || (r->moved && got == -EINVAL) ? -EIO : got; /* end of the file; within a block */
        return true;
    }
    uring_give(&u->engine, r);
    return false;
}

static unsigned take_some(struct uring *u, struct store_request **done, unsigned most) {
    struct io_uring_cqe *cqes[BATCH];
    unsigned n = 0, got = io_uring_peek_batch_cqe(&u->ring, cqes, most < BATCH ? most : BATCH);
    for (unsigned i = 0; i < got; i++) {
        struct store_request *r = io_uring_cqe_get_data(cqes[i]);
        if (LIKELY(r != NULL) && is_complete(u, r, cqes[i]->res))
            done[n++] = r;
    }
    io_uring_cq_advance(&u->ring, got);
    return n;
}

static unsigned uring_take(struct store_engine *engine, struct store_request **done, unsigned most) {
    struct uring *u = uring_of(engine);
    unsigned n = 0, some;
    uring_start(u);
    do {
        some = take_some(u, done + n, most - n);
        n += some;
    } while (some && n < most);
    while (UNLIKELY(n < most && u->over.first))
        done[n++] = pages_store_queue_take(&u->over);
    return n;
}

static bool uring_arm(struct store_engine *engine) {
    struct uring *u = uring_of(engine);
    uring_start(u);
    bool all_taken = u->blocked || !io_uring_sq_ready(&u->ring);
    return all_taken && !u->over.first && !io_uring_cq_ready(&u->ring);
}

static void close_uring(struct store_engine *engine) {
    struct uring *u = uring_of(engine);
    io_uring_queue_exit(&u->ring);
    free(u->order);
    free(u);
}

/* Linux before 5.6 has rings, but not the operations that we use. */
static int open_ring(struct uring *u) {
    int err = io_uring_queue_init(u->depth, &u->ring, 0);
    if (err || u->ring.features & IORING_FEAT_RW_CUR_POS)
        return err;
    io_uring_queue_exit(&u->ring);
    return -ENOSYS;
}

int pages_store_uring_open(int file, unsigned depth, struct store_engine **engine) {
    struct uring *u = calloc(1, sizeof *u);
    struct uring_entry *order = calloc(depth, sizeof *order);
    int err = -ENOMEM;
    if (u && order) {
        u->depth = depth;
        u->order = order;
        u->file = file;
        err = open_ring(u);
    }
    if (err) {
        free(order);
        free(u);
        return err;
    }
    u->engine = (struct store_engine){.name = "io_uring",
                                      .descriptor = u->ring.ring_fd,
                                      .give = uring_give,
                                      .take = uring_take,
                                      .arm = uring_arm,
                                      .close = close_uring};
    *engine = &u->engine;
    return 0;
}

#else

int pages_store_uring_open(int file, unsigned depth, struct store_engine **engine) {
    return -ENOTSUP; /* built without liburing */
}

#endif
