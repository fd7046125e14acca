/* mailbox.c: passes requests through cells in shared memory, and wakes the helper through a pipe.
 *
 *      post | asleep, rings | doorbell doorbell ... | cell cell cell cell | cell ...
 *                             64 cells each           of process 0          of process 1
 *
 * A cell is a request and later its answer, in two cache lines; its state says which side owns it. A doorbell is a
 * word with one bit per cell: the bit tells the helper that the cell holds a request. So the helper reads one word for
 * 16 processes.
 *
 * **No wakeup is lost.** A client sets the bit and then reads `asleep`. The helper sets `asleep` and then reads the
 * doorbells. All four accesses are sequentially consistent, so they have one total order. If the client finds the
 * helper awake, it read `asleep` before the helper set it. The client set its bit before that, and the helper reads the
 * doorbells after that: the helper finds the bit and does not sleep. Otherwise the client finds the helper asleep and
 * writes to the pipe, which ends the sleep, even one that has not begun. net_mailbox_doorbell sets no bit, but must
 * publish the caller's earlier writes. It reads `asleep` by a read-modify-write that leaves the value unchanged. If that
 * comes before the helper's exchange, the helper acquires the caller's writes; otherwise the caller sees `asleep` set
 * and writes to the pipe.
 *
 * **No byte stays in the pipe** to wake the helper again and again. A client first increments `rings`, then writes a
 * byte. The helper counts the bytes that it has read, and reads while it has read fewer than `rings`. A byte that
 * arrives late, after the helper woke for another reason, ends one sleep too early, and is read then. A process that
 * dies between the two steps costs the helper one extra system call at each sleep. The helper reads the pipe only
 * after `asleep` is 0 and before it reads the doorbells, so it finds the request for which a byte was written.
 *
 * The other processes open the pipe for reading as well as for writing. Then the pipe always has a reader, and
 * writing after the helper has died raises no SIGPIPE. */
#include "net/shm/mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/shm/memfile.h"
#include "net/shm/wake.h"

enum { IDLE, WRITING, ASKED, TAKEN, ANSWERED };
enum { DOORBELL_CELLS = 64 };

struct cell {
    _Alignas(128) _Atomic uint32_t state;
    struct wake wake; /* wakes the waiter for the answer */
    struct mailbox_request request;
    int64_t answer;
};
_Static_assert(sizeof(struct cell) == 128, "two lines");

struct doorbell {
    _Alignas(CACHE_LINE) _Atomic uint64_t cells; /* a bit each; post_in sets, mailbox_collect clears */
};

/* In shared memory. */
struct post {
    uint32_t processes; /* 0: not created yet */
    int32_t helper, file;
    uint64_t device, inode; /* of the pipe */
    _Alignas(128) _Atomic uint32_t asleep;
    _Atomic uint32_t rings; /* bytes written, or about to be written, to the pipe; wraps */
    _Alignas(128) struct doorbell doorbells[];
};

struct mailbox {
    struct post *post;
    struct cell *cells;
    int process;   /* -1: the helper */
    int read_end;  /* the helper's, else -1 */
    int write_end; /* in other processes: open for both directions */
    int doorbells;
    int next;             /* cell to check first */
    uint32_t heard;       /* bytes read from the pipe, wraps */
    uint64_t collected[]; /* [doorbells], the helper's: requests not taken yet */
};

static int count_doorbells(int processes) {
    return (processes * MAILBOX_CELLS + DOORBELL_CELLS - 1) / DOORBELL_CELLS;
}

static size_t cells_offset(int processes) {
    return round_up(sizeof(struct post) + (size_t)count_doorbells(processes) * sizeof(struct doorbell), 128);
}

size_t net_mailbox_bytes(int processes) {
    return cells_offset(processes) + (size_t)processes * MAILBOX_CELLS * sizeof(struct cell);
}

/* ---- create and join ---- */

static struct mailbox *mailbox_view(void *memory, int processes, int process) {
    int doorbells = count_doorbells(processes);
    struct mailbox *box = calloc(1, sizeof *box + (size_t)doorbells * sizeof box->collected[0]);
    if (!box) {
        log_error("no memory for the mailbox of the node's helper, %d processes", processes);
        return NULL;
    }
    box->post = memory;
    box->cells = (struct cell *)((char *)memory + cells_offset(processes));
    box->process = process;
    box->read_end = box->write_end = -1;
    box->doorbells = doorbells;
    return box;
}

