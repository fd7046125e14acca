/* am_queue.c: queues of active messages for a rank, in order; and the ring of parked requests.
 *
 *      writer     number = tail++;  cell[number] = what, with the lap bit;  check whether the rank is asleep
 *      reader     locks the queue; while cell[head] has head's lap bit: head++, runs the handler; unlocks the queue
 *
 * The lap bit changes from lap to lap, so that the reader does not store into the cache line of the cells.
 *
 * The writers of a queue are the threads of one rank; of a queue for other nodes, helpers and this rank itself. A writer
 * that has a number and has not written its cell yet delays the messages behind it, but only for a few instructions inside
 * a call. A cell has been read before the ring wraps around to it: a message occupies a slot or a place until it has been
 * taken, so of (cells + 1) consecutive messages two have the same slot, and the second was sent after the first was taken.
 * The tail may be relaxed: the address of the second store depends on its number, and that number was drawn after the first
 * message was taken.
 *
 * A thread that finds another thread in a queue skips that queue and polls again soon, because no wakeup follows for
 * messages that the other thread leaves there. */
#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/log.h"
#include "gas/am/message.h"

/* Reader state of a queue, of this process. */
struct reader {
    _Atomic uint32_t head;
    _Atomic uint32_t busy; /* a thread processes the queue */
};
static struct reader *readers;
static int queues;
static _Atomic uint32_t *tails; /* [ranks of the node]: of this rank's queue in the box of each */
static _Atomic uint32_t parked_head;

int gas_queue_open(void) {
    int ranks = gas_job.world->local_count;
    queues = ranks + (gas_job.world->nodes > 1 ? AM_REMOTE_QUEUES : 0);
    readers = calloc((size_t)queues, sizeof *readers);
    tails = calloc((size_t)ranks, sizeof *tails);
    if (readers && tails)
        return 0;
    log_error("active messages: no memory for %d queues", queues);
    return -ENOMEM;
}

/* ---- writing ---- */

/* The lap bit of that number. A zeroed cell never has the lap bit of the first lap. */
static uint8_t lap_mark(uint32_t number) {
    return number / AM_QUEUE % 2 == 0 ? AM_LAP : 0;
}

/* Releases the message; sequentially consistent with `asleep`: see am_box.c. */
static void queue_put(struct am_box *b, int queue, _Atomic uint32_t *tail, int what) {
    uint32_t number = atomic_fetch_add_explicit(tail, 1, memory_order_relaxed);
    atomic_store(&b->queues[queue].cells[number % AM_QUEUE], (uint8_t)(what | lap_mark(number)));
    gas_box_wake(b);
}

void gas_box_post(int local, int what) {
    queue_put(gas_box_of(local), gas_job.world->local, &tails[local], what);
}

void gas_box_post_remote(int local, uint32_t source, int what) {
    struct am_box *b = gas_box_of(local);
    int which = (int)(source % AM_REMOTE_QUEUES);
    queue_put(b, gas_job.world->local_count + which, &b->remote_tails[which], what);
}

/* ---- reading ---- */

enum { EMPTY = -1 };

/* The content of the cell with that number, or EMPTY. */
static inline int cell_read(int queue, uint32_t number, memory_order order) {
    int cell = atomic_load_explicit(&gas_box_mine()->queues[queue].cells[number % AM_QUEUE], order);
    return (cell & AM_LAP) == lap_mark(number) ? cell & ~AM_LAP : EMPTY;
}

static inline int queue_next_cell(int queue, memory_order order) {
    return cell_read(queue, atomic_load_explicit(&readers[queue].head, memory_order_relaxed), order);
}

/* Bounded, so that messages that a fast sender keeps adding wait until the other queues had their turn. */
static bool take_from(int queue, box_run *run) {
    struct reader *r = &readers[queue];
    bool taken = false;
    if (atomic_exchange_explicit(&r->busy, 1, memory_order_acquire))
        return false;
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    for (int i = 0; i < AM_SLOTS; i++) {
        int what = cell_read(queue, head, memory_order_acquire);
        if (what == EMPTY)
            break;
        atomic_store_explicit(&r->head, ++head, memory_order_relaxed);
        run(queue, what);
        taken = true;
    }
    atomic_store_explicit(&r->busy, 0, memory_order_release);
    return taken;
}

bool gas_box_take_all(box_run *run) {
    bool taken = false;
    for (int i = 0; i < queues; i++)
        if (UNLIKELY(queue_next_cell(i, memory_order_relaxed) != EMPTY))
            taken |= take_from(i, run);
    return taken;
}

enum queue_look gas_queue_look(void) {
    enum queue_look seen = QUEUE_EMPTY;
    for (int i = 0; i < queues; i++) {
        if (LIKELY(queue_next_cell(i, memory_order_seq_cst) == EMPTY))
            continue;
        if (!atomic_load(&readers[i].busy))
            return QUEUE_HAS;
        seen = QUEUE_TAKEN;
    }
    return seen;
}

/* ---- parked requests ---- */

/* A cell: source + 1, slot, bytes. */
enum { SLOT_SHIFT = 24, SOURCE_SHIFT = 32 };
#define BYTES_MASK ((1u << SLOT_SHIFT) - 1)
_Static_assert((unsigned)AM_MEDIUM <= BYTES_MASK && AM_SLOTS <= 256, "they fit");

/* Increments `parked` first, so that the next request of this source is parked behind it. */
void gas_box_park(int local, const struct am_parked *p) {
    struct am_box *b = gas_box_of(local);
    atomic_fetch_add(&b->parked, 1);
    uint32_t number = atomic_fetch_add_explicit(&b->parked_tail, 1, memory_order_acq_rel);
    uint64_t cell = ((uint64_t)p->source + 1) << SOURCE_SHIFT | p->slot << SLOT_SHIFT | p->bytes;
    atomic_store(&gas_box_parked(local)[number % gas_box_parked_cells()], cell);
    gas_box_wake(b);
}

static _Atomic uint64_t *next_parked(void) {
    uint32_t head = atomic_load_explicit(&parked_head, memory_order_relaxed);
    return &gas_box_parked(gas_job.world->local)[head % gas_box_parked_cells()];
}

bool gas_box_has_parked(void) {
    return atomic_load(next_parked()) != 0;
}

bool gas_box_take_parked(struct am_parked *p) {
    uint64_t cell = atomic_exchange_explicit(next_parked(), 0, memory_order_acquire);
    if (cell == 0)
        return false;
    atomic_fetch_add_explicit(&parked_head, 1, memory_order_relaxed);
    *p = (struct am_parked){.source = (uint32_t)(cell >> SOURCE_SHIFT) - 1,
                            .slot = (uint32_t)cell >> SLOT_SHIFT,
                            .bytes = (uint32_t)cell & BYTES_MASK};
    return true;
}

/* Called after the message was queued. The decrement releases the queue; pairs with arrive_take_place in am_arrive.c. */
void gas_box_unpark(void) {
    atomic_fetch_sub(&gas_box_mine()->parked, 1);
}