static int make_failed(struct mailbox *box) {
    int err = errno;
    log_error("cannot make the pipe of the node's helper: %s%s", strerror(err),
              err == EMFILE ? net_memfile_hint(err) : "");
    net_mailbox_close(box);
    return -err;
}

int net_mailbox_make(void *memory, int processes, struct mailbox **box) {
    struct mailbox *b = mailbox_view(memory, processes, -1);
    int ends[2];
    struct stat st;
    if (!b)
        return -ENOMEM;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return make_failed(b);
    b->read_end = ends[0];
    b->write_end = ends[1];
    if (fstat(ends[0], &st))
        return make_failed(b);
    struct post *p = b->post;
    p->helper = (int32_t)getpid();
    p->file = ends[0];
    p->device = st.st_dev;
    p->inode = st.st_ino;
    p->processes = (uint32_t)processes;
    *box = b;
    return 0;
}

/* The process and descriptor numbers may refer to another file, and opening that could have side effects. So check
 * it first. */
static int mailbox_open_checked(int seen, const struct post *p) {
    char path[64];
    struct stat st;
    if (fstat(seen, &st))
        return -1;
    errno = ESTALE;
    if (!S_ISFIFO(st.st_mode) || st.st_uid != geteuid() || st.st_dev != p->device || st.st_ino != p->inode)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", seen);
    return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static int open_pipe(const struct post *p) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", p->helper, p->file);
    int seen = open(path, O_PATH | O_CLOEXEC);
    if (seen < 0)
        return -1;
    int file = mailbox_open_checked(seen, p), err = errno;
    close(seen);
    errno = err;
    return file;
}

static int join_failed(const struct post *p, struct mailbox *box) {
    int err = errno;
    log_error("cannot open the pipe of the node's helper, /proc/%d/fd/%d: %s%s", p->helper, p->file,
              net_memfile_reason(err), net_memfile_hint(err));
    net_mailbox_close(box);
    return -err;
}

int net_mailbox_join(void *memory, int process, struct mailbox **box) {
    const struct post *p = memory;
    if (process < 0 || (uint32_t)process >= p->processes) {
        log_error("the mailbox of the node's helper is for %u processes; there is no process %d",
                  p->processes, process);
        return -EINVAL;
    }
    struct mailbox *b = mailbox_view(memory, (int)p->processes, process);
    if (!b)
        return -ENOMEM;
    b->write_end = open_pipe(p);
    if (b->write_end < 0)
        return join_failed(p, b);
    *box = b;
    return 0;
}

void net_mailbox_close(struct mailbox *box) {
    if (!box)
        return;
    if (box->read_end >= 0)
        close(box->read_end);
    if (box->write_end >= 0)
        close(box->write_end);
    free(box);
}

/* ---- a process ---- */

/* A full pipe (EAGAIN) wakes the helper anyway, and a pipe without a reader (EPIPE) belongs to a helper that has ended.
 * After any other error the caller would wait for a helper that sleeps forever, so the job is ended. */
static void doorbell_ring(struct mailbox *box) {
    atomic_fetch_add_explicit(&box->post->rings, 1, memory_order_relaxed);
    while (write(box->write_end, "", 1) < 0 && errno != EAGAIN && errno != EPIPE)
        if (errno != EINTR)
            net_wake_failed("the helper of this node");
}

/* A read-modify-write; pairs with net_mailbox_sleeps. */
void net_mailbox_doorbell(struct mailbox *box) {
    if (atomic_fetch_or_explicit(&box->post->asleep, 0, memory_order_acq_rel))
        doorbell_ring(box);
}

static bool mailbox_claim(struct cell *c) {
    uint32_t state = IDLE;
    return atomic_load_explicit(&c->state, memory_order_relaxed) == IDLE &&
           atomic_compare_exchange_strong_explicit(&c->state, &state, WRITING, memory_order_acquire,
                                                   memory_order_relaxed);
}

/* The state releases the request to the helper (pairs with net_mailbox_take). The head of the file explains the order of
 * the doorbell and `asleep`. */
static void post_in(struct mailbox *box, int cell, const struct mailbox_request *request) {
    struct cell *c = &box->cells[cell];
    c->request = *request;
    atomic_store_explicit(&c->state, ASKED, memory_order_release);
    atomic_fetch_or(&box->post->doorbells[cell / DOORBELL_CELLS].cells, (uint64_t)1 << cell % DOORBELL_CELLS);
    if (atomic_load(&box->post->asleep))
        doorbell_ring(box);
}

int net_mailbox_ask(struct mailbox *box, const struct mailbox_request *request) {
    int first = box->process * MAILBOX_CELLS;
    for (int cell = first; cell < first + MAILBOX_CELLS; cell++) {
        if (mailbox_claim(&box->cells[cell])) {
            post_in(box, cell, request);
            return cell;
        }
    }
    return -EBUSY;
}

/* Acquires the answer (pairs with net_mailbox_answer), and frees the cell. */
bool net_mailbox_answered(struct mailbox *box, int cell, int64_t *answer) {
    struct cell *c = &box->cells[cell];
    if (atomic_load_explicit(&c->state, memory_order_acquire) != ANSWERED)
        return false;
    *answer = c->answer;
    atomic_store_explicit(&c->state, IDLE, memory_order_release);
    return true;
}

/* A wake for the cell's previous request may end the wait early. */
void net_mailbox_wait(struct mailbox *box, int cell, uint64_t microseconds) {
    struct cell *c = &box->cells[cell];
    if (atomic_load_explicit(&c->state, memory_order_relaxed) != ANSWERED)
        net_wake_wait(&c->wake, microseconds);
}

/* ---- the helper ---- */

/* Requests since the last call. Reads before it writes, so that an empty word stays shared in the cache. */
static uint64_t mailbox_collect(struct mailbox *box, int doorbell) {
    struct doorbell *b = &box->post->doorbells[doorbell];
    if (atomic_load(&b->cells))
        box->collected[doorbell] |= atomic_exchange(&b->cells, 0);
    return box->collected[doorbell];
}

/* The first cell with a request at or after `next`, round robin, or -1. The doorbell of `next` is checked twice: first
 * for the cells from `next` on, and last for those before it. */
static int mailbox_next_cell(struct mailbox *box) {
    int start = box->next / DOORBELL_CELLS;
    uint64_t before = ((uint64_t)1 << box->next % DOORBELL_CELLS) - 1;
    for (int i = 0; i <= box->doorbells; i++) {
        int doorbell = (start + i) % box->doorbells;
        uint64_t cells = mailbox_collect(box, doorbell) & (i == 0                ? ~before
                                                           : i == box->doorbells ? before
                                                                                 : UINT64_MAX);
        if (cells)
            return doorbell * DOORBELL_CELLS + __builtin_ctzll(cells);
    }
    return -1;
}

bool net_mailbox_take(struct mailbox *box, struct mailbox_request *request, int *cell) {
    for (int found = mailbox_next_cell(box); found >= 0; found = mailbox_next_cell(box)) {
        struct cell *c = &box->cells[found];
        box->collected[found / DOORBELL_CELLS] &= ~((uint64_t)1 << found % DOORBELL_CELLS);
        box->next = (found + 1) % (box->doorbells * DOORBELL_CELLS);
        if (atomic_load_explicit(&c->state, memory_order_acquire) != ASKED)
            continue; /* cannot happen */
        *request = c->request;
        *cell = found;
        atomic_store_explicit(&c->state, TAKEN, memory_order_relaxed);
        return true;
    }
    return false;
}

void net_mailbox_answer(struct mailbox *box, int cell, int64_t answer) {
    struct cell *c = &box->cells[cell];
    c->answer = answer;
    atomic_store_explicit(&c->state, ANSWERED, memory_order_release);
    net_wake_up(&c->wake);
}

int net_mailbox_process(const struct mailbox *box, int cell) {
    (void)box;
    return cell / MAILBOX_CELLS;
}

int net_mailbox_descriptor(const struct mailbox *box) {
    return box->read_end;
}

/* An exchange, not a store: also pairs with net_mailbox_doorbell. */
void net_mailbox_sleeps(struct mailbox *box) {
    atomic_exchange(&box->post->asleep, 1);
}

void net_mailbox_is_watched(struct mailbox *box) {
    atomic_exchange(&box->post->asleep, 0);
}

void net_mailbox_wakes(struct mailbox *box) {
    char bytes[256];
    atomic_exchange(&box->post->asleep, 0);
    while (atomic_load_explicit(&box->post->rings, memory_order_relaxed) != box->heard) {
        ssize_t got = read(box->read_end, bytes, sizeof bytes);
        if (got <= 0)
            break; /* the byte is still to be written */
        box->heard += (uint32_t)got;
    }
}
